// Pieces of HTML: text that cannot break out of it, numbers that can be read back, tables. Inside report/ only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace streamsim::report::html {

/// For elements and for quoted attributes: UTF-8 without control characters, whatever the text was.
std::string escaped(std::string_view text);

/// A name from outside: escaped, and unable to turn the direction of the text around it.
std::string name(std::string_view text);

/// A number of the result: `shown` for people, `value` and the place where the JSON document has it
/// ("streams.3.frames_late") for programs.
std::string number(std::string_view key, std::uint64_t value, std::string_view shown);
/// The same, shown with its thousands apart.
std::string number(std::string_view key, std::uint64_t value);
std::string number(std::string_view key, std::int64_t value, std::string_view shown);
/// Bytes a second, as show_rate; without a place where the document has null.
std::string rate(std::string_view key, double bytes_per_s);

/// "7:03.467", "1:02:03.000"; without the thousandths where they are not wanted. Negative times have a minus.
std::string clock(std::int64_t ns, bool thousandths);

/// <section> with its heading; `id` is its own.
std::string section(std::string_view id, std::string_view heading, const std::string& content);
std::string paragraph(const std::string& content, std::string_view css_class = "");

/// Terms and what is said of them, in pairs of HTML; an empty term goes on with the one above.
class Facts {
public:
    void add(std::string_view term, const std::string& content);
    std::string html() const;

private:
    std::string items_;
};

/// A table with a caption, in a region of its own that scrolls where the page is too narrow.
class Table {
public:
    enum class Align { left, right };
    enum class Keep { always, where_not_zero };

    explicit Table(std::string caption, std::string_view css_class = "");
    /// The first column names its row.
    void column(std::string_view heading, Align align, Keep keep = Keep::always);
    /// Fields of HTML. REQUIRES: one for each column.
    void row(std::vector<std::string> fields);
    /// The last row, of all the others together.
    void sum(std::vector<std::string> fields);
    std::string html() const;

private:
    struct Column {
        std::string heading;
        Align align;
        Keep keep;
    };
    bool shown(std::size_t column) const;
    std::string line(const std::vector<std::string>& fields, const std::vector<bool>& shown) const;

    std::string caption_, class_;
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
    std::vector<std::string> sum_;
};

}  // namespace streamsim::report::html
