#include "judge/search/max_search.h"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <vector>

#include "base/prng.h"

namespace streamsim::judge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Storage that plays up to a number, and what was asked of it.
class Scripted {
public:
    explicit Scripted(std::uint64_t plays) : plays_(plays) {}

    MaxSearchOptions options;
    std::vector<MaxNext> asked;
    std::map<std::size_t, bool> instead;             // by the number of the run, from 0: what it gives
    std::set<std::size_t> disturbed;                 // runs that fail for the computer's doing
    std::map<std::uint64_t, Duration> drops_after;   // by streams: shorter runs pass, with emptying buffers
    std::map<std::uint64_t, Duration> drops_unseen;  // the same, without a sign
    std::optional<std::uint64_t> cannot;             // so many and more cannot be tried
    std::optional<std::size_t> interrupted;          // the run with this number
    std::optional<std::size_t> gone;                 // from this run on there is no storage
    std::optional<std::size_t> unreachable;          // from this run on no run can begin

    MaxFormat search() {
        auto found = find_max(options, [this](const MaxNext& next) { return play(next); });
        EXPECT_TRUE(found);
        return *found;
    }

    Result<MaxRun> play(const MaxNext& next) {
        const std::size_t number = asked.size();
        asked.push_back(next);
        if (number == interrupted) return interrupted_error();
        if (unreachable && number >= *unreachable) return environment_error("nas: no answer");
        if (cannot && next.streams >= *cannot) return environment_error("there is no space");
        MaxRun run;
        run.duration_ns = next.length.ns;
        if (gone && number >= *gone) {
            run.storage_gone = true;
            run.reason = "/mnt/a vanished";
            return run;
        }
        run.pass = next.streams <= plays_;
        if (const auto at = drops_after.find(next.streams); at != drops_after.end()) {
            run.pass = next.length < at->second;
            if (run.pass) run.empty_after_ns = at->second.ns;
        }
        if (const auto at = drops_unseen.find(next.streams); at != drops_unseen.end())
            run.pass = next.length < at->second;
        if (const auto at = instead.find(number); at != instead.end()) run.pass = at->second;
        run.limit = run.pass                     ? Limit::none
                    : disturbed.contains(number) ? Limit::client_scheduling
                                                 : Limit::storage;
        return run;
    }

    std::vector<std::uint64_t> streams_asked() const {
        std::vector<std::uint64_t> out;
        for (const MaxNext& next : asked) out.push_back(next.streams);
        return out;
    }

private:
    std::uint64_t plays_;
};

TEST(MaxSearch, DoublesThenHalvesThenConfirms) {
    Scripted storage(11);
    storage.options.repeatable = false;
    const MaxFormat found = storage.search();
    EXPECT_EQ(found.streams, 11U);
    EXPECT_EQ(found.fails_at, 12U);
    EXPECT_TRUE(found.confirmed);
    EXPECT_EQ(found.confirm_ns, seconds(300).ns);
    EXPECT_THAT(found.at_least, IsEmpty());
    EXPECT_THAT(storage.streams_asked(), ElementsAre(1, 2, 4, 8, 16, 12, 10, 11, 11));
    EXPECT_EQ(storage.asked.back().length, seconds(300));
    EXPECT_EQ(storage.asked.back().purpose, MaxStep::Purpose::confirm);
    EXPECT_EQ(found.decided(12)->limit, Limit::storage);
}

TEST(MaxSearch, FarBelowWhatWasFoundTheConfirmationGoesDownInStrides) {
    Scripted storage(45);
    storage.options.repeatable = false;
    for (std::uint64_t streams = 24; streams <= 45; ++streams) storage.drops_unseen[streams] = seconds(100);
    const MaxFormat found = storage.search();
    EXPECT_EQ(found.streams, 23U);
    EXPECT_EQ(found.fails_at, 24U);
    EXPECT_TRUE(found.confirmed);
    const auto confirmations =
        std::count_if(storage.asked.begin(), storage.asked.end(),
                      [](const MaxNext& next) { return next.purpose == MaxStep::Purpose::confirm; });
    EXPECT_LE(confirmations, 11);
}

TEST(MaxSearch, TheConfirmationFindsEveryNumberBelowWhatWasFound) {
    for (std::uint64_t plays = 1; plays < 40; ++plays) {
        for (std::uint64_t lasts = 0; lasts < plays; ++lasts) {
            Scripted storage(plays);
            storage.options.repeatable = false;
            for (std::uint64_t streams = lasts + 1; streams <= plays; ++streams)
                storage.drops_unseen[streams] = seconds(100);
            const MaxFormat found = storage.search();
            EXPECT_EQ(found.streams, lasts) << plays << " play for a short time";
            EXPECT_EQ(found.fails_at, lasts + 1);
            EXPECT_EQ(found.confirmed, lasts > 0);
        }
    }
}

TEST(MaxSearch, ARunThatTheComputerDisturbedIsRepeatedAndDoesNotCount) {
    Scripted storage(3);
    storage.instead = {{0, false}, {1, false}};
    storage.disturbed = {0, 1};
    const MaxFormat found = storage.search();
    EXPECT_EQ(found.streams, 3U);
    EXPECT_THAT(storage.streams_asked(), ElementsAre(1, 1, 1, 2, 4, 4, 3, 3));
    EXPECT_TRUE(found.steps.front().runs[1].disturbed);
    EXPECT_TRUE(found.steps.front().noisy());
}

TEST(MaxSearch, AComputerThatIsTheLimitAgainAndAgainIsTheLimit) {
    Scripted storage(3);
    for (std::size_t run = 2; run < 6; ++run) {  // all those of 4
        storage.instead[run] = false;
        storage.disturbed.insert(run);
    }
    const MaxFormat found = storage.search();
    EXPECT_EQ(found.fails_at, 4U);
    EXPECT_EQ(found.decided(4)->limit, Limit::client_scheduling);
}

TEST(MaxSearch, FindsEveryNumber) {
    for (std::uint64_t plays = 0; plays < 70; ++plays) {
        for (const bool repeatable : {false, true}) {
            Scripted storage(plays);
            storage.options.repeatable = repeatable;
            const MaxFormat found = storage.search();
            EXPECT_EQ(found.streams, plays);
            EXPECT_EQ(found.fails_at, plays + 1);
            EXPECT_EQ(found.confirmed, plays > 0);
        }
    }
}

TEST(MaxSearch, NothingPlays) {
    Scripted storage(0);
    const MaxFormat found = storage.search();
    EXPECT_EQ(found.streams, 0U);
    EXPECT_EQ(found.fails_at, 1U);
    EXPECT_FALSE(found.confirmed);
    EXPECT_THAT(storage.streams_asked(), ElementsAre(1, 1)) << "a failure is repeated, nothing is confirmed";
}

TEST(MaxSearch, ARunThatFailsOnceIsRepeatedAndBothAreKept) {
    Scripted storage(3);
    storage.instead = {{1, false}};  // 2 streams fail, then play twice
    const MaxFormat found = storage.search();
    EXPECT_EQ(found.streams, 3U);
    EXPECT_THAT(storage.streams_asked(), ElementsAre(1, 2, 2, 2, 4, 4, 3, 3));
    EXPECT_TRUE(found.steps[1].pass);
    EXPECT_TRUE(found.steps[1].noisy());
    EXPECT_EQ(found.steps[1].runs.size(), 3U);
    EXPECT_FALSE(found.steps[2].noisy());
}

TEST(MaxSearch, TwoFailuresOfThreeAreAFailure) {
    Scripted storage(3);
    storage.instead = {{1, false}, {3, false}};  // 2 streams: fail, play, fail
    const MaxFormat found = storage.search();
    EXPECT_EQ(found.streams, 1U);
    EXPECT_EQ(found.fails_at, 2U);
    EXPECT_TRUE(found.steps[1].noisy());
    EXPECT_FALSE(found.steps[1].pass);
}

TEST(MaxSearch, NoiseMovesTheNumberSeldom) {
    Prng prng(7);
    int moved = 0;
    for (int i = 0; i < 200; ++i) {
        Scripted storage(20);
        for (std::size_t run = 0; run < 100; ++run) {
            if (prng.below(20) == 0) storage.instead[run] = false;  // one run in twenty fails for no reason
        }
        const std::uint64_t streams = storage.search().streams;
        EXPECT_LE(streams, 20U);
        moved += streams != 20 ? 1 : 0;
    }
    EXPECT_LE(moved, 20);
}

TEST(MaxSearch, BuffersThatEmptyAreSeenToTheirEnd) {
    Scripted storage(5);
    storage.drops_after = {{5, seconds(30)}};
    storage.options.confirm = {};
    const MaxFormat found = storage.search();
    EXPECT_EQ(found.streams, 4U);
    EXPECT_EQ(found.fails_at, 5U);
    const MaxStep& step = found.steps.back();
    ASSERT_EQ(step.streams, 5U);
    ASSERT_EQ(step.runs.size(), 2U) << "what was foreseen needs no repetition";
    EXPECT_TRUE(step.runs[0].pass);
    EXPECT_TRUE(step.runs[0].undecided);
    EXPECT_FALSE(step.noisy());
    EXPECT_GT(step.runs[1].duration_ns, seconds(30).ns);
    EXPECT_LE(step.runs[1].duration_ns, seconds(60).ns);
}

TEST(MaxSearch, BuffersThatWouldLastForLongAreForTheConfirmation) {
    Scripted storage(8);
    storage.drops_after = {{8, seconds(200)}};
    const MaxFormat found = storage.search();
    EXPECT_EQ(found.streams, 7U);
    EXPECT_EQ(found.fails_at, 8U);
    EXPECT_TRUE(found.confirmed);
    for (const MaxNext& next : storage.asked)
        EXPECT_TRUE(next.length == seconds(20) || next.length == seconds(300)) << next.length.ns;
}

TEST(MaxSearch, TheLongestRunIsTheConfirmationOrThreeSteps) {
    for (const Duration confirm : {Duration{}, seconds(300)}) {
        Scripted storage(5);
        storage.drops_after = {{5, seconds(48)}};
        storage.options.confirm = confirm;
        (void)storage.search();
        Duration longest{};
        for (const MaxNext& next : storage.asked) longest = std::max(longest, next.length);
        EXPECT_EQ(longest, longest_run(storage.options));
        EXPECT_EQ(longest, std::max(confirm, seconds(60)));
    }
}

TEST(MaxSearch, GoesDownUntilANumberIsConfirmed) {
    Scripted storage(10);
    storage.drops_unseen = {{10, seconds(100)}, {9, seconds(200)}};
    const MaxFormat found = storage.search();
    EXPECT_EQ(found.streams, 8U);
    EXPECT_EQ(found.fails_at, 9U);
    EXPECT_TRUE(found.confirmed);
    EXPECT_FALSE(found.decided(10)->pass);
}

TEST(MaxSearch, ACapIsSaid) {
    Scripted storage(100);
    storage.options.most = 6;
    storage.options.why_most = "not asked for more";
    const MaxFormat found = storage.search();
    EXPECT_EQ(found.streams, 6U);
    EXPECT_EQ(found.fails_at, std::nullopt);
    EXPECT_EQ(found.at_least, "not asked for more");
    EXPECT_TRUE(found.confirmed);
    EXPECT_THAT(storage.streams_asked(), ElementsAre(1, 2, 4, 6, 6));
}

TEST(MaxSearch, ACapThatIsNotReachedIsNotSaid) {
    Scripted storage(4);
    storage.options.most = 6;
    storage.options.why_most = "not asked for more";
    const MaxFormat found = storage.search();
    EXPECT_EQ(found.streams, 4U);
    EXPECT_EQ(found.fails_at, 5U);
    EXPECT_THAT(found.at_least, IsEmpty());
}

TEST(MaxSearch, WhatCannotBeTriedIsNoFailure) {
    Scripted storage(100);
    storage.cannot = 7;
    const MaxFormat found = storage.search();
    EXPECT_EQ(found.streams, 6U);
    EXPECT_EQ(found.fails_at, std::nullopt);
    EXPECT_THAT(found.at_least, HasSubstr("there is no space"));
    EXPECT_TRUE(found.confirmed);
}

TEST(MaxSearch, WhatFailsBelowWhatCannotBeTriedIsAFailure) {
    Scripted storage(5);
    storage.cannot = 7;
    const MaxFormat found = storage.search();
    EXPECT_EQ(found.streams, 5U);
    EXPECT_EQ(found.fails_at, 6U);
    EXPECT_THAT(found.at_least, IsEmpty());
}

TEST(MaxSearch, AFirstRunThatCannotBePlayedIsAnError) {
    Scripted storage(5);
    storage.cannot = 1;
    const auto found = find_max(storage.options, [&](const MaxNext& next) { return storage.play(next); });
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, ErrorKind::environment);
}

/// How many streams it plays is not known then: not none, and not those that were found before.
TEST(MaxSearch, EndsWithASentenceWhereTheStorageVanishes) {
    for (const std::size_t at : {0U, 2U, 5U, 9U}) {
        Scripted storage(13);
        storage.gone = at;
        const auto found =
            find_max(storage.options, [&storage](const MaxNext& next) { return storage.play(next); });
        ASSERT_FALSE(found) << at;
        EXPECT_EQ(found.error().kind, ErrorKind::environment);
        EXPECT_THAT(found.error().problems, ElementsAre("/mnt/a vanished"));
        EXPECT_EQ(storage.asked.size(), at + 1);
    }
}

/// A server may vanish before a run begins, so that the run is an error.
TEST(MaxSearch, EndsWithTheErrorWhereWhatHasPlayedCannotBeTriedAnyMore) {
    for (const std::size_t at : {3U, 6U, 7U}) {  // the first run of 8; the confirmation of 5; that of 4
        Scripted storage(5);
        storage.options.repeatable = false;
        storage.drops_unseen[5] = seconds(100);
        storage.unreachable = at;
        const auto found =
            find_max(storage.options, [&storage](const MaxNext& next) { return storage.play(next); });
        ASSERT_FALSE(found) << at;
        EXPECT_EQ(found.error().kind, ErrorKind::environment);
        EXPECT_THAT(found.error().problems, ElementsAre("nas: no answer"));
        EXPECT_LE(storage.asked.size(), std::max<std::size_t>(at, 6) + 1);
    }
    Scripted at_once(0);  // one stream fails, and cannot be tried again
    at_once.unreachable = 1;
    EXPECT_FALSE(find_max(at_once.options, [&at_once](const MaxNext& next) { return at_once.play(next); }));
}

TEST(MaxSearch, AnErrorAfterStepsThatPlayedKeepsThem) {
    for (const bool vanishes : {true, false}) {
        Scripted storage(6);
        storage.drops_unseen[6] = seconds(100);
        (vanishes ? storage.gone : storage.unreachable) = 10;  // the confirmation of 5, which never played
        std::optional<Error> error;
        const auto found = find_max(
            storage.options, [&storage](const MaxNext& next) { return storage.play(next); }, &error);
        ASSERT_TRUE(found && error) << vanishes;
        EXPECT_EQ(error->kind, ErrorKind::environment);
        EXPECT_THAT(error->problems, ElementsAre(found->at_least));
        EXPECT_TRUE(found->interrupted);
        EXPECT_EQ(found->streams, 4U);
        EXPECT_EQ(found->steps.size(), 7U) << "the run without storage says nothing of its number";
    }
    Scripted none(5);
    none.gone = 0;
    std::optional<Error> error;
    EXPECT_FALSE(find_max(
        none.options, [&none](const MaxNext& next) { return none.play(next); }, &error));
}

TEST(MaxSearch, AnInterruptionKeepsWhatIsKnown) {
    Scripted storage(100);
    storage.interrupted = 3;
    const MaxFormat found = storage.search();
    EXPECT_TRUE(found.interrupted);
    EXPECT_EQ(found.streams, 4U);
    EXPECT_FALSE(found.confirmed);
    EXPECT_EQ(found.steps.size(), 3U);
    Scripted at_once(100);
    at_once.interrupted = 0;
    EXPECT_TRUE(at_once.search().interrupted);
}

TEST(MaxSearch, AnInterruptedConfirmationKeepsWhatHasPlayed) {
    for (const std::size_t at : {10U, 13U}) {  // 5, which never played; 4, after 3 was confirmed
        Scripted storage(6);
        storage.drops_unseen = {{5, seconds(100)}, {6, seconds(100)}};
        storage.interrupted = at;
        const MaxFormat found = storage.search();
        EXPECT_EQ(found.streams, at == 10 ? 4U : 3U);
        EXPECT_EQ(found.confirm_ns, at == 10 ? 0 : seconds(300).ns);
    }
}

/// Nothing that may happen takes longer than was said before.
TEST(MaxSearch, TheTimeLeftIsABound) {
    for (std::uint64_t plays = 1; plays < 40; ++plays) {
        for (const bool hard : {false, true}) {
            Scripted storage(plays);
            storage.options.most = 50;
            if (hard) {
                for (std::uint64_t n = 1; n <= 50; ++n) {
                    if (n > plays) storage.drops_after[n] = seconds(45);
                }
            }
            (void)storage.search();
            for (std::size_t i = 0; i < storage.asked.size(); ++i) {
                std::int64_t left_ns = 0;
                for (std::size_t k = i; k < storage.asked.size(); ++k) left_ns += storage.asked[k].length.ns;
                EXPECT_LE(left_ns, storage.asked[i].at_most.ns) << plays << " at run " << i;
            }
        }
    }
}

/// Each run is among the two that were foreseen when the one before it was asked for; the first of them is the
/// right one as long as the number doubles.
TEST(MaxSearch, ForeseesTheRunsThatFollow) {
    for (std::uint64_t plays = 1; plays < 40; ++plays) {
        Scripted storage(plays);
        storage.options.repeatable = false;
        std::vector<Result<MaxRun>> so_far;
        std::vector<MaxNext> foreseen;
        const auto found = find_max(storage.options, [&](const MaxNext& next) {
            const auto is_next = [&next](const MaxNext& each) { return each.same(next); };
            EXPECT_TRUE(so_far.empty() || std::ranges::any_of(foreseen, is_next))
                << plays << ": " << next.streams;
            if (!so_far.empty() && next.streams <= plays && !next.fails) {
                EXPECT_TRUE(is_next(foreseen.front()));
            }
            EXPECT_THAT(runs_ahead(storage.options, so_far, 0), IsEmpty());
            foreseen = runs_ahead(storage.options, so_far, 2);
            EXPECT_LE(foreseen.size(), 2U);
            so_far.push_back(storage.play(next));
            return so_far.back();
        });
        ASSERT_TRUE(found);
        EXPECT_EQ(found->streams, plays);
    }
}

TEST(MaxSearch, ForeseesNothingTwiceAndNothingBehindItsEnd) {
    MaxSearchOptions options;
    options.most = 4;
    options.confirm = {};
    options.repeatable = false;
    std::vector<std::uint64_t> streams;
    for (const MaxNext& next : runs_ahead(options, {}, 100)) streams.push_back(next.streams);
    EXPECT_THAT(streams, ElementsAre(2, 4, 3));
}

/// Every number fails once, then empties its buffers, then plays; so does the confirmation, without the
/// buffers.
TEST(MaxSearch, TheTimeLeftBoundsTheWorst) {
    MaxSearchOptions options;
    options.most = 8;
    std::map<std::uint64_t, int> tried;
    std::vector<MaxNext> asked;
    const auto found = find_max(options, [&](const MaxNext& next) -> Result<MaxRun> {
        asked.push_back(next);
        const bool confirming = next.purpose == MaxStep::Purpose::confirm;
        const int number = confirming ? tried[1'000]++ : tried[next.streams]++;
        MaxRun run;
        run.pass = number > 0;
        if (!confirming && number == 1) run.empty_after_ns = seconds(48).ns;
        return run;
    });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->streams, 8U);
    std::int64_t all_ns = 0;
    for (const MaxNext& next : asked) all_ns += next.length.ns;
    EXPECT_LE(all_ns, asked.front().at_most.ns);
    EXPECT_EQ(asked.size(), 4U * 4 + 3);
}

TEST(MaxSearch, SaysWhatIsKnown) {
    Scripted storage(5);
    (void)storage.search();
    const MaxNext& last = storage.asked[storage.asked.size() - 2];
    EXPECT_EQ(last.plays, 4U);
    EXPECT_EQ(last.fails, 6U);
    EXPECT_EQ(storage.asked.front().fails, std::nullopt);
}

std::vector<TimelineEntry> buffers(const std::vector<std::uint64_t>& frames) {
    std::vector<TimelineEntry> out(1);
    out.front().t_ns = -seconds(1).ns;  // preroll
    out.front().buffer_frames_min = 0;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        TimelineEntry entry;
        entry.t_ns = static_cast<std::int64_t>(i) * seconds(1).ns;
        entry.interval_ns = seconds(1).ns;
        entry.buffer_frames_min = frames[i];
        out.push_back(entry);
    }
    return out;
}

TEST(BuffersEmpty, WhenTheyGoSteadily) {
    // From 16 on, a frame in two seconds: none is left after 32 s.
    std::vector<std::uint64_t> frames;
    for (std::uint64_t i = 0; i < 20; ++i) frames.push_back(16 - i / 2);
    const auto empty = buffers_empty_after(buffers(frames));
    ASSERT_TRUE(empty);
    EXPECT_NEAR(static_cast<double>(empty->ns) * 1e-9, 32, 2);
}

TEST(BuffersEmpty, NotWhereTheyOnlyVary) {
    EXPECT_FALSE(buffers_empty_after(buffers(std::vector<std::uint64_t>(20, 7))));
    EXPECT_FALSE(buffers_empty_after(buffers({7, 6, 7, 7, 6, 7, 7, 6, 7, 7, 7, 6, 6, 7, 6, 6, 7, 6, 6, 6})));
    // A stall on the way, and one near the end.
    EXPECT_FALSE(buffers_empty_after(buffers({7, 7, 7, 7, 7, 7, 7, 1, 2, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7})));
    EXPECT_FALSE(buffers_empty_after(buffers({7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0, 1, 7})));
    // Down at the beginning, and steady at last.
    EXPECT_FALSE(buffers_empty_after(buffers({7, 6, 5, 4, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3})));
    // Down and up again; up and down.
    EXPECT_FALSE(buffers_empty_after(buffers({8, 8, 8, 8, 8, 8, 3, 3, 3, 6, 6, 6})));
    EXPECT_FALSE(buffers_empty_after(buffers({5, 5, 5, 5, 5, 5, 8, 8, 8, 3, 3, 3})));
    EXPECT_FALSE(buffers_empty_after(buffers({7, 3})));
    EXPECT_FALSE(buffers_empty_after({}));
}

RunResult played(std::int64_t p1_ns) {
    RunResult result;
    result.verdict = {true, "no frame was missed", Limit::none, "", ""};
    result.margin_ns = MarginSummary{.min = p1_ns - 1};
    for (const std::int64_t p1 : {p1_ns, p1_ns * 2}) {
        StreamResult stream;
        stream.rate = {25, 1};
        stream.margin_ns = MarginSummary{.p1 = p1};
        result.streams.push_back(stream);
    }
    return result;
}

TEST(MaxRun, TheWorstStreamHasToKeepTheHeadroom) {
    const MaxRun kept = max_run(played(8'000'000), seconds(20), 20);
    EXPECT_TRUE(kept.pass) << "exactly a fifth of 40 ms";
    EXPECT_EQ(kept.margin_p1_ns, 8'000'000);
    EXPECT_DOUBLE_EQ(*kept.margin_p1_percent, 20);
    const MaxRun lacks = max_run(played(7'900'000), seconds(20), 20);
    EXPECT_FALSE(lacks.pass);
    EXPECT_EQ(lacks.missed, 0U);
    EXPECT_THAT(lacks.reason, HasSubstr("without the headroom"));
    EXPECT_TRUE(max_run(played(7'900'000), seconds(20), 0).pass);
}

TEST(MaxRun, DropsInTheFirstSecondAreApart) {
    RunResult result = played(8'000'000);
    result.totals.dropped = 5;
    result.totals.startup_drops = 3;
    const MaxRun run = max_run(result, seconds(20), 0);
    EXPECT_EQ(run.missed, 2U);
    EXPECT_EQ(run.startup_drops, 3U);
}

TEST(MaxSearch, TellsHowMuchPlayIsLeftAtMost) {
    Scripted storage(8);
    storage.options.most = 8;
    storage.instead = {{1, false}, {5, false}};
    storage.search();
    // A number takes 14 runs at most, a confirmation 5. From 1 on: four numbers until 8 fails, three by
    // halving.
    std::vector<std::int64_t> left_s;
    for (const MaxNext& next : storage.asked) left_s.push_back(next.at_most.ns / 1'000'000'000);
    EXPECT_THAT(storage.streams_asked(), ElementsAre(1, 2, 2, 2, 4, 8, 8, 8, 8));
    EXPECT_THAT(left_s, ElementsAre(20 * 14 * 7 + 1500, 20 * 14 * 6 + 1500, 20 * (14 * 6 - 1) + 1500,
                                    20 * (14 * 6 - 2) + 1500, 20 * 14 * 5 + 1500, 20 * 14 * 4 + 1500,
                                    20 * (14 * 4 - 1) + 1500, 20 * (14 * 4 - 2) + 1500, 1500));
}

TEST(MaxSearch, TellsHowMuchOfAConfirmationIsLeftAtMost) {
    Scripted storage(2);
    storage.options.most = 2;
    storage.instead = {{2, false}};
    storage.search();
    std::vector<std::int64_t> left_s;
    for (const MaxNext& next : storage.asked) {
        if (next.purpose == MaxStep::Purpose::confirm) left_s.push_back(next.at_most.ns / 1'000'000'000);
    }
    EXPECT_THAT(left_s, ElementsAre(300 * 5, 300 * 4, 300 * 3));
}

TEST(MostNear, DoublesItsStepsAndHalvesThem) {
    std::vector<std::uint64_t> asked;
    const auto most = [&asked](std::uint64_t plays, std::uint64_t guess, std::uint64_t limit) {
        asked.clear();
        const auto found = most_near(guess, limit, [&asked, plays](std::uint64_t streams) -> Result<bool> {
            asked.push_back(streams);
            return streams <= plays;
        });
        EXPECT_TRUE(found);
        return found ? *found : UINT64_MAX;
    };
    EXPECT_EQ(most(1000, 10, 2000), 1000U);
    EXPECT_LE(asked.size(), 20U);
    EXPECT_EQ(most(3, 1000, 2000), 3U);
    EXPECT_LE(asked.size(), 20U);
    EXPECT_EQ(most(5, 5, 14), 5U);
    EXPECT_THAT(asked, ElementsAre(5, 6));
    EXPECT_EQ(most(4, 0, 4), 4U) << "the limit";
    EXPECT_EQ(most(0, 3, 4), 0U) << "none";
    EXPECT_EQ(most(9, 3, 0), 0U);
    EXPECT_THAT(asked, IsEmpty());
}

TEST(MostNear, EndsAtAnError) {
    const auto found = most_near(4, 9, [](std::uint64_t) -> Result<bool> { return interrupted_error(); });
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, ErrorKind::interrupted);
}

}  // namespace
}  // namespace streamsim::judge
