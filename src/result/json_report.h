// Results as documents: "streamsim.result", "streamsim.max" and "streamsim.load", version 1 each
// (formats/schema/result.json, max.json and load.json). Field lists beside the structs name their members.
#pragma once

#include <string>
#include <string_view>

#include "base/document/text_sink.h"
#include "streamsim/calibration.h"
#include "streamsim/load_result.h"
#include "streamsim/max_result.h"
#include "streamsim/prediction_result.h"
#include "streamsim/published.h"
#include "streamsim/purchase_plan.h"
#include "streamsim/run_result.h"

namespace streamsim::result {

// The beginnings of the documents, by which earlier ones are recognised.
inline constexpr std::string_view kJsonReportBegins = "{\n  \"schema\": \"streamsim.result\"";
inline constexpr std::string_view kMaxReportBegins = "{\n  \"schema\": \"streamsim.max\"";
inline constexpr std::string_view kLoadReportBegins = "{\n  \"schema\": \"streamsim.load\"";
inline constexpr std::string_view kPublishedReportBegins = "{\n  \"schema\": \"streamsim.published-result\"";
inline constexpr std::string_view kPredictionReportBegins = "{\n  \"schema\": \"streamsim.prediction\"";
inline constexpr std::string_view kPlanReportBegins = "{\n  \"schema\": \"streamsim.plan\"";
inline constexpr std::string_view kSensitivityReportBegins = "{\n  \"schema\": \"streamsim.sensitivity\"";

inline constexpr std::string_view kCalibrationReportBegins = "{\n  \"schema\": \"streamsim.calibration\"";

/// UTF-8, ends with a newline. Keys keep their order; streams, drops and time-line entries take a line each.
/// Counts, bytes and nanoseconds are integers; values that never were or are not known are null. A name that is
/// not UTF-8 is shown with U+FFFD in the place of the wrong bytes.
std::string json_report(const RunResult& result);
/// The same in pieces: the text of many streams is never whole in memory.
void write_json_report(const RunResult& result, const TextSink& out);

/// The result of a search with every step, a line for each member.
std::string max_json_report(const MaxResult& result);

/// The answers of a calibrated model (formats/schema/prediction.json).
std::string prediction_json_report(const PredictionResult& result);

/// The result of a workload, with the whole result of every step.
std::string load_json_report(const LoadResult& result);

/// Printed numbers beside the answers of models.
std::string published_json_report(const PublishedResult& result);
/// The sensitivity of a model to each of its numbers.
std::string sensitivity_json_report(const ModelSensitivity& result);

/// The raw rows of a calibration; read_measurement reads them again.
std::string measurement_document(const Measurement& measured);
/// The fitted numbers, the residuals and the held-back run.
std::string calibration_json_report(const Calibration& calibration);
/// The plans of a purchase.
std::string plan_json_report(const PurchaseResult& result);

}  // namespace streamsim::result
