// One screen of text: at most 24 lines of 80 columns, of which the last is the verdict. Inside report/ only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/facts/report_line.h"
#include "report/tables/table.h"

namespace streamsim::report {

/// The heading in a column of its own, then the text.
std::string with_heading(const ReportLine& line);

class TextScreen {
public:
    /// `closing`: the last line, after the one that says how to get the whole report.
    explicit TextScreen(std::string closing) : closing_(std::move(closing)) {}

    /// The lines that can still be added.
    std::size_t left() const;
    /// Adds a line that fits; nothing if the screen is full.
    void add_line(std::string line);
    /// Adds a text in at most `lines_max` lines.
    void add_text(std::string_view text, std::size_t lines_max);
    /// Adds a line with its heading in at most `lines_max` lines, and nothing unless `reserved` lines are left
    /// after it.
    void add(const ReportLine& line, std::size_t lines_max, std::size_t reserved);
    /// Adds the rows that fit if `reserved` lines are to be left, and how many more there are.
    void add_cut_table(Table table, std::size_t reserved);
    /// Colours the first `bytes` of the first line. REQUIRES: there is one.
    void paint(std::size_t bytes, std::string_view colour, std::string_view plain);
    std::string text() const;

private:
    void add_wrapped(const std::string& text, std::size_t indent, std::size_t lines_max);

    std::string closing_;
    std::vector<std::string> lines_;
};

}  // namespace streamsim::report
