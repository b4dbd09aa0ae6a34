#include "scenario/workload_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/units.h"
#include "scenario/before_step.h"
#include "scenario/reading.h"
#include "scenario/workload_steps.h"

namespace streamsim::scenario {
namespace {

using Over = Sweep::Over;

constexpr struct {
    const char* word;
    Over over;
} kSweeps[] = {
    {"clients", Over::clients},
    {"users", Over::users},
    {"read_percent", Over::read_percent},
    {"operations_per_s", Over::operations_per_s},
    {"block_bytes", Over::block_bytes},
    {"fill_percent", Over::fill_percent},
    {"cache", Over::cache},
};

std::optional<double> read_cache_value(const Json& value, const std::string& pointer, JsonProblems& problems) {
    if (value == "cold") return 0;
    if (value == "warm") return 1;
    problems.add(pointer, fmt::format("expected \"cold\" or \"warm\", found {}", json_text(value)));
    return std::nullopt;
}

std::optional<double> read_number(const Json& value,
                                  const std::string& pointer,
                                  double least,
                                  double most,
                                  bool whole,
                                  JsonProblems& problems) {
    if (value.is_number()) {
        const auto number = value.get<double>();
        if (number >= least && number <= most && (!whole || number == std::floor(number))) return number;
    }
    problems.add(pointer, fmt::format("expected {} from {} to {}, found {}", whole ? "an integer" : "a number",
                                      least, most, json_text(value)));
    return std::nullopt;
}

/// One of Sweep::values, as it is written for that sweep.
std::optional<double> read_value(Over over,
                                 const Json& value,
                                 const std::string& pointer,
                                 JsonProblems& problems) {
    switch (over) {
        case Over::clients: return read_number(value, pointer, 1, kWorkloadSeatsMax, true, problems);
        case Over::users: return read_number(value, pointer, 1, kWorkloadUsersMax, true, problems);
        case Over::read_percent: return read_number(value, pointer, 0, 100, false, problems);
        case Over::fill_percent: return read_number(value, pointer, 0, 99, false, problems);
        case Over::cache: return read_cache_value(value, pointer, problems);
        case Over::block_bytes: {
            const auto bytes = read_block_bytes(value, pointer, problems);
            return bytes ? std::optional<double>(static_cast<double>(*bytes)) : std::nullopt;
        }
        case Over::operations_per_s:
        case Over::none: break;
    }
    return read_number(value, pointer, 0.001, 1e9, false, problems);
}

void read_sweep(JsonObject& document, Workload& workload, JsonProblems& problems) {
    const Json* value = document.member("sweep", false);
    if (value == nullptr) return;
    JsonObject object(*value, "/sweep", problems);
    const auto word = object.one_of("over", {"clients", "users", "read_percent", "operations_per_s",
                                             "block_bytes", "fill_percent", "cache"});
    Over over = Over::none;
    for (const auto& each : kSweeps) {
        if (word == each.word) over = each.over;
    }
    const Json* values = object.member("values");
    if (values != nullptr && (!values->is_array() || values->empty() || values->size() > 1000)) {
        object.problem("values", "expected an array of 1 to 1000 values");
    } else if (values != nullptr && over != Over::none) {
        std::size_t i = 0;
        for (const Json& each : *values) {
            const auto read = read_value(over, each, fmt::format("/sweep/values/{}", i++), problems);
            if (read) workload.sweep.values.push_back(*read);
        }
    }
    workload.sweep.over = over;
    for (std::size_t n = 1; over == Over::fill_percent && n < workload.sweep.values.size(); ++n) {
        if (workload.sweep.values[n] <= workload.sweep.values[n - 1])
            problems.add(fmt::format("/sweep/values/{}", n),
                         "expected more than the value before: what fills the storage stays until the end");
    }
    object.finish();
}

/// The name of a model, as it is typed after "sim:".
std::string read_model_name(JsonObject& object) {
    const auto name = object.string("model", false);
    if (!name) return "";
    if (name->starts_with("sim:") || name->find_first_of("?/ ") != std::string::npos || name->size() > 64)
        object.problem("model",
                       fmt::format("expected the name of a model, as h600 of sim:h600, found \"{}\"", *name));
    return *name;
}

void read_printed(JsonObject& document, Workload& workload, JsonProblems& problems) {
    read_scenario_array(document, "printed", false, [&](const Json& value, const std::string& pointer) {
        JsonObject object(value, pointer, problems);
        PrintedFigure figure;
        const bool swept = workload.sweep.over != Over::none;
        if (const Json* at = object.member("at", swept)) {
            if (swept && *at == "peak") {
                figure.peak = true;
            } else if (swept) {
                figure.at = read_value(workload.sweep.over, *at, pointer + "/at", problems).value_or(0);
            } else {
                object.problem("at", "says which step, and there is no sweep");
            }
        }
        figure.model = read_model_name(object);
        figure.quantity =
            object
                .one_of("quantity", {"read_bytes_per_s", "write_bytes_per_s", "bytes_per_s", "peak_bytes_per_s",
                                     "operations_per_s", "peak_operations_per_s", "latency_ms",
                                     "peak_latency_ms", "block_latency_ms", "block_latency_max_ms"})
                .value_or("");
        figure.value = object.number("value", 0, 1e18).value_or(0);
        figure.source = object.string("source").value_or("");
        object.finish();
        workload.printed.push_back(std::move(figure));
    });
}

double weight_of(const MeterSpec& meter, LoadOperation operation) {
    return meter.weights[static_cast<std::size_t>(operation)];
}

bool transfers(const MeterSpec& meter) {
    return weight_of(meter, LoadOperation::read) > 0 || weight_of(meter, LoadOperation::write) > 0;
}

/// The longest of the meter's lengths; of reads and writes, the shorter one. Empty: a transfer is as long as
/// its block or its file.
std::optional<std::uint64_t> longest_length(const MeterSpec& meter) {
    std::optional<std::uint64_t> out = meter.length_up_to;
    const auto take = [&](LoadOperation operation, const std::vector<WeightedSize>& lengths) {
        std::uint64_t longest = 0;
        for (const WeightedSize& each : lengths)
            if (each.weight > 0) longest = std::max(longest, each.bytes);
        if (longest > 0 && weight_of(meter, operation) > 0) out = std::min(out.value_or(longest), longest);
    };
    take(LoadOperation::read, meter.lengths);
    take(LoadOperation::write, meter.writes ? meter.writes->lengths : meter.lengths);
    return out;
}

/// Checks that the meters have the property that a sweep varies.
void check_sweep(JsonObject& document, const Workload& workload, JsonProblems& problems) {
    const Over over = workload.sweep.over;
    const auto any = [&](auto&& holds) {
        return std::any_of(workload.meters.begin(), workload.meters.end(), holds);
    };
    if ((over == Over::read_percent || over == Over::block_bytes) && !any(transfers)) {
        document.problem("sweep", "is over reads and writes, and no meter has any");
    }
    if (over == Over::operations_per_s && !any([](const MeterSpec& m) { return m.operations_per_s > 0; })) {
        document.problem("sweep",
                         "is over operations_per_s, and no meter has any that could be assigned in proportion");
    }
    if (over != Over::block_bytes) return;
    for (std::size_t i = 0; i < workload.sweep.values.size(); ++i) {
        for (const MeterSpec& meter : workload.meters) {
            const auto bytes = static_cast<std::uint64_t>(workload.sweep.values[i]);
            if (!transfers(meter)) continue;
            const std::string pointer = fmt::format("/sweep/values/{}", i);
            if (bytes > meter.set.file_bytes)
                problems.add(pointer,
                             fmt::format("a block of {} does not fit the files of {}, of {}",
                                         show_io_size(bytes), meter.name, show_io_size(meter.set.file_bytes)));
            if (const auto longest = longest_length(meter); longest && bytes > *longest)
                problems.add(pointer, fmt::format("a block of {} is more than the lengths of {}, up to {}",
                                                  show_io_size(bytes), meter.name, show_io_size(*longest)));
        }
    }
}

void read_meters(JsonObject& document, Workload& workload, JsonProblems& problems) {
    MeterContext context{workload.duration, workload.clients, 0};
    for (const double value : workload.sweep.values) {
        const auto count = static_cast<std::uint32_t>(std::clamp(value, 0.0, double{UINT32_MAX}));
        if (workload.sweep.over == Over::clients) context.seats = std::max(context.seats, count);
        if (workload.sweep.over == Over::users) context.users_max = std::max(context.users_max, count);
    }
    std::set<std::string> names;
    read_scenario_array(document, "meters", true, [&](const Json& value, const std::string& pointer) {
        MeterSpec meter = read_meter(value, pointer, context, problems);
        if (!meter.name.empty() && !names.insert(meter.name).second)
            problems.add(pointer + "/name", fmt::format("another meter is named \"{}\"", meter.name));
        workload.meters.push_back(std::move(meter));
    });
}

Workload::Report report_of(const std::optional<std::string>& word) {
    return word == "modes"   ? Workload::Report::modes
           : word == "curve" ? Workload::Report::curve
                             : Workload::Report::table;
}

}  // namespace

Result<Workload> read_workload(std::string_view text, const std::string& source) {
    const auto document = parse_json(text, source);
    if (!document) return document.error();
    JsonProblems problems(source);
    JsonObject object(*document, "", problems);
    check_schema(object, "streamsim.workload", 1);
    Workload workload;
    workload.source = source;
    workload.name = read_load_name(object);
    workload.title = object.string("title", false).value_or("");
    workload.description = object.string("description", false).value_or("");
    workload.basis = object.string("basis", false).value_or("");
    workload.target = object.string("target", false);
    workload.clients = read_count(object, "clients", kWorkloadSeatsMax, 1);
    workload.duration = read_scenario_length(object, "duration", false).value_or(workload.duration);
    workload.before_step = read_before_step(object, problems);
    read_sweep(object, workload, problems);
    read_meters(object, workload, problems);
    check_sweep(object, workload, problems);
    workload.report = report_of(object.one_of("report", {"table", "modes", "curve"}, false));
    read_printed(object, workload, problems);
    object.finish();
    if (!problems.empty()) return problems.error();
    return workload;
}

}  // namespace streamsim::scenario
