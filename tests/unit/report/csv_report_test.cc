#include "report/csv/csv_report.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include "unit/report/sample_results.h"

namespace streamsim::report {
namespace {

using testing::HasSubstr;

std::string csv(const RunResult& result) {
    std::string out;
    csv_report(result, [&out](std::string_view piece) { out += piece; });
    return out;
}

FrameRow played() {
    FrameRow row;
    row.seat = 1;
    row.stream = 2;
    row.file = "clip.0000001.dpx";
    row.outcome = {.slot = 49, .clip_frame = 1, .bytes = 49'768'448, .open_time = {90'000}};
    row.outcome.scheduled = {-5};
    row.outcome.submitted = {10};
    row.outcome.opened = {90'010};
    row.outcome.deadline = {2'000};
    row.outcome.completed = {1'500};
    return row;
}

TEST(CsvReport, HasAHeaderAndARowAFrame) {
    RunResult result;
    result.frames = {played()};
    EXPECT_EQ(
        csv(result),
        csv_header() + "1,2,49,1,clip.0000001.dpx,on_time,,0,49768448,-5,10,90010,90000,2000,1500,500\r\n");
}

TEST(CsvReport, LeavesEmptyWhatNeverWas) {
    FrameRow row;
    row.outcome.kind = FrameKind::dropped;
    row.outcome.reason = DropReason::late;
    std::string out;
    append_csv_row(row, out);
    EXPECT_EQ(out, "0,0,0,0,,dropped,late,0,0,,,,,,,\r\n");
}

TEST(CsvReport, HasAsManyFieldsAsHeadings) {
    std::string row;
    append_csv_row(played(), row);
    const std::string header = csv_header();
    EXPECT_EQ(std::count(row.begin(), row.end(), ','), std::count(header.begin(), header.end(), ','));
}

TEST(CsvReport, QuotesWhatWouldBreakARow) {
    FrameRow row = played();
    row.file = "a comma, \"quoted\".dpx";
    std::string out;
    append_csv_row(row, out);
    EXPECT_THAT(out, HasSubstr(",\"a comma, \"\"quoted\"\".dpx\","));
}

TEST(CsvReport, MakesControlCharactersAndBytesThatAreNotUtf8Visible) {
    for (const auto& [name, cell] :
         {std::pair("a\x1b[2J.dpx", "a\\x1b[2J.dpx"), std::pair("a\r\nb.dpx", "a\\x0d\\x0ab.dpx"),
          std::pair("\xff\xfe.dpx", "\\xff\\xfe.dpx"), std::pair("\u202egpd.x", "\\u202egpd.x"),
          std::pair("caf\u00e9.dpx", "caf\u00e9.dpx"), std::pair("=\x1b,", "\"'=\\x1b,\"")}) {
        FrameRow row = played();
        row.file = name;
        std::string out;
        append_csv_row(row, out);
        EXPECT_THAT(out, HasSubstr(std::string(",") + cell + ",on_time,")) << cell;
    }
}

TEST(CsvReport, GuardsTextThatASpreadsheetWouldTakeForAFormulaAndNoNumber) {
    FrameRow row = played();
    row.outcome.completed = row.outcome.deadline + Duration{70};
    for (const char* name : {"=cmd|'/c calc'!A1", "+1.dpx", "-1.dpx", "@SUM(A1)"}) {
        row.file = name;
        std::string out;
        append_csv_row(row, out);
        EXPECT_THAT(out, HasSubstr(std::string(",'") + name + ",")) << name;
        EXPECT_TRUE(out.ends_with(",-70\r\n")) << out;
    }
    std::string cell;
    append_csv_text("=1,\"2\"", cell);
    EXPECT_EQ(cell, "\"'=1,\"\"2\"\"\"");
    cell.clear();
    append_csv_text("a=b", cell);
    EXPECT_EQ(cell, "a=b");
}

TEST(CsvReport, GivesALongRunInPiecesOfWholeRows) {
    RunResult result;
    result.frames.assign(20'000, played());
    std::size_t pieces = 0;
    std::size_t bytes = 0;
    csv_report(result, [&](std::string_view piece) {
        ++pieces;
        bytes += piece.size();
        EXPECT_TRUE(piece.ends_with("\r\n"));
        EXPECT_LT(piece.size(), 70'000U);
    });
    std::string row;
    append_csv_row(played(), row);
    EXPECT_EQ(bytes, csv_header().size() + 20'000 * row.size());
    EXPECT_GT(pieces, 10U);
}

TEST(LoadCsvReport, HasAsManyFieldsAsHeadingsWhereAStepIsOfThousands) {
    LoadResult result;
    result.workload.meters.emplace_back().name = "m";
    result.workload.sweep.over = Sweep::Over::operations_per_s;
    for (const double at : {16'000.0, 1'234'567.0, 0.5}) {
        LoadStep& step = result.steps.emplace_back();
        step.at = at;
        step.result.operations.emplace_back();
    }
    std::istringstream rows(load_csv_report(result));
    std::string header;
    ASSERT_TRUE(std::getline(rows, header));
    for (const char* step : {"16000,", "1234567,", "0.5,"}) {
        std::string row;
        ASSERT_TRUE(std::getline(rows, row));
        EXPECT_TRUE(row.starts_with(step)) << row;
        EXPECT_EQ(std::count(row.begin(), row.end(), ','), std::count(header.begin(), header.end(), ','));
    }
}

}  // namespace
}  // namespace streamsim::report
