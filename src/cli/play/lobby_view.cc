#include "cli/play/lobby_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "base/utf8.h"
#include "cli/options/options.h"
#include "cli/play/live_play.h"
#include "report/html/live_page.h"
#include "view/plain_table.h"

namespace streamsim::cli {
namespace {

using State = report::SeatsTable::Row::State;

constexpr std::size_t kNewsShown = 5;
constexpr int kStandardInput = 0, kStandardError = 2;

const std::vector<std::string>& headings() {
    static const std::vector<std::string> all = {"seat", "system", "streamsim", "clock", "targets"};
    return all;
}

std::string clock_text(const seats::SeatReport& report) {
    if (!report.clock_error) return "no answer";
    std::string error = "+-" + show_duration(*report.clock_error);
    if (!report.ahead) return error;
    const bool behind = report.ahead->ns < 0;
    return fmt::format("{}{} {}", behind ? "-" : "+",
                       show_duration(Duration{behind ? -report.ahead->ns : report.ahead->ns}), error);
}

std::string target_text(const seats::TargetSeen& seen) {
    if (!seen.problem.empty()) return seen.problem;
    if (!seen.free_bytes) return seen.target;
    return fmt::format("{}: {} free", seen.target, show_bytes(*seen.free_bytes));
}

}  // namespace

struct LobbyView::Row {
    std::vector<std::string> cells;
    State state = State::waits;
};

LobbyView::LobbyView(CommandContext& context,
                     std::string rule,
                     std::vector<std::string> join,
                     std::shared_ptr<view::WebServer> page)
    : context_(context), rule_(std::move(rule)), join_(std::move(join)), page_(std::move(page)) {
    if (!context_.options.quiet && LivePlay::keys_possible() && view::LiveView::possible(kStandardError))
        view_.emplace(kStandardError, kStandardInput, view::LiveView::colours_wanted(kStandardError));
}

std::string LobbyView::title(const seats::Lobby& lobby) const {
    const std::vector<std::string>& line = context_.options.line;
    const auto options =
        std::ranges::find_if(line, [](const std::string& word) { return word.starts_with('-'); });
    return fmt::format("{}: {} of {} seats are here", fmt::join(line.begin(), options, " "), lobby.here(),
                       lobby.seats.size());
}

LobbyView::Row LobbyView::row_of(const seats::LobbySeat& seat, std::size_t number) const {
    if (!seat.here || seat.gone)
        return {{fmt::format("seat {}", number), seat.gone ? "is gone" : "is awaited", "", "", ""}};
    const run::ProgramFacts& program = context_.program;
    Row row{
        {seat.name, fmt::format("{}, {} processors", seat.host.os, seat.host.cpus), program.version, "", ""}};
    if (seat.away) {
        row.cells.back() = "cut off";
        row.state = State::wrong;
    } else if (!seat.report) {
        row.cells.back() = "looks at the targets";
    } else {
        row.cells[3] = clock_text(*seat.report);
        std::vector<std::string> targets;
        for (const seats::TargetSeen& seen : seat.report->targets) targets.push_back(target_text(seen));
        row.cells.back() = fmt::format("{}", fmt::join(targets, "; "));
        const bool wrong = std::ranges::any_of(
            seat.report->targets, [](const seats::TargetSeen& seen) { return !seen.problem.empty(); });
        row.state = wrong ? State::wrong : State::ready;
    }
    return row;
}

LobbyView::Wish LobbyView::show(const seats::Lobby& lobby) {
    news_.insert(news_.end(), lobby.news.begin(), lobby.news.end());
    if (!view_) {
        for (const std::string& each : lobby.news) context_.log.info(each);
    }
    if (page_) publish(lobby);
    if (!view_) return Wish::none;
    Wish wish = Wish::none;
    for (const view::Key key : view_->typed()) {
        if (key == view::Key::begin) wish = Wish::begin;
        if (key == view::Key::quit) wish = Wish::quit;
    }
    draw(lobby);
    return wish;
}

void LobbyView::draw(const seats::Lobby& lobby) {
    std::vector<view::PlainRow> rows;
    for (const seats::LobbySeat& seat : lobby.seats) {
        Row row = row_of(seat, rows.size());
        const view::Paint paint = row.state == State::ready   ? view::Paint::good
                                  : row.state == State::wrong ? view::Paint::bad
                                                              : view::Paint::faint;
        rows.push_back({std::move(row.cells), paint});
    }
    view_->draw([&](int columns, int lines) {
        const std::size_t news = std::min(kNewsShown, news_.size());
        std::vector<view::ViewLine> out = {{printable(title(lobby)), view::Paint::strong}, {rule_}};
        for (const std::string& each : join_) out.push_back({printable(each)});
        out.push_back({""});
        const std::size_t others = out.size() + news + 3;
        const std::size_t room = static_cast<std::size_t>(std::max(lines, 0));
        for (view::ViewLine& line :
             view::table_lines(headings(), rows, columns, room > others ? room - others : 2))
            out.push_back(std::move(line));
        out.push_back({""});
        for (std::size_t i = news_.size() - news; i < news_.size(); ++i) out.push_back({printable(news_[i])});
        out.push_back({"Enter: begin with the seats that are here   q: end", view::Paint::faint});
        return out;
    });
}

void LobbyView::publish(const seats::Lobby& lobby) {
    report::SeatsTable table{"NOT BEGUN", title(lobby), headings(), {}, {}};
    for (const seats::LobbySeat& seat : lobby.seats) {
        Row row = row_of(seat, table.rows.size());
        table.rows.push_back({std::move(row.cells), row.state});
    }
    const std::size_t news = std::min(kNewsShown, news_.size());
    table.news.assign(news_.end() - static_cast<std::ptrdiff_t>(news), news_.end());
    auto [page, event] = report::seats_page(table, "The run " + rule_ + ".");
    if (std::exchange(published_, event) == event) return;
    page_->publish_page(std::move(page), std::move(event));
}

void LobbyView::end() {
    if (!view_) return;
    view_->leave();
    view_.reset();
    for (const std::string& each : news_) context_.log.info(each);
}

}  // namespace streamsim::cli
