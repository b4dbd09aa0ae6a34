// The diagnosis of runs that failed, on a storage whose times are known, in virtual time.
#include "run/diagnosis/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/conclude/result_builder.h"
#include "storage/buffer_arena.h"
#include "storage/operation_intake.h"
#include "unit/run/sessions.h"

namespace streamsim::run {
namespace {

using testing::ElementsAre;
using testing::Pair;

struct DiskTimes {
    Duration open;              // of each file, however many are opened at once
    double bytes_per_s = 30e6;  // of reads, one after the other
};

/// The largest read of each stream.
using LargestReads = std::map<std::uint32_t, std::uint64_t>;

class Disk final : public storage::OperationIntake {
public:
    Disk(EventLoop& loop, const DiskTimes& times, LargestReads& reads)
        : OperationIntake(loop), times_(times), reads_(reads) {}
    void close(FileId) override {}
    void cancel(Op&) override {}
    StorageCapabilities capabilities() const override { return {"sim", false, 1, false, true}; }

private:
    void begin(Op& op) override {
        if (op.operation == OpKind::open) {
            static_cast<OpenOp&>(op).file = next_file_++;
            opens_.push(op);
            loop().at(now() + times_.open, Callback::of<&Disk::opened>(this));
        } else if (op.operation == OpKind::read) {
            auto& read = static_cast<ReadOp&>(op);
            read.bytes = read.buffer.size();
            reads_[op.tag.stream] = std::max(reads_[op.tag.stream], read.bytes);
            const double took_ns = static_cast<double>(read.bytes) / times_.bytes_per_s * 1e9;
            free_at_ = std::max(free_at_, now()) + Duration{static_cast<std::int64_t>(took_ns)};
            line_.push(op);
            loop().at(free_at_, Callback::of<&Disk::end>(this));
        } else {
            settle_now(op, 0);
        }
    }
    void opened() { settle_now(opens_.pop(), 0); }
    void end() { settle_now(line_.pop(), 0); }

    const DiskTimes& times_;
    LargestReads& reads_;
    Instant free_at_;
    storage::OpQueue opens_, line_;
    FileId next_file_ = 0;
};

/// A run on the disk that has ended, and its diagnosis.
class Diagnosed {
public:
    Diagnosed(const char* format, std::uint32_t streams) {
        PlayRequest request = test::request_on("sim:null", {format});
        request.streams = streams;
        auto media = find_media(nullptr, request, nullptr);
        parts_ = one_part(request, std::move(*media));
        plans = plan_parts(parts_, 1).value();
        storage_.target = request.target;
        storage_.virtual_storage = [this](EventLoop& loop) {
            reads.emplace_back();
            return std::make_unique<Disk>(loop, times, reads.back());
        };
    }

    Diagnosis run() {
        PlaybackLoopOptions options;
        options.storage = storage_;
        options.drops_kept = 1'000;
        options.notice = [](const std::string&) {};
        std::uint64_t bytes = 0;
        for (const StreamPlan& plan : plans) {
            bytes += plan.memory_bytes();
            options.streams.push_back({&plan, &progress_.emplace_back()});
        }
        auto memory = storage::BufferArena::make(bytes, [](const std::string&) {});
        memory_.emplace(std::move(*memory));
        options.memory = memory_->memory();
        loop_ = std::make_unique<PlaybackLoop>(std::move(options));
        DiagnosisControl control;
        EXPECT_TRUE(control.run(*loop_));
        DiagnosisSubject subject;
        subject.streams = &plans;
        subject.storage = storage_;
        subject.reads_at_once_max = reads_at_once_max;
        for (const auto& ledger : loop_->ledgers()) subject.ledgers.push_back(ledger.get());
        return diagnose(subject, control);
    }

    std::vector<StreamPlan> plans;
    DiskTimes times;
    std::optional<std::uint64_t> reads_at_once_max;  // of this computer
    std::deque<LargestReads> reads;                  // of the run, then of each measurement

private:
    std::vector<PlayPart> parts_;
    StorageSpec storage_;
    std::deque<StreamProgress> progress_;
    std::optional<storage::BufferArena> memory_;
    std::unique_ptr<PlaybackLoop> loop_;
};

TEST(DiagnosisOfAScenario, ReadsEachStreamAsItWasPlayed) {
    constexpr std::uint64_t kSmall = 64 << 10;
    constexpr std::uint64_t kUsual = 1 << 20;
    Diagnosed run("prores-hd", 2);
    run.plans[0].options.io_size = kSmall;
    run.plans[0].options.inflight = run.plans[0].options.io_depth = 1;
    const Diagnosis found = run.run();
    ASSERT_TRUE(found.as_played && found.usual && found.larger_reads && found.more_in_flight);
    EXPECT_EQ(found.as_played->io_size_bytes, kSmall) << "the first stream's";
    EXPECT_EQ(found.as_played->inflight, 1u);
    ASSERT_GE(run.reads.size(), 5u);
    const auto own = ElementsAre(Pair(0u, kSmall), Pair(1u, kUsual));
    const auto usual = ElementsAre(Pair(0u, kUsual), Pair(1u, kUsual));
    EXPECT_THAT(run.reads[0], own) << "play";
    EXPECT_THAT(run.reads[1], own) << "as played";
    EXPECT_THAT(run.reads[2], own) << "as much in flight as usual";
    EXPECT_THAT(run.reads[3], usual) << "larger reads";
    EXPECT_THAT(run.reads[4], own) << "more in flight";
}

/// A server far away: connecting and opening take most of the time that a measurement may take without reads.
TEST(DiagnosisOfRates, CountsNoTimeInWhichNothingIsRead) {
    Diagnosed run("prores-hd", 2);
    run.times.open = milliseconds(2700);
    const Diagnosis found = run.run();
    ASSERT_TRUE(found.as_played && found.more_in_flight);
    EXPECT_NEAR(found.as_played->bytes_per_s, run.times.bytes_per_s, run.times.bytes_per_s * 0.07);
    EXPECT_NEAR(found.more_in_flight->bytes_per_s, run.times.bytes_per_s, run.times.bytes_per_s * 0.07);
}

/// Two streams with two frames in flight, of a read each, could not have twice as many.
TEST(DiagnosisOfRates, MeasuresNoMoreInFlightThanThisComputerCarriesOut) {
    Diagnosed run("prores-hd", 2);
    run.reads_at_once_max = 7;
    const Diagnosis few = run.run();
    EXPECT_TRUE(few.as_played && !few.more_in_flight);
    EXPECT_EQ(few.reads_at_once_max, 7u);
    Diagnosed other("prores-hd", 2);
    other.reads_at_once_max = 8;
    const Diagnosis twice = other.run();
    ASSERT_TRUE(twice.more_in_flight);
    EXPECT_EQ(twice.more_in_flight->inflight, 4u);
}

/// Alone a frame is opened when it is read, and in play before.
TEST(DiagnosisOfFrames, CountsTheirOpensOnce) {
    Diagnosed run("dpx10", 1);
    run.times = {milliseconds(40), 100e6};
    const Diagnosis found = run.run();
    const double took_ns = 40e6 + run.plans.front().bytes_per_slot / run.times.bytes_per_s * 1e9;
    ASSERT_GE(found.rereads.size(), 3u);
    for (const judge::Reread& each : found.rereads) {
        EXPECT_EQ(each.open_ns, milliseconds(40).ns);
        EXPECT_NEAR(static_cast<double>(each.took_ns), took_ns, 2e6);
    }
}

TEST(EvidenceOfPlay, KnowsWhatTheDiagnosisCouldMeasure) {
    PlayRequest request = test::request_on("null:", {"dpx10"});
    std::vector<StreamPlan> streams = *plan_parts(one_part(request, *find_media(nullptr, request, nullptr)), 1);
    RunFacts facts;
    facts.request = &request;
    facts.streams = &streams;
    EXPECT_TRUE(evidence_of(facts, {}).any_player && evidence_of(facts, {}).find_cause);
    streams.front().record = std::make_shared<const RecordPlan>();
    request.find_cause = false;
    EXPECT_FALSE(evidence_of(facts, {}).any_player || evidence_of(facts, {}).find_cause);
}

}  // namespace
}  // namespace streamsim::run
