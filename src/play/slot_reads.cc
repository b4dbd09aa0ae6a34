#include "play/slot_reads.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace streamsim::play {
namespace {

/// Frames before a frame in which audio that reaches into it may begin: two seconds, more than any container's
/// interleaving.
constexpr std::uint64_t kAudioBack = 120;

/// Frames of a container that are examined: more than a day.
constexpr std::uint64_t kFramesExaminedMax = 6'000'000;

/// The largest sum of bytes from a frame's sync frame to itself.
std::uint64_t largest_group_bytes(const FrameIndex& index, std::uint64_t frames) {
    std::vector<std::uint64_t> before(frames + 1);  // bytes of all frames before this one
    std::uint64_t largest = 0;
    for (std::uint64_t frame = 0; frame < frames; ++frame) {
        before[frame + 1] = before[frame] + index.extent(frame).bytes;
        largest = std::max(largest, before[frame + 1] - before[std::min(index.sync_frame(frame), frame)]);
    }
    return largest;
}

/// The most that one frame of a source can need.
SlotNeeds needs_of(const FrameIndex& index) {
    SlotNeeds needs;
    needs.extents = 1;
    needs.files = index.file_per_frame() ? 1 : 0;
    needs.whole_bytes = needs.bytes = index.largest_frame_bytes();
    if (index.file_per_frame()) return needs;  // images are independent, and there may be very many
    std::size_t group = 0;
    std::size_t chunks = 0;
    // A recording's index has no end, and all its frames are like the first ones.
    const std::uint64_t frames = std::min(index.count(), kFramesExaminedMax);
    for (std::uint64_t frame = 0; frame < frames; ++frame) {
        const std::uint64_t sync = index.sync_frame(frame);
        group = std::max<std::size_t>(group, frame - std::min(sync, frame) + 1);
        chunks = std::max(chunks, index.audio(frame).size());
    }
    needs.groups = group > 1;
    if (needs.groups) needs.whole_bytes = largest_group_bytes(index, frames);
    needs.extents = group * (1 + chunks) + chunks;
    if (chunks > 0) {
        needs.bytes += 2 * index.largest_audio_bytes();
        needs.whole_bytes += 2 * index.largest_audio_bytes();
    }
    return needs;
}

SlotNeeds needs_of(const PlayPath& path) {
    std::vector<SlotNeeds> all;
    for (std::size_t i = 0; i < path.sources().size(); ++i) {
        const auto& sources = path.sources();
        const auto same = std::find(sources.begin(), sources.end(), sources[i]) - sources.begin();
        all.push_back(static_cast<std::size_t>(same) < i ? all[static_cast<std::size_t>(same)]
                                                         : needs_of(*sources[i]));
    }
    // The largest sources count, as if they met in one slot.
    std::sort(all.begin(), all.end(), [](const SlotNeeds& a, const SlotNeeds& b) { return a.bytes > b.bytes; });
    SlotNeeds needs;
    SlotNeeds most;
    for (std::size_t i = 0; i < path.shown_max(); ++i) {
        const SlotNeeds& each = all[std::min(i, all.size() - 1)];
        needs.bytes += path.sources().size() < path.shown_max() ? all.front().bytes : each.bytes;
    }
    for (const SlotNeeds& each : all) {
        most.whole_bytes = std::max(most.whole_bytes, each.whole_bytes);
        most.extents = std::max(most.extents, each.extents);
        most.files = std::max(most.files, each.files);
        needs.groups = needs.groups || each.groups;
    }
    needs.extents = most.extents * path.shown_max();
    needs.whole_bytes = most.whole_bytes * path.shown_max();
    needs.files = most.files * path.shown_max();
    return needs;
}

}  // namespace

const SlotNeeds& slot_needs(const PlayPath& path) {
    if (!path.needs_) path.needs_ = needs_of(path);
    return *path.needs_;
}

SlotReads::SlotReads(const PlayPath& path)
    : independent_(slot_needs(path).extents == path.shown_max()),
      plain_(independent_ && path.front_to_back() ? path.sources().front().get() : nullptr),
      plain_frames_(plain_ != nullptr ? plain_->count() : 0),
      path_(path),
      groups_(path.shown_max() == 1 ? 1 : 2 * path.shown_max()) {
    shown_.reserve(path.shown_max());
}

ShownFrame SlotReads::plan(std::uint64_t slot, std::vector<SlotExtent>& into, bool ahead) {
    into.clear();
    if (plain_ != nullptr) {
        const ShownFrame shown{0, slot % plain_frames_};
        into.push_back({shown.source, shown.frame, plain_->extent(shown.frame)});
        return shown;
    }
    ++calls_;
    path_.shown(slot, shown_);
    if (!independent_ && !ahead) {
        const std::uint64_t pass = slot / path_.pass_slots();
        if (std::exchange(pass_, pass) != pass) std::fill(groups_.begin(), groups_.end(), Group{});
        piece_ = path_.piece(slot);
    }
    for (const ShownFrame& shown : shown_) {
        const FrameIndex& index = *path_.sources()[shown.source];
        if (independent_ || index.file_per_frame()) {
            into.push_back({shown.source, shown.frame, index.extent(shown.frame)});
        } else if (!ahead) {
            add(shown, into);
        }
    }
    if (into.size() > 1) {
        std::sort(into.begin(), into.end(), [](const SlotExtent& a, const SlotExtent& b) {
            return std::tie(a.source, a.extent.offset, a.frame) < std::tie(b.source, b.extent.offset, b.frame);
        });
    }
    return shown_.empty() ? ShownFrame{} : shown_.front();
}

void SlotReads::add(const ShownFrame& shown, std::vector<SlotExtent>& into) {
    const FrameIndex& index = *path_.sources()[shown.source];
    Group& group = group_for(shown);
    const std::uint64_t sync = std::min(index.sync_frame(shown.frame), shown.frame);
    const bool same_source = group.source == shown.source;
    // A return to a group's first frame, other than step by step in one piece, begins anew: the frame is read
    // again.
    const bool anew = shown.frame == sync && (group.shown != sync + 1 || group.piece != piece_);
    const bool inside = same_source && group.sync == sync && group.end > sync && !anew;
    for (std::uint64_t frame = inside ? group.end : sync; frame <= shown.frame; ++frame) {
        into.push_back({shown.source, frame, index.extent(frame)});
    }
    add_audio(shown, same_source, group, into);
    group.source = shown.source;
    group.sync = sync;
    group.end = inside ? std::max(group.end, shown.frame + 1) : shown.frame + 1;
    group.shown = shown.frame;
    group.piece = piece_;
    group.used = calls_;
}

void SlotReads::add_audio(const ShownFrame& shown,
                          bool same_source,
                          Group& group,
                          std::vector<SlotExtent>& into) const {
    const FrameIndex& index = *path_.sources()[shown.source];
    const bool next = same_source && shown.frame == group.shown + 1;
    std::uint64_t from = shown.frame;
    const std::uint64_t back = next ? 0 : std::min(shown.frame, kAudioBack);
    while (index.audio(from).empty() && shown.frame - from < back) --from;
    const auto chunks = index.audio(from);
    if (chunks.empty()) return;
    const bool anew = (shown.frame == 0 && group.shown != 1) || (group.piece != piece_ && !next);
    const bool there = same_source && from == group.audio && !anew;
    group.audio = from;
    if (there) return;
    for (const Extent& chunk : chunks) into.push_back({shown.source, shown.frame, chunk});
}

/// The group whose last frame is one step away, else one of the source that has the frame, else the least
/// recently used one.
SlotReads::Group& SlotReads::group_for(const ShownFrame& shown) {
    const FrameIndex& index = *path_.sources()[shown.source];
    const std::uint64_t sync = index.sync_frame(shown.frame);
    Group* oldest = nullptr;
    Group* holding = nullptr;
    for (Group& group : groups_) {
        if (group.used == calls_) continue;  // by the other side of a transition
        const bool same = group.source == shown.source;
        if (same && (group.shown + 1 == shown.frame || group.shown == shown.frame + 1)) return group;
        if (same && group.sync == sync) holding = &group;
        if (oldest == nullptr || group.used < oldest->used) oldest = &group;
    }
    if (holding != nullptr) return *holding;
    STREAMSIM_CHECK(oldest != nullptr, "a slot shows no more clips than there are groups");
    return *oldest;
}

}  // namespace streamsim::play
