// Tables as text, texts in lines of a terminal's width, and one screen of them: at most 24 lines, of which the
// last is the verdict. Inside report/ only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/facts/run_lines.h"
#include "report/tables/table.h"

namespace streamsim::report {

inline constexpr std::size_t kScreenColumns = 80;
inline constexpr std::size_t kScreenRows = 24;

struct Wrap {
    std::size_t columns = kScreenColumns;
    std::size_t indent = 0;       // of all lines but the first
    std::size_t lines_max = 100;  // the last one then ends with "..."
};

/// Breaks at spaces, and inside words that are longer than a line. At least one line.
std::vector<std::string> wrapped(std::string_view text, const Wrap& wrap);

/// The heading in a column of its own, then the text.
std::string with_heading(const ReportLine& line);

/// Heading and rows, each line indented by two and ended by a newline; columns as wide as their widest field.
/// `columns_max`: names are cut at their front until the lines are no wider; 0: nothing is cut.
std::string table_lines(const Table& table, Column::Form form, std::size_t columns_max = 0);

/// Title, rows and note; empty without rows.
std::string table_text(const Table& table);

class TextScreen {
public:
    /// `closing`: the last line, after the one that says how to get the whole report.
    explicit TextScreen(std::string closing, std::string_view files = "--html, --json, --csv, --junit")
        : closing_(std::move(closing)), files_(files) {}

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
    std::string_view files_;
    std::vector<std::string> lines_;
};

}  // namespace streamsim::report
