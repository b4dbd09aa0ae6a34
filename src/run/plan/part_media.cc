#include "run/plan/part_media.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "target/target_locations.h"

namespace streamsim::run {
namespace {

/// Parts that share a set of clips: of one kind, at one location.
struct Pool {
    PlayRequest request;  // for all of their clips at once
    std::vector<std::size_t> parts;
    std::uint32_t own = 0;  // clips that a single stream plays
    bool shared = false;    // one clip more, before them, for all other streams
};

bool same_pool(const PlayRequest& a, const PlayRequest& b) {
    if (target::location_of(a.target) != target::location_of(b.target) || a.audio != b.audio ||
        a.formats.size() != b.formats.size())
        return false;
    if (a.formats.empty()) return true;
    return a.formats.front().name == b.formats.front().name && a.clip_duration == b.clip_duration;
}

/// Frames that a planned clip needs; 0: on real storage the number does not matter.
std::uint64_t frames_over(const PlayRequest& request) {
    return request.target.model != nullptr ? frames_of_play(request, request.formats.front()) : 0;
}

std::vector<Pool> pools_of(const std::vector<PlayPart>& parts) {
    std::vector<Pool> pools;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const PlayRequest& request = parts[i].request;
        if (request.record.streams > 0) continue;
        auto pool = std::find_if(pools.begin(), pools.end(),
                                 [&request](const Pool& each) { return same_pool(each.request, request); });
        if (pool == pools.end()) {
            pool = pools.insert(pool, Pool{});
            pool->request = request;
        } else if (frames_over(request) > frames_over(pool->request)) {
            pool->request = request;  // its clips are long enough for all
        }
        pool->parts.push_back(i);
        pool->shared |= request.same_media;
        if (!request.same_media) pool->own += clips_needed(request);
    }
    for (Pool& pool : pools) {
        pool.request.seats = 1;
        pool.request.layers = 1;
        pool.request.same_media = false;
        pool.request.total_streams = pool.own + (pool.shared ? 1 : 0);
    }
    return pools;
}

/// REQUIRES: `clips` are as many as the pool needs.
void hand_out(const Pool& pool, const std::vector<Clip>& clips, std::vector<PlayPart>& parts) {
    std::size_t next = pool.shared ? 1 : 0;
    for (const std::size_t i : pool.parts) {
        const std::size_t needed = clips_needed(parts[i].request);
        const std::size_t first = parts[i].request.same_media ? 0 : next;
        const auto begin = clips.begin() + static_cast<std::ptrdiff_t>(first);
        parts[i].media.clips.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(needed));
        if (!parts[i].request.same_media) next += needed;
    }
}

}  // namespace

Result<std::vector<media::PreparePlan>> missing_media(ByteStore& store, const std::vector<PlayPart>& parts) {
    std::vector<media::PreparePlan> all;
    std::uint64_t bytes = 0;
    for (const Pool& pool : pools_of(parts)) {
        auto plans = missing_media(store, pool.request);
        if (!plans) return plans.error();
        for (media::PreparePlan& plan : *plans) {
            bytes += plan.bytes_to_write;
            if (bytes > plan.bytes_free) {  // each fits, all together may not
                return environment_error(
                    fmt::format("{}: the media of this scenario needs at least {}, and {} "
                                "are free",
                                plan.request.target, show_bytes(bytes), show_bytes(plan.bytes_free)));
            }
            all.push_back(std::move(plan));
        }
    }
    return all;
}

Result<std::vector<PlayPart>> find_media(ByteStore* store,
                                         std::vector<PlayPart> parts,
                                         IndexProgress* progress) {
    for (const Pool& pool : pools_of(parts)) {
        const auto found = find_media(store, pool.request, progress);
        if (!found) return found.error();
        hand_out(pool, found->clips.front(), parts);
    }
    return parts;
}

}  // namespace streamsim::run
