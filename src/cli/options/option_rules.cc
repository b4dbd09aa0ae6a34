#include "cli/options/option_rules.h"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <utility>

#include "base/system/utf8_path.h"
#include "cli/options/option_table.h"

namespace streamsim::cli {
namespace {

constexpr std::uint64_t kAllStreamsMax = 1'000'000;

/// A rule speaks about an option that was given. Empty text: the rule is kept.
struct Rule {
    const char* option;
    std::string (*problem)(const CliOptions& options);
    Command only_for = Command::play;  // play: the rule holds for every command that takes the option
};

std::string when(bool broken, const char* problem) {
    return broken ? problem : "";
}

constexpr Rule kRules[] = {
    {"--total-streams",
     [](const CliOptions& o) {
         return when(o.given("--streams"), "stands instead of --streams: give one of them");
     }},
    {"--streams",
     [](const CliOptions& o) -> std::string {
         const run::PlayRequest& play = o.play;
         if (play.total_streams || std::uint64_t{play.streams} * play.seats <= kAllStreamsMax) return "";
         return fmt::format("{} streams on {} seats are more than {}: give fewer", play.streams, play.seats,
                            kAllStreamsMax);
     }},
    {"--order",
     [](const CliOptions& o) {
         return when(o.play.order.kind == play::PlayOrder::Kind::cuts && !o.given("--cuts"),
                     "cuts plays a cut list: give --cuts FILE");
     }},
    {"--cuts",
     [](const CliOptions& o) -> std::string {
         if (!o.given("--order") || o.typed.at("--order") == "cuts") return "";
         return fmt::format("is not for --order {}: give --order cuts", o.typed.at("--order"));
     }},
    {"--cuts",
     [](const CliOptions& o) {
         return when(!o.formats.empty(), "names clips of its own below TARGET: give no format beside it");
     }},
    {"--layers",
     [](const CliOptions& o) {
         return when(o.given("--cuts") && o.play.layers > 1,
                     "is not for --cuts: the cut list says what lies on what");
     }},
    {"--layers",
     [](const CliOptions& o) {
         return when(o.play.multicam == run::MultiCam::active && o.play.layers > 1,
                     "is not for --multicam active, which reads one angle of one layer");
     }},
    {"--multicam",
     [](const CliOptions& o) {
         return when(o.given("--cuts") && o.play.multicam == run::MultiCam::active,
                     "active is not for --cuts: the cut list says what is shown when");
     }},
    {"--stagger",
     [](const CliOptions& o) {
         return when((o.play.sync || o.play.multicam == run::MultiCam::all) && o.play.stagger > Duration{},
                     "is not for streams on one clock (--sync, --multicam all), which begin together");
     }},
    {"--buffered",
     [](const CliOptions& o) {
         return when(o.given("--direct"), "is the opposite of --direct: give one of them");
     }},
    {"--durable",
     [](const CliOptions& o) { return when(!o.given("--record"), "is for what --record writes: give both"); }},
    {"--keep-recordings",
     [](const CliOptions& o) { return when(!o.given("--record"), "is for what --record writes: give both"); }},
    {"--on-miss",
     [](const CliOptions& o) {
         return when(o.given("--record") && o.play.on_miss == play::OnMiss::hold,
                     "hold is not for --record: a camera drops, a renderer waits (stall)");
     }},
    {"--scale",
     [](const CliOptions& o) {
         return when(o.command != Command::run && o.meters.empty() && o.scale != 1,
                     "is for a workload: give --meter NAME");
     }},
    {"--fps",
     [](const CliOptions& o) {
         return when(
             !o.play.paced && o.play.target.kind == target::Target::Kind::null_virtual && !o.play.frames,
             "max on sim:null takes no time at all and would never end: give --frames");
     }},
    {"--fps",
     [](const CliOptions& o) {
         return when(!o.play.paced, "max has no deadlines, so that any number of streams plays: give a rate");
     },
     Command::max},
    {"--duration",
     [](const CliOptions& o) -> std::string {
         if (!o.play.duration || *o.play.duration > seconds(1)) return "";
         return fmt::format("'{}': expected more than 1s: the first second of a step does not count",
                            o.typed.at("--duration"));
     },
     Command::max},
    {"--frames",
     [](const CliOptions&) {
         return std::string("would end a step before its time: give --duration, and --confirm");
     },
     Command::max},
    {"--multicam",
     [](const CliOptions& o) {
         return when(o.play.multicam == run::MultiCam::active,
                     "active reads one angle only: more of them are not more streams");
     },
     Command::max},
    {"--total-streams",
     [](const CliOptions& o) -> std::string {
         if (o.find.value_or(MaxCounts::streams) == MaxCounts::streams) return "";
         return fmt::format("is not for --find {}: give --streams", o.typed.at("--find"));
     },
     Command::max},
    {"--junit",
     [](const CliOptions& o) {
         return when(o.results.size() > 1 && !o.merge, "is the verdict of one result: give one, or --merge");
     },
     Command::report},
    {"--json",
     [](const CliOptions& o) {
         return when(o.workload == "-" && o.files.json == "-",
                     "'-' is where --output goes already: name a file");
     },
     Command::profile},
};

/// One path for all names of a file, which need not be there yet.
std::string canonical_path(const std::string& file) {
    if (file == "-") return file;
    std::error_code error;
    const auto path =
        std::filesystem::weakly_canonical(std::filesystem::absolute(utf8_path(file), error), error);
    return error ? file : path.string();
}

/// Two results in one file would be none.
void check_result_files(const ResultFiles& files, std::vector<std::string>& problems) {
    const std::pair<const char*, const std::string*> all[] = {{"--json", &files.json},
                                                              {"--csv", &files.csv},
                                                              {"--html", &files.html},
                                                              {"--trace", &files.trace},
                                                              {"--junit", &files.junit}};
    for (const auto* one = std::begin(all); one != std::end(all); ++one) {
        for (const auto* other = std::begin(all); other != one; ++other) {
            if (one->second->empty() || other->second->empty() ||
                canonical_path(*one->second) != canonical_path(*other->second))
                continue;
            problems.push_back(fmt::format("{}: '{}' is where {} goes already: name another file", one->first,
                                           *one->second, other->first));
        }
    }
}

}  // namespace

void check_option_rules(const CliOptions& options, std::vector<std::string>& problems) {
    for (const Rule& rule : kRules) {
        if (rule.only_for != Command::play && rule.only_for != options.command) continue;
        if (find_option(options.command, rule.option) == nullptr || !options.given(rule.option)) continue;
        if (const std::string problem = rule.problem(options); !problem.empty())
            problems.push_back(fmt::format("{}: {}", rule.option, problem));
    }
    check_result_files(options.files, problems);
}

std::vector<std::string> remarks_on_options(const CliOptions& options) {
    std::vector<std::string> remarks;
    const run::PlayRequest& play = options.play;
    if (options.given("--order") && play.streams == 0 && !play.total_streams)
        remarks.emplace_back("--order has no effect: recorders write their frames in order");
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

}  // namespace streamsim::cli
