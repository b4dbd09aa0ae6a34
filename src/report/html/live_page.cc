#include "report/html/live_page.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/document/json.h"
#include "report/html/charts.h"
#include "report/html/html_page.h"
#include "report/html/html_report.h"
#include "report/html/html_text.h"
#include "report/tables/table.h"

namespace streamsim::report {
namespace {

std::string state_html(std::string_view state, bool ended) {
    return fmt::format(
        "<aside class=\"live\" data-live data-ended=\"{}\" aria-label=\"State of the run\">"
        "<p id=\"live-state\">{}</p><p id=\"live-verdict\" role=\"status\"></p></aside>\n",
        ended, html::escaped(state));
}

LivePage both(const html::Page& content, std::string_view state, bool ended) {
    const OrderedJson event = {
        {"state", state}, {"title", content.title}, {"main", content.main}, {"data", content.data}};
    return {html::document(content, {state_html(state, ended), !ended}), json_text(event)};
}

}  // namespace

std::string waiting_page(std::string_view state) {
    html::Page page;
    page.title = "streamsim: not begun to play";
    page.main =
        "<header class=\"verdict doubtful\">\n<p class=\"kind\">streamsim report</p>\n"
        "<h1><span class=\"word\">NOT BEGUN</span></h1>\n</header>\n";
    page.data = html::Charts().data();
    return html::document(page, {state_html(state, false), true});
}

LivePage live_page(const RunResult& result, std::string_view state) {
    return both(html_report_page(result), state, false);
}

LivePage finished_page(const RunResult& result, std::string_view state) {
    return both(html_report_page(result), state, true);
}

LivePage seats_page(const SeatsTable& seats, std::string_view state) {
    Table table;
    table.title = "Seats";
    for (const std::string& heading : seats.headings) table.left({heading});
    for (const SeatsTable::Row& row : seats.rows) {
        std::vector<Cell> cells;
        for (const std::string& text : row.cells) cells.push_back(name_cell(text));
        using State = SeatsTable::Row::State;
        cells.front().css_class = row.state == State::ready ? "good" : row.state == State::wrong ? "bad" : "";
        table.row(std::move(cells));
    }
    html::Page page;
    page.title = "streamsim: " + seats.title;
    page.main = fmt::format(
        "<header class=\"verdict doubtful\">\n<p class=\"kind\">streamsim report</p>\n"
        "<h1><span class=\"word\">{}</span> {}</h1>\n</header>\n{}",
        seats.word, html::escaped(seats.title), html::table_html(table));
    for (const std::string& each : seats.news) page.main += fmt::format("<p>{}</p>\n", html::name(each));
    page.data = html::Charts().data();
    return both(page, state, false);
}

std::string live_state(std::string_view state) {
    return json_text(OrderedJson{{"state", state}});
}

}  // namespace streamsim::report
