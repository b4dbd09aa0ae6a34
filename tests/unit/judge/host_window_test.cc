#include "judge/host_window.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace streamsim::judge {
namespace {

constexpr std::int64_t kMs = 1'000'000;

SystemSample at(std::int64_t ms) {
    SystemSample sample;
    sample.at_ns = ms * kMs;
    return sample;
}

SystemSample carrying(std::int64_t ms, std::uint64_t received_bytes) {
    SystemSample sample = at(ms);
    sample.links = {{"lo", std::nullopt, 5'000}, {"eth0", 1'000'000'000, received_bytes}};
    return sample;
}

/// Two processors, each of 100 ticks a second: `busy` ticks since the beginning, `waited_ms` in the run queue.
SystemSample working(std::int64_t ms, std::uint64_t busy, std::int64_t waited_ms) {
    SystemSample sample = at(ms);
    sample.cpu_ticks = 1'000 + static_cast<std::uint64_t>(ms) / 5;
    sample.idle_ticks = *sample.cpu_ticks - 1'000 - busy;
    sample.run_queue_wait_ns = waited_ms * kMs;
    sample.cpu_pressure_ns = waited_ms * kMs * 2;
    return sample;
}

TEST(HostWindow, NothingIsKnownWithoutSamples) {
    const HostWindow none = host_window({}, 0, 1'000 * kMs);
    EXPECT_FALSE(none.processors_busy);
    EXPECT_FALSE(none.run_queue_wait);
    EXPECT_FALSE(none.rtt_ns);
    EXPECT_FALSE(host_window({at(100)}, 0, 1'000 * kMs).run_queue_wait) << "one sample is no span";
    EXPECT_EQ(network_path_facts({}).link, "");
    EXPECT_FALSE(link_busy({}, "eth0", 0, 1));
    EXPECT_TRUE(links_of({}).empty());
    EXPECT_FALSE(system_of({}).cpu_busy_percent);
}

TEST(HostWindow, TakesTheSamplesThatSpanTheTime) {
    // Busy between 1 s and 2 s only.
    const SystemHistory history{working(0, 0, 0), working(1'000, 0, 0), working(2'000, 200, 800),
                                working(3'000, 200, 800)};
    const HostWindow then = host_window(history, 1'100 * kMs, 1'900 * kMs);
    EXPECT_NEAR(*then.processors_busy, 1.0, 1e-9);
    EXPECT_NEAR(*then.run_queue_wait, 0.8, 1e-9);
    EXPECT_NEAR(*then.cpu_pressure, 1.6, 1e-9);
    EXPECT_EQ(then.run_queue_wait_ns, 800 * kMs);
    EXPECT_NEAR(*host_window(history, 2'000 * kMs, 2'900 * kMs).processors_busy, 0, 1e-9);
    EXPECT_NEAR(*host_window(history, 0, 3'000 * kMs).processors_busy, 1.0 / 3, 1e-9);
}

TEST(HostWindow, NoThreadWaitsLongerThanTheTime) {
    const SystemHistory history{working(0, 0, 0), working(3'000, 0, 0), working(4'000, 200, 3'200)};
    const HostWindow then = host_window(history, 3'100 * kMs, 3'900 * kMs);
    EXPECT_FALSE(then.run_queue_wait);
    EXPECT_FALSE(then.run_queue_wait_ns);
    EXPECT_NEAR(*then.processors_busy, 1.0, 1e-9);
    EXPECT_NEAR(*host_window(history, 0, 4'000 * kMs).run_queue_wait, 0.8, 1e-9)
        << "it may have waited so long";
    // Two threads that waited at the same time, and are counted in one sample after the other.
    const SystemHistory two{working(0, 0, 0), working(800, 160, 700), working(1'000, 200, 1'400)};
    EXPECT_NEAR(*host_window(two, 0, 1'000 * kMs).run_queue_wait, 1.4, 1e-9);
}

TEST(HostWindow, TimesOutsideTheHistoryHaveItsEnds) {
    const SystemHistory history{working(1'000, 0, 0), working(2'000, 200, 0)};
    EXPECT_NEAR(*host_window(history, 0, 10'000 * kMs).processors_busy, 1.0, 1e-9);
    EXPECT_FALSE(host_window(history, 5'000 * kMs, 6'000 * kMs).processors_busy) << "nothing was seen then";
}

TEST(HostWindow, WhatASampleDoesNotSayIsNotZero) {
    SystemSample silent = working(1'000, 100, 100);
    silent.run_queue_wait_ns.reset();
    silent.cpu_ticks.reset();
    const HostWindow then = host_window({working(0, 0, 0), silent}, 0, 1'000 * kMs);
    EXPECT_FALSE(then.run_queue_wait);
    EXPECT_FALSE(then.run_queue_wait_ns);
    EXPECT_FALSE(then.processors_busy);
    EXPECT_TRUE(then.cpu_pressure);
    for (const std::size_t without : {0U, 1U}) {
        SystemHistory history{working(0, 0, 100), working(1'000, 100, 200)};
        history[without].cpu_pressure_ns.reset();
        EXPECT_FALSE(host_window(history, 0, 1'000 * kMs).cpu_pressure) << without;
    }
}

TEST(HostWindow, TheRttIsTheMedianOfTheWindowAndItsMinimumOfTheWholeRun) {
    SystemHistory history;
    for (const std::int64_t us : {200, 9'000, 300, 8'000, 7'000, 100}) {
        history.push_back(at(static_cast<std::int64_t>(history.size()) * 200));
        history.back().rtt_ns = us * 1'000;
    }
    EXPECT_EQ(host_window(history, 200 * kMs, 800 * kMs).rtt_ns, 7'000'000);
    EXPECT_EQ(network_path_facts(history).rtt_min_ns, 100'000);
}

TEST(NetworkPathFacts, IsTheInterfaceThatReceivedMost) {
    SystemHistory history{carrying(0, 70'000'000), carrying(1'000, 132'500'000), carrying(2'000, 132'500'000)};
    history.back().links.push_back({"eth1", std::nullopt, 1'000});  // came up while it played
    history.back().connection = {"10.0.0.7", 60'000'000, 50'000, 900};
    const NetworkPathFacts facts = network_path_facts(history);
    EXPECT_EQ(facts.link, "eth0");
    EXPECT_EQ(facts.received_bytes, 62'500'000U) << "since the first sample";
    EXPECT_EQ(facts.bits_per_s, 1'000'000'000U);
    EXPECT_EQ(facts.peer, "10.0.0.7");
    EXPECT_EQ(facts.out_of_order, 900U);
    EXPECT_NEAR(*link_busy(history, "eth0", 0, 1'000 * kMs), 0.5, 1e-9);
    EXPECT_NEAR(*link_busy(history, "eth0", 0, 2'000 * kMs), 0.25, 1e-9);
    EXPECT_FALSE(link_busy(history, "lo", 0, 2'000 * kMs)) << "it does not say its speed";
    EXPECT_FALSE(link_busy(history, "eth7", 0, 2'000 * kMs));
}

TEST(NetworkPathFacts, ACounterThatBeganAnewIsNoTraffic) {
    const SystemHistory history{carrying(0, 70'000'000), carrying(1'000, 5'000)};
    EXPECT_EQ(network_path_facts(history).received_bytes, 0U);
    EXPECT_EQ(network_path_facts(history).link, "");
}

TEST(Path, IsWhatCountersGrewBy) {
    SystemHistory history{at(0), at(1'000), at(2'000), at(3'000)};
    history[1].path = {.peer = "10.0.0.7", .received_segments = 100, .quiet_ns = 7};
    history[2].path = {.peer = "10.0.0.7", .received_segments = 300, .out_of_order = 4, .quiet_ns = 9};
    history[3].path = {.peer = "10.0.0.8", .received_segments = 350, .out_of_order = 4, .quiet_ns = 20};
    EXPECT_EQ(path_span(history, 1'000 * kMs, 2'000 * kMs).received_segments, 200U);
    EXPECT_EQ(path_span(history, 1'000 * kMs, 2'000 * kMs).out_of_order, 4U);
    EXPECT_EQ(path_span(history, 1'000 * kMs, 2'000 * kMs).quiet_ns, 2);
    EXPECT_EQ(path_span(history, 0, 2'000 * kMs).received_segments, 300U) << "no server was known before";
    EXPECT_EQ(path_span(history, 2'000 * kMs, 3'000 * kMs).received_segments, 50U);
    EXPECT_EQ(path_span(history, 2'000 * kMs, 3'000 * kMs).quiet_ns, 11) << "of both servers";
    EXPECT_EQ(path_span(history, 0, 500 * kMs).received_segments, 100U) << "up to the sample behind it";
    EXPECT_EQ(path_span({}, 0, 1).received_segments, 0U);
}

TEST(NetworkPathFacts, WithoutPingsTheMinimumRttIsTheConnections) {
    SystemHistory history{at(0), at(200)};
    history[1].rtt_ns = 9 * kMs;
    history[1].rtt_min_ns = 100'000;
    EXPECT_EQ(network_path_facts(history).rtt_min_ns, 100'000);
}

TEST(Links, AreThoseThatReceivedSomethingWithTheirFullestMoment) {
    SystemHistory history{carrying(0, 0), carrying(1'000, 100'000'000), carrying(2'000, 100'000'000)};
    for (SystemSample& sample : history) sample.rtt_ns = sample.at_ns / 1'000 + 200'000;
    history.back().connection = {"10.0.0.7", 100'000'000, 70'000, 12};
    const std::vector<LinkEvidence> links = links_of(history);
    ASSERT_EQ(links.size(), 1U) << "lo received nothing while it played";
    EXPECT_EQ(links[0].name, "eth0");
    EXPECT_EQ(links[0].received_bytes, 100'000'000U);
    EXPECT_NEAR(links[0].busy_percent, 40, 1e-9);
    EXPECT_NEAR(links[0].busy_percent_max, 80, 1e-9);
    EXPECT_EQ(links[0].rtt_min_ns, 200'000);
    EXPECT_EQ(links[0].resent, 12U);
}

TEST(Links, AreAsBusyAsTheFullerDirection) {
    SystemHistory history{carrying(0, 0), carrying(1'000, 10'000'000)};
    history[1].links[1].sent_bytes = 100'000'000;
    EXPECT_NEAR(*link_busy(history, "eth0", 0, 1'000 * kMs), 0.8, 1e-9);
    EXPECT_EQ(network_path_facts(history).sent_bytes, 100'000'000U);
    EXPECT_EQ(links_of(history).front().sent_bytes, 100'000'000U);
    EXPECT_EQ(links_of(history).front().received_bytes, 10'000'000U);
}

TEST(HostWindow, CountersGrowFromTheirValueAtTheBeginning) {
    const HostWindow then = host_window({working(0, 0, 100), working(1'000, 0, 900)}, 0, 1'000 * kMs);
    EXPECT_EQ(then.run_queue_wait_ns, 800 * kMs);
    SystemHistory history{at(0), at(1'000)};
    history[0].memory_limit_hits = 5;
    history[1].memory_limit_hits = 7;
    EXPECT_EQ(memory_window(history, 0, 1'000 * kMs).limit_hits, 2U);
}

TEST(MemoryWindow, OneSampleIsNoSpan) {
    SystemSample sample = at(100);
    sample.memory_pressure_ns = 5;
    sample.memory_limit_hits = 5;
    const MemoryWindow then = memory_window({sample}, 0, 1'000 * kMs);
    EXPECT_FALSE(then.pressure);
    EXPECT_FALSE(then.limit_hits);
}

TEST(ComputerTimeline, HasTheRateOfEachInterval) {
    const SystemHistory history{carrying(0, 1'000), carrying(500, 50'001'000), carrying(1'500, 80'001'000)};
    const std::vector<ComputerInterval> intervals = computer_timeline(history, 100 * kMs, 10);
    ASSERT_EQ(intervals.size(), 2U);
    EXPECT_EQ(intervals[0].t_ns, -100 * kMs);
    EXPECT_EQ(intervals[0].interval_ns, 500 * kMs);
    EXPECT_EQ(intervals[0].received_bytes_per_s, 100'000'000U);
    EXPECT_EQ(intervals[1].received_bytes_per_s, 30'000'000U);
}

TEST(System, IsTheWholeHistoryInPercent) {
    const SystemEvidence system =
        system_of({working(0, 0, 0), working(1'000, 150, 50), working(2'000, 300, 100)});
    EXPECT_NEAR(*system.cpu_busy_percent, 75, 1e-9);
    EXPECT_EQ(system.run_queue_wait_ns, 100 * kMs);
    EXPECT_NEAR(*system.cpu_pressure_percent, 10, 1e-9);
    EXPECT_FALSE(system.io_pressure_percent);
    EXPECT_FALSE(system.memory_pressure_percent);
}

TEST(Suspensions, AreNotKnownFromOneReading) {
    SystemHistory history{at(0), at(1'000), at(2'000)};
    history[1].suspended_ns = 900 * kMs;
    EXPECT_TRUE(suspensions_of(history).empty());
}

TEST(Suspensions, AreLongerThanTwoClocksDifferAndHoldUpWhatComesAfterThem) {
    SystemHistory history(3);
    constexpr std::int64_t kSecond = 1'000'000'000;
    for (std::size_t i = 0; i < history.size(); ++i) {
        history[i].at_ns = static_cast<std::int64_t>(i) * kSecond;
        history[i].suspended_ns = i < 2 ? 0 : 99'000'000;
    }
    EXPECT_TRUE(suspensions_of(history).empty());
    history[2].suspended_ns = 100'000'000;
    const auto found = suspensions_of(history);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(suspended_in(found, 0, kSecond - 1), std::nullopt);
    EXPECT_EQ(suspended_in(found, 0, kSecond), 100'000'000);
    EXPECT_EQ(suspended_in(found, 12 * kSecond, 13 * kSecond), 100'000'000) << "it is waking up";
    EXPECT_EQ(suspended_in(found, 12 * kSecond + 1, 13 * kSecond), std::nullopt);
}

TEST(MemoryWindow, NothingIsKnownOfATimeBeforeTheHistory) {
    SystemHistory history{at(10'000), at(11'000)};
    for (SystemSample& sample : history) {
        sample.memory_limit_hits = 5;
        sample.memory_limit_bytes = 1 << 30;
    }
    EXPECT_FALSE(memory_window(history, 0, 1'000 * kMs).limit_bytes);
    EXPECT_TRUE(memory_window(history, 9'600 * kMs, 10'600 * kMs).limit_bytes);
}

}  // namespace
}  // namespace streamsim::judge
