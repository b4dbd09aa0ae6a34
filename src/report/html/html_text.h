// Pieces of HTML: text that cannot break out of its element, numbers that programs can read. Inside report/
// only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/tables/table.h"
#include "streamsim/project.h"

namespace streamsim::report::html {

/// For elements and for quoted attributes: UTF-8 without control characters, whatever the text was.
std::string escaped(std::string_view text);

/// A name from outside: escaped, and unable to turn the direction of the text around it.
std::string name(std::string_view text);

/// A value of the result: `shown` for people; for programs `value` and the key that the JSON document has it
/// under ("streams.3.frames_late").
std::string data(std::string_view key, std::string_view value, std::string_view shown);
/// Shown as "12,345".
std::string number(std::string_view key, std::uint64_t value);
/// Shown with its unit.
std::string duration(std::string_view key, std::int64_t ns);
std::string bytes(std::string_view key, std::uint64_t bytes);
/// Bytes a second, as show_rate; without a key if the document has null.
std::string rate(std::string_view key, double bytes_per_s);

/// A command as typed, where a shell would take it so.
std::string show_command(const std::vector<std::string>& command);

/// <section> with its heading; `id` is unique on the page.
std::string section(std::string_view id, std::string_view heading, const std::string& content);
std::string paragraph(const std::string& content, std::string_view css_class = "");

/// Title, client, note and logo of the project; empty if nothing was named.
std::string project_html(const Project& project);

/// The table with its title as caption, in a region of its own that scrolls where the page is too narrow, and
/// its note as a paragraph; empty without rows. The first column names its row.
std::string table_html(const Table& table);

/// Pairs of a term and its HTML description; an empty term continues the one above.
class Facts {
public:
    void add(std::string_view term, const std::string& content);
    std::string html() const;

private:
    std::string items_;
};

}  // namespace streamsim::report::html
