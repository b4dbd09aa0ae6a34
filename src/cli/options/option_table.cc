#include "cli/options/option_table.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "cli/options/option_values.h"

namespace streamsim::cli {
namespace {

constexpr Command kRun = Command::run, kMax = Command::max, kInspect = Command::inspect;
constexpr Command kProfile = Command::profile, kCalibrate = Command::calibrate, kReport = Command::report;
constexpr Command kPlan = Command::plan, kPredict = Command::predict;
constexpr Command kHost = Command::host, kJoin = Command::join;
/// They take all that play takes of media and players, so that one line serves to prepare, to play and to
/// search.
constexpr Commands kPlays = Command::play | Command::prepare | Command::max | Command::predict;
/// They make media.
constexpr Commands kMakes = kPlays | kCalibrate;
constexpr Commands kMeasures = Command::play | Command::run;
/// They write pages.
constexpr Commands kPages = kMeasures | kMax | kPredict | kPlan | kReport;
/// They measure steps, and commands can be run around those.
constexpr Commands kSteps = Command::play | Command::max | Command::run;
constexpr Commands kAll = kPlays | kMeasures | Command::formats | kInspect | kPlan | kProfile | kReport |
                          kCalibrate | Command::clean | Command::man | Command::completions | kHost | kJoin;

using Options = std::vector<Option>;
using run::PlayRequest;
using run::RecordRequest;

/// Helps and defaults for some commands.
std::vector<Option::Variant> variants(std::vector<Option::Variant> all) {
    return all;
}

Options media_options() {
    return {
        {"--format", kMakes, "a format that `streamsim formats` lists, or a JSON file; repeatable",
         texts(&CliOptions::formats, "NAME", Completion::format)},
        {"--dpx10", kMakes, "DPX 10 bit, UHD, 24 fps", format_flag("dpx10")},
        {"--dpx12", kMakes, "DPX 12 bit, UHD, 24 fps: the format of an empty directory", format_flag("dpx12")},
        {"--prores-hd", kMakes, "ProRes 422, HD, 30 fps", format_flag("prores-hd")},
        {"--prores-uhd", kMakes, "ProRes 422 HQ, UHD, 30 fps", format_flag("prores-uhd")},
        {"--clip-duration", kMakes, "length of a clip that is made",
         with_standard(time(&PlayRequest::clip_duration), "10s"),
         variants({{kCalibrate, "length of a clip of the held-back run", "2s"}})},
        {"--streams", kPlays, "streams per seat, of each format", count(&PlayRequest::streams, 100'000),
         variants({{Command::predict,
                    "streams per seat, of each format: whether these play, instead of how many do", ""}})},
        {"--seats", kMakes | kHost, "clients that this process plays", count(&PlayRequest::seats, 100'000),
         variants({{kHost, "seats that join", ""}})},
        {"--total-streams", kPlays,
         "instead of --streams: N in all, assigned to the seats in turn (round robin)",
         count(&PlayRequest::total_streams, 1'000'000)},
        {"--media", kPlays, "own: each stream plays its own clip; same: all play one",
         choice(&PlayRequest::same_media, {{"own", false}, {"same", true}})},
        {"--seed", kMakes | kRun, "seed of every random choice", any_seed(),
         variants({{kRun, "seed of every random choice", "the scenario's"}})},
        {"--yes", kMakes | kRun,
         "write without a question where media or recordings take more than half of the free space, or files "
         "of a workload a tenth, and where a workload fills the volume",
         flag(&CliOptions::yes)},
        {"--wait", kMakes | kRun | Command::clean,
         "wait until another streamsim that uses the media set of TARGET has ended (without it: exit code 3)",
         flag(&CliOptions::wait)},
    };
}

Options playing_options() {
    return {
        {"--fps", kPlays, "24, 23.976, 24000/1001, ... or max: as fast as it goes", rate()},
        {"--duration", kMakes | kRun, "how long each stream plays; clips loop",
         with_standard(time(&PlayRequest::duration), "60s"),
         variants({{kMax, "how long each step of the search plays; clips loop",
                    "20s, and five read-aheads at least"},
                   {kCalibrate, "how long a probe lasts", "6s"},
                   {Command::predict,
                    "how long each play of the search is; of given streams how long they play", "20s; 60s"},
                   {kRun, "for a workload: how long each step plays", "the document's"}})},
        {"--frames", kPlays, "each stream plays at most N frames", count(&PlayRequest::frames, 1'000'000'000)},
        {"--prove", Command::play | Command::prepare,
         "play until it is decided at 95 % whether there are fewer drop events, for example '1 drop/day': as "
         "long as it takes, or --duration at most; exit code 0 only where the claim stands",
         drop_rate()},
        {"--on-miss", kPlays, "what the player does with a frame that misses its deadline",
         choice(&PlayRequest::on_miss, play::kOnMissWords)},
        {"--readahead", kPlays, "frames buffered ahead, per stream", count(&PlayRequest::readahead, 10'000)},
        {"--inflight", kPlays, "frames read at once, per stream", count(&PlayRequest::inflight, 10'000)},
        {"--pattern", kPlays, "how the frames of a clip are requested",
         with_standard(choice(&PlayRequest::pattern, play::kPatternWords),
                       "sequences the first, containers the second")},
        {"--order", kPlays,
         "what the operator does: forward, reverse, ping-pong, shuttle:N, scrub, random or cuts", order()},
        {"--cuts", kPlays,
         "the cut list of --order cuts: a CMX3600 EDL or an OpenTimelineIO document; played once; --fps is the "
         "rate of an EDL whose clips do not share one",
         text(&CliOptions::cuts, "FILE", Completion::file)},
        {"--ignore-mismatch", kPlays,
         "where source and record of an EDL differ in length and no M2 tells why, play the record",
         flag(&CliOptions::ignore_mismatch)},
        {"--depth", kPlays, "levels of folders below TARGET in which clips are looked for",
         count(&PlayRequest::folder_depth, 64, 0)},
        {"--sync", kPlays, "the streams of a seat run on one clock", flag(&PlayRequest::sync)},
        {"--multicam", kPlays,
         "the streams of a seat are angles of one scene: all are read, or only the active one",
         choice(&PlayRequest::multicam, {{"all", run::MultiCam::all}, {"active", run::MultiCam::active}})},
        {"--layers", kPlays, "clips that lie on each other in each stream", count(&PlayRequest::layers, 64)},
        {"--audio", kPlays | kInspect, "the audio of containers is read along", flag(&PlayRequest::audio),
         variants({{kInspect, "the audio chunks of a container, too", ""}})},
        {"--stagger", kPlays, "delay between the starts of streams", time(&PlayRequest::stagger, true)},
        {"--preroll-timeout", kPlays, "give up when preroll takes longer", time(&PlayRequest::preroll_timeout)},
        {"--verify", kPlays,
         "compare each frame's bytes with those that were written; one that differs has failed. It costs "
         "processor "
         "time: not for measuring the most that a client can read",
         flag(&PlayRequest::verify)},
        {"--decode-cpu", kPlays, "CPU time spent for each frame, as a decoder would; 0: delivery only",
         time(&PlayRequest::decode_cpu, true)},
    };
}

Options reading_options() {
    return {
        {"--io", kMakes | kRun, "how files are read",
         choice(&PlayRequest::io, {{"auto", run::IoChoice::automatic},
                                   {"uring", run::IoChoice::uring},
                                   {"iocp", run::IoChoice::iocp},
                                   {"threads", run::IoChoice::threads}}),
         variants({{kRun, "for a workload: how files are read and written", "auto"}})},
        {"--io-size", kPlays, "size of one read, or frame: one read for each frame", io_size()},
        {"--io-depth", kPlays, "pieces of one frame in flight", count(&PlayRequest::io_depth, 1024)},
        {"--direct", kMakes, "past this client's page cache, where the storage allows it (the default)",
         flag(&PlayRequest::direct)},
        {"--buffered", kMakes, "through this client's page cache", flag(&PlayRequest::direct, false)},
        {"--cold", kPlays, "evict these files from this client's page cache first", flag(&PlayRequest::cold)},
        {"--require-cold", kPlays,
         "fail the verdict where a cache may have been warm: media less than an hour old, or read more than "
         "once",
         flag(&PlayRequest::require_cold)},
        {"--before-step", kSteps,
         "a shell command to run before each step, while no file of TARGET is open: flush caches, remount; if "
         "it fails, the run ends",
         text(&StepCommands::command, "COMMAND"),
         variants(
             {{kMax,
               "a shell command to run before each play of the search, while no file of TARGET is open: "
               "flush caches, remount; if it fails, the search ends",
               ""},
              {kRun,
               "a shell command to run before each step (a scenario, a value of a sweep), while no file of "
               "TARGET is open: flush caches, remount; if it fails, the run ends; '' runs none, although "
               "the document has one",
               ""}})},
        {"--counters", kSteps,
         "a shell command to run right before and right after each step; it prints counters of the server "
         "(NAME "
         "NUMBER lines or a JSON object), and the result has their differences",
         text(&StepCommands::counters, "COMMAND")},
        {"--command-timeout", kSteps, "end such a command, and with it the run, after this time",
         time(&StepCommands::timeout),
         variants(
             {{kRun, "end such a command, and with it the run, after this time", "60s, or the document's"}})},
        {"--allow-commands", kRun,
         "run the commands that the document has in before_step, too: read them first",
         flag(&CliOptions::allow_commands)},
        {"--keep-index", kPlays | kInspect, "keep the index of a container beside it",
         flag(&PlayRequest::keep_index)},
        {"--keep-checksums", kInspect,
         "read all frames of CLIP and keep their checksums beside it, for --verify",
         flag(&CliOptions::keep_checksums)},
        {"--credentials",
         kPlays | kRun | kInspect | Command::clean,
         "for smb: a file with the lines username=, password= and domain= that only its owner may read",
         text(&CliOptions::credentials, "FILE", Completion::file),
         {},
         "STREAMSIM_SMB_CREDENTIALS, STREAMSIM_SMB_USER, STREAMSIM_SMB_PASSWORD, STREAMSIM_SMB_DOMAIN"},
        {"--only", kProfile, "count files whose paths begin with PATH, and no others; repeatable",
         with_standard(texts(&CliOptions::only, "PATH", Completion::file),
                       "regular files where data moves, without those of the system")},
    };
}

Options recording_options() {
    return {
        {"--record", kPlays,
         "streams per seat, of each format named, that write frames on deadlines, as a camera's ingest does; "
         "alone, or beside --streams",
         count(&RecordRequest::streams, 10'000)},
        {"--durable", kPlays, "a recorded frame is complete when its fsync is done",
         flag(&RecordRequest::durable)},
        {"--keep-recordings", kPlays,
         "leave recordings below TARGET/streamsim-media/recordings; without it the run removes them",
         flag(&RecordRequest::keep)},
    };
}

Options load_options() {
    return {
        {"--meter", kPlays,
         "a workload beside the streams, on every seat: a NAME of formats/workload/, or a JSON file; "
         "repeatable",
         texts(&CliOptions::meters, "NAME", Completion::workload)},
        {"--scale", kPlays | kRun,
         "workloads X times as large: more than 16 users, rates and working sets (files of 100 GB are files of "
         "1 GB at 0.01)",
         scale()},
        {"--clients", kRun, "for a workload: N clients, in one step",
         with_standard(count(&CliOptions::clients, 100'000), "the document's")},
        {"--users", kRun,
         "for a workload: N users of each meter on each client; a user of a closed loop is one thread",
         with_standard(count(&CliOptions::users, 1'000'000), "the document's")},
        {"--not-alone", kMeasures,
         "beside meters: do not first measure streams and meters alone, to say what they cost each other",
         flag(&CliOptions::alone, false)},
    };
}

Options searching_options() {
    return {
        {"--find", kMax,
         "the most streams in total, the most streams per seat, or the most seats of --streams each, up to "
         "--seats",
         with_standard(choice(&CliOptions::find, {{"total", MaxCounts::streams},
                                                  {"streams", MaxCounts::streams_per_seat},
                                                  {"seats", MaxCounts::seats}}),
                       "total; under mpirun streams")},
        {"--confirm", kMax, "how long a number that was found has to play once more, above 1s; 0: not at all",
         with_standard(time(&CliOptions::confirm, true), "5m, on models 60s; five read-aheads at least")},
        {"--draws", kMeasures | kMax | Command::predict,
         "on a model that was calibrated: play N draws of its uncertain numbers, too; 0: none",
         with_standard(count(&CliOptions::draws, 100'000, 0), "40"),
         variants({{Command::predict, "play N draws of the model's uncertain numbers", "200"}})},
        {"--headroom", kMax, "the p1 margin of each stream has to keep this share of a frame's period free",
         percent()},
    };
}

Options calibrating_options() {
    return {
        {"--max-load", kCalibrate,
         "do not load the storage above this share of its bandwidth without a question (or --yes): of the "
         "port of this computer, where its speed is known, else of the highest rate seen",
         load_percent()},
        {"--set-size", kCalibrate, "size of the files that the probes read; they want a fourth more",
         with_standard(set_size(), "a sixteenth of the free space, 256MiB to 2GiB")},
        {"--refit", kCalibrate, "fit again from what was measured before, without the storage",
         flag(&CliOptions::refit)},
        {"--again", kCalibrate, "measure anew, and replace what was measured before", flag(&CliOptions::again)},
        {"--check", kCalibrate, "only play the held-back run again, and compare the model with it",
         flag(&CliOptions::check)},
    };
}

Options joining_options() {
    return {
        {"--key", kHost | kJoin,
         "the key of the run, which every seat needs: a file that only its owner may read; the host makes it "
         "where "
         "there is none, for a week",
         text(&CliOptions::key, "FILE", Completion::file),
         variants({{kJoin, "the key of the run: a copy of the host's file that only its owner may read", ""}})},
        {"--listen", kHost, "where the host waits for seats; a port alone listens on all addresses",
         with_standard(text(&CliOptions::listen, "[ADDR:]PORT"), "9470")},
        {"--quorum", kHost,
         "N seats are enough: begin with them when --within has passed, or no other one has come for 10 s",
         count(&CliOptions::quorum, 100'000)},
        {"--within", kHost | kJoin, "how long to wait for the seats; without it until all are here",
         with_standard(time(&CliOptions::within), "no limit"),
         variants({{kJoin, "how long to look for the host", "no limit"}})},
        {"--at", kHost,
         "begin at this local time, 14:30 or 2026-11-26T14:30:00, and not before; --quorum N seats are enough",
         text(&CliOptions::at, "TIME")},
        {"--on-key", kHost, "begin when Enter is pressed on the terminal, and not before",
         flag(&CliOptions::on_key)},
        {"--allow", kJoin,
         "a directory, or the beginning of an nfs:// or smb:// URL, in which the run may read and write; "
         "repeatable. NAME=PATH where the run calls it NAME: /mnt/media=Z:\\media",
         texts(&CliOptions::allow, "PATH", Completion::directory)},
    };
}

Options testing_options() {
    return {
        {"--faults", kPlays, "a schedule of injected delays and errors (JSON)",
         text(&CliOptions::faults, "FILE", Completion::file)},
        {"--no-probes", kPlays, "when play fails: do not read on for some seconds to diagnose the cause",
         flag(&PlayRequest::find_cause, false)},
        {"--realtime", kPlays, "ask for real-time scheduling of the player", flag(&PlayRequest::realtime)},
        {"--loops", kPlays, "player threads",
         with_standard(count(&PlayRequest::loops, 1024), "as many as the load needs")},
    };
}

Options result_options() {
    const char* document = "as a document; - is standard output";
    return {
        {"--json",
         kMeasures | kMax | kPredict | kReport | kInspect | kPlan | kProfile | kCalibrate | Command::formats,
         "the result as a document; - is standard output", text(&ResultFiles::json, "FILE", Completion::file),
         variants(
             {{Command::predict, "the answers, as a document; - is standard output", ""},
              {kMax, "the number that was found, with every step, as a document; - is standard output", ""},
              {kReport, "the result, or the comparison, as a document; - is standard output", ""},
              {kPlan, "the plans as a document; - is standard output", ""},
              {kProfile, "the findings and how they fit, as a document; - is standard output", ""},
              {kCalibrate, "the fit, its residuals and the held-back run, as a document; - is standard output",
               ""},
              {kInspect | Command::formats, document, ""}})},
        {"--csv", kMeasures | kReport, "one row for each frame",
         text(&ResultFiles::csv, "FILE", Completion::file),
         variants({{kReport, "one row for each stream; of several results one row for each figure", ""}})},
        {"--html", kPages | kCalibrate, "the report, in one file that needs no network",
         text(&ResultFiles::html, "FILE", Completion::file),
         variants({{kMax, "the stream-count sheet, in one file that needs no network", ""}})},
        {"--title", kPages, "the name of the project, on every page and in the documents",
         text(&Project::title, "TEXT")},
        {"--client", kPages, "whom the test is for, beside the title", text(&Project::client, "TEXT")},
        {"--note", kPages, "a remark, beside the title", text(&Project::note, "TEXT")},
        {"--logo", kPages, "an image for the pages: PNG, JPEG or SVG, at most 512 KiB",
         text(&CliOptions::logo, "FILE", Completion::file)},
        {"--trace", kMeasures, "a trace for the viewers of Perfetto and Chrome",
         text(&ResultFiles::trace, "FILE", Completion::file)},
        {"--junit", kMeasures | kReport, "the verdict as JUnit XML",
         text(&ResultFiles::junit, "FILE", Completion::file),
         variants({{kReport, "the verdict of one result as JUnit XML", ""}})},
        {"--journal", kMeasures,
         "keep the result so far in a file there, every second, so that a crash does not lose it (report "
         "--merge reads it)",
         text(&CliOptions::journal, "DIR", Completion::directory)},
        {"--metrics", kMeasures, "OpenMetrics over HTTP while it plays; a port alone listens on 127.0.0.1",
         http_address("ADDR:PORT", &CliOptions::metrics)},
        {"--web", kMeasures,
         "the report as a page that follows the run, over HTTP; a port alone listens on 127.0.0.1, other "
         "addresses "
         "want the key of the URL that is printed; on a terminal the finished report stays until Ctrl-C",
         http_address("[ADDR:]PORT", &CliOptions::web)},
        {"--output,-o", kProfile | kCalibrate, "where the document goes; an existing file is not overwritten",
         with_standard(text(&CliOptions::output, "FILE.json", Completion::file), "standard output"),
         variants({{kCalibrate,
                    "the file of the model, which has to be named; an existing one is replaced with --again, "
                    "--refit and --check only",
                    ""}})},
        {"--name", kProfile | kJoin, "the name of the document",
         with_standard(text(&CliOptions::workload_name, "NAME"), "the capture's"),
         variants({{kJoin, "the name of this seat in messages and results", "its computer's"}})},
        {"--merge", kReport,
         "the documents are parts of one run, or the journals of its computers: make one result of them",
         flag(&CliOptions::merge)},
        {"--frames", kInspect, "list each frame's file, offset, bytes and time", flag(&CliOptions::frames)},
        {"--sensitivity", kInspect,
         "of a model (a NAME of formats/storage/, or its document): whether a fifth more or less of each "
         "number changes any answer",
         flag(&CliOptions::sensitivity)},
        {"--fit", kRun,
         "run published: fit the models again from their rows, and predict each row from the others",
         flag(&CliOptions::fit)},
    };
}

Options general_options() {
    return {
        {"--quiet,-q", kAll, "errors only", flag(&CliOptions::quiet)},
        {"--verbose,-v", kAll, "the whole report; -vv: debugging messages, too", verbosity()},
        {"--help,-h", kAll, "print this help", answered()},
        {"--version,-V", kAll, "print the version and the storage backends", answered()},
    };
}

/// In the order in which --help lists them.
constexpr struct {
    const char* name;
    Options (*options)();
} kGroups[] = {
    {"Media", media_options},
    {"Playing", playing_options},
    {"Reading", reading_options},
    {"Recording", recording_options},
    {"Load", load_options},
    {"Searching", searching_options},
    {"Calibrating", calibrating_options},
    {"Joining", joining_options},
    {"Testing", testing_options},
    {"Results", result_options},
    {"General", general_options},
};

Options make_options() {
    Options all;
    for (const auto& group : kGroups) {
        for (Option& option : group.options()) {
            option.group = group.name;
            all.push_back(std::move(option));
        }
    }
    return all;
}

const Option::Variant* variant_for(const Option& option, Command command) {
    for (const Option::Variant& each : option.variants) {
        if (each.commands.has(command)) return &each;
    }
    return nullptr;
}

}  // namespace

std::vector<std::string> Option::all_names() const {
    const auto all = split(names, ',');
    return {all.begin(), all.end()};
}

std::string Option::name() const {
    return all_names().front();
}

std::string Option::help_for(Command command) const {
    const Variant* const variant = variant_for(*this, command);
    return variant != nullptr ? variant->help : help;
}

std::string Option::standard_for(Command command) const {
    const Variant* const variant = variant_for(*this, command);
    return variant != nullptr ? variant->standard : value.standard;
}

std::vector<const char*> option_groups() {
    std::vector<const char*> names;
    for (const auto& group : kGroups) names.push_back(group.name);
    return names;
}

const std::vector<Option>& option_table() {
    static const std::vector<Option> options = make_options();
    return options;
}

const std::vector<EnvironmentVariable>& environment_table() {
    static const std::vector<EnvironmentVariable> variables{
        {"STREAMSIM_FORMATS", "the folder that holds media/, storage/ and workload/ with the format documents"},
        {"STREAMSIM_SMB_CREDENTIALS", "the file that --credentials names"},
        {"STREAMSIM_SMB_USER", "the user for smb: targets; a URL and a credentials file come first"},
        {"STREAMSIM_SMB_PASSWORD", "the password of that user"},
        {"STREAMSIM_SMB_DOMAIN", "the domain of that user"},
        {"NO_COLOR", "no colours on a terminal (no-color.org)"},
    };
    return variables;
}

bool CliOptions::given(std::string_view option) const {
    STREAMSIM_CHECK(std::any_of(option_table().begin(), option_table().end(),
                                [option](const Option& each) { return each.name() == option; }),
                    "the option is in the table");
    return typed.find(option) != typed.end();
}

}  // namespace streamsim::cli
