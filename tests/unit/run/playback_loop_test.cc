// One playback loop, led as Playback leads it, in virtual time.
#include "run/playback/playback_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/document/document.h"
#include "run/playback/loop_options.h"
#include "sim/model/model_document.h"
#include "unit/run/sessions.h"

namespace streamsim::run {
namespace {

/// The end of play and the begin of the second stream come in one turn, as they can from other threads.
TEST(PlaybackLoop, AStreamThatWasEndedBeforeItBeganDoesNotPlay) {
    PlayRequest request = test::request_on("sim:null", {"dpx10"});
    request.streams = 2;
    request.stagger = seconds(1);
    NoticeLog log([](const std::string&) {});
    PlaybackPlan plan(request, one_part(request, *find_media(nullptr, request, nullptr)), {}, log);
    ASSERT_TRUE(plan.make());
    PlaybackLoop loop(loop_options(plan, 1).front());
    loop.on_ready = [](PlaybackLoop& ready, Duration offset) {
        if (offset.ns == 0) return ready.start(offset, std::nullopt);
        ready.end_play();
        ready.start(offset, Instant{} + offset);
    };
    ASSERT_TRUE(loop.run());
    EXPECT_FALSE(loop.interrupted());
    const FrameCounts& first = loop.ledgers()[0]->counts();
    EXPECT_GT(first.on_time, 20u);
    EXPECT_EQ(first.on_time + first.cancelled, first.scheduled);
    const FrameCounts& second = loop.ledgers()[1]->counts();
    EXPECT_GT(second.scheduled, 0u);
    EXPECT_EQ(second.cancelled, second.scheduled);
}

/// Calls back when it is asked for frame 4.
class TellsFrame4 final : public StorageDecorator {
public:
    TellsFrame4(std::unique_ptr<Storage> inner, std::function<void()> tell)
        : StorageDecorator(std::move(inner)), tell_(std::move(tell)) {}
    void read(ReadOp& op) override {
        if (op.tag.slot == 4) tell_();
        StorageDecorator::read(op);
    }

private:
    std::function<void()> tell_;
};

/// Frames take a second each, two at a time: the fifth is asked for after two.
TEST(PlaybackLoop, ARunThatIsInterruptedBeforePlayHasLastedSinceItsFirstRead) {
    PlayRequest request = test::request_on("sim:null", {"dpx10"});
    request.inflight = 2;
    request.io_size = 0;  // a frame in one read
    storage::FaultRule rule;
    rule.operation = storage::FaultRule::Operation::read;
    rule.delay = seconds(1);
    request.faults.emplace().rules = {rule};
    Session* playing = nullptr;
    request.through = [&playing](std::unique_ptr<Storage> inner) {
        return std::make_unique<TellsFrame4>(std::move(inner), [&playing] { playing->interrupt(); });
    };
    Session session(request, *find_media(nullptr, request, nullptr), {}, [](const std::string&) {});
    playing = &session;
    const auto result = session.execute();
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->interrupted);
    EXPECT_EQ(result->totals.cancelled, result->totals.scheduled);
    EXPECT_GE(result->wall_ns, seconds(2).ns);
    EXPECT_LT(result->wall_ns, seconds(3).ns);
}

class CountedOpens final : public StorageDecorator {
public:
    CountedOpens(std::unique_ptr<Storage> inner, int& opens)
        : StorageDecorator(std::move(inner)), opens_(opens) {}
    void open(OpenOp& op) override {
        ++opens_;
        StorageDecorator::open(op);
    }

private:
    int& opens_;
};

/// A meter that was interrupted before it was prepared opens no files: the loop would close them under it.
TEST(PlaybackLoop, InterruptedBeforeItBeginsItPreparesNoMeter) {
    PlayRequest request;
    request.target = *target::parse_target("sim:a");
    const auto document = read_document(STREAMSIM_SOURCE_DIR "/formats/storage/nfs-generic.json");
    ASSERT_TRUE(document);
    const auto model = sim::read_model_document(*document, "nfs-generic");
    ASSERT_TRUE(model);
    request.target.model = std::make_shared<const ClusterModel>(*model);
    request.duration = seconds(1);
    MeterSpec spec;
    spec.name = "m";
    spec.weights[static_cast<std::size_t>(LoadOperation::read)] = 1;
    spec.blocks = {{4096, 1}};
    spec.set.file_bytes = 65'536;
    request.meters = {{spec, 0, 1}};
    int opens = 0;
    request.through = [&opens](std::unique_ptr<Storage> inner) {
        return std::make_unique<CountedOpens>(std::move(inner), opens);
    };
    NoticeLog log([](const std::string&) {});
    PlaybackPlan plan(request, one_part(request, {}), {}, log);
    ASSERT_TRUE(plan.make());
    PlaybackLoop loop(loop_options(plan, 1).front());
    loop.interrupt();
    ASSERT_TRUE(loop.run());
    EXPECT_TRUE(loop.interrupted());
    EXPECT_EQ(opens, 0);
}

/// The size of the pool as a user sets it.
class PoolSize {
public:
    explicit PoolSize(const char* size) {
        if (const char* const set = std::getenv(kName)) before_ = set;
        setenv(kName, size, 1);
    }
    ~PoolSize() { before_ ? setenv(kName, before_->c_str(), 1) : unsetenv(kName); }
    PoolSize(const PoolSize&) = delete;
    PoolSize& operator=(const PoolSize&) = delete;

private:
    static constexpr const char* kName = "UV_THREADPOOL_SIZE";
    std::optional<std::string> before_;
};

TEST(ThreadPool, ThatIsTooSmallIsToldToAllLoops) {
    const PoolSize size("4");
    PlayRequest request;
    request.target = *target::parse_target("/tmp");
    std::vector<PlaybackLoopOptions> loops(2);
    size_io_threads(request, loops);
    for (const PlaybackLoopOptions& loop : loops)
        EXPECT_THAT(loop.storage.pool_notice, testing::HasSubstr("has 4 threads (UV_THREADPOOL_SIZE) and this "
                                                                 "load needs 164"));
}

TEST(ThreadPool, HasThreadsForAllMetersOfARun) {
    PlayRequest request;
    request.target = *target::parse_target("/tmp");
    request.formats.clear();
    request.streams = 0;
    request.seats = 2;
    MeterSpec spec;
    spec.users = 5;
    spec.inflight = 3;
    request.meters = {{spec, 0, 2}};
    EXPECT_EQ(io_threads_of(request, {}).needed, 2u * 2 * 15 + 4) << "opens and reads, and those for hints";
    request.target = *target::parse_target("null:");
    EXPECT_EQ(io_threads_of(request, {}).needed, 0u);
}

/// The user may have so many threads, or as many as the system lets this process ask for.
class ThreadsAllowed {
public:
    explicit ThreadsAllowed(rlim_t threads) {
        getrlimit(RLIMIT_NPROC, &before_);
        const rlimit limit{std::min(threads, before_.rlim_max), before_.rlim_max};
        setrlimit(RLIMIT_NPROC, &limit);
    }
    ~ThreadsAllowed() { setrlimit(RLIMIT_NPROC, &before_); }
    ThreadsAllowed(const ThreadsAllowed&) = delete;
    ThreadsAllowed& operator=(const ThreadsAllowed&) = delete;

private:
    rlimit before_{};
};

/// The diagnosis of a run that fails reads more at once than play did.
TEST(ThreadPool, HasThreadsForTheDiagnosis) {
    PlayRequest request = test::request_on("sim:null", {"prores-hd"});
    request.inflight = request.io_depth = 1;
    request.io = IoChoice::threads;
    const FoundMedia media = *find_media(nullptr, request, nullptr);
    request.target = *target::parse_target("/tmp");
    const ThreadsAllowed many(RLIM_INFINITY);
    EXPECT_GE(io_threads_of(request, media).better, kDiagnosisReadsMax + 4);
    EXPECT_LT(io_threads_of(request, media).better, kDiagnosisReadsMax + 60);
    EXPECT_LT(io_threads_of(request, media).needed, 20u);
    request.find_cause = false;
    EXPECT_EQ(io_threads_of(request, media).better, 0u);
}

/// Several processes that take the last threads of a user at a time are aborted by libuv.
TEST(ThreadPool, HasNoneForTheDiagnosisThatOtherProcessesMayNeed) {
    PlayRequest request = test::request_on("sim:null", {"prores-hd"});
    request.seats = 2;
    request.inflight = request.io_depth = 1;
    request.io = IoChoice::threads;
    const FoundMedia media = *find_media(nullptr, request, nullptr);
    request.target = *target::parse_target("/tmp");
    const ThreadsAllowed many(RLIM_INFINITY);
    EXPECT_GT(io_threads_of(request, media).better, 0u);
    {
        const ThreadsAllowed few(600);
        EXPECT_EQ(io_threads_of(request, media).better, 0u);
    }
    request.own_seats = 1;
    EXPECT_EQ(io_threads_of(request, media).better, 0u) << "another one plays the other seat";
}

TEST(ThreadPool, ThatIsTooSmallForTheDiagnosisIsKnown) {
    const PlayRequest request = test::request_on("sim:null", {"prores-hd"});
    const auto streams = *plan_parts(one_part(request, *find_media(nullptr, request, nullptr)), 1);
    {
        const PoolSize size("20");
        EXPECT_EQ(reads_of_small_pool(streams), 16u) << "4 are for files and hints";
    }
    const PoolSize size("1000");
    EXPECT_EQ(reads_of_small_pool(streams), std::nullopt);
}

TEST(ThreadPool, ThatIsTooSmallIsSaidWhereItReads) {
    for (const IoChoice io : {IoChoice::automatic, IoChoice::iocp, IoChoice::threads}) {
        std::vector<std::string> said;
        StorageSpec spec;
        spec.target = *target::parse_target("/tmp");
        spec.io = io;
        spec.local.notice = [&said](const std::string& text) { said.push_back(text); };
        spec.pool_notice = "too small";
        const auto made = make_loop_and_storage(spec);
        ASSERT_TRUE(made);
        const bool by_pool = std::string_view(made->storage->capabilities().io) == "threads";
        EXPECT_EQ(std::ranges::count(said, "too small"), by_pool ? 1 : 0);
        EXPECT_TRUE(by_pool || io == IoChoice::automatic);
        made->storage->shutdown({[](void*) {}, nullptr});
        made->loop->run();
    }
}

TEST(Snapshot, HasTheOverdueFramesOfAStorageThatIsSilent) {
    PlayRequest request = test::request_on("null:", {"prores-hd"});
    request.duration = milliseconds(500);
    request.readahead = 1;
    request.on_miss = play::OnMiss::hold;
    request.faults = storage::FaultPlan{};
    request.faults->stalls = {{milliseconds(100), milliseconds(300)}};
    Session session(request, *find_media(nullptr, request, nullptr), {}, [](const std::string&) {});
    const auto not_come = [](const RunResult& result) {
        return std::ranges::count_if(result.drops, [](const DropRecord& drop) { return !drop.completed_ns; });
    };
    std::optional<Result<RunResult>> ended;
    std::atomic<bool> over = false;
    std::thread player([&] {
        ended.emplace(session.execute());
        over = true;
    });
    std::ptrdiff_t overdue = 0;
    while (!over) {
        if (const auto seen = session.snapshot()) overdue = std::max(overdue, not_come(*seen));
    }
    player.join();
    EXPECT_GT(overdue, 0);
    EXPECT_EQ(not_come(**ended), 0) << "they all came late";
    EXPECT_GT((*ended)->totals.late, 0u);
}

}  // namespace
}  // namespace streamsim::run
