// Each part of a modelled cluster alone, against arithmetic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>

#include "base/prng.h"
#include "loop/virtual_loop.h"
#include "sim/parts/block_cache.h"
#include "sim/parts/calendar.h"
#include "sim/parts/drive.h"
#include "sim/parts/latency.h"
#include "sim/parts/station.h"
#include "sim/parts/switch_port.h"

namespace streamsim {
namespace {

using ::testing::ElementsAre;

/// Runs a calendar on a loop and writes down who was served when.
class Bench final : public Reaper, public sim::JobOwner {
public:
    Bench() { loop_.add_reaper(this); }
    ~Bench() override { loop_.remove_reaper(this); }
    void reap() override {
        calendar.run_due([] { return true; });
    }
    Instant next() const override { return calendar.next(); }
    void advance(sim::Job& job) override {
        order.push_back(job.bytes);
        times.push_back(calendar.now().ns);
    }
    void reroute(sim::Job&) override {}
    bool wanted(sim::Job&, Instant complete) override { return complete.ns <= wanted_until_ns; }

    /// A job that is called by a number.
    sim::Job& job(std::uint64_t name) {
        sim::Job& job = jobs_.emplace_back();
        job.owner = this;
        job.bytes = name;
        return job;
    }
    void run() { loop_.run(); }

    std::vector<std::uint64_t> order;
    std::vector<std::int64_t> times;
    std::int64_t wanted_until_ns = INT64_MAX;

private:
    loop::VirtualLoop loop_;
    std::deque<sim::Job> jobs_;

public:
    sim::Calendar calendar{loop_};
};

/// Near and far times, and many equal ones, against a list that is searched.
TEST(EventQueue, RunsTheEarliestFirstAndEqualTimesInTheirOrder) {
    static std::size_t ran;
    struct Entry {
        std::int64_t when_ns;
        std::size_t number;
    };
    Prng prng(5);
    sim::EventQueue queue;
    std::vector<Entry> list;
    std::vector<std::size_t> numbers(30'000);
    std::int64_t now_ns = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = i;
        const std::int64_t later = static_cast<std::int64_t>(prng.below(std::uint64_t{1} << prng.below(44)));
        list.push_back({now_ns + (prng.below(3) == 0 ? 0 : later), i});
        queue.push({list.back().when_ns},
                   {[](void* number) { ran = *static_cast<std::size_t*>(number); }, &numbers[i]});
        while (!list.empty() && prng.below(list.size() > 100 ? 3 : 5) > 1) {
            const auto first = std::min_element(
                list.begin(), list.end(), [](const Entry& a, const Entry& b) { return a.when_ns < b.when_ns; });
            ASSERT_EQ(queue.next().ns, first->when_ns);
            queue.pop()();
            ASSERT_EQ(ran, first->number);
            now_ns = first->when_ns;
            list.erase(first);
        }
        ASSERT_EQ(queue.empty(), list.empty());
    }
}

/// A timer that is due between two completions, or with one, runs in its place.
TEST(Calendar, SkipsToNoEventBehindATimerOfTheLoop) {
    struct Note {
        std::vector<int>& log;
        int number;
        void run() { log.push_back(number); }
    };
    struct Events final : Reaper {
        explicit Events(EventLoop& its_loop) : calendar(its_loop), loop(its_loop) { loop.add_reaper(this); }
        ~Events() override { loop.remove_reaper(this); }
        void reap() override {
            calendar.run_due([] { return false; });
        }
        Instant next() const override { return calendar.next(); }
        sim::Calendar calendar;
        EventLoop& loop;
    };
    loop::VirtualLoop loop;
    Events events(loop);
    std::vector<int> log;
    std::deque<Note> notes;
    const auto note = [&](int number) {
        return Callback::of<&Note::run>(&notes.emplace_back(Note{log, number}));
    };
    events.calendar.at({10}, note(1));
    loop.at({15}, note(2));
    events.calendar.at({20}, note(3));
    loop.at({30}, note(5));
    events.calendar.at({30}, note(4));
    events.calendar.at({40}, note(6));
    EXPECT_EQ(loop.run(), StopReason::idle);
    EXPECT_THAT(log, ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_EQ(loop.now().ns, 40);
}

TEST(Rate, TimesAreRoundedUpAndNeverOverflow) {
    EXPECT_EQ(sim::Rate::of(1e9).time(1), nanoseconds(1));
    EXPECT_EQ(sim::Rate::of(3e9).time(1), nanoseconds(1));
    EXPECT_EQ(sim::Rate::of(3e9).time(3), nanoseconds(1));
    EXPECT_EQ(sim::Rate::of(3e9).time(4), nanoseconds(2));
    EXPECT_EQ(sim::Rate::of(1.9).time(1), seconds(1)) << "a rate is rounded down";
    EXPECT_EQ(sim::Rate{}.time(UINT64_MAX), Duration{});
    EXPECT_EQ(sim::Rate::of(1e12).time(std::uint64_t{1} << 62), nanoseconds(4'611'686'018'427'388));
}

TEST(Station, ServesInOrderOneAfterTheOther) {
    Bench bench;
    sim::Station station(bench.calendar, {1, sim::Rate::of(1e9), false});
    station.enter(bench.job(1), 7, nanoseconds(5), 100);
    station.enter(bench.job(2), 7, {}, 50);
    station.enter(bench.job(3), 9, nanoseconds(1), 0);
    bench.run();
    EXPECT_THAT(bench.order, ElementsAre(1, 2, 3));
    EXPECT_THAT(bench.times, ElementsAre(105, 155, 156));
    EXPECT_EQ(station.stats().busy_ns(), 156);
    EXPECT_EQ(station.stats().queue_ns(), 105 + 155 + 156);
    EXPECT_EQ(station.stats().stay_ns(), 105 + 155 + 156);
    EXPECT_EQ(station.stats().longest_queue(), 3u);
}

TEST(Station, ServersWorkSideBySide) {
    Bench bench;
    sim::Station station(bench.calendar, {2, sim::Rate::of(1e9), false});
    for (std::uint64_t i = 1; i <= 5; ++i) station.enter(bench.job(i), 0, {}, 100 * i);
    bench.run();
    EXPECT_THAT(bench.order, ElementsAre(1, 2, 3, 4, 5));
    EXPECT_THAT(bench.times, ElementsAre(100, 200, 400, 600, 900));
}

TEST(Station, FairBetweenFlowsIsOneOfEachInTurn) {
    Bench bench;
    sim::Station station(bench.calendar, {1, sim::Rate::of(1e9), true});
    for (std::uint64_t i = 0; i < 4; ++i) station.enter(bench.job(10 + i), 1, {}, 10);
    for (std::uint64_t i = 0; i < 3; ++i) station.enter(bench.job(20 + i), 2, {}, 10);
    station.enter(bench.job(30), 0, {}, 10);
    bench.run();
    EXPECT_THAT(bench.order, ElementsAre(10, 11, 20, 30, 12, 21, 13, 22));
}

TEST(Station, FlowsOfLargeNumbersTakeNoMoreMemory) {
    Bench bench;
    sim::Station station(bench.calendar, {1, sim::Rate::of(1e9), true});
    constexpr std::uint32_t kSomewhere = 4'000'000'000;
    station.enter(bench.job(1), kSomewhere, {}, 10);
    for (std::uint64_t name = 2; name < 5; ++name) station.enter(bench.job(name), kSomewhere, {}, 10);
    station.enter(bench.job(5), kSomewhere - 9, {}, 10);
    station.enter(bench.job(6), kSomewhere + 9, {}, 10);
    bench.run();
    EXPECT_THAT(bench.order, ElementsAre(1, 2, 5, 6, 3, 4));
}

/// Meters have stream numbers far above those of streams. Memory for all numbers between would be 100 GB.
TEST(Station, TakesTurnsBetweenFlowsWhoseNumbersAreFarApart) {
    Bench bench;
    sim::Station station(bench.calendar, {1, sim::Rate::of(1e9), true});
    const std::uint32_t flows[] = {0, 4'000'000'000, 1'000'000};
    std::uint64_t name = 0;
    for (const std::uint32_t flow : flows) {
        for (int i = 0; i < 2; ++i) station.enter(bench.job(++name), flow, {}, 1000);
    }
    bench.run();
    EXPECT_THAT(bench.order, ElementsAre(1, 2, 3, 5, 4, 6)) << "the first does not wait";
}

TEST(Station, AFrameThatIsNotWantedTakesNoTime) {
    Bench bench;
    bench.wanted_until_ns = 150;
    sim::Station station(bench.calendar, {1, {}, true});
    for (std::uint64_t i = 1; i <= 3; ++i) {
        sim::Job& job = bench.job(i);
        job.vetted = true;
        station.enter(job, 0, nanoseconds(i == 2 ? 100 : 50), 0);
    }
    bench.run();
    EXPECT_THAT(bench.times, ElementsAre(50, 150, 150));
}

TEST(Station, PausesAndSlowsFromTheNextRequestOn) {
    Bench bench;
    sim::Station station(bench.calendar, {1, sim::Rate::of(1e9), false});
    station.enter(bench.job(1), 0, {}, 100);
    station.pause(Instant{500});
    station.slow(0.1);
    station.enter(bench.job(2), 0, {}, 100);
    bench.run();
    EXPECT_THAT(bench.times, ElementsAre(100, 1500));
    station.slow(1);
    station.enter(bench.job(3), 0, {}, 100);
    bench.run();
    EXPECT_EQ(bench.times.back(), 1600);
}

TEST(StationStats, SumsOfAnyTimeAndIntervalsThatGrow) {
    sim::StationStats stats;
    stats.arrive(Instant{0});
    stats.begin(Instant{0}, Instant{2'500'000'000}, 77);
    stats.arrive(Instant{1'000'000'000});
    stats.depart(Instant{2'500'000'000}, Instant{0});
    PartStats all;
    stats.fill(all, Instant{0}, Instant{3'000'000'000});
    EXPECT_EQ(all.busy_ns, 2'500'000'000);
    EXPECT_THAT(all.busy_per_s, ElementsAre(1'000'000'000, 1'000'000'000, 500'000'000));
    EXPECT_EQ(all.queue_ns, 1'000'000'000 + 3'000'000'000 + 500'000'000) << "and one is still there";
    EXPECT_EQ(all.requests, 1u);
    EXPECT_EQ(all.bytes, 77u);
    PartStats middle;
    stats.fill(middle, Instant{500'000'000}, Instant{1'500'000'000});
    EXPECT_EQ(middle.busy_ns, 1'000'000'000);
    EXPECT_EQ(middle.queue_ns, 500'000'000 + 1'000'000'000);
    stats.begin(Instant{3000'000'000'000}, Instant{3001'000'000'000}, 1);
    PartStats late;
    stats.fill(late, Instant{0}, Instant{3001'000'000'000});
    EXPECT_EQ(late.interval_ns, 8'000'000'000);
    EXPECT_EQ(late.busy_ns, 3'500'000'000);
    EXPECT_EQ(late.busy_per_s.front(), 2'500'000'000);
}

DriveModel rotational() {
    DriveModel model;
    model.outer_bytes_per_s = 200e6;
    model.inner_bytes_per_s = 100e6;
    model.rotations_per_s = 0;
    model.seek_track = milliseconds(1);
    model.seek_full = milliseconds(17);
    model.capacity_bytes = 1'000'000'000'000;
    model.reorder = 4;
    return model;
}

TEST(RotationalDrive, SeeksByDistanceAndReadsByZone) {
    Bench bench;
    const sim::RotationalDrive drive(bench.calendar, rotational());
    EXPECT_EQ(drive.seek_time(5, 5), Duration{});
    EXPECT_EQ(drive.seek_time(0, 250'000'000'000), milliseconds(9));
    EXPECT_EQ(drive.seek_time(1'000'000'000'000, 0), milliseconds(17));
    EXPECT_EQ(drive.zone_rate(0).bytes_per_s(), 200'000'000u);
    EXPECT_EQ(drive.zone_rate(500'000'000'000).bytes_per_s(), 150'000'000u);
}

TEST(RotationalDrive, ReadsOnWithoutASeek) {
    Bench bench;
    sim::RotationalDrive drive(bench.calendar, rotational());
    drive.enter(bench.job(1), 0, 2'000'000, 1);
    drive.enter(bench.job(2), 2'000'000, 2'000'000, 2);
    bench.run();
    EXPECT_NEAR(static_cast<double>(bench.times[0]), 10e6, 1e3);
    EXPECT_NEAR(static_cast<double>(bench.times[1]), 20e6, 1e3);
}

TEST(RotationalDrive, TakesTheNearestAndStarvesNone) {
    Bench bench;
    sim::RotationalDrive drive(bench.calendar, rotational());
    drive.enter(bench.job(1), 0, 1000, 1);  // is being served
    drive.enter(bench.job(2), 900'000'000'000, 1000, 2);
    for (std::uint64_t i = 3; i <= 9; ++i) drive.enter(bench.job(i), (10 - i) * 1'000'000'000, 1000, i);
    bench.run();
    // Job i > 2 is at 10 - i; of {2, 3, 4, 5} it is 5, from there of {2, 3, 4, 6} 4 (its own length nearer than
    // 6), of {2, 3, 6, 7} 3, of {2, 6, 7, 8} 6; then four younger ones went before 2.
    EXPECT_THAT(bench.order, ElementsAre(1, 5, 4, 3, 6, 2, 7, 8, 9));
}

TEST(RotationalDrive, TheTurnIsHalfARotationOnAverage) {
    Bench bench;
    DriveModel model = rotational();
    model.rotations_per_s = 120;
    model.seek_track = model.seek_full = {};
    sim::RotationalDrive drive(bench.calendar, model);
    constexpr int kRandomReads = 20'000;
    for (int i = 0; i < kRandomReads; ++i) {
        drive.enter(bench.job(0), static_cast<std::uint64_t>(i % 2) * 1000, 1, static_cast<std::uint64_t>(i));
    }
    bench.run();
    EXPECT_NEAR(static_cast<double>(bench.times.back()) / kRandomReads, 1e9 / 240, 1e9 / 240 * 0.02);
}

TEST(FlashDrive, ChannelsServeAtOnce) {
    Bench bench;
    DriveModel model;
    model.kind = DriveModel::Kind::flash;
    model.channels = 4;
    model.outer_bytes_per_s = 1e9;
    model.access.median = microseconds(100);
    const auto drive = sim::make_drive(bench.calendar, model);
    for (std::uint64_t i = 0; i < 8; ++i) drive->enter(bench.job(i), 0, 1000, i);
    bench.run();
    EXPECT_THAT(bench.times,
                ElementsAre(101'000, 101'000, 101'000, 101'000, 202'000, 202'000, 202'000, 202'000));
}

TEST(Latency, HasTheMedianTheSpreadAndTheTailThatItsModelSays) {
    LatencyModel model;
    model.median = microseconds(100);
    model.spread = 0.2;
    std::vector<double> drawn;
    constexpr std::uint64_t kDraws = 100'000;
    for (std::uint64_t key = 0; key < kDraws; ++key) {
        const double ns = static_cast<double>(sim::draw_latency(model, key).ns);
        ASSERT_GE(ns, 80'000);
        ASSERT_LE(ns, 120'000);
    }
    model.tail_share = 0.05;
    model.tail_mean = milliseconds(2);
    double sum = 0;
    std::uint64_t in_tail = 0;
    for (std::uint64_t key = 0; key < kDraws; ++key) {
        const double ns = static_cast<double>(sim::draw_latency(model, key).ns);
        ASSERT_LE(ns, 120'000 + 10 * 2'000'000);
        sum += ns;
        if (ns > 120'000) ++in_tail;
    }
    EXPECT_NEAR(static_cast<double>(in_tail) / kDraws, 0.05, 0.005);
    const double mean = 100'000 + 0.05 * 2'000'000;  // the cut at ten means is far out
    EXPECT_NEAR(sum / kDraws, mean, mean * 0.03);
    EXPECT_EQ(sim::draw_latency(model, 42), sim::draw_latency(model, 42));
}

TEST(Latency, TheExponentialIsOne) {
    Prng prng(3);
    constexpr int kDraws = 200'000;
    double sum = 0;
    double squares = 0;
    int above_one = 0;
    for (int i = 0; i < kDraws; ++i) {
        const double drawn = draw_exponential(prng);
        sum += drawn;
        squares += drawn * drawn;
        if (drawn > 1) ++above_one;
    }
    EXPECT_NEAR(sum / kDraws, 1, 0.01);
    EXPECT_NEAR(squares / kDraws, 2, 0.04);
    EXPECT_NEAR(above_one / double{kDraws}, std::exp(-1), 0.005);
}

TEST(BlockCache, TheLeastRecentlyUsedGoes) {
    sim::BlockCache cache(2, false);
    EXPECT_FALSE(cache.take(1));
    EXPECT_FALSE(cache.put(1));
    EXPECT_FALSE(cache.put(2));
    EXPECT_TRUE(cache.take(1));
    EXPECT_EQ(cache.put(3), std::optional<std::uint64_t>(2));
    EXPECT_FALSE(cache.take(2));
    EXPECT_TRUE(cache.has(1));
    EXPECT_EQ(cache.hits(), 1u);
    EXPECT_EQ(cache.misses(), 2u);
    EXPECT_EQ(cache.evictions(), 1u);
    cache.clear();
    EXPECT_FALSE(cache.take(1));
}

TEST(BlockCache, AgainstAListThatIsSearched) {
    Prng prng(1);
    sim::BlockCache cache(50, false);
    std::vector<std::uint64_t> list;  // the newest first
    for (int i = 0; i < 200'000; ++i) {
        const std::uint64_t key = prng.below(80) << (prng.below(2) * 32);
        const auto at = std::find(list.begin(), list.end(), key);
        ASSERT_EQ(cache.take(key), at != list.end());
        if (at != list.end()) {
            list.erase(at);
        } else {
            const auto gone = cache.put(key);
            ASSERT_EQ(gone.has_value(), list.size() == 50);
            if (gone) {
                ASSERT_EQ(*gone, list.back());
                list.pop_back();
            }
        }
        list.insert(list.begin(), key);
    }
}

TEST(BlockCache, AWarmOneHasWhatItHasRoomFor) {
    sim::BlockCache cache(2, true);
    EXPECT_TRUE(cache.take(1));
    EXPECT_TRUE(cache.has(2));
    EXPECT_FALSE(cache.take(3));
    cache.clear();
    EXPECT_FALSE(cache.take(1));
    EXPECT_FALSE(sim::BlockCache(0, true).take(1));
}

TEST(BlockCache, MediaForWhichThereIsRoomStay) {
    sim::BlockCache cache(4, true);
    cache.hold_media(2);
    for (std::uint64_t key = 0; key < 2; ++key) EXPECT_TRUE(cache.take(key, true));
    EXPECT_TRUE(cache.take(10)) << "there is room for two others";
    EXPECT_TRUE(cache.take(11));
    EXPECT_FALSE(cache.take(12));
    EXPECT_EQ(cache.put(12), std::optional<std::uint64_t>(10));
    EXPECT_TRUE(cache.take(0, true));
    EXPECT_EQ(cache.hits(), 5u);
    cache.clear();
    EXPECT_FALSE(cache.take(0, true));

    sim::BlockCache small(4, true);
    small.hold_media(4);  // no room is left for anything else: they are listed as all others
    EXPECT_FALSE(small.put(10));
    for (std::uint64_t key = 0; key < 3; ++key) EXPECT_TRUE(small.take(key, true));
    EXPECT_FALSE(small.take(3, true));

    sim::BlockCache cold(4, false);
    cold.hold_media(2);
    EXPECT_FALSE(cold.take(0, true));
}

TEST(FlatIndex, AgainstASet) {
    Prng prng(2);
    sim::FlatIndex index;
    std::set<std::uint64_t> set;
    for (int i = 0; i < 200'000; ++i) {
        const std::uint64_t key = prng.below(500) << (prng.below(2) * 32);
        ASSERT_EQ(index.find(key) != sim::FlatIndex::kNone, set.contains(key));
        if (prng.below(2) == 0) {
            ASSERT_EQ(index.erase(key), set.erase(key) == 1);
        } else if (set.insert(key).second) {
            index.insert(key, 1);
        }
        ASSERT_EQ(index.size(), set.size());
    }
}

TEST(SwitchPort, LosesWhatDoesNotFitAndSendsItAgain) {
    Bench bench;
    SwitchModel model;
    model.flow_control = false;
    model.port_buffer_bytes = 1000;
    model.segment_bytes = 100;
    model.retransmit_after = microseconds(5);
    sim::SwitchPort port(bench.calendar, model, sim::Rate::of(1e9));
    sim::Job& first = bench.job(1);
    first.port_rest = 1550;
    EXPECT_TRUE(port.enter(first, 0));
    EXPECT_EQ(first.port_rest, 550u);
    sim::Job& second = bench.job(2);
    second.port_rest = 10;
    EXPECT_FALSE(port.enter(second, 0)) << "the buffer is full";
    EXPECT_EQ(port.lost_segments(), 7u);
    bench.run();
    EXPECT_THAT(bench.times, ElementsAre(1000));
    EXPECT_EQ(port.send_again_at(first), Instant{5000});
    port.leave(first);
    EXPECT_TRUE(port.enter(second, 0));
    EXPECT_EQ(second.port_rest, 0u);
}

TEST(SwitchPort, FlowControlHoldsBackAndLosesNothing) {
    Bench bench;
    SwitchModel model;
    model.port_buffer_bytes = 10;
    sim::SwitchPort port(bench.calendar, model, sim::Rate::of(1e9));
    for (std::uint64_t i = 0; i < 5; ++i) {
        sim::Job& job = bench.job(i);
        job.port_rest = 1000;
        EXPECT_TRUE(port.enter(job, 0));
        EXPECT_EQ(job.port_rest, 0u);
    }
    bench.run();
    EXPECT_EQ(port.lost_segments(), 0u);
    EXPECT_EQ(bench.times.back(), 5000);
}

}  // namespace
}  // namespace streamsim
