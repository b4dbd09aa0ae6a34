#include "report/html/html_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/units.h"
#include "base/utf8.h"
#include "report/text/text_tables.h"

namespace streamsim::report::html {
namespace {

constexpr std::size_t kOnOnePage = 30;  // rows of a table that is not broken where it fits on a page

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

std::string_view entity(std::uint32_t c) {
    switch (c) {
        case '&': return "&amp;";
        case '<': return "&lt;";
        case '>': return "&gt;";
        case '"': return "&quot;";
        case '\'': return "&#39;";
        default: return {};
    }
}

template <typename T>
std::string data_element(std::string_view key, T value, std::string_view shown) {
    return fmt::format(R"(<data value="{}" data-key="{}">{}</data>)", value, key, shown);
}

/// A field that says 0 or nothing, whatever element it stands in.
bool says_zero(std::string_view html) {
    std::string text;
    bool inside = false;
    for (const char c : html) {
        if (c == '<') inside = true;
        if (!inside) text += c;
        if (c == '>') inside = false;
    }
    return text.empty() || text == "0";
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const Utf8Character character = first_character(text);
        const std::string_view instead = entity(character.code);
        if (character.bytes == 0 || is_control(character.code)) {
            out += kReplacement;
        } else {
            out += instead.empty() ? text.substr(0, character.bytes) : instead;
        }
        text.remove_prefix(std::max<std::size_t>(character.bytes, 1));
    }
    return out;
}

std::string name(std::string_view text) {
    return "<bdi>" + escaped(text) + "</bdi>";
}

std::string number(std::string_view key, std::uint64_t value, std::string_view shown) {
    return data_element(key, value, shown);
}

std::string number(std::string_view key, std::uint64_t value) {
    return data_element(key, value, show_count(value));
}

std::string number(std::string_view key, std::int64_t value, std::string_view shown) {
    return data_element(key, value, shown);
}

std::string rate(std::string_view key, double bytes_per_s) {
    const std::string shown = show_rate(bytes_per_s);
    return std::isfinite(bytes_per_s) ? data_element(key, std::llround(bytes_per_s), shown) : shown;
}

std::string clock(std::int64_t ns, bool thousandths) {
    const std::uint64_t magnitude =
        ns < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    const std::uint64_t ms =
        thousandths ? (magnitude + 500'000) / 1'000'000 : (magnitude + 500'000'000) / 1'000'000'000 * 1000;
    const std::uint64_t s = ms / 1000;
    std::string out = ns < 0 && ms > 0 ? "\u2212" : "";
    if (s >= 3600) {
        out += fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
    } else {
        out += fmt::format("{}:{:02}", s / 60, s % 60);
    }
    return thousandths ? out + fmt::format(".{:03}", ms % 1000) : out;
}

std::string section(std::string_view id, std::string_view heading, const std::string& content) {
    return fmt::format(
        "<section id=\"{0}\" aria-labelledby=\"{0}-h\">\n<h2 id=\"{0}-h\">{1}</h2>\n{2}</section>\n", id,
        heading, content);
}

std::string paragraph(const std::string& content, std::string_view css_class) {
    if (css_class.empty()) return "<p>" + content + "</p>\n";
    return fmt::format("<p class=\"{}\">{}</p>\n", css_class, content);
}

void Facts::add(std::string_view term, const std::string& content) {
    if (!term.empty()) {
        if (!items_.empty()) items_ += "</div>\n";
        items_ += fmt::format("<div><dt>{}</dt>", term);
    }
    items_ += "<dd>" + content + "</dd>";
}

std::string Facts::html() const {
    return items_.empty() ? "" : "<dl class=\"facts\">\n" + items_ + "</div>\n</dl>\n";
}

Table::Table(std::string caption, std::string_view css_class)
    : caption_(std::move(caption)), class_(css_class) {}

void Table::column(std::string_view heading, Align align, Keep keep) {
    columns_.push_back({std::string(heading), align, keep});
}

void Table::row(std::vector<std::string> fields) {
    STREAMSIM_CHECK(fields.size() == columns_.size(), "a table row has a field for each column");
    rows_.push_back(std::move(fields));
}

void Table::sum(std::vector<std::string> fields) {
    STREAMSIM_CHECK(fields.size() == columns_.size(), "a table row has a field for each column");
    sum_ = std::move(fields);
}

bool Table::shown(std::size_t column) const {
    if (columns_[column].keep == Keep::always) return true;
    return std::any_of(rows_.begin(), rows_.end(),
                       [column](const auto& row) { return !says_zero(row[column]); });
}

std::string Table::line(const std::vector<std::string>& fields, const std::vector<bool>& shown) const {
    std::string out = "<tr>";
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (!shown[i]) continue;
        const char* align = columns_[i].align == Align::right ? " class=\"n\"" : "";
        out += i == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>", align, fields[i])
                      : fmt::format("<td{}>{}</td>", align, fields[i]);
    }
    return out + "</tr>\n";
}

std::string Table::html() const {
    std::vector<bool> shown_columns;
    std::string head;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        shown_columns.push_back(shown(i));
        if (!shown_columns.back()) continue;
        head += fmt::format("<th scope=\"col\"{}>{}</th>",
                            columns_[i].align == Align::right ? " class=\"n\"" : "", columns_[i].heading);
    }
    std::string out = fmt::format(
        "<div class=\"scroll{3}\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\">\n<table class=\"{1}\">\n"
        "<caption><span>{0}</span></caption>\n<thead><tr>{2}</tr></thead>\n<tbody>\n",
        caption_, class_, head, rows_.size() <= kOnOnePage ? " short" : "");
    for (const auto& row : rows_) out += line(row, shown_columns);
    out += "</tbody>\n";
    if (!sum_.empty()) out += "<tfoot>\n" + line(sum_, shown_columns) + "</tfoot>\n";
    return out + "</table>\n</div>\n";
}

}  // namespace streamsim::report::html
