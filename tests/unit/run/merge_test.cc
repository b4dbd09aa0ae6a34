// One run over several computers: what its parts say together is what one process would have said.
#include "result/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>

#include "base/prng.h"
#include "metrics/histogram.h"
#include "report/facts/headline.h"
#include "result/distributions.h"
#include "result/json_report.h"
#include "run/conclude/result_builder.h"
#include "run/session/session.h"
#include "unit/run/play_document.h"
#include "unit/run/sessions.h"

namespace streamsim::run {
namespace {

using test::result_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using State = SeatResult::State;

PlayRequest five_seats_on(const std::string& url) {
    PlayRequest request = test::request_on(url, {"prores-hd"});
    request.duration = seconds(3);
    request.seats = 5;
    request.streams = 2;
    request.readahead = 1;
    request.keep_histograms = true;
    storage::FaultRule rule;  // 50 ms more for some frames, by the seed, seat, stream and slot
    rule.operation = storage::FaultRule::Operation::read;
    rule.probability = 0.1;
    rule.delay = milliseconds(50);
    storage::FaultPlan plan;
    plan.rules.push_back(rule);
    request.faults = plan;
    return request;
}

/// The result of rank `rank` of `ranks`, which plays `seats` seats from `first` on.
RunResult as_part(
    RunResult result, std::uint32_t rank, std::uint32_t ranks, std::uint32_t first, std::uint32_t seats) {
    result.host.name = "h" + std::to_string(rank);
    SeatResult own;
    own.rank = rank;
    for (std::uint32_t i = 0; i < seats; ++i) own.seats.push_back(first + i);
    own.start_ns = 0;
    result::become_part("r1", ranks, own, result);
    return result;
}

RunResult part_of(
    PlayRequest request, std::uint32_t rank, std::uint32_t ranks, std::uint32_t first, std::uint32_t seats) {
    request.first_seat = first;
    request.own_seats = seats;
    return as_part(result_of(request), rank, ranks, first, seats);
}

/// Without what is of each computer and each moment.
std::string comparable(RunResult result) {
    result.started_at.clear();
    for (SeatResult& seat : result.seats) seat.started_at.clear();
    return result::json_report(result);
}

TEST(Merging, PartsInVirtualTimeGiveWhatOneProcessGives) {
    PlayRequest request = five_seats_on("sim:null");
    const RunResult one = result_of(request);
    const RunResult whole = *result::merge_results(
        {part_of(request, 1, 3, 2, 2), part_of(request, 0, 3, 0, 2), part_of(request, 2, 3, 4, 1)});
    EXPECT_EQ(whole.digest, one.digest);
    EXPECT_EQ(whole.totals.scheduled, one.totals.scheduled);
    EXPECT_EQ(whole.totals.bytes_read, one.totals.bytes_read);
    EXPECT_EQ(whole.totals.dropped, one.totals.dropped);
    EXPECT_GT(whole.totals.dropped, 10u);
    EXPECT_EQ(whole.drops.size(), one.drops.size());
    EXPECT_EQ(whole.reasons.late, one.reasons.late);
    EXPECT_EQ(whole.margin_ns->p50, one.margin_ns->p50);
    EXPECT_EQ(whole.margin_ns->max, one.margin_ns->max);
    EXPECT_NEAR(whole.required_bytes_per_s, one.required_bytes_per_s, 1);
    ASSERT_EQ(whole.streams.size(), 10u);
    for (std::size_t i = 0; i < whole.streams.size(); ++i) {
        EXPECT_EQ(whole.streams[i].seat, one.streams[i].seat);
        EXPECT_EQ(whole.streams[i].clip, one.streams[i].clip);
    }
    EXPECT_FALSE(whole.verdict.pass);
    EXPECT_EQ(whole.claims->sentence, one.claims->sentence);
    EXPECT_GT(whole.claims->drop_events, 0u);
    EXPECT_EQ(whole.seats.size(), 3u);
    request.faults.reset();
    const RunResult again =
        *result::merge_results({part_of(request, 0, 2, 0, 1), part_of(request, 1, 2, 1, 4)});
    const RunResult good = result_of(request);
    EXPECT_TRUE(again.verdict.pass);
    EXPECT_EQ(again.digest, good.digest);
    EXPECT_EQ(again.timing_digest, good.timing_digest);
    EXPECT_EQ(again.claims->sentence, good.claims->sentence);
    EXPECT_EQ(again.claims->per_stream_day_together.high, good.claims->per_stream_day_together.high);
    EXPECT_EQ(again.margin_bins.size(), good.margin_bins.size());
}

TEST(Merging, RecordersAreNotPartOfTheRequiredRate) {
    PlayRequest request = five_seats_on("sim:null");
    request.record = {.streams = 1, .formats = request.formats};
    const RunResult one = result_of(request);
    const RunResult whole =
        *result::merge_results({part_of(request, 0, 2, 0, 2), part_of(request, 1, 2, 2, 3)});
    ASSERT_EQ(whole.streams.size(), 15u);
    EXPECT_EQ(std::ranges::count_if(whole.streams, &StreamResult::records), 5);
    EXPECT_NEAR(whole.required_bytes_per_s, one.required_bytes_per_s, 1);
    EXPECT_EQ(whole.digest, one.digest);
}

TEST(Merging, PartsOfAScenarioToo) {
    const std::string document = R"({"schema": "streamsim.scenario", "version": 1, "duration": "6s", "seats": [
        {"count": 3, "target": "sim:null", "start": "500ms", "one_more_every": "2s", "streams": [
            {"format": "dpx10", "count": 2, "one_more_every": "1s"},
            {"format": "prores-hd", "order": "random"}]},
        {"target": "sim:null", "streams": [{"format": "dpx10"}]}]})";
    const RunResult one = test::play_document(document);
    std::vector<RunResult> parts;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        SeatResult own;
        own.rank = rank;
        own.seats = {rank};
        result::become_part("r1", 4, own, parts.emplace_back(test::play_document(document, rank, 1)));
    }
    const RunResult whole = *result::merge_results(parts);
    EXPECT_EQ(whole.digest, one.digest);
    EXPECT_EQ(whole.totals.scheduled, one.totals.scheduled);
    ASSERT_EQ(whole.streams.size(), 10u);
    for (std::size_t i = 0; i < whole.streams.size(); ++i)
        EXPECT_EQ(whole.streams[i].play_start_ns, one.streams[i].play_start_ns);
    EXPECT_NEAR(whole.required_bytes_per_s, one.required_bytes_per_s, 1);
    EXPECT_EQ(whole.timeline.size(), one.timeline.size());
}

/// A fault by chance hits the same frames on whichever computer their seat is.
TEST(Merging, PartsOfAScenarioMeetTheSameFaultsByChance) {
    const std::string document = R"({"schema": "streamsim.scenario", "version": 1, "duration": "4s", "seats": [
        {"count": 2, "target": "sim:null", "streams": [
            {"format": "dpx10"}, {"format": "prores-hd", "count": 2}]},
        {"target": "sim:null", "start": "300ms", "streams": [{"format": "prores-hd", "readahead": 2}]}],
        "faults": [
            {"kind": "delays", "at": "1500ms", "for": "1s", "delay": "700ms", "probability": 0.5},
            {"kind": "errors", "at": "2s", "for": "1s", "error": "EIO", "probability": 0.3}]})";
    const RunResult one = test::play_document(document);
    EXPECT_GT(one.totals.dropped, 20u);
    EXPECT_GT(one.totals.failed, 20u);
    std::vector<RunResult> parts;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        SeatResult own;
        own.rank = rank;
        own.seats = {rank};
        result::become_part("r1", 3, own, parts.emplace_back(test::play_document(document, rank, 1)));
    }
    const RunResult whole = *result::merge_results(parts);
    EXPECT_EQ(whole.digest, one.digest);
    EXPECT_EQ(whole.totals.failed, one.totals.failed);
}

TEST(Merging, AComputerThatReadNothingGotNothingFromItsCache) {
    const PlayRequest request = five_seats_on("sim:null");
    const RunResult idle = part_of(request, 1, 2, 5, 0);
    EXPECT_FALSE(idle.client.page_cache_bytes);
    EXPECT_EQ(result::merge_results({part_of(request, 0, 2, 0, 5), idle})->client.page_cache_bytes, 0u);
}

/// Play of files, with --require-cold, that ended before its first frame: a cache alone can fail the verdict.
RunResult ended_at_once(bool same_media, std::uint32_t first, std::uint32_t seats) {
    PlayRequest request = test::request_on("null:", {"prores-hd"});
    request.seats = 2;
    request.same_media = same_media;
    request.first_seat = first;
    request.own_seats = seats;
    request.require_cold = true;
    request.keep_histograms = true;
    FoundMedia media = *find_media(nullptr, request, nullptr);
    request.target = *target::parse_target("/mnt/x");
    const std::vector<PlayPart> parts = one_part(request, std::move(media));
    const std::vector<StreamPlan> streams = *plan_parts(parts, 1);
    metrics::TimeSeries series;
    std::deque<play::DeadlineLedger> ledgers;
    LoopStats loop;
    loop.capabilities.direct = true;
    RunFacts facts;
    facts.request = &request;
    facts.streams = &streams;
    facts.playback_loops = {&loop};
    for (const StreamPlan& plan : streams) {
        play::LedgerOptions options;
        options.seat = plan.options.seat;
        options.stream = plan.options.stream;
        facts.ledgers.push_back(&ledgers.emplace_back(options, series));
        ledgers.back().close();
    }
    RunResult result;
    fill_result(facts, result);
    return result;
}

TEST(Merging, AClipOfSeatsOnTwoComputersMayBeWarmAsOnOne) {
    for (const bool same_media : {true, false}) {
        const RunResult one = ended_at_once(same_media, 0, 2);
        const RunResult whole = *result::merge_results({as_part(ended_at_once(same_media, 0, 1), 0, 2, 0, 1),
                                                        as_part(ended_at_once(same_media, 1, 1), 1, 2, 1, 1)});
        EXPECT_EQ(one.verdict.pass, !same_media) << one.verdict.reason;
        EXPECT_EQ(whole.verdict.pass, one.verdict.pass) << whole.verdict.reason;
        EXPECT_EQ(whole.verdict.limit, one.verdict.limit);
        EXPECT_EQ(whole.media.server_cache_may_be_warm, one.media.server_cache_may_be_warm);
        EXPECT_EQ(one.media.shared, same_media);
        EXPECT_EQ(whole.media.shared, same_media);
        for (const SeatResult& seat : whole.seats) EXPECT_EQ(seat.verdict.pass, one.verdict.pass);
    }
}

/// Margins by chance, so that percentiles are worth something.
RunResult random_part(std::uint32_t rank, std::uint32_t ranks, metrics::SignedHistogram& all, Prng& prng) {
    RunResult part;
    part.host.name = "h" + std::to_string(rank);
    part.url = "/mnt/x";
    part.backend = "local";
    for (std::uint32_t i = 0; i < 2; ++i) {
        StreamResult& stream = part.streams.emplace_back();
        stream.seat = rank;
        stream.stream = i;
        stream.clip = "clip-" + std::to_string(rank * 2 + i);
        stream.required_bytes_per_s = 1e6;
        stream.start_delay_ns = 1'000'000;
        stream.last_due_ns = 3'000'000'000;
        metrics::SignedHistogram margins;
        const std::uint64_t frames = 50 + prng.below(100);
        for (std::uint64_t frame = 0; frame < frames; ++frame) {
            const auto margin = static_cast<std::int64_t>(prng.below(60'000'000)) - 10'000'000;
            margins.add(margin);
            all.add(margin);
        }
        HistogramCounts& counts = stream.histograms.emplace().margin_ns;
        counts.min = margins.min();
        counts.max = margins.max();
        margins.each([&](std::int64_t value, std::uint64_t times) {
            counts.buckets.push_back({value, times});
        });
        std::sort(counts.buckets.begin(), counts.buckets.end(),
                  [](const auto& a, const auto& b) { return a.value < b.value; });
        stream.counts.scheduled = frames;
        stream.counts.on_time = frames - 3;
        stream.counts.dropped = 3;
        for (std::uint64_t slot = 30; slot < 33; ++slot) {
            part.drops.push_back({.seat = rank, .stream = i, .frame = slot, .cause = Cause::slow_reads});
        }
        part.totals.scheduled += frames;
        part.totals.on_time += frames - 3;
        part.totals.dropped += 3;
    }
    const std::uint64_t slow = 1 + prng.below(5);
    for (const auto& [cause, frames] :
         {std::pair(Cause::slow_reads, slow), std::pair(Cause::network, 6 - slow)}) {
        MissEvent& event = part.events.emplace_back();
        event.from_ns = 1'000'000'000 + static_cast<std::int64_t>(prng.below(3'000'000'000));
        event.to_ns = event.from_ns + 1 + static_cast<std::int64_t>(prng.below(400'000'000));
        event.frames = frames;
        event.streams = 2;
        event.cause = cause;
        event.first.seat = rank;
        event.evidence.no_data_ns = static_cast<std::int64_t>(prng.below(100'000'000));
    }
    part.reasons.late = 6;
    metrics::Digest digest;
    digest.add(prng.next());
    part.digest = digest.hex();
    part.wall_ns = 3'000'000'000 + static_cast<std::int64_t>(prng.below(1000));
    part.causes.push_back({Cause::slow_reads, Limit::storage, 6, 0, "the storage took long", ""});
    part.verdict = {false, "the storage took long", Limit::storage};
    part.timeline.push_back({.t_ns = -1'000'000, .interval_ns = 1'000'000, .bytes = 10});
    for (std::int64_t s = 0; s < 3; ++s)
        part.timeline.push_back({.t_ns = s * 1'000'000'000, .interval_ns = 1'000'000'000, .bytes = 100});
    SeatResult own;
    own.rank = rank;
    own.seats = {rank};
    own.start_ns = static_cast<std::int64_t>(prng.below(5'000'000));
    result::become_part("r1", ranks, own, part);
    return part;
}

TEST(Merging, PercentilesAreThoseOfAllSamples) {
    metrics::SignedHistogram all;
    Prng prng(7);
    std::vector<RunResult> parts;
    for (std::uint32_t rank = 0; rank < 4; ++rank) parts.push_back(random_part(rank, 4, all, prng));
    const RunResult whole = *result::merge_results(parts);
    EXPECT_EQ(whole.margin_ns->min, all.min());
    EXPECT_EQ(whole.margin_ns->p0_1, all.at_permille(1));
    EXPECT_EQ(whole.margin_ns->p1, all.at_permille(10));
    EXPECT_EQ(whole.margin_ns->p50, all.at_permille(500));
    EXPECT_EQ(whole.margin_ns->max, all.max());
    std::vector<std::pair<std::int64_t, std::uint64_t>> expected;
    all.each([&](std::int64_t value, std::uint64_t times) { expected.emplace_back(value, times); });
    std::sort(expected.begin(), expected.end());
    std::vector<std::pair<std::int64_t, std::uint64_t>> found;
    for (const auto& [value, times] : whole.histograms->margin_ns.buckets) found.emplace_back(value, times);
    EXPECT_EQ(found, expected);
    std::uint64_t in_bins = 0;
    for (const MarginBin& bin : whole.margin_bins) in_bins += bin.frames;
    EXPECT_EQ(in_bins, all.count());
}

TEST(Bins, HoldTimesOfAllLengths) {
    metrics::Distributions all;
    for (const std::int64_t ns : {-INT64_MAX, std::int64_t{-1}, INT64_MAX}) all.margin.add(ns);
    for (const std::int64_t ns : {std::int64_t{1}, INT64_MAX}) all.service.add(ns);
    RunResult result;
    result::fill_summaries(all, result);
    std::uint64_t margins = 0, services = 0;
    for (const MarginBin& bin : result.margin_bins) margins += bin.frames;
    for (const MarginBin& bin : result.service_bins) services += bin.frames;
    EXPECT_EQ(margins, 3u);
    EXPECT_EQ(services, 2u);
    EXPECT_LE(result.margin_bins.size(), 41u);
}

TEST(Merging, InAnyOrderAndGroupingItIsTheSame) {
    metrics::SignedHistogram all;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Prng prng(seed);
        std::vector<RunResult> parts;
        for (std::uint32_t rank = 0; rank < 3; ++rank) parts.push_back(random_part(rank, 3, all, prng));
        const std::string at_once = comparable(*result::merge_results(parts));
        const RunResult first_two = *result::merge_results({parts[0], parts[1]});
        EXPECT_EQ(comparable(*result::merge_results({first_two, parts[2]})), at_once);
        const RunResult others = *result::merge_results({parts[2], parts[0]});
        EXPECT_EQ(comparable(*result::merge_results({parts[1], others})), at_once);
        EXPECT_EQ(comparable(*result::merge_results({parts[2], parts[1], parts[0]})), at_once);
        EXPECT_EQ(comparable(*result::merge_results({*result::merge_results(parts)})), at_once);
    }
}

TEST(Merging, ASeatThatVanishedIsNamedAndWhatItsJournalHoldsCounts) {
    metrics::SignedHistogram all;
    Prng prng(3);
    std::vector<RunResult> parts;
    for (std::uint32_t rank = 0; rank < 3; ++rank) parts.push_back(random_part(rank, 4, all, prng));
    parts[1].seats.front().state = State::partial;
    parts[1].seats.front().why = "its journal ends after 2 s of play";
    const RunResult whole = *result::merge_results(parts);
    std::uint64_t scheduled = 0;
    for (const RunResult& part : parts) scheduled += part.totals.scheduled;
    EXPECT_EQ(whole.totals.scheduled, scheduled);
    EXPECT_FALSE(whole.verdict.pass);
    EXPECT_EQ(whole.verdict.limit, Limit::storage);
    EXPECT_THAT(whole.verdict.reason,
                AllOf(HasSubstr("seat 1 (host h1): it vanished: its journal ends after 2 s of play"),
                      HasSubstr("rank 3: nothing is known of what it played")));
    ASSERT_EQ(whole.seats.size(), 4u);
    EXPECT_EQ(whole.seats[1].state, State::partial);
    EXPECT_EQ(whole.seats[3].state, State::missing);
    EXPECT_EQ(whole.causes.front().frames, 18u);
    EXPECT_THAT(whole.causes.front().summary, HasSubstr("seat 0 (host h0): "));
}

TEST(Merging, WhoVanishedComesBeforeThoseThatWereEndedForIt) {
    metrics::SignedHistogram all;
    Prng prng(3);
    std::vector<RunResult> parts;
    for (std::uint32_t rank = 0; rank < 6; ++rank) {
        parts.push_back(random_part(rank, 6, all, prng));
        parts.back().seats.front().state = rank == 5 ? State::partial : State::interrupted;
    }
    EXPECT_THAT(
        result::merge_results(parts)->verdict.reason,
        testing::StartsWith("6 of 6 computers did not play as they should: seat 5 (host h5): it vanished"));
}

TEST(Merging, WhereNobodyPlayedTheResultIsIncomplete) {
    metrics::SignedHistogram all;
    Prng prng(3);
    RunResult begun = random_part(0, 2, all, prng);
    begun.streams.clear();
    begun.totals = {};
    begun.seats.front().state = State::missing;
    EXPECT_EQ(report::verdict_line(*result::merge_results({begun})),
              "INCOMPLETE: 0 streams from /mnt/x: nothing was played");
}

TEST(Merging, OfTwoDocumentsOfOneRankTheOneThatKnowsMoreCounts) {
    metrics::SignedHistogram all;
    Prng prng(3);
    const RunResult first = random_part(0, 2, all, prng);
    const RunResult result = random_part(1, 2, all, prng);
    RunResult journal = result;
    journal.seats.front().state = State::partial;
    RunResult begun = journal;
    begun.streams.clear();
    begun.drops.clear();
    begun.totals = begun.seats.front().totals = {};
    begun.seats.front().state = State::missing;
    const std::string expected = comparable(*result::merge_results({first, result}));
    EXPECT_EQ(comparable(*result::merge_results({journal, first, begun, result})), expected);
    EXPECT_EQ(comparable(*result::merge_results({*result::merge_results({first, begun}), result})), expected);
    EXPECT_EQ(result::merge_results({first, begun})->seats[1].host.name, "h1");
    EXPECT_THAT(result::merge_results({*result::merge_results({first, journal}), result}).error().problems,
                ElementsAre(HasSubstr("what seat 1 (host h1) played is in two merged documents")));
}

TEST(Merging, OnePartAloneKeepsItsProofItsModelAndItsEvents) {
    metrics::SignedHistogram all;
    Prng prng(3);
    const auto proving = [&](std::uint32_t ranks) {
        RunResult part = random_part(0, ranks, all, prng);
        part.claims.emplace().prove.emplace().sentence = "stands";
        part.parts.resize(2);
        part.events.front().cause = part.events.back().cause = Cause::storage_stall;
        part.events.back().from_ns = part.events.front().to_ns + 1;  // another gap began
        part.events.back().to_ns = part.events.back().from_ns + 1;
        return part;
    };
    const RunResult alone = *result::merge_results({proving(1)});
    ASSERT_TRUE(alone.claims && alone.claims->prove);
    EXPECT_EQ(alone.claims->prove->sentence, "stands");
    EXPECT_EQ(alone.parts.size(), 2u);
    EXPECT_EQ(alone.events.size(), 2u);
    const RunResult both = *result::merge_results({proving(2), random_part(1, 2, all, prng)});
    EXPECT_FALSE(both.claims->prove);
    EXPECT_TRUE(both.parts.empty());
}

TEST(Merging, NoticesAreThoseOfAllEachOnce) {
    metrics::SignedHistogram all;
    Prng prng(3);
    RunResult first = random_part(0, 2, all, prng);
    RunResult second = random_part(1, 2, all, prng);
    first.notices = {"the clock is wrong", "no huge pages"};
    second.notices = {"no huge pages", "a slow disk"};
    EXPECT_THAT(result::merge_results({first, second})->notices,
                ElementsAre("the clock is wrong", "no huge pages", "a slow disk"));
}

TEST(Merging, TheWallTimeGoesFromTheFirstBeginningToTheLastEnd) {
    metrics::SignedHistogram all;
    Prng prng(3);
    RunResult first = random_part(0, 2, all, prng);
    RunResult second = random_part(1, 2, all, prng);
    first.seats.front().start_ns = 1'000'000'000;
    first.wall_ns = 3'000'000'000;
    second.seats.front().start_ns = 3'500'000'000;
    second.wall_ns = 2'000'000'000;
    EXPECT_EQ(result::merge_results({first, second})->wall_ns, 4'500'000'000);
}

/// Start groups that begin one after another: the axis of each part begins before its first group.
TEST(Merging, ASeatThatBeginsLaterOverlapsTheOthers) {
    metrics::SignedHistogram all;
    Prng prng(3);
    std::vector<RunResult> parts;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        RunResult& part = parts.emplace_back(random_part(rank, 2, all, prng));
        part.seats.front().start_ns = rank * 2'000'000'000;
        part.wall_ns = 3'000'000'000;
        for (StreamResult& stream : part.streams) stream.play_start_ns = rank * 2'000'000'000 + 150'000'000;
    }
    const RunResult whole = *result::merge_results(parts);
    EXPECT_EQ(whole.streams[0].play_start_ns, 0);
    EXPECT_EQ(whole.streams[2].play_start_ns, 2'000'000'000);
    EXPECT_EQ(whole.wall_ns, 5'000'000'000);
    EXPECT_NEAR(whole.required_bytes_per_s, 4e6, 1);
}

TEST(Merging, OfTwoThatKnowNothingOfASeatTheFirstThatNamesItCounts) {
    metrics::SignedHistogram all;
    Prng prng(3);
    const RunResult played = random_part(0, 2, all, prng);
    const auto begun = [&](const char* why, std::vector<std::uint32_t> seats) {
        RunResult out = random_part(1, 2, all, prng);
        out.streams.clear();
        out.drops.clear();
        out.totals = out.seats.front().totals = {};
        out.seats.front().state = State::missing;
        out.seats.front().why = why;
        out.seats.front().seats = std::move(seats);
        return out;
    };
    const auto why = [&](const RunResult& one, const RunResult& other) {
        return result::merge_results({played, one, other})->seats[1].why;
    };
    EXPECT_EQ(why(begun("one", {1}), begun("other", {1})), "one");
    EXPECT_EQ(why(begun("one", {}), begun("other", {1})), "other");
    EXPECT_EQ(why(begun("one", {1}), begun("other", {})), "one");
}

TEST(Merging, PartsOfDifferentRunsAreRefusedWithEveryProblem) {
    metrics::SignedHistogram all;
    Prng prng(3);
    RunResult first = random_part(0, 2, all, prng);
    first.started_at = "2026-01-01T00:00:00Z";
    RunResult other = random_part(1, 3, all, prng);
    other.run_id = "r2";
    RunResult alone = first;
    alone.seats.clear();
    alone.run_id.clear();
    RunResult nameless = random_part(0, 2, all, prng);
    nameless.run_id.clear();
    EXPECT_THAT(result::merge_results({first, nameless}).error().problems,
                testing::Contains(HasSubstr("is the result of one computer alone")));
    RunResult bare = random_part(1, 2, all, prng);
    bare.streams.front().histograms.reset();
    EXPECT_THAT(
        result::merge_results({first, other, alone, bare}).error().problems,
        ElementsAre(HasSubstr("document 2"), HasSubstr("its run has 3 ranks"),
                    HasSubstr("is the result of one computer alone"), HasSubstr("without \"histograms\"")));
    for (const bool timing : {false, true}) {
        RunResult damaged = random_part(1, 2, all, prng);
        damaged.timing_digest = damaged.digest;
        (timing ? *damaged.timing_digest : damaged.digest) = "0123";
        EXPECT_THAT(result::merge_results({first, damaged}).error().problems,
                    ElementsAre(HasSubstr("expected digests of 32 hexadecimal digits")));
    }
    RunResult thief = random_part(1, 2, all, prng);
    thief.streams.front().seat = 0;
    EXPECT_THAT(result::merge_results({first, thief}).error().problems,
                ElementsAre(HasSubstr("stream 0 of seat 0 is in two parts")));
}

/// Intervals of different lengths, and clocks that did not begin together.
TEST(Merging, TheTimeLineHasOneAxisAndOneLengthOfInterval) {
    metrics::SignedHistogram all;
    Prng prng(3);
    RunResult first = random_part(0, 2, all, prng);
    RunResult second = random_part(1, 2, all, prng);
    first.seats.front().start_ns = -2'000'000;
    second.seats.front().start_ns = 2'000'000'000;
    second.timeline = {{.t_ns = 0, .interval_ns = 2'000'000'000, .bytes = 7},
                       {.t_ns = 2'000'000'000, .interval_ns = 2'000'000'000, .bytes = 8}};
    const RunResult whole = *result::merge_results({first, second});
    std::vector<std::pair<std::int64_t, std::uint64_t>> seen;
    for (const TimelineEntry& entry : whole.timeline) seen.emplace_back(entry.t_ns, entry.bytes);
    EXPECT_THAT(seen, ElementsAre(std::pair(-1'000'000, 10), std::pair(0, 200), std::pair(2'000'000'000, 107),
                                  std::pair(4'000'000'000, 8)));
    EXPECT_EQ(whole.streams[2].play_start_ns, 2'000'000'000);
}

/// Each snapshot obeys the law, and none has less than the one before.
TEST(Snapshot, TheStatisticsOfARunCanBeSeenWhileItPlays) {
    PlayRequest request = five_seats_on("null:");
    request.duration = milliseconds(400);
    request.loops = 2;
    Session session(request, *find_media(nullptr, request, nullptr), {}, [](const std::string&) {});
    EXPECT_FALSE(session.snapshot());
    std::optional<Result<RunResult>> ended;
    std::atomic<bool> over = false;
    std::thread player([&] {
        ended.emplace(session.execute());
        over = true;
    });
    FrameCounts last;
    while (!over) {
        const auto seen = session.snapshot();
        if (!seen) continue;
        const FrameCounts& counts = seen->totals;
        EXPECT_EQ(counts.scheduled,
                  counts.on_time + counts.late + counts.dropped + counts.failed + counts.cancelled);
        EXPECT_GE(counts.scheduled, last.scheduled);
        EXPECT_GE(counts.dropped, last.dropped);
        EXPECT_EQ(seen->drops.size(), counts.dropped + counts.late + counts.failed);
        EXPECT_TRUE(seen->interrupted);
        last = counts;
    }
    player.join();
    const RunResult& result = **ended;
    const RunResult after = *session.snapshot();
    EXPECT_EQ(after.digest, result.digest);
    EXPECT_EQ(after.totals.scheduled, result.totals.scheduled);
    EXPECT_EQ(after.drops.size(), result.drops.size());
}

TEST(Seats, OfAProcessWithNoneOfTheStreamsThereIsAResultWithoutAny) {
    PlayRequest request = five_seats_on("sim:null");
    request.total_streams = 3;
    request.first_seat = 4;
    request.own_seats = 1;
    const RunResult result = result_of(request);
    EXPECT_TRUE(result.streams.empty());
    EXPECT_TRUE(result.verdict.pass);
    EXPECT_FALSE(result.interrupted);
}

}  // namespace
}  // namespace streamsim::run
