#include "run/conclude/cached_share.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "host/mount.h"

namespace streamsim::run {
namespace {

constexpr std::uint64_t kSlotsOfStream = 64;
constexpr std::uint64_t kSlotsOfAll = 8192;

/// Looks at each frame once, however many streams show it.
class Sample {
public:
    void add(const FrameIndex& index, std::uint64_t frame) {
        const auto [at, is_new] = seen_.try_emplace({&index, frame});
        if (is_new) {
            const Extent extent = index.extent(frame);
            at->second = host::cached_part(index.path_of(frame).c_str(), extent.offset, extent.bytes);
        }
        if (!at->second) return;
        all_.cached += at->second->cached;
        all_.bytes += at->second->bytes;
    }
    std::optional<double> share() const {
        if (all_.bytes == 0) return std::nullopt;
        return static_cast<double>(all_.cached) / static_cast<double>(all_.bytes);
    }

private:
    std::map<std::pair<const FrameIndex*, std::uint64_t>, std::optional<CachedPart>> seen_;
    CachedPart all_;
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
        const std::uint64_t step = std::max<std::uint64_t>(slots / most, 1);
        for (std::uint64_t slot = 0; slot < slots; slot += step) {
            plan.path->shown(slot, shown);
            for (const play::ShownFrame& each : shown)
                sample.add(*plan.path->sources()[each.source], each.frame);
        }
    }
    return sample.share();
}

}  // namespace streamsim::run
