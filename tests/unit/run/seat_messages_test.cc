// Messages of other computers that are malformed: each is refused where it is read, and nothing of it is taken.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "seats/join_token.h"
#include "seats/lobby.h"
#include "seats/rank_messages.h"

namespace streamsim::seats {
namespace {

Json progress() {
    return to_json(RankProgress{.streams = 3,
                                .on_time = 10,
                                .stalls = 2,
                                .bytes_read = 99,
                                .bytes_written = 7,
                                .required_bytes_per_s = 1.5});
}

Json frame_rows(const std::string& kind, const std::string& reason) {
    return "0 1 2 3 0 0 " + kind + " " + reason + " 0 1000 1 2 3 4 5 6 7 a.mov" + std::string(1, '\0');
}

Json operation_rows(const std::string& operation, const std::string& mode) {
    return "0 0 1 2 " + operation + " " + mode + " 3 4 5 6 7 8 0 4096 4096 1 5 0 0 " + std::string(1, '\0');
}

TEST(SeatMessages, ACountThatIsNoneIsRefused) {
    EXPECT_EQ(progress_from_json(progress()).bytes_read, 99u);
    EXPECT_EQ(progress_from_json(progress()).bytes_written, 7u);
    for (const Json& wrong : {Json(-1), Json(1e300), Json(1.5), Json("1"), Json(nullptr), Json(true)}) {
        for (const char* key : {"streams", "on_time", "stalls", "bytes", "written"}) {
            Json message = progress();
            message[key] = wrong;
            EXPECT_THROW((void)progress_from_json(message), Json::exception) << message;
        }
    }
    Json message = progress();
    message["streams"] = std::uint64_t{1} << 32;
    EXPECT_THROW((void)progress_from_json(message), Json::exception);
}

TEST(SeatMessages, StallsAndWrittenBytesAreInTheSumsOfAllAndNoneWhereAnOlderSeatDoesNotTellThem) {
    RankProgress all = progress_from_json(progress());
    EXPECT_EQ(all.stalls, 2u);
    all += progress_from_json(progress());
    EXPECT_EQ(all.stalls, 4u);
    EXPECT_EQ(all.bytes_written, 14u);
    Json older = progress();
    older.erase("stalls");
    older.erase("written");
    EXPECT_EQ(progress_from_json(older).stalls, 0u);
    EXPECT_EQ(progress_from_json(older).bytes_written, 0u);
}

TEST(SeatMessages, AnErrorHasAKindAndAProblem) {
    const Result<void> error = bad_input("x");
    EXPECT_EQ(outcome_from_json(to_json(error)).error().problems, std::vector<std::string>{"x"});
    EXPECT_TRUE(outcome_from_json(to_json(Result<void>())));
    EXPECT_THROW((void)outcome_from_json({{"kind", 1}, {"problems", Json::array()}}), Json::exception);
    EXPECT_THROW((void)outcome_from_json({{"kind", 9}, {"problems", {"x"}}}), Json::exception);
    EXPECT_THROW((void)outcome_from_json({{"kind", -1}, {"problems", {"x"}}}), Json::exception);
}

TEST(SeatMessages, ARowHasWordsThatAreKnown) {
    std::vector<FrameRow> frames;
    add_rows(frame_rows("4", "6"), frames);
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_THROW(add_rows(frame_rows("5", "0"), frames), Json::exception);
    EXPECT_THROW(add_rows(frame_rows("0", "7"), frames), Json::exception);
    EXPECT_THROW(add_rows(frame_rows("256", "0"), frames), Json::exception);
    EXPECT_THROW(add_rows(frame_rows("-1", "0"), frames), Json::exception);
    std::vector<OperationRow> operations;
    add_rows(operation_rows("7", "3"), operations);
    ASSERT_EQ(operations.size(), 1u);
    EXPECT_THROW(add_rows(operation_rows("8", "0"), operations), Json::exception);
    EXPECT_THROW(add_rows(operation_rows("0", "4"), operations), Json::exception);
}

TEST(SeatMessages, ARowArrivesWithEachReason) {
    for (int number = 0; number <= UINT8_MAX; ++number) {
        FrameRow row;
        row.outcome.reason = static_cast<DropReason>(number);
        if (to_string(row.outcome.reason) == std::string_view("?")) continue;
        std::vector<FrameRow> rows;
        add_rows(to_json(std::span<const FrameRow>(&row, 1)), rows);
        ASSERT_EQ(rows.size(), 1u);
        EXPECT_EQ(rows.front().outcome.reason, row.outcome.reason);
    }
}

TEST(SeatMessages, AClockHasItsBound) {
    const Json good = {{"do", "ready"},
                       {"targets", Json::array()},
                       {"bound_ns", 1000},
                       {"clock_ns", 5'000},
                       {"time_of_day_ns", 1'700'000'000'000}};
    const SeatReport report = seat_report_from_json(good, nanoseconds(1'699'999'000'000));
    EXPECT_EQ(report.ahead, nanoseconds(995'000));
    EXPECT_EQ(report.clock_error, nanoseconds(1000));
    const auto refuses = [&](const char* key, const Json& value) {
        Json message = good;
        message[key] = value;
        EXPECT_THROW((void)seat_report_from_json(message, Duration{}), Json::exception) << message;
    };
    refuses("bound_ns", nullptr);
    refuses("bound_ns", -1);
    refuses("clock_ns", nullptr);
    refuses("clock_ns", INT64_MAX);
    refuses("time_of_day_ns", INT64_MIN);
    refuses("time_of_day_ns", 1e300);
}

TEST(SeatMessages, AKeyThatIsDamagedIsNamedWithItsPlace) {
    const Json key = Json::parse(SeatKeys::make().to_document());
    EXPECT_TRUE(SeatKeys::read_document(key.dump(), "k.key"));
    for (const std::string place : {"host", "seat"}) {
        for (const char* const half : {"public", "secret"}) {
            const std::string whole = key[place][half];
            const char other = whole[20] == 'a' ? 'b' : 'a';
            for (const std::string& damaged : {whole.substr(1), whole.substr(0, 20) + '"' + whole.substr(21),
                                               whole.substr(0, 20) + other + whole.substr(21)}) {
                Json document = key;
                document[place][half] = damaged;
                const auto read = SeatKeys::read_document(document.dump(), "k.key");
                ASSERT_FALSE(read) << document;
                EXPECT_EQ(read.error().kind, ErrorKind::bad_input);
                EXPECT_EQ(read.error().problems.front(),
                          "k.key: the key at /" + place + " is damaged: copy the file anew");
            }
        }
    }
}

TEST(SeatMessages, ATokenHasAPort) {
    const JoinToken token{.run_id = "1", .keys = {}, .machine = "m", .addresses = {"::1"}, .port = 4711};
    ASSERT_TRUE(JoinToken::parse(token.to_text()));
    Json json = Json::parse(token.to_text());
    json["port"] = 70'000;
    EXPECT_FALSE(JoinToken::parse(json.dump()));
}

}  // namespace
}  // namespace streamsim::seats
