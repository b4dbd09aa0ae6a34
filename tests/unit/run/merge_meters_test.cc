// Workloads over several computers: the tables of their parts together are those of one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <thread>

#include "base/prng.h"
#include "media/catalogue/catalogue.h"
#include "report/csv/csv_report.h"
#include "result/json_report.h"
#include "result/result_reader.h"
#include "unit/run/workload_ranks.h"

namespace streamsim::run {
namespace {

using test::part_of_meters;
using test::request_of;
using test::result_of_meters;
using test::two_meters;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Every figure of a step: its meters, tables, verdict and rows, without what is of each computer.
std::string figures_of(const Workload& workload, const RunResult& played) {
    LoadResult load;
    load.workload = workload;
    RunResult kept;
    kept.meters = played.meters;
    kept.operations = played.operations;
    kept.verdict = played.verdict;
    kept.wall_ns = played.wall_ns;
    kept.io = played.io;
    kept.direct = played.direct;
    kept.digest = played.digest;
    kept.timing_digest = played.timing_digest;
    kept.faults_injected = played.faults_injected;
    load.steps.push_back(load_step(0, workload, std::move(kept)));
    return result::load_json_report(load) + report::load_csv_report(load);
}

/// Equal, or where the texts begin to differ: they are long.
std::string difference(const std::string& found, const std::string& expected) {
    if (found == expected) return "";
    const auto at = static_cast<std::size_t>(
        std::mismatch(found.begin(), found.end(), expected.begin(), expected.end()).first - found.begin());
    const std::size_t from = at - std::min<std::size_t>(at, 100);
    return "found ..." + found.substr(from, 200) + "...\nexpected ..." + expected.substr(from, 200);
}

/// As it comes over the seat channel: the document, and the rows beside it.
RunResult sent(const RunResult& part) {
    auto received = result::read_result(result::json_report(part), "sent");
    EXPECT_TRUE(received) << (received ? "" : received.error().problems.front());
    received->operations = part.operations;
    return *received;
}

TEST(MergingMeters, RanksGiveTheTablesOfOneProcess) {
    for (const auto& [clients, ranks] : {std::pair{5U, 4U}, std::pair{2U, 4U}, std::pair{8U, 3U}}) {
        const Workload workload = two_meters(clients);
        const PlayRequest request = request_of(workload);
        const RunResult one = result_of_meters(request);
        ASSERT_GT(one.operations.size(), 500U);
        ASSERT_GT(one.meters.front().cells.size(), 4U);
        std::vector<RunResult> parts;
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
            parts.push_back(sent(part_of_meters(request, rank, ranks)));
        std::reverse(parts.begin(), parts.end());
        const auto whole = result::merge_results(std::move(parts));
        ASSERT_TRUE(whole) << whole.error().problems.front();
        EXPECT_EQ(difference(figures_of(workload, *whole), figures_of(workload, one)), "")
            << clients << " clients on " << ranks << " ranks";
        EXPECT_TRUE(whole->verdict.pass) << whole->verdict.reason;
        EXPECT_EQ(whole->seats.size(), ranks);
    }
}

/// The result of all, cut into parts at random: each seat with all of its meters to any of the ranks.
TEST(MergingMeters, AnySplitOfOneResultComesTogetherExactly) {
    constexpr std::uint32_t kClients = 7;
    Workload workload = two_meters(kClients);
    workload.duration = milliseconds(300);
    const RunResult one = result_of_meters(request_of(workload));
    const std::string expected = figures_of(workload, one);
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Prng prng(seed);
        const auto ranks = static_cast<std::uint32_t>(1 + prng.below(9));
        std::vector<RunResult> parts(ranks, one);
        for (RunResult& part : parts) {
            part.meters.clear();
            part.operations.clear();
            part.faults_injected.emplace();
        }
        std::map<std::uint32_t, std::uint32_t> rank_of;
        std::vector<SeatResult> seats(ranks);
        for (std::uint32_t seat = 0; seat < kClients; ++seat) {
            rank_of[seat] = static_cast<std::uint32_t>(prng.below(ranks));
            seats[rank_of[seat]].seats.push_back(seat);
        }
        for (const MeterResult& meter : one.meters) parts[rank_of[meter.seat]].meters.push_back(meter);
        for (const OperationRow& row : one.operations) parts[rank_of[row.seat]].operations.push_back(row);
        parts.front().faults_injected = one.faults_injected;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            seats[rank].rank = rank;
            result::become_part("r1", ranks, std::move(seats[rank]), parts[rank]);
        }
        for (std::size_t i = parts.size(); i > 1; --i) std::swap(parts[i - 1], parts[prng.below(i)]);
        const auto at_once = result::merge_results(parts);
        ASSERT_TRUE(at_once) << at_once.error().problems.front();
        EXPECT_EQ(difference(figures_of(workload, *at_once), expected), "") << "seed " << seed;
        if (parts.size() < 2) continue;
        const auto first = result::merge_results({parts[0], parts[1]});
        ASSERT_TRUE(first);
        std::vector<RunResult> rest(parts.begin() + 2, parts.end());
        rest.push_back(*first);
        const auto in_groups = result::merge_results(rest);
        ASSERT_TRUE(in_groups) << in_groups.error().problems.front();
        EXPECT_EQ(difference(figures_of(workload, *in_groups), expected), "") << "seed " << seed;
    }
}

TEST(MergingMeters, ARankThatVanishedIsNamedAndItsJournalCounts) {
    const PlayRequest request = request_of(two_meters(5));
    std::vector<RunResult> parts;
    for (std::uint32_t rank = 0; rank < 3; ++rank) parts.push_back(part_of_meters(request, rank, 4));
    parts[1].seats.front().state = SeatResult::State::partial;
    parts[1].seats.front().why = "its journal ends after 2 s of play";
    RunResult begun = parts[1];
    begun.meters.clear();
    begun.seats.front().state = SeatResult::State::missing;
    const auto whole = result::merge_results({parts[0], begun, parts[1], parts[2]});
    ASSERT_TRUE(whole) << whole.error().problems.front();
    EXPECT_FALSE(whole->verdict.pass);
    EXPECT_THAT(whole->verdict.reason,
                AllOf(HasSubstr("seat 1 (host h1): it vanished: its journal ends after 2 s of play"),
                      HasSubstr("rank 3: nothing is known of what it played")));
    EXPECT_EQ(whole->meters.size(), 8U);  // two on each of the seats 0, 4, 1 and 2
    EXPECT_EQ(whole->seats[1].played_ns, 3'000'000'000);
}

TEST(MergingMeters, OperationsThatFailNameTheSeat) {
    PlayRequest request = request_of(two_meters(5));
    storage::FaultRule rule;
    rule.operation = storage::FaultRule::Operation::write;
    rule.seat = 2;
    rule.error = 5;
    request.faults->rules = {rule};
    std::vector<RunResult> parts;
    for (std::uint32_t rank = 0; rank < 4; ++rank) parts.push_back(part_of_meters(request, rank, 4));
    const auto whole = result::merge_results(parts);
    ASSERT_TRUE(whole);
    EXPECT_FALSE(whole->verdict.pass);
    EXPECT_THAT(whole->verdict.reason,
                AllOf(HasSubstr("seat 2 (host h2): "), HasSubstr("operations of the meters failed"),
                      Not(HasSubstr("seat 1"))));
}

TEST(MergingMeters, OneSeatOnTwoRanksIsRefused) {
    const PlayRequest request = request_of(two_meters(2));
    const RunResult first = part_of_meters(request, 0, 2);
    RunResult thief = part_of_meters(request, 1, 2);
    for (MeterResult& meter : thief.meters) meter.seat = 0;
    const auto merged = result::merge_results({first, thief});
    ASSERT_FALSE(merged);
    EXPECT_THAT(merged.error().problems, ElementsAre(HasSubstr("the meters of seat 0 are in two parts")));
}

TEST(MergingMeters, MetersBesideStreamsThatOtherRanksPlayLastAsLong) {
    PlayRequest request = request_of(two_meters(4));
    request.meters.front().spec.think_time = milliseconds(20);
    request.faults.reset();
    request.formats = {*media::Catalogue::load(STREAMSIM_SOURCE_DIR "/formats/media")->find("prores-hd")};
    request.total_streams = 2;  // of four seats
    request.duration.reset();
    request.frames = 45;
    request.keep_histograms = true;
    const auto play = [](const PlayRequest& whole) {
        Session session(whole, *find_media(nullptr, whole, nullptr), {}, [](const std::string&) {});
        return *session.execute();
    };
    const RunResult one = play(request);
    std::vector<RunResult> parts;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        PlayRequest own = request;
        own.first_seat = rank;
        own.own_seats = 1;
        SeatResult seat;
        seat.rank = rank;
        seat.seats = {rank};
        seat.start_ns = 0;
        result::become_part("r1", 4, std::move(seat), parts.emplace_back(play(own)));
    }
    const auto whole = result::merge_results(parts);
    ASSERT_TRUE(whole) << whole.error().problems.front();
    EXPECT_EQ(whole->digest, one.digest);
    EXPECT_EQ(whole->wall_ns, one.wall_ns);
    ASSERT_EQ(whole->meters.size(), 8U);
    EXPECT_EQ(whole->meters[7].wall_ns, 1'500'000'000);
    RunResult expected = one;
    expected.verdict = whole->verdict;
    const Workload workload = two_meters(4);
    EXPECT_EQ(difference(figures_of(workload, *whole), figures_of(workload, expected)), "");
}

/// A journal holds what meters did so far.
TEST(SnapshotOfMeters, IsWhatTheyDidSoFar) {
    Workload workload = two_meters(3);
    workload.duration = seconds(60);
    PlayRequest request = request_of(workload, "null:");
    request.loops = 2;
    Session session(request, {}, {}, {}, [](const std::string&) {});
    std::optional<Result<RunResult>> ended;
    std::thread player([&] { ended.emplace(session.execute()); });
    std::uint64_t last = 0;
    int seen = 0;
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (seen < 5 && std::chrono::steady_clock::now() < give_up) {
        std::this_thread::yield();
        const auto snapshot = session.snapshot();
        if (!snapshot || snapshot->meters.size() < 6) continue;
        std::uint64_t done = 0;
        for (const MeterResult& meter : snapshot->meters) {
            done += meter.all.done;
            EXPECT_EQ(meter.seat, static_cast<std::uint32_t>(&meter - snapshot->meters.data()) / 2);
            EXPECT_LT(meter.wall_ns, 60'000'000'000);
            if (meter.arrived > 0) {
                EXPECT_EQ(meter.arrived, meter.all.done + meter.all.failed + meter.unfinished);
            }
        }
        if (done <= last) continue;
        last = done;
        ++seen;
    }
    EXPECT_EQ(seen, 5);
    session.interrupt();
    player.join();
    ASSERT_TRUE(ended->has_value());
    std::uint64_t done = 0;
    for (const MeterResult& meter : (*ended)->meters) done += meter.all.done;
    EXPECT_GE(done, last);
}

}  // namespace
}  // namespace streamsim::run
