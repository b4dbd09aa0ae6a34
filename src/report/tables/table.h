// The row model of a report's table: headings, units and cells are computed once; text and HTML render them.
// Inside report/ only.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace streamsim::report {

/// The text of a field without a value.
inline constexpr const char* kNoValue = "-";

/// One field. The text is plain; renderers escape it.
struct Cell {
    Cell(std::string shown) : text(std::move(shown)) {}  // NOLINT(google-explicit-constructor): rows are lists
    Cell(const char* shown) : text(shown) {}             // NOLINT(google-explicit-constructor)

    std::string text;
    std::string key;             // where the result document has the number: "streams.3.frames_late"
    std::string value;           // the number as the document has it; set with `key`
    bool outside_name = false;   // a name of a file, host or format, which may hold any character
    const char* css_class = "";  // on pages: "good", "bad" or none
};

Cell count_cell(std::uint64_t count);
Cell count_cell(std::string key, std::uint64_t count);
/// A duration, shown with its unit; no value for nullopt.
Cell time_cell(const std::optional<std::int64_t>& ns);
Cell time_cell(std::string key, const std::optional<std::int64_t>& ns);
/// "4,777.8 MB/s"; no value for 0 and for infinity.
Cell rate_cell(double bytes_per_s);
Cell rate_cell(std::string key, double bytes_per_s);
Cell name_cell(std::string name);

struct Column {
    enum class Align { left, right };
    enum class Keep {
        always,
        where_not_zero,  // only if a row has a value other than 0
        on_page,         // the same in text; always on the HTML page
    };
    /// The shortest report that shows the column.
    enum class Form { screen, full, page };

    std::string heading;
    Align align = Align::left;
    Keep keep = Keep::always;
    Form form = Form::screen;
};
using Keep = Column::Keep;
using Form = Column::Form;

struct Table {
    std::string title;
    std::string css_class;  // of the HTML table
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows;
    std::vector<Cell> sum;  // the last row, of all others together; or empty
    std::string note;       // after the table: which rows are left out, and where they are; or empty

    /// Adds columns that are alike, aligned at this side.
    void left(std::initializer_list<std::string> headings,
              Column::Keep keep = Column::Keep::always,
              Column::Form form = Column::Form::screen);
    void right(std::initializer_list<std::string> headings,
               Column::Keep keep = Column::Keep::always,
               Column::Form form = Column::Form::screen);
    /// REQUIRES: a field for each column.
    void row(std::vector<Cell> fields);
    bool empty() const { return rows.empty(); }
    /// Whether a row has a value other than 0 in the column.
    bool has_values(std::size_t column) const;
};

}  // namespace streamsim::report
