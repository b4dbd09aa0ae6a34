// Results that others wrote, as every kind of report, and beside each other.
#include <string>

#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "report/compare/compare.h"
#include "report/compare/compare_report.h"
#include "report/csv/csv_report.h"
#include "report/html/html_report.h"
#include "report/junit/junit_report.h"
#include "report/text/text_report.h"
#include "report/trace/trace_report.h"
#include "result/result_reader.h"

namespace streamsim::fuzz {
namespace {

/// Nothing of a name from outside is a command of the terminal.
void require_plain(std::string_view text) {
    while (!text.empty()) {
        const Utf8Character next = first_character(text);
        require(next.bytes > 0, "a text is UTF-8");
        require(next.code == '\n' || !is_control(next.code), "a text has no control characters");
        text.remove_prefix(next.bytes);
    }
}

void check_screen(const std::string& text) {
    require_plain(text);
    std::size_t lines = 0;
    for (std::string_view rest = text; !rest.empty(); ++lines) {
        const std::size_t end = rest.find('\n');
        require(end != std::string_view::npos, "each line ends");
        require(shown_width(rest.substr(0, end)) <= 80, "a line of a screen has 80 columns");
        rest.remove_prefix(end + 1);
    }
    require(lines <= 24, "a screen has 24 lines");
}

}  // namespace
}  // namespace streamsim::fuzz

STREAMSIM_FUZZ(report) {
    using namespace streamsim;
    const auto result = result::read_result(fuzz::text_of(input), "result.json");
    if (!result) return;
    fuzz::check_screen(report::text_report(*result, report::TextDetail::screen, false));
    fuzz::require_plain(report::text_report(*result, report::TextDetail::full, false));
    (void)report::html_report(*result);
    (void)report::streams_csv(*result);
    (void)report::junit_report(*result);
    report::csv_report(*result, [](std::string_view) {});
    report::trace_report(*result, [](std::string_view) {});
    const auto comparison = report::compare({{"a", *result}, {"b", *result}});
    (void)report::comparison_text(comparison);
    (void)report::comparison_json(comparison);
    (void)report::comparison_csv(comparison);
    (void)report::comparison_html(comparison);
}
