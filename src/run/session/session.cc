#include "run/session/session.h"

#include <fmt/format.h>
#include <uv.h>

#include <algorithm>
#include <ctime>
#include <new>
#include <set>

#include "base/check.h"
#include "base/system/pages.h"
#include "base/system/thread_group.h"
#include "base/units.h"
#include "host/host.h"
#include "host/mount.h"
#include "host/system_watch.h"
#include "judge/judge.h"
#include "media/write/planned_index.h"
#include "play/slot_reads.h"
#include "run/conclude/result_builder.h"
#include "run/diagnosis/cached_share.h"
#include "run/diagnosis/evidence.h"
#include "run/diagnosis/model_rate.h"
#include "run/diagnosis/probe.h"
#include "run/playback/playback_loop.h"
#include "run/scenario_faults.h"
#include "run/session/recordings.h"
#include "storage/buffer_arena.h"
#include "storage/remote/resolve_host.h"
#include "storage/threads/threads_storage.h"
#include "target/target_places.h"

namespace streamsim::run {
namespace {

/// Operations a second that one loop is given before another thread is opened; one thread does several times as
/// many.
constexpr double kOperationsPerLoop = 100'000;
/// Entries of the drop table over all streams, and of each at least.
constexpr std::uint64_t kDropsKept = 1'000'000;
constexpr std::uint64_t kDropsKeptOfEach = 100;
/// Worlds on several threads begin this long after the last one is ready, so that none of them begins late.
constexpr Duration kLead = milliseconds(20);
/// After play that failed the computer is watched for this long with nothing to do: what is usual.
constexpr Duration kIdleWatched = milliseconds(700);

std::uint64_t pieces_of(const StreamPlan& plan) {
    if (plan.options.io_size == 0) return 1;
    const std::uint64_t bytes = play::slot_needs(*plan.path).bytes;
    return std::max<std::uint64_t>((bytes + plan.options.io_size - 1) / plan.options.io_size, 1);
}

std::uint64_t places_of(const StreamPlan& plan) {
    return std::min(plan.options.inflight, plan.options.readahead);
}

double operations_per_s(const StreamPlan& plan) {
    const double per_slot = static_cast<double>(pieces_of(plan) + 2 * play::slot_needs(*plan.path).files);
    return plan.options.paced ? per_slot * plan.rate().per_second() : 0;
}

std::vector<const Clip*> all_clips(const std::vector<PlayPart>& parts) {
    std::vector<const Clip*> all;
    for (const PlayPart& part : parts) {
        for (const auto* lists : {&part.media.clips, &part.media.spare}) {
            for (const auto& list : *lists) {
                for (const Clip& clip : list) all.push_back(&clip);
            }
        }
        if (!part.media.cuts) continue;
        for (const Clip& clip : part.media.cuts->clips) all.push_back(&clip);
    }
    return all;
}

bool missed_anything(const RunFacts& facts) {
    return std::any_of(facts.ledgers.begin(), facts.ledgers.end(), [](const play::DeadlineLedger* ledger) {
        return ledger->options().slots > 0 && judge::bad_frames(ledger->counts()) > 0;
    });
}

/// What is played from is there, and this computer has what it takes to read it once more.
bool can_look(const RunFacts& facts) {
    return facts.vanished.empty() &&
           std::none_of(facts.ledgers.begin(), facts.ledgers.end(), client_lacked_anything);
}

/// Addresses without memory: for storage that never looks at them.
class AddressRange {
public:
    explicit AddressRange(std::uint64_t bytes) : bytes_(bytes), base_(map_addresses(bytes)) {
        if (base_ == nullptr) throw std::bad_alloc();
    }
    ~AddressRange() { unmap_pages(base_, bytes_); }
    AddressRange(const AddressRange&) = delete;
    AddressRange& operator=(const AddressRange&) = delete;
    std::span<std::byte> span() const { return {static_cast<std::byte*>(base_), bytes_}; }

private:
    std::uint64_t bytes_;
    void* base_;
};

}  // namespace

/// The memory of a run: real, or only addresses.
struct Session::Memory {
    std::optional<storage::BufferArena> arena;
    std::vector<storage::BufferArena> added;  // a piece for each stream that was added
    std::optional<AddressRange> addresses;
    std::span<std::byte> all;
};

Session::Session(const PlayRequest& request, FoundMedia media, ProgramFacts program, const NoticeSink& notice)
    : Session(request, one_part(request, std::move(media)), {}, std::move(program), notice) {}

Session::Session(PlayRequest request,
                 std::vector<PlayPart> parts,
                 std::vector<ScenarioFault> faults,
                 ProgramFacts program,
                 const NoticeSink& notice)
    : request_(std::move(request)),
      parts_(std::move(parts)),
      faults_(std::move(faults)),
      program_(std::move(program)) {
    for (PlayPart& part : parts_) {
        part.request.first_seat = request_.first_seat;
        part.request.own_seats = request_.own_seats;
    }
    notice_ = [this, notice](const std::string& text) {
        const std::lock_guard lock(notice_mutex_);
        if (std::find(notices_.begin(), notices_.end(), text) != notices_.end()) return;
        notices_.push_back(text);
        notice(text);
    };
}

Session::~Session() = default;

Result<RunResult> Session::execute() {
    if (auto& server = request_.target.remote) {  // once, so that all worlds have its nodes in one order
        if (auto known = storage::resolve(*server); !known) return known.error();
    }
    if (auto planned = plan(); !planned) return planned.error();
    begun_ = not_played(request_, program_);
    if (streams_.empty() && meters_.empty()) {
        if (auto go = wait_for_others(); !go) return go.error();
        return nothing_to_play();
    }
    RunFacts facts;
    const bool local = request_.target.kind == target::Target::Kind::local;
    const std::string place = local ? place_of_files() : std::string();
    if (local) {
        mount_ = host::mount_of(place);
        if (!request_.direct) facts.cached_before = cached_share(all_clips(parts_));
    }
    facts.counts_storage_reads = local && host::block_device_behind(place);
    std::optional<host::SystemWatch> watch;
    if (local) watch.emplace(place);
    if (request_.target.kind == target::Target::Kind::remote)
        watch.emplace(host::ServersWatched{request_.target.remote->addresses});
    std::optional<target::PlaceWatch> places;
    if (local) {
        places.emplace(std::make_shared<target::TargetPlaces>(target::directories_of(all_clips(parts_))),
                       [this] { return target::slots_failed(progress_); });
    }
    usage_before_ = host::read_process_usage();
    if (auto ran = run_playback_loops(); !ran) return ran.error();
    if (cut_short_ && recordings_ == nullptr) storage_is_over_.store(true, std::memory_order_relaxed);
    facts.after = host::read_process_usage();
    if (gate_ != nullptr && !cut_short_) gate_->ended();
    // Storage that has not given back its reads may not answer an open either, and there is a result to write.
    if (facts.cached_before && !stuck_ && !cut_short_) facts.cached_after = cached_share(all_clips(parts_));
    collect_streams(facts);
    fill_common(facts);
    const std::vector<std::string> vanished =
        recordings_ && !stuck_ ? recordings_->vanished(streams_) : std::vector<std::string>();
    if (recordings_ && stuck_) recordings_->leave();
    recordings_.reset();
    for (const auto& playback_loop : playback_loops_) facts.playback_loops.push_back(&playback_loop->stats());
    facts.model = playback_loops_.front().get();
    facts.interrupted = cut_short_;
    if (places) facts.vanished = places->stop(!cut_short_);
    if (watch) {
        const bool failed = missed_anything(facts);
        facts.system = watch->stop(failed && !cut_short_ ? kIdleWatched : Duration{});
        // With injected faults nothing is said of the storage: there is nothing to find out about it.
        const bool wanted = request_.find_cause && !facts.faults_injected;
        if (failed && !cut_short_ && !stuck_ && wanted && can_look(facts)) look_for_cause(facts);
    } else if (missed_anything(facts) && !cut_short_ && request_.find_cause && !facts.faults_injected) {
        find_model_rate(facts);
    }
    {
        const std::lock_guard lock(notice_mutex_);
        facts.notices = notices_;
    }
    storage_is_over_.store(true, std::memory_order_relaxed);
    RunResult result = begun_;
    fill_result(facts, result);
    if (!vanished.empty() && result.verdict.pass) {  // what was written and is not there was not recorded
        const Limit limit = judges_storage(result) ? Limit::storage : Limit::unknown;
        result.verdict = {false, vanished.front() + " vanished while it was being recorded", limit};
    }
    result.direct &= std::all_of(meters_.begin(), meters_.end(),
                                 [](const load::MeterPlan& plan) { return plan.spec.direct; });
    return result;
}

/// One that is there already.
std::string Session::place_of_files() const {
    for (const StreamPlan& plan : streams_) {
        if (plan.record == nullptr) return plan.clips.front().index->path_of(0);
    }
    if (recordings_ != nullptr) return recordings_->directory();
    const std::vector<std::string>& files = meters_.front().names.files;
    return files.empty() ? request_.target.name() : files.front();
}

/// What a result says of the request and the computer, whether play has ended or not.
void Session::fill_common(RunFacts& facts) const {
    facts.request = &request_;
    facts.faults_injected = spec_.faults || !request_.model_faults.empty();
    facts.mount = mount_;
    facts.before = usage_before_;
    for (const PlayPart& part : parts_) {
        if (part.media.cuts) facts.cuts = &*part.media.cuts;
    }
    if (memory_->arena) facts.buffer_bytes = memory_->all.size();
    for (const storage::BufferArena& arena : memory_->added) facts.buffer_bytes += arena.memory().size();
}

/// There are fewer streams than seats, and none is of those that this process plays.
RunResult Session::nothing_to_play() const {
    RunResult result = begun_;
    result.interrupted = false;
    result.verdict = {true, "no stream was assigned to this computer", Limit::none};
    return result;
}

/// The same clips once more, to find out why: some seconds of it.
void Session::look_for_cause(RunFacts& facts) {
    looking_.store(true, std::memory_order_relaxed);
    const bool direct =
        std::all_of(playback_loops_.begin(), playback_loops_.end(),
                    [](const auto& playback_loop) { return playback_loop->stats().capabilities.direct; });
    ProbeSubject subject;
    if (!direct) subject.evict = [this] { evict_clips(); };
    subject.request = &request_;
    std::vector<StreamPlan> players;  // what was recorded is not there any more
    for (std::size_t i = 0; i < facts.streams->size(); ++i) {
        if ((*facts.streams)[i].record != nullptr) continue;
        players.push_back((*facts.streams)[i]);
        subject.ledgers.push_back(facts.ledgers[i]);
    }
    if (players.empty()) return;
    subject.streams = &players;
    subject.storage = spec_;
    subject.storage.local.parallel_reads = kParallelReadsMax;
    subject.storage.local.parallel_opens = kParallelReadsMax;
    subject.storage.remote.parallel_reads = kParallelReadsMax;
    subject.storage.remote.parallel_opens = kParallelReadsMax;
    subject.cancelled = [this] {
        const std::lock_guard lock(mutex_);
        return interrupted_;
    };
    subject.running = [this](PlaybackLoop* playback_loop) {
        const std::lock_guard lock(mutex_);
        probing_ = playback_loop;
    };
    facts.found = look_into(subject);
    stuck_ = stuck_ || facts.found.stuck;
}

/// Of a model that could not do it: what it can.
void Session::find_model_rate(RunFacts& facts) {
    if (request_.target.kind != target::Target::Kind::model || !faults_.empty()) return;
    facts.found.as_played = model_rate(request_, parts_, program_, [this] {
        const std::lock_guard lock(mutex_);
        return interrupted_;
    });
}

Result<void> Session::plan() {
    spec_.target = request_.target;
    spec_.remote.credentials = request_.credentials;
    spec_.io = request_.io;
    spec_.faults = request_.faults;
    spec_.seed = request_.seed;
    spec_.seat_settings = request_.seat_settings;
    spec_.model_faults = request_.model_faults;
    spec_.through = request_.through;
    spec_.seats = request_.seats;
    spec_.local.direct = request_.direct;
    spec_.local.notice = notice_;
    spec_.remote.first_seat = request_.first_seat;
    spec_.remote.seats = request_.own_seats.value_or(request_.seats);
    spec_.remote.notice = notice_;
    for (const std::string& remark : request_.remarks) notice_(remark);
    if (auto checked = check_meters(request_); !checked) return checked;
    meters_ = meter_plans(request_);
    std::uint32_t alignment = alignment_of_files();
    if (auto made = make_recordings(alignment); !made) return made;
    spec_.local.alignment = alignment;
    for (const std::string& text : fit_to_alignment(meters_, alignment)) notice_(text);
    if (request_.target.kind == target::Target::Kind::model) plan_model();
    auto dealt = plan_parts(parts_, alignment);
    if (!dealt) return dealt.error();
    add_faults(faults_, *dealt, spec_.faults);
    for (StreamPlan& each : *dealt) {
        progress_.emplace_back();
        const StreamPlan& plan = streams_.emplace_back(std::move(each));
        const PlayRequest& request = *plan.request;
        if (plan.record == nullptr && request.pattern && plan.options.pattern != *request.pattern) {
            notice_(fmt::format("{}: this --pattern is not for {}: played on demand", plan.format,
                                request.order.kind != play::PlayOrder::Kind::forward ? "this --order"
                                : plan.path->sources().front()->file_per_frame()     ? "image sequences"
                                                                                     : "containers"));
        }
    }
    if (!streams_.empty() || !meters_.empty()) {
        if (auto had = reserve_memory(); !had) return had;
    }
    if (recordings_) {
        if (auto recorded = recordings_->record(streams_); !recorded) return recorded;
    }
    planned_.store(true, std::memory_order_release);
    return {};
}

/// Of what is read past the page cache; looks at the first file of each clip and meter.
std::uint32_t Session::alignment_of_files() {
    std::uint32_t alignment = 1;
    if (request_.target.kind != target::Target::Kind::local) return alignment;
    storage::raise_open_file_limit();
    if (request_.cold) evict_clips();
    if (!request_.direct) return alignment;
    for (const Clip* clip : all_clips(parts_))
        alignment = std::max(alignment, storage::direct_alignment(clip->index->path_of(0)));
    for (const load::MeterPlan& plan : meters_) {
        if (!plan.names.files.empty())
            alignment = std::max(alignment, storage::direct_alignment(plan.names.files.front()));
    }
    return alignment;
}

void Session::plan_model() {
    std::set<const FrameIndex*> seen;  // parts may share clips
    for (const Clip* clip : all_clips(parts_)) {
        if (seen.insert(clip->index.get()).second) spec_.media.push_back(clip->index);
    }
    for (const PlayPart& part : parts_) {
        for (const MediaFormat& format : part.request.formats) {
            if (decode_cost(*request_.target.model, format) > Duration{}) continue;
            notice_(
                fmt::format("the model {} does not know what decoding {} costs: its frames are delivered only",
                            request_.target.model->name, format.name));
        }
    }
}

void Session::evict_clips() {
    const auto store = make_byte_store(request_.target, request_.credentials);
    for (const Clip* clip : all_clips(parts_)) {
        const std::uint64_t files = clip->index->file_per_frame() ? clip->index->count() : 1;
        for (std::uint64_t i = 0; i < files; ++i) {
            (void)store->evict(clip->index->path_of(i));  // a frame that is not there fails at its slot
        }
    }
}

Result<void> Session::reserve_memory() {
    std::uint64_t sum = 0;
    std::uint64_t largest = 0;
    for (const StreamPlan& plan : streams_) {
        const std::uint64_t bytes = plan.memory_bytes();
        sum += bytes;
        largest = std::max(largest, bytes);
    }
    for (const load::MeterPlan& plan : meters_) {
        const std::uint64_t bytes = load::Meter::memory_bytes(plan);
        sum += bytes;
        largest = std::max(largest, bytes);
    }
    memory_ = std::make_unique<Memory>();
    if (!request_.target.has_files()) {
        memory_->addresses.emplace(largest);
        memory_->all = memory_->addresses->span();
        return {};
    }
    auto arena = storage::BufferArena::make(sum, notice_);
    if (!arena) return arena.error();
    memory_->arena.emplace(std::move(*arena));
    memory_->all = memory_->arena->memory();
    return {};
}

/// For a stream that is added.
Result<std::span<std::byte>> Session::memory_for(const StreamPlan& plan) {
    const std::uint64_t bytes = plan.memory_bytes();
    if (!memory_->arena) {
        STREAMSIM_CHECK(bytes <= memory_->all.size(), "a stream that is added is like one that was there");
        return memory_->all.first(bytes);
    }
    auto arena = storage::BufferArena::make(bytes, notice_);
    if (!arena) return arena.error();
    memory_->added.push_back(std::move(*arena));
    return memory_->added.back().memory();
}

std::size_t Session::loops_needed() const {
    if (request_.target.is_virtual_time() || request_.sync) return 1;
    double operations = 0;
    for (const StreamPlan& plan : streams_) operations += operations_per_s(plan);
    std::size_t loops = static_cast<std::size_t>(operations / kOperationsPerLoop) + 1;
    loops = std::min<std::size_t>(loops, host::read_host_facts().cpus);
    if (request_.loops > 0) loops = request_.loops;
    return std::min(loops, std::max<std::size_t>(streams_.size(), 1));
}

PlaybackLoopOptions Session::playback_loop_options(std::size_t playback_loop,
                                                   std::size_t playback_loops,
                                                   std::uint64_t& used) {
    PlaybackLoopOptions options;
    options.storage = spec_;
    options.shared_memory = !memory_->arena.has_value();
    std::uint64_t bytes = 0;
    std::uint64_t reads = 0;
    std::uint64_t opens = 0;
    std::uint64_t most_reads = 0;  // of one stream
    std::uint64_t most_opens = 0;
    for (std::size_t i = playback_loop; i < streams_.size(); i += playback_loops) {
        const StreamPlan& plan = streams_[i];
        options.streams.push_back({&plan, &progress_[i]});
        bytes += plan.memory_bytes();
        const std::uint64_t own =
            places_of(plan) * std::min<std::uint64_t>(plan.options.io_depth, pieces_of(plan));
        const std::uint64_t files = play::slot_needs(*plan.path).files;
        const std::uint64_t own_opens =
            plan.path->sources().size() + files * (plan.options.readahead + places_of(plan));
        reads += own;
        opens += own_opens;
        most_reads = std::max(most_reads, own);
        most_opens = std::max(most_opens, own_opens);
    }
    // Streams that are added must not wait for those that are there.
    const std::uint64_t spare = (request_.spare_streams + playback_loops - 1) / playback_loops;
    reads += spare * most_reads;
    opens += spare * most_opens;
    options.memory = options.shared_memory ? memory_->all : memory_->all.subspan(used, bytes);
    used += bytes;
    options.storage.local.parallel_reads = static_cast<std::uint32_t>(std::min(reads, kParallelReadsMax));
    options.storage.local.parallel_opens = static_cast<std::uint32_t>(std::min(opens, kParallelReadsMax));
    options.storage.remote.parallel_reads = options.storage.local.parallel_reads;
    options.storage.remote.parallel_opens = options.storage.local.parallel_opens;
    add_meters(playback_loop, playback_loops, memory_->all, used, options);
    options.preroll_timeout = request_.preroll_timeout;
    options.decode_cpu = request_.decode_cpu;
    options.sync = request_.sync;
    options.staggered = request_.stagger > Duration{} || in_phases();
    options.origin_of_faults = in_phases();
    if (!request_.paced && !in_phases()) options.wall_limit = request_.duration.value_or(kDefaultDuration);
    if (!request_.paced && request_.frames && !request_.duration) options.wall_limit.reset();
    options.drops_kept = std::max(kDropsKept / std::max<std::size_t>(streams_.size(), 1), kDropsKeptOfEach);
    options.seed = request_.seed;
    options.keep_frames = request_.keep_frames;
    options.realtime = request_.realtime;
    options.notice = notice_;
    return options;
}

Result<void> Session::run_playback_loops() {
    const std::size_t count = loops_needed();
    std::uint64_t used = 0;
    std::set<std::pair<std::int64_t, std::size_t>> waits;  // for the streams of one offset in one world
    for (std::size_t i = 0; i < streams_.size(); ++i) waits.emplace(streams_[i].start_offset.ns, i % count);
    for (std::size_t i = 0; i < meters_.size(); ++i) waits.emplace(0, i % count);
    for (const auto& [offset_ns, playback_loop] : waits) ++not_ready_[offset_ns];
    if (auto go = wait_for_others(); !go) return go;
    {
        const std::lock_guard lock(mutex_);
        for (std::size_t i = 0; i < count; ++i) {
            playback_loops_.push_back(std::make_unique<PlaybackLoop>(playback_loop_options(i, count, used)));
            playback_loops_.back()->on_ready = [this](PlaybackLoop& playback_loop, Duration offset) {
                playback_loop_ready(playback_loop, offset);
            };
            playback_loops_.back()->on_failed = [this] { stop_playback_loops(); };
            if (interrupted_) playback_loops_.back()->interrupt();
        }
    }
    size_pool();
    std::vector<Result<void>> results(count);
    ThreadGroup threads;
    bool all = true;
    for (std::size_t i = 1; i < count && all; ++i)
        all = threads.add([this, &results, i] { results[i] = playback_loops_[i]->run(); });
    if (!all) {  // a world that does not run would be waited for
        stop_playback_loops();
        return environment_error(fmt::format("the system gives no {} threads to play on (`ulimit -u`)", count));
    }
    results[0] = playback_loops_[0]->run();
    threads.join();
    for (const auto& playback_loop : playback_loops_) {
        stuck_ = stuck_ || playback_loop->stuck();
        preroll_took_too_long_ = preroll_took_too_long_ || playback_loop->preroll_took_too_long();
        cut_short_ = cut_short_ || playback_loop->interrupted();
    }
    for (const auto& result : results) {
        if (!result) return result;
    }
    return {};
}

/// libuv's pool is the whole process's: each read and each open that may block has a thread in it.
void Session::size_pool() {
    if (request_.target.kind != target::Target::Kind::local) return;
    std::uint64_t threads = kPoolThreadsSpare;
    for (const auto& playback_loop : playback_loops_) threads += playback_loop->operations_at_once();
    const std::uint32_t had = storage::size_thread_pool(threads);
    if (had < std::min<std::uint64_t>(threads, kPoolThreadsMax) && request_.io == IoChoice::threads) {
        notice_(fmt::format(
            "the thread pool has {} threads (UV_THREADPOOL_SIZE) and this load needs {}: reads will "
            "wait for each other on this computer",
            had, threads));
    }
}

/// Until all computers are as far as this one.
Result<void> Session::wait_for_others() {
    if (gate_ == nullptr) return {};
    std::vector<Duration> cues;
    for (const auto& [offset_ns, playback_loops] : not_ready_) cues.push_back({offset_ns});
    return gate_->planned(request_.target.is_virtual_time() ? std::vector<Duration>() : cues);
}

/// Streams that begin together play from one instant, in whichever world they are.
void Session::playback_loop_ready(PlaybackLoop& playback_loop, Duration offset) {
    std::unique_lock lock(mutex_);
    if (--not_ready_[offset.ns] > 0) return;
    if (gate_ != nullptr && !request_.target.is_virtual_time()) {
        lock.unlock();
        return gate_->ready(offset, [this, offset](Instant at) { begin_everywhere(offset, at); });
    }
    const Instant now{static_cast<std::int64_t>(uv_hrtime())};  // the clock of every real loop
    if (playback_loops_.size() > 1) {
        lock.unlock();
        return begin_everywhere(offset, now + kLead);
    }
    if (started_ns_.load() == 0) started_ns_.store(now.ns, std::memory_order_relaxed);
    playback_loop.start(offset, std::nullopt);
}

void Session::begin_everywhere(Duration offset, Instant play_start) {
    const std::lock_guard lock(mutex_);
    if (started_ns_.load() == 0) started_ns_.store(play_start.ns, std::memory_order_relaxed);
    for (auto& each : playback_loops_) each->start(offset, play_start);
}

void Session::stop_playback_loops() {
    const std::lock_guard lock(mutex_);
    for (auto& playback_loop : playback_loops_) playback_loop->interrupt();
}

void Session::interrupt() {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    for (auto& playback_loop : playback_loops_) playback_loop->interrupt();
    if (probing_ != nullptr) probing_->interrupt();
}

Session::Watch Session::watch() const {
    if (!planned_.load(std::memory_order_acquire)) return {};
    return {&streams_,
            &progress_,
            started_ns_.load(std::memory_order_relaxed),
            request_.target.is_virtual_time(),
            looking_.load(std::memory_order_relaxed),
            &meters_,
            play_time(),
            spec_.faults || !request_.model_faults.empty()};
}

}  // namespace streamsim::run
