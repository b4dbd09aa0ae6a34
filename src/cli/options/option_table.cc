#include "cli/options/option_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "cli/options/option_values.h"

namespace streamsim::cli {
namespace {

constexpr const char* kMedia = "Media";
constexpr const char* kPlaying = "Playing";
constexpr const char* kReading = "Reading";
constexpr const char* kRecording = "Recording";
constexpr const char* kLoad = "Load";
constexpr const char* kSearching = "Searching";
constexpr const char* kTesting = "Testing";
constexpr const char* kResults = "Results";
constexpr const char* kGeneral = "General";

constexpr Command kRun = Command::run, kMax = Command::max, kInspect = Command::inspect;
constexpr Command kProfile = Command::profile, kReport = Command::report;
/// They take all that play takes of media and players, so that one line serves to prepare, to play and to
/// search.
constexpr Commands kPlays = Command::play | Command::prepare | Command::max;
constexpr Commands kMeasures = Command::play | Command::run;
constexpr Commands kAll = kPlays | kMeasures | Command::formats | kInspect | kProfile | kReport |
                          Command::clean | Command::man | Command::completions;

using Options = std::vector<Option>;

Options media_options() {
    return {
        {"--format", kMedia, kPlays, "a format that `streamsim formats` lists, or a JSON file; repeatable",
         texts(&CliOptions::formats, "NAME", Completion::format)},
        {"--dpx10", kMedia, kPlays, "DPX 10 bit, UHD, 24 fps", format_flag("dpx10")},
        {"--dpx12", kMedia, kPlays, "DPX 12 bit, UHD, 24 fps: the format of an empty directory",
         format_flag("dpx12")},
        {"--prores-hd", kMedia, kPlays, "ProRes 422, HD, 30 fps", format_flag("prores-hd")},
        {"--prores-uhd", kMedia, kPlays, "ProRes 422 HQ, UHD, 30 fps", format_flag("prores-uhd")},
        {"--clip-duration", kMedia, kPlays, "length of a clip that is made",
         with_standard(time(&run::PlayRequest::clip_duration), "10s")},
        {"--streams", kMedia, kPlays, "streams per seat, of each format",
         count(&run::PlayRequest::streams, 100'000)},
        {"--seats", kMedia, kPlays, "clients that this process plays",
         count(&run::PlayRequest::seats, 100'000)},
        {"--total-streams", kMedia, kPlays,
         "instead of --streams: N in all, assigned to the seats in turn (round robin)",
         count(&run::PlayRequest::total_streams, 1'000'000)},
        {"--media", kMedia, kPlays, "own: each stream plays its own clip; same: all play one",
         choice<run::PlayRequest, bool, bool>(&run::PlayRequest::same_media, {{"own", false}, {"same", true}})},
        {"--seed",
         kMedia,
         kPlays | kRun,
         "seed of every random choice",
         any_seed(),
         {{kRun, "seed of every random choice", "the scenario's"}}},
        {"--yes", kMedia, kPlays | kRun,
         "write without a question where media or recordings take more than half of the free space, or files "
         "of "
         "a workload a tenth, and where a workload fills the volume",
         flag(&CliOptions::yes)},
        {"--wait", kMedia, kPlays | kRun | Command::clean,
         "wait until another streamsim that uses the media set of TARGET has ended (without it: exit code 3)",
         flag(&CliOptions::wait)},
    };
}

Options playing_options() {
    return {
        {"--fps", kPlaying, kPlays, "24, 23.976, 24000/1001, ... or max: as fast as it goes", rate()},
        {"--duration",
         kPlaying,
         kPlays | kRun,
         "how long each stream plays; clips loop",
         with_standard(time(&run::PlayRequest::duration), "60s"),
         {{kMax, "how long each step of the search plays; clips loop", "20s, and five read-aheads at least"},
          {kRun, "for a workload: how long each step plays", "the document's"}}},
        {"--frames", kPlaying, kPlays, "each stream plays at most N frames",
         count(&run::PlayRequest::frames, 1'000'000'000)},
        {"--on-miss", kPlaying, kPlays, "what the player does with a frame that misses its deadline",
         choice<run::PlayRequest, play::OnMiss, play::OnMiss>(
             &run::PlayRequest::on_miss,
             {{"drop", play::OnMiss::drop}, {"hold", play::OnMiss::hold}, {"stall", play::OnMiss::stall}})},
        {"--readahead", kPlaying, kPlays, "frames buffered ahead, per stream",
         count(&run::PlayRequest::readahead, 10'000)},
        {"--inflight", kPlaying, kPlays, "frames read at once, per stream",
         count(&run::PlayRequest::inflight, 10'000)},
        {"--pattern", kPlaying, kPlays, "how the frames of a clip are requested",
         with_standard(
             choice<run::PlayRequest, std::optional<play::AccessPattern>, play::AccessPattern>(
                 &run::PlayRequest::pattern, {{"filename-prefetch", play::AccessPattern::filename_prefetch},
                                              {"streaming", play::AccessPattern::streaming},
                                              {"on-demand", play::AccessPattern::on_demand}}),
             "sequences the first, containers the second")},
        {"--order", kPlaying, kPlays,
         "what the operator does: forward, reverse, ping-pong, shuttle:N, scrub, random or cuts", order()},
        {"--cuts", kPlaying, kPlays,
         "the cut list of --order cuts: a CMX3600 EDL or an OpenTimelineIO document; played once; --fps is the "
         "rate of an EDL whose clips do not share one",
         text(&CliOptions::cuts, "FILE", Completion::file)},
        {"--sync", kPlaying, kPlays, "the streams of a seat run on one clock", flag(&run::PlayRequest::sync)},
        {"--multicam", kPlaying, kPlays,
         "the streams of a seat are angles of one scene: all are read, or only the active one",
         choice<run::PlayRequest, run::MultiCam, run::MultiCam>(
             &run::PlayRequest::multicam, {{"all", run::MultiCam::all}, {"active", run::MultiCam::active}})},
        {"--layers", kPlaying, kPlays, "clips that lie on each other in each stream",
         count(&run::PlayRequest::layers, 64)},
        {"--audio",
         kPlaying,
         kPlays | kInspect,
         "the audio of containers is read along",
         flag(&run::PlayRequest::audio),
         {{kInspect, "the audio chunks of a container, too", ""}}},
        {"--stagger", kPlaying, kPlays, "delay between the starts of streams",
         time(&run::PlayRequest::stagger, true)},
        {"--preroll-timeout", kPlaying, kPlays, "give up when preroll takes longer",
         time(&run::PlayRequest::preroll_timeout)},
        {"--decode-cpu", kPlaying, kPlays,
         "CPU time spent for each frame, as a decoder would; 0: delivery only",
         time(&run::PlayRequest::decode_cpu, true)},
    };
}

Options reading_options() {
    return {
        {"--io",
         kReading,
         kPlays | kRun,
         "how files are read",
         choice<run::PlayRequest, run::IoChoice, run::IoChoice>(&run::PlayRequest::io,
                                                                {{"auto", run::IoChoice::automatic},
                                                                 {"uring", run::IoChoice::uring},
                                                                 {"threads", run::IoChoice::threads}}),
         {{kRun, "for a workload: how files are read and written", "auto"}}},
        {"--io-size", kReading, kPlays, "size of one read, or frame: one read for each frame", io_size()},
        {"--io-depth", kReading, kPlays, "pieces of one frame in flight",
         count(&run::PlayRequest::io_depth, 1024)},
        {"--direct", kReading, kPlays,
         "past this client's page cache, where the storage allows it (the default)",
         flag(&run::PlayRequest::direct)},
        {"--buffered", kReading, kPlays, "through this client's page cache",
         flag(&run::PlayRequest::direct, false)},
        {"--cold", kReading, kPlays, "evict these files from this client's page cache first",
         flag(&run::PlayRequest::cold)},
        {"--require-cold", kReading, kPlays, "fail the verdict where a cache may have been warm",
         flag(&run::PlayRequest::require_cold)},
        {"--keep-index", kReading, kPlays | kInspect, "keep the index of a container beside it",
         flag(&run::PlayRequest::keep_index)},
        {"--credentials",
         kReading,
         kPlays | kRun | kInspect | Command::clean,
         "for smb: a file with the lines username=, password= and domain= that only its owner may read",
         text(&CliOptions::credentials, "FILE", Completion::file),
         {},
         "STREAMSIM_SMB_CREDENTIALS, STREAMSIM_SMB_USER, STREAMSIM_SMB_PASSWORD, STREAMSIM_SMB_DOMAIN"},
        {"--only", kReading, kProfile, "count files whose paths begin with PATH, and no others; repeatable",
         with_standard(texts(&CliOptions::only, "PATH", Completion::file),
                       "regular files where data moves, without those of the system")},
    };
}

Options recording_options() {
    return {
        {"--record", kRecording, kPlays,
         "streams per seat, of each format named, that write frames on deadlines, as a camera's ingest does; "
         "alone, or beside --streams",
         count(&run::RecordRequest::streams, 10'000)},
        {"--durable", kRecording, kPlays, "a recorded frame is complete when its fsync is done",
         flag(&run::RecordRequest::durable)},
        {"--keep-recordings", kRecording, kPlays,
         "leave recordings below TARGET/streamsim-media/recordings; without it the run removes them",
         flag(&run::RecordRequest::keep)},
    };
}

Options load_options() {
    return {
        {"--meter", kLoad, kPlays,
         "a workload beside the streams, on every seat: a NAME of formats/workload/, or a JSON file; "
         "repeatable",
         texts(&CliOptions::meters, "NAME", Completion::workload)},
        {"--scale", kLoad, kPlays | kRun, "workloads X times as large: users, rates and working sets", scale()},
        {"--clients", kLoad, kRun, "for a workload: N clients, in one step",
         with_standard(count(&CliOptions::clients, 100'000), "the document's")},
        {"--not-alone", kLoad, kMeasures,
         "beside meters: do not first measure streams and meters alone, to say what they cost each other",
         flag(&CliOptions::alone, false)},
    };
}

Options searching_options() {
    return {
        {"--find", kSearching, kMax,
         "the most streams in total, the most streams per seat, or the most seats of --streams each, up to "
         "--seats",
         with_standard(choice<CliOptions, std::optional<MaxCounts>, MaxCounts>(
                           &CliOptions::find, {{"total", MaxCounts::streams},
                                               {"streams", MaxCounts::streams_per_seat},
                                               {"seats", MaxCounts::seats}}),
                       "total; under mpirun streams")},
        {"--confirm", kSearching, kMax, "how long a number that was found has to play once more; 0: not at all",
         with_standard(time(&CliOptions::confirm, true), "5m; on models 60s")},
        {"--headroom", kSearching, kMax,
         "the p1 margin of each stream has to keep this share of a frame's period free", percent()},
    };
}

Options testing_options() {
    return {
        {"--faults", kTesting, kPlays, "a schedule of injected delays and errors (JSON)",
         text(&CliOptions::faults, "FILE", Completion::file)},
        {"--no-probes", kTesting, kPlays,
         "when play fails: do not read on for some seconds to diagnose the cause",
         flag(&run::PlayRequest::find_cause, false)},
        {"--realtime", kTesting, kPlays, "ask for real-time scheduling of the player",
         flag(&run::PlayRequest::realtime)},
        {"--loops", kTesting, kPlays, "player threads",
         with_standard(count(&run::PlayRequest::loops, 1024), "as many as the load needs")},
    };
}

Options result_options() {
    const char* document = "as a document; - is standard output";
    return {
        {"--json",
         kResults,
         kMeasures | kMax | kReport | kInspect | kProfile | Command::formats,
         "the result as a document; - is standard output",
         text(&ResultFiles::json, "FILE", Completion::file),
         {{kMax, "the number that was found, with every step, as a document; - is standard output", ""},
          {kReport, "the result, or the comparison, as a document; - is standard output", ""},
          {kProfile, "the findings and how they fit, as a document; - is standard output", ""},
          {kInspect | Command::formats, document, ""}}},
        {"--csv",
         kResults,
         kMeasures | kReport,
         "one row for each frame",
         text(&ResultFiles::csv, "FILE", Completion::file),
         {{kReport, "one row for each stream; of several results one row for each figure", ""}}},
        {"--html", kResults, kMeasures | kReport, "the report, in one file that needs no network",
         text(&ResultFiles::html, "FILE", Completion::file)},
        {"--trace", kResults, kMeasures, "a trace for the viewers of Perfetto and Chrome",
         text(&ResultFiles::trace, "FILE", Completion::file)},
        {"--junit",
         kResults,
         kMeasures | kReport,
         "the verdict as JUnit XML",
         text(&ResultFiles::junit, "FILE", Completion::file),
         {{kReport, "the verdict of one result as JUnit XML", ""}}},
        {"--journal", kResults, kMeasures,
         "keep the result so far in a file there, every second, so that a crash does not lose it (report "
         "--merge reads it)",
         text(&CliOptions::journal, "DIR", Completion::directory)},
        {"--metrics", kResults, kMeasures,
         "OpenMetrics over HTTP while it plays; a port alone listens on 127.0.0.1", metrics_address()},
        {"--output,-o", kResults, kProfile, "where the document goes; an existing file is not overwritten",
         with_standard(text(&CliOptions::workload, "WORKLOAD.json", Completion::file), "standard output")},
        {"--name", kResults, kProfile, "the name of the document",
         with_standard(text(&CliOptions::workload_name, "NAME"), "the capture's")},
        {"--merge", kResults, kReport,
         "the documents are parts of one run, or the journals of its computers: make one result of them",
         flag(&CliOptions::merge)},
        {"--frames", kResults, kInspect, "list each frame's file, offset, bytes and time",
         flag(&CliOptions::frames)},
    };
}

Options general_options() {
    return {
        {"--quiet,-q", kGeneral, kAll, "errors only", flag(&CliOptions::quiet)},
        {"--verbose,-v", kGeneral, kAll, "the whole report; -vv: debugging messages, too", verbosity()},
        {"--help,-h", kGeneral, kAll, "print this help", answered()},
        {"--version,-V", kGeneral, kAll, "print the version and the storage backends", answered()},
    };
}

Options make_options() {
    Options all;
    for (Options (*group)() : {media_options, playing_options, reading_options, recording_options, load_options,
                               searching_options, testing_options, result_options, general_options}) {
        for (Option& option : group()) all.push_back(std::move(option));
    }
    return all;
}

const Option::Variant* variant_for(const Option& option, Command command) {
    const auto found =
        std::find_if(option.variants.begin(), option.variants.end(),
                     [command](const Option::Variant& each) { return each.commands.has(command); });
    return found == option.variants.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> Option::all_names() const {
    std::vector<std::string> out;
    std::string_view rest = names;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        out.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return out;
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

const std::vector<const char*>& option_groups() {
    static const std::vector<const char*> groups{kMedia,     kPlaying, kReading, kRecording, kLoad,
                                                 kSearching, kTesting, kResults, kGeneral};
    return groups;
}

const std::vector<Option>& option_table() {
    static const std::vector<Option> options = make_options();
    return options;
}

const Option* find_option(Command command, std::string_view name) {
    for (const Option& option : option_table()) {
        if (option.commands.has(command) && option.name() == name) return &option;
    }
    return nullptr;
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
    const auto named = [option](const Option& each) { return each.name() == option; };
    STREAMSIM_CHECK(std::any_of(option_table().begin(), option_table().end(), named),
                    "the option is in the table");
    return typed.find(option) != typed.end();
}

}  // namespace streamsim::cli
