#include "result/json_report.h"

#include <utility>

#include "result/field_writer.h"

namespace streamsim::result {
namespace {

using Lines = FieldWriter::Lines;

/// A whole document: its kind and version, then the members that `list` names.
template <class List>
void write_document(const char* schema, Lines lines, const List& list, const TextSink& out) {
    JsonText text(out);
    text.begin_object(JsonText::Layout::lines);
    FieldWriter members(text, lines);
    members.derived("schema", schema);
    members.derived("version", 1);
    list(members, text);
    text.end();
    out(std::move(text).take() + "\n");
}

template <class List>
std::string document(const char* schema, Lines lines, const List& list) {
    std::string all;
    write_document(schema, lines, list, [&all](std::string_view piece) { all += piece; });
    return all;
}

/// The members of a step on one line, then its result as a whole document.
std::string load_step_text(const LoadStep& step, Sweep::Over over) {
    JsonText text;
    text.begin_object(JsonText::Layout::compact);
    FieldWriter members(text, Lines::members);
    fields(step, over, members);
    return std::move(text).take() + ",\n\"result\": " + json_report(step.result) + "}";
}

}  // namespace

std::string json_report(const RunResult& result) {
    std::string all;
    write_json_report(result, [&all](std::string_view piece) { all += piece; });
    return all;
}

void write_json_report(const RunResult& result, const TextSink& out) {
    write_document(
        "streamsim.result", Lines::tables,
        [&result](FieldWriter& members, JsonText&) { fields(result, members); }, out);
}

std::string max_json_report(const MaxResult& result) {
    return document("streamsim.max", Lines::all,
                    [&result](FieldWriter& members, JsonText&) { fields(result, members); });
}

std::string prediction_json_report(const PredictionResult& result) {
    return document("streamsim.prediction", Lines::all,
                    [&result](FieldWriter& members, JsonText&) { fields(result, members); });
}

std::string load_json_report(const LoadResult& result) {
    return document("streamsim.load", Lines::members, [&result](FieldWriter& members, JsonText& text) {
        fields(result, members);
        std::string steps = "[";
        for (const LoadStep& step : result.steps) {
            steps += &step == result.steps.data() ? "\n" : ",\n";
            steps += load_step_text(step, result.workload.sweep.over);
        }
        text.key("steps");
        text.put(steps + "]");
    });
}

std::string published_json_report(const PublishedResult& result) {
    return document("streamsim.published-result", Lines::all,
                    [&result](FieldWriter& members, JsonText&) { fields(result, members); });
}

std::string plan_json_report(const PurchaseResult& result) {
    return document("streamsim.plan", Lines::all,
                    [&result](FieldWriter& members, JsonText&) { fields(result, members); });
}

std::string sensitivity_json_report(const ModelSensitivity& result) {
    return document("streamsim.sensitivity", Lines::all,
                    [&result](FieldWriter& members, JsonText&) { fields(result, members); });
}

std::string measurement_document(const Measurement& measured) {
    return document("streamsim.measurement", Lines::tables,
                    [&measured](FieldWriter& members, JsonText&) { fields(measured, members); });
}

std::string calibration_json_report(const Calibration& calibration) {
    return document("streamsim.calibration", Lines::all,
                    [&calibration](FieldWriter& members, JsonText&) { fields(calibration, members); });
}

}  // namespace streamsim::result
