#include "report/compare/compare_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/document/json.h"
#include "base/units.h"
#include "base/utf8.h"
#include "report/csv/csv_report.h"
#include "report/text/screen.h"

namespace streamsim::report {
namespace {

std::string shown_number(Unit unit, double value) {
    switch (unit) {
        case Unit::count: return show_count(static_cast<std::uint64_t>(std::llround(std::max(0.0, value))));
        case Unit::share: return fmt::format("{:.2f} %", 100 * value);
        case Unit::ns: return show_duration({std::llround(value)});
        case Unit::bytes_per_s: return show_rate(value);
        case Unit::words: break;
    }
    return {};
}

/// A share as it is; anything else is whole.
OrderedJson number_json(Unit unit, const std::optional<double>& value) {
    if (!value || !std::isfinite(*value)) return nullptr;
    if (unit == Unit::share) return *value;
    return std::llround(*value);
}

OrderedJson value_json(const ComparedFigure& figure, const ComparedValue& value) {
    const bool words = figure.unit == Unit::words;
    OrderedJson out = OrderedJson::object();
    out["value"] = words ? OrderedJson(value.words) : number_json(figure.unit, value.number);
    out["judgement"] = to_string(value.verdict);
    out["direction"] = to_string(value.direction);
    out["noise"] = number_json(figure.unit, value.noise);
    return out;
}

OrderedJson figure_json(const ComparedFigure& figure) {
    OrderedJson values = OrderedJson::array();
    for (const ComparedValue& value : figure.values) values.push_back(value_json(figure, value));
    return {{"figure", figure.key},
            {"label", figure.label},
            {"unit", to_string(figure.unit)},
            {"values", std::move(values)}};
}

void append_csv_value(const ComparedFigure& figure, const ComparedValue& value, std::string& out) {
    if (figure.unit == Unit::words) return append_csv_text(value.words, out);
    const OrderedJson number = number_json(figure.unit, value.number);
    if (!number.is_null()) out += json_text(number);
}

std::string csv_change(const ComparedValue& value) {
    if (value.verdict != ChangeVerdict::changed || value.direction == Direction::neither)
        return to_string(value.verdict);
    return fmt::format("changed: {}", to_string(value.direction));
}

Table figures_table(const Comparison& comparison) {
    Table table;
    table.left({""});
    for (std::size_t i = 0; i < comparison.results.size(); ++i) {
        table.right({column_name(i)});
        if (i > 0) table.left({""});
    }
    for (const ComparedFigure& figure : comparison.figures) {
        std::vector<Cell> row{figure.label};
        for (const ComparedValue& value : figure.values) {
            row.emplace_back(shown_value(figure, value));
            if (value.verdict != ChangeVerdict::reference) row.emplace_back(shown_change(figure, value));
        }
        table.row(std::move(row));
    }
    return table;
}

Table setup_table(const Comparison& comparison) {
    Table table;
    table.left({""});
    for (std::size_t i = 0; i < comparison.results.size(); ++i) table.left({column_name(i)});
    for (const SetupDifference& row : comparison.setup) {
        std::vector<Cell> fields{row.what};
        for (const std::string& value : row.values) fields.push_back(name_cell(value));
        table.row(std::move(fields));
    }
    return table;
}

}  // namespace

std::string shown_value(const ComparedFigure& figure, const ComparedValue& value) {
    if (figure.unit == Unit::words) return value.words;
    return value.number ? shown_number(figure.unit, *value.number) : "-";
}

std::string shown_change(const ComparedFigure& figure, const ComparedValue& value) {
    switch (value.verdict) {
        case ChangeVerdict::reference: return {};
        case ChangeVerdict::not_comparable: return "not comparable";
        case ChangeVerdict::changed:
            return value.direction == Direction::neither
                       ? "changed"
                       : fmt::format("changed: {}", to_string(value.direction));
        case ChangeVerdict::within_noise:
            if (shown_value(figure, value) == shown_value(figure, figure.values.front())) return "the same";
            if (!value.noise || *value.noise == 0) return "within the noise";
            return fmt::format("within the noise ({})", shown_number(figure.unit, *value.noise));
    }
    return {};
}

std::string column_name(std::size_t index) {
    return index < 26 ? std::string(1, static_cast<char>('A' + index)) : std::to_string(index + 1);
}

std::string noise_text(const Comparison& comparison) {
    std::vector<std::size_t> runs(comparison.results.size());
    for (const ComparedResult& result : comparison.results) ++runs[result.setup];
    const std::size_t most = *std::ranges::max_element(runs);
    std::string out =
        "The noise of a figure is what it varies by inside the runs: between intervals, between streams, "
        "and by the number of its frames";
    if (most >= 3 || (most == 2 && runs.size() > 2)) {
        out += ", or between the runs of one set-up where that is more.";
    } else {
        out +=
            ". How much runs differ that nothing was changed between, one run of each set-up cannot tell: "
            "give two or three of each.";
    }
    return out;
}

std::string comparison_text(const Comparison& comparison) {
    std::string out;
    for (const std::string& remark : comparison.remarks) out += printable(remark) + "\n";
    out += fmt::format("{} compared with A\n", counted(comparison.results.size() - 1, "result"));
    for (std::size_t i = 0; i < comparison.results.size(); ++i) {
        const ComparedResult& result = comparison.results[i];
        out += fmt::format("  {:<3} {}, {}: {}\n", column_name(i), printable(result.name),
                           printable(result.started_at), result.verdict);
    }
    out += "\nDifferences of the set-up\n";
    out += comparison.setup.empty() ? "  none known\n" : table_text(setup_table(comparison));
    out += "\nFigures\n" + table_text(figures_table(comparison));
    return out + "\n" + noise_text(comparison) + "\n";
}

std::string comparison_json(const Comparison& comparison) {
    OrderedJson out = {{"schema", "streamsim.comparison"}, {"version", 1}};
    out["remarks"] = comparison.remarks;
    out["results"] = OrderedJson::array();
    for (const ComparedResult& result : comparison.results) {
        out["results"].push_back({{"file", result.name},
                                  {"started_at", result.started_at},
                                  {"verdict", result.verdict},
                                  {"setup", result.setup}});
    }
    out["setup"] = OrderedJson::array();
    for (const SetupDifference& row : comparison.setup)
        out["setup"].push_back({{"what", row.what}, {"values", row.values}});
    out["figures"] = OrderedJson::array();
    for (const ComparedFigure& figure : comparison.figures) out["figures"].push_back(figure_json(figure));
    return json_text(out, 2) + "\n";
}

std::string comparison_csv(const Comparison& comparison) {
    std::string out(kComparisonCsvBegins);
    out.pop_back();
    for (const ComparedResult& result : comparison.results) {
        out += ',';
        append_csv_text(result.name, out);
        if (&result == comparison.results.data()) continue;
        out += ',';
        append_csv_text(result.name + ": change", out);
    }
    out += kCsvLineEnd;
    for (const ComparedFigure& figure : comparison.figures) {
        out += fmt::format("{},{}", figure.key, to_string(figure.unit));
        for (const ComparedValue& value : figure.values) {
            out += ',';
            append_csv_value(figure, value, out);
            if (value.verdict != ChangeVerdict::reference) out += "," + csv_change(value);
        }
        out += kCsvLineEnd;
    }
    return out;
}

}  // namespace streamsim::report
