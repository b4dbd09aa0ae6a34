// Sentences and tables about plans that text and HTML share. Inside report/purchase/ only.
#pragma once

#include <string>
#include <vector>

#include "report/tables/table.h"
#include "streamsim/purchase_plan.h"

namespace streamsim::report {

struct PurchaseHeadline {
    std::string word, rest;
    bool good = false;
};
/// "PLAN", then ": EUR 268,000 for h500 cluster: nodes 5, drives 15".
PurchaseHeadline purchase_headline(const PurchaseResult& result);
/// "EUR 268,000"
std::string show_money(const PurchaseResult& result, double price);
/// "18 seats with 34 streams, headroom 10 %, for 8 h together, 1 drop/day"
std::string purchase_need_text(const PurchaseResult& result);
/// How the plans were found and verified, what the claim asks for, which choices are worse with more.
std::vector<std::string> purchase_remarks(const PurchaseResult& result);

/// A plan in one sentence, with its number.
std::string plan_line(const PurchaseResult& result, std::size_t i);

/// The nearest of an offer in one sentence: why it is no plan, and its configuration.
std::string nearest_line(const PurchaseResult& result, const PurchaseNearest& nearest);

Table plans_table(const PurchaseResult& result);
/// The choices of a plan, and what one step less of each loses.
Table choices_table(const PurchaseResult& result, const PurchasePlan& plan, const std::string& title);
/// The fullest parts of a plan.
Table parts_table(const PurchasePlan& plan);
Table nearest_table(const PurchaseResult& result);

}  // namespace streamsim::report
