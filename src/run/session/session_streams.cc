// What a session records into, streams that come and go while it plays, and results that are not its last.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/host.h"
#include "run/conclude/result_builder.h"
#include "run/playback/playback_loop.h"
#include "run/session/recordings.h"
#include "run/session/session.h"
#include "storage/local/local_options.h"

namespace streamsim::run {
namespace {

StreamState state_of(const StreamProgress& progress) {
    return progress.state.load(std::memory_order_relaxed);
}

bool over(const StreamProgress& progress) {
    const StreamState state = state_of(progress);
    return state == StreamState::ended || state == StreamState::removed;
}

/// Slots from now until the other streams have played theirs, of a stream with this plan. Both ends are counted
/// in what the others have played, which is time in either world.
std::uint64_t slots_left(const GrowingList<StreamPlan>& streams,
                         const GrowingList<StreamProgress>& progress,
                         const StreamPlan& plan) {
    Duration played;
    Duration end;
    for (std::size_t i = 0; i < streams.size(); ++i) {
        const std::int64_t start_ns = progress[i].play_start_ns.load(std::memory_order_relaxed);
        const bool begun = start_ns != INT64_MIN;
        const Duration start = begun ? Duration{start_ns} : streams[i].start_offset;
        if (state_of(progress[i]) != StreamState::removed) {
            end = std::max(end, start + streams[i].rate().due(streams[i].options.slots));
        }
        const std::uint64_t due = progress[i].due.load(std::memory_order_relaxed);
        if (begun) played = std::max(played, start + streams[i].rate().due(due));
    }
    return end > played ? plan.rate().slots_in(end - played) : 0;
}

}  // namespace

/// Where what is recorded goes.
Result<void> Session::make_recordings(std::uint32_t& alignment) {
    const auto records = [](const PlayPart& part) { return part.request.record.streams > 0; };
    if (!request_.target.has_files() || std::none_of(parts_.begin(), parts_.end(), records)) return {};
    const bool keep = std::any_of(parts_.begin(), parts_.end(),
                                  [](const PlayPart& part) { return part.request.record.keep; });
    auto made = Recordings::make(request_.target, request_.credentials, keep, notice_);
    if (!made) return made.error();
    recordings_ = std::move(*made);
    for (PlayPart& part : parts_) part.request.record.directory = recordings_->directory();
    if (request_.target.kind == target::Target::Kind::local && request_.direct)
        alignment = std::max(alignment, recordings_->alignment());
    return {};
}

std::string Session::stream_name(const StreamPlan& plan) const {
    return request_.seats > 1 ? fmt::format("stream {} of seat {}", plan.options.stream, plan.options.seat)
                              : fmt::format("stream {}", plan.options.stream);
}

Result<void> Session::may_add() const {
    if (!played_.plans.empty()) return bad_input("the run has ended");
    if (request_.spare_streams == 0) return bad_input("this run has the streams that it has");
    if (request_.sync || request_.multicam != MultiCam::none) {
        return bad_input("streams that run on one clock begin together");
    }
    if (request_.cuts) return bad_input("a cut list is played by the streams that began with it");
    if (started_ns_.load(std::memory_order_relaxed) == 0) return bad_input("play has not begun yet");
    if (added_.size() < request_.spare_streams) return {};
    return bad_input(
        fmt::format("no more than {} can be added: play again with more --streams", request_.spare_streams));
}

/// Clips that no stream has played yet, or those of the stream whose clip the fewest streams play now.
std::vector<Clip> Session::clips_for_further(const StreamPlan& like, std::string& whose) const {
    std::map<const FrameIndex*, std::size_t> users;  // that play now
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        for (const Clip& clip : streams_[i].clips) users[clip.index.get()] += over(progress_[i]) ? 0U : 1U;
    }
    std::vector<Clip> clips;
    for (const auto& list : parts_.front().media.spare) {
        for (const Clip& clip : list) {
            const bool fits = clip.format == like.clips.front().format && !users.contains(clip.index.get());
            if (fits && clips.size() < request_.layers) clips.push_back(clip);
        }
    }
    if (clips.size() == request_.layers) return clips;
    const StreamPlan* shared = &like;
    for (const StreamPlan& plan : streams_) {
        if (plan.record != nullptr || plan.format != like.format) continue;
        const auto users_of = [&users](const StreamPlan& each) {
            return users[each.clips.front().index.get()];
        };
        if (users_of(plan) < users_of(*shared)) shared = &plan;
    }
    whose = stream_name(*shared);
    return shared->clips;
}

Result<StreamPlan> Session::plan_further(std::string& whose) const {
    const StreamPlan* last = nullptr;
    for (std::size_t i = streams_.size(); i > 0 && last == nullptr; --i) {
        if (streams_[i - 1].record == nullptr) last = &streams_[i - 1];
    }
    if (last == nullptr) return bad_input("no stream plays that another could be like");
    const StreamPlan& like = *last;
    const std::uint32_t own = request_.own_seats.value_or(request_.seats);
    std::vector<std::uint32_t> playing(own);
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        if (!over(progress_[i])) ++playing[streams_[i].options.seat - request_.first_seat];
    }
    const auto fewest = std::min_element(playing.begin(), playing.end()) - playing.begin();
    const std::uint32_t seat = request_.first_seat + static_cast<std::uint32_t>(fewest);
    std::uint32_t stream = 0;  // its number is nobody else's
    for (const StreamPlan& plan : streams_) {
        if (plan.options.seat == seat) stream = std::max(stream, plan.options.stream + 1);
    }
    StreamPlan plan =
        plan_another(parts_.front(), seat, stream, clips_for_further(like, whose), spec_.local.alignment);
    if (plan.options.paced) {
        plan.options.slots = std::min(plan.options.slots, slots_left(streams_, progress_, plan));
        if (plan.options.slots == 0) return bad_input("the run is about to end");
    }
    return plan;
}

Result<std::string> Session::add_stream() {
    const std::lock_guard adding(adding_mutex_);
    if (auto may = may_add(); !may) return may.error();
    std::string whose;
    auto planned = plan_further(whose);
    if (!planned) return planned.error();
    const auto memory = memory_for(*planned);
    if (!memory) return memory.error();
    const std::lock_guard lock(mutex_);
    const std::size_t place = streams_.size();
    StreamProgress& progress = progress_.emplace_back();
    const StreamPlan& plan = streams_.emplace_back(std::move(*planned));
    for (std::size_t i = 0; i < playback_loops_.size(); ++i) {
        PlaybackLoop& playback_loop = *playback_loops_[(place + i) % playback_loops_.size()];
        added_[place] = &playback_loop;  // also where it has ended: it has no books of this stream then
        if (!playback_loop.add({&plan, &progress}, *memory)) continue;
        return fmt::format("{} was added: it plays {}", stream_name(plan),
                           whose.empty() ? plan.name : "the clip of " + whose);
    }
    progress.state.store(StreamState::removed, std::memory_order_relaxed);
    return bad_input("the run has ended");
}

Result<std::string> Session::remove_stream(std::size_t index) {
    const std::lock_guard adding(adding_mutex_);
    if (request_.spare_streams == 0) return bad_input("this run has the streams that it has");
    if (index >= streams_.size()) return bad_input("there is no such stream");
    const std::string name = stream_name(streams_[index]);
    const StreamState state = state_of(progress_[index]);
    if (removed_.contains(index) || over(progress_[index])) return bad_input(name + " has ended");
    if (state != StreamState::playing && state != StreamState::waiting && !added_.contains(index)) {
        return bad_input(name + " has not begun to play");
    }
    std::size_t others = 0;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        if (i != index && !removed_.contains(i) && !over(progress_[i])) ++others;
    }
    if (others == 0) return bad_input(name + " is the last one that plays: end the run instead");
    const std::lock_guard lock(mutex_);
    const auto added = added_.find(index);
    PlaybackLoop& playback_loop =
        added != added_.end() ? *added->second : *playback_loops_[index % playback_loops_.size()];
    playback_loop.remove(streams_[index]);
    removed_.insert(index);
    return name + " was removed";
}

/// REQUIRES: adding_mutex_ is held. `ledger_of`: of a place in streams_; null: it has no books.
template <typename LedgerOf>
Session::Played Session::played_streams(LedgerOf ledger_of) const {
    struct One {
        StreamPlan plan;
        const play::DeadlineLedger* ledger;
    };
    std::vector<One> all;
    Played out;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        const play::DeadlineLedger* const ledger = ledger_of(i);
        if (ledger == nullptr) continue;  // it came when its world was ending
        all.push_back({streams_[i], ledger});
        StreamPlan& plan = all.back().plan;
        if (added_.contains(i)) {
            ++out.added;
            const std::int64_t start_ns = progress_[i].play_start_ns.load();
            plan.start_offset = {std::max<std::int64_t>(start_ns, 0)};
            if (start_ns == INT64_MIN) plan.options.slots = 0;  // given up: nothing was required
        }
        if (removed_.contains(i) && state_of(progress_[i]) == StreamState::removed) {
            ++out.removed;
            plan.options.slots = progress_[i].due.load();
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const One& a, const One& b) {
        return std::pair(a.plan.options.seat, a.plan.options.stream) <
               std::pair(b.plan.options.seat, b.plan.options.stream);
    });
    for (One& each : all) {
        out.plans.push_back(std::move(each.plan));
        out.ledgers.push_back(each.ledger);
    }
    return out;
}

/// For the result, with a word about what came and went by hand. After the worlds have ended.
void Session::collect_streams(RunFacts& facts) {
    const std::lock_guard adding(adding_mutex_);
    played_ = played_streams([this](std::size_t i) -> const play::DeadlineLedger* {
        const auto hand = added_.find(i);
        if (hand != added_.end()) return hand->second->ledger_of(streams_[i]);
        return playback_loops_[i % playback_loops_.size()]->ledgers()[i / playback_loops_.size()].get();
    });
    facts.streams = &played_.plans;
    facts.ledgers = played_.ledgers;
    std::string what;
    const std::size_t added = played_.added;
    const std::size_t removed = played_.removed;
    if (added > 0) what = fmt::format("{} stream{} added", added, added == 1 ? " was" : "s were");
    if (removed > 0) {
        what += fmt::format("{}{} stream{} removed", added > 0 ? " and " : "", removed,
                            removed == 1 ? " was" : "s were");
    }
    if (what.empty()) return;
    notice_(what + " by hand while it played: its numbers and its digest are of this run alone");
}

bool Session::copy_playback_loops(Duration patience) {
    std::vector<PlaybackLoop*> playback_loops;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& playback_loop : playback_loops_) playback_loops.push_back(playback_loop.get());
    }
    while (copies_.size() < playback_loops.size()) copies_.push_back(std::make_shared<LoopSnapshot>());
    for (std::size_t i = 0; i < playback_loops.size(); ++i) {
        if (!playback_loops[i]->copy(copies_[i], patience)) return false;
    }
    return true;
}

std::optional<RunResult> Session::snapshot() {
    constexpr Duration kPatience = seconds(2);
    const std::lock_guard alone(snapshot_mutex_);
    if (started_ns_.load(std::memory_order_acquire) == 0 || !copy_playback_loops(kPatience))
        return std::nullopt;
    std::map<const StreamPlan*, play::DeadlineLedger*> ledgers;
    for (const auto& copy : copies_) {
        for (const auto& [plan, ledger] : copy->ledgers) {
            ledger->close();
            ledgers[plan] = ledger.get();
        }
    }
    RunFacts facts;
    Played played;
    {
        const std::lock_guard adding(adding_mutex_);
        played = played_streams([&](std::size_t i) -> const play::DeadlineLedger* {
            const auto found = ledgers.find(&streams_[i]);
            return found != ledgers.end() ? found->second : nullptr;
        });
        fill_common(facts);
    }
    facts.streams = &played.plans;
    facts.ledgers = played.ledgers;
    for (const auto& copy : copies_) facts.playback_loops.push_back(&copy->stats);
    facts.after = host::read_process_usage();
    facts.interrupted = true;
    {
        const std::lock_guard lock(notice_mutex_);
        facts.notices = notices_;
    }
    RunResult result = begun_;
    fill_result(facts, result);
    return result;
}

RunResult Session::not_played(const PlayRequest& request, const ProgramFacts& program) {
    RunResult result;
    result.version = program.version;
    result.revision = program.revision;
    result.backends = backend_names();
    result.command = program.command;
    result.started_at = host::now_rfc3339();
    result.host = host::read_host_facts();
    fill_request(request, result);
    result.interrupted = true;
    result.verdict = {false, "interrupted before anything was played", Limit::unknown};
    result.digest = metrics::Digest{}.hex();
    return result;
}

}  // namespace streamsim::run
