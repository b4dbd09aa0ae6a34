// Traffic that was made by a rule: what is learnt is the rule.
#include "profile/learning/learn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/prng.h"
#include "profile/learning/fit.h"
#include "profile/learning/workload_writer.h"
#include "scenario/workload_document.h"

namespace streamsim::profile {
namespace {

constexpr std::int64_t kMs = 1'000'000;

struct Maker {
    Traffic traffic;

    Maker() {
        traffic.source = "test";
        traffic.recorder = "strace";
        traffic.users.push_back({"player"});
    }
    std::uint32_t file(const std::string& name, std::uint64_t bytes) {
        traffic.files.push_back({name, bytes, 0, true});
        return static_cast<std::uint32_t>(traffic.files.size() - 1);
    }
    std::uint32_t session(std::uint32_t file) {
        traffic.sessions.push_back({file, false, false});
        return static_cast<std::uint32_t>(traffic.sessions.size() - 1);
    }
    void add(TrafficKind kind,
             std::int64_t begin_ns,
             std::int64_t ns,
             std::uint32_t file,
             std::uint32_t session,
             std::uint64_t offset = 0,
             std::uint64_t bytes = 0) {
        traffic.operations.push_back({begin_ns, ns, 0, file, session, kind, false, offset, bytes});
    }
    LearntMeter learnt() {
        const auto profile = learn(traffic, "test");
        EXPECT_TRUE(profile) << profile.error().problems.front();
        EXPECT_EQ(profile->meters.size(), 1u);
        return profile->meters.front();
    }
};

double weight(const MeterSpec& spec, LoadOperation operation) {
    return spec.weights[static_cast<std::size_t>(operation)];
}

/// 48 frames of 200,000 bytes in blocks of 64 KiB, each with a question before.
Maker sequence(std::int64_t period_ns, std::uint64_t ahead) {
    Maker make;
    for (std::uint64_t i = 0; i < 48; ++i) {
        const auto file = make.file("/m/f." + std::to_string(1000 + i) + ".dpx", 200'000);
        std::int64_t now = static_cast<std::int64_t>(i < ahead ? 0 : i - ahead) * period_ns +
                           static_cast<std::int64_t>(std::min(i, ahead)) * 2 * kMs;
        make.add(TrafficKind::stat, now, 10'000, file, kNoSession);
        const auto session = make.session(file);
        make.add(TrafficKind::open, now += 20'000, 10'000, file, session);
        for (std::uint64_t at = 0; at < 200'000; at += 65'536)
            make.add(TrafficKind::read, now += 100'000, 90'000, file, session, at,
                     std::min<std::uint64_t>(65'536, 200'000 - at));
    }
    return make;
}

TEST(Learn, AFramePerFileIsATransferWithItsOpen) {
    const LearntMeter meter = sequence(0, 48).learnt();
    EXPECT_TRUE(meter.spec.whole_files);
    EXPECT_EQ(weight(meter.spec, LoadOperation::read), 48);
    EXPECT_EQ(weight(meter.spec, LoadOperation::stat), 48);
    EXPECT_EQ(weight(meter.spec, LoadOperation::open), 0);
    ASSERT_EQ(meter.spec.blocks.size(), 2u);
    EXPECT_EQ(meter.spec.blocks[0].bytes, 200'000u % 65'536);
    EXPECT_EQ(meter.spec.blocks[0].weight, 0);
    EXPECT_EQ(meter.spec.blocks[1].bytes, 65'536u);
    EXPECT_TRUE(meter.spec.lengths.empty());
    EXPECT_EQ(meter.spec.set.files, 48u);
    EXPECT_EQ(meter.spec.set.file_bytes, 200'000u);
    EXPECT_EQ(meter.spec.random_share, 0);
    EXPECT_EQ(meter.sequence, "a sequence of 48 files /m/f.####.dpx, each read whole in 4 reads");
}

/// The share of random transfers where these files are read whole, one after the other.
double random_share(const std::vector<std::string>& names) {
    Maker make;
    std::int64_t now = 0;
    for (const std::string& name : names) {
        const auto file = make.file("/m/" + name, 4096);
        const auto session = make.session(file);
        make.add(TrafficKind::open, now += 40 * kMs, 10'000, file, session);
        make.add(TrafficKind::read, now + 20'000, 90'000, file, session, 0, 4096);
    }
    const MeterSpec spec = make.learnt().spec;
    EXPECT_TRUE(spec.whole_files);
    return spec.random_share;
}

TEST(Learn, FramesOfSequencesAreRandomWhereTheyJump) {
    const auto frame = [](const char* sequence, int number) {
        return sequence + std::to_string(1000 + number) + ".j2c";
    };
    std::vector<std::string> two, swapped, back, anywhere, clips;
    for (int i = 0; i < 200; ++i) {
        two.push_back(frame(i % 2 == 0 ? "a." : "b.", i / 2));
        swapped.push_back(frame("a.", i ^ 1));  // by two threads
        back.push_back(frame("a.", 199 - i));
        anywhere.push_back(frame("a.", i * 73 % 200));
    }
    for (int i = 0; i < 26; ++i) clips.push_back(std::string(1, static_cast<char>('a' + i * 7 % 26)) + ".mov");
    for (const auto& in_order : {two, swapped, back}) EXPECT_EQ(random_share(in_order), 0) << in_order[0];
    for (const auto& jumps : {anywhere, clips}) EXPECT_GT(random_share(jumps), 0.9) << jumps[0];
}

/// As NFSv3 shows a client that knows the names.
TEST(Learn, AFrameWithoutAnOpenIsATransferWhereItIsReadToItsEnd) {
    for (const std::uint64_t more : {0u, 1u}) {
        Maker make = sequence(0, 48);
        std::erase_if(make.traffic.operations, [](const auto& at) { return at.kind == TrafficKind::open; });
        for (TrafficFile& file : make.traffic.files) file.bytes += more;
        EXPECT_FALSE(make.learnt().spec.whole_files) << "opened before the trace";
        for (TrafficSession& session : make.traffic.sessions) session.unopened = true;
        EXPECT_EQ(make.learnt().spec.whole_files, more == 0);
    }
}

TEST(Learn, AFileThatNoWorkloadCanHaveIsAnError) {
    for (const std::uint64_t more : {0u, 1u}) {
        Maker make;
        const auto file = make.file("/m/a\nb", kLoadFileBytesMax + more);
        make.add(TrafficKind::read, 0, kMs, file, kNoSession, 0, 4096);
        const auto profile = learn(make.traffic, "x");
        EXPECT_EQ(profile.has_value(), more == 0);
        if (!profile) {
            EXPECT_THAT(profile.error().problems.front(),
                        testing::HasSubstr("has 1125899906842625 bytes in it"));
        }
    }
}

TEST(Learn, OperationsThatAllBeginAtOnceFollowNoClock) {
    Maker make;
    const auto file = make.file("/m/a", 400 * 4096);
    for (std::uint64_t i = 0; i < 400; ++i)
        make.add(TrafficKind::write, 0, 0, file, kNoSession, i * 4096, 4096);
    EXPECT_EQ(make.learnt().spec.loop, MeterSpec::Loop::closed);
}

TEST(Learn, AWriteOfNothingIsNoTransfer) {
    Maker make;
    make.add(TrafficKind::write, 0, kMs, make.file("/m/a", 0), kNoSession, 0, 0);
    EXPECT_FALSE(learn(make.traffic, "x"));
    const auto file = make.file("/m/b", 4096);
    make.add(TrafficKind::read, kMs, kMs, file, kNoSession, 0, 4096);
    EXPECT_EQ(weight(make.learnt().spec, LoadOperation::write), 0);
}

TEST(Learn, EmptyFilesThatAreReadWholeMoveNothing) {
    Maker make;
    for (int i = 0; i < 3; ++i) {
        const auto file = make.file("/m/" + std::to_string(i), 0);
        const auto session = make.session(file);
        make.add(TrafficKind::open, i * kMs, 10'000, file, session);
        make.add(TrafficKind::read, i * kMs + 20'000, 90'000, file, session);
    }
    const auto profile = learn(make.traffic, "test");
    ASSERT_TRUE(profile) << profile.error().problems.front();
    EXPECT_FALSE(profile->meters.front().spec.whole_files);
    EXPECT_EQ(weight(profile->meters.front().spec, LoadOperation::open), 3);
    EXPECT_TRUE(scenario::read_workload(json_text(workload_document(profile->workload), 2), "test"));
}

TEST(Learn, WritesThatAllFailedAreNone) {
    Maker make = sequence(0, 48);
    for (int i = 0; i < 10; ++i) {
        const auto file = make.file("/n/" + std::to_string(i), 0);
        const auto session = make.session(file);
        const std::int64_t begin_ns = 1'000 * kMs + i * kMs;
        make.add(TrafficKind::open, begin_ns, 10'000, file, session);
        make.add(TrafficKind::write, begin_ns + 20'000, 90'000, file, session);
        make.traffic.operations.back().failed = true;
    }
    const auto profile = learn(make.traffic, "test");
    ASSERT_TRUE(profile) << profile.error().problems.front();
    ASSERT_EQ(profile->meters.size(), 1u);
    EXPECT_TRUE(profile->meters.front().spec.whole_files);
    EXPECT_EQ(weight(profile->meters.front().spec, LoadOperation::write), 0);
    EXPECT_FALSE(profile->meters.front().spec.writes);
    const auto read = scenario::read_workload(json_text(workload_document(profile->workload), 2), "test");
    EXPECT_TRUE(read) << read.error().problems.front();
}

TEST(Learn, FilesWithoutADirectoryAreInOne) {
    Maker make;
    for (const char* name : {"a", "b", "c"}) {
        const auto file = make.file(name, 4096);
        make.add(TrafficKind::read, file * 10 * kMs, kMs, file, kNoSession, 0, 4096);
    }
    const LearntMeter meter = make.learnt();
    EXPECT_EQ(meter.spec.set.files, 3u);
    EXPECT_EQ(meter.spec.set.directories, 1u);
}

TEST(Learn, APlayerIsAnOpenLoopAtItsRateWithItsReadAhead) {
    const LearntMeter meter = sequence(40 * kMs, 8).learnt();
    EXPECT_EQ(meter.spec.loop, MeterSpec::Loop::open);
    EXPECT_EQ(meter.spec.arrival, MeterSpec::Arrival::constant);
    EXPECT_NEAR(meter.spec.operations_per_s, 2 * 25, 0.5);  // each frame with its question
    ASSERT_TRUE(meter.read_ahead);
    EXPECT_NEAR(meter.read_ahead->transfers, 8.6, 0.7);
    EXPECT_NEAR(meter.read_ahead->seconds, 8.6 / 25, 0.03);
}

TEST(Learn, ACopyReadsAndWritesWholeFilesInSizesOfTheirOwn) {
    Maker make;
    const auto from = make.file("/m/a", 1 << 20), to = make.file("/n/a", 1 << 20);
    const auto reads = make.session(from), writes = make.session(to);
    std::int64_t now = 0;
    make.add(TrafficKind::open, now, 1000, from, reads);
    make.add(TrafficKind::open, now += 2000, 1000, to, writes);
    for (std::uint64_t at = 0; at < 1 << 20; at += 131'072) {
        make.add(TrafficKind::read, now += 30'000, 20'000, from, reads, at, 131'072);
        for (std::uint64_t part = 0; part < 131'072; part += 32'768) {
            // On a slow disk; that the next read waits for it is no pace of the reader's.
            make.add(TrafficKind::write, now += 30'000, 20 * kMs, to, writes, at + part, 32'768);
            now += 20 * kMs;
        }
    }
    const LearntMeter meter = make.learnt();
    EXPECT_TRUE(meter.spec.whole_files);
    EXPECT_EQ(weight(meter.spec, LoadOperation::read), 1);
    EXPECT_EQ(weight(meter.spec, LoadOperation::write), 1);
    EXPECT_EQ(meter.spec.blocks.front().bytes, 131'072u);
    ASSERT_TRUE(meter.spec.writes);
    EXPECT_EQ(meter.spec.writes->blocks.front().bytes, 32'768u);
    EXPECT_EQ(meter.spec.loop, MeterSpec::Loop::closed);
}

TEST(Learn, AContainerReadInBurstsKeepsItsPace) {
    Maker make;
    const auto file = make.file("/m/clip.mov", 1 << 30);
    const auto session = make.session(file);
    make.add(TrafficKind::open, 0, 1000, file, session);
    std::uint64_t at = 0;
    for (int frame = 0; frame < 100; ++frame) {
        for (int block = 0; block < 8; ++block, at += 262'144)
            make.add(TrafficKind::read, frame * 40 * kMs + block * kMs, kMs - 10'000, file, session, at,
                     262'144);
    }
    const LearntMeter meter = make.learnt();
    EXPECT_FALSE(meter.spec.whole_files);
    ASSERT_EQ(meter.spec.lengths.size(), 1u);
    EXPECT_EQ(meter.spec.lengths.front().bytes, 8 * 262'144u);
    EXPECT_EQ(meter.spec.blocks.front().bytes, 262'144u);
    EXPECT_EQ(weight(meter.spec, LoadOperation::read), 100);
    EXPECT_EQ(meter.spec.loop, MeterSpec::Loop::open);
    EXPECT_EQ(meter.spec.random_share, 0);
}

/// Random reads of 4 KiB that begin at the times that `next` gives.
template <typename Next>
LearntMeter random_reads(std::int64_t service_ns, Next next) {
    Maker make;
    const auto file = make.file("/m/db", std::uint64_t{1} << 40);
    const auto session = make.session(file);
    Prng prng(7);
    std::int64_t now = 0;
    for (int i = 0; i < 2000; ++i) {
        make.add(TrafficKind::read, now, service_ns, file, session, 4096 + prng.below(1 << 28) * 4096, 4096);
        now = next(prng, now);
    }
    return make.learnt();
}

TEST(Learn, ArrivalsAtRandomArePoisson) {
    for (const std::int64_t service : {kMs / 100, 20 * kMs}) {
        const LearntMeter meter = random_reads(service, [](Prng& prng, std::int64_t now) {
            return now + static_cast<std::int64_t>(-std::log(1 - prng.unit()) * 5e6);
        });
        EXPECT_EQ(meter.spec.loop, MeterSpec::Loop::open) << service;
        EXPECT_EQ(meter.spec.arrival, MeterSpec::Arrival::poisson) << service;
        EXPECT_NEAR(meter.spec.operations_per_s, 200, 15) << service;
        EXPECT_EQ(meter.spec.random_share, 1) << service;
    }
}

TEST(Learn, OneAfterTheOtherIsAClosedLoopWithWhatItDoesBetween) {
    const LearntMeter meter = random_reads(2 * kMs, [](Prng& prng, std::int64_t now) {
        return now + 2 * kMs + static_cast<std::int64_t>(prng.below(6 * kMs));
    });
    EXPECT_EQ(meter.spec.loop, MeterSpec::Loop::closed);
    EXPECT_EQ(meter.spec.inflight, 1u);
    EXPECT_NEAR(static_cast<double>(meter.spec.think_time.ns), 3e6, 2e5);
}

TEST(Learn, AClockIsKnownFromAboutTheSameTimeEachTime) {
    // At the beats of a clock, somewhat late each time; and after a pause that differs as much.
    int beat = 0;
    const LearntMeter clock = random_reads(kMs, [&](Prng& prng, std::int64_t) {
        return ++beat * 40 * kMs + static_cast<std::int64_t>(prng.below(6 * kMs));
    });
    const LearntMeter work = random_reads(kMs, [](Prng& prng, std::int64_t now) {
        return now + 37 * kMs + static_cast<std::int64_t>(prng.below(6 * kMs));
    });
    EXPECT_EQ(clock.spec.loop, MeterSpec::Loop::open);
    EXPECT_NEAR(clock.spec.operations_per_s, 25, 0.1);
    EXPECT_EQ(work.spec.loop, MeterSpec::Loop::closed);
    EXPECT_NEAR(static_cast<double>(work.spec.think_time.ns), 39e6, 2e5);
}

TEST(Learn, FourThatBeginAsSoonAsOneEndsAreAClosedLoopOfFour) {
    Maker make;
    const auto file = make.file("/m/db", std::uint64_t{1} << 40);
    const auto session = make.session(file);
    Prng prng(3);
    std::vector<std::int64_t> places(4, 0);
    for (int i = 0; i < 2000; ++i) {
        auto first = std::min_element(places.begin(), places.end());
        const auto service = static_cast<std::int64_t>(kMs + prng.below(4 * kMs));
        make.add(TrafficKind::read, *first, service, file, session, 4096 + prng.below(1 << 28) * 4096, 4096);
        *first += service + 1000;
    }
    const LearntMeter meter = make.learnt();
    EXPECT_EQ(meter.spec.loop, MeterSpec::Loop::closed);
    EXPECT_EQ(meter.spec.inflight, 4u);
    EXPECT_EQ(meter.spec.think_time.ns, 0);
}

TEST(Learn, NoMoreAreInFlightThanAWorkloadMayHave) {
    Maker make;
    const auto file = make.file("/m/a", 15'000 * 4096);
    for (std::uint64_t i = 0; i < 15'000; ++i)
        make.add(TrafficKind::read, static_cast<std::int64_t>(i), 1000 * kMs, file, kNoSession, i * 4096, 4096);
    const auto profile = learn(make.traffic, "test");
    ASSERT_TRUE(profile);
    EXPECT_EQ(profile->meters[0].spec.inflight, kLoadInflightMax);
    EXPECT_THAT(profile->meters[0].notes, testing::ElementsAre(testing::HasSubstr("the document has 10,000")));
    EXPECT_TRUE(scenario::read_workload(json_text(workload_document(profile->workload), 2), "test"));
}

/// Beside 48 s of others, and the times of its meter.
MeterSpec of_one_read_that_takes_no_time(std::int64_t at_ns) {
    Maker make = sequence(1000 * kMs, 0);
    make.traffic.users.push_back({"late"});
    const auto file = make.file("/m/late.dpx", 4096);
    const auto session = make.session(file);
    make.traffic.operations.push_back({at_ns, 0, 1, file, session, TrafficKind::read, false, 0, 4096});
    const auto profile = learn(make.traffic, "test");
    EXPECT_TRUE(profile) << profile.error().problems.front();
    EXPECT_EQ(profile->meters.size(), 2u);
    const auto& meters = profile->meters;
    return meters[meters.front().operations.front().user == 1 ? 0 : 1].spec;
}

TEST(Learn, WhatTakesNoTimeHasASecondOfTheWorkload) {
    const MeterSpec last = of_one_read_that_takes_no_time(50'000 * kMs);
    EXPECT_EQ(last.start, seconds(49)) << "the workload has 50 s";
    EXPECT_FALSE(last.end);
    const MeterSpec between = of_one_read_that_takes_no_time(30'000 * kMs);
    EXPECT_EQ(between.start, seconds(30));
    EXPECT_EQ(between.end, seconds(31));
}

TEST(Learn, NothingThatCountsIsBadInput) {
    const auto profile = learn(Traffic{}, "test");
    ASSERT_FALSE(profile);
    EXPECT_THAT(profile.error().problems.front(), testing::HasSubstr("--only"));
}

TEST(Behaviour, SeveralInFlightAreSequentialInAnyOrder) {
    Maker make;
    const auto file = make.file("/m/a", 1 << 20);
    for (std::uint64_t i = 0; i < 64; ++i)
        make.add(TrafficKind::read, static_cast<std::int64_t>(i) * 1000, 4000, file, kNoSession, i * 4096,
                 4096);
    const Behaviour all = behaviour_of(make.traffic.operations);
    EXPECT_EQ(all.reads.sequential, 64u);
    EXPECT_NEAR(all.in_flight_mean, 4, 0.3);
    EXPECT_EQ(all.in_flight_max, 4);
}

TEST(Behaviour, TooManySizesAreGroupedByPowersOfTwo) {
    SizeCounts sizes{{4096, 100}};
    for (std::uint64_t bytes = 1025; bytes < 1025 + 100; ++bytes) sizes[bytes] = 1;
    const SizeCounts few = few_sizes(sizes, 1);
    EXPECT_EQ(few, (SizeCounts{{1074, 100}, {4096, 100}}));
}

TEST(Fit, OtherSizesMixesAndRatesDoNotFit) {
    Maker one, other, third;
    for (Maker* each : {&one, &other, &third}) each->file("/m/a", 1 << 30);
    for (int i = 0; i < 2000; ++i) {
        const auto at = static_cast<std::uint64_t>(i) * 4096;
        one.add(TrafficKind::read, i * kMs, kMs / 2, 0, kNoSession, at, 4096);
        other.add(TrafficKind::read, i * kMs, kMs / 2, 0, kNoSession, at, i % 5 == 0 ? 2048 : 4096);
        third.add(i % 5 == 0 ? TrafficKind::stat : TrafficKind::read, i * 2 * kMs, kMs / 2, 0, kNoSession, at,
                  4096);
    }
    const auto behaviour = [](const Maker& maker) { return behaviour_of(maker.traffic.operations); };
    const auto misfits = [](const Fit& fit) {
        std::vector<std::string> out;
        for (const FitLine& line : fit.lines)
            if (!line.fits()) out.push_back(line.name);
        return out;
    };
    EXPECT_TRUE(compare(behaviour(one), behaviour(one)).fits());
    EXPECT_THAT(misfits(compare(behaviour(one), behaviour(other))), testing::Contains("read blocks"));
    EXPECT_THAT(misfits(compare(behaviour(one), behaviour(third))),
                testing::IsSupersetOf({"operation mix", "rate", "in flight"}));
}

}  // namespace
}  // namespace streamsim::profile
