// Streams that come and go by hand while a session plays. Each change by hand is made when a certain
// frame is read, so that it happens at the same moment in each run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>
#include <tuple>
#include <utility>

#include "media/write/media_set.h"
#include "run/session/session.h"
#include "storage/local/local_byte_store.h"
#include "target/named_documents.h"
#include "unit/run/sessions.h"

namespace streamsim::run {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Does something once, when a stream asks for a slot.
class Hands {
public:
    using Where = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  // seat, stream, slot

    void at(Where where, std::function<void()> what) { what_[where] = std::move(what); }
    /// When the loop has ended, and what it played has not been put together.
    void after_play(std::function<void()> what) { after_play_ = std::move(what); }
    StorageWrapper wrapper() {
        return [this](std::unique_ptr<Storage> inner) {
            return std::make_unique<Watched>(std::move(inner), *this);
        };
    }

private:
    class Watched final : public Storage {
    public:
        Watched(std::unique_ptr<Storage> inner, Hands& hands) : inner_(std::move(inner)), hands_(hands) {}
        void open(OpenOp& op) override { inner_->open(op); }
        void read(ReadOp& op) override {
            hands_.look({op.tag.seat, op.tag.stream, op.tag.slot});
            inner_->read(op);
        }
        void hint(FileId file, std::uint64_t offset, std::uint64_t bytes) override {
            inner_->hint(file, offset, bytes);
        }
        void close(FileId file) override { inner_->close(file); }
        void cancel(Op& op) override { inner_->cancel(op); }
        StorageCapabilities capabilities() const override {
            if (ended_ && hands_.after_play_) std::exchange(hands_.after_play_, nullptr)();
            return inner_->capabilities();
        }
        void use_memory(std::span<std::byte> memory) override { inner_->use_memory(memory); }
        void shutdown(Callback done) override {
            ended_ = true;
            inner_->shutdown(done);
        }

    private:
        bool ended_ = false;
        std::unique_ptr<Storage> inner_;
        Hands& hands_;
    };

    void look(const Where& where) {
        const auto found = what_.find(where);
        if (found == what_.end()) return;
        const auto what = std::move(found->second);
        what_.erase(found);
        what();
    }

    std::map<Where, std::function<void()>> what_;
    std::function<void()> after_play_;
};

class SessionStreams : public testing::Test {
protected:
    PlayRequest request_on(const std::string& url, std::initializer_list<const char*> formats) {
        PlayRequest request = test::request_on(url, formats);
        request.spare_streams = 4;
        request.through = hands_.wrapper();
        return request;
    }

    RunResult run(const PlayRequest& request, ByteStore* store = nullptr) {
        Session session(request, *find_media(store, request, nullptr), {}, [](const std::string&) {});
        session_ = &session;
        auto result = session.execute();
        EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().problems.front());
        for (const StreamResult& stream : result->streams) {
            const FrameCounts& counts = stream.counts;
            EXPECT_EQ(counts.scheduled,
                      counts.on_time + counts.late + counts.dropped + counts.failed + counts.cancelled);
        }
        return *result;
    }

    void add() {
        const auto added = session_->add_stream();
        said_.push_back(added ? *added : added.error().problems.front());
    }
    void remove(std::size_t index) {
        const auto removed = session_->remove_stream(index);
        said_.push_back(removed ? *removed : removed.error().problems.front());
    }

    Hands hands_;
    Session* session_ = nullptr;
    std::vector<std::string> said_;
};

TEST_F(SessionStreams, OneThatIsAddedBeginsWhenItIsReadyAndEndsWithTheOthers) {
    const PlayRequest request = request_on("sim:null", {"dpx10"});
    hands_.at({0, 0, 48 + 8}, [this] { add(); });  // asked for at 2 s
    const RunResult result = run(request);
    EXPECT_THAT(said_, ElementsAre("stream 1 was added: it plays the clip of stream 0"));
    ASSERT_EQ(result.streams.size(), 2u);
    EXPECT_FALSE(result.interrupted);
    EXPECT_EQ(result.streams[0].counts.on_time, 96u);
    EXPECT_EQ(result.streams[1].counts.on_time, 48u);
    EXPECT_EQ(result.streams[1].stream, 1u);
    EXPECT_EQ(result.streams[1].play_start_ns, 2'000'000'000);
    EXPECT_EQ(result.totals.scheduled, 96u + 48u);
    EXPECT_EQ(result.required_bytes_per_s, 2 * result.streams[0].required_bytes_per_s);
    EXPECT_TRUE(result.verdict.pass);
    EXPECT_THAT(result.notices, Contains(HasSubstr("1 stream was added by hand")));
    const std::int64_t end_ns = result.timeline.back().t_ns + result.timeline.back().interval_ns;
    EXPECT_NEAR(static_cast<double>(end_ns), 4e9, 50e6) << "nothing plays on after the others";
}

TEST_F(SessionStreams, OneThatIsRemovedKeepsWhatItPlayedInTheStatistics) {
    PlayRequest request = request_on("sim:null", {"dpx10"});
    request.streams = 3;
    hands_.at({0, 2, 24 + 8}, [this] { remove(1); });
    const RunResult result = run(request);
    EXPECT_THAT(said_, ElementsAre("stream 1 was removed"));
    EXPECT_FALSE(result.interrupted);
    ASSERT_EQ(result.streams.size(), 3u);
    EXPECT_EQ(result.streams[1].counts.on_time, 25u + 8u) << "slots 0 to 24 were due, and the buffer was full";
    EXPECT_EQ(result.streams[1].counts.scheduled, 25u + 8u);
    EXPECT_EQ(result.streams[2].counts.on_time, 96u);
    EXPECT_TRUE(result.verdict.pass);
    EXPECT_THAT(result.notices, Contains(HasSubstr("1 stream was removed by hand")));
    EXPECT_EQ(result.required_bytes_per_s, 3 * result.streams[0].required_bytes_per_s);
}

TEST_F(SessionStreams, UnderHoldOneThatIsRemovedWhileItsReadsHangHasMissedItsOverdueFrames) {
    PlayRequest request = request_on("sim:null", {"dpx10"});
    request.streams = 2;
    request.on_miss = play::OnMiss::hold;
    storage::FaultPlan plan;
    storage::FaultRule rule;
    rule.stream = 1;
    rule.slots = {30, UINT64_MAX, 1};
    rule.delay = seconds(3600);
    plan.rules.push_back(rule);
    request.faults = plan;
    hands_.at({0, 0, 52 + 8}, [this] { remove(1); });
    const RunResult result = run(request);
    EXPECT_EQ(result.streams[0].counts.on_time, 96u);
    EXPECT_EQ(result.streams[1].counts.on_time, 30u);
    EXPECT_GE(result.streams[1].counts.late, 52u - 30u);
    EXPECT_FALSE(result.verdict.pass);
}

TEST_F(SessionStreams, TheMostThatIsRequiredCountsOnlyWhatPlaysAtOneTime) {
    PlayRequest request = request_on("sim:null", {"dpx10"});
    request.streams = 2;
    hands_.at({0, 0, 24 + 8}, [this] { remove(1); });
    hands_.at({0, 0, 48 + 8}, [this] { add(); });
    const RunResult result = run(request);
    ASSERT_EQ(result.streams.size(), 3u);
    EXPECT_EQ(result.required_bytes_per_s, 2 * result.streams[0].required_bytes_per_s);
    EXPECT_THAT(result.notices, Contains(HasSubstr("1 stream was added and 1 stream was removed by hand")));
}

TEST_F(SessionStreams, TheSeatWithTheFewestGetsTheNextOneAndResultsStayInOrder) {
    PlayRequest request = request_on("sim:null", {"dpx10"});
    request.seats = 2;
    request.total_streams = 3;
    hands_.at({0, 0, 20}, [this] {
        add();
        add();
    });
    const RunResult result = run(request);
    std::vector<std::string> seen;
    for (const StreamResult& stream : result.streams) {
        seen.push_back(std::to_string(stream.seat) + "." + std::to_string(stream.stream));
    }
    EXPECT_THAT(seen, ElementsAre("0.0", "0.1", "0.2", "1.0", "1.1"));
    EXPECT_THAT(said_, ElementsAre(HasSubstr("stream 1 of seat 1"), HasSubstr("stream 2 of seat 0")));
}

TEST_F(SessionStreams, DropsOfOneThatWasAddedCount) {
    PlayRequest request = request_on("sim:null", {"dpx10"});
    storage::FaultPlan plan;
    storage::FaultRule rule;
    rule.stream = 1;
    rule.slots = {30, 32, 1};
    rule.error = EIO;
    plan.rules.push_back(rule);
    request.faults = plan;
    hands_.at({0, 0, 24}, [this] { add(); });
    const RunResult result = run(request);
    EXPECT_EQ(result.totals.failed, 3u);
    EXPECT_FALSE(result.verdict.pass);
    ASSERT_EQ(result.drops.size(), 3u);
    EXPECT_EQ(result.drops[0].stream, 1u);
}

TEST_F(SessionStreams, OneThatNeverGetsReadyIsGivenUpAlone) {
    PlayRequest request = request_on("sim:null", {"dpx10"});
    request.preroll_timeout = seconds(1);
    storage::FaultPlan plan;
    storage::FaultRule rule;
    rule.stream = 1;
    rule.delay = seconds(3600);
    plan.rules.push_back(rule);
    request.faults = plan;
    hands_.at({0, 0, 24}, [this] { add(); });
    const RunResult result = run(request);
    EXPECT_EQ(result.streams[0].counts.on_time, 96u);
    EXPECT_EQ(result.streams[1].counts.cancelled, 8u);
    EXPECT_EQ(result.required_bytes_per_s, result.streams[0].required_bytes_per_s);
    EXPECT_TRUE(result.verdict.pass);
    EXPECT_THAT(result.notices, Contains(HasSubstr("was not ready to play within 1.0 s")));
}

TEST_F(SessionStreams, BothWorkOnAModel) {
    PlayRequest request = request_on("sim:h500", {"prores-hd"});
    request.streams = 2;
    ASSERT_TRUE(target::open_model(request.target, STREAMSIM_SOURCE_DIR "/formats/storage"));
    hands_.at({0, 0, 40}, [this] { add(); });
    hands_.at({0, 0, 60}, [this] { remove(1); });
    const RunResult result = run(request);
    ASSERT_EQ(result.streams.size(), 3u);
    EXPECT_EQ(result.streams[0].counts.on_time, 120u);
    EXPECT_LT(result.streams[1].counts.scheduled, 80u);
    EXPECT_GT(result.streams[2].counts.on_time, 80u);
    EXPECT_EQ(result.streams[2].counts.on_time, result.streams[2].counts.scheduled);
}

TEST_F(SessionStreams, WhatMakesNoSenseIsRefusedWithTheReason) {
    const auto refused = [this](PlayRequest request) {
        said_.clear();
        hands_.at({0, 0, 20}, [this] { add(); });
        EXPECT_EQ(run(request).streams.size(), request.streams);
        return said_.front();
    };
    PlayRequest request = request_on("sim:null", {"dpx10"});
    request.streams = 2;
    request.sync = true;
    EXPECT_THAT(refused(request), HasSubstr("one clock"));
    request.sync = false;
    request.spare_streams = 0;
    EXPECT_THAT(refused(request), HasSubstr("has the streams that it has"));
    said_.clear();
    request.spare_streams = 1;
    hands_.at({0, 0, 7}, [this] { add(); });  // of preroll
    hands_.at({0, 0, 20}, [this] {
        remove(7);
        remove(0);
        remove(1);
        remove(0);
        add();
        add();
    });
    EXPECT_EQ(run(request).streams.size(), 3u);
    EXPECT_THAT(said_, ElementsAre("play has not begun yet", "there is no such stream", "stream 0 was removed",
                                   HasSubstr("the last one that plays"), "stream 0 has ended",
                                   HasSubstr("was added"), HasSubstr("no more than 1 can be added")));
}

TEST_F(SessionStreams, AsFastAsItGoesMoreMayJoinUntilTheTimeIsUp) {
    PlayRequest request = request_on("sim:null", {"dpx10"});
    request.paced = false;
    request.duration = seconds(2);
    storage::FaultPlan plan;
    storage::FaultRule rule;
    rule.delay = milliseconds(10);
    plan.rules.push_back(rule);
    request.faults = plan;
    hands_.at({0, 0, 40}, [this] { add(); });
    const RunResult result = run(request);
    ASSERT_EQ(result.streams.size(), 2u);
    EXPECT_GT(result.streams[1].counts.on_time, 0u);
    EXPECT_LT(result.streams[1].counts.on_time, result.streams[0].counts.on_time);
}

/// As with a rate: the last one begins when the first has ended, and the meters play until it ends.
TEST_F(SessionStreams, AsFastAsItGoesEachReadsForTheWholeTimeHoweverLateItBegins) {
    PlayRequest request = request_on("sim:null", {"dpx10"});
    request.paced = false;
    request.duration = seconds(2);
    storage::FaultRule rule;
    rule.delay = milliseconds(10);
    request.faults.emplace().rules = {rule};
    const auto alone = static_cast<double>(run(request).totals.on_time);
    EXPECT_GT(alone, 100);
    request.streams = 3;
    for (const Duration stagger : {milliseconds(500), seconds(3)}) {
        request.stagger = stagger;
        const RunResult result = run(request);
        ASSERT_EQ(result.streams.size(), 3u);
        for (std::size_t i = 0; i < 3; ++i) {
            const auto began_ns = static_cast<double>(static_cast<std::int64_t>(i) * stagger.ns);
            EXPECT_NEAR(static_cast<double>(result.streams[i].play_start_ns), began_ns, 100e6);
            EXPECT_NEAR(static_cast<double>(result.streams[i].counts.on_time), alone, 10) << i;
        }
        const std::vector<PlayPart> parts = one_part(request, *find_media(nullptr, request, nullptr));
        Duration play_time;
        ASSERT_TRUE(plan_parts(parts, 1, &play_time));
        EXPECT_EQ(play_time.ns, 2 * stagger.ns + seconds(2).ns);
    }
}

TEST_F(SessionStreams, OneThatComesWhenAllIsOverIsInNoStatistics) {
    PlayRequest request = request_on("sim:null", {"dpx10"});
    request.paced = false;
    request.frames = 40;
    hands_.after_play([this] { add(); });
    const RunResult result = run(request);
    EXPECT_THAT(said_, ElementsAre("the run has ended"));
    ASSERT_EQ(result.streams.size(), 1u);
    EXPECT_EQ(result.totals.on_time, 40u);
}

/// Prepared clips in a folder that goes away.
class OnADisk : public SessionStreams {
protected:
    OnADisk() {
        char name[] = "/tmp/streamsim-streams-XXXXXX";
        path_ = mkdtemp(name);
    }
    ~OnADisk() override { std::filesystem::remove_all(path_); }

    std::string path_;
    std::unique_ptr<ByteStore> store_ = storage::make_local_byte_store();
};

TEST_F(OnADisk, ClipsThatNobodyPlaysComeFirst) {
    PlayRequest request = request_on(path_, {"prores-hd"});
    auto plan = media::plan_prepare(*store_, {path_, request.formats.front(), 3, milliseconds(200), 1});
    ASSERT_TRUE(plan.has_value());
    media::PrepareProgress progress;
    ASSERT_TRUE(media::prepare(*store_, *plan, progress).has_value());
    request.on_miss = play::OnMiss::hold;  // every slot is read, however slow this machine is
    for (const IoChoice io : {IoChoice::automatic, IoChoice::threads}) {
        request.io = io;
        said_.clear();
        int joined = 0;
        hands_.at({0, 0, 9}, [this] {
            for (int i = 0; i < 3; ++i) add();
        });
        for (const std::uint32_t stream : {1u, 2u, 3u}) {
            hands_.at({0, stream, 12}, [&] {
                if (++joined == 3) session_->interrupt();
            });
        }
        const RunResult result = run(request, store_.get());
        EXPECT_TRUE(result.interrupted);
        ASSERT_EQ(result.streams.size(), 4u);
        EXPECT_THAT(said_, ElementsAre(HasSubstr("clip-0002"), HasSubstr("clip-0003"),
                                       HasSubstr("the clip of stream")));
        EXPECT_THAT(result.streams[1].clip, HasSubstr("clip-0002"));
        EXPECT_THAT(result.streams[2].clip, HasSubstr("clip-0003"));
        for (std::size_t i = 1; i < 4; ++i) {
            EXPECT_EQ(result.streams[i].counts.failed, 0u)
                << "memory that is not registered is read into as well";
            EXPECT_GT(result.streams[i].counts.bytes_read, 0u);
        }
        EXPECT_GT(result.buffer_bytes, 3 * 10 * 200'000u);
    }
}

/// From another thread, at any moment: what a person does. For the sanitizers above all.
TEST_F(SessionStreams, HandsAndPlayersDoNotMeet) {
    PlayRequest request = request_on("null:", {"dpx10"});
    request.streams = 4;
    request.loops = 2;
    request.spare_streams = 8;
    request.duration = milliseconds(400);
    request.through = {};
    Session session(request, *find_media(nullptr, request, nullptr), {}, [](const std::string&) {});
    std::optional<Result<RunResult>> result;
    std::atomic<bool> over{false};
    std::thread playing([&] {
        result.emplace(session.execute());
        over = true;
    });
    std::size_t turn = 0;
    std::vector<Miss> misses;
    while (!over) {
        const Session::Watch watch = session.watch();
        if (watch.streams == nullptr || watch.started_ns == 0) continue;
        const std::size_t count = watch.streams->size();
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_EQ((*watch.streams)[i].format, "dpx10");
            (*watch.progress)[i].misses.read(misses);
        }
        if (turn % 2000 == 0) (void)session.add_stream();
        if (turn % 2000 == 1000) (void)session.remove_stream(turn / 1000 % count);
        ++turn;
    }
    playing.join();
    ASSERT_TRUE(result->has_value());
    const FrameCounts& totals = (**result).totals;
    EXPECT_EQ(totals.scheduled,
              totals.on_time + totals.late + totals.dropped + totals.failed + totals.cancelled);
    EXPECT_GE((**result).streams.size(), 4u);
    EXPECT_FALSE(session.add_stream().has_value()) << "it has ended";
}

}  // namespace
}  // namespace streamsim::run
