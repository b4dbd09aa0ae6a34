// A line of a report: a heading and what it says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace streamsim::report {

struct ReportLine {
    std::string heading;  // empty: the line continues the one above
    std::string text;
};

class ReportLines : public std::vector<ReportLine> {
public:
    void add(std::string_view heading, std::string text) { push_back({std::string(heading), std::move(text)}); }
};

}  // namespace streamsim::report
