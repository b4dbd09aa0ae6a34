#include "run/conclude/cached_share.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/mount.h"

namespace streamsim::run {
namespace {

constexpr std::uint64_t kSlotsOfStream = 64;
constexpr std::uint64_t kSlotsOfAll = 8192;

/// Looks at each frame once, however many streams show it, and opens each file once.
class Sample {
public:
    void add(const FrameIndex& index, std::uint64_t frame) { ++times_[{&index, frame}]; }

    std::optional<double> share() const {
        std::map<std::string, File> files;
        for (const auto& [shown, times] : times_) {
            File& file = files[shown.first->path_of(shown.second)];
            const Extent extent = shown.first->extent(shown.second);
            file.ranges.push_back({extent.offset, extent.bytes});
            file.times.push_back(times);
        }
        CachedPart all;
        for (const auto& [path, file] : files) {
            const auto parts = host::cached_parts(path.c_str(), file.ranges);
            for (std::size_t i = 0; i < parts.size(); ++i) {
                if (!parts[i]) continue;
                all.cached += file.times[i] * parts[i]->cached;
                all.bytes += file.times[i] * parts[i]->bytes;
            }
        }
        if (all.bytes == 0) return std::nullopt;
        return static_cast<double>(all.cached) / static_cast<double>(all.bytes);
    }

private:
    struct File {
        std::vector<FileRange> ranges;
        std::vector<std::uint64_t> times;  // that each is shown
    };
    std::map<std::pair<const FrameIndex*, std::uint64_t>, std::uint64_t> times_;
};

}  // namespace

std::uint64_t slots_of_cached_share(const StreamPlan& plan) {
    return std::min(plan.options.slots, plan.path->pass_slots());
}

std::optional<double> cached_share(const GrowingList<StreamPlan>& streams) {
    Sample sample;
    const std::uint64_t most =
        std::clamp<std::uint64_t>(kSlotsOfAll / std::max<std::uint64_t>(streams.size(), 1), 1, kSlotsOfStream);
    std::vector<play::ShownFrame> shown;
    for (const StreamPlan& plan : streams) {
        if (plan.record != nullptr) continue;
        const std::uint64_t slots = slots_of_cached_share(plan);
        const std::uint64_t step = std::max<std::uint64_t>((slots + most - 1) / most, 1);
        for (std::uint64_t slot = 0; slot < slots; slot += step) {
            plan.path->shown(slot, shown);
            for (const play::ShownFrame& each : shown)
                sample.add(*plan.path->sources()[each.source], each.frame);
        }
    }
    return sample.share();
}

}  // namespace streamsim::run
