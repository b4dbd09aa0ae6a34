#include "profile/learning/workload_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace streamsim::profile {
namespace {

/// The largest binary unit that gives a whole number.
std::string size_text(std::uint64_t bytes) {
    constexpr std::pair<int, const char*> kUnits[] = {{40, "TiB"}, {30, "GiB"}, {20, "MiB"}, {10, "KiB"}};
    for (const auto& [shift, unit] : kUnits) {
        if (bytes > 0 && bytes % (std::uint64_t{1} << shift) == 0)
            return fmt::format("{}{}", bytes >> shift, unit);
    }
    return fmt::format("{}B", bytes);
}

std::string time_text(Duration time) {
    constexpr std::pair<std::int64_t, const char*> kUnits[] = {
        {3'600'000'000'000, "h"}, {60'000'000'000, "m"}, {1'000'000'000, "s"}, {1'000'000, "ms"}, {1000, "us"}};
    for (const auto& [ns, unit] : kUnits) {
        if (time.ns > 0 && time.ns % ns == 0) return fmt::format("{}{}", time.ns / ns, unit);
    }
    return time.ns == 0 ? "0" : fmt::format("{}ns", time.ns);
}

/// 3, and not 3.0.
OrderedJson number(double value) {
    if (value == std::floor(value) && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
    return value;
}

OrderedJson sizes(const std::vector<WeightedSize>& all) {
    if (all.size() == 1) return size_text(all.front().bytes);
    OrderedJson out = OrderedJson::array();
    for (const WeightedSize& each : all)
        out.push_back({{"bytes", size_text(each.bytes)}, {"weight", number(each.weight)}});
    return out;
}

void add_loop(OrderedJson& out, const MeterSpec& meter) {
    const bool open = meter.loop == MeterSpec::Loop::open;
    if (open) out["loop"] = "open";
    if (open && meter.arrival == MeterSpec::Arrival::poisson) out["arrival"] = "poisson";
    if (meter.operations_per_s > 0) out["operations_per_s"] = number(meter.operations_per_s);
    if (meter.inflight != 1) out["inflight"] = meter.inflight;
}

void add_transfers(OrderedJson& out, const MeterSpec& meter) {
    if (meter.random_share > 0) out["random_percent"] = number(meter.random_share * 100);
    if (meter.sequential_from_anywhere) out["sequential_from"] = "anywhere";
    if (meter.random_by_block) out["random_unit"] = "block";
    if (meter.non_repeating) out["non_repeating"] = true;
    if (!meter.blocks.empty()) out["blocks"] = sizes(meter.blocks);
    if (meter.length_up_to) out["lengths"] = {{"up_to", size_text(*meter.length_up_to)}};
    if (!meter.lengths.empty()) out["lengths"] = sizes(meter.lengths);
    if (meter.writes) {
        OrderedJson writes = {{"blocks", sizes(meter.writes->blocks)}};
        if (!meter.writes->lengths.empty()) writes["lengths"] = sizes(meter.writes->lengths);
        out["writes"] = std::move(writes);
    }
    if (meter.whole_files) out["whole_files"] = true;
}

OrderedJson working_set_of(const WorkingSet& set) {
    OrderedJson out = {{"count", set.files}};
    if (set.file_bytes > 0) out["bytes"] = size_text(set.file_bytes);
    if (set.directories != 1) out["directories"] = set.directories;
    if (set.spare_files > 0) out["spare"] = set.spare_files;
    if (set.of == WorkingSet::Of::all) out["shared"] = true;
    if (set.of == WorkingSet::Of::client) out["shared"] = "client";
    return out;
}

OrderedJson meter_of(const MeterSpec& meter) {
    OrderedJson out = {{"name", meter.name}};
    if (meter.users != 1) out["users"] = meter.users;
    add_loop(out, meter);
    OrderedJson operations = OrderedJson::object();
    for (std::size_t i = 0; i < kLoadOperations; ++i) {
        if (meter.weights[i] > 0)
            operations[to_string(static_cast<LoadOperation>(i))] = number(meter.weights[i]);
    }
    out["operations"] = std::move(operations);
    add_transfers(out, meter);
    out["files"] = working_set_of(meter.set);
    if (!meter.blocks.empty() && !meter.direct) out["direct"] = false;
    if (meter.sync == MeterSpec::Sync::each_write) out["sync"] = "each-write";
    if (meter.sync == MeterSpec::Sync::at_end) out["sync"] = "at-end";
    if (meter.think_time.ns > 0) out["think_time"] = time_text(meter.think_time);
    if (meter.one_more_every.ns > 0) out["one_more_every"] = time_text(meter.one_more_every);
    if (meter.start.ns > 0) out["start"] = time_text(meter.start);
    if (meter.end) out["end"] = time_text(*meter.end);
    if (meter.burst > 0) out["burst"] = meter.burst;
    return out;
}

/// A value of a sweep, in the notation of that sweep.
OrderedJson swept(Sweep::Over over, double value) {
    if (over == Sweep::Over::cache) return value == 0 ? "cold" : "warm";
    if (over == Sweep::Over::block_bytes) return size_text(static_cast<std::uint64_t>(value));
    return number(value);
}

}  // namespace

OrderedJson workload_document(const Workload& workload) {
    OrderedJson out = {{"schema", "streamsim.workload"}, {"version", 1}, {"name", workload.name}};
    if (!workload.title.empty()) out["title"] = workload.title;
    if (!workload.description.empty()) out["description"] = workload.description;
    if (!workload.basis.empty()) out["basis"] = workload.basis;
    if (workload.target) out["target"] = *workload.target;
    if (workload.clients != 1) out["clients"] = workload.clients;
    out["duration"] = time_text(workload.duration);
    out["meters"] = OrderedJson::array();
    for (const MeterSpec& meter : workload.meters) out["meters"].push_back(meter_of(meter));
    if (const Sweep& sweep = workload.sweep; sweep.over != Sweep::Over::none) {
        OrderedJson values = OrderedJson::array();
        for (const double value : sweep.values) values.push_back(swept(sweep.over, value));
        out["sweep"] = {{"over", to_string(sweep.over)}, {"values", std::move(values)}};
    }
    if (workload.report == Workload::Report::modes) out["report"] = "modes";
    if (workload.report == Workload::Report::curve) out["report"] = "curve";
    for (const PrintedFigure& figure : workload.printed) {
        OrderedJson each = OrderedJson::object();
        if (figure.peak) {
            each["at"] = "peak";
        } else if (workload.sweep.over != Sweep::Over::none) {
            each["at"] = swept(workload.sweep.over, figure.at);
        }
        if (!figure.model.empty()) each["model"] = figure.model;
        each["quantity"] = figure.quantity;
        each["value"] = number(figure.value);
        each["source"] = figure.source;
        out["printed"].push_back(std::move(each));
    }
    return out;
}

}  // namespace streamsim::profile
