// Session: the meters that go on beside its streams.
#include <algorithm>

#include "run/playback/playback_loop.h"
#include "run/session/session.h"
#include "storage/buffer_arena.h"

namespace streamsim::run {

/// How long the meters go on: with the longest stream, else as long as was asked for.
Duration Session::play_time() const {
    Duration longest;
    for (const StreamPlan& plan : streams_) {
        if (plan.options.paced)
            longest = std::max(longest, plan.start_offset + plan.path->due(plan.options.slots));
    }
    return longest > Duration{} ? longest : request_.duration.value_or(kDefaultDuration);
}

/// The meters of a world: those of every so-manieth one. What they have in flight at once is added to what the
/// storage is made for.
void Session::add_meters(std::size_t playback_loop,
                         std::size_t playback_loops,
                         std::span<std::byte> memory,
                         std::uint64_t& used,
                         PlaybackLoopOptions& options) const {
    std::uint64_t blocks = options.storage.local.parallel_reads;
    std::uint64_t opens = options.storage.local.parallel_opens;
    for (std::size_t i = playback_loop; i < meters_.size(); i += playback_loops) {
        const load::MeterPlan& plan = meters_[i];
        const std::uint64_t bytes = load::Meter::memory_bytes(plan);
        options.meters.push_back({&plan, options.shared_memory ? memory : memory.subspan(used, bytes)});
        used += bytes;
        blocks += std::uint64_t{plan.spec.users} * plan.spec.inflight;
        opens += std::uint64_t{plan.spec.users} * plan.spec.inflight;
    }
    if (options.meters.empty()) return;
    options.meter_time = play_time();
    options.storage.local.parallel_reads = static_cast<std::uint32_t>(std::min(blocks, kParallelReadsMax));
    options.storage.local.parallel_opens = static_cast<std::uint32_t>(std::min(opens, kParallelReadsMax));
    options.storage.remote.parallel_reads = options.storage.local.parallel_reads;
    options.storage.remote.parallel_opens = options.storage.local.parallel_opens;
}

}  // namespace streamsim::run
