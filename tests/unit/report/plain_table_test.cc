#include "view/plain_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace streamsim::view {
namespace {

using testing::ElementsAre;

std::vector<std::string> texts(const std::vector<ViewLine>& lines) {
    std::vector<std::string> out;
    for (const ViewLine& line : lines) out.push_back(line.text);
    return out;
}

TEST(PlainTable, HasColumnsAsWideAsTheirCells) {
    EXPECT_THAT(texts(table_lines({"seat", "targets"}, {{{"edit1", "a"}}, {{"e", "/mnt"}}}, 80, 10)),
                ElementsAre("seat   targets", "edit1  a", "e      /mnt"));
}

TEST(PlainTable, IsCutWhereTheTerminalEnds) {
    const std::vector<PlainRow> rows(5, {{"edit", "123456789"}, Paint::good});
    EXPECT_THAT(texts(table_lines({"seat", "targets"}, rows, 10, 4)),
                ElementsAre("seat  targ", "edit  1234", "edit  1234", "and 3 more"));
    EXPECT_THAT(texts(table_lines({"a"}, {{{"x\x1b[31m"}}}, 80, 9)), ElementsAre("a", "x\\x1b[31m"));
}

}  // namespace
}  // namespace streamsim::view
