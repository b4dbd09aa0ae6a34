#include "profile/learning/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "base/path.h"
#include "base/units.h"

namespace streamsim::profile {
namespace {

constexpr std::string_view kSystemDirectories[] = {"/proc",  "/dev", "/sys",  "/etc", "/usr", "/lib",
                                                   "/lib64", "/bin", "/sbin", "/run", "/boot"};
// Shares of all bytes, and of all reads and writes, from which a directory counts.
constexpr double kBytesShareMin = 0.001, kTransfersShareMin = 0.01;

bool is_below(std::string_view path, std::string_view directory) {
    return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

bool is_system(std::string_view path) {
    const auto below = [path](std::string_view directory) { return is_below(path, directory); };
    return std::any_of(std::begin(kSystemDirectories), std::end(kSystemDirectories), below) ||
           path.ends_with(".so") || path.find(".so.") != std::string_view::npos;
}

/// The directories in which data moves, of the files that are `candidate`.
std::unordered_map<std::string, bool> busy_directories(const Traffic& traffic,
                                                       const std::vector<bool>& candidate) {
    struct Sum {
        double bytes = 0, transfers = 0;
    };
    std::unordered_map<std::string, Sum> sums;
    Sum all;
    for (const TrafficOperation& operation : traffic.operations) {
        if (!operation.moves_data() || !candidate[operation.file]) continue;
        Sum& sum = sums[parent_of(traffic.files[operation.file].name)];
        for (Sum* each : {&sum, &all}) {
            each->bytes += static_cast<double>(operation.bytes);
            each->transfers += 1;
        }
    }
    std::unordered_map<std::string, bool> busy;
    for (const auto& [directory, sum] : sums)
        if (sum.bytes >= all.bytes * kBytesShareMin || sum.transfers >= all.transfers * kTransfersShareMin)
            busy[directory] = true;
    return busy;
}

/// Turns the creation of a file that is then written into an open, because a playback creates no file for it.
void made_to_be_written(Traffic& traffic) {
    std::vector<bool> written(traffic.sessions.size(), false);
    for (const TrafficOperation& operation : traffic.operations)
        if (operation.moves_data() && operation.session != kNoSession) written[operation.session] = true;
    for (TrafficOperation& operation : traffic.operations)
        if (operation.kind == TrafficKind::create && operation.session != kNoSession &&
            written[operation.session])
            operation.kind = TrafficKind::open;
}

}  // namespace

std::string selection_rule(const std::vector<std::string>& only) {
    if (!only.empty()) return fmt::format("files below {}", fmt::join(only, ", "));
    return fmt::format(
        "regular files outside {} and libraries, in directories with at least 0.1 % of the bytes or 1 % "
        "of the reads and writes",
        fmt::join(kSystemDirectories, ", "));
}

void select(Traffic& traffic, const std::vector<std::string>& only) {
    std::vector<bool> candidate(traffic.files.size()), chosen(traffic.files.size());
    for (std::size_t i = 0; i < traffic.files.size(); ++i) {
        const std::string& name = traffic.files[i].name;
        candidate[i] = only.empty() ? !is_system(name)
                                    : std::any_of(only.begin(), only.end(), [&](const std::string& prefix) {
                                          return name.starts_with(prefix);
                                      });
        chosen[i] = candidate[i] && traffic.files[i].regular;
    }
    if (only.empty()) {
        const auto busy = busy_directories(traffic, chosen);
        for (std::size_t i = 0; i < traffic.files.size(); ++i) {
            const TrafficFile& file = traffic.files[i];
            const bool here = busy.empty() || busy.contains(parent_of(file.name)) || busy.contains(file.name);
            chosen[i] = chosen[i] && here;
            candidate[i] = candidate[i] && here;
        }
    }
    std::uint64_t left_out = 0, mappings = 0;
    std::erase_if(traffic.operations, [&](const TrafficOperation& operation) {
        // Directories are listed and asked about, and are no regular files.
        const bool keep = operation.kind == TrafficKind::list || operation.kind == TrafficKind::stat
                              ? candidate[operation.file]
                              : chosen[operation.file];
        if (!keep && operation.moves_data()) ++left_out;
        return !keep;
    });
    for (std::size_t i = 0; i < traffic.files.size(); ++i)
        if (chosen[i]) mappings += traffic.files[i].mappings;
    if (left_out > 0)
        traffic.notes.push_back(
            fmt::format("{} reads and writes of other files are left out", show_count(left_out)));
    if (mappings > 0) {
        traffic.notes.push_back(
            fmt::format("{} mappings of files (mmap): what page faults read through them is in no trace",
                        show_count(mappings)));
    }
    if (traffic.read_at_end > 0) {
        traffic.notes.push_back(
            fmt::format("{} reads that found the end of a file moved nothing, and are left out",
                        show_count(traffic.read_at_end)));
    }
    made_to_be_written(traffic);
}

}  // namespace streamsim::profile
