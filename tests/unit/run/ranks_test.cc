// Several ranks in one process: each on a thread of its own, over loopback.
#include "seats/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "run/session/session.h"
#include "seats/lobby.h"
#include "seats/mpi_start.h"
#include "unit/run/relay.h"
#include "unit/run/sessions.h"
#include "unit/run/workload_ranks.h"

namespace streamsim::run {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// Ranks that know each other, and have come together.
std::vector<std::unique_ptr<seats::Ranks>> ranks_of(std::uint32_t count) {
    std::vector<std::unique_ptr<seats::Ranks>> all(count);
    all[0] = std::move(seats::Ranks::host(count)).value();
    for (std::uint32_t rank = 1; rank < count; ++rank)
        all[rank] = std::move(seats::Ranks::join(rank, count, all[0]->join_token())).value();
    return all;
}

/// A host that only leads, and its seats, which have come; the last one by the wire.
std::vector<std::unique_ptr<seats::Ranks>> meeting_of(std::uint32_t seats,
                                                      std::unique_ptr<test::Relay>* wire = nullptr) {
    seats::Ranks::Meeting meeting;
    meeting.seats = seats;
    meeting.address = "127.0.0.1";
    meeting.keys = seats::SeatKeys::make();
    meeting.version = "1";
    std::vector<std::unique_ptr<seats::Ranks>> all;
    all.push_back(std::move(seats::Ranks::meet(meeting)).value());
    meeting.port = all[0]->join_token().port;
    const auto look = [](const std::vector<std::string>&) { return std::vector<seats::TargetSeen>(); };
    for (std::uint32_t i = 0; i < seats; ++i) {
        if (wire != nullptr && i + 1 == seats)
            meeting.port = (*wire = std::make_unique<test::Relay>(meeting.port))->port();
        auto seat = seats::Ranks::join_meeting(
            meeting, {"edit", {}, look}, [] { return false; }, [](const std::string&) {});
        all.push_back(std::move(seat).value());
    }
    const auto begun = all[0]->wait_for_seats(
        [seats](const seats::Lobby& lobby) -> Result<bool> { return lobby.ready() == seats; });
    EXPECT_TRUE(begun.has_value());
    return all;
}

/// Does the same in every rank at once. A rank that fails an assertion stops the others, which would wait for
/// it.
void in_each(std::vector<std::unique_ptr<seats::Ranks>>& all, const std::function<void(seats::Ranks&)>& act) {
    std::vector<std::thread> threads;
    for (auto& ranks : all) {
        if (ranks == nullptr) continue;
        threads.emplace_back([&act, &ranks] {
            act(*ranks);
            if (testing::Test::HasFatalFailure() && ranks != nullptr) ranks->stop();
        });
    }
    for (std::thread& thread : threads) thread.join();
}

TEST(MpiPlace, IsWhatTheLauncherSaysAndNothingWithoutOne) {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE"})
        unsetenv(name);
    EXPECT_FALSE(seats::mpi_place().has_value());
    setenv("PMI_RANK", "3", 1);
    EXPECT_FALSE(seats::mpi_place().has_value());
    setenv("PMI_SIZE", "8", 1);
    ASSERT_TRUE(seats::mpi_place().has_value());
    EXPECT_EQ(seats::mpi_place()->rank, 3u);
    EXPECT_EQ(seats::mpi_place()->ranks, 8u);
    setenv("PMI_SIZE", "3", 1);
    EXPECT_FALSE(seats::mpi_place().has_value());
    unsetenv("PMI_RANK");
    unsetenv("PMI_SIZE");
}

TEST(Ranks, AgreeWhenAllHaveComeAndFailTogetherWithNames) {
    auto all = ranks_of(3);
    std::atomic<int> gathered{0};
    std::atomic<int> alike{0};
    in_each(all, [&](seats::Ranks& ranks) {
        gathered += ranks.gather({"/media"}) ? 1 : 0;
        Result<void> own;
        if (!ranks.first()) own = bad_input("no such format");
        const auto agreed = ranks.agree(own);
        ASSERT_FALSE(agreed.has_value());
        EXPECT_EQ(agreed.error().kind, ErrorKind::bad_input);
        ASSERT_EQ(agreed.error().problems.size(), 1u);
        EXPECT_THAT(agreed.error().problems.front(),
                    testing::MatchesRegex("seat 1 \\(host .*\\), seat 2 \\(host .*\\): no such format"));
        const auto shared = ranks.share(ranks.first() ? Json("of rank 0") : Json("mine"));
        alike += shared && *shared == "of rank 0" ? 1 : 0;
        EXPECT_TRUE(ranks.agree({}).has_value());
    });
    EXPECT_EQ(gathered, 3);
    EXPECT_EQ(alike, 3);
}

TEST(Ranks, ThatWereTypedOtherwiseDoNotPlayTogether) {
    auto all = ranks_of(2);
    in_each(all, [](seats::Ranks& ranks) {
        const auto gathered = ranks.gather({ranks.first() ? "--dpx12" : "--dpx10", "/media"});
        ASSERT_FALSE(gathered.has_value());
        EXPECT_EQ(gathered.error().kind, ErrorKind::bad_input);
        EXPECT_THAT(gathered.error().problems.front(), HasSubstr("found '--dpx10 /media'"));
    });
}

TEST(Ranks, ThatDieAreLeftOutAndNamedOnce) {
    auto all = ranks_of(3);
    std::thread dying([last = std::move(all[2])]() mutable {
        EXPECT_TRUE(last->gather({}).has_value());
        last.reset();
    });
    in_each(all, [](seats::Ranks& ranks) {
        EXPECT_TRUE(ranks.gather({}).has_value());
        EXPECT_TRUE(ranks.agree({}).has_value());
    });
    dying.join();
}

TEST(Ranks, ThatWaitAreAllStoppedByOne) {
    auto all = ranks_of(3);
    in_each(all, [](seats::Ranks& ranks) {
        ASSERT_TRUE(ranks.gather({}).has_value());
        if (ranks.rank() == 1) return ranks.stop();
        const auto agreed = ranks.agree({});
        ASSERT_FALSE(agreed.has_value());
        EXPECT_EQ(agreed.error().kind, ErrorKind::interrupted);
    });
}

TEST(Ranks, AreAssignedSeatsInBlocks) {
    auto all = ranks_of(3);
    in_each(all, [](seats::Ranks& ranks) {
        ASSERT_TRUE(ranks.gather({}).has_value());
        ranks.assign_seats(7);
        const std::vector<std::uint32_t> first = {0, 2, 4};
        const std::vector<std::uint32_t> own = {2, 2, 3};
        EXPECT_EQ(ranks.first_seat(), first[ranks.rank()]);
        EXPECT_EQ(ranks.own_seats(), own[ranks.rank()]);
    });
    EXPECT_THAT(all[0]->name_of(2), HasSubstr("seats 4 to 6"));
}

TEST(Ranks, AreAssignedClientsInTurn) {
    auto all = ranks_of(3);
    in_each(all, [](seats::Ranks& ranks) {
        ASSERT_TRUE(ranks.gather({}).has_value());
        ranks.assign_seats(7, seats::SeatOrder::round_robin);
        EXPECT_EQ(ranks.first_seat(), ranks.rank());
        EXPECT_EQ(ranks.seat_step(), 3u);
        EXPECT_EQ(ranks.own_seats(), ranks.rank() == 0 ? 3u : 2u);
    });
    EXPECT_THAT(all[0]->name_of(0), StartsWith("seats 0, 3 and 6"));
    EXPECT_THAT(all[0]->name_of(2), StartsWith("seats 2 and 5"));
    all[0]->assign_seats(2, seats::SeatOrder::round_robin);
    EXPECT_THAT(all[0]->name_of(1), StartsWith("seat 1"));
    EXPECT_THAT(all[0]->name_of(2), StartsWith("rank 2"));
    all[0]->assign_seats(40, seats::SeatOrder::round_robin);
    EXPECT_THAT(all[0]->name_of(1), StartsWith("seats 1, 4, 7, 10 and 9 more"));
}

PlayRequest seats_on(const std::string& url, std::uint32_t seats) {
    PlayRequest request = test::request_on(url, {"prores-hd"});
    request.duration = milliseconds(500);
    request.seats = seats;
    request.keep_histograms = true;
    return request;
}

Result<RunResult> play(seats::Ranks& ranks,
                       const PlayRequest& whole,
                       const std::function<void(Session&)>& watch = {},
                       const std::function<void(const RunResult&)>& meanwhile = {}) {
    PlayRequest request = whole;
    ranks.assign_seats(request.seats);
    request.first_seat = ranks.first_seat();
    request.own_seats = ranks.own_seats();
    request.only_leads = ranks.only_leads();
    Session session(request, *find_media(nullptr, request, nullptr), {}, [](const std::string&) {});
    session.wait_for(ranks);
    std::atomic<bool> ended{false};
    std::thread watching([&] {
        while (watch && !ended) {
            watch(session);
            std::this_thread::yield();
        }
    });
    auto own = session.execute();
    ended = true;
    watching.join();
    seats::Ranks::Collecting how;
    how.journals = "/no/such/folder";
    how.virtual_time = request.target.is_virtual_time();
    how.nothing = [&request] { return not_played(request, {}); };
    how.meanwhile = meanwhile;
    return ranks.collect(std::move(own), how);
}

TEST(Ranks, PlayWhatOneProcessWouldHavePlayed) {
    const PlayRequest request = seats_on("null:", 4);
    Session alone(request, *find_media(nullptr, request, nullptr), {}, [](const std::string&) {});
    const auto whole = alone.execute();
    ASSERT_TRUE(whole.has_value());
    auto all = ranks_of(2);
    in_each(all, [&](seats::Ranks& ranks) {
        ASSERT_TRUE(ranks.gather({}).has_value());
        for (int time = 0; time < 2; ++time) {  // as the search for the most streams does
            const auto result = play(ranks, request);
            ASSERT_TRUE(result.has_value()) << testing::PrintToString(result.error().problems);
            if (!ranks.first()) continue;
            EXPECT_TRUE(result->verdict.pass) << result->verdict.reason;
            EXPECT_EQ(result->totals.scheduled, whole->totals.scheduled);
            EXPECT_EQ(result->digest, whole->digest);
            ASSERT_EQ(result->seats.size(), 2u);
            EXPECT_THAT(result->seats[1].seats, ElementsAre(2, 3));
            ASSERT_TRUE(result->seats[1].start_ns.has_value());
            EXPECT_EQ(result->seats[1].state, SeatResult::State::complete);
            EXPECT_TRUE(result->seats[1].clock_bound_after_ns.has_value());
        }
    });
}

/// Runs the clients of a step that fall to this rank.
Result<RunResult> play_meters(seats::Ranks& ranks, PlayRequest request, const std::string& name) {
    ranks.assign_seats(request.seats, seats::SeatOrder::round_robin);
    ranks.name_play(name);
    request.first_seat = ranks.first_seat();
    request.seat_step = ranks.seat_step();
    request.own_seats = ranks.own_seats();
    Session session(request, {}, {}, {}, [](const std::string&) {});
    session.wait_for(ranks);
    auto own = session.execute();
    seats::Ranks::Collecting how;
    how.virtual_time = request.target.is_virtual_time();
    how.nothing = [&request] { return not_played(request, {}); };
    return ranks.collect(std::move(own), how);
}

TEST(Ranks, RunTheMetersThatOneProcessWouldHaveRun) {
    auto all = ranks_of(3);
    in_each(all, [&](seats::Ranks& ranks) {
        ASSERT_TRUE(ranks.gather({}).has_value());
        for (const std::uint32_t clients : {2u, 5u}) {  // the steps of a workload; in the first one rank waits
            const PlayRequest request = test::request_of(test::two_meters(clients));
            const auto result = play_meters(ranks, request, "step-" + std::to_string(clients));
            ASSERT_TRUE(result.has_value()) << testing::PrintToString(result.error().problems);
            EXPECT_THAT(result->run_id, EndsWith("-step-" + std::to_string(clients)));
            if (!ranks.first()) continue;
            const RunResult one = test::result_of_meters(request);
            ASSERT_EQ(result->meters.size(), one.meters.size());
            ASSERT_EQ(result->operations.size(), one.operations.size());
            for (std::size_t i = 0; i < one.meters.size(); ++i) {
                EXPECT_EQ(result->meters[i].seat, one.meters[i].seat);
                EXPECT_EQ(result->meters[i].name, one.meters[i].name);
                EXPECT_EQ(result->meters[i].all.done, one.meters[i].all.done);
                EXPECT_EQ(result->meters[i].all.service_sum_ns, one.meters[i].all.service_sum_ns);
            }
            for (std::size_t i = 0; i < one.operations.size(); ++i) {
                const OperationRow& row = result->operations[i];
                const OperationRow& expected = one.operations[i];
                ASSERT_EQ(row.seat, expected.seat);
                ASSERT_EQ(row.meter, expected.meter);
                ASSERT_EQ(row.operation, expected.operation);
                ASSERT_EQ(row.offset, expected.offset);
                ASSERT_EQ(row.completed_ns, expected.completed_ns);
            }
            EXPECT_EQ(result->verdict.reason, one.verdict.reason);
            EXPECT_EQ(result->seats[2].seats.size(), clients == 2 ? 0u : 1u);
        }
    });
}

TEST(Ranks, PlayOnWhenOneOfThemIsGone) {
    PlayRequest request = seats_on("null:", 3);
    auto all = ranks_of(3);
    in_each(all, [&](seats::Ranks& ranks) {
        ASSERT_TRUE(ranks.gather({}).has_value());
        if (ranks.rank() == 2) {
            // It is as far as the others, and gone before its streams are ready.
            EXPECT_TRUE(ranks.planned({Duration{}}).has_value());
            return all[2].reset();
        }
        const auto result = play(ranks, request);
        ASSERT_TRUE(result.has_value()) << testing::PrintToString(result.error().problems);
        if (!ranks.first()) return;
        EXPECT_FALSE(result->verdict.pass);
        EXPECT_THAT(result->verdict.reason, HasSubstr("seat 2"));
        EXPECT_EQ(result->totals.scheduled, 30u);  // of two seats, half a second at 30 fps
        ASSERT_EQ(result->seats.size(), 3u);
        EXPECT_EQ(result->seats[2].state, SeatResult::State::missing);
        EXPECT_EQ(result->seats[2].why, "it has left");
        EXPECT_NE(result->seats[2].host.name, "");
    });
}

/// Rank 0 is a process of its own, which stops for longer than one measurement of the clock waits.
TEST(Ranks, MeasureTheirClocksUntilRank0Answers) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const pid_t first = fork();
    if (first == 0) {
        const auto rank_0 = std::move(seats::Ranks::host(2)).value();
        const std::string token = rank_0->join_token().to_text();
        if (write(ends[1], token.data(), token.size()) < 0) _exit(1);
        (void)rank_0->gather({});
        (void)rank_0->planned({Duration{}});
        for (;;) pause();
    }
    const std::shared_ptr<void> killed(nullptr, [first](void*) {
        kill(first, SIGKILL);
        waitpid(first, nullptr, 0);
    });
    std::array<char, 4096> token{};
    ASSERT_GT(read(ends[0], token.data(), token.size() - 1), 0);
    const auto one = seats::Ranks::join(1, 2, seats::JoinToken::parse(token.data()).value());
    ASSERT_TRUE(one.has_value());
    ASSERT_TRUE((*one)->gather({}).has_value());
    kill(first, SIGSTOP);
    waitpid(first, nullptr, WUNTRACED);  // all its threads stand still
    auto planned = std::async(std::launch::async, [&] { return (*one)->planned({Duration{}}).has_value(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));  // a stop of that length is the test
    kill(first, SIGCONT);
    EXPECT_TRUE(planned.get());
    RunResult own;
    (*one)->become_own_part(own, "");
    ASSERT_EQ(own.seats.size(), 1u);
    EXPECT_GT(own.seats.front().clock_bound_ns, 0);
    for (const int end : ends) close(end);
}

TEST(Ranks, FailTogetherWhereOneCannotBegin) {
    const PlayRequest request = seats_on("null:", 2);
    auto all = ranks_of(2);
    in_each(all, [&](seats::Ranks& ranks) {
        ASSERT_TRUE(ranks.gather({}).has_value());
        Result<RunResult> result = interrupted_error();
        if (ranks.first()) {
            result = play(ranks, request);
        } else {
            seats::Ranks::Collecting how;
            how.preroll_took_too_long = true;
            result = ranks.collect(environment_error("preroll did not end"), how);
        }
        ASSERT_FALSE(result.has_value());
        if (!ranks.first()) return;
        EXPECT_EQ(result.error().kind, ErrorKind::environment);
        EXPECT_THAT(result.error().problems, ElementsAre(HasSubstr("seat 1 (host ")));
        EXPECT_TRUE(ranks.preroll_took_too_long());
    });
}

TEST(Ranks, ThatAreInterruptedSayWhatTheyHavePlayed) {
    PlayRequest request = seats_on("null:", 2);
    request.duration = seconds(3600);
    auto all = ranks_of(2);
    in_each(all, [&](seats::Ranks& ranks) {
        ASSERT_TRUE(ranks.gather({}).has_value());
        const auto result = play(ranks, request, [&](Session& session) {
            const auto watch = session.watch();
            const bool plays = watch.streams != nullptr && (*watch.progress)[0].on_time.load() > 3;
            if (ranks.first() && plays) ranks.stop();
            if (ranks.stopped()) session.interrupt();
        });
        ASSERT_TRUE(result.has_value()) << testing::PrintToString(result.error().problems);
        EXPECT_TRUE(result->interrupted);
        if (ranks.first()) {
            EXPECT_GT(result->totals.on_time, 3u);
            EXPECT_EQ(result->seats.size(), 2u);
        }
    });
}

TEST(Ranks, OfAMeetingThatWereAllInterruptedAreNoPass) {
    PlayRequest request = seats_on("null:", 1);
    request.duration = seconds(3600);
    auto all = meeting_of(1);
    in_each(all, [&](seats::Ranks& ranks) {
        const auto result = play(ranks, request, [&](Session& session) {
            if (ranks.first()) return;
            const auto watch = session.watch();
            if (watch.streams == nullptr || (*watch.progress)[0].on_time.load() <= 3) return;
            ranks.stop();
            session.interrupt();
        });
        ASSERT_TRUE(result.has_value()) << testing::PrintToString(result.error().problems);
        EXPECT_TRUE(result->interrupted);
        ASSERT_EQ(result->seats.size(), 1u);
        EXPECT_EQ(result->seats[0].state, SeatResult::State::interrupted);
    });
}

/// All but the last seat have played to their end.
TEST(Ranks, OfAMeetingThatIsInterruptedWhileOneIsAwaitedAreInterrupted) {
    const PlayRequest request = seats_on("null:", 2);
    auto all = meeting_of(2);
    std::promise<void> known;
    const auto is_known = known.get_future();
    in_each(all, [&](seats::Ranks& ranks) {
        if (ranks.rank() == 2) {
            EXPECT_TRUE(ranks.planned({}).has_value());
            ranks.ended();
            EXPECT_EQ(is_known.wait_for(std::chrono::seconds(20)), std::future_status::ready);
            return all[2].reset();
        }
        const auto result = play(ranks, request, {}, [&](const RunResult& by_now) {
            EXPECT_TRUE(by_now.interrupted);
            known.set_value();
        });
        ASSERT_TRUE(result.has_value()) << testing::PrintToString(result.error().problems);
        if (!ranks.first()) return all[0]->stop();
        EXPECT_TRUE(result->interrupted);
        ASSERT_EQ(result->seats.size(), 2u);
        EXPECT_EQ(result->seats[0].state, SeatResult::State::complete);
        EXPECT_EQ(result->seats[1].state, SeatResult::State::missing);
    });
}

/// One that is cut off once play has begun holds nobody back, and begins when it is back.
TEST(Ranks, OfAMeetingBeginWithoutOneThatIsCutOff) {
    std::unique_ptr<test::Relay> wire;
    auto all = meeting_of(2, &wire);
    in_each(all, [](seats::Ranks& ranks) {
        const std::vector<Duration> groups = {Duration{}, seconds(1)};
        EXPECT_TRUE(ranks.planned(ranks.first() ? std::vector<Duration>() : groups).has_value());
    });
    std::array<std::promise<void>, 4> begun;
    const auto begin = [&begun](std::size_t which) {
        return [&begun, which](Instant) { begun[which].set_value(); };
    };
    const auto begins = [&begun](std::size_t which) {
        return begun[which].get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    };
    all[1]->ready({}, begin(0));
    all[2]->ready({}, begin(1));
    EXPECT_TRUE(begins(0) && begins(1));
    all[1]->ready(seconds(1), begin(2));
    wire->cut(true);
    ASSERT_TRUE(begins(2));
    wire->cut(false);
    EXPECT_TRUE(all[0]->share("words").has_value());
    EXPECT_TRUE(all[2]->share({}).has_value());  // it has heard the beginning, too
    all[2]->ready(seconds(1), begin(3));
    EXPECT_TRUE(begins(3));
    RunResult own;
    all[2]->become_own_part(own, "");
    EXPECT_GT(own.seats.front().start_late_ns, 0);
}

TEST(Ranks, OfAMeetingKeepJournalsUntilTheirPartsAreWritten) {
    const PlayRequest request = seats_on("null:", 2);
    auto all = meeting_of(2);
    const auto journal_of = [](std::uint32_t rank) {
        return testing::TempDir() + "journal-" + std::to_string(getpid()) + "-" + std::to_string(rank);
    };
    in_each(all, [&](seats::Ranks& ranks) {
        const std::uint32_t rank = ranks.rank();
        auto result = play(ranks, request);
        ASSERT_TRUE(result.has_value()) << testing::PrintToString(result.error().problems);
        if (ranks.first()) {
            ASSERT_EQ(result->seats.size(), 2u);
            for (const SeatResult& seat : result->seats)
                EXPECT_THAT(seat.journal, HasSubstr("/seat-" + std::to_string(seat.rank) + "-"));
            result->seats[1].state = SeatResult::State::missing;  // it came too late
            ranks.note_written(*result);
        } else {
            std::ofstream(journal_of(rank)) << "{}";
            ranks.keep_journal(journal_of(rank));
        }
        (void)ranks.finish(0);
        EXPECT_EQ(ranks.kept_journal(), rank == 2 ? journal_of(rank) : "");
        all[rank].reset();
    });
    EXPECT_FALSE(std::filesystem::exists(journal_of(1)));
    EXPECT_TRUE(std::filesystem::remove(journal_of(2)));
}

/// The last play has no result, and the one before it has parts of all.
TEST(Ranks, OfAMeetingKeepTheJournalsOfTheLastPlay) {
    const PlayRequest request = seats_on("null:", 1);
    auto all = meeting_of(1);
    in_each(all, [&](seats::Ranks& ranks) {
        const std::uint32_t rank = ranks.rank();
        std::vector<RunResult> results;
        for (const char* name : {"step-1", "step-2"}) {
            ranks.name_play(name);
            auto result = play(ranks, request);
            ASSERT_TRUE(result.has_value()) << testing::PrintToString(result.error().problems);
            results.push_back(std::move(*result));
        }
        if (ranks.first()) ranks.note_written(results.front());
        if (!ranks.first()) ranks.keep_journal("/no/such/journal");
        (void)ranks.finish(0);
        EXPECT_EQ(ranks.kept_journal(), ranks.first() ? "" : "/no/such/journal");
        all[rank].reset();
    });
}

TEST(Ranks, OfAMeetingGoOnWithoutOneThatIsInterruptedBeforePlay) {
    auto all = meeting_of(2);
    in_each(all, [&](seats::Ranks& ranks) {
        if (ranks.rank() == 2) {
            EXPECT_EQ(ranks.agree(interrupted_error()).error().kind, ErrorKind::interrupted);
            EXPECT_EQ(ranks.finish(130), 130);
            return all[2].reset();
        }
        for (int step = 0; step < 2; ++step) {
            const auto agreed = ranks.agree({});
            EXPECT_TRUE(agreed.has_value()) << testing::PrintToString(agreed.error().problems);
        }
    });
}

TEST(Ranks, OfAMeetingPlayOnWithoutOneThatIsInterruptedAtTheStart) {
    const PlayRequest request = seats_on("null:", 2);
    auto all = meeting_of(2);
    in_each(all, [&](seats::Ranks& ranks) {
        if (ranks.rank() == 2) {
            ranks.stop();
            EXPECT_FALSE(ranks.planned({Duration{}}).has_value());
            EXPECT_FALSE(ranks.collect(interrupted_error(), {}).has_value());
            (void)ranks.finish(130);
            return all[2].reset();
        }
        const auto result = play(ranks, request);
        ASSERT_TRUE(result.has_value()) << testing::PrintToString(result.error().problems);
        if (!ranks.first()) return;
        EXPECT_FALSE(result->interrupted);
        EXPECT_FALSE(result->verdict.pass);
        EXPECT_EQ(result->totals.scheduled, 15u);  // half a second at 30 fps
        ASSERT_EQ(result->seats.size(), 2u);
        EXPECT_EQ(result->seats[0].state, SeatResult::State::complete);
        EXPECT_EQ(result->seats[1].state, SeatResult::State::missing);
        EXPECT_EQ(result->seats[1].why, "it was interrupted");
    });
}

TEST(Ranks, DoNotWaitForOneThatEndedWithAnError) {
    auto all = ranks_of(3);
    in_each(all, [&](seats::Ranks& ranks) {
        ASSERT_TRUE(ranks.gather({}).has_value());
        if (ranks.rank() != 2) {
            const auto agreed = ranks.agree({});
            ASSERT_FALSE(agreed.has_value());
            EXPECT_THAT(agreed.error().problems,
                        ElementsAre(testing::MatchesRegex("seat 2 .*: it has ended with an error of its own")));
        }
        ranks.finish(2);
        all[ranks.rank()].reset();
    });
}

TEST(Ranks, OfAMeetingThatCouldNotRunDoNotEndWithCode0) {
    auto all = meeting_of(3);
    std::vector<int> codes(4, -1);
    in_each(all, [&](seats::Ranks& ranks) {
        const auto rank = static_cast<int>(ranks.rank());
        codes[ranks.rank()] = ranks.finish(rank);
        all[ranks.rank()].reset();
    });
    EXPECT_THAT(codes, ElementsAre(0, 0, 2, 3)) << "a verdict is the host's";
}

TEST(Ranks, EndWithCode0ButForTheFirst) {
    auto all = ranks_of(3);
    std::vector<int> codes(3, -1);
    in_each(all, [&](seats::Ranks& ranks) {
        ASSERT_TRUE(ranks.gather({}).has_value());
        codes[ranks.rank()] = ranks.finish(1);
        all[ranks.rank()].reset();
    });
    EXPECT_THAT(codes, ElementsAre(1, 0, 0));
}

}  // namespace
}  // namespace streamsim::run
