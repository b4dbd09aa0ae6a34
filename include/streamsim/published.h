// Published results: what a paper prints about storage, as data (formats/published/), and what the models give
// for it. A row says how many streams play; rows that a model is fitted to are told from those that it
// predicts.
//
// A fit has parameters. Each of some numbers of the models is a sum: a constant, and a multiple of each
// parameter. The rows of a parameter say whether their printed number of streams plays with a value, and
// whether one more does; so each row has an interval of values, and the parameter the interval that they have
// in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "streamsim/fields.h"
#include "streamsim/run_result.h"

namespace streamsim {

/// The largest number of streams that was seen to play.
struct PublishedRow {
    std::string id;
    std::string model;
    std::uint32_t nodes = 1;  // that the seats are spread over
    std::uint32_t seats = 1;
    std::string format;
    std::uint32_t printed = 0;                 // streams of all seats
    bool equal = false;                        // only equal numbers a seat were tried
    bool fit = false;                          // the model is fitted to this row
    std::optional<std::uint32_t> model_gives;  // as it was played last, for reports
    std::string printed_limit;                 // what the paper says that one more lacks
    std::string note;                          // an inconsistency of the source
};

/// Another printed number.
struct PublishedFigure {
    enum class Quantity {
        format_rate,  // bits a second that a stream of `format` requires
        most_rate,  // bytes a second that the model delivers at most to `seats` over `nodes`, without deadlines
        required_rate,  // bytes a second of the most streams of row `row` that play
    };
    std::string id, text;
    Quantity quantity = Quantity::format_rate;
    std::string row;  // required_rate; most_rate: whose model, nodes, seats and format
    std::string format;
    double printed = 0;
    std::string unit;       // "Gb/s"
    double unit_per_s = 1;  // bytes a second of one unit
    std::string note;
};

/// A workload whose document has figures of the paper.
struct PublishedLoad {
    std::string workload;
    std::string target;
    std::optional<Duration> duration;  // of a step; empty: the document's
    std::vector<double> steps;         // that peaks are looked for in; empty: all
};

struct FitParameter {
    std::string name, title;
    bool rate = false;  // more is faster; else a cost
    double least = 0, most = 0;
    std::vector<std::string> rows;  // that tell its value
};

/// value = constant + sum of factor * parameter
struct FittedNumber {
    struct Term {
        std::string parameter;
        double factor = 1;
    };
    std::string model, pointer;
    double constant = 0;
    std::vector<Term> terms;
};

/// A printed number that is no answer of a model.
struct PublishedOther {
    std::string printed, why;
};

struct PublishedPaper {
    std::string source;  // the file it was read from
    std::string name, title;
    std::vector<PublishedRow> rows;
    std::vector<PublishedFigure> figures;
    std::vector<PublishedLoad> loads;
    std::vector<FitParameter> parameters;
    std::vector<FittedNumber> numbers;
    std::vector<PublishedOther> others;
};

/// A printed number beside the answer.
struct PublishedAnswer {
    std::string paper, id, text, role;  // role: "fit", "prediction", "workload", "figure"
    std::string command;                // that repeats it
    double printed = 0, result = 0;
    std::string unit;
    std::optional<bool> direct_agrees;  // rows: as many play for a minute, and more do not
    std::string printed_limit;
    std::string limit;  // of one more; empty: not known
    std::string note;

    double ratio() const { return printed > 0 ? result / printed : 0; }
};
void fields(ConstOr<PublishedAnswer> auto& answer, auto& visit) {
    visit("paper", answer.paper);
    visit("id", answer.id);
    visit("text", answer.text);
    visit("role", answer.role);
    visit("command", answer.command);
    visit("printed", answer.printed);
    visit("result", answer.result);
    visit.derived("ratio", answer.ratio());
    visit("unit", answer.unit);
    visit("direct_agrees", answer.direct_agrees);
    visit("printed_limit", answer.printed_limit);
    visit("limit", answer.limit);
    visit("note", answer.note);
}

/// The values of a parameter with which one row holds; an end that is not known is nullopt.
struct FitInterval {
    std::string row;
    std::optional<double> low, high;
};
void fields(ConstOr<FitInterval> auto& interval, auto& visit) {
    visit("row", interval.row);
    visit("low", interval.low);
    visit("high", interval.high);
}

struct FittedParameter {
    std::string name, title;
    std::optional<double> low, high;  // of all rows together
    double value = 0;
    bool contradicted = false;  // no value holds for all rows
    std::vector<FitInterval> intervals;
};
void fields(ConstOr<FittedParameter> auto& parameter, auto& visit) {
    visit("name", parameter.name);
    visit("title", parameter.title);
    visit("low", parameter.low);
    visit("high", parameter.high);
    visit("value", parameter.value);
    visit("contradicted", parameter.contradicted);
    visit("intervals", parameter.intervals);
}

/// A number of a model as it was fitted again, and as the document has it.
struct FittedValue {
    std::string model, pointer;
    double fitted = 0, shipped = 0;
};
void fields(ConstOr<FittedValue> auto& value, auto& visit) {
    visit("model", value.model);
    visit("pointer", value.pointer);
    visit("fitted", value.fitted);
    visit("shipped", value.shipped);
}

/// A row that was left out of the fit, and predicted from the others.
struct LeftOut {
    std::string row;
    std::uint32_t printed = 0, predicted = 0;
};
void fields(ConstOr<LeftOut> auto& row, auto& visit) {
    visit("row", row.row);
    visit("printed", row.printed);
    visit("predicted", row.predicted);
}

struct PublishedFit {
    std::string paper;
    std::vector<FittedParameter> parameters;
    std::vector<FittedValue> values;
    std::vector<LeftOut> left_out;
};
void fields(ConstOr<PublishedFit> auto& fit, auto& visit) {
    visit("paper", fit.paper);
    visit("parameters", fit.parameters);
    visit("values", fit.values);
    visit("left_out", fit.left_out);
}

/// A printed number without an answer.
struct PublishedUnanswered {
    std::string paper, printed, why;
};
void fields(ConstOr<PublishedUnanswered> auto& other, auto& visit) {
    visit("paper", other.paper);
    visit("printed", other.printed);
    visit("why", other.why);
}

struct PublishedResult {
    RunResult common;  // program, host and command
    std::vector<PublishedAnswer> answers;
    std::vector<PublishedUnanswered> unanswered;
    std::vector<PublishedFit> fits;
};
void fields(ConstOr<PublishedResult> auto& result, auto& visit) {
    visit("answers", result.answers);
    visit("unanswered", result.unanswered);
    visit("fits", result.fits);
}

/// The answers that a number of a model decides.
struct NumberSensitivity {
    std::string pointer, basis, value;
    std::string changes;  // "none", or the answers that change: "-20 %: h500-1-on-1-hd 15 -> 12"
    bool changes_any = false;
    std::string not_changed;  // why the number could not be changed alone; empty: it was
};
void fields(ConstOr<NumberSensitivity> auto& number, auto& visit) {
    visit("pointer", number.pointer);
    visit("value", number.value);
    visit("basis", number.basis);
    visit("changes_any", number.changes_any);
    visit("changes", number.changes);
    visit("not_changed", number.not_changed);
}

struct ModelSensitivity {
    std::string model, title;
    double percent = 20;
    std::vector<PublishedAnswer> answers;  // of the model as it is
    std::vector<NumberSensitivity> numbers;
};
void fields(ConstOr<ModelSensitivity> auto& result, auto& visit) {
    visit("model", result.model);
    visit("title", result.title);
    visit("percent", result.percent);
    visit("answers", result.answers);
    visit("numbers", result.numbers);
}

}  // namespace streamsim
