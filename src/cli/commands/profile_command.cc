#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <filesystem>
#include <set>

#include "base/system/utf8_path.h"
#include "cli/commands/commands.h"
#include "cli/commands/profile_text.h"
#include "cli/media/background_work.h"
#include "profile/input/read_traffic.h"
#include "profile/learning/selection.h"
#include "profile/learning/workload_writer.h"
#include "run/traffic_fit.h"

namespace streamsim::cli {
namespace {

/// The capture's name without its ending.
std::string name_of(const CliOptions& options) {
    if (!options.workload_name.empty()) return options.workload_name;
    return utf8_path(options.name).filename().stem().string();
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
    ProfileFindings found{
        std::move(*profile), {}, options.name, traffic->recorder, profile::selection_rule(options.only),
        traffic->notes,      0};
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
    const auto there = std::filesystem::status(utf8_path(path), error);
    if (std::filesystem::is_regular_file(there) || std::filesystem::is_directory(there))
        return bad_input(
            fmt::format("{}: the file exists and is not overwritten: name another file or remove it", path));
    return {};
}

}  // namespace

int profile_command(CliContext& context, run::Control& control, const CliOptions& options) {
    if (const auto free = is_free(options.workload); !free) return report_error(context, free.error());
    BackgroundWork work(context, control, options);
    const auto found = work.index<ProfileFindings>(
        [&options](IndexProgress& progress) { return find(options, progress); }, "reading the log");
    if (!found) return end_command(work, report_error(context, found.error()));
    // The document goes to standard output where no file is named for it, unless --json goes there.
    const bool json_out = options.files.json == "-";
    const bool document_out = options.workload == "-" || (options.workload.empty() && !json_out);
    const std::string text = profile_text(*found);
    if (!options.quiet) print_text(document_out || json_out ? stderr : stdout, text);
    if (!options.workload.empty() || document_out) {
        const auto written = write_document(document_out ? "-" : options.workload, "",
                                            profile::workload_json(found->profile.workload));
        if (!written) return report_error(context, written.error());
    }
    if (!options.files.json.empty()) {
        const auto written =
            write_document(options.files.json, "{\n  \"schema\": \"streamsim.profile\"", profile_json(*found));
        if (!written) return report_error(context, written.error());
    }
    return kExitPass;
}

}  // namespace streamsim::cli
