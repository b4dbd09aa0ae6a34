#include "cli/options/typed_options.h"

namespace streamsim::cli {
namespace {

constexpr const char* kAbout =
    "streamsim plays media from storage as an edit seat does, frame by frame on deadlines, and counts every "
    "frame\n"
    "that was not there in time. It measures delivery to this client; it does not decode.\n\n"
    "  streamsim --dpx12 --streams 4 /mnt/media   play four UHD sequences (made first where there are none)\n"
    "  streamsim /mnt/media/shot                  play what is there\n"
    "  streamsim prepare|max|run|formats|inspect|profile|report|clean   see streamsim COMMAND --help";

void add_credentials(CLI::App& app, CliOptions& options) {
    app.add_option("--credentials", options.credentials,
                   "of smb: lines username=, password=, domain=; nobody else may read it (the environment's "
                   "STREAMSIM_SMB_USER, _PASSWORD, _DOMAIN)")
        ->type_name("FILE")
        ->group("Reading");
}

/// Of the commands that write before they measure.
void add_yes(CLI::App& app, CliOptions& options) {
    using Command = CliOptions::Command;
    const Command command = options.command;
    if (command != Command::play && command != Command::prepare && command != Command::max &&
        command != Command::run)
        return;
    app.add_flag("--yes", options.yes,
                 "write without a question where media or recordings take more than half of the free space, or "
                 "files of a workload a tenth, and where a workload fills the volume")
        ->group("Media");
}

void add_target(CLI::App& app, CliOptions& options, Typed& typed, const char* what) {
    app.add_option("TARGET", typed.target, what)->option_text(" ");
    add_credentials(app, options);
}

void add_media_options(CLI::App& app, Typed& typed) {
    const char* group = "Media";
    app.add_flag("--dpx10", typed.dpx10, "DPX 10 bit, UHD, 24 fps")->group(group);
    app.add_flag("--dpx12", typed.dpx12, "DPX 12 bit, UHD, 24 fps (what an empty directory gets)")
        ->group(group);
    app.add_flag("--prores-hd", typed.prores_hd, "ProRes 422, HD, 30 fps")->group(group);
    app.add_flag("--prores-uhd", typed.prores_uhd, "ProRes 422 HQ, UHD, 30 fps")->group(group);
    app.add_option("--format", typed.formats,
                   "a format that `streamsim formats` lists, or a JSON file; repeatable")
        ->type_name("NAME")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false)  // what follows the name is TARGET
        ->group(group);
    app.add_option("--clip-duration", typed.clip_duration, "length of a clip that is made (10s)")
        ->type_name("TIME")
        ->group(group);
    app.add_option("--streams", typed.streams, "streams a seat, of each format (1)")
        ->type_name("N")
        ->group(group);
    app.add_option("--seats", typed.seats, "clients that this process plays (1)")->type_name("N")->group(group);
    app.add_option("--total-streams", typed.total_streams,
                   "instead of --streams: N dealt round robin over the seats")
        ->type_name("N")
        ->group(group);
    app.add_option("--media", typed.media, "own: each stream its own clip; same: all one (own)")
        ->type_name("own|same")
        ->group(group);
    app.add_option("--seed", typed.seed, "of every random choice (1)")->type_name("N")->group(group);
}

void add_record_options(CLI::App& app, Typed& typed) {
    const char* group = "Recording";
    app.add_option("--record", typed.record,
                   "streams a seat, of each format named, that write frames on deadlines, as a camera's ingest "
                   "does; alone, or beside --streams (0)")
        ->type_name("N")
        ->group(group);
    app.add_flag("--durable", typed.durable, "a recorded frame is complete when its fsync is done")
        ->group(group);
    app.add_flag("--keep-recordings", typed.keep_recordings,
                 "leave them below TARGET/streamsim-media/recordings (they are removed after the run)")
        ->group(group);
}

void add_play_options(CLI::App& app, Typed& typed) {
    const auto text = [&](const char* group, const char* name, std::optional<std::string>& into,
                          const char* type, const char* what) {
        app.add_option(name, into, what)->type_name(type)->group(group);
    };
    const auto flag = [&](const char* group, const char* name, bool& into, const char* what) {
        app.add_flag(name, into, what)->group(group);
    };
    text("Playing", "--fps", typed.fps, "RATE",
         "24, 23.976, 24000/1001, ... or max: as fast as it goes (the clip's own)");
    text("Playing", "--duration", typed.duration, "TIME", "how long each stream plays; clips loop (60s)");
    text("Playing", "--frames", typed.frames, "N", "at most so many frames a stream");
    text("Playing", "--on-miss", typed.on_miss, "drop|hold|stall",
         "what the player does with a frame that is not there (drop)");
    text("Playing", "--readahead", typed.readahead, "N", "frames buffered ahead, a stream (8)");
    text("Playing", "--inflight", typed.inflight, "N", "frames read at once, a stream (2)");
    text("Playing", "--pattern", typed.pattern, "PATTERN",
         "filename-prefetch, streaming or on-demand (sequences the first, containers the second)");
    text("Playing", "--order", typed.order, "ORDER",
         "what the operator does: forward, reverse, ping-pong, shuttle:N, scrub, random or cuts (forward)");
    text("Playing", "--cuts", typed.cuts, "FILE",
         "the cut list of --order cuts: a CMX3600 EDL or an OpenTimelineIO document; played once; --fps counts "
         "an EDL whose clips do not share a rate");
    flag("Playing", "--sync", typed.sync, "the streams of a seat run on one clock");
    text("Playing", "--multicam", typed.multicam, "all|active",
         "the streams of a seat are angles of one scene: all are read, or only the one that is shown");
    text("Playing", "--layers", typed.layers, "N", "clips that lie on each other in each stream (1)");
    flag("Playing", "--audio", typed.audio, "the audio of containers is read along");
    flag("Reading", "--keep-index", typed.keep_index, "keep the index of a container beside it");
    text("Playing", "--stagger", typed.stagger, "TIME", "delay between the starts of streams (0)");
    text("Playing", "--preroll-timeout", typed.preroll_timeout, "TIME",
         "give up when preroll takes longer (10s)");
    text("Reading", "--io", typed.io, "auto|uring|threads", "how it reads (auto)");
    text("Reading", "--io-size", typed.io_size, "BYTES", "size of one read, or frame: one read a frame (1MiB)");
    text("Reading", "--io-depth", typed.io_depth, "N", "pieces of one frame in flight (8)");
    flag("Reading", "--direct", typed.direct,
         "past this client's page cache, where the storage allows it (default)");
    flag("Reading", "--buffered", typed.buffered, "through this client's page cache");
    flag("Reading", "--cold", typed.cold, "evict these files from this client's page cache first");
    flag("Reading", "--require-cold", typed.require_cold, "fail the verdict where a cache may have been warm");
    text("Playing", "--decode-cpu", typed.decode_cpu, "TIME",
         "CPU time burnt for each frame, as a decoder would (0: delivery only)");
    text("Testing", "--faults", typed.faults, "FILE", "a schedule of injected delays and errors (JSON)");
    flag("Testing", "--no-probes", typed.no_probes,
         "where it fails: do not read on for some seconds to find out why");
    flag("Testing", "--realtime", typed.realtime, "ask for real-time scheduling of the player");
    text("Testing", "--loops", typed.loops, "N", "player threads (as many as the load needs)");
    add_record_options(app, typed);
}

void add_scale_option(CLI::App& app, Typed& typed) {
    app.add_option("--scale", typed.scale,
                   "workloads so many times as large: users, rates and working sets (1)")
        ->type_name("X")
        ->group("Load");
}

void add_meter_options(CLI::App& app, CliOptions& options, Typed& typed) {
    app.add_option("--meter", options.meters,
                   "a workload beside the streams, on every seat: a NAME of formats/workload/, or a JSON file; "
                   "repeatable")
        ->type_name("NAME")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false)
        ->group("Load");
    add_scale_option(app, typed);
}

void add_alone_option(CLI::App& app, Typed& typed) {
    app.add_flag(
           "--not-alone", typed.not_alone,
           "beside meters: do not measure streams and meters alone before, to say what they cost each other")
        ->group("Load");
}

void add_max_options(CLI::App& app, Typed& typed) {
    app.add_option(
           "--find", typed.find,
           "the most streams in total, the most streams a seat, or the most seats of --streams each, up to "
           "--seats (total; under mpirun streams)")
        ->type_name("total|streams|seats")
        ->group("Searching");
    app.add_option("--confirm", typed.confirm,
                   "how long a number that was found has to play once more; 0: not at all (5m; on models 60s)")
        ->type_name("TIME")
        ->group("Searching");
    app.add_option("--headroom", typed.headroom,
                   "of each frame's period, that 99 % of the frames of each stream have to leave free (0)")
        ->type_name("PERCENT")
        ->group("Searching");
}

void add_file_option(CLI::App& app, const char* name, std::string& into, const char* what) {
    app.add_option(name, into, what)->type_name("FILE")->group("Results");
}

void add_json_option(CLI::App& app, CliOptions& options, const char* what) {
    add_file_option(app, "--json", options.files.json, what);
}

void add_result_options(CLI::App& app, CliOptions& options) {
    add_json_option(app, options, "the result; - is standard output");
    add_file_option(app, "--csv", options.files.csv, "one row a frame");
    add_file_option(app, "--html", options.files.html, "the report, in one file that needs no network");
    add_file_option(app, "--trace", options.files.trace, "for Perfetto's and Chrome's trace viewer");
    add_file_option(app, "--junit", options.files.junit, "the verdict as JUnit XML");
    app.add_option("--journal", options.journal,
                   "keeps the result so far in a file there, every second: whatever happens, it is not lost "
                   "(report --merge)")
        ->type_name("DIR")
        ->group("Results");
    app.add_option("--metrics", options.metrics,
                   "OpenMetrics over HTTP while it plays; a port alone is of 127.0.0.1")
        ->type_name("ADDR:PORT")
        ->group("Results");
}

void add_report_options(CLI::App& app, CliOptions& options) {
    add_json_option(app, options, "the result, or the comparison, as a document; - is standard output");
    add_file_option(app, "--csv", options.files.csv, "one row a stream; of several results one row a figure");
    add_file_option(app, "--html", options.files.html, "the report, in one file that needs no network");
    add_file_option(app, "--junit", options.files.junit, "the verdict as JUnit XML; of one result");
}

void declare_profile(CLI::App& app, CliOptions& options, Typed& typed) {
    app.description(
        "learns a workload document from real traffic, and shows how well what it plays fits it:\n"
        "  strace -f -ttt -T -y -o player.log PLAYER ...      streamsim profile player.log -o "
        "player.json");
    app.add_option("CAPTURE", typed.target,
                   "an strace log (of -ff: the name without the process), or a capture of NFSv3, NFSv4 or "
                   "SMB2 (pcap, pcapng; by tshark)")
        ->option_text(" ");
    app.add_option("--output,-o", options.workload,
                   "where the document goes; nothing that is there is overwritten (standard output)")
        ->type_name("WORKLOAD.json")
        ->group("Results");
    app.add_option("--name", options.workload_name, "of the document (the capture's)")
        ->type_name("NAME")
        ->group("Results");
    app.add_option("--only", options.only,
                   "count files whose paths begin so, and no others; repeatable (regular files where data "
                   "moves, without those of the system)")
        ->type_name("PATH")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false)
        ->group("Reading");
    add_json_option(app, options, "what was found and how it fits, as a document; - is standard output");
}

void declare_run(CLI::App& app, CliOptions& options, Typed& typed) {
    app.description(
        "runs a scenario: seats, their streams, recorders and meters, when they begin and end, what "
        "fails;\nor a workload: load that is not playback, step by step, with the tables or the curve "
        "of its "
        "source");
    app.add_option("FILE", typed.target,
                   "a scenario (JSON; examples: formats/scenario/), or a workload: JSON, or a NAME of "
                   "formats/workload/")
        ->option_text(" ");
    app.add_option("TARGET", options.where,
                   "of a workload: a directory or a URL (where the document is at home)")
        ->option_text(" ");
    app.add_option("--duration", typed.duration, "of a workload: of each step (the document's)")
        ->type_name("TIME")
        ->group("Load");
    app.add_option("--io", typed.io, "of a workload: how it reads and writes (auto)")
        ->type_name("auto|uring|threads")
        ->group("Load");
    app.add_option("--clients", typed.clients, "of a workload: so many, in one step (the document's)")
        ->type_name("N")
        ->group("Load");
    add_scale_option(app, typed);
    add_alone_option(app, typed);
    add_credentials(app, options);
    app.add_option("--seed", typed.seed, "of every random choice (the scenario's)")->type_name("N");
    add_result_options(app, options);
}

bool uses_media_sets(CliOptions::Command command) {
    using Command = CliOptions::Command;
    return command == Command::play || command == Command::prepare || command == Command::max ||
           command == Command::run || command == Command::clean;
}

void add_wait_option(CLI::App& app, CliOptions& options) {
    app.add_flag("--wait", options.wait,
                 "wait until another streamsim that uses TARGET's media set has ended (otherwise: exit code 3)")
        ->group("Media");
}

}  // namespace

void declare_options(CLI::App& app, CliOptions& options, Typed& typed) {
    using Command = CliOptions::Command;
    switch (options.command) {
        case Command::play:
            app.description(kAbout);
            add_target(app, options, typed,
                       "a directory, a clip, an image sequence or a URL (file:, nfs:, smb:, null:, sim:MODEL)");
            add_media_options(app, typed);
            add_play_options(app, typed);
            add_meter_options(app, options, typed);
            add_alone_option(app, typed);
            add_result_options(app, options);
            break;
        case Command::prepare:
            app.description("makes the media that play would need below TARGET/streamsim-media, then stops");
            add_target(app, options, typed, "a directory on the storage");
            add_media_options(app, typed);
            add_play_options(app, typed);  // taken, so that the line that will be played can be prepared
            add_meter_options(app, options, typed);
            break;
        case Command::formats:
            app.description("lists the media formats, or shows one with its sources");
            app.add_option("NAME", options.name, "a format, or a JSON file")->option_text(" ");
            add_json_option(app, options, "as a document; - is standard output");
            break;
        case Command::inspect:
            app.description("the frame index of a clip or sequence: frames, rate, bytes, places");
            add_target(app, options, typed, "a clip, a sequence's directory, one of its frames, or a pattern");
            app.add_flag("--frames", options.frames, "each frame's file, offset, bytes and time");
            app.add_flag("--audio", typed.audio, "the audio chunks of a container, too");
            app.add_flag("--keep-index", typed.keep_index, "keep the index of a container beside it");
            add_json_option(app, options, "as a document; - is standard output");
            break;
        case Command::profile: declare_profile(app, options, typed); break;
        case Command::run: declare_run(app, options, typed); break;
        case Command::max:
            app.description(
                "finds the largest number of streams that plays without a drop: 1, 2, 4, ... until one fails, "
                "then\n"
                "between; each of these steps plays for --duration (here 20s, and five read-aheads at least)");
            add_target(app, options, typed,
                       "a directory on the storage, or a URL (file:, nfs:, smb:, null:, sim:MODEL)");
            add_media_options(app, typed);
            add_play_options(app, typed);
            add_meter_options(app, options, typed);
            add_max_options(app, typed);
            add_json_option(app, options, "what was found, with every step; - is standard output");
            break;
        case Command::report:
            app.description("renders results; compares several");
            app.add_option("RESULT", options.results,
                           "documents that --json wrote; the first is what others "
                           "are compared with")
                ->option_text(" ");
            app.add_flag("--merge", options.merge,
                         "they are parts of one run, or journals that its computers left: one result of them")
                ->group("Results");
            add_report_options(app, options);
            break;
        case Command::clean:
            app.description("removes TARGET/streamsim-media, which prepare made, and nothing else");
            add_target(app, options, typed, "the directory that was given to prepare");
            break;
    }
    add_yes(app, options);
    if (uses_media_sets(options.command)) add_wait_option(app, options);
    app.add_flag("--quiet,-q", options.quiet, "errors only")->group("Results");
    app.add_flag("-v,--verbose", options.verbose, "more of what happens")->group("Results");
    app.allow_extras();
}

}  // namespace streamsim::cli
