#include "report/purchase/purchase_report.h"

#include <fmt/format.h>

#include <utility>

#include "base/units.h"
#include "report/html/html_page.h"
#include "report/html/html_report.h"
#include "report/html/html_text.h"
#include "report/purchase/purchase_facts.h"
#include "report/text/screen.h"

namespace streamsim::report {
namespace {

std::string verdict(const PurchaseResult& result) {
    const PurchaseHeadline headline = purchase_headline(result);
    return headline.word + headline.rest;
}

std::string plan_title(const PurchaseResult& result, std::size_t i) {
    return fmt::format("Plan {}, {}: {}", i + 1, result.plans[i].offer,
                       show_money(result, result.plans[i].price));
}

std::string full_report(const PurchaseResult& result) {
    std::string out = verdict(result) + "\n" + purchase_need_text(result) + "\n\n";
    out += table_text(plans_table(result)) + table_text(nearest_table(result));
    for (std::size_t i = 0; i < result.plans.size(); ++i) {
        out += "\n" + table_text(choices_table(result, result.plans[i], plan_title(result, i)));
        out += "\n" + table_text(parts_table(result.plans[i]));
    }
    out += "\n";
    for (const std::string& remark : purchase_remarks(result)) out += remark + "\n";
    return out + verdict(result) + "\n";
}

/// The verdict without the choices.
std::string closing(const PurchaseResult& result) {
    if (result.plans.empty()) return wrapped(verdict(result), {.lines_max = 1}).front();
    return fmt::format("PLAN: {} for {}", show_money(result, result.plans.front().price),
                       result.plans.front().offer);
}

/// One screen: the plans, and one step less of the first.
std::string screen_report(const PurchaseResult& result) {
    TextScreen screen(closing(result), "--html, --json");
    screen.add_text(verdict(result), 2);
    screen.add_text(purchase_need_text(result), 2);
    screen.add_line("");
    constexpr std::size_t kReserved = 3, kPlansShown = 4;
    if (result.plans.empty()) {
        for (std::size_t i = 0; i < result.nearest.size() && i < kPlansShown; ++i)
            screen.add_text(nearest_line(result, result.nearest[i]), 3);
    } else {
        for (std::size_t i = 0; i < result.plans.size() && i < kPlansShown; ++i)
            screen.add_text(plan_line(result, i), 2);
        screen.add_line("");
        screen.add_cut_table(choices_table(result, result.plans.front(), ""), kReserved);
    }
    screen.add_line("");
    for (const std::string& remark : purchase_remarks(result)) screen.add_text(remark, 2);
    return screen.text();
}

std::string header(const PurchaseResult& result) {
    const PurchaseHeadline headline = purchase_headline(result);
    return fmt::format(
        "<header class=\"verdict {}\">\n<p class=\"kind\">streamsim plan</p>\n<h1><span class=\"word "
        "counts\">{}</span><span class=\"colon\">: </span><span class=\"sentence\">{}</span></h1>\n<p "
        "class=\"reason\">{}</p>\n</header>\n",
        headline.good ? "good" : "bad", headline.word, html::escaped(headline.rest.substr(2)),
        html::escaped(purchase_need_text(result)));
}

}  // namespace

std::string purchase_text_report(const PurchaseResult& result, bool full) {
    return full ? full_report(result) : screen_report(result);
}

std::string purchase_html_report(const PurchaseResult& result) {
    std::string out = html::project_html(result.common.project) + header(result);
    if (!result.description.empty()) out += html::paragraph(html::escaped(result.description));
    if (result.plans.empty())
        out += html::section("nearest", "No plan", html::table_html(nearest_table(result)));
    else
        out += html::section("plans", "Plans", html::table_html(plans_table(result)));
    for (std::size_t i = 0; i < result.plans.size(); ++i) {
        const PurchasePlan& plan = result.plans[i];
        out += html::section(fmt::format("plan-{}", i + 1), html::escaped(plan_title(result, i)),
                             html::table_html(choices_table(result, plan, "What one step less loses")) +
                                 html::table_html(parts_table(plan)));
    }
    std::string remarks;
    for (const std::string& remark : purchase_remarks(result))
        remarks += html::paragraph(html::escaped(remark));
    out += html::section("search", "How the plans were found", remarks);
    html::Facts facts;
    facts.add("Need", "<code>" + html::name(result.need) + "</code>");
    facts.add("Date", fmt::format("<time>{}</time>", html::escaped(result.common.started_at)));
    facts.add("Command", "<code>" + html::name(html::show_command(result.common.command)) + "</code>");
    facts.add("streamsim", html::escaped(result.common.version + " (" + result.common.revision + ")"));
    out += html::section("about", "Set-up", facts.html());
    return html::document(
        {.title = "streamsim: plan of a purchase", .main = out, .begins = kPurchaseHtmlBegins});
}

}  // namespace streamsim::report
