// Whole runs on null storage: the same engine as on real storage, in real and in virtual time.
#include "run/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <thread>

#include "judge/causes.h"
#include "judge/claims/prove.h"
#include "judge/judge.h"
#include "report/facts/headline.h"
#include "result/json_report.h"
#include "result/result_reader.h"
#include "run/conclude/result_builder.h"
#include "seats/start_barrier.h"
#include "target/target_locations.h"
#include "unit/run/sessions.h"

namespace streamsim::run {
namespace {

using test::request_on;
using test::result_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// 50 ms more for some frames, by chance.
storage::FaultPlan chance() {
    storage::FaultPlan plan;
    storage::FaultRule rule;
    rule.operation = storage::FaultRule::Operation::read;
    rule.probability = 0.1;
    rule.delay = milliseconds(50);
    plan.rules.push_back(rule);
    return plan;
}

/// Three streams that miss frames by chance.
PlayRequest request_by_chance() {
    PlayRequest request = request_on("sim:null", {"prores-hd"});
    request.streams = 3;
    request.readahead = 1;
    request.faults = chance();
    return request;
}

TEST(SessionInVirtualTime, OneSeedGivesOneDigestInEveryBuildAndAnotherSeedAnother) {
    PlayRequest request = request_by_chance();
    const RunResult first = result_of(request);
    // These two are compared in each build that runs the tests: release, dev and tsan.
    EXPECT_EQ(first.digest, "74597185c22112aa54a2b58faf597e72");
    EXPECT_EQ(first.timing_digest, "92a04e661d9bcb7075293d88da6f8031");
    EXPECT_GT(first.totals.dropped, 10u);
    EXPECT_EQ(result_of(request).timing_digest, first.timing_digest);
    request.seed = 2;
    const RunResult second = result_of(request);
    EXPECT_NE(second.digest, first.digest);
    EXPECT_NE(second.timing_digest, first.timing_digest);
}

TEST(SessionInVirtualTime, PlayWithinItsReadAheadTellsNothing) {
    PlayRequest request = request_on("sim:null", {"prores-hd"});
    for (const bool records : {false, true}) {
        if (records) {
            std::swap(request.formats, request.record.formats);
            request.streams = 0;
            request.record.streams = 1;
        }
        for (const std::uint32_t more : {0U, 1U}) {
            request.frames = request.readahead + more;
            const RunResult result = result_of(request);
            EXPECT_TRUE(result.verdict.pass);
            const bool said = result.verdict.reason.find("too short to tell") != std::string::npos;
            EXPECT_EQ(said, more == 0) << records << result.verdict.reason;
            EXPECT_EQ(report::verdict_line(result).starts_with("TOO SHORT TO TELL"), more == 0) << records;
        }
    }
}

TEST(SessionInVirtualTime, TheTimeLinesAddUpToTheTotals) {
    PlayRequest request = request_by_chance();
    const RunResult result = result_of(request);
    std::int64_t longest_ns = 0;
    std::uint64_t dropped = 0;
    for (const TimelineEntry& entry : result.timeline) {
        longest_ns = std::max(longest_ns, entry.service_ns_max);
        dropped += entry.frames_dropped;
    }
    EXPECT_EQ(longest_ns, result.service_ns->max);
    EXPECT_EQ(dropped, result.totals.dropped);
    for (const StreamResult& stream : result.streams) {
        std::uint64_t missed = 0;
        for (const auto& point : stream.series.points) missed += point.missed;
        EXPECT_EQ(missed, stream.counts.dropped + stream.counts.late + stream.counts.failed);
        EXPECT_GT(missed, 0u);
    }
}

TEST(SessionInVirtualTime, TheSeedIsInTheDigestEvenWhereChanceHasNoPart) {
    PlayRequest request = request_on("sim:null", {"dpx12"});
    const RunResult first = result_of(request);
    request.seed = 2;
    EXPECT_NE(result_of(request).digest, first.digest);
}

TEST(SessionInVirtualTime, HasTheDigestOfRealTimeWhereNothingIsMissed) {
    PlayRequest request = request_on("sim:null", {"prores-uhd"});
    request.duration = milliseconds(300);
    request.streams = 2;
    const RunResult in_virtual_time = result_of(request);
    request.target = *target::parse_target("null:");
    const RunResult in_real_time = result_of(request);
    if (in_real_time.totals.on_time == in_real_time.totals.scheduled) {  // this machine may have stalled
        EXPECT_EQ(in_real_time.digest, in_virtual_time.digest);
    }
    EXPECT_FALSE(in_real_time.timing_digest.has_value());
}

/// The writer and the reader of results agree on what a run can have been.
TEST(SessionInRealAndVirtualTime, AResultIsReadBackAndHasNoGapWhereNothingWasMissed) {
    for (const char* url : {"sim:null", "null:"}) {
        PlayRequest request = request_on(url, {"prores-hd"});
        request.duration = milliseconds(300);
        const RunResult result = result_of(request);
        const auto read = result::read_result(result::json_report(result), url);
        ASSERT_TRUE(read.has_value()) << testing::PrintToString(read.error().problems);
        EXPECT_EQ(result::json_report(*read), result::json_report(result));
        if (judge::bad_frames(result.totals) > 0) continue;  // this machine may have stalled
        EXPECT_THAT(result.throughput_gaps, IsEmpty()) << url;
    }
}

/// Two threads begin together, a little after the last one is ready: nothing is read before.
TEST(SessionInRealTime, AsFastAsItGoesBeginsWithPlayAndIsAllOnTheTimeLine) {
    PlayRequest request = request_on("null:", {"prores-hd"});
    request.paced = false;
    request.duration.reset();
    request.frames = 12;
    request.streams = 2;
    request.loops = 2;
    const RunResult result = result_of(request);
    std::uint64_t on_time = 0;
    std::uint64_t bytes = 0;
    for (const TimelineEntry& entry : result.timeline) {
        EXPECT_GE(entry.t_ns, 0);
        on_time += entry.frames_on_time;
        bytes += entry.bytes;
    }
    EXPECT_EQ(on_time, 24u);
    EXPECT_EQ(bytes, result.totals.bytes_read);
}

/// Two frames are read at a time, 10 ms each: slot 80 after 400 ms.
TEST(SessionInVirtualTime, AsFastAsItGoesAFailureHasTheTimeAtWhichItWasSeen) {
    PlayRequest request = request_on("sim:null", {"dpx10"});
    request.paced = false;
    request.duration.reset();
    request.frames = 100;
    storage::FaultRule slow;
    slow.operation = storage::FaultRule::Operation::read;
    slow.delay = milliseconds(10);
    storage::FaultRule fails;
    fails.operation = storage::FaultRule::Operation::read;
    fails.slots = {80, 80, 1};
    fails.error = EIO;
    request.faults.emplace().rules = {slow, fails};
    const RunResult result = result_of(request);
    EXPECT_EQ(result.totals.failed, 1u);
    ASSERT_EQ(result.events.size(), 1u);
    EXPECT_GE(result.events.front().from_ns, 390'000'000);
    for (const TimelineEntry& entry : result.timeline) {
        if (entry.frames_failed > 0) EXPECT_GE(entry.t_ns + entry.interval_ns, 390'000'000);
    }
}

/// The cause of a frame that is requested from a network mount at 29 s, without a deadline, and fails at 30 s.
/// `observe` adds what this computer saw meanwhile; it is sampled each second.
Cause cause_without_deadline(DropReason reason, int error, const std::function<void(RunFacts&)>& observe) {
    PlayRequest request = request_on("null:", {"dpx10"});
    request.paced = false;
    const std::vector<PlayPart> parts = one_part(request, *find_media(nullptr, request, nullptr));
    const std::vector<StreamPlan> streams = *plan_parts(parts, 1);
    FrameOutcome outcome;
    outcome.kind = FrameKind::failed;
    outcome.reason = reason;
    outcome.error = error;
    outcome.submitted = Instant{} + seconds(29);
    outcome.failed_at = Instant{} + seconds(30);
    metrics::TimeSeries series;
    play::LedgerOptions options;
    options.drops_kept = 1;
    play::DeadlineLedger ledger(options, series);
    ledger.play_started({}, {}, {});
    ledger.scheduled();
    ledger.settle(outcome);
    ledger.close();
    RunFacts facts;
    facts.request = &request;
    facts.streams = &streams;
    facts.ledgers = {&ledger};
    facts.mount.emplace().type = "nfs4";
    facts.system.resize(60);
    for (std::size_t i = 0; i < facts.system.size(); ++i)
        facts.system[i].at_ns = seconds(static_cast<std::int64_t>(i)).ns;
    observe(facts);
    return judge::classify_causes(evidence_of(facts, {}), {}).front();
}

TEST(FailuresWithoutDeadlines, HaveTheCauseOfTheTimeAtWhichTheyWereSeen) {
    const auto suspended = [](RunFacts& facts) {
        for (SystemSample& sample : facts.system)
            sample.suspended_ns = sample.at_ns < seconds(29).ns ? 0 : seconds(60).ns;
    };
    const auto cut = [](RunFacts& facts) {
        SystemSample::Path path;
        for (SystemSample& sample : facts.system) {
            path.unanswered_ns = std::max<std::int64_t>(sample.at_ns - seconds(28).ns, 0);
            sample.path = path;
        }
    };
    const auto gone_after = [](Duration last_seen) {
        return [last_seen](RunFacts& facts) {
            const std::string directory = target::directory_of(facts.streams->front().clips.front());
            facts.vanished.push_back({directory, directory, "", last_seen.ns, seconds(40).ns});
        };
    };
    EXPECT_EQ(cause_without_deadline(DropReason::error, EIO, [](RunFacts&) {}), Cause::storage_error);
    EXPECT_EQ(cause_without_deadline(DropReason::error, EIO, suspended), Cause::client_scheduling);
    EXPECT_EQ(cause_without_deadline(DropReason::error, ETIMEDOUT, cut), Cause::network_down);
    EXPECT_EQ(cause_without_deadline(DropReason::missing, ENOENT, gone_after(seconds(28))),
              Cause::storage_gone);
    EXPECT_EQ(cause_without_deadline(DropReason::missing, ENOENT, gone_after(seconds(31))), Cause::damaged_file)
        << "its directory was still there";
}

TEST(EvidenceOfPlay, KnowsADiskOfThisComputerByItsFileSystem) {
    const PlayRequest request = request_on("null:", {"dpx10"});
    const std::vector<StreamPlan> streams;
    const auto evidence = [&](const char* type) {
        RunFacts facts;
        facts.request = &request;
        facts.streams = &streams;
        facts.mount.emplace().type = type;
        return evidence_of(facts, {});
    };
    for (const char* type : {"ext4", "xfs", "btrfs", "NTFS", "apfs", "tmpfs", "overlay"})
        EXPECT_TRUE(evidence(type).local_disk) << type;
    for (const char* type : {"nfs4", "cifs", "fuse", "fuse.sshfs", "fuseblk", "none-of-these", ""})
        EXPECT_FALSE(evidence(type).local_disk) << type;
    EXPECT_TRUE(evidence("cifs").remote);
    EXPECT_EQ(evidence("cifs").more_connections, "multichannel,max_channels=4");
}

TEST(SessionInVirtualTime, StreamsAreAssignedBySeat) {
    PlayRequest request = request_on("sim:null", {"dpx10", "prores-hd"});
    request.seats = 2;
    request.total_streams = 3;
    const RunResult result = result_of(request);
    std::vector<std::string> seen;
    for (const StreamResult& stream : result.streams) {
        seen.push_back(std::to_string(stream.seat) + "/" + std::to_string(stream.stream) + " " + stream.format);
    }
    EXPECT_THAT(seen, testing::ElementsAre("0/0 dpx10", "0/1 dpx10", "0/2 prores-hd", "0/3 prores-hd",
                                           "1/0 dpx10", "1/1 prores-hd"));
    EXPECT_EQ(result.totals.scheduled, 3u * 96 + 3 * 120);
}

TEST(SessionInVirtualTime, StreamsThatDoNotStartTogetherHaveTheirOwnClocks) {
    PlayRequest request = request_on("sim:null", {"dpx10"});
    request.streams = 3;
    request.stagger = milliseconds(1500);
    request.keep_frames = true;
    const RunResult result = result_of(request);
    EXPECT_EQ(result.totals.on_time, 3u * 96);
    const std::int64_t end_ns = result.timeline.back().t_ns + result.timeline.back().interval_ns;
    EXPECT_NEAR(static_cast<double>(end_ns), 7e9, 50e6) << "the last stream ends at 3 s + 4 s";
    for (const FrameRow& row : result.frames) EXPECT_GE(row.outcome.deadline.ns, 0);
}

TEST(SessionInVirtualTime, MediaWhoseFramesAreReadTwiceWithinAPassWerePlayedMoreThanOnce) {
    PlayRequest request = request_on("sim:null", {"dpx10"});
    request.clip_duration = seconds(3);
    const auto looped = [&request](const char* order, std::uint64_t frames) {
        request.order = *play::PlayOrder::parse(order);
        request.duration.reset();
        request.frames = frames;
        const RunResult result = result_of(request);
        EXPECT_EQ(result.streams.front().counts.passes, 1u) << order;
        return result.media.looped;
    };
    for (const char* order : {"forward", "reverse", "ping-pong"}) EXPECT_FALSE(looped(order, 72)) << order;
    EXPECT_FALSE(looped("shuttle:3", 24));
    for (const char* order : {"scrub", "random"}) EXPECT_TRUE(looped(order, 72)) << order;
    EXPECT_TRUE(looped("ping-pong", 73));
}

/// Each stream is ready after 200 ms, and the second one begins when the first has ended.
TEST(SessionInVirtualTime, PrerollAndPausesBetweenStreamsAreNoThroughputGaps) {
    PlayRequest request = request_on("sim:null", {"dpx10"});
    request.streams = 2;
    request.stagger = seconds(6);
    storage::FaultRule first;
    first.operation = storage::FaultRule::Operation::read;
    first.slots = {0, 0, 1};
    first.delay = milliseconds(200);
    request.faults.emplace().rules = {first};
    EXPECT_THAT(result_of(request).throughput_gaps, IsEmpty());
    storage::FaultRule all = first;
    all.slots = {40, UINT64_MAX, 1};
    all.delay = milliseconds(900);
    request.faults->rules.push_back(all);
    const RunResult slow = result_of(request);
    ASSERT_FALSE(slow.throughput_gaps.empty());
    for (const ThroughputGap& gap : slow.throughput_gaps) {
        EXPECT_TRUE(gap.to_ns < 5'500'000'000 || gap.from_ns >= 6'200'000'000)
            << gap.from_ns << " " << gap.to_ns;
    }
}

TEST(SessionInVirtualTime, AThroughputGapToTheEndEndsWhereTheLastFrameWasDue) {
    PlayRequest request = request_on("sim:null", {"dpx10"});
    storage::FaultRule rule;
    rule.slots = {40, UINT64_MAX, 1};
    rule.error = EIO;
    request.faults.emplace().rules = {rule};
    const RunResult result = result_of(request);
    EXPECT_EQ(result.totals.failed, 56u);
    ASSERT_THAT(result.throughput_gaps, SizeIs(1));
    const StreamResult& stream = result.streams.front();
    EXPECT_LT(result.throughput_gaps.front().from_ns, 2'000'000'000);
    EXPECT_EQ(result.throughput_gaps.front().to_ns, stream.play_start_ns + stream.last_due_ns);
}

/// 30 frames a second have a decoder that takes 60 ms for each.
TEST(SessionInVirtualTime, ADecoderThatIsTooSlowIsTheProcessorsAlsoWherePlayWaitsForIt) {
    for (const play::OnMiss on_miss : {play::OnMiss::drop, play::OnMiss::stall}) {
        PlayRequest request = request_on("sim:null", {"prores-hd"});
        request.on_miss = on_miss;
        request.decode_cpu = milliseconds(60);
        const RunResult result = result_of(request);
        EXPECT_FALSE(result.verdict.pass);
        EXPECT_EQ(result.verdict.limit, Limit::client_cpu) << play::word_of(play::kOnMissWords, on_miss);
    }
}

TEST(SessionInVirtualTime, PrerollThatTakesTooLongIsAnErrorAndNotADrop) {
    PlayRequest request = request_on("sim:null", {"dpx10"});
    storage::FaultPlan plan;
    storage::FaultRule rule;
    rule.delay = seconds(3600);
    rule.slots = {5, 5, 1};
    plan.rules.push_back(rule);
    request.faults = plan;
    Session session(request, *find_media(nullptr, request, nullptr), {}, [](const std::string&) {});
    const auto result = session.execute();
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, ErrorKind::environment);
    EXPECT_THAT(result.error().problems.front(), HasSubstr("--preroll-timeout"));
    EXPECT_FALSE(session.until_error()) << "nothing had begun";
}

/// The first stream plays from 0 s, the second one prerolls from 1 s to 3 s.
TEST(SessionInVirtualTime, ALaterPrerollThatTakesTooLongKeepsWhatWasPlayed) {
    PlayRequest request = request_on("sim:null", {"dpx10"});
    request.streams = 2;
    request.stagger = seconds(1);
    request.preroll_timeout = seconds(2);
    storage::FaultRule rule;
    rule.delay = seconds(3600);
    rule.stream = 1;
    request.faults.emplace().rules = {rule};
    Session session(request, *find_media(nullptr, request, nullptr), {}, [](const std::string&) {});
    const auto result = session.execute();
    ASSERT_FALSE(result.has_value());
    const auto& known = session.until_error();
    ASSERT_TRUE(known.has_value());
    EXPECT_TRUE(known->interrupted);
    EXPECT_FALSE(known->verdict.pass);
    EXPECT_EQ(known->verdict.reason, result.error().problems.front());
    EXPECT_EQ(known->verdict.limit, Limit::unknown) << "the faults were injected";
    EXPECT_GT(known->streams[0].counts.on_time, 60u);
    EXPECT_EQ(known->streams[1].counts.on_time, 0u);
    request.decode_cpu = milliseconds(60);  // the first stream misses frames, too
    Session slow(request, *find_media(nullptr, request, nullptr), {}, [](const std::string&) {});
    ASSERT_FALSE(slow.execute().has_value());
    EXPECT_EQ(slow.until_error()->verdict.reason, known->verdict.reason);
    EXPECT_EQ(slow.until_error()->verdict.limit, Limit::client_cpu);
}

/// One frame, due a second before the claim would stand, takes 30 s; the others go on in another in-flight
/// slot.
TEST(SessionInVirtualTime, AClaimDoesNotStandWhileAFrameIsOverdue) {
    constexpr double kPerDay = 2400;
    const Duration needed = judge::ProveTest(kPerDay).needed(0);
    for (const play::OnMiss on_miss : {play::OnMiss::drop, play::OnMiss::skip, play::OnMiss::hold}) {
        PlayRequest request = request_on("sim:null", {"dpx10"});
        request.prove_per_day = kPerDay;
        request.duration = seconds(300);
        request.on_miss = on_miss;
        request.readahead = 2;
        request.inflight = 2;
        storage::FaultRule slow;
        slow.operation = storage::FaultRule::Operation::read;
        slow.slots.first = slow.slots.last = FrameRate{24, 1}.slots_in(needed - seconds(1));
        slow.delay = seconds(30);
        request.faults.emplace().rules.push_back(slow);
        const RunResult result = result_of(request);
        EXPECT_EQ(result.totals.dropped + result.totals.late, 1u);
        ASSERT_TRUE(result.claims && result.claims->prove);
        EXPECT_EQ(result.claims->prove->events, 1u);
        EXPECT_EQ(result.claims->prove->decided, ProveDecision::stands);
        EXPECT_GT(result.claims->prove->hours, static_cast<double>((needed + seconds(30)).ns) / 3600e9);
    }
}

TEST(SessionInVirtualTime, AFewFramesAreFewerThanTheReadAhead) {
    PlayRequest request = request_on("sim:null", {"dpx10"});
    request.duration.reset();
    request.frames = 3;
    const RunResult result = result_of(request);
    EXPECT_EQ(result.totals.on_time, 3u);
    EXPECT_TRUE(result.verdict.pass);
}

TEST(SessionInRealTime, SeveralLoopsPlayAsOne) {
    PlayRequest request = request_on("null:", {"dpx10"});
    request.streams = 7;
    request.loops = 3;
    request.duration = milliseconds(500);
    const RunResult result = result_of(request);
    EXPECT_EQ(result.client.loops, 3u);
    EXPECT_EQ(result.totals.scheduled, 7u * 12);
    ASSERT_EQ(result.streams.size(), 7u);
    for (std::uint32_t i = 0; i < 7; ++i) EXPECT_EQ(result.streams[i].stream, i);
}

TEST(SessionInRealTime, AnInterruptionAtAnyMomentLeavesCountsThatAddUp) {
    for (int i = 0; i < 12; ++i) {
        PlayRequest request = request_on("null:", {"dpx10", "prores-hd"});
        request.streams = 4;
        request.loops = 2;
        request.paced = i % 3 != 2;
        request.decode_cpu = microseconds(i % 2 == 0 ? 0 : 100);
        Session session(request, *find_media(nullptr, request, nullptr), {}, [](const std::string&) {});
        std::optional<Result<RunResult>> result;
        std::thread playing([&] { result.emplace(session.execute()); });
        for (int spin = 0; spin < i * i * 2000; ++spin) (void)session.watch();
        session.interrupt();
        playing.join();
        ASSERT_TRUE(result->has_value());
        const FrameCounts& totals = (**result).totals;
        EXPECT_TRUE((**result).interrupted);
        EXPECT_EQ(totals.scheduled,
                  totals.on_time + totals.late + totals.dropped + totals.failed + totals.cancelled);
    }
}

/// Notes what a session tells the other computers.
class NotedBarrier final : public seats::StartBarrier {
public:
    explicit NotedBarrier(std::vector<std::string>& notes) : notes_(notes) {}
    Result<void> planned(const std::vector<Duration>&) override {
        notes_.emplace_back("planned");
        return {};
    }
    void ready(Duration, Begin) override {}
    void ended() override { notes_.emplace_back("ended"); }

private:
    std::vector<std::string>& notes_;
};

TEST(SessionOfSeveralComputers, WithNothingToPlayHasPlayedWhenAllHave) {
    PlayRequest request = request_on("sim:null", {"prores-hd"});
    request.own_seats = 0;
    std::vector<std::string> notes;
    NotedBarrier others(notes);
    Session session(request, *find_media(nullptr, request, nullptr), {}, [](const std::string&) {});
    session.wait_for(others);
    session.after_play([&notes] { notes.emplace_back("counters"); }, [] {});
    EXPECT_TRUE(session.execute().has_value());
    EXPECT_THAT(notes, ElementsAre("planned", "ended", "counters"));
}

TEST(FindClips, PlansOneClipForAllWhereTheMediaIsShared) {
    PlayRequest request = request_on("sim:null", {"dpx10"});
    request.streams = 5;
    request.same_media = true;
    EXPECT_EQ(find_media(nullptr, request, nullptr)->clips.front().size(), 1u);
    EXPECT_EQ(result_of(request).streams.size(), 5u);
}

}  // namespace
}  // namespace streamsim::run
