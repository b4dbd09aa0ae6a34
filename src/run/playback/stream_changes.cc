#include "run/playback/stream_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace streamsim::run {
namespace {

StreamState state_of(const StreamProgress& progress) {
    return progress.state.load(std::memory_order_relaxed);
}

bool is_over(const StreamProgress& progress) {
    const StreamState state = state_of(progress);
    return state == StreamState::ended || state == StreamState::removed;
}

std::string added_and_removed(std::size_t added, std::size_t removed) {
    std::string text;
    if (added > 0) text = fmt::format("{} stream{} added", added, added == 1 ? " was" : "s were");
    if (removed > 0) {
        text += fmt::format("{}{} stream{} removed", added > 0 ? " and " : "", removed,
                            removed == 1 ? " was" : "s were");
    }
    return text;
}

}  // namespace

std::string StreamChanges::stream_name(const StreamPlan& plan) const {
    return plan_.request().seats > 1
               ? fmt::format("stream {} of seat {}", plan.options.stream, plan.options.seat)
               : fmt::format("stream {}", plan.options.stream);
}

Result<void> StreamChanges::check_addition() const {
    const PlayRequest& request = plan_.request();
    if (finished_) return bad_input("the run has ended");
    if (request.spare_streams == 0) return bad_input("this run has the streams that it has");
    if (request.sync || request.multicam != MultiCam::none)
        return bad_input("streams that run on one clock begin together");
    if (request.cuts) return bad_input("a cut list is played by the streams that began with it");
    if (playback_.started_ns() == 0) return bad_input("play has not begun yet");
    if (added_.size() < request.spare_streams) return {};
    return bad_input(
        fmt::format("no more than {} can be added: play again with more --streams", request.spare_streams));
}

/// Clips that no stream has played yet, or those of the stream whose clip the fewest streams play now.
std::vector<Clip> StreamChanges::clips_for_addition(const StreamPlan& like, std::string& shared_with) const {
    const auto& streams = plan_.streams();
    std::map<const FrameIndex*, std::size_t> users;  // that play now
    for (std::size_t i = 0; i < streams.size(); ++i) {
        const std::size_t playing = is_over(plan_.progress()[i]) ? 0 : 1;
        for (const Clip& clip : streams[i].clips) users[clip.index.get()] += playing;
    }
    const std::size_t layers = plan_.request().layers;
    std::vector<Clip> clips;
    for (const auto& list : plan_.parts().front().media.spare) {
        for (const Clip& clip : list) {
            const bool fits = clip.format == like.clips.front().format && !users.contains(clip.index.get());
            if (fits && clips.size() < layers) clips.push_back(clip);
        }
    }
    if (clips.size() == layers) return clips;
    const auto users_of = [&users](const StreamPlan& plan) { return users[plan.clips.front().index.get()]; };
    const StreamPlan* shared = &like;
    for (const StreamPlan& plan : streams) {
        if (plan.record != nullptr || plan.format != like.format) continue;
        if (users_of(plan) < users_of(*shared)) shared = &plan;
    }
    shared_with = stream_name(*shared);
    return shared->clips;
}

std::uint32_t StreamChanges::seat_with_fewest_streams() const {
    const PlayRequest& request = plan_.request();
    std::vector<std::uint32_t> playing(request.own_seats.value_or(request.seats));
    for (std::size_t i = 0; i < plan_.streams().size(); ++i) {
        if (!is_over(plan_.progress()[i])) ++playing[plan_.streams()[i].options.seat - request.first_seat];
    }
    const auto fewest = std::min_element(playing.begin(), playing.end()) - playing.begin();
    return request.first_seat + static_cast<std::uint32_t>(fewest);
}

/// Slots of a stream with this plan from now until the other streams end. Both ends are counted in frames that
/// the others have played, which gives the same in virtual and in real time.
std::uint64_t StreamChanges::slots_left(const StreamPlan& plan) const {
    const auto& streams = plan_.streams();
    Duration played;
    Duration end;
    for (std::size_t i = 0; i < streams.size(); ++i) {
        const StreamProgress& progress = plan_.progress()[i];
        const std::int64_t start_ns = progress.play_start_ns.load(std::memory_order_relaxed);
        const bool begun = start_ns != INT64_MIN;
        const Duration start = begun ? Duration{start_ns} : streams[i].start_offset;
        if (state_of(progress) != StreamState::removed)
            end = std::max(end, start + streams[i].rate().due(streams[i].options.slots));
        const std::uint64_t due = progress.due.load(std::memory_order_relaxed);
        if (begun) played = std::max(played, start + streams[i].rate().due(due));
    }
    return end > played ? plan.rate().slots_in(end - played) : 0;
}

Result<StreamPlan> StreamChanges::plan_addition(std::string& shared_with) const {
    const auto& streams = plan_.streams();
    const StreamPlan* last = nullptr;
    for (std::size_t i = streams.size(); i > 0 && last == nullptr; --i) {
        if (streams[i - 1].record == nullptr) last = &streams[i - 1];
    }
    if (last == nullptr) return bad_input("no stream plays that another could be like");
    const std::uint32_t seat = seat_with_fewest_streams();
    std::uint32_t stream = 0;  // its number is no other stream's
    for (const StreamPlan& plan : streams) {
        if (plan.options.seat == seat) stream = std::max(stream, plan.options.stream + 1);
    }
    StreamPlan plan = plan_another(plan_.parts().front(), seat, stream, clips_for_addition(*last, shared_with),
                                   plan_.storage().local.alignment);
    if (plan.options.paced) {
        plan.options.slots = std::min(plan.options.slots, slots_left(plan));
        if (plan.options.slots == 0) return bad_input("the run is about to end");
    }
    return plan;
}

Result<std::string> StreamChanges::add() {
    const MutexLock lock(mutex_);
    if (auto checked = check_addition(); !checked) return checked.error();
    std::string shared_with;
    auto planned = plan_addition(shared_with);
    if (!planned) return planned.error();
    const auto memory = plan_.memory_for(*planned);
    if (!memory) return memory.error();
    const std::size_t index = plan_.streams().size();
    const LoopStream stream = plan_.add_stream(std::move(*planned));
    const std::vector<PlaybackLoop*> loops = playback_.loops();
    for (std::size_t i = 0; i < loops.size(); ++i) {
        PlaybackLoop* const loop = loops[(index + i) % loops.size()];
        added_[index] = loop;  // also where the loop has ended: it has no ledger of this stream then
        if (!loop->add(stream, *memory)) continue;
        return fmt::format("{} was added: it plays {}", stream_name(*stream.plan),
                           shared_with.empty() ? stream.plan->name : "the clip of " + shared_with);
    }
    stream.progress->state.store(StreamState::removed, std::memory_order_relaxed);
    return bad_input("the run has ended");
}

Result<std::string> StreamChanges::remove(std::size_t index) {
    const MutexLock lock(mutex_);
    const auto& streams = plan_.streams();
    const auto& progress = plan_.progress();
    if (plan_.request().spare_streams == 0) return bad_input("this run has the streams that it has");
    if (index >= streams.size()) return bad_input("there is no such stream");
    const std::string name = stream_name(streams[index]);
    const StreamState state = state_of(progress[index]);
    if (removed_.contains(index) || is_over(progress[index])) return bad_input(name + " has ended");
    if (state != StreamState::playing && state != StreamState::waiting && !added_.contains(index))
        return bad_input(name + " has not begun to play");
    std::size_t others = 0;
    for (std::size_t i = 0; i < streams.size(); ++i) {
        if (i != index && !removed_.contains(i) && !is_over(progress[i])) ++others;
    }
    if (others == 0) return bad_input(name + " is the last one that plays: end the run instead");
    const std::vector<PlaybackLoop*> loops = playback_.loops();
    const auto added = added_.find(index);
    PlaybackLoop* const loop = added != added_.end() ? added->second : loops[index % loops.size()];
    loop->remove(streams[index]);
    removed_.insert(index);
    return name + " was removed";
}

PlayedStreams StreamChanges::collect(const LedgerOf& ledger_of) const {
    struct Stream {
        StreamPlan plan;
        const play::DeadlineLedger* ledger;
    };
    std::vector<Stream> all;
    PlayedStreams out;
    for (std::size_t i = 0; i < plan_.streams().size(); ++i) {
        const play::DeadlineLedger* const ledger = ledger_of(i);
        if (ledger == nullptr) continue;  // it was added when its loop was ending
        const StreamProgress& progress = plan_.progress()[i];
        StreamPlan& plan = all.emplace_back(Stream{plan_.streams()[i], ledger}).plan;
        if (added_.contains(i)) {
            ++out.added;
            const std::int64_t start_ns = progress.play_start_ns.load();
            plan.start_offset = {std::max<std::int64_t>(start_ns, 0)};
            if (start_ns == INT64_MIN) plan.options.slots = 0;  // given up: nothing was required
        }
        if (removed_.contains(i) && state_of(progress) == StreamState::removed) {
            ++out.removed;
            plan.options.slots = progress.due.load();
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const Stream& a, const Stream& b) {
        return std::pair(a.plan.options.seat, a.plan.options.stream) <
               std::pair(b.plan.options.seat, b.plan.options.stream);
    });
    for (Stream& each : all) {
        out.plans.push_back(std::move(each.plan));
        out.ledgers.push_back(each.ledger);
    }
    return out;
}

PlayedStreams StreamChanges::played(const LedgerOf& ledger_of) const {
    const MutexLock lock(mutex_);
    return collect(ledger_of);
}

PlayedStreams StreamChanges::finish() {
    const MutexLock lock(mutex_);
    finished_ = true;
    const std::vector<PlaybackLoop*> loops = playback_.loops();
    const auto* const by_hand = &added_;  // clang cannot see that the lambda runs under the lock
    PlayedStreams played = collect([&](std::size_t i) -> const play::DeadlineLedger* {
        const auto added = by_hand->find(i);
        if (added != by_hand->end()) return added->second->ledger_of(plan_.streams()[i]);
        return loops[i % loops.size()]->ledgers()[i / loops.size()].get();
    });
    if (played.added + played.removed > 0) {
        plan_.log().add(added_and_removed(played.added, played.removed) +
                        " by hand while it played: its numbers and its digest are of this run alone");
    }
    return played;
}

}  // namespace streamsim::run
