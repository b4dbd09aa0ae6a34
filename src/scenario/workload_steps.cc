#include "scenario/workload_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scenario/reading.h"

namespace streamsim::scenario {
namespace {

constexpr std::uint32_t kFew = 16;
constexpr auto kRead = static_cast<std::size_t>(LoadOperation::read);
constexpr auto kWrite = static_cast<std::size_t>(LoadOperation::write);

std::uint32_t times(std::uint32_t count, double scale, std::int64_t most) {
    return static_cast<std::uint32_t>(std::clamp(std::round(count * scale), 1.0, static_cast<double>(most)));
}

std::uint32_t many_times(std::uint32_t count, double scale, std::int64_t most) {
    return count > kFew ? times(count, scale, most) : count;
}

std::uint64_t largest_of(const std::vector<WeightedSize>& sizes) {
    std::uint64_t largest = 0;
    for (const WeightedSize& each : sizes) largest = std::max(largest, each.bytes);
    return largest;
}

/// The longest transfer of the meter in any step: files have to hold it.
std::uint64_t longest_transfer(const MeterSpec& meter, const Sweep& sweep) {
    std::uint64_t longest =
        std::max({largest_of(meter.blocks), largest_of(meter.lengths), meter.length_up_to.value_or(0)});
    if (meter.writes)
        longest = std::max({longest, largest_of(meter.writes->blocks), largest_of(meter.writes->lengths)});
    if (sweep.over != Sweep::Over::block_bytes) return longest;
    for (const double value : sweep.values) longest = std::max(longest, static_cast<std::uint64_t>(value));
    return longest;
}

void scale_set(MeterSpec& meter, const Sweep& sweep, double scale) {
    WorkingSet& set = meter.set;
    set.spare_files = many_times(set.spare_files, scale, kWorkloadFilesMax);
    if (set.files > kFew) {
        const std::uint32_t files = times(set.files, scale, kWorkloadFilesMax);
        set.directories = times(set.directories, static_cast<double>(files) / set.files, kWorkloadFilesMax);
        set.files = files;
        return;
    }
    const std::uint64_t block = std::max<std::uint64_t>(largest_of(meter.blocks), 1);
    const std::uint64_t transfer = longest_transfer(meter, sweep);
    const auto bytes = static_cast<std::uint64_t>(
        std::min(static_cast<double>(set.file_bytes) * scale, static_cast<double>(kLoadFileBytesMax)));
    const std::uint64_t least = std::min((transfer + block - 1) / block * block, set.file_bytes);
    set.file_bytes = std::max(bytes / block * block, least);
}

/// The numbers of the largest step.
struct LargestStep {
    std::uint64_t clients = 1;
    std::uint64_t users_each = 0;  // 0: as the meters say
};

LargestStep largest_step(const Workload& workload) {
    LargestStep out{workload.clients, 0};
    for (const double value : workload.sweep.values) {
        const auto count = static_cast<std::uint64_t>(value);
        if (workload.sweep.over == Sweep::Over::clients) out.clients = std::max(out.clients, count);
        if (workload.sweep.over == Sweep::Over::users) out.users_each = std::max(out.users_each, count);
    }
    return out;
}

}  // namespace

Workload scaled(const Workload& workload, double scale) {
    Workload out = workload;
    const bool users_are_swept = out.sweep.over == Sweep::Over::users;  // at_step() replaces those of the meter
    for (MeterSpec& meter : out.meters) {
        const std::uint32_t users =
            users_are_swept ? meter.users : many_times(meter.users, scale, kWorkloadUsersMax);
        const double each = scale * meter.users / users;  // factor on the numbers of each user
        meter.users = users;
        meter.operations_per_s *= each;
        scale_set(meter, out.sweep, meter.set.shared() ? scale : each);
    }
    if (out.sweep.over != Sweep::Over::operations_per_s) return out;
    for (double& value : out.sweep.values) value *= scale;
    for (PrintedFigure& figure : out.printed) figure.at *= scale;
    return out;
}

std::string too_large(const Workload& workload) {
    const LargestStep step = largest_step(workload);
    for (const MeterSpec& meter : workload.meters) {
        const std::uint64_t users = step.clients * std::max<std::uint64_t>(step.users_each, meter.users);
        const std::uint64_t files =
            std::max({meter.set.files, meter.set.spare_files, meter.set.directories, std::uint32_t{1}});
        const std::uint64_t at_once = users * std::max<std::uint32_t>(meter.inflight, 1);
        if (at_once <= kWorkloadUsersMax && files <= kWorkloadFilesMax / users) continue;
        return fmt::format(
            "meter {} has {} users on {} clients, each with {} in flight and up to {} files; "
            "expected at most {} in flight and {} files in all",
            meter.name, users, step.clients, meter.inflight, files, kWorkloadUsersMax, kWorkloadFilesMax);
    }
    return "";
}

std::string never_begins(const MeterSpec& meter, std::uint64_t users, Duration play_time) {
    const Duration end = std::min(meter.end.value_or(play_time), play_time);
    const auto problem = begin_problem({meter.start, meter.one_more_every, {}}, users, end, "runs", " users");
    return problem ? fmt::format("meter {}: {}", meter.name, problem->text) : "";
}

std::string never_begins(const Workload& workload) {
    const LargestStep step = largest_step(workload);
    for (const MeterSpec& meter : workload.meters) {
        const std::uint64_t users = step.clients * (step.users_each > 0 ? step.users_each : meter.users);
        std::string problem = never_begins(meter, users, workload.duration);
        if (!problem.empty()) return problem;
    }
    return "";
}

Workload at_step(const Workload& workload, double value) {
    Workload out = workload;
    double rate = 0;  // total rate of all users
    for (const MeterSpec& meter : out.meters) rate += meter.operations_per_s * meter.users * out.clients;
    if (out.sweep.over == Sweep::Over::clients) out.clients = static_cast<std::uint32_t>(value);
    for (MeterSpec& meter : out.meters) {
        const double transfers = meter.weights[kRead] + meter.weights[kWrite];
        switch (out.sweep.over) {
            case Sweep::Over::users: meter.users = static_cast<std::uint32_t>(value); break;
            case Sweep::Over::operations_per_s: meter.operations_per_s *= value / rate; break;
            case Sweep::Over::read_percent:
                meter.weights[kRead] = transfers * value / 100;
                meter.weights[kWrite] = transfers - meter.weights[kRead];
                break;
            case Sweep::Over::block_bytes:
                if (transfers > 0) meter.blocks = {{static_cast<std::uint64_t>(value), 1}};
                if (transfers > 0 && meter.writes) meter.writes->blocks = meter.blocks;
                break;
            case Sweep::Over::none:
            case Sweep::Over::clients:
            case Sweep::Over::fill_percent: break;
            case Sweep::Over::cache:  // a second read comes from a cache and is not cold
                meter.read_once = value <= 0 && can_read_once(meter);
                meter.non_repeating |= meter.read_once && meter.random_share > 0;
                break;
        }
    }
    return out;
}

}  // namespace streamsim::scenario
