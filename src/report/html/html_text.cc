#include "report/html/html_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "base/utf8.h"

namespace streamsim::report::html {
namespace {

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

std::string data(std::string_view key, std::string_view value, std::string_view shown) {
    return fmt::format(R"(<data value="{}" data-key="{}">{}</data>)", value, key, shown);
}

std::string number(std::string_view key, std::uint64_t value) {
    return data(key, std::to_string(value), show_count(value));
}

std::string duration(std::string_view key, std::int64_t ns) {
    return data(key, std::to_string(ns), show_duration({ns}));
}

std::string bytes(std::string_view key, std::uint64_t bytes) {
    return data(key, std::to_string(bytes), show_bytes(bytes));
}

std::string rate(std::string_view key, double bytes_per_s) {
    const std::string shown = show_rate(bytes_per_s);
    return std::isfinite(bytes_per_s) ? data(key, std::to_string(std::llround(bytes_per_s)), shown) : shown;
}

std::string project_html(const Project& project) {
    if (!project.is_named()) return {};
    std::string out = "<div class=\"project\">\n";
    if (!project.logo.empty())
        out += fmt::format("<img src=\"{}\" alt=\"{}\">\n", escaped(project.logo),
                           project.client.empty() ? "Logo" : "Logo of " + escaped(project.client));
    out += "<div>";
    if (!project.title.empty()) out += "<p class=\"title\">" + name(project.title) + "</p>";
    if (!project.client.empty()) out += "<p>" + name(project.client) + "</p>";
    if (!project.note.empty()) out += "<p class=\"note\">" + name(project.note) + "</p>";
    return out + "</div>\n</div>\n";
}

std::string show_command(const std::vector<std::string>& command) {
    std::string out;
    for (const std::string& word : command) {
        const bool plain = !word.empty() && word.find_first_not_of(
                                                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                "0123456789_-+=./:,%@") == std::string::npos;
        std::string quoted = "'";
        for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
        if (!out.empty()) out += ' ';
        out += plain ? word : quoted + "'";
    }
    return out;
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

}  // namespace streamsim::report::html
