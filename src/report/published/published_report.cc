#include "report/published/published_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "base/units.h"
#include "report/csv/csv_report.h"
#include "report/facts/headline.h"
#include "report/html/html_page.h"
#include "report/html/html_report.h"
#include "report/html/html_text.h"
#include "report/tables/table.h"
#include "report/text/screen.h"

namespace streamsim::report {
namespace {

/// A ratio within this of 1 is shown as met.
constexpr double kMetShare = 0.10;

bool is_row(const PublishedAnswer& answer) {
    return answer.unit == "streams";
}

bool is_met(const PublishedAnswer& answer) {
    return is_row(answer) ? answer.result == answer.printed : std::abs(answer.ratio() - 1) <= kMetShare;
}

std::string number_text(double value) {
    constexpr double kWholeFrom = 1000;  // larger numbers are shown without decimals
    if ((value == std::floor(value) || value >= kWholeFrom) && std::abs(value) < 1e15)
        return show_count(static_cast<std::uint64_t>(std::llround(std::max(value, 0.0))));
    return fmt::format("{:.3g}", value);
}

Table answers_table(const PublishedResult& result, const std::string& title, bool rows) {
    Table table;
    table.title = title;
    table.left({"number", "role"});
    table.right({"printed", "model", "ratio"});
    table.left({"unit", "printed limit", "limit", "note"}, Keep::where_not_zero);
    for (const PublishedAnswer& answer : result.answers) {
        if (is_row(answer) != rows) continue;
        Cell ratio(fmt::format("{:.2f}", answer.ratio()));
        ratio.css_class = is_met(answer) ? "good" : "bad";
        std::string note = answer.note;
        if (answer.direct_agrees == false)
            note.insert(0, note.empty() ? "direct runs differ" : "direct runs differ; ");
        table.row({answer.id, answer.role, number_text(answer.printed), number_text(answer.result), ratio,
                   answer.unit, answer.printed_limit, answer.limit, note});
    }
    return table;
}

Table commands_table(const PublishedResult& result) {
    Table table;
    table.title = "Commands";
    table.left({"number", "what is printed", "command"});
    for (const PublishedAnswer& answer : result.answers)
        table.row({answer.id, answer.text, name_cell(answer.command)});
    return table;
}

Table unanswered_table(const PublishedResult& result) {
    Table table;
    table.title = "Printed numbers that are no answers of a model";
    table.left({"paper", "printed", "why"});
    for (const PublishedUnanswered& other : result.unanswered)
        table.row({other.paper, other.printed, other.why});
    return table;
}

std::string end_text(const std::optional<double>& value) {
    return value ? fmt::format("{:.4g}", *value) : "-";
}

std::vector<Table> fit_tables(const PublishedFit& fit) {
    Table parameters;
    parameters.title = fmt::format("Fit of {} again: the interval that each row leaves", fit.paper);
    parameters.left({"parameter", "row"});
    parameters.right({"from", "to", "value"});
    for (const FittedParameter& parameter : fit.parameters) {
        for (const FitInterval& interval : parameter.intervals)
            parameters.row({parameter.name, interval.row, end_text(interval.low), end_text(interval.high), ""});
        parameters.row(
            {parameter.name, parameter.contradicted ? "all rows (they contradict each other)" : "all rows",
             end_text(parameter.low), end_text(parameter.high), fmt::format("{:.4g}", parameter.value)});
    }
    Table values;
    values.title = "Numbers of the models, fitted again and as shipped";
    values.left({"model", "number"});
    values.right({"fitted", "shipped", "ratio"});
    for (const FittedValue& value : fit.values) {
        values.row({value.model, value.pointer, fmt::format("{:.6g}", value.fitted),
                    fmt::format("{:.6g}", value.shipped),
                    value.shipped > 0 ? fmt::format("{:.3f}", value.fitted / value.shipped) : kNoValue});
    }
    Table left_out;
    left_out.title = "Each row of the fit left out, and predicted from the others";
    left_out.left({"row"});
    left_out.right({"printed", "predicted", "error"});
    for (const LeftOut& row : fit.left_out) {
        const double error = 100.0 * (static_cast<double>(row.predicted) / std::max(row.printed, 1U) - 1);
        left_out.row(
            {row.row, show_count(row.printed), show_count(row.predicted), fmt::format("{:+.0f} %", error)});
    }
    return {parameters, values, left_out};
}

/// "22 rows: 17 as printed, of 12 predictions 7; the worst ratio is 1.60 (f800-8-on-4-dpx12)"
std::string summary(const PublishedResult& result) {
    std::size_t rows = 0, met = 0, predictions = 0, met_predictions = 0, others = 0, met_others = 0;
    const PublishedAnswer* worst = nullptr;
    for (const PublishedAnswer& answer : result.answers) {
        const bool here = is_met(answer);
        if (!is_row(answer)) {
            ++others;
            met_others += here ? 1U : 0U;
            continue;
        }
        ++rows;
        met += here ? 1U : 0U;
        if (answer.role != "prediction") continue;
        ++predictions;
        met_predictions += here ? 1U : 0U;
        const auto off = [](const PublishedAnswer& each) {
            return each.ratio() > 0 ? std::abs(std::log(each.ratio())) : HUGE_VAL;
        };
        if (worst == nullptr || off(answer) > off(*worst)) worst = &answer;
    }
    std::string out = fmt::format("{} rows of streams: {} as printed; of {} predictions {}", rows, met,
                                  predictions, met_predictions);
    if (worst != nullptr) out += fmt::format(", the worst ratio {:.2f} ({})", worst->ratio(), worst->id);
    return out + fmt::format(". {} other numbers: {} within {:.0f} %", others, met_others, 100 * kMetShare);
}

std::vector<Table> all_tables(const PublishedResult& result) {
    std::vector<Table> all = {answers_table(result, "Streams that play, as printed and on the models", true),
                              answers_table(result, "Other printed numbers", false)};
    for (const PublishedFit& fit : result.fits) {
        for (Table& table : fit_tables(fit)) all.push_back(std::move(table));
    }
    all.push_back(unanswered_table(result));
    all.push_back(commands_table(result));
    return all;
}

/// Whether a text says that a number was measured, read, computed, fitted or assumed.
std::string basis_word(const std::string& basis) {
    return basis.substr(0, basis.find_first_of(":,"));
}

}  // namespace

std::string published_text_report(const PublishedResult& result) {
    std::string out = summary(result) + "\n";
    for (const Table& table : all_tables(result)) {
        if (!table.empty()) out += "\n" + table_text(table);
    }
    return out + "\n" + summary(result) + "\n";
}

std::string published_html_report(const PublishedResult& result) {
    std::string out = html::project_html(result.common.project);
    out += fmt::format(
        "<header class=\"verdict doubtful\">\n<p class=\"kind\">streamsim published results</p>\n<h1><span "
        "class=\"sentence\">{}</span></h1>\n</header>\n",
        html::escaped(summary(result)));
    std::size_t number = 0;
    for (Table table : all_tables(result)) {
        if (table.empty()) continue;
        const std::string title = std::exchange(table.title, "");
        out += html::section(fmt::format("table-{}", number++), title, html::table_html(table));
    }
    html::Facts facts;
    facts.add("Date", fmt::format("<time>{}</time>", html::escaped(result.common.started_at)));
    facts.add("Command", "<code>" + html::name(html::show_command(result.common.command)) + "</code>");
    facts.add("streamsim", html::escaped(result.common.version + " (" + result.common.revision + ")"));
    out += html::section("about", "Set-up", facts.html());
    return html::document(
        {.title = "streamsim: published results", .main = out, .begins = kPublishedHtmlBegins});
}

std::string published_csv_report(const PublishedResult& result) {
    std::string out(kPublishedCsvBegins);
    out += "printed,result,ratio,unit,printed_limit,limit,text,command,note\r\n";
    const auto text = [&out](const std::string& value) {
        append_csv_text(value, out);
        out += ',';
    };
    for (const PublishedAnswer& answer : result.answers) {
        text(answer.paper);
        text(answer.id);
        text(answer.role);
        out += fmt::format("{:.10g},{:.10g},{:.4f},", answer.printed, answer.result, answer.ratio());
        text(answer.unit);
        text(answer.printed_limit);
        text(answer.limit);
        text(answer.text);
        text(answer.command);
        append_csv_text(answer.note, out);
        out += kCsvLineEnd;
    }
    for (const PublishedUnanswered& other : result.unanswered) {
        text(other.paper);
        out += ",unanswered,,,,,,,";
        text(other.printed);
        out += ',';
        append_csv_text(other.why, out);
        out += kCsvLineEnd;
    }
    return out;
}

std::string sensitivity_text_report(const ModelSensitivity& result) {
    Table answers;
    answers.title = "Answers of the model as it is, by plays of 10 s (max plays for a minute)";
    answers.left({"question", "role"});
    answers.right({"printed"}, Keep::where_not_zero);
    answers.right({"streams"});
    answers.left({"note"}, Keep::where_not_zero);
    for (const PublishedAnswer& answer : result.answers)
        answers.row(
            {answer.id, answer.role, number_text(answer.printed), number_text(answer.result), answer.note});
    Table numbers;
    numbers.title = fmt::format("What each number decides, changed by {:g} % alone", result.percent);
    numbers.left({"number", "value", "basis", "changes"});
    std::size_t decisive = 0, decisive_and_assumed = 0;
    for (const NumberSensitivity& number : result.numbers) {
        const std::string word = basis_word(number.basis);
        decisive += number.changes_any ? 1U : 0U;
        decisive_and_assumed += number.changes_any && number.basis.starts_with("assumed") ? 1U : 0U;
        std::string changes = number.changes;
        if (!number.not_changed.empty()) changes += fmt::format(" (not changed by {})", number.not_changed);
        numbers.row({number.pointer, number.value, word, changes});
    }
    const std::string sum =
        fmt::format("{}: {} of {} numbers change an answer when they change by {:g} %; {} of these are assumed",
                    result.model, decisive, result.numbers.size(), result.percent, decisive_and_assumed);
    return fmt::format("{}\n\n{}\n{}\n{}\n", sum, table_text(answers), table_text(numbers), sum);
}

}  // namespace streamsim::report
