#include "play/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <queue>

#include "fake_disk.h"
#include "player_fixture.h"
#include "stalled_loop.h"

namespace streamsim::test {
namespace {

using What = FakeDisk::What;

struct Recording {
    play::PlayerOptions options;
    play::RecordOptions record;
    FrameRate rate{24, 1};
    bool file_per_frame = true;
    std::uint64_t frame_bytes = 1000;
    Duration write_takes;
    std::map<std::uint64_t, Duration> longer;  // by slot, of its first write
    std::optional<Instant> interrupt_at;
    std::optional<Instant> stop_at;
    bool hangs = false;  // a cancel is not answered before its time

    StalledLoop loop;
    FakeDisk disk{loop};

    std::vector<FrameOutcome> frames;
    StreamResult summary;
    FrameCounts counts;
    std::uint64_t client_stalls = 0;
    metrics::Digest digest;
    StreamProgress progress;
    Instant play_start;

    Recording() {
        options.slots = 96;
        options.readahead = 8;
        options.inflight = 2;
        disk.takes = [this](const FakeDisk::Asked& asked) {
            if (asked.what != What::write) return Duration{};
            Duration takes = write_takes;
            const auto more = longer.find(asked.slot);
            if (more != longer.end() && asked.offset % frame_bytes == 0) takes = takes + more->second;
            return takes;
        };
    }

    void run();
    std::vector<std::uint64_t> slots_that_were(FrameKind kind) const {
        std::vector<std::uint64_t> slots;
        for (const FrameOutcome& frame : frames) {
            if (frame.kind == kind) slots.push_back(frame.slot);
        }
        return slots;
    }
    std::size_t asked(What what) const {
        return static_cast<std::size_t>(std::count_if(disk.log.begin(), disk.log.end(),
                                                      [what](const auto& each) { return each.what == what; }));
    }
    Instant due(std::uint64_t slot) const { return play_start + rate.due(slot); }
};

void Recording::run() {
    const auto path = play::make_path({std::make_shared<TinyClip>(options.paced ? options.slots : 100'000,
                                                                  file_per_frame, rate, frame_bytes)},
                                      {}, std::nullopt, 1);
    metrics::TimeSeries series;
    play::LedgerOptions stats;
    stats.slots = options.paced ? options.slots : 0;
    stats.drops_kept = 1000;
    stats.readahead = options.readahead;
    stats.records = true;
    stats.keep_frames = true;
    play::DeadlineLedger ledger(stats, series);
    disk.alignment = options.alignment;
    disk.answers_cancels = !hangs;
    std::vector<std::byte> memory(play::Recorder::memory_bytes(*path, options, record));
    struct Conductor {
        Recording& recording;
        std::unique_ptr<play::Recorder> recorder;
        void changed() {
            if (recorder->ready()) {
                recording.play_start = recording.loop.now();
                recorder->play(recording.play_start, recording.play_start);
            } else if (recorder->finished()) {
                recording.loop.stop();
            }
        }
        void interrupt() { recorder->interrupt(); }
        void stop() { recorder->stop_submitting(); }
        void begin() { recorder->preroll(); }
    } conductor{*this, nullptr};
    const play::StreamParts parts{
        loop, disk, *path, options, ledger, progress, Callback::of<&Conductor::changed>(&conductor)};
    conductor.recorder = std::make_unique<play::Recorder>(parts, record, memory);
    if (interrupt_at) loop.at(*interrupt_at, Callback::of<&Conductor::interrupt>(&conductor));
    if (stop_at) loop.at(*stop_at, Callback::of<&Conductor::stop>(&conductor));
    loop.defer(Callback::of<&Conductor::begin>(&conductor));
    loop.run();
    ASSERT_TRUE(conductor.recorder->finished());
    EXPECT_EQ(disk.open_files, 0);
    EXPECT_EQ(disk.problems, std::vector<std::string>());
    ledger.close();
    ledger.summarise(summary);
    counts = ledger.counts();
    client_stalls = ledger.client_stalls();
    digest = ledger.digest();
    frames = ledger.frames();
}

/// The outcome of a recording whose frames take `takes` each once they are begun: by recurrence over the slots,
/// without events. In virtual time all instants are exact.
struct Predicted {
    std::vector<std::uint64_t> dropped;
    std::vector<Duration> complete;  // by slot, from play_start; of dropped ones nothing
    std::uint64_t stalls = 0;
    Duration stalled;
};

Predicted predict(const Recording& of,
                  const std::function<Duration(std::uint64_t slot, Duration begun)>& takes) {
    Predicted out;
    std::vector<Duration> complete;  // of the captured ones
    std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> slots;
    for (std::uint32_t i = 0; i < std::min(of.options.inflight, of.options.readahead); ++i) slots.push(0);
    for (std::uint64_t slot = 0; slot < of.options.slots; ++slot) {
        Duration at = of.rate.due(slot) + out.stalled;
        std::vector<Duration> still;
        for (const Duration each : complete) {
            if (each > at) still.push_back(each);
        }
        std::sort(still.begin(), still.end());
        out.complete.emplace_back();
        if (still.size() >= of.options.readahead) {
            if (of.options.on_miss == play::OnMiss::drop) {
                out.dropped.push_back(slot);
                continue;
            }
            const Duration end = still[still.size() - of.options.readahead];
            ++out.stalls;
            out.stalled = out.stalled + (end - at);
            at = end;
        }
        const Duration begun = std::max(at, Duration{slots.top()});
        slots.pop();
        complete.push_back(begun + takes(slot, begun));
        slots.push(complete.back().ns);
        out.complete.back() = complete.back();
    }
    return out;
}

Predicted predict(const Recording& of) {
    return predict(of, [&of](std::uint64_t slot, Duration) {
        const auto more = of.longer.find(slot);
        return more == of.longer.end() ? of.write_takes : of.write_takes + more->second;
    });
}

void expect_as_predicted(const Recording& recording, const Predicted& predicted) {
    EXPECT_EQ(recording.slots_that_were(FrameKind::dropped), predicted.dropped);
    EXPECT_EQ(recording.counts.stalls, predicted.stalls);
    EXPECT_EQ(recording.counts.stall_ns, predicted.stalled.ns);
    for (const FrameOutcome& frame : recording.frames) {
        if (frame.kind != FrameKind::on_time) continue;
        EXPECT_EQ((frame.completed - recording.play_start).ns, predicted.complete[frame.slot].ns) << frame.slot;
        EXPECT_LE(frame.completed, frame.deadline) << frame.slot;
    }
}

TEST(Recorder, ADiskThatKeepsUpGetsEveryFrameAndEachIsAFile) {
    Recording recording;
    recording.write_takes = milliseconds(5);
    recording.record.directories = {"run", "run/seat0-stream0"};
    recording.run();
    EXPECT_EQ(recording.counts.scheduled, 96U);
    EXPECT_EQ(recording.counts.on_time, 96U);
    EXPECT_EQ(recording.counts.bytes_written, 96'000U);
    EXPECT_EQ(recording.counts.bytes_read, 0U);
    EXPECT_EQ(recording.disk.bytes_of.size(), 96U);
    for (const auto& [path, bytes] : recording.disk.bytes_of) EXPECT_EQ(bytes, 1000U) << path;
    EXPECT_EQ(recording.disk.log[0].path, "run");
    EXPECT_EQ(recording.disk.log[1].path, "run/seat0-stream0");
    EXPECT_EQ(recording.asked(What::sync), 0U);
    // The buffer slot of frame i is needed when frame i + R is captured.
    for (const FrameOutcome& frame : recording.frames) {
        EXPECT_EQ(frame.deadline, recording.due(frame.slot + 8));
        EXPECT_EQ(frame.scheduled, recording.due(frame.slot));
        EXPECT_EQ(frame.completed, frame.scheduled + milliseconds(5));
    }
    EXPECT_EQ(recording.summary.margin_ns->min, 328'333'333 - 0);
    EXPECT_EQ(recording.summary.buffer_frames->min, 8U);
}

TEST(Recorder, AStallLosesWhatTheBufferCannotHold) {
    // 500 ms from 1.000 s on: captured meanwhile are slots 24 (at 1.000 s) to 35 (at 1.458 s); slot 36 is due
    // at 1.500 s, when all are written. 8 of the 12 find a buffer slot.
    Recording recording;
    recording.disk.gap_from = Instant{} + milliseconds(1000);
    recording.disk.gap_to = Instant{} + milliseconds(1500);
    recording.run();
    EXPECT_EQ(recording.slots_that_were(FrameKind::dropped), range(32, 35));
    EXPECT_EQ(recording.counts.on_time, 92U);
    EXPECT_EQ(recording.counts.startup_drops, 0U);
    EXPECT_EQ(recording.summary.longest_drop_run, 4U);
    EXPECT_EQ(recording.summary.buffer_frames->min, 0U);
    EXPECT_EQ(recording.disk.bytes_of.count(TinyClip::file(31)), 1U);
    EXPECT_EQ(recording.disk.bytes_of.count(TinyClip::file(32)), 0U)
        << "the dropped frames are missing in the recording";
    for (const FrameOutcome& frame : recording.frames) {
        if (frame.kind != FrameKind::dropped) continue;
        EXPECT_EQ(frame.reason, DropReason::late);
        EXPECT_EQ(frame.deadline, recording.due(frame.slot));
        EXPECT_EQ(frame.completed, Instant::never());
    }
}

TEST(Recorder, OneSlowFrameAmongOthersFillsNoBuffer) {
    Recording recording;
    recording.write_takes = milliseconds(5);
    recording.longer[30] = milliseconds(500);  // the other in-flight slot goes on
    recording.run();
    EXPECT_EQ(recording.counts.on_time, 96U);
    EXPECT_GE(recording.summary.margin_ns->min, 0);
}

TEST(Recorder, WithOneInFlightSlotASlowFrameDelaysAllOthers) {
    Recording recording;
    recording.options.inflight = 1;
    recording.write_takes = milliseconds(5);
    recording.longer[30] = milliseconds(500);
    recording.run();
    const Predicted predicted = predict(recording);
    EXPECT_EQ(predicted.dropped, range(38, 42));
    expect_as_predicted(recording, predicted);
}

TEST(Recorder, ACompletionExactlyAtTheCaptureMakesRoomForIt) {
    Recording recording;
    recording.options.readahead = recording.options.inflight = 1;
    recording.rate = {25, 1};
    recording.write_takes = milliseconds(40);
    recording.run();
    EXPECT_EQ(recording.counts.on_time, 96U);
    EXPECT_EQ(recording.summary.margin_ns->max, 0);

    Recording late;
    late.options.readahead = late.options.inflight = 1;
    late.rate = {25, 1};
    late.write_takes = milliseconds(40) + nanoseconds(1);
    late.run();
    EXPECT_EQ(late.counts.dropped, 48U) << "every other frame";
}

TEST(Recorder, AsTheRecurrenceSaysInManyWays) {
    std::uint64_t dropped = 0;
    std::uint64_t random = 12345;
    const auto draw = [&random](std::uint64_t below) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        return (random >> 33) % below;
    };
    for (int way = 0; way < 120; ++way) {
        SCOPED_TRACE(way);
        Recording recording;
        recording.options.readahead = static_cast<std::uint32_t>(1 + draw(10));
        recording.options.inflight = static_cast<std::uint32_t>(1 + draw(4));
        recording.options.slots = 20 + draw(100);
        recording.options.on_miss = draw(3) == 0 ? play::OnMiss::stall : play::OnMiss::drop;
        recording.rate = draw(2) == 0 ? FrameRate{24, 1} : FrameRate{24000, 1001};
        recording.write_takes = microseconds(static_cast<std::int64_t>(1000 + draw(70'000)));
        for (int i = 0; i < 5; ++i)
            recording.longer[draw(100)] = microseconds(static_cast<std::int64_t>(draw(800'000)));
        recording.run();
        expect_as_predicted(recording, predict(recording));
        dropped += recording.counts.dropped;
    }
    EXPECT_GT(dropped, 300U) << "ways in which nothing is dropped show nothing";
}

TEST(Recorder, ARendererWaitsAndLosesNothing) {
    Recording recording;
    recording.options.on_miss = play::OnMiss::stall;
    recording.disk.gap_from = Instant{} + milliseconds(1000);
    recording.disk.gap_to = Instant{} + milliseconds(1500);
    recording.run();
    EXPECT_EQ(recording.counts.on_time, 96U);
    EXPECT_EQ(recording.counts.stalls, 1U);
    EXPECT_EQ(recording.counts.stall_ns, 1'500'000'000 - 1'333'333'333);  // from slot 32 on
    EXPECT_EQ(recording.disk.bytes_of.size(), 96U);
}

TEST(Recorder, ALoopThatCannotRunIsToBlameOnlyWhereItCostTheFrameItsTime) {
    // Frame 41 waits for the buffer slot of frame 40, and slot 43 for that of frame 41.
    const auto play = [](Duration takes, std::int64_t stalled_from_ms) {
        Recording recording;
        recording.options.readahead = 2;
        recording.options.inflight = 1;
        const Duration frame = recording.rate.due(2) - recording.rate.due(1);
        recording.longer = {{40, frame + Duration{frame.ns / 2}}, {41, takes}};
        const Instant from = Instant{} + recording.rate.due(41) + milliseconds(stalled_from_ms);
        recording.loop.stalls = {{from, from + milliseconds(10)}};
        recording.run();
        EXPECT_EQ(recording.slots_that_were(FrameKind::dropped), range(43, 43));
        return recording.frames[43].reason;
    };
    EXPECT_EQ(play(milliseconds(67), 2), DropReason::late);     // 4.5 ms too late; nothing could be submitted
    EXPECT_EQ(play(milliseconds(61), 16), DropReason::client);  // in time but for 5.2 ms after frame 40's end
    EXPECT_EQ(play(milliseconds(70), 16), DropReason::late);
}

/// One frame in 75 ms, where one comes every 41.7 ms: what was not captured, or waited for, has made up for a
/// stop.
TEST(Recorder, StopsBesideAStorageThatIsTooSlowAreToBlameForTheSlotsThatTheyCover) {
    for (const play::OnMiss policy : {play::OnMiss::drop, play::OnMiss::stall}) {
        Recording recording;
        recording.options.slots = 480;
        recording.options.on_miss = policy;
        recording.write_takes = milliseconds(150);
        for (const std::int64_t at_ms : {4'010, 6'030, 8'020, 10'040})
            recording.loop.stalls.push_back(
                {Instant{} + milliseconds(at_ms), Instant{} + milliseconds(at_ms + 100)});
        recording.run();
        const auto of_client =
            std::count_if(recording.frames.begin(), recording.frames.end(),
                          [](const auto& frame) { return frame.reason == DropReason::client; });
        if (policy == play::OnMiss::drop) {
            EXPECT_GT(recording.counts.dropped, 150U);
            EXPECT_GE(of_client, 4);
            EXPECT_LE(of_client, 15);  // 9.6 slots are covered
        } else {
            EXPECT_GT(recording.counts.stalls, 150U);
            EXPECT_LE(recording.client_stalls, 12U);
        }
    }
}

TEST(Recorder, DurableSyncsEachFileOnceAndWaitsForIt) {
    Recording recording;
    recording.record.durable = true;
    recording.disk.takes = [](const FakeDisk::Asked& asked) {
        return asked.what == What::sync ? milliseconds(100) : milliseconds(1);
    };
    recording.options.inflight = 2;  // 20 frames a second are synced, and 24 come
    recording.options.slots = 240;
    recording.run();
    EXPECT_EQ(recording.asked(What::sync), recording.counts.on_time);
    EXPECT_EQ(recording.asked(What::open), recording.counts.on_time);
    expect_as_predicted(recording,
                        predict(recording, [](std::uint64_t, Duration) { return milliseconds(102); }));
    EXPECT_GT(recording.counts.dropped, 20U);
    EXPECT_EQ(recording.summary.sync_ns->p50, recording.summary.sync_ns->max);
    EXPECT_NEAR(static_cast<double>(recording.summary.sync_ns->max), 100e6, 1e6);
}

TEST(Recorder, AContainerIsOneFileWhoseFramesShareAnFsync) {
    Recording recording;
    recording.file_per_frame = false;
    recording.record.durable = true;
    recording.disk.takes = [](const FakeDisk::Asked& asked) {
        return asked.what == What::sync ? milliseconds(50) : milliseconds(1);
    };
    recording.run();
    EXPECT_EQ(recording.asked(What::open), 1U);
    EXPECT_EQ(recording.disk.bytes_of.at("clip.mov"), 96'000U);
    EXPECT_EQ(recording.counts.on_time, 96U);
    EXPECT_LE(recording.asked(What::sync), 96U);
    EXPECT_GE(recording.asked(What::sync), 48U);
}

TEST(Recorder, PiecesAreOfIoSizeAndSoManyAtOnce) {
    Recording recording;
    recording.options.alignment = 512;
    recording.frame_bytes = 10'000;
    recording.options.io_size = 4096;
    recording.options.io_depth = 2;
    recording.options.inflight = 1;
    recording.options.slots = 4;
    recording.write_takes = milliseconds(2);
    recording.run();
    ASSERT_EQ(recording.asked(What::write), 12U);
    std::vector<std::uint64_t> sizes;
    for (const auto& each : recording.disk.log) {
        if (each.what == What::write && each.slot == 0) sizes.push_back(each.bytes);
    }
    EXPECT_EQ(sizes, (std::vector<std::uint64_t>{4096, 4096, 2048}));
    EXPECT_EQ(recording.disk.writes_out_max, 2U);
    EXPECT_EQ(recording.counts.bytes_written, 40'000U) << "what is behind the frame's end does not count";
}

TEST(Recorder, AFullDiskFailsFramesUntilThereIsRoomAgain) {
    Recording recording;
    recording.disk.error = [](const FakeDisk::Asked& asked) {
        return asked.what == What::write && asked.slot >= 20 && asked.slot < 30 ? ENOSPC : 0;
    };
    recording.run();
    EXPECT_EQ(recording.slots_that_were(FrameKind::failed), range(20, 29));
    EXPECT_EQ(recording.counts.on_time, 86U);
    EXPECT_EQ(recording.counts.dropped, 0U);
    for (const FrameOutcome& frame : recording.frames) {
        if (frame.kind != FrameKind::failed) continue;
        EXPECT_EQ(frame.reason, DropReason::error);
        EXPECT_EQ(frame.error, ENOSPC);
        EXPECT_EQ(frame.bytes, 0U);
    }
}

TEST(Recorder, ADirectoryThatVanishesAndAnFsyncThatFailsAreFailures) {
    Recording gone;
    gone.disk.error = [](const FakeDisk::Asked& asked) {
        return asked.what == What::open && asked.slot >= 50 ? ENOENT : 0;
    };
    gone.run();
    EXPECT_EQ(gone.slots_that_were(FrameKind::failed), range(50, 95));
    EXPECT_EQ(gone.frames.back().reason, DropReason::error);
    EXPECT_EQ(gone.frames.back().error, ENOENT);

    Recording bad_sync;
    bad_sync.record.durable = true;
    bad_sync.disk.error = [](const FakeDisk::Asked& asked) {
        return asked.what == What::sync && asked.slot == 7 ? EIO : 0;
    };
    bad_sync.run();
    EXPECT_EQ(bad_sync.slots_that_were(FrameKind::failed), range(7, 7));
}

TEST(Recorder, AContainerThatCannotBeMadeFailsEveryFrame) {
    Recording recording;
    recording.file_per_frame = false;
    recording.disk.error = [](const FakeDisk::Asked& asked) { return asked.what == What::open ? EACCES : 0; };
    recording.run();
    EXPECT_EQ(recording.counts.failed, 96U);
    EXPECT_EQ(recording.frames.front().error, EACCES);
    EXPECT_EQ(recording.asked(What::write), 0U);
}

TEST(Recorder, AnInterruptSettlesEverySlotThatWasDue) {
    for (const bool hangs : {false, true}) {
        for (const bool files : {false, true}) {
            Recording recording;
            recording.file_per_frame = files;
            recording.record.durable = true;
            recording.hangs = hangs;
            recording.disk.gap_from = Instant{} + milliseconds(1000);
            recording.disk.gap_to = Instant{} + seconds(10);
            recording.interrupt_at = Instant{} + milliseconds(1510);
            recording.run();
            // Due by 1.510 s: slots 0 to 36. 24 to 31 are in the buffer; 32 to 36 found no buffer slot.
            EXPECT_EQ(recording.counts.scheduled, 37U);
            EXPECT_EQ(recording.counts.on_time, 24U);
            EXPECT_EQ(recording.slots_that_were(FrameKind::dropped), range(32, 36));
            EXPECT_EQ(recording.slots_that_were(FrameKind::cancelled), range(24, 31));
            for (const std::uint64_t slot : range(32, 36))
                EXPECT_EQ(recording.frames.at(slot).reason, DropReason::late);
        }
    }
}

/// Slot 24 is written, or in flight, when the loop stops to run. The buffer could have been written since.
TEST(Recorder, AnInterruptAfterTheLoopCouldNotRunBlamesNoStorage) {
    for (const std::int64_t takes : {1, 20}) {
        for (const play::OnMiss on_miss : {play::OnMiss::drop, play::OnMiss::stall}) {
            Recording recording;
            recording.options.on_miss = on_miss;
            recording.options.inflight = 1;
            recording.write_takes = milliseconds(takes);
            recording.loop.stalls = {{Instant{} + milliseconds(1005), Instant{} + milliseconds(1600)}};
            recording.interrupt_at = Instant{} + milliseconds(1600);
            recording.run();
            const std::uint64_t first = takes == 1 ? 33 : 32;  // that finds the buffer full
            const bool drops = on_miss == play::OnMiss::drop;
            EXPECT_EQ(recording.slots_that_were(FrameKind::dropped),
                      drops ? range(first, 38) : std::vector<std::uint64_t>());
            for (const FrameOutcome& frame : recording.frames) EXPECT_NE(frame.reason, DropReason::late);
            EXPECT_EQ(recording.counts.stalls, drops ? 0u : 1u);
            EXPECT_EQ(recording.client_stalls, recording.counts.stalls);
        }
    }
}

TEST(Recorder, AFrameThatIsCancelledHasNoErrorEvenIfAPieceOfItFailed) {
    Recording recording;
    recording.file_per_frame = false;
    recording.options.alignment = 512;
    recording.frame_bytes = 8192;
    recording.options.io_size = 4096;
    recording.options.inflight = 1;
    recording.disk.takes = [](const FakeDisk::Asked& asked) {
        return asked.what == What::write && asked.slot == 30 && asked.offset % 8192 != 0 ? seconds(10)
                                                                                         : Duration{};
    };
    recording.disk.error = [](const FakeDisk::Asked& asked) {
        return asked.what == What::write && asked.slot == 30 && asked.offset % 8192 == 0 ? ENOSPC : 0;
    };
    recording.interrupt_at = Instant{} + milliseconds(1'510);
    recording.run();
    ASSERT_FALSE(recording.slots_that_were(FrameKind::cancelled).empty());
    const FrameOutcome& frame = recording.frames.at(30);
    EXPECT_EQ(frame.kind, FrameKind::cancelled);
    EXPECT_EQ(frame.reason, DropReason::none);
    EXPECT_EQ(frame.error, 0);
    EXPECT_EQ(frame.bytes, 0U);
}

TEST(Recorder, WithoutDeadlinesItWritesAsFastAsItGoes) {
    Recording recording;
    recording.options.paced = false;
    recording.options.slots = UINT64_MAX;
    recording.options.inflight = 3;
    recording.write_takes = milliseconds(10);
    recording.stop_at = Instant{} + milliseconds(1005);
    recording.run();
    EXPECT_EQ(recording.counts.on_time, 303U);
    EXPECT_EQ(recording.counts.scheduled, 303U);
    EXPECT_FALSE(recording.summary.margin_ns);
}

TEST(Recorder, WithoutDeadlinesAFullDiskIsAskedAThousandTimesASecondAtMost) {
    Recording recording;
    recording.options.paced = false;
    recording.options.slots = UINT64_MAX;
    recording.file_per_frame = false;
    recording.disk.error = [](const FakeDisk::Asked& asked) { return asked.what == What::open ? ENOSPC : 0; };
    recording.stop_at = Instant{} + seconds(1);
    recording.run();
    EXPECT_GT(recording.counts.failed, 900U);
    EXPECT_LE(recording.counts.failed, 1001U);
}

TEST(Recorder, TheDigestIsOfWhatBecameOfTheFrames) {
    const auto digest_of = [](Duration takes, Instant gap_from) {
        Recording recording;
        recording.write_takes = takes;
        recording.disk.gap_from = gap_from;
        recording.disk.gap_to = gap_from == Instant::never() ? gap_from : gap_from + seconds(1);
        recording.run();
        return recording.digest.hex();
    };
    EXPECT_EQ(digest_of(milliseconds(1), Instant::never()), digest_of(milliseconds(9), Instant::never()));
    EXPECT_NE(digest_of(milliseconds(1), Instant::never()), digest_of(milliseconds(1), Instant{} + seconds(1)));
}

TEST(Recorder, WritesTheBytesOfTheDistinctFramesInTurn) {
    Recording recording;
    recording.record.distinct = 3;
    recording.run();
    std::vector<const std::byte*> of_slot(recording.options.slots);
    for (const auto& each : recording.disk.log) {
        if (each.what == What::write) of_slot[each.slot] = each.from;
    }
    ASSERT_NE(of_slot[0], nullptr);
    const auto stride = of_slot[1] - of_slot[0];
    EXPECT_GE(stride, 1000);
    for (std::size_t slot = 0; slot < of_slot.size(); ++slot)
        EXPECT_EQ(of_slot[slot] - of_slot[0], static_cast<std::ptrdiff_t>(slot % 3) * stride) << slot;
}

TEST(Recorder, ShowsThatItGoesOnAfterAStall) {
    Recording recording;
    recording.options.on_miss = play::OnMiss::stall;
    recording.longer[10] = milliseconds(900);
    recording.options.inflight = 1;
    StreamState then = StreamState::prerolling;
    recording.disk.error = [&](const FakeDisk::Asked& asked) {
        if (asked.slot == 60) then = recording.progress.state;
        return 0;
    };
    recording.run();
    EXPECT_GT(recording.counts.stalls, 0u);
    EXPECT_EQ(then, StreamState::playing);
}

TEST(Recorder, ShowsWhatIsOverdueBeforeTheDiskAnswers) {
    for (const bool drops : {true, false}) {
        Recording recording;
        recording.options.on_miss = drops ? play::OnMiss::drop : play::OnMiss::stall;
        recording.options.inflight = 1;
        recording.longer[10] = seconds(3);
        const auto look = [](void* of) {
            const StreamProgress& progress = static_cast<Recording*>(of)->progress;
            const bool stalls = static_cast<Recording*>(of)->options.on_miss == play::OnMiss::stall;
            EXPECT_EQ(progress.bad, stalls ? 0u : 29u) << "slots 18 to 46";
            EXPECT_EQ(progress.stalls, stalls ? 1u : 0u);
        };
        recording.loop.at(Instant{} + seconds(2), {look, &recording});
        recording.run();
        EXPECT_EQ(recording.progress.bad, recording.counts.dropped);
        EXPECT_EQ(recording.progress.stalls, recording.counts.stalls);
    }
}

}  // namespace
}  // namespace streamsim::test
