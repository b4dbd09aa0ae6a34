#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "report/csv/csv_report.h"
#include "unit/report/sample_results.h"

namespace streamsim::report {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
}

TEST(StreamsCsv, HasARowAStream) {
    const auto rows = lines(streams_csv(samples::seats_and_stalls()));
    ASSERT_EQ(rows.size(), 5U);
    EXPECT_THAT(rows[0], StartsWith(std::string(kStreamsCsvBegins)));
    EXPECT_THAT(rows[4],
                StartsWith("1,1,prores-hd,clip2,30000/1001,true,filename-prefetch,240,238,2,0,0,0,0,0,"));
    EXPECT_THAT(rows[4], HasSubstr(",31200000,32000000,35000000,41000000,290000000,333000000,12300000,"));
}

TEST(StreamsCsv, LeavesEmptyWhatIsNot) {
    for (const RunResult& result : {samples::interrupted(), samples::plays()}) {
        const auto rows = lines(streams_csv(result));
        EXPECT_EQ(std::count(rows[0].begin(), rows[0].end(), ','),
                  std::count(rows[1].begin(), rows[1].end(), ','));
    }
    EXPECT_THAT(lines(streams_csv(samples::interrupted()))[1], HasSubstr(",,,,,,"));
}

}  // namespace
}  // namespace streamsim::report
