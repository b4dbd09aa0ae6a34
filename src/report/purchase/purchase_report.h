// The answer to a need: ranked plans, what is full first in each, what one step less loses.
#pragma once

#include <string>
#include <string_view>

#include "streamsim/purchase_plan.h"

namespace streamsim::report {

/// `full`: all plans with all that is known; else one screen.
std::string purchase_text_report(const PurchaseResult& result, bool full);
/// The beginning of every such file, by which a later run recognises it.
inline constexpr std::string_view kPurchaseHtmlBegins = "<!DOCTYPE html>\n<!-- streamsim plan -->";
std::string purchase_html_report(const PurchaseResult& result);

}  // namespace streamsim::report
