// Printed results beside what the models give, and what each number of a model decides: as text, HTML and CSV.
#pragma once

#include <string>
#include <string_view>

#include "streamsim/published.h"

namespace streamsim::report {

std::string published_text_report(const PublishedResult& result);
/// The beginning of every such file, by which a later run recognises it.
inline constexpr std::string_view kPublishedHtmlBegins =
    "<!DOCTYPE html>\n<!-- streamsim published results -->";
std::string published_html_report(const PublishedResult& result);

/// The beginning of every file of answers, by which a later run recognises it.
inline constexpr std::string_view kPublishedCsvBegins = "paper,id,role,";
/// A row for each printed number, those without an answer included.
std::string published_csv_report(const PublishedResult& result);

std::string sensitivity_text_report(const ModelSensitivity& result);

}  // namespace streamsim::report
