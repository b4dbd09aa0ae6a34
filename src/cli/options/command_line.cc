#include "cli/options/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <filesystem>
#include <iterator>
#include <regex>
#include <utility>

#include "base/similar_names.h"
#include "base/system/utf8_path.h"
#include "cli/options/document_commands.h"
#include "cli/options/documents.h"
#include "cli/options/logo.h"
#include "cli/options/option_table.h"
#include "cli/process/descriptors.h"
#include "judge/prediction_rules.h"
#include "run/backends/backends.h"

namespace streamsim::cli {
namespace {

/// The words that were typed for one option.
struct TypedOption {
    const Option* option;
    std::vector<std::string> texts;
    int times = 0;  // of a flag
};
using TypedOptions = std::deque<TypedOption>;  // the parser keeps references

void declare_option(CLI::App& app, TypedOption& typed) {
    const Option& option = *typed.option;
    if (option.name() == "--help") {
        app.set_help_flag(option.names, option.help);
    } else if (option.name() == "--version") {
        app.set_version_flag(option.names, "");
    } else if (option.value.takes == OptionValue::Takes::nothing) {
        app.add_flag(option.names, typed.times);
    } else {
        CLI::Option* const declared = app.add_option(option.names, typed.texts)->expected(1);
        declared->allow_extra_args(false);  // the word after the value is an operand
        const bool several = option.value.takes == OptionValue::Takes::texts;
        declared->multi_option_policy(several ? CLI::MultiOptionPolicy::TakeAll
                                              : CLI::MultiOptionPolicy::Throw);
    }
}

void declare(CLI::App& app, CliOptions& options, TypedOptions& typed) {
    for (const Operand& operand : info(options.command).operands) {
        if (operand.into_all != nullptr) {
            app.add_option(operand.name, options.*operand.into_all);
        } else {
            app.add_option(operand.name, options.*operand.into);
        }
    }
    for (const Option& option : option_table()) {
        if (!option.commands.has(options.command)) continue;
        declare_option(app, typed.emplace_back(TypedOption{&option, {}, 0}));
    }
    app.allow_extras();
    app.allow_windows_style_options(false);  // "/media" is a path on every system
}

/// An empty text is more often a variable of the shell that is not set. `run` leaves out with it what its
/// document has.
bool lacks_text(const Option& option, const std::string& text, Command command) {
    const bool any_text = option.value.takes != OptionValue::Takes::nothing && option.value.range.empty();
    const bool leaves_out =
        command == Command::run && (option.name() == "--before-step" || option.name() == "--counters");
    return any_text && text.empty() && !leaves_out;
}

void read_options(const TypedOptions& typed, CliOptions& options, std::vector<std::string>& problems) {
    for (const TypedOption& each : typed) {
        std::vector<std::string> texts = each.texts;
        if (each.times > 0) texts.assign(static_cast<std::size_t>(each.times), "");
        for (const std::string& text : texts) {
            options.typed[each.option->name()] = text;
            if (lacks_text(*each.option, text, options.command)) {
                problems.push_back(
                    fmt::format("{}: '': expected {}", each.option->name(), each.option->value.name));
                continue;
            }
            const auto read = each.option->value.read(text, options);
            if (read) continue;
            for (const std::string& problem : read.error().problems)
                problems.push_back(fmt::format("{}: {}", each.option->name(), problem));
        }
    }
    ResultFiles& files = options.files;
    for (std::string* file :
         {&files.json, &files.csv, &files.html, &files.trace, &files.junit, &options.output}) {
        if (is_standard_output(*file)) *file = "-";
    }
}

/// The commands that take the option, where this one does not; empty: there is no such option.
std::vector<std::string> commands_with(const std::string& typed) {
    for (const Option& option : option_table()) {
        const std::vector<std::string> names = option.all_names();
        if (std::ranges::find(names, typed) != names.end()) return names_of(option.commands);
    }
    return {};
}

/// Every option that the command does not have, with the names that were probably meant.
void check_option_names(const std::vector<std::string>& extras,
                        const CliOptions& options,
                        std::vector<std::string>& problems) {
    std::vector<std::string> known;
    for (const Option& option : option_table()) {
        if (!option.commands.has(options.command)) continue;
        for (std::string& name : option.all_names()) known.push_back(std::move(name));
    }
    for (const std::string& extra : extras) {
        if (!extra.starts_with("-")) continue;
        const std::string typed = extra.substr(0, extra.find('='));
        if (const std::vector<std::string> others = commands_with(typed); !others.empty()) {
            problems.push_back(fmt::format("{}: {} has no such option; these commands have it: {}", typed,
                                           info(options.command).name, fmt::join(others, ", ")));
        } else {
            problems.push_back(
                fmt::format("{}: there is no such option{} (see --help)", typed, did_you_mean(typed, known)));
        }
    }
}

/// A word that names neither a file nor a command, but nearly a command.
bool is_mistyped_command(const CliOptions& options, std::vector<std::string>& problems) {
    const std::vector<std::string>& words = options.command_line;
    if (options.command != Command::play || words.size() < 2 || words[1].starts_with("-")) return false;
    if (words[1].find_first_of("/.:\\") != std::string::npos) return false;
    std::error_code error;
    if (std::filesystem::exists(system_path(words[1]), error)) return false;
    std::vector<std::string> names;
    for (const CommandInfo& each : command_table()) {
        if (each.command != Command::play) names.emplace_back(each.name);
    }
    const std::string meant = did_you_mean(words[1], names);
    if (meant.empty()) return false;
    problems.push_back(fmt::format("'{}': there is no such command, and no such file{}", words[1], meant));
    return true;
}

/// A command behind an option, which play takes for its TARGET. A folder may have such a name.
void check_late_command(const std::vector<std::string>& extras,
                        const CliOptions& options,
                        std::vector<std::string>& problems) {
    const auto is_operand = [](const std::string& extra) { return !extra.starts_with("-"); };
    const auto is_named = [&](const CommandInfo& each) {
        return each.command != Command::play && options.target == each.name;
    };
    if (options.command != Command::play || std::ranges::none_of(extras, is_operand)) return;
    if (std::ranges::none_of(command_table(), is_named)) return;
    problems.push_back(fmt::format("'{0}' is a command, which comes first: streamsim {0} ...", options.target));
}

void check_operands(const std::vector<std::string>& extras,
                    const CliOptions& options,
                    std::vector<std::string>& problems) {
    const CommandInfo& command = info(options.command);
    for (const std::string& extra : extras) {
        if (command.operands.empty()) {
            problems.push_back(fmt::format("'{}': {} takes no operand", extra, command.name));
        } else {
            problems.push_back(fmt::format("'{}': one {} is expected", extra, command.operands.front().name));
        }
    }
    for (const Operand& operand : command.operands) {
        const std::string& first = operand.into_all == nullptr           ? options.*operand.into
                                   : (options.*operand.into_all).empty() ? std::string()
                                                                         : (options.*operand.into_all).front();
        if (operand.required && first.empty()) {
            problems.push_back(
                fmt::format("{} is missing: expected {} (see --help)", operand.name, operand.expected));
        } else if (!operand.words.empty() &&
                   std::find(operand.words.begin(), operand.words.end(), first) == operand.words.end()) {
            problems.push_back(fmt::format("'{}': expected {}{}", first, operand.expected,
                                           did_you_mean(first, operand.words)));
        }
    }
}

// Options that are right by themselves and wrong together.

constexpr std::uint64_t kAllStreamsMax = 1'000'000;

bool asks_for_commands(const CliOptions& options) {
    return !options.step.empty();
}

constexpr const char* kNothingToFlush =
    "is for storage: models and null: have no cache of a server to flush, and no counters";
constexpr const char* kNoShell = "is not for this system, on which streamsim runs no commands";

/// A rule speaks about an option that was given.
struct Rule {
    const char* option;
    bool (*broken)(const CliOptions& options);
    const char* problem;
    const char* typed = nullptr;       // the option whose text replaces "{}" in the problem
    Command only_for = Command::play;  // play: the rule holds for every command that takes the option
};

bool has_backend(const char* name) {
    const std::vector<std::string> all = run::backend_names();
    return std::find(all.begin(), all.end(), name) != all.end();
}

constexpr Rule kRules[] = {
    {"--draws",
     [](const CliOptions& o) {
         return o.draws && *o.draws < judge::kDrawsMin && (*o.draws > 0 || o.command == Command::predict);
     },
     "expected 20 or more: fewer draws give no interval of 90 %"},
    {"--total-streams", [](const CliOptions& o) { return o.given("--streams"); },
     "stands instead of --streams: give one of them"},
    {"--order",
     [](const CliOptions& o) { return o.play.order.kind == play::PlayOrder::Kind::cuts && !o.given("--cuts"); },
     "cuts plays a cut list: give --cuts FILE"},
    {"--cuts", [](const CliOptions& o) { return o.given("--order") && o.typed.at("--order") != "cuts"; },
     "is not for --order {}: give --order cuts", "--order"},
    {"--cuts", [](const CliOptions& o) { return !o.formats.empty(); },
     "names clips of its own below TARGET: give no format beside it"},
    {"--layers", [](const CliOptions& o) { return o.given("--cuts") && o.play.layers > 1; },
     "is not for --cuts: the cut list says what lies on what"},
    {"--layers",
     [](const CliOptions& o) { return o.play.multicam == run::MultiCam::active && o.play.layers > 1; },
     "is not for --multicam active, which reads one angle of one layer"},
    {"--multicam",
     [](const CliOptions& o) { return o.given("--cuts") && o.play.multicam == run::MultiCam::active; },
     "active is not for --cuts: the cut list says what is shown when"},
    {"--stagger",
     [](const CliOptions& o) {
         return (o.play.sync || o.play.multicam == run::MultiCam::all) && o.play.stagger > Duration{};
     },
     "is not for streams on one clock (--sync, --multicam all), which begin together"},
    {"--buffered", [](const CliOptions& o) { return o.given("--direct"); },
     "is the opposite of --direct: give one of them"},
    {"--audio",
     [](const CliOptions& o) {
         const bool plays = o.command != Command::inspect;
         return plays && (!o.formats.empty() || !o.play.target.has_files());
     },
     "is for clips that are there: media that are made for a format have no audio, nor have null: and sim:"},
    {"--verify", [](const CliOptions& o) { return !o.play.target.has_files(); },
     "TARGET has no bytes that could be compared: give a path"},
    {"--ignore-mismatch", [](const CliOptions& o) { return !o.given("--cuts"); },
     "is for the edit list of --cuts: give both"},
    {"--durable", [](const CliOptions& o) { return !o.given("--record"); },
     "is for what --record writes: give both"},
    {"--before-step", [](const CliOptions& o) { return !o.step.command.empty() && !o.play.target.has_files(); },
     kNothingToFlush},
    {"--counters", [](const CliOptions& o) { return !o.step.counters.empty() && !o.play.target.has_files(); },
     kNothingToFlush},
    {"--before-step", [](const CliOptions& o) { return !o.step.command.empty() && lacks_shell(o); }, kNoShell},
    {"--counters", [](const CliOptions& o) { return !o.step.counters.empty() && lacks_shell(o); }, kNoShell},
    {"--command-timeout",
     [](const CliOptions& o) { return o.command != Command::run && !asks_for_commands(o); },
     "is for --before-step and --counters: give one of them"},
    {"--keep-recordings", [](const CliOptions& o) { return !o.given("--record"); },
     "is for what --record writes: give both"},
    {"--on-miss",
     [](const CliOptions& o) {
         return o.given("--record") && o.play.on_miss != play::OnMiss::drop &&
                o.play.on_miss != play::OnMiss::stall;
     },
     "{} is not for --record: a camera drops, a renderer waits (stall)", "--on-miss"},
    {"--scale",
     [](const CliOptions& o) { return o.command != Command::run && o.meters.empty() && o.scale != 1; },
     "is for a workload: give --meter NAME"},
    {"--fps",
     [](const CliOptions& o) {
         return !o.play.paced && o.play.target.kind == target::Target::Kind::null_virtual && !o.play.frames;
     },
     "max on sim:null takes no time at all and would never end: give --frames"},
    {"--fps", [](const CliOptions& o) { return !o.play.paced; },
     "max has no deadlines, so that any number of streams plays: give a rate", nullptr, Command::max},
    {"--duration", [](const CliOptions& o) { return o.play.duration && *o.play.duration <= seconds(1); },
     "'{}': expected more than 1s: the first second of a step does not count", "--duration", Command::max},
    {"--confirm",
     [](const CliOptions& o) { return o.confirm && o.confirm->ns != 0 && *o.confirm <= seconds(1); },
     "'{}': expected 0, or more than 1s: the first second of a run does not count", "--confirm", Command::max},
    {"--duration", [](const CliOptions& o) { return o.play.duration && *o.play.duration <= seconds(1); },
     "'{}': expected more than 1s: the first second of play does not count", "--duration", Command::predict},
    {"--fps", [](const CliOptions& o) { return !o.play.paced; },
     "max has no deadlines, so that any number of streams plays: give a rate", nullptr, Command::predict},
    {"--frames", [](const CliOptions& o) { return !o.given("--streams") && !o.given("--total-streams"); },
     "would end the plays of the search before their time: give --duration", nullptr, Command::predict},
    {"--faults", [](const CliOptions&) { return true; },
     "is not for predict: the faults would be no prediction of storage", nullptr, Command::predict},
    {"--frames", [](const CliOptions&) { return true; },
     "would end a step before its time: give --duration, and --confirm", nullptr, Command::max},
    {"--require-cold", [](const CliOptions& o) { return o.play.target.has_files() && o.step.command.empty(); },
     "max plays the same clips in each step, and the storage's caches may hold them from the second on: give "
     "--before-step with a command that empties them",
     nullptr, Command::max},
    {"--prove", [](const CliOptions& o) { return !o.play.paced; },
     "is not for --fps max, which has no deadlines and drops nothing: give a rate"},
    {"--prove", [](const CliOptions& o) { return !o.meters.empty(); },
     "is not for --meter: prove the streams alone, or play them beside the meter with --duration"},
    {"--prove",
     [](const CliOptions& o) {
         const bool endless = !o.given("--duration") && !o.given("--frames");
         return endless && (o.given("--record") || o.files.need_frames());
     },
     "plays for days, which is too long for --record, --csv and --trace: give --duration"},
    {"--io", [](const CliOptions& o) { return o.play.io == run::IoChoice::uring && !has_backend("uring"); },
     "uring: io_uring is there on Linux only: give auto or threads"},
    {"--io", [](const CliOptions& o) { return o.play.io == run::IoChoice::iocp && !has_backend("iocp"); },
     "iocp: completion ports are there on Windows only: give auto or threads"},
    {"--multicam", [](const CliOptions& o) { return o.play.multicam == run::MultiCam::active; },
     "active reads one angle only: more of them are not more streams", nullptr, Command::max},
    {"--multicam",
     [](const CliOptions& o) {
         const bool asks_how_many =
             !o.given("--streams") && !o.given("--total-streams") && !o.given("--record");
         return o.play.multicam == run::MultiCam::active && asks_how_many && !o.given("--cuts");
     },
     "active reads one angle only: more of them are not more streams: give --streams", nullptr,
     Command::predict},
    {"--total-streams",
     [](const CliOptions& o) { return o.find.value_or(MaxCounts::streams) != MaxCounts::streams; },
     "is not for --find {}: give --streams", "--find", Command::max},
    {"--draws",
     [](const CliOptions& o) {
         return o.draws.value_or(0) > 0 && o.find.value_or(MaxCounts::streams) != MaxCounts::streams;
     },
     "is not for --find {}: only the most streams in total are predicted", "--find", Command::max},
    {"--json", [](const CliOptions& o) { return o.targets.size() > 1; },
     "is the result of one TARGET: give --html, or one TARGET at a time", nullptr, Command::max},
    {"--junit", [](const CliOptions& o) { return o.results.size() > 1 && !o.merge; },
     "is the verdict of one result: give one, or --merge", nullptr, Command::report},
    {"--duration",
     [](const CliOptions& o) { return o.play.duration && *o.play.duration < Duration{200'000'000}; },
     "'{}': expected 200ms or more: a probe has to end with many reads done", "--duration", Command::calibrate},
    {"--max-load", [](const CliOptions& o) { return o.max_load_percent && *o.max_load_percent < 1; },
     "'{}': expected 1% or more", "--max-load", Command::calibrate},
    {"--refit", [](const CliOptions& o) { return o.again || o.check; },
     "fits again from what was measured: it is not for --again and --check", nullptr, Command::calibrate},
    {"--again", [](const CliOptions& o) { return o.check; }, "measures anew: it is not for --check", nullptr,
     Command::calibrate},
    {"--fit", [](const CliOptions& o) { return o.name != "published"; },
     "is for `run published` alone: leave it out"},
    {"--output", [](const CliOptions& o) { return o.output == "-"; },
     "'{}': expected the name of a file: the raw rows go beside it", "--output", Command::calibrate},
};

/// One path for all names of a file, which need not be there yet.
std::string canonical_path(const std::string& file) {
    if (file == "-") return file;
    std::error_code error;
    const auto path =
        std::filesystem::weakly_canonical(std::filesystem::absolute(utf8_path(file), error), error);
    return error ? file : utf8_text(path);
}

/// Two results in one file would be none.
void check_output_files(const CliOptions& options, std::vector<std::string>& problems) {
    const ResultFiles& files = options.files;
    const std::pair<const char*, const std::string*> all[] = {
        {"--output", &options.output}, {"--json", &files.json},   {"--csv", &files.csv},
        {"--html", &files.html},       {"--trace", &files.trace}, {"--junit", &files.junit}};
    for (const auto* one = std::begin(all); one != std::end(all); ++one) {
        for (const auto* other = std::begin(all); other != one; ++other) {
            if (one->second->empty() || other->second->empty() ||
                canonical_path(*one->second) != canonical_path(*other->second))
                continue;
            problems.push_back(fmt::format("{}: '{}' is where {} goes already: name another file", one->first,
                                           options.typed.at(one->first), other->first));
        }
    }
}

/// Adds a problem for each rule that the options break. REQUIRES: what was typed has been read into `options`,
/// and options.play.target is known.
void check_option_rules(const CliOptions& options, std::vector<std::string>& problems) {
    const run::PlayRequest& play = options.play;
    if (options.given("--streams") && !play.total_streams &&
        std::uint64_t{play.streams} * play.seats > kAllStreamsMax)
        problems.push_back(fmt::format("--streams: {} streams on {} seats are more than {}: give fewer",
                                       play.streams, play.seats, kAllStreamsMax));
    for (const Rule& rule : kRules) {
        if (rule.only_for != Command::play && rule.only_for != options.command) continue;
        if (!options.given(rule.option) || !rule.broken(options)) continue;
        const std::string typed = rule.typed == nullptr ? "" : options.typed.at(rule.typed);
        problems.push_back(fmt::format("{}: {}", rule.option, fmt::format(fmt::runtime(rule.problem), typed)));
    }
    check_output_files(options, problems);
}

/// A remark on options for files, which models and null storage do not have, and for players in real time.
void add_options_of_storage(const CliOptions& options, std::vector<std::string>& remarks) {
    const target::Target& target = options.play.target;
    const bool model = target.kind == target::Target::Kind::model;
    std::string typed;
    std::size_t count = 0;
    for (const std::string_view option : {"--io", "--cold", "--wait", "--yes", "--realtime", "--credentials",
                                          "--keep-index", "--direct", "--buffered", "--loops"}) {
        const bool of_players = option == "--realtime" || option == "--loops";
        if (!options.given(option) || (of_players && !target.is_virtual_time())) continue;
        typed += (count++ == 0 ? "" : ", ") + std::string(option);
    }
    if (count == 0) return;
    remarks.push_back(fmt::format("{} {} no effect on {}: {} has no files{}", typed,
                                  count == 1 ? "has" : "have", target.url, model ? "a model" : "it",
                                  target.is_virtual_time() ? ", and plays in virtual time" : ""));
}

/// The same command on each TARGET but the first. Problems that are those of the first, too, are said once.
/// Errors: as open_documents.
Result<void> read_others(const CliOptions& as_typed, CliOptions& options, std::vector<std::string>& problems) {
    for (std::size_t i = 1; i < options.targets.size(); ++i) {
        CliOptions other = as_typed;
        std::vector<std::string> found;
        other.target = options.targets[i];
        open_target(other, found);
        if (auto opened = open_documents(other, found); !opened) return opened;
        check_option_rules(other, found);
        other.play.remarks = remarks_on_options(other);
        other.project = options.project;
        other.files = {};  // one sheet holds all
        for (std::string& problem : found) {
            if (std::ranges::count(problems, problem) == 0) problems.push_back(std::move(problem));
        }
        options.others.push_back(std::move(other));
    }
    return {};
}

constexpr Commands kMeets = Command::host | Command::join;

void check_meeting(const CliOptions& options, std::vector<std::string>& problems) {
    check_operands({}, options, problems);
    if (!options.given("--key")) problems.emplace_back("--key: FILE is missing: expected the key of the run");
    if (options.command == Command::join) {
        if (!options.given("--allow"))
            problems.emplace_back("--allow: PATH is missing: expected the directory that the run may read");
        for (const std::string& place : options.allow) {
            if (place.starts_with('=') || place.ends_with('='))
                problems.push_back(fmt::format("--allow: '{}': expected PATH or NAME=PATH", place));
        }
        return;
    }
    if (!options.given("--seats")) problems.emplace_back("--seats: N is missing: expected how many seats join");
    if (options.quorum && *options.quorum > options.play.seats)
        problems.push_back(fmt::format("--quorum: '{}': expected {} or less, as --seats says", *options.quorum,
                                       options.play.seats));
    if (options.on_key && (options.given("--at") || options.within))
        problems.emplace_back("--on-key: begins when a person wants it: leave out --at and --within");
    if (options.given("--at") && options.within)
        problems.emplace_back("--within: --at says how long the host waits: give one of them");
}

/// Takes the words of the run out of those of `host`: all but its own options with their values.
std::vector<std::string> take_line(CliOptions& options) {
    std::vector<std::string> own = {options.command_line.front(), options.command_line[1]};
    for (std::size_t i = 2; i < options.command_line.size(); ++i) {
        const std::string& word = options.command_line[i];
        const std::string name = word.substr(0, word.find('='));
        const auto found = std::ranges::find_if(option_table(), [&](const Option& option) {
            return option.commands.has(Command::host) && std::ranges::count(option.all_names(), name) > 0;
        });
        if (found == option_table().end()) {
            options.line.push_back(word);
            continue;
        }
        own.push_back(word);
        const bool flag = found->value.takes == OptionValue::Takes::nothing;
        const bool of_run = flag && found->commands.has(Command::run);
        if (of_run && found->name() != "--help" && found->name() != "--version") options.line.push_back(word);
        if (!flag && name == word && i + 1 < options.command_line.size())
            own.push_back(options.command_line[++i]);
    }
    return own;
}

/// Reads what was typed into the options, and checks it. Errors: every problem.
Result<void> read(const TypedOptions& typed, const std::vector<std::string>& extras, CliOptions& options) {
    std::vector<std::string> problems;
    check_option_names(extras, options, problems);
    if (kMeets.has(options.command)) {
        read_options(typed, options, problems);
        check_meeting(options, problems);
        return problems.empty() ? Result<void>() : Error{ErrorKind::bad_input, std::move(problems)};
    }
    check_late_command(extras, options, problems);
    // The word after an option that does not exist may be its value: the operands are not known then.
    if (!problems.empty() || is_mistyped_command(options, problems)) {
        read_options(typed, options, problems);
        check_option_rules(options, problems);
        return Error{ErrorKind::bad_input, std::move(problems)};
    }
    check_operands(extras, options, problems);
    read_options(typed, options, problems);
    if (!options.targets.empty()) options.target = options.targets.front();
    const CliOptions as_typed = options;
    if (options.command != Command::run) open_target(options, problems);
    const Commands plays =
        Command::play | Command::prepare | Command::max | Command::predict | Command::calibrate;
    if (plays.has(options.command)) {
        if (auto opened = open_documents(options, problems); !opened) return opened;
    }
    if (!options.logo.empty()) {
        auto uri = logo_uri(options.logo);
        if (uri) options.project.logo = std::move(*uri);
        if (!uri) problems.push_back(uri.error().problems.front());
    }
    check_option_rules(options, problems);
    for (std::string& remark : remarks_on_options(options)) options.play.remarks.push_back(std::move(remark));
    if (auto read = read_others(as_typed, options, problems); !read) return read;
    if (!problems.empty()) return Error{ErrorKind::bad_input, std::move(problems)};
    return {};
}

/// The parser's own sentences about values that are missing, or too many.
std::string in_our_words(const std::string& text) {
    static const std::regex missing("^(-[^ ]*): 1 required (.*) missing$");
    static const std::regex twice("^(-[^ ]*): .*[Aa]t [Mm]ost 1 .*$");
    std::smatch parts;
    if (std::regex_match(text, parts, missing)) {
        std::string value = parts.str(2);
        for (const Option& option : option_table()) {
            if (std::ranges::count(option.all_names(), parts.str(1)) > 0) value = option.value.name;
        }
        return fmt::format("{}: {} is missing after it", parts.str(1), value);
    }
    if (std::regex_match(text, parts, twice)) return parts.str(1) + ": is given more than once: give it once";
    return text;
}

}  // namespace

std::vector<std::string> remarks_on_options(const CliOptions& options) {
    std::vector<std::string> remarks;
    const run::PlayRequest& play = options.play;
    if (options.given("--order") && play.streams == 0 && !play.total_streams)
        remarks.emplace_back("--order has no effect: recorders write their frames in order");
    const bool varies = play.target.model != nullptr && !play.target.model->uncertain.empty();
    if (options.given("--draws") && options.command != Command::run && !varies)
        remarks.push_back(
            fmt::format("--draws has no effect: {} is no model that was calibrated", play.target.url));
    if (!play.target.has_files()) add_options_of_storage(options, remarks);
    if (play.target.kind != target::Target::Kind::remote) return remarks;
    std::string local;  // options about this computer's files and its page cache
    if (options.given("--io") && play.io != run::IoChoice::automatic)
        local = "--io " + options.typed.at("--io");
    std::size_t count = local.empty() ? 0 : 1;
    for (const char* option : {"--direct", "--buffered", "--cold"}) {
        if (!options.given(option)) continue;
        local += (count++ == 0 ? "" : ", ") + std::string(option);
    }
    if (count == 0) return remarks;
    remarks.push_back(fmt::format(
        "{} {} no effect on {}: streamsim reads it over connections of its own, past this client's page cache",
        local, count == 1 ? "has" : "have", play.target.url));
    return remarks;
}

Result<ParsedCommandLine> parse_command_line(int argc, const char* const* argv, bool leads) {
    ParsedCommandLine parsed;
    CliOptions& options = parsed.options;
    options.leads = leads;
    options.command_line.assign(argv, argv + argc);
    options.command = command_of(argc, argv);
    const int skip = options.command == Command::play ? 0 : 1;
    std::vector<std::string> own = options.command_line;
    if (options.command == Command::host) own = take_line(options);
    std::vector<const char*> words;
    words.reserve(own.size());
    for (const std::string& word : own) words.push_back(word.c_str());
    TypedOptions typed;
    CLI::App app;
    try {
        declare(app, options, typed);
        app.parse(static_cast<int>(words.size()) - skip, words.data() + skip);
    } catch (const CLI::CallForHelp&) {
        parsed.answer = Answer::help;
        if (options.command == Command::play) options.command = command_of(argc - 1, argv + 1);  // --help max
        return parsed;
    } catch (const CLI::CallForVersion&) {
        parsed.answer = Answer::version;
        return parsed;
    } catch (const CLI::ParseError& error) {
        return bad_input(in_our_words(error.what()));
    }
    if (auto done = read(typed, app.remaining(), options); !done) return done.error();
    return parsed;
}

}  // namespace streamsim::cli
