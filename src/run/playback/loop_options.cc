#include "run/playback/loop_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/host.h"
#include "play/slot_reads.h"
#include "run/backends/backends.h"
#include "storage/backends.h"

namespace streamsim::run {
namespace {

/// Operations a second that one loop is given before another thread is opened; one thread does several times as
/// many.
constexpr double kOperationsPerLoop = 100'000;
/// Rows of the drop table over all streams, and of each stream at least.
constexpr std::uint64_t kDropsKept = 1'000'000;
constexpr std::uint64_t kDropsKeptOfStream = 100;

/// Threads for closing files and for hints, and the most that libuv makes.
constexpr std::uint64_t kPoolThreadsSpare = 4;
constexpr std::uint64_t kPoolThreadsMax = 1024;

std::uint64_t pieces_per_slot(const StreamPlan& plan) {
    if (plan.options.io_size == 0) return 1;
    const std::uint64_t bytes = play::slot_needs(*plan.path).bytes;
    return std::max<std::uint64_t>((bytes + plan.options.io_size - 1) / plan.options.io_size, 1);
}

double operations_per_s(const StreamPlan& plan) {
    const double per_slot = static_cast<double>(pieces_per_slot(plan) + 2 * slot_needs(*plan.path).files);
    return plan.options.paced ? per_slot * plan.rate().per_second() : 0;
}

/// Operations that may be in flight at once.
struct Operations {
    std::uint64_t reads = 0;
    std::uint64_t opens = 0;
};

Operations operations_at_once(const StreamPlan& plan, const play::ReadSettings& settings) {
    const std::uint64_t inflight_slots = settings.inflight_slots();
    const std::uint64_t pieces = std::min<std::uint64_t>(settings.io_depth, pieces_per_slot(plan));
    const std::uint64_t files = play::slot_needs(*plan.path).files;
    return {inflight_slots * pieces,
            plan.path->sources().size() + files * (settings.readahead + inflight_slots)};
}

Operations operations_at_once(const StreamPlan& plan) {
    return operations_at_once(plan, plan.options);
}

/// Adds those of the stream in the diagnosis when it reads as editing systems do. Only players with deadlines
/// are late.
void add_usual(const StreamPlan& plan, Operations& usual) {
    if (plan.record != nullptr || !plan.options.paced) return;
    play::ReadSettings settings;
    settings.inflight = std::max(plan.options.inflight_slots(), settings.inflight);
    settings.io_depth = std::max(plan.options.io_depth, settings.io_depth);
    settings.readahead = settings.inflight;
    const Operations own = operations_at_once(plan, settings);
    usual.reads += own.reads;
    usual.opens += own.opens;
}

std::uint64_t threads_of_diagnosis(const Operations& usual) {
    if (usual.reads == 0) return 0;
    const bool more = usual.reads * 2 <= kDiagnosisReadsMax;
    return kPoolThreadsSpare +
           (more ? kDiagnosisReadsMax + kDiagnosisReadsFactorMax * usual.opens : usual.reads + usual.opens);
}

/// Threads for the diagnosis; 0: there is none, it does not read by the pool, or so many would be missing to
/// other processes of the user: where several take the last ones at a time, libuv aborts. To try out hundreds
/// of threads takes 20 ms of a start.
std::uint64_t threads_of_diagnosis(const PlayRequest& request, const Operations& usual) {
    constexpr std::uint64_t kPartOfAllowed = 16;
    const bool alone = request.own_seats.value_or(request.seats) == request.seats;
    if (!request.find_cause || !alone || !reads_by_pool(request.io)) return 0;
    const std::uint64_t threads = threads_of_diagnosis(usual);
    return threads <= host::threads_allowed().value_or(UINT64_MAX) / kPartOfAllowed ? threads : 0;
}

/// Fills in the options of one loop after the other; the loops' memory lies in that order.
class LoopPlanner {
public:
    LoopPlanner(PlaybackPlan& plan, std::size_t loops) : plan_(plan), loops_(loops) {}

    PlaybackLoopOptions next() {
        PlaybackLoopOptions options = common();
        std::uint64_t bytes = 0;
        Operations all = add_streams(options, bytes);
        add_meters(options, all, bytes);
        options.memory = take_memory(bytes);
        set_parallel_operations(options.storage, all.reads, all.opens);
        ++loop_;
        return options;
    }

private:
    PlaybackLoopOptions common() const {
        const PlayRequest& request = plan_.request();
        PlaybackLoopOptions options;
        options.storage = plan_.storage();
        options.shared_memory = plan_.memory().is_shared();
        options.preroll_timeout = request.preroll_timeout;
        options.decode_cpu = request.decode_cpu;
        options.sync = request.sync;
        options.staggered = request.stagger > Duration{} || plan_.is_in_phases();
        options.origin_of_faults = plan_.is_in_phases();
        if (!request.paced && !plan_.is_in_phases()) options.wall_limit = plan_.play_time();
        if (!request.paced && request.frames && !request.duration) options.wall_limit.reset();
        options.drops_kept =
            std::max(kDropsKept / std::max<std::size_t>(plan_.streams().size(), 1), kDropsKeptOfStream);
        options.keep_frames = request.keep_frames;
        options.realtime = request.realtime;
        options.notice = plan_.log().sink();
        return options;
    }

    std::span<std::byte> take_memory(std::uint64_t bytes) {
        if (plan_.memory().is_shared()) return plan_.memory().all();
        used_ += bytes;
        return plan_.memory().all().subspan(used_ - bytes, bytes);
    }

    Operations add_streams(PlaybackLoopOptions& options, std::uint64_t& bytes) {
        Operations all;
        Operations largest;  // of one stream
        for (std::size_t i = loop_; i < plan_.streams().size(); i += loops_) {
            const StreamPlan& plan = plan_.streams()[i];
            options.streams.push_back({&plan, &plan_.progress_of(i)});
            bytes += plan.memory_bytes();
            const Operations own = operations_at_once(plan);
            all.reads += own.reads;
            all.opens += own.opens;
            largest.reads = std::max(largest.reads, own.reads);
            largest.opens = std::max(largest.opens, own.opens);
        }
        // Streams that are added must not wait for those that play already.
        const std::uint64_t spare = (plan_.request().spare_streams + loops_ - 1) / loops_;
        all.reads += spare * largest.reads;
        all.opens += spare * largest.opens;
        return all;
    }

    void add_meters(PlaybackLoopOptions& options, Operations& all, std::uint64_t& bytes) {
        all.reads = std::min(all.reads, kParallelReadsMax);
        all.opens = std::min(all.opens, kParallelReadsMax);
        for (std::size_t i = loop_; i < plan_.meters().size(); i += loops_) {
            const load::MeterPlan& plan = plan_.meters()[i];
            options.meters.push_back(&plan);
            bytes += load::Meter::memory_bytes(plan);
            all.reads += std::uint64_t{plan.spec.users} * plan.spec.inflight;
            all.opens += std::uint64_t{plan.spec.users} * plan.spec.inflight;
        }
        if (!options.meters.empty()) options.meter_time = plan_.play_time();
    }

    PlaybackPlan& plan_;
    const std::size_t loops_;
    std::size_t loop_ = 0;
    std::uint64_t used_ = 0;  // bytes of the plan's memory
};

}  // namespace

std::size_t loops_needed(const PlaybackPlan& plan) {
    const PlayRequest& request = plan.request();
    if (request.target.is_virtual_time() || request.sync) return 1;
    double operations = 0;
    for (const StreamPlan& stream : plan.streams()) operations += operations_per_s(stream);
    std::size_t loops = static_cast<std::size_t>(operations / kOperationsPerLoop) + 1;
    loops = std::min<std::size_t>(loops, host::read_host_facts().cpus);
    if (request.loops > 0) loops = request.loops;
    return std::min(loops, std::max<std::size_t>(plan.streams().size(), 1));
}

std::vector<PlaybackLoopOptions> loop_options(PlaybackPlan& plan, std::size_t loops) {
    LoopPlanner planner(plan, loops);
    std::vector<PlaybackLoopOptions> all;
    for (std::size_t i = 0; i < loops; ++i) all.push_back(planner.next());
    return all;
}

void reserve_io_threads(const PlayRequest& request, std::uint64_t streams) {
    if (request.target.kind != target::Target::Kind::local) return;
    const std::uint64_t frames = streams * request.inflight_slots();
    const std::uint64_t threads = frames * (request.io_depth + 1) + kPoolThreadsSpare;
    const play::ReadSettings usual;
    const std::uint64_t usual_frames = streams * std::max(request.inflight_slots(), usual.inflight);
    const Operations all{usual_frames * std::max(request.io_depth, usual.io_depth), usual_frames};
    storage::size_thread_pool(std::min(threads, kPoolThreadsMax), threads_of_diagnosis(request, all));
}

void reserve_io_threads(const IoThreads& threads) {
    if (threads.needed > 0)
        storage::size_thread_pool(std::min(threads.needed, kPoolThreadsMax), threads.better);
}

IoThreads io_threads_of(const PlayRequest& request, const FoundMedia& media) {
    if (request.target.kind != target::Target::Kind::local) return {};
    const std::vector<PlayPart> parts = one_part(request, media);
    const auto streams = plan_parts(parts, 1);
    if (!streams) return {};  // the run fails
    std::uint64_t threads = kPoolThreadsSpare;
    std::uint64_t largest = 0;  // of one stream
    Operations usual;
    for (const StreamPlan& plan : *streams) {
        add_usual(plan, usual);
        const Operations own = operations_at_once(plan);
        threads += own.reads + own.opens;
        largest = std::max(largest, own.reads + own.opens);
    }
    threads += request.spare_streams * largest;
    for (const MeterPart& part : request.meters) {
        for (std::uint32_t seat = part.first_seat; seat < part.first_seat + part.seats; ++seat) {
            if (request.plays(seat)) threads += std::uint64_t{2} * part.spec.users * part.spec.inflight;
        }
    }
    return {threads, threads_of_diagnosis(request, usual)};
}

void size_io_threads(const PlayRequest& request, std::vector<PlaybackLoopOptions>& loops) {
    if (request.target.kind != target::Target::Kind::local) return;
    std::uint64_t threads = kPoolThreadsSpare;
    Operations usual;
    for (const PlaybackLoopOptions& loop : loops) {
        threads += std::uint64_t{loop.storage.local.parallel_reads} + loop.storage.local.parallel_opens;
        for (const LoopStream& stream : loop.streams) add_usual(*stream.plan, usual);
    }
    const std::uint32_t had = storage::size_thread_pool(threads, threads_of_diagnosis(request, usual));
    if (had >= std::min(threads, kPoolThreadsMax)) return;
    for (PlaybackLoopOptions& loop : loops)
        loop.storage.pool_notice = fmt::format(
            "the thread pool has {} threads (UV_THREADPOOL_SIZE) and this load needs {}: reads will "
            "wait for each other on this computer",
            had, threads);
}

std::optional<std::uint64_t> reads_of_small_pool(const std::vector<StreamPlan>& streams) {
    Operations usual;
    for (const StreamPlan& plan : streams) add_usual(plan, usual);
    const std::uint64_t had = storage::size_thread_pool(0);
    if (had >= std::min(threads_of_diagnosis(usual), kPoolThreadsMax)) return std::nullopt;
    return had - std::min(had, kPoolThreadsSpare);
}

}  // namespace streamsim::run
