#include "report/json/max_json.h"

#include <algorithm>
#include <cmath>

#include "base/document/json.h"
#include "report/tables/max_table.h"

namespace streamsim::report {
namespace {

template <typename T>
OrderedJson or_null(const std::optional<T>& value) {
    return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson run_json(const MaxRun& run) {
    return {{"duration_ns", run.duration_ns},
            {"pass", run.pass},
            {"limit", to_string(run.limit)},
            {"reason", run.reason},
            {"missed", run.missed},
            {"startup_drops", run.startup_drops},
            {"margin_min_ns", or_null(run.margin_min_ns)},
            {"margin_p1_ns", or_null(run.margin_p1_ns)},
            {"margin_p1_percent", or_null(run.margin_p1_percent)},
            {"empty_after_ns", or_null(run.empty_after_ns)},
            {"undecided", run.undecided},
            {"disturbed", run.disturbed},
            {"required_bytes_per_s", std::llround(run.required_bytes_per_s)},
            {"read_bytes_per_s", std::llround(run.read_bytes_per_s)}};
}

OrderedJson step_json(const MaxStep& step, const MaxResult& result) {
    OrderedJson out = {{"streams", step.streams * result.streams_of_one()},
                       {"seats", result.seats_of(step.streams)},
                       {"purpose", to_string(step.purpose)},
                       {"repeated", step.runs.size() - 1},
                       {"noisy", step.noisy()}};
    // The fields of the deciding run, then all runs.
    const OrderedJson decided = run_json(step.runs.back());
    for (const auto& [key, value] : decided.items()) out[key] = value;
    out["pass"] = step.pass;
    OrderedJson runs = OrderedJson::array();
    for (const MaxRun& run : step.runs) runs.push_back(run_json(run));
    out["runs"] = std::move(runs);
    return out;
}

OrderedJson format_json(const MaxFormat& format, const MaxResult& result) {
    const std::uint64_t streams = format.streams * result.streams_of_one();
    const std::uint64_t seats = result.seats_of(format.streams);
    std::optional<std::uint64_t> fails_at = format.fails_at;
    if (fails_at) *fails_at *= result.streams_of_one();
    const MaxRun* fails = run_of_one_more(format);
    const MaxRun* plays = format.decided(format.streams);
    OrderedJson out = {
        {"format", format.format},
        {"width", format.width},
        {"height", format.height},
        {"rate", {format.rate.num, format.rate.den}},
        {"streams", streams},
        {"streams_per_seat", seats > 0 ? streams / seats : 0},
        {"seats", seats},
        {"fails_at", or_null(fails_at)},
        {"confirmed", format.confirmed},
        {"confirm_ns", format.confirm_ns},
        {"limit", fails != nullptr ? to_string(fails->limit) : to_string(Limit::none)},
        {"reason", fails != nullptr ? fails->reason : ""},
        {"at_least", !format.at_least.empty()},
        {"at_least_because", format.at_least},
        {"interrupted", format.interrupted},
        {"required_bytes_per_s", plays != nullptr ? std::llround(plays->required_bytes_per_s) : 0},
        {"margin_min_ns", plays != nullptr ? or_null(plays->margin_min_ns) : OrderedJson(nullptr)},
        {"margin_p1_ns", plays != nullptr ? or_null(plays->margin_p1_ns) : OrderedJson(nullptr)},
        {"margin_p1_percent", plays != nullptr ? or_null(plays->margin_p1_percent) : OrderedJson(nullptr)}};
    OrderedJson steps = OrderedJson::array();
    for (const MaxStep& step : format.steps) steps.push_back(step_json(step, result));
    out["steps"] = std::move(steps);
    return out;
}

}  // namespace

std::string max_json_report(const MaxResult& result) {
    const RunResult& common = result.common;
    const HostFacts& host = common.host;
    OrderedJson out = {
        {"schema", "streamsim.max"},
        {"version", 1},
        {"streamsim",
         {{"version", common.version}, {"revision", common.revision}, {"backends", common.backends}}},
        {"started_at", common.started_at},
        {"host",
         {{"name", host.name}, {"os", host.os}, {"cpus", host.cpus}, {"memory_bytes", host.memory_bytes}}},
        {"command", common.command},
        {"seed", common.seed},
        {"target",
         {{"url", common.url}, {"backend", common.backend}, {"io", common.io}, {"direct", common.direct}}},
        {"model", common.model ? OrderedJson(common.model->name) : OrderedJson(nullptr)},
        {"play",
         {{"readahead", common.readahead},
          {"inflight", common.inflight},
          {"io_size_bytes", common.io_size_bytes},
          {"io_depth", common.io_depth},
          {"on_miss", common.on_miss},
          {"order", common.order}}},
        {"faults_injected", common.faults_injected.has_value()},
        {"counts", to_string(result.counts)},
        {"seats", result.seats},
        {"headroom_percent", result.headroom_percent},
        {"step_ns", result.step_ns},
        {"confirm_ns", result.confirm_ns},
        {"interrupted", result.interrupted},
        {"server_cache_may_be_warm", result.server_cache_may_be_warm},
        {"notices", result.notices}};
    OrderedJson formats = OrderedJson::array();
    for (const MaxFormat& format : result.formats) formats.push_back(format_json(format, result));
    out["formats"] = std::move(formats);
    return out.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace streamsim::report
