// Shortages of this computer, and storage that vanished, by the evidence.
#include <gmock/gmock.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include "evidence_samples.h"
#include "judge/host_window.h"
#include "judge/judge.h"

namespace streamsim::judge {
namespace {

using test::drop;
using test::fail;
using test::good_run;
using test::kMs;
using testing::HasSubstr;
using testing::Not;

/// Samples of every 200 ms over 50 seconds of a computer's memory; nothing: the computer does not report it.
struct Memory {
    double pressure = 0;                 // of the time some task waits, anywhere
    std::optional<double> own_pressure;  // and in the control group of this process
    std::optional<double> hits_per_s;    // of a limit
    double io_pressure = 0;
};

SystemHistory memory_watched(const Memory& memory) {
    SystemHistory history;
    for (int i = 0; i <= 250; ++i) {
        SystemSample sample;
        sample.at_ns = i * 200 * kMs;
        const auto part = [i](double share) { return static_cast<std::int64_t>(share * i * 200e6); };
        sample.memory_pressure_ns = part(memory.pressure);
        if (memory.own_pressure) sample.own_memory_pressure_ns = part(*memory.own_pressure);
        if (memory.hits_per_s)
            sample.memory_limit_hits = static_cast<std::uint64_t>(*memory.hits_per_s * i / 5);
        sample.memory_limit_bytes = 94'371'840;
        sample.io_pressure_ns = part(memory.io_pressure);
        history.push_back(std::move(sample));
    }
    return history;
}

/// Slow, by what was measured after play.
Evidence slow_run(const Memory& memory) {
    Evidence evidence = good_run();
    drop(evidence, 200, &ReasonCounts::late);
    evidence.as_played = ProbeResult{"", 2, 1 << 20, 8, 100e6};
    evidence.more_in_flight = ProbeResult{"", 8, 1 << 20, 8, 101e6};
    evidence.system = memory_watched(memory);
    return evidence;
}

void expect_cause(const Evidence& evidence, Cause cause, Limit limit, const std::string& words) {
    const Judgement found = judge(evidence);
    ASSERT_FALSE(found.causes.empty());
    EXPECT_STREQ(to_string(found.causes.front().cause), to_string(cause));
    EXPECT_STREQ(to_string(found.verdict.limit), to_string(limit));
    EXPECT_THAT(found.verdict.reason + "; " + found.verdict.detail, HasSubstr(words));
}

TEST(ClientMemory, IsTheCauseWhereTasksWaitedForMemoryAndALimitWasMet) {
    const Evidence evidence = slow_run({.pressure = 0.135, .hits_per_s = 9'000});
    expect_cause(evidence, Cause::client_memory, Limit::client_cpu, "too little memory");
    const Verdict verdict = judge(evidence).verdict;
    EXPECT_THAT(verdict.reason, HasSubstr("cannot be held against the storage"));
    EXPECT_THAT(verdict.detail, HasSubstr("in 14 % of the time"));
    EXPECT_THAT(verdict.detail, HasSubstr("94.4 MB"));
    EXPECT_THAT(verdict.next, HasSubstr("more memory"));
}

TEST(ClientMemory, IsNotTheCauseWhereTheStorageIsSlow) {
    const auto is_bandwidth = [](const Memory& memory) {
        expect_cause(slow_run(memory), Cause::bandwidth, Limit::storage, "did not keep up");
    };
    is_bandwidth({.hits_per_s = 0, .io_pressure = 0.9});
    is_bandwidth({.pressure = 0.012, .hits_per_s = 9'000, .io_pressure = 0.9});  // a page cache that is full
    is_bandwidth({.pressure = 0.4, .hits_per_s = 0, .io_pressure = 0.9});        // another's shortage
    is_bandwidth({.pressure = 0.4, .own_pressure = 0.01, .hits_per_s = 50});     // seen in its own group
}

TEST(ClientMemory, IsUnknownWhereNobodySaysWhoMetALimit) {
    expect_cause(slow_run({.pressure = 0.3}), Cause::unknown, Limit::unknown, "too little memory");
    EXPECT_THAT(judge(slow_run({.pressure = 0.3})).verdict.detail,
                Not(HasSubstr("a memory limit was reached")));
    EXPECT_THAT(judge(slow_run({.pressure = 0.3})).verdict.next, HasSubstr("more memory"));
}

TEST(ClientMemory, IsJudgedWhenFramesWereMissed) {
    Evidence evidence = slow_run({.hits_per_s = 9'000});
    // Long after them, for a third of the run.
    for (SystemSample& sample : evidence.system)
        sample.memory_pressure_ns = std::max<std::int64_t>(sample.at_ns - 30'000 * kMs, 0);
    expect_cause(evidence, Cause::bandwidth, Limit::storage, "did not keep up");
}

TEST(ClientMemory, IsNotAskedForWhereTheProcessorsExplainIt) {
    Evidence evidence = slow_run({.pressure = 0.3});  // and nobody says who met a limit
    for (SystemSample& sample : evidence.system) {
        sample.run_queue_wait_ns = sample.cpu_pressure_ns = sample.at_ns;
        sample.cpu_ticks = static_cast<std::uint64_t>(sample.at_ns / 5'000'000);
    }
    expect_cause(evidence, Cause::client_cpu, Limit::client_cpu, "ran out of processor time");
}

TEST(ClientMemory, IsTheCauseOfFramesThatTheClientWasLateFor) {
    Evidence evidence = good_run();
    drop(evidence, 60, &ReasonCounts::client);
    evidence.loop_stalled_ns = 3'000 * kMs;
    evidence.system = memory_watched({.pressure = 0.4, .hits_per_s = 9'000});
    expect_cause(evidence, Cause::client_memory, Limit::client_cpu, "too little memory");
}

TEST(ClientMemory, IsLookedAtBesideAShortTime) {
    SystemHistory history = memory_watched({.hits_per_s = 0});
    for (SystemSample& sample : history)  // from 600 to 800 ms
        sample.memory_pressure_ns = std::clamp<std::int64_t>(sample.at_ns - 600 * kMs, 0, 200 * kMs);
    EXPECT_GT(memory_window(history, 1'000 * kMs, 1'010 * kMs).pressure.value_or(0), 0.1);
    EXPECT_EQ(memory_window(history, 1'600 * kMs, 1'610 * kMs).pressure.value_or(1), 0);
}

TEST(ClientShortages, OfPortsAreSaidSo) {
    Evidence evidence = good_run();
    fail(evidence, 300, &ReasonCounts::error);
    for (MissedFrame& each : evidence.missed) each.shortage = EADDRNOTAVAIL;
    expect_cause(evidence, Cause::client_resources, Limit::client_cpu, "no port or address left");
}

TEST(ClientShortages, AreNeverTheStorages) {
    for (const int error : {EMFILE, ENFILE}) {
        Evidence evidence = good_run();
        fail(evidence, 300, &ReasonCounts::error);
        for (MissedFrame& each : evidence.missed) each.shortage = error;
        expect_cause(evidence, Cause::client_resources, Limit::client_cpu, "no file descriptor left");
        EXPECT_THAT(judge(evidence).verdict.detail, HasSubstr(error == EMFILE ? "EMFILE: " : "ENFILE: "));
        EXPECT_THAT(judge(evidence).verdict.next, HasSubstr("ulimit -n"));
    }
    for (const int error : {ENOMEM, ENOBUFS}) {
        Evidence evidence = good_run();
        fail(evidence, 300, &ReasonCounts::error);
        for (MissedFrame& each : evidence.missed) each.shortage = error;
        expect_cause(evidence, Cause::client_memory, Limit::client_cpu, "too little memory");
    }
}

TEST(StorageGone, IsNoDamageOfTheMedia) {
    Evidence evidence = good_run();
    fail(evidence, 300, &ReasonCounts::missing);
    for (MissedFrame& each : evidence.missed) each.vanished = true;
    evidence.vanished.push_back({"/mnt/a/clip", "/mnt/a", "it is not there any more", 0, 1});
    expect_cause(evidence, Cause::storage_gone, Limit::storage, "/mnt/a vanished 1.2 s into play");
    const Verdict verdict = judge(evidence).verdict;
    EXPECT_THAT(verdict.reason, HasSubstr("it is not there any more"));
    EXPECT_THAT(verdict.detail, HasSubstr("the media are in /mnt/a/clip"));
    EXPECT_THAT(verdict.reason + verdict.detail, Not(HasSubstr("on any storage")));
}

TEST(StorageGone, FramesThatWereMissingBeforeStayTheMedias) {
    Evidence evidence = good_run();
    fail(evidence, 30, &ReasonCounts::missing);
    for (std::size_t i = 10; i < 30; ++i) evidence.missed[i].vanished = true;
    evidence.vanished.push_back({"/mnt/a", "/mnt/a", "it is not there any more", 0, 1});
    const Judgement found = judge(evidence);
    EXPECT_EQ(found.missed_causes[0], Cause::damaged_file);
    EXPECT_EQ(found.missed_causes[29], Cause::storage_gone);
}

}  // namespace
}  // namespace streamsim::judge
