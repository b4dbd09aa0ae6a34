#include "cli/options/options.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "base/document/document.h"
#include "base/system/utf8_path.h"
#include "base/units.h"
#include "cli/media/formats_directory.h"
#include "cli/options/typed_options.h"
#include "media/cuts/cut_list.h"
#include "run/session/workloads.h"
#include "scenario/workload_steps.h"
#include "target/credentials.h"
#include "target/models.h"
#include "view/metrics_server.h"

namespace streamsim::cli {
namespace {

class Reader {
public:
    std::vector<std::string> problems;

    void note(const char* option, const std::string& problem) {
        problems.push_back(fmt::format("{}: {}", option, problem));
    }
    void note(const char* option, const Error& error) {
        for (const auto& problem : error.problems) note(option, problem);
    }

    void count(const char* option, const std::optional<std::string>& text, std::uint64_t max, auto& into) {
        if (!text) return;
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
        if (error != std::errc() || end != text->data() + text->size() || value < 1 || value > max) {
            note(option, fmt::format("'{}': expected a whole number from 1 to {}", *text, max));
        } else {
            into = static_cast<std::remove_reference_t<decltype(into)>>(value);
        }
    }

    void whole(const char* option, const std::optional<std::string>& text, std::uint64_t& into) {
        if (!text) return;
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), into);
        if (error != std::errc() || end != text->data() + text->size()) {
            note(option, fmt::format("'{}': expected a whole number", *text));
        }
    }

    void time(const char* option, const std::optional<std::string>& text, bool zero_allowed, auto& into) {
        if (!text) return;
        const auto value = parse_duration(*text);
        if (!value) {
            note(option, value.error());
        } else if (value->ns == 0 && !zero_allowed) {
            note(option, fmt::format("'{}': expected more than nothing", *text));
        } else {
            into = *value;
        }
    }

    template <typename T>
    void choice(const char* option,
                const std::optional<std::string>& text,
                std::initializer_list<std::pair<const char*, T>> choices,
                auto& into) {
        if (!text) return;
        std::string names;
        for (const auto& [name, value] : choices) {
            if (*text == name) {
                into = value;
                return;
            }
            names += names.empty() ? name : fmt::format(", {}", name);
        }
        note(option, fmt::format("'{}': expected one of {}", *text, names));
    }
};

void read_formats(Reader& reader,
                  const Typed& typed,
                  const media::Catalogue& catalogue,
                  std::vector<MediaFormat>& into) {
    std::vector<std::string> names = typed.formats;
    const std::pair<bool, const char*> flags[] = {{typed.dpx10, "dpx10"},
                                                  {typed.dpx12, "dpx12"},
                                                  {typed.prores_hd, "prores-hd"},
                                                  {typed.prores_uhd, "prores-uhd"}};
    for (const auto& [set, name] : flags) {
        if (set) names.emplace_back(name);
    }
    for (const std::string& name : names) {
        auto format = media::open_format(catalogue, name);
        if (format) {
            into.push_back(std::move(format->format));
        } else {
            reader.note("--format", format.error());
        }
    }
}

void read_rate(Reader& reader, const Typed& typed, run::PlayRequest& play) {
    if (!typed.fps) return;
    if (*typed.fps == "max") {
        play.paced = false;
        return;
    }
    const auto rate = FrameRate::parse(*typed.fps);
    if (rate) {
        play.rate = *rate;
    } else {
        reader.note("--fps", rate.error());
    }
}

void read_faults(Reader& reader, const Typed& typed, run::PlayRequest& play) {
    if (!typed.faults) return;
    const auto text = read_document(*typed.faults);
    if (!text) return reader.note("--faults", text.error());
    auto plan = storage::read_fault_plan(*text, *typed.faults);
    if (plan) {
        play.faults = std::move(*plan);
    } else {
        for (const auto& problem : plan.error().problems) reader.problems.push_back(problem);
    }
}

void read_cuts(Reader& reader, const Typed& typed, run::PlayRequest& play) {
    const bool wanted = play.order.kind == play::PlayOrder::Kind::cuts;
    if (!typed.cuts) {
        if (wanted) reader.note("--order", "cuts plays a cut list: give --cuts FILE");
        return;
    }
    if (typed.order && !wanted) reader.note("--cuts", fmt::format("is not for --order {}", *typed.order));
    play.order.kind = play::PlayOrder::Kind::cuts;
    const auto text = read_document(*typed.cuts);
    if (!text) return reader.note("--cuts", text.error());
    auto list = media::parse_cut_list(*text, *typed.cuts);
    if (list) {
        play.cuts = std::move(*list);
    } else {
        for (const auto& problem : list.error().problems) reader.problems.push_back(problem);
    }
}

void read_media_options(Reader& reader, const Typed& typed, run::PlayRequest& play) {
    reader.count("--streams", typed.streams, 100'000, play.streams);
    reader.count("--seats", typed.seats, 100'000, play.seats);
    reader.count("--total-streams", typed.total_streams, 1'000'000, play.total_streams);
    if (typed.streams && typed.total_streams)
        reader.note("--total-streams", "stands instead of --streams, not beside it");
    reader.choice<bool>("--media", typed.media, {{"own", false}, {"same", true}}, play.same_media);
    reader.time("--clip-duration", typed.clip_duration, false, play.clip_duration);
    reader.whole("--seed", typed.seed, play.seed);
}

/// What is about this computer's files and its page cache, and given for storage that is spoken to directly.
void remark_on_remote(const Typed& typed, run::PlayRequest& play) {
    if (play.target.kind != target::Target::Kind::remote) return;
    std::vector<std::string> given;
    if (typed.io && *typed.io != "auto") given.push_back("--io " + *typed.io);
    if (typed.direct) given.emplace_back("--direct");
    if (typed.buffered) given.emplace_back("--buffered");
    if (typed.cold) given.emplace_back("--cold");
    if (given.empty()) return;
    std::string joined;
    for (const std::string& each : given) joined += (joined.empty() ? "" : ", ") + each;
    play.remarks.push_back(fmt::format(
        "{} {} nothing for {}: that is read over connections of streamsim's own, past this client's page cache",
        joined, given.size() == 1 ? "means" : "mean", play.target.url));
}

void read_io(Reader& reader, const Typed& typed, run::PlayRequest& play) {
    reader.choice<run::IoChoice>("--io", typed.io,
                                 {{"auto", run::IoChoice::automatic},
                                  {"uring", run::IoChoice::uring},
                                  {"threads", run::IoChoice::threads}},
                                 play.io);
}

void read_play_options(Reader& reader, const Typed& typed, run::PlayRequest& play) {
    read_rate(reader, typed, play);
    reader.time("--duration", typed.duration, false, play.duration);
    reader.count("--frames", typed.frames, 1'000'000'000, play.frames);
    reader.choice<play::AccessPattern>("--pattern", typed.pattern,
                                       {{"filename-prefetch", play::AccessPattern::filename_prefetch},
                                        {"streaming", play::AccessPattern::streaming},
                                        {"on-demand", play::AccessPattern::on_demand}},
                                       play.pattern);
    if (typed.order) {
        const auto order = play::PlayOrder::parse(*typed.order);
        if (order) {
            play.order = *order;
        } else {
            reader.note("--order", order.error());
        }
    }
    reader.choice<run::MultiCam>("--multicam", typed.multicam,
                                 {{"all", run::MultiCam::all}, {"active", run::MultiCam::active}},
                                 play.multicam);
    reader.count("--layers", typed.layers, 64, play.layers);
    play.sync = typed.sync || play.multicam == run::MultiCam::all;
    read_cuts(reader, typed, play);
    reader.count("--readahead", typed.readahead, 10'000, play.readahead);
    reader.count("--inflight", typed.inflight, 10'000, play.inflight);
    reader.count("--io-depth", typed.io_depth, 1024, play.io_depth);
    if (typed.io_size && *typed.io_size == "frame") {
        play.io_size = 0;
    } else if (typed.io_size) {
        const auto size = parse_size(*typed.io_size);
        if (!size) {
            reader.note("--io-size", size.error().problems.front() + ", or frame");
        } else if (*size < 512 || *size > (1ull << 30)) {
            reader.note("--io-size", fmt::format("'{}': expected 512B to 1GiB, or frame", *typed.io_size));
        } else {
            play.io_size = *size;
        }
    }
    reader.choice<play::OnMiss>(
        "--on-miss", typed.on_miss,
        {{"drop", play::OnMiss::drop}, {"hold", play::OnMiss::hold}, {"stall", play::OnMiss::stall}},
        play.on_miss);
    reader.time("--preroll-timeout", typed.preroll_timeout, false, play.preroll_timeout);
    reader.time("--stagger", typed.stagger, true, play.stagger);
    reader.time("--decode-cpu", typed.decode_cpu, true, play.decode_cpu);
    read_io(reader, typed, play);
    reader.count("--loops", typed.loops, 1024, play.loops);
    read_faults(reader, typed, play);
    if (typed.direct && typed.buffered)
        reader.note("--buffered", "is the opposite of --direct: give one of them");
    play.direct = !typed.buffered;
    play.cold = typed.cold;
    play.require_cold = typed.require_cold;
    play.realtime = typed.realtime;
    play.find_cause = !typed.no_probes;
    remark_on_remote(typed, play);
}

/// Recorders alone, where nobody asked for streams beside them; a search is for streams.
void read_record_options(Reader& reader, const Typed& typed, CliOptions& options) {
    run::PlayRequest& play = options.play;
    run::RecordRequest& record = play.record;
    reader.count("--record", typed.record, 10'000, record.streams);
    record.durable = typed.durable;
    record.keep = typed.keep_recordings;
    if (record.streams == 0) {
        if (typed.durable) reader.note("--durable", "is about what --record writes: give both");
        if (typed.keep_recordings) reader.note("--keep-recordings", "is about what --record writes: give both");
        return;
    }
    record.formats = play.formats;
    if (record.formats.empty()) record.formats.push_back(options.default_format);
    const bool search = options.command == CliOptions::Command::max;
    if (!search && !typed.streams && !typed.total_streams) play.streams = 0;
    if (typed.order && play.streams == 0 && !play.total_streams)
        play.remarks.emplace_back("--order has no effect: recorders write their frames in order");
    if (play.on_miss == play::OnMiss::hold)
        reader.note("--on-miss", "hold means nothing for --record: a camera drops, a renderer waits (stall)");
}

/// "20%" and "20" are the same.
void read_headroom(Reader& reader, const std::string& typed, double& into) {
    const std::string_view number =
        std::string_view(typed).substr(0, typed.size() - (typed.ends_with('%') ? 1 : 0));
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), into);
    if (error != std::errc() || end != number.data() + number.size() || !(into >= 0 && into <= 100))
        reader.note("--headroom", fmt::format("'{}': expected 0 % to 100 %", typed));
}

/// What only the search for the largest number takes, and what it cannot search with.
void read_max_options(Reader& reader, const Typed& typed, CliOptions& options) {
    reader.time("--confirm", typed.confirm, true, options.confirm);
    reader.choice<MaxCounts>(
        "--find", typed.find,
        {{"total", MaxCounts::streams}, {"streams", MaxCounts::streams_per_seat}, {"seats", MaxCounts::seats}},
        options.find);
    if (options.find.value_or(MaxCounts::streams) != MaxCounts::streams && typed.total_streams)
        reader.note("--total-streams", fmt::format("is not for --find {}: give --streams", *typed.find));
    if (typed.headroom) read_headroom(reader, *typed.headroom, options.headroom_percent);
    const run::PlayRequest& play = options.play;
    options.streams_given = typed.streams || typed.total_streams;
    if (play.duration && *play.duration <= seconds(1)) {
        reader.note("--duration",
                    fmt::format("'{}': expected more than 1s: the first second of a step does not count",
                                *typed.duration));
    }
    if (!play.paced) reader.note("--fps", "max has no deadlines, so that any number of streams plays");
    if (play.frames)
        reader.note("--frames", "would end a step before its time: give --duration, and --confirm");
    if (play.multicam == run::MultiCam::active)
        reader.note("--multicam", "active reads one angle only: more of them are not more streams");
}

void read_scale(Reader& reader, const Typed& typed, CliOptions& options) {
    options.alone = !typed.not_alone;
    if (!typed.scale) return;
    const std::string& text = *typed.scale;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), options.scale);
    if (error != std::errc() || end != text.data() + text.size() ||
        !(options.scale > 0 && options.scale <= 1000))
        reader.note("--scale", fmt::format("'{}': expected more than 0, at most 1000", text));
}

/// Meters on all seats.
void read_meters(Reader& reader, const std::string& formats, CliOptions& options) {
    run::PlayRequest& play = options.play;
    for (const std::string& typed : options.meters) {
        auto workload = run::open_workload(typed, formats + "/workload");
        if (!workload) {
            reader.note("--meter", workload.error());
            continue;
        }
        for (std::string& text : run::without_effect(*workload)) play.remarks.push_back(std::move(text));
        for (run::MeterPart& part : run::meters_of(scenario::scaled(*workload, options.scale), 0, play.seats))
            play.meters.push_back(std::move(part));
    }
    if (options.meters.empty() && options.scale != 1)
        reader.note("--scale", "is of a workload: give --meter NAME");
}

/// What is right by itself and wrong together.
void check_combinations(Reader& reader, const Typed& typed, const run::PlayRequest& play) {
    constexpr std::uint64_t kStreamsMax = 1'000'000;
    if (!play.total_streams && std::uint64_t{play.streams} * play.seats > kStreamsMax) {
        reader.note("--streams", fmt::format("{} streams on {} seats are more than {}", play.streams,
                                             play.seats, kStreamsMax));
    }
    if (!play.paced && play.target.kind == target::Target::Kind::null_virtual && !play.frames) {
        reader.note("--fps", "max on sim:null takes no time at all and would never end: give --frames");
    }
    if (play.multicam == run::MultiCam::active && play.layers > 1)
        reader.note("--layers", "only one angle is read with --multicam active, and it has one layer");
    if (typed.cuts && play.layers > 1) reader.note("--layers", "a cut list says itself what lies on what");
    if (typed.cuts && play.multicam == run::MultiCam::active)
        reader.note("--multicam", "a cut list says itself what is shown when");
    if (typed.cuts && !play.formats.empty())
        reader.note("--cuts", "names clips of its own below TARGET: no format is given beside it");
    if (play.sync && play.stagger > Duration{})
        reader.note("--stagger", "streams on one clock (--sync, --multicam all) begin together");
    for (std::size_t i = 0; i < play.formats.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (play.formats[i].name == play.formats[j].name) {
                reader.note("--format",
                            fmt::format("{} is asked for twice: give --streams instead", play.formats[i].name));
            }
        }
    }
}

/// The same for all ways to name a file that may not be there yet.
std::string place_of(const std::string& file) {
    if (file == "-") return file;
    std::error_code error;
    const auto place =
        std::filesystem::weakly_canonical(std::filesystem::absolute(utf8_path(file), error), error);
    return error ? file : place.string();
}

/// Two results in one file would be none.
void check_files(Reader& reader, const ResultFiles& files) {
    const std::pair<const char*, const std::string*> all[] = {{"--json", &files.json},
                                                              {"--csv", &files.csv},
                                                              {"--html", &files.html},
                                                              {"--trace", &files.trace},
                                                              {"--junit", &files.junit}};
    for (const auto& one : all) {
        for (const auto& other : all) {
            if (&other >= &one) break;
            if (one.second->empty() || other.second->empty() ||
                place_of(*one.second) != place_of(*other.second))
                continue;
            reader.note(one.first, fmt::format("'{}' is where {} goes already", *one.second, other.first));
        }
    }
}

void read_target(Reader& reader, const Typed& typed, CliOptions& options) {
    if (typed.target.empty()) {
        reader.problems.emplace_back(
            "TARGET is missing: expected a directory, a clip, a sequence or a URL (see --help)");
        return;
    }
    auto target = target::parse_target(typed.target);
    if (!target) {
        for (const auto& problem : target.error().problems) reader.problems.push_back(problem);
        return;
    }
    options.play.target = *target;
    auto credentials = target::find_credentials(*target, options.credentials);
    if (credentials) options.play.credentials = std::move(*credentials);
    if (!credentials) reader.note("--credentials", credentials.error());
}

/// What a command is about: a target or a file.
void read_subject(Reader& reader, const Typed& typed, CliOptions& options) {
    using Command = CliOptions::Command;
    if (options.command == Command::run) {
        options.name = typed.target;
        if (options.name.empty())
            reader.problems.emplace_back("FILE is missing: expected a scenario or a workload (see --help)");
        reader.time("--duration", typed.duration, false, options.play.duration);
        reader.count("--clients", typed.clients, 100'000, options.clients);
        read_io(reader, typed, options.play);
        read_scale(reader, typed, options);
        if (typed.seed) reader.whole("--seed", typed.seed, options.seed.emplace());
    } else if (options.command == Command::profile) {
        options.name = typed.target;
        if (options.name.empty())
            reader.problems.emplace_back(
                "CAPTURE is missing: expected an strace log or a capture (see --help)");
        if (options.workload == "-" && options.files.json == "-")
            reader.note("--json", "'-' is where the document goes already");
    } else if (options.command == Command::report) {
        if (options.results.empty())
            reader.problems.emplace_back(
                "RESULT is missing: expected a document that --json wrote (see --help)");
        if (options.results.size() > 1 && !options.merge && !options.files.junit.empty())
            reader.note("--junit", "is the verdict of one result; several were given");
    } else if (options.command != Command::formats) {
        read_target(reader, typed, options);
    }
}

/// What play, prepare and max have in common. Errors: environment.
Result<void> read_play(Reader& reader, const Typed& typed, CliOptions& options) {
    read_media_options(reader, typed, options.play);
    read_play_options(reader, typed, options.play);
    options.play.keep_frames = options.files.need_frames();
    options.play.keep_histograms = !options.journal.empty();
    if (options.command == CliOptions::Command::max) read_max_options(reader, typed, options);
    const auto directory = formats_directory();
    if (!directory) return directory.error();
    if (options.play.target.kind == target::Target::Kind::model) {
        auto opened = target::open_model(options.play.target, *directory + "/storage");
        if (!opened && opened.error().kind == ErrorKind::environment) return opened;
        if (!opened)
            for (const auto& problem : opened.error().problems) reader.problems.push_back(problem);
    }
    const auto catalogue = media::Catalogue::load(*directory + "/media");
    if (!catalogue) return catalogue.error();
    read_formats(reader, typed, *catalogue, options.play.formats);
    read_scale(reader, typed, options);
    read_meters(reader, *directory, options);
    const MediaFormat* standard = catalogue->find("dpx12");
    if (standard == nullptr)
        return environment_error(fmt::format("{}: the format dpx12 is missing", *directory));
    options.default_format = *standard;
    read_record_options(reader, typed, options);
    return {};
}

/// What the parser took is checked, and turned into a request.
Result<void> check(CLI::App& app, CliOptions& options, const Typed& typed) {
    using Command = CliOptions::Command;
    Reader reader;
    for (const std::string& extra : app.remaining()) {
        reader.problems.push_back(extra.starts_with("-")
                                      ? fmt::format("{}: there is no such option (see --help)", extra)
                                      : fmt::format("'{}': one {} is expected", extra,
                                                    options.command == Command::run       ? "FILE"
                                                    : options.command == Command::profile ? "CAPTURE"
                                                                                          : "TARGET"));
    }
    read_subject(reader, typed, options);
    options.play.audio = typed.audio;
    options.play.keep_index = typed.keep_index;
    if (options.command == Command::play || options.command == Command::prepare ||
        options.command == Command::max) {
        if (auto read = read_play(reader, typed, options); !read) return read;
    }
    check_files(reader, options.files);
    if (!options.metrics.empty()) {
        if (const auto address = view::parse_metrics_address(options.metrics); !address)
            reader.note("--metrics", address.error());
    }
    check_combinations(reader, typed, options.play);
    if (!reader.problems.empty()) return Error{ErrorKind::bad_input, reader.problems};
    return {};
}

}  // namespace

CliOptions::Command command_of(int argc, const char* const* argv) {
    using Command = CliOptions::Command;
    const std::pair<std::string_view, Command> commands[] = {
        {"prepare", Command::prepare}, {"max", Command::max},         {"report", Command::report},
        {"run", Command::run},         {"formats", Command::formats}, {"inspect", Command::inspect},
        {"profile", Command::profile}, {"clean", Command::clean}};
    for (const auto& [name, command] : commands) {
        if (argc > 1 && name == argv[1]) return command;
    }
    return Command::play;
}

Result<ParsedCommandLine> parse_command_line(int argc,
                                             const char* const* argv,
                                             const std::string& version_text) {
    ParsedCommandLine parsed;
    CliOptions& options = parsed.options;
    options.command_line.assign(argv, argv + argc);
    options.command = command_of(argc, argv);
    const int skip = options.command == CliOptions::Command::play ? 0 : 1;
    Typed typed;
    CLI::App app;
    app.name(skip > 0 ? fmt::format("streamsim {}", argv[1]) : "streamsim");
    declare_options(app, options, typed);
    app.set_version_flag("--version,-V", version_text);
    try {
        app.parse(argc - skip, argv + skip);
    } catch (const CLI::CallForHelp&) {
        parsed.text = CliText{app.help()};
        return parsed;
    } catch (const CLI::CallForVersion&) {
        parsed.text = CliText{version_text + "\n"};
        return parsed;
    } catch (const CLI::ParseError& error) {
        return bad_input(error.what());
    }
    if (auto checked = check(app, options, typed); !checked) return checked.error();
    return parsed;
}

}  // namespace streamsim::cli
