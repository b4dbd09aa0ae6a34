// Little's law and work on every kind of queue that a cluster is made of, each alone and under loads by chance.
// The test counts on its own, to compare with the statistics: the arrival and the departure of each job.
#include <algorithm>
#include <deque>

#include "sim/parts/drive.h"
#include "sim/parts/station.h"
#include "sim/random_cluster.h"

namespace streamsim::test {
namespace {

constexpr std::uint64_t kJobs = 2000;
constexpr std::uint64_t kQueueSeeds = 60;

struct Arrival {
    std::int64_t at = 0;
    std::uint32_t flow = 0;
    Duration fixed;
    std::uint64_t load = 0;
    std::int64_t left = -1;
};

/// A time in which something is here, and how many.
struct Stretch {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t here = 0;
};

/// Lets jobs come to one part at their times, and writes down when it lets go of each.
class Queue final : public Reaper, public sim::JobOwner {
public:
    Queue() { loop.add_reaper(this); }
    ~Queue() override { loop.remove_reaper(this); }
    void reap() override {
        calendar.run_due([] { return true; });
    }
    Instant next() const override { return calendar.next(); }
    void advance(sim::Job& job) override { arrivals[job.bytes].left = calendar.now().ns; }
    void reroute(sim::Job&) override {}

    /// `enter` is called with each arrival and its job.
    template <typename Enter>
    void run(const Enter& enter) {
        struct Step {
            sim::Job job;
            const Arrival* arrival = nullptr;
            const Enter* enter = nullptr;
            void come() { (*enter)(*arrival, job); }
        };
        std::deque<Step> steps;
        for (std::size_t i = 0; i < arrivals.size(); ++i) {
            Step& step = steps.emplace_back();
            step.job.owner = this;
            step.job.bytes = i;
            step.arrival = &arrivals[i];
            step.enter = &enter;
            loop.at(Instant{arrivals[i].at}, Callback::of<&Step::come>(&step));
        }
        loop.run();
    }

    std::int64_t stays() const {
        std::int64_t sum = 0;
        for (const Arrival& arrival : arrivals) sum += arrival.left - arrival.at;
        return sum;
    }

    /// From what came and went alone.
    std::vector<Stretch> stretches() const {
        std::vector<std::pair<std::int64_t, int>> changes;
        for (const Arrival& arrival : arrivals) {
            changes.emplace_back(arrival.at, 1);
            changes.emplace_back(arrival.left, -1);
        }
        std::sort(changes.begin(), changes.end());
        std::vector<Stretch> out;
        std::int64_t here = 0;
        for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
            here += changes[i].second;
            if (here > 0 && changes[i + 1].first > changes[i].first) {
                out.push_back({changes[i].first, changes[i + 1].first, here});
            }
        }
        return out;
    }

    /// How long that many servers would be busy that are never idle while somebody waits.
    std::int64_t busy_if_conserved(std::int64_t servers) const {
        std::int64_t busy = 0;
        for (const Stretch& each : stretches()) busy += (each.to - each.from) * std::min(each.here, servers);
        return busy;
    }

    loop::

        VirtualLoop loop;
    sim::Calendar calendar{loop};
    std::vector<Arrival> arrivals;
};

std::vector<Arrival> random_arrivals(Prng& prng, std::uint32_t flows) {
    std::vector<Arrival> arrivals(kJobs);
    const std::uint64_t apart = 1 + prng.below(200'000);
    std::int64_t at = 0;
    for (Arrival& arrival : arrivals) {
        // Some at once, and now and then a rest.
        at += prng.below(4) == 0 ? 0 : static_cast<std::int64_t>(prng.below(apart));
        if (prng.below(100) == 0) at += 1'000'000;
        arrival.at = at;
        arrival.flow = static_cast<std::uint32_t>(prng.below(flows));
        arrival.fixed = nanoseconds(static_cast<std::int64_t>(prng.below(1000)));
        arrival.load = prng.below(100'000);
    }
    return arrivals;
}

/// Little's law, twice. L = lambda * W, times the time: the integral of the statistics is the sum of the stays
/// to the nanosecond. And the mean of how many are here at regular instants is that within one spacing for each
/// job: a stay is seen as the number of instants in it.
void expect_littles_law(const sim::StationStats& stats, Queue& queue) {
    EXPECT_EQ(stats.queue_ns(), queue.stays());
    EXPECT_EQ(stats.stay_ns(), queue.stays());
    EXPECT_EQ(stats.departures(), queue.arrivals.size());
    PartStats all;
    stats.fill(all, Instant{}, queue.loop.now());
    EXPECT_EQ(all.queue_ns, queue.stays()) << "by the second as in all";
    EXPECT_EQ(all.busy_ns, stats.busy_ns());
    constexpr std::int64_t kInstants = 20'000;
    const std::int64_t apart = std::max<std::int64_t>(queue.loop.now().ns / kInstants, 1);
    std::int64_t seen = 0;
    for (const Stretch& each : queue.stretches()) {
        const std::int64_t instants = (each.to + apart - 1) / apart - (each.from + apart - 1) / apart;
        seen += instants * each.here;
    }
    const auto bound = apart * static_cast<std::int64_t>(queue.arrivals.size());
    EXPECT_LE(std::abs(seen * apart - stats.queue_ns()), bound);
}

TEST(QueueLaws, AStationOfAnyKindKeepsLittlesLawAndIsNeverIdleWhileSomethingWaits) {
    for (std::uint64_t seed = 0; seed < kQueueSeeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Prng prng(seed);
        Queue queue;
        sim::StationOptions options;
        options.servers = static_cast<std::uint32_t>(1 + prng.below(4));
        options.rate = sim::Rate::of(between(prng, 1e8, 4e9));
        options.fair = prng.below(2) == 0;
        sim::Station station(queue.calendar, options);
        queue.arrivals = random_arrivals(prng, 5);
        queue.run(
            [&](const Arrival& each, sim::Job& job) { station.enter(job, each.flow, each.fixed, each.load); });
        expect_littles_law(station.stats(), queue);
        std::int64_t work = 0;
        for (const Arrival& each : queue.arrivals) work += (each.fixed + station.rate().time(each.load)).ns;
        EXPECT_EQ(station.stats().busy_ns(), work);
        EXPECT_EQ(queue.busy_if_conserved(options.servers), work);
    }
}

/// When each was served by one server: urgent ones in their order as if they were alone, the others in what
/// they leave. Lindley's recursion, with what is taken out of the time.
std::vector<std::int64_t> with_interruptions(const std::vector<Arrival>& arrivals, const sim::Rate& rate) {
    struct Taken {
        std::int64_t from, to;
    };
    std::vector<Taken> taken;
    std::vector<std::int64_t> left(arrivals.size());
    std::int64_t end = 0;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
        if (arrivals[i].flow != 0) continue;
        const std::int64_t from = std::max(end, arrivals[i].at);
        end = left[i] = from + (arrivals[i].fixed + rate.time(arrivals[i].load)).ns;
        taken.push_back({from, end});
    }
    std::size_t next = 0;
    std::int64_t now = 0;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
        if (arrivals[i].flow == 0) continue;
        now = std::max(now, arrivals[i].at);
        std::int64_t rest = (arrivals[i].fixed + rate.time(arrivals[i].load)).ns;
        for (; next < taken.size() && taken[next].from < now + rest; ++next) {
            rest -= std::max<std::int64_t>(0, taken[next].from - now);
            now = std::max(now, taken[next].to);
        }
        left[i] = now += rest;
    }
    return left;
}

TEST(QueueLaws, WhatIsUrgentWaitsForNothingElseAndInterruptsWithoutLosingWork) {
    for (std::uint64_t seed = 0; seed < kQueueSeeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Prng prng(seed);
        Queue queue;
        const sim::Rate rate = sim::Rate::of(between(prng, 1e8, 4e9));
        sim::Station station(queue.calendar, {1, rate, true, true});
        const bool one_decoder = seed % 2 == 0;  // then it is known when each of its frames is ready
        queue.arrivals = random_arrivals(prng, one_decoder ? 2 : 5);
        queue.run(
            [&](const Arrival& each, sim::Job& job) { station.enter(job, each.flow, each.fixed, each.load); });
        expect_littles_law(station.stats(), queue);
        std::int64_t work = 0;
        for (const Arrival& each : queue.arrivals) work += (each.fixed + rate.time(each.load)).ns;
        EXPECT_EQ(station.stats().busy_ns(), work);
        EXPECT_EQ(queue.busy_if_conserved(1), work);
        const std::vector<std::int64_t> expected = with_interruptions(queue.arrivals, rate);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            if (!one_decoder && queue.arrivals[i].flow != 0) continue;
            ASSERT_EQ(queue.arrivals[i].left, expected[i]) << i << ", flow " << queue.arrivals[i].flow;
        }
    }
}

/// A pause is a fault: the station begins nothing in it, and is idle at no other time.
TEST(QueueLaws, InAPauseNothingBeginsAndAfterItNothingRests) {
    for (std::uint64_t seed = 0; seed < kQueueSeeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Prng prng(seed);
        Queue queue;
        const sim::Rate rate = sim::Rate::of(between(prng, 1e8, 4e9));
        sim::Station station(queue.calendar, {1, rate, false});
        queue.arrivals = random_arrivals(prng, 1);
        const auto last = static_cast<std::uint64_t>(queue.arrivals.back().at);
        const Instant from{static_cast<std::int64_t>(prng.below(last))};
        const Instant until = from + nanoseconds(static_cast<std::int64_t>(prng.below(10'000'000)));
        struct Pause {
            sim::Station* station;
            Instant until;
            void begin() { station->pause(until); }
        } pause{&station, until};
        queue.loop.at(from, Callback::of<&Pause::begin>(&pause));
        queue.run([&](const Arrival& each, sim::Job& job) { station.enter(job, 0, each.fixed, each.load); });
        expect_littles_law(station.stats(), queue);
        std::int64_t free_at = 0;
        for (const Arrival& each : queue.arrivals) {
            std::int64_t begin = std::max(free_at, each.at);
            if (begin >= from.ns) begin = std::max(begin, until.ns);
            free_at = begin + (each.fixed + rate.time(each.load)).ns;
            ASSERT_EQ(each.left, free_at);
        }
    }
}

DriveModel random_disk(Prng& prng) {
    DriveModel model;
    model.outer_bytes_per_s = 200e6;
    model.inner_bytes_per_s = 90e6;
    model.rotations_per_s = 120;
    model.seek_track = microseconds(500);
    model.seek_full = milliseconds(16);
    model.capacity_bytes = 1'000'000'000'000;
    model.reorder = static_cast<std::uint32_t>(1 + prng.below(64));
    model.access = {microseconds(200), 0.2, 0.01, milliseconds(5)};
    return model;
}

TEST(QueueLaws, ADriveOfAnyKindKeepsThemToo) {
    for (std::uint64_t seed = 0; seed < kQueueSeeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Prng prng(seed);
        Queue queue;
        DriveModel model = random_disk(prng);
        if (seed % 2 == 0) {
            model.kind = DriveModel::Kind::flash;
            model.channels = static_cast<std::uint32_t>(1 + prng.below(8));
        }
        const auto drive = sim::make_drive(queue.calendar, model);
        queue.arrivals = random_arrivals(prng, 1);
        const auto slower = static_cast<std::int64_t>(1 + prng.below(200));  // from crowds to loneliness
        for (Arrival& each : queue.arrivals) each.at *= slower;
        std::int64_t least = 0;  // no drive is faster than its bytes at its best rate
        for (const Arrival& each : queue.arrivals) least += drive->part().rate().time(each.load).ns;
        queue.run([&](const Arrival& each, sim::Job& job) {
            drive->enter(job, prng.below(model.capacity_bytes), each.load, prng.next());
        });
        expect_littles_law(drive->part().stats(), queue);
        EXPECT_EQ(drive->part().stats().busy_ns(), queue.busy_if_conserved(drive->part().servers()));
        EXPECT_GE(drive->part().stats().busy_ns(), least);
    }
}

}  // namespace
}  // namespace streamsim::test
