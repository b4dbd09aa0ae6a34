#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <utility>

#include "base/document/json.h"
#include "base/system/utf8_path.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/media/background_work.h"
#include "cli/output/output_file.h"
#include "profile/input/read_traffic.h"
#include "profile/learning/fit.h"
#include "profile/learning/learn.h"
#include "profile/learning/selection.h"
#include "profile/learning/workload_writer.h"
#include "run/traffic_fit.h"

namespace streamsim::cli {
namespace {

/// The findings of `profile`, for people and as a document.
struct ProfileFindings {
    profile::Profile profile;
    std::vector<profile::Fit> fits;  // by meter
    std::string source, recorder;
    std::string rule;  // which files count
    std::vector<std::string> notes;
    bool io_uring = false;  // the traffic lacks what went through it
    std::uint64_t files = 0;
};

constexpr std::size_t kSizesShown = 6;

std::string size_list(const profile::SizeCounts& sizes) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all(sizes.begin(), sizes.end());
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string out;
    for (std::size_t i = 0; i < std::min(all.size(), kSizesShown); ++i)
        out +=
            fmt::format("{}{} x {}", i == 0 ? "" : ", ", show_count(all[i].second), show_io_size(all[i].first));
    if (all.size() > kSizesShown)
        out += fmt::format(", and {} other sizes", show_count(all.size() - kSizesShown));
    return out;
}

std::uint64_t median_of(const profile::SizeCounts& counts) {
    std::uint64_t all = 0, below = 0;
    for (const auto& [bytes, count] : counts) all += count;
    for (const auto& [bytes, count] : counts) {
        below += count;
        if (below * 2 >= all) return bytes;
    }
    return 0;
}

void add_blocks(std::string& out, const char* name, const profile::BlockFacts& facts) {
    if (facts.blocks == 0) return;
    out += fmt::format("  {:<12}{} blocks, {}: {}\n", name, show_count(facts.blocks), show_bytes(facts.bytes),
                       size_list(facts.sizes));
    out += fmt::format("  {:<12}{:.1f} % sequential, in runs of {} (the median)\n", "",
                       facts.sequential_share() * 100, show_bytes(median_of(facts.runs)));
}

std::string operations_list(const profile::Behaviour& behaviour) {
    std::string out;
    for (std::size_t i = 0; i < profile::kTrafficKinds; ++i) {
        if (behaviour.operations[i] == 0) continue;
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", show_count(behaviour.operations[i]),
                           to_string(static_cast<profile::TrafficKind>(i)));
    }
    return out + (behaviour.failed > 0 ? fmt::format(" ({} failed)", show_count(behaviour.failed)) : "");
}

void add_meter(std::string& out, const profile::LearntMeter& meter) {
    const MeterSpec& spec = meter.spec;
    const profile::Behaviour& all = meter.behaviour;
    out += fmt::format("\n{}\n", spec.name);
    out += fmt::format("  operations  {} in {}\n", operations_list(all), show_duration({all.span_ns}));
    add_blocks(out, "reads", all.reads);
    add_blocks(out, "writes", all.writes);
    if (!meter.sequence.empty()) out += fmt::format("  files       {}\n", meter.sequence);
    if (spec.whole_files && meter.sequence.empty()) out += "  files       moved whole between open and close\n";
    out += fmt::format("  pace        {}: {} loop, {} user{}\n", meter.arrival,
                       spec.loop == MeterSpec::Loop::open ? "open" : "closed", spec.users,
                       spec.users == 1 ? "" : "s");
    if (all.in_flight_mean > 0) {
        out += fmt::format("  in flight   {:.2f} on average, {:.0f} at most; something {:.0f} % of the time\n",
                           all.in_flight_mean, all.in_flight_max, all.busy_share * 100);
    }
    if (meter.read_ahead) {
        out += fmt::format("  read-ahead  {}, {:.2f} s, {:.1f} {} ahead of a play head at its rate\n",
                           show_bytes(static_cast<std::uint64_t>(std::max(meter.read_ahead->bytes, 0.0))),
                           meter.read_ahead->seconds, meter.read_ahead->transfers,
                           spec.whole_files ? "files" : "transfers");
    }
    for (const std::string& note : meter.notes) out += fmt::format("  note        {}\n", note);
}

void add_fit(std::string& out, const profile::Fit& fit) {
    out += fmt::format("  {:<14} {:>14} {:>14}  {:<17} {:>8} {:>8}\n", "the fit", "traffic", "document", "",
                       "distance", "limit");
    for (const profile::FitLine& line : fit.lines) {
        out += fmt::format("  {:<14} {:>14.1f} {:>14.1f}  {:<17} {:>8.3f} {:>8.3f}  {}{}\n", line.name,
                           line.traffic, line.played, line.unit, line.distance, line.limit, line.measure,
                           line.fits() ? "" : ": does not fit");
    }
}

std::string verdict_of(const ProfileFindings& found) {
    std::string misfits;
    for (std::size_t i = 0; i < found.fits.size(); ++i) {
        for (const profile::FitLine& line : found.fits[i].lines) {
            if (line.fits()) continue;
            misfits += fmt::format("{}{}: {}", misfits.empty() ? "" : ", ", found.profile.meters[i].spec.name,
                                   line.name);
        }
    }
    if (!misfits.empty()) return "does not fit: " + misfits;
    return found.io_uring ? "lacks what went through io_uring" : "fits";
}

OrderedJson counts_json(const profile::SizeCounts& counts) {
    OrderedJson out = OrderedJson::array();
    constexpr std::size_t kKept = 1000;
    for (const auto& [bytes, count] : profile::few_sizes(counts, kKept))
        out.push_back({{"bytes", bytes}, {"count", count}});
    return out;
}

OrderedJson blocks_json(const profile::BlockFacts& facts) {
    return {{"blocks", facts.blocks},
            {"bytes", facts.bytes},
            {"sequential_share", facts.sequential_share()},
            {"sizes", counts_json(facts.sizes)},
            {"runs", counts_json(facts.runs)}};
}

OrderedJson meter_json(const profile::LearntMeter& meter, const profile::Fit& fit) {
    OrderedJson operations = OrderedJson::object();
    for (std::size_t i = 0; i < profile::kTrafficKinds; ++i)
        operations[to_string(static_cast<profile::TrafficKind>(i))] = meter.behaviour.operations[i];
    OrderedJson lines = OrderedJson::array();
    for (const profile::FitLine& line : fit.lines) {
        lines.push_back({{"name", line.name},
                         {"unit", line.unit},
                         {"traffic", line.traffic},
                         {"document", line.played},
                         {"measure", line.measure},
                         {"distance", line.distance},
                         {"limit", line.limit},
                         {"fits", line.fits()}});
    }
    OrderedJson out = {{"name", meter.spec.name},
                       {"operations", std::move(operations)},
                       {"failed", meter.behaviour.failed},
                       {"span_ns", meter.behaviour.span_ns},
                       {"reads", blocks_json(meter.behaviour.reads)},
                       {"writes", blocks_json(meter.behaviour.writes)},
                       {"transfers", meter.transfers},
                       {"whole_files", meter.spec.whole_files},
                       {"sequence", meter.sequence.empty() ? OrderedJson() : OrderedJson(meter.sequence)},
                       {"arrival", meter.arrival},
                       {"distances_cv", meter.distances_cv},
                       {"in_flight_mean", meter.behaviour.in_flight_mean},
                       {"in_flight_max", meter.behaviour.in_flight_max},
                       {"read_ahead", nullptr},
                       {"notes", meter.notes},
                       {"fit",
                        {{"fits", fit.fits()},
                         {"traffic_operations", fit.traffic_operations},
                         {"document_operations", fit.played_operations},
                         {"lines", std::move(lines)}}}};
    if (meter.read_ahead) {
        out["read_ahead"] = {{"bytes", meter.read_ahead->bytes},
                             {"seconds", meter.read_ahead->seconds},
                             {"transfers", meter.read_ahead->transfers}};
    }
    return out;
}

std::string profile_text(const ProfileFindings& found) {
    std::string out =
        fmt::format("{}: {}, {} files counted\n", found.source, found.recorder, show_count(found.files));
    out += fmt::format("  counted     {}\n", found.rule);
    for (const std::string& note : found.notes) out += fmt::format("  note        {}\n", note);
    for (std::size_t i = 0; i < found.profile.meters.size(); ++i) {
        add_meter(out, found.profile.meters[i]);
        add_fit(out, found.fits[i]);
    }
    return out + fmt::format("\nThe document {}\n", verdict_of(found));
}

/// Schema streamsim.profile, version 1.
std::string profile_json(const ProfileFindings& found) {
    OrderedJson out = {{"schema", "streamsim.profile"}, {"version", 1},
                       {"source", found.source},        {"recorder", found.recorder},
                       {"counted", found.rule},         {"files", found.files},
                       {"notes", found.notes},          {"fits", verdict_of(found) == "fits"},
                       {"verdict", verdict_of(found)},  {"meters", OrderedJson::array()}};
    for (std::size_t i = 0; i < found.profile.meters.size(); ++i)
        out["meters"].push_back(meter_json(found.profile.meters[i], found.fits[i]));
    out["workload"] = profile::workload_document(found.profile.workload);
    return json_text(out, 2) + "\n";
}

/// The capture's name without its ending.
std::string name_of(const CliOptions& options) {
    if (!options.workload_name.empty()) return options.workload_name;
    return utf8_text(utf8_path(options.name).filename().stem());
}

Result<ProfileFindings> find(const CliOptions& options, IndexProgress& progress) {
    std::uint64_t total = 0;
    auto traffic = profile::read_traffic(options.name, total, [&](std::uint64_t bytes) {
        progress.bytes_total = total;
        progress.bytes_done = bytes;
        return !progress.cancel;
    });
    if (!traffic) return traffic.error();
    profile::select(*traffic, options.only);
    auto profile = profile::learn(*traffic, name_of(options));
    if (!profile) return profile.error();
    ProfileFindings found{std::move(*profile),
                          {},
                          options.name,
                          traffic->recorder,
                          profile::selection_rule(options.only),
                          traffic->notes,
                          traffic->io_uring,
                          0};
    std::set<std::uint32_t> files;
    for (const profile::LearntMeter& meter : found.profile.meters) {
        found.fits.push_back(
            profile::compare(meter.behaviour, run::played_behaviour(meter, found.profile.workload.duration)));
        for (const profile::TrafficOperation& at : meter.operations) files.insert(at.file);
    }
    found.files = files.size();
    return found;
}

/// An existing document may have been edited by hand, so it is not overwritten.
Result<void> is_free(const std::string& path) {
    std::error_code error;
    if (path.empty() || path == "-") return {};
    const auto there = std::filesystem::status(system_path(path), error);
    if (std::filesystem::is_regular_file(there) || std::filesystem::is_directory(there))
        return bad_input(
            fmt::format("{}: the file exists and is not overwritten: name another file or remove it", path));
    return {};
}

/// Before the log is read, which may take long: a file that appears meanwhile is kept.
Result<OutputFile> prepared(const std::string& path, std::string_view begins_with) {
    return path.empty() ? OutputFile() : OutputFile::prepare(path, begins_with);
}

}  // namespace

int profile_command(CommandContext& context) {
    const CliOptions& options = context.options;
    if (const auto free = is_free(options.output); !free) return report_error(context, free.error());
    // The document goes to standard output where no file is named for it, unless --json goes there.
    const bool json_out = options.files.json == "-";
    const bool document_out = options.output == "-" || (options.output.empty() && !json_out);
    auto document = prepared(document_out ? "-" : options.output, "");
    if (!document) return report_error(context, document.error());
    auto json = prepared(options.files.json, "{\n  \"schema\": \"streamsim.profile\"");
    if (!json) return report_error(context, json.error());
    BackgroundWork work(context);
    const auto found =
        work.index([&options](IndexProgress& progress) { return find(options, progress); }, "reading the log");
    if (!found) return end_command(work, report_error(context, found.error()));
    const std::string text = profile_text(*found);
    if (!options.quiet) print_text(document_out || json_out ? stderr : stdout, text);
    if (document->wanted()) {
        document->write(json_text(profile::workload_document(found->profile.workload), 2) + "\n");
        if (const auto written = document->finish(); !written) return report_error(context, written.error());
    }
    if (json->wanted()) {
        json->write(profile_json(*found));
        if (const auto written = json->finish(); !written) return report_error(context, written.error());
    }
    return kExitPass;
}

}  // namespace streamsim::cli
