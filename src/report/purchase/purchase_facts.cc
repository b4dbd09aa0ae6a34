#include "report/purchase/purchase_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/amount.h"
#include "base/units.h"
#include "judge/claims/prove.h"

namespace streamsim::report {
namespace {

std::string show_watts(double watts) {
    return show_amount(std::round(watts)) + " W";
}

std::string configuration(const PurchasePlan& plan) {
    std::string out;
    for (const PurchaseChosen& each : plan.choices)
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", each.what, each.value);
    return out.empty() ? "as it is" : out;
}

std::string full_text(const PurchasePart& part) {
    return fmt::format("{} {:.0f} %", part.name, 100 * part.utilisation);
}

bool has_watts(const PurchaseResult& result) {
    for (const PurchasePlan& plan : result.plans) {
        if (plan.watts > 0) return true;
    }
    for (const PurchaseNearest& nearest : result.nearest) {
        if (nearest.watts > 0) return true;
    }
    return false;
}

/// "5 of 11"; "none": it plays, too.
Cell loss_cell(const PurchaseLess& less, std::uint64_t play, std::uint64_t all) {
    Cell cell(less.plays ? std::string("none") : fmt::format("{} of {}", all - play, all));
    cell.css_class = less.plays ? "good" : "bad";
    return cell;
}

}  // namespace

std::string show_money(const PurchaseResult& result, double price) {
    return (result.currency.empty() ? "" : result.currency + " ") + show_amount(price);
}

PurchaseHeadline purchase_headline(const PurchaseResult& result) {
    if (!result.plans.empty()) {
        const PurchasePlan& best = result.plans.front();
        return {"PLAN",
                fmt::format(": {} for {}: {}", show_money(result, best.price), best.offer, configuration(best)),
                true};
    }
    std::string rest = ": no offer plays";
    if (result.price_max || result.watts_max) rest += " within the limits";
    if (!result.nearest.empty()) {
        const PurchaseNearest& nearest = result.nearest.front();
        rest += fmt::format("; nearest: {} with {} of {}", nearest.offer, nearest.seats_play,
                            counted(result.seats, "seat"));
        if (nearest.plays) rest += ", " + nearest.why;
    }
    return {"NO PLAN", rest, false};
}

std::string purchase_need_text(const PurchaseResult& result) {
    std::string out =
        fmt::format("{} with {}", counted(result.seats, "seat"), counted(result.streams, "stream"));
    if (result.headroom_percent > 0) out += fmt::format(", headroom {:g} %", result.headroom_percent);
    if (result.hours_together > 0) out += fmt::format(", {:g} h a day together", result.hours_together);
    if (!result.claim.empty()) out += fmt::format(", fewer than {}", result.claim);
    if (result.price_max) out += ", at most " + show_money(result, *result.price_max);
    if (result.watts_max) out += ", at most " + show_watts(*result.watts_max);
    return out;
}

std::vector<std::string> purchase_remarks(const PurchaseResult& result) {
    std::vector<std::string> out = result.trust;
    for (const PurchaseWorse& worse : result.worse)
        out.push_back(
            fmt::format("{}: more {} is worse: it plays with {}, and not with {}: {}. Every level of "
                        "{} was searched.",
                        worse.offer, worse.what, worse.plays, worse.fails, worse.reason, worse.what));
    std::string search = fmt::format(
        "{} configuration{}, {} in virtual time: short runs of {:.0f} s, then a verification run of {:.0f} s "
        "for "
        "each plan",
        show_amount(result.configurations), result.configurations == 1 ? "" : "s",
        counted(result.played, "run"), static_cast<double>(result.screen_ns) / 1e9,
        static_cast<double>(result.verify_ns) / 1e9);
    search += result.plans.empty() ? "." : ", in which no frame is missed.";
    if (result.verified_failed > 0)
        search +=
            fmt::format(" {} failed {} verification run.", counted(result.verified_failed, "configuration"),
                        result.verified_failed == 1 ? "its" : "their");
    if (result.checked > 0)
        search +=
            fmt::format(" {} {} inferred to fail, and played to check it.",
                        counted(result.checked, "cheaper configuration"), result.checked == 1 ? "was" : "were");
    out.push_back(search);
    if (result.prove_hours > 0) {
        std::string claim = fmt::format(
            "A run in virtual time proves no claim. --prove '{}' on the storage itself takes at least {} of "
            "all "
            "streams at once without a drop event",
            result.claim, judge::long_time(result.prove_hours));
        if (result.hours_together > 0) {
            const double days = std::ceil(result.prove_hours / result.hours_together);
            claim +=
                fmt::format(", as long as {} of {:g} h",
                            counted(static_cast<std::uint64_t>(days), "working day"), result.hours_together);
        }
        out.push_back(claim + ".");
    }
    return out;
}

namespace {

/// "nodes 4: 2 of 11 seats; drives 10: 3 of 11 seats"; the choices that lose most first.
std::string losses(const PurchaseResult& result, const PurchasePlan& plan) {
    constexpr std::size_t kChoicesMax = 3;
    std::vector<const PurchaseChosen*> all;
    for (const PurchaseChosen& each : plan.choices) {
        if (each.less && !each.less->plays) all.push_back(&each);
    }
    std::stable_sort(all.begin(), all.end(), [](const PurchaseChosen* a, const PurchaseChosen* b) {
        return a->less->seats_play < b->less->seats_play;
    });
    std::string out;
    for (std::size_t i = 0; i < all.size() && i < kChoicesMax; ++i)
        out += fmt::format("{}{} {}: {} of {}", i == 0 ? "" : "; ", all[i]->what, all[i]->less->value,
                           result.seats - all[i]->less->seats_play, counted(result.seats, "seat"));
    if (all.size() > kChoicesMax) out += fmt::format("; and {} more", all.size() - kChoicesMax);
    return out.empty() ? kNoValue : out;
}

}  // namespace

std::string plan_line(const PurchaseResult& result, std::size_t i) {
    const PurchasePlan& plan = result.plans[i];
    std::string out = fmt::format("{}. {}", i + 1, show_money(result, plan.price));
    if (plan.watts > 0) out += ", " + show_watts(plan.watts);
    out += fmt::format(", {}: {}", plan.offer, configuration(plan));
    if (!plan.parts.empty()) out += "; full first: " + full_text(plan.parts.front());
    return out;
}

std::string nearest_line(const PurchaseResult& result, const PurchaseNearest& nearest) {
    std::string out = fmt::format("{}, {}", nearest.offer, show_money(result, nearest.price));
    if (nearest.watts > 0) out += ", " + show_watts(nearest.watts);
    return out + fmt::format(": {} of {} play; {}; {}", nearest.seats_play, counted(result.seats, "seat"),
                             nearest.why, nearest.configuration);
}

Table plans_table(const PurchaseResult& result) {
    Table table;
    table.title = "Plans, the cheapest first";
    table.css_class = "named";
    table.left({"plan"});
    table.right({"price"});
    if (has_watts(result)) table.right({"power"});
    table.left({"configuration", "full first"});
    table.left({"one step less loses"}, Keep::always, Form::page);
    table.right({"p1 margin"}, Keep::always, Form::full);
    std::size_t number = 0;
    for (const PurchasePlan& plan : result.plans) {
        std::vector<Cell> row = {fmt::format("{}. {}", ++number, plan.offer), show_money(result, plan.price)};
        if (has_watts(result)) row.emplace_back(show_watts(plan.watts));
        row.emplace_back(configuration(plan));
        row.emplace_back(plan.parts.empty() ? std::string(kNoValue) : full_text(plan.parts.front()));
        row.emplace_back(losses(result, plan));
        row.emplace_back(plan.margin_p1_percent ? fmt::format("{:.0f} % of a frame", *plan.margin_p1_percent)
                                                : std::string(kNoValue));
        table.row(std::move(row));
    }
    return table;
}

Table choices_table(const PurchaseResult& result, const PurchasePlan& plan, const std::string& title) {
    Table table;
    table.title = title;
    table.left({"choice"});
    table.right({"chosen"});
    table.right({"price"}, Keep::where_not_zero, Form::full);
    table.right({"power"}, Keep::where_not_zero, Form::full);
    table.right({"one step less", "seats lost", "streams lost"});
    table.left({"limit"});
    table.left({"why"}, Keep::always, Form::full);
    for (const PurchaseChosen& each : plan.choices) {
        std::vector<Cell> row = {name_cell(each.what), each.value,
                                 each.price > 0 ? show_money(result, each.price) : "",
                                 each.watts > 0 ? show_watts(each.watts) : ""};
        if (each.less) {
            row.insert(row.end(),
                       {each.less->value, loss_cell(*each.less, each.less->seats_play, result.seats),
                        loss_cell(*each.less, each.less->streams_play, result.streams),
                        each.less->plays ? kNoValue : to_string(each.less->limit), each.less->reason});
        } else {
            row.insert(row.end(), {"least offered", kNoValue, kNoValue, kNoValue, ""});
        }
        table.row(std::move(row));
    }
    return table;
}

Table parts_table(const PurchasePlan& plan) {
    Table table;
    table.title = "What is full first, in the verification run";
    table.left({"part"});
    table.right({"utilisation"});
    for (const PurchasePart& part : plan.parts)
        table.row({part.name, fmt::format("{:.0f} %", 100 * part.utilisation)});
    return table;
}

Table nearest_table(const PurchaseResult& result) {
    Table table;
    table.title = "What comes nearest";
    table.left({"offer"});
    table.right({"price"});
    if (has_watts(result)) table.right({"power"});
    table.left({"configuration"});
    table.right({"seats that play"});
    table.left({"limit", "why it is no plan"});
    for (const PurchaseNearest& each : result.nearest) {
        std::vector<Cell> row = {name_cell(each.offer), show_money(result, each.price)};
        if (has_watts(result)) row.emplace_back(show_watts(each.watts));
        row.insert(row.end(),
                   {name_cell(each.configuration), fmt::format("{} of {}", each.seats_play, result.seats),
                    each.plays ? "none" : to_string(each.limit), each.why});
        table.row(std::move(row));
    }
    return table;
}

}  // namespace streamsim::report
