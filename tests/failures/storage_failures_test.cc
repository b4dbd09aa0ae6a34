// Players, recorders and meters on a storage that fails at its k-th operation, for all k: every slot is settled
// once, no frame with an error is on time, and the run ends when it is interrupted.
#include <gtest/gtest.h>

#include "failures/failing_storage.h"
#include "play/recorder.h"
#include "unit/load/meter_rig.h"
#include "unit/play/player_fixture.h"

namespace streamsim::play {
namespace {

using testing::FailingStorage;
using testing::OpFailure;

/// One stream of 12 frames.
struct Trial {
    PlayerOptions options;
    bool file_per_frame = true;
    bool records = false;
    RecordOptions record;
    OpFailure failure = OpFailure::error;
    std::uint64_t at = 0;  // number of the operation

    bool reached = false;
    std::uint64_t slot = 0;  // that failed
    OpKind kind = OpKind::read;
    std::vector<FrameOutcome> frames;
    FrameCounts counts;

    Trial() {
        options.slots = 12;
        options.readahead = 4;
        options.inflight = 2;
        options.io_size = 400;
        options.io_depth = 2;
    }
    void run();
};

/// Plays when the stream is ready, and ends the loop when it has finished.
struct TrialConductor {
    EventLoop& loop;
    std::unique_ptr<FrameStream> stream = nullptr;
    void begin() { stream->preroll(); }
    void changed() {
        if (stream->ready()) {
            stream->play(loop.now(), loop.now());
        } else if (stream->finished()) {
            loop.stop();
        }
    }
    void interrupt() { stream->interrupt(); }
};

void Trial::run() {
    loop::VirtualLoop loop;
    FailingStorage storage(loop, std::make_unique<storage::NullStorage>(loop, "sim"), failure, at);
    const auto path =
        make_path({std::make_shared<test::TinyClip>(options.slots, file_per_frame)}, {}, std::nullopt, 1);
    metrics::TimeSeries series;
    LedgerOptions stats;
    stats.slots = options.paced ? options.slots : 0;
    stats.drops_kept = 1000;
    stats.readahead = options.readahead;
    stats.records = records;
    stats.keep_frames = true;
    DeadlineLedger ledger(stats, series);
    StreamProgress progress;
    TrialConductor conductor{loop};
    const StreamParts parts{
        loop, storage, *path, options, ledger, progress, Callback::of<&TrialConductor::changed>(&conductor)};
    std::vector<std::byte> memory(records ? Recorder::memory_bytes(*path, options, record)
                                          : Player::memory_bytes(*path, options));
    if (records) {
        conductor.stream = std::make_unique<Recorder>(parts, record, memory);
    } else {
        conductor.stream = std::make_unique<Player>(parts, memory);
    }
    loop.defer(Callback::of<&TrialConductor::begin>(&conductor));
    loop.at(Instant{} + seconds(5), Callback::of<&TrialConductor::interrupt>(&conductor));
    ASSERT_EQ(loop.run(), StopReason::stopped);
    EXPECT_TRUE(conductor.stream->finished());
    EXPECT_FALSE(storage.outstanding());
    EXPECT_LE(loop.now(), Instant{} + seconds(7));
    ledger.close();
    frames = ledger.frames();
    counts = ledger.counts();
    reached = storage.has_failed();
    if (reached) slot = storage.failed().slot;
    kind = storage.failed_kind();
}

/// Runs the trial for each operation and each failure.
void at_every_operation(const std::function<Trial()>& make) {
    for (const OpFailure failure : testing::kOpFailures) {
        bool reached = true;
        for (std::uint64_t k = 0; reached; ++k) {
            Trial trial = make();
            trial.failure = failure;
            trial.at = k;
            SCOPED_TRACE("failure " + std::to_string(static_cast<int>(failure)) + " at operation " +
                         std::to_string(k));
            trial.run();
            reached = trial.reached;
            std::uint64_t seen = 0;
            for (const FrameOutcome& frame : trial.frames) {
                ++seen;
                EXPECT_TRUE(frame.kind != FrameKind::on_time || frame.bytes == 1000u) << frame.slot;
            }
            EXPECT_EQ(seen, trial.counts.scheduled);
            EXPECT_EQ(trial.counts.scheduled, trial.counts.on_time + trial.counts.late + trial.counts.dropped +
                                                  trial.counts.failed + trial.counts.cancelled);
            if (reached) {
                // A directory that is there already is no failure, nor is the second try of an early open.
                const bool harmless = trial.kind == OpKind::path || trial.kind == OpKind::open;
                EXPECT_TRUE(harmless || trial.counts.on_time < trial.options.slots);
                const bool shared = harmless || trial.kind == OpKind::sync;  // by several frames
                for (const FrameOutcome& frame : trial.frames)
                    EXPECT_FALSE(!shared && frame.slot == trial.slot && frame.kind == FrameKind::on_time)
                        << "slot " << frame.slot;
            } else {
                EXPECT_EQ(trial.counts.on_time, trial.options.slots);
            }
            if (::testing::Test::HasFailure()) return;
        }
    }
}

TEST(StorageFailures, PlayersSettleEverySlot) {
    for (const OnMiss on_miss : {OnMiss::drop, OnMiss::skip, OnMiss::hold, OnMiss::stall}) {
        for (const bool file_per_frame : {true, false}) {
            for (const AccessPattern pattern : {AccessPattern::on_demand, AccessPattern::filename_prefetch}) {
                SCOPED_TRACE("policy " + std::to_string(static_cast<int>(on_miss)) +
                             (file_per_frame ? ", files" : ", container") + ", pattern " +
                             std::to_string(static_cast<int>(pattern)));
                at_every_operation([&] {
                    Trial trial;
                    trial.options.on_miss = on_miss;
                    trial.options.pattern = pattern;
                    trial.file_per_frame = file_per_frame;
                    return trial;
                });
            }
        }
    }
}

TEST(StorageFailures, RecordersSettleEverySlot) {
    for (const bool durable : {false, true}) {
        for (const bool file_per_frame : {true, false}) {
            for (const OnMiss on_miss : {OnMiss::drop, OnMiss::stall}) {
                SCOPED_TRACE("policy " + std::to_string(static_cast<int>(on_miss)) +
                             (file_per_frame ? ", files" : ", container") + (durable ? ", durable" : ""));
                at_every_operation([&] {
                    Trial trial;
                    trial.options.on_miss = on_miss;
                    trial.records = true;
                    trial.record.durable = durable;
                    trial.record.directories = {"r", "r/s"};
                    trial.file_per_frame = file_per_frame;
                    return trial;
                });
            }
        }
    }
}

/// Rig::run() expects that no operation is lost and none is counted twice.
TEST(StorageFailures, MetersCountEveryOperation) {
    for (const bool cut : {false, true}) {
        std::uint64_t asked = UINT64_MAX;
        for (std::uint64_t k = 0; k < asked; ++k) {
            test::Rig rig;
            rig.weigh(LoadOperation::read, 2);
            rig.weigh(LoadOperation::write, 1);
            rig.weigh(LoadOperation::create, 1);
            rig.weigh(LoadOperation::stat, 1);
            rig.weigh(LoadOperation::remove, 1);
            rig.spec.users = 2;
            rig.spec.sync = MeterSpec::Sync::each_write;
            std::uint64_t number = 0;
            rig.storage.error = [&](const test::Asked& each) {
                return number++ == k && !(cut && each.kind == test::Asked::read) ? EIO : 0;
            };
            rig.storage.found = [&](const test::Asked& each) {
                return cut && number == k + 1 ? each.bytes / 2 : each.bytes;
            };
            SCOPED_TRACE((cut ? "cut at operation " : "error at operation ") + std::to_string(k));
            rig.run(milliseconds(120));
            asked = number;
            if (HasFailure()) return;
        }
        EXPECT_GT(asked, 20u);
    }
}

/// An interrupted meter whose storage keeps one operation for ever has a result all the same.
TEST(StorageFailures, AMeterWithoutAnAnswerHasAResult) {
    bool reached = true;
    for (std::uint64_t k = 0; reached; ++k) {
        loop::VirtualLoop loop;
        FailingStorage storage(loop, std::make_unique<storage::NullStorage>(loop, "sim"), OpFailure::never, k);
        load::MeterPlan plan;
        plan.spec.name = "m";
        plan.spec.users = 2;
        plan.spec.operations_per_s = 100;
        plan.spec.set.file_bytes = 1 << 16;
        plan.spec.blocks = {{4096, 1}};
        plan.spec.weights[test::index(LoadOperation::read)] = 1;
        plan.spec.weights[test::index(LoadOperation::write)] = 1;
        plan.names = load::working_set(plan.spec, "root", 0);
        struct MeterConductor {
            EventLoop& loop;
            std::unique_ptr<load::Meter> meter = nullptr;
            void changed() {
                if (meter->ready()) meter->play(loop.now(), loop.now() + milliseconds(50));
                if (meter->finished()) loop.stop();
            }
            void interrupt() { meter->interrupt(); }
        } conductor{loop};
        std::vector<std::byte> memory(load::Meter::memory_bytes(plan));
        conductor.meter = std::make_unique<load::Meter>(loop, storage, plan, memory,
                                                        Callback::of<&MeterConductor::changed>(&conductor));
        conductor.meter->prepare();
        loop.at(Instant{} + seconds(1), Callback::of<&MeterConductor::interrupt>(&conductor));
        loop.at(Instant{} + seconds(2), Callback::of<&EventLoop::stop>(&loop));
        ASSERT_EQ(loop.run(), StopReason::stopped);
        reached = storage.has_failed();
        EXPECT_EQ(conductor.meter->finished(), !reached);
        const MeterResult result = conductor.meter->result_without_waiting();
        EXPECT_EQ(result.arrived, result.all.done + result.all.failed + result.unfinished);
        EXPECT_EQ(result.all.failed, 0u);
        if (!reached) EXPECT_GE(result.all.done, 8u);
    }
}

}  // namespace
}  // namespace streamsim::play
