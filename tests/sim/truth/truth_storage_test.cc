// Each feature of the truth storages, against arithmetic.
#include "truth/truth_storage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "loop/virtual_loop.h"

namespace streamsim::test {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

/// Takes no time worth speaking of anywhere, except for the drives: 1 ms and 1 GB/s each.
TruthSpec quick_truth() {
    TruthSpec spec;
    spec.seat_bytes_per_s = spec.uplink_bytes_per_s = spec.flash_bytes_per_s = 1e15;
    spec.round_trip = {};
    spec.workers = 64;
    spec.worker_s_per_request = spec.worker_s_per_byte = spec.open_s = spec.sync_s = 0;
    spec.channels = 64;
    spec.channel_bytes_per_s = 1e9;
    spec.access = milliseconds(1);
    spec.access_sigma = 0;
    return spec;
}

/// And its drives take none either.
TruthSpec no_time() {
    TruthSpec spec = quick_truth();
    spec.channel_bytes_per_s = 1e15;
    spec.access = {};
    return spec;
}

class TruthRun {
public:
    explicit TruthRun(const TruthSpec& spec) : storage(make_truth_storage(loop, spec)) {}

    FileId open(const std::string& path) {
        OpenOp op;
        op.done = {[](void*) {}, nullptr};
        op.path = path.c_str();
        op.access = Access::create;
        storage->open(op);
        loop.run();
        last = op.completed_at - op.submitted_at;
        return op.file;
    }
    ReadOp& read(FileId file, std::uint64_t offset, std::uint64_t bytes, std::uint32_t seat = 0) {
        ReadOp& op = reads.emplace_back();
        op.done = {[](void*) {}, nullptr};
        op.file = file;
        op.offset = offset;
        op.buffer = {static_cast<std::byte*>(nullptr), bytes};  // never touched
        op.tag.seat = seat;
        storage->read(op);
        return op;
    }
    double seconds_of_read(FileId file, std::uint64_t offset, std::uint64_t bytes) {
        return seconds_taken(read(file, offset, bytes));
    }
    double seconds_of_write(FileId file, std::uint64_t offset, std::uint64_t bytes) {
        WriteOp op;
        op.done = {[](void*) {}, nullptr};
        op.file = file;
        op.offset = offset;
        op.buffer = {static_cast<const std::byte*>(nullptr), bytes};
        storage->write(op);
        const double taken = seconds_taken(op);
        EXPECT_EQ(op.bytes, bytes);
        return taken;
    }
    double seconds_of_sync(FileId file) {
        SyncOp op;
        op.done = {[](void*) {}, nullptr};
        op.file = file;
        storage->sync(op);
        return seconds_taken(op);
    }
    /// Bytes a second of `count` reads that are submitted at once, round robin over the seats and the files.
    double rate(int count, std::uint64_t bytes, std::uint32_t seats, const std::vector<FileId>& files) {
        const Instant start = loop.now();
        for (int i = 0; i < count; ++i) {
            const auto number = static_cast<std::uint64_t>(i);
            read(files[number % files.size()], number * bytes, bytes,
                 static_cast<std::uint32_t>(number % seats));
        }
        loop.run();
        return count * static_cast<double>(bytes) / (static_cast<double>((loop.now() - start).ns) * 1e-9);
    }

    loop::VirtualLoop loop;
    std::unique_ptr<Storage> storage;
    std::deque<ReadOp> reads;
    Duration last;

private:
    double seconds_taken(const Op& op) {
        loop.run();
        EXPECT_EQ(op.error, 0);
        return static_cast<double>((op.completed_at - op.submitted_at).ns) * 1e-9;
    }
};

TEST(TruthStorage, EachSeatHasALinkOfItsOwn) {
    TruthSpec spec = no_time();
    spec.seat_bytes_per_s = 1e9;
    TruthRun run(spec);
    const FileId file = run.open("a");
    EXPECT_NEAR(run.rate(200, kMiB, 1, {file}), 1e9, 1e7);
    EXPECT_NEAR(run.rate(400, kMiB, 2, {file}), 2e9, 2e7);
}

TEST(TruthStorage, AllSeatsShareTheUplink) {
    TruthSpec spec = no_time();
    spec.seat_bytes_per_s = 1e9;
    spec.uplink_bytes_per_s = 1.5e9;
    TruthRun run(spec);
    const FileId file = run.open("a");
    EXPECT_NEAR(run.rate(200, kMiB, 1, {file}), 1e9, 1e7);
    EXPECT_NEAR(run.rate(800, kMiB, 4, {file}), 1.5e9, 1.5e7);
}

TEST(TruthStorage, WorkersTakeTimeForRequestsAndForBytes) {
    TruthSpec spec = no_time();
    spec.workers = 4;
    spec.worker_s_per_request = 1e-3;
    spec.worker_s_per_byte = 1e-9;
    TruthRun run(spec);
    const FileId file = run.open("a");
    const double expected = 4 * 1e6 / (1e-3 + 1e6 * 1e-9);
    EXPECT_NEAR(run.rate(400, 1'000'000, 1, {file}), expected, expected / 100);
}

TEST(TruthStorage, AFileHasALimitOfItsOwn) {
    TruthSpec spec = no_time();
    spec.file_bytes_per_s = 500e6;
    TruthRun run(spec);
    const FileId a = run.open("a"), b = run.open("b"), a_again = run.open("a");
    EXPECT_NEAR(run.rate(200, kMiB, 1, {a}), 500e6, 5e6);
    EXPECT_NEAR(run.rate(200, kMiB, 1, {a, b}), 1000e6, 10e6);
    EXPECT_NEAR(run.rate(200, kMiB, 1, {a, a_again}), 500e6, 5e6) << "the file has the limit, not who opens it";
}

/// 20 large reads wait for one worker, 10 ms each, and then a small one comes, from seat 1.
double wait_of_small_read(const TruthSpec& base) {
    TruthSpec spec = base;
    spec.workers = 1;
    spec.worker_s_per_request = 10e-3;
    TruthRun run(spec);
    const FileId file = run.open("a");
    for (std::uint64_t i = 0; i < 20; ++i) run.read(file, i * kMiB, kMiB, 1);
    const ReadOp& small = run.read(file, 99 * kMiB, 4096, 0);
    run.loop.run();
    return static_cast<double>((small.completed_at - small.submitted_at).ns) * 1e-9;
}

TEST(TruthStorage, SmallReadsOrSomeSeatsComeFirst) {
    TruthSpec spec = no_time();
    EXPECT_NEAR(wait_of_small_read(spec), 0.21, 0.001);
    spec.small_first = true;
    EXPECT_NEAR(wait_of_small_read(spec), 0.02, 0.001) << "the one that is being served goes on";
    spec.small_first = false;
    spec.first_seats = 1;
    EXPECT_NEAR(wait_of_small_read(spec), 0.02, 0.001);
    spec.first_seats = 2;  // all
    EXPECT_NEAR(wait_of_small_read(spec), 0.21, 0.001);
}

/// 3 MiB of memory and 6 MiB of flash.
TruthSpec cached() {
    TruthSpec spec = quick_truth();
    spec.memory_bytes = 3 * kMiB;
    spec.flash_bytes = 6 * kMiB;
    spec.flash_bytes_per_s = 4e9;
    return spec;
}
constexpr double kFromDrives = 1e-3 + 1'048'576 / 1e9;
constexpr double kFromFlash = 1'048'576 / 4e9;

TEST(TruthStorage, BlocksComeFromTheFastestLevelThatHoldsThem) {
    TruthRun run(cached());
    const FileId file = run.open("a");
    EXPECT_NEAR(run.seconds_of_read(file, 0, kMiB), kFromDrives, 1e-6);
    EXPECT_NEAR(run.seconds_of_read(file, 0, kMiB), 0, 1e-6);
    for (std::uint64_t i = 1; i <= 3; ++i) run.seconds_of_read(file, i * kMiB, kMiB);  // memory: 1, 2, 3
    EXPECT_NEAR(run.seconds_of_read(file, 0, kMiB), kFromFlash, 1e-6);                 // memory: 2, 3, 0
    EXPECT_NEAR(run.seconds_of_read(file, 2 * kMiB, kMiB), 0, 1e-6);
    for (std::uint64_t i = 10; i < 16; ++i) run.seconds_of_read(file, i * kMiB, kMiB);
    EXPECT_NEAR(run.seconds_of_read(file, 0, kMiB), kFromDrives, 1e-6);
    EXPECT_NEAR(run.seconds_of_read(run.open("b"), 0, kMiB), kFromDrives, 1e-6) << "another file";
}

TEST(TruthStorage, ABlockThatIsUsedStaysInMemory) {
    TruthRun run(cached());
    const FileId file = run.open("a");
    for (const std::uint64_t block : {0u, 1u, 2u, 0u, 3u}) run.seconds_of_read(file, block * kMiB, kMiB);
    EXPECT_NEAR(run.seconds_of_read(file, 0, kMiB), 0, 1e-6);
    EXPECT_NEAR(run.seconds_of_read(file, kMiB, kMiB), kFromFlash, 1e-6);
}

TEST(TruthStorage, CachesAreFilledByWholeBlocks) {
    TruthRun run(cached());
    const FileId file = run.open("a");
    EXPECT_NEAR(run.seconds_of_read(file, 4096, 4096), kFromDrives, 1e-6);
    EXPECT_NEAR(run.seconds_of_read(file, 0, kMiB), 0, 1e-6);
    // Half of block 0, which memory holds, and half of block 1.
    EXPECT_NEAR(run.seconds_of_read(file, kMiB / 2, kMiB), kFromDrives, 1e-6);
    // Each block of a large read is on its level: 2, 3 and 4 of the drives, 0 of the flash.
    run.seconds_of_read(file, 2 * kMiB, 3 * kMiB);
    EXPECT_NEAR(run.seconds_of_read(file, kMiB / 2, kMiB), kFromFlash, 1e-6) << "two halves";
}

TEST(TruthStorage, WithoutCachesADriveReadsEachByteThatIsAskedFor) {
    TruthRun run(quick_truth());
    const FileId file = run.open("a");
    for (int i = 0; i < 2; ++i) EXPECT_NEAR(run.seconds_of_read(file, 0, 4096), 1e-3 + 4096e-9, 1e-6);
}

TEST(TruthStorage, ChannelsReadAtOnceAndEachOneAfterTheOther) {
    TruthSpec spec = quick_truth();
    spec.channels = 1;
    TruthRun one(spec);
    const double expected = 1'000'000 / 2e-3;
    EXPECT_NEAR(one.rate(200, 1'000'000, 1, {one.open("a")}), expected, expected / 100);
    spec.channels = 8;
    TruthRun eight(spec);
    EXPECT_NEAR(eight.rate(10'000, 1'000'000, 1, {eight.open("a")}), 8 * expected, 8 * expected / 20);
}

TEST(TruthStorage, AccessTimesAreLogNormal) {
    TruthSpec spec = quick_truth();
    spec.channel_bytes_per_s = 1e15;
    spec.access_sigma = 0.5;
    TruthRun run(spec);
    const FileId file = run.open("a");
    std::vector<double> times;
    for (std::uint64_t i = 0; i < 20'000; ++i) times.push_back(run.seconds_of_read(file, i * kMiB, 4096));
    std::sort(times.begin(), times.end());
    const auto quantile = [&](double of) { return times[static_cast<std::size_t>(of * 20'000)]; };
    EXPECT_NEAR(quantile(0.5), 1e-3, 2e-5);
    EXPECT_NEAR(quantile(0.8413), std::exp(0.5) * 1e-3, 5e-5);
    EXPECT_NEAR(quantile(0.9772), std::exp(1.0) * 1e-3, 15e-5);
}

TEST(TruthStorage, ADrivePausesForTheGarbageOfSoManyBytes) {
    TruthSpec spec = quick_truth();
    spec.channels = 1;
    spec.garbage_every_bytes = 10 * kMiB;
    spec.garbage_pause = milliseconds(50);
    TruthRun run(spec);
    const FileId file = run.open("a");
    int pauses = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const double time = run.seconds_of_read(file, i * kMiB, kMiB);
        if (time > 0.01) ++pauses;
        EXPECT_NEAR(time, kFromDrives + (time > 0.01 ? 0.05 : 0), 1e-6);
    }
    EXPECT_NEAR(pauses, 100, 1);
    // A write is in memory at once, and its garbage is collected before the next read.
    EXPECT_NEAR(run.seconds_of_write(file, 0, 10 * kMiB), 0, 1e-6);
    EXPECT_NEAR(run.seconds_of_read(file, 0, kMiB), kFromDrives + 0.05, 1e-6);
}

TEST(TruthStorage, ADrivePausesAtRandomTimes) {
    TruthSpec spec = quick_truth();
    spec.channels = 1;
    spec.garbage_gap = milliseconds(450);
    spec.garbage_pause = milliseconds(50);
    TruthRun run(spec);
    const FileId file = run.open("a");
    const double without = static_cast<double>(kMiB) / kFromDrives;
    EXPECT_NEAR(run.rate(60'000, kMiB, 1, {file}), 0.9 * without, 0.02 * without);
}

TEST(TruthStorage, BurstsTakeAShareOfTheUplinkOrOfTheWorkers) {
    for (const bool uplink : {true, false}) {
        TruthSpec spec = no_time();
        spec.uplink_bytes_per_s = uplink ? 1e9 : 1e15;
        spec.workers = 1;
        spec.worker_s_per_byte = uplink ? 0 : 1e-9;
        spec.burst_share = 0.4;
        spec.burst_length = milliseconds(20);
        spec.burst_gap = milliseconds(60);
        spec.burst_on_workers = !uplink;
        spec.burst_on_uplink = uplink;
        TruthRun run(spec);
        const FileId file = run.open("a");
        std::vector<double> rates;
        for (std::uint64_t i = 0; i < 200'000; ++i) {
            rates.push_back(1'000'000 / run.seconds_of_read(file, i * 1'000'000, 1'000'000));
            run.reads.clear();
        }
        double in_bursts = 0, all = 0;
        for (const double rate : rates) {
            const bool burst = rate < 0.8e9;
            EXPECT_NEAR(rate, burst ? 0.6e9 : 1e9, 1e7);
            all += 1 / rate;
            in_bursts += burst ? 1 / rate : 0;
        }
        EXPECT_NEAR(in_bursts / all, 0.25, 0.02);  // some 2,800 bursts
        std::swap(spec.burst_on_workers, spec.burst_on_uplink);
        TruthRun elsewhere(spec);
        EXPECT_NEAR(elsewhere.rate(10'000, kMiB, 1, {elsewhere.open("a")}), 1e9, 1e7);
    }
}

TEST(TruthStorage, OpensWritesAndSyncsCostWhatTheySay) {
    TruthSpec spec = no_time();
    spec.round_trip = milliseconds(4);
    spec.open_s = 3e-3;
    spec.sync_s = 5e-3;
    spec.worker_s_per_request = 1e-3;
    spec.uplink_bytes_per_s = 1e9;
    spec.seat_bytes_per_s = 0.5e9;
    spec.access = seconds(1);  // nothing of these waits for a drive
    TruthRun run(spec);
    const FileId file = run.open("a");
    EXPECT_NEAR(static_cast<double>(run.last.ns) * 1e-9, 7e-3, 1e-6);
    EXPECT_NEAR(run.seconds_of_write(file, 0, 1'000'000), 5e-3 + 3e-3, 1e-6);
    EXPECT_NEAR(run.seconds_of_sync(file), 9e-3, 1e-6);
}

/// The times of 1,000 reads on a random truth.
std::vector<std::int64_t> times_on(const TruthSpec& spec) {
    TruthRun run(spec);
    const FileId file = run.open("a");
    for (std::uint64_t i = 0; i < 1000; ++i)
        run.read(file, (i % 700) * kMiB, kMiB, static_cast<std::uint32_t>(i % 3));
    run.loop.run();
    std::vector<std::int64_t> times;
    for (const ReadOp& op : run.reads) times.push_back((op.completed_at - op.submitted_at).ns);
    return times;
}

TEST(RandomTruth, TheSameSeedGivesTheSameTimesAndAnotherOneOthers) {
    for (const TruthFamily family : kTruthFamilies) {
        EXPECT_EQ(times_on(random_truth(family, 1)), times_on(random_truth(family, 1)));
        EXPECT_NE(times_on(random_truth(family, 1)), times_on(random_truth(family, 2)));
        TruthSpec other_chances = random_truth(family, 1);
        ++other_chances.seed;
        EXPECT_NE(times_on(random_truth(family, 1)), times_on(other_chances));
    }
}

/// Counts the features beside links, workers and drives.
int features(const TruthSpec& spec) {
    const bool uplink = spec.uplink_bytes_per_s <= 2.5 * spec.seat_bytes_per_s;
    return (spec.small_first || spec.first_seats > 0 ? 1 : 0) + (spec.memory_bytes > 0 ? 1 : 0) +
           (spec.burst_share > 0 ? 1 : 0) +
           (spec.garbage_every_bytes > 0 || spec.garbage_gap > Duration{} ? 1 : 0) + (uplink ? 1 : 0);
}

TEST(RandomTruth, HasWhatItsFamilyNames) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const TruthSpec first = random_truth(TruthFamily::priority, seed);
        EXPECT_NE(first.small_first, first.first_seats > 0);
        const TruthSpec caches = random_truth(TruthFamily::caches, seed);
        EXPECT_GT(caches.memory_bytes, 0u);
        EXPECT_GT(caches.flash_bytes, caches.memory_bytes);
        const TruthSpec uplink = random_truth(TruthFamily::uplink, seed);
        EXPECT_LE(uplink.uplink_bytes_per_s, 2.5 * uplink.seat_bytes_per_s);
        const TruthSpec bursts = random_truth(TruthFamily::bursts, seed);
        EXPECT_TRUE(bursts.burst_share >= 0.2 && bursts.burst_share <= 0.6);
        EXPECT_TRUE(bursts.burst_on_workers || bursts.burst_on_uplink);
        const TruthSpec garbage = random_truth(TruthFamily::garbage, seed);
        EXPECT_NE(garbage.garbage_every_bytes > 0, garbage.garbage_gap > Duration{});
        EXPECT_GE(features(random_truth(TruthFamily::mixed, seed)), 2);
    }
}

}  // namespace
}  // namespace streamsim::test
