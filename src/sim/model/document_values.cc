#include "sim/model/document_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace streamsim::sim {

bool is_number(const OrderedJson& entry) {
    return entry.is_object() && entry.contains("value") && entry.contains("basis") &&
           !entry["value"].is_boolean();
}

OrderedJson* entry_at(OrderedJson& document, const std::string& pointer) {
    const OrderedJson::json_pointer path(pointer);
    if (!document.contains(path)) return nullptr;
    OrderedJson& entry = document[path];
    return is_number(entry) ? &entry : nullptr;
}

std::optional<double> plain_value(const OrderedJson& value) {
    if (value.is_number()) return value.get<double>();
    const auto text = value.get<std::string>();
    if (const auto size = parse_size(text)) return static_cast<double>(*size);
    if (const auto time = parse_duration(text)) return static_cast<double>(time->ns);
    return std::nullopt;
}

void set_value(OrderedJson& value, double number, bool time) {
    if (time) {
        value = fmt::format("{:.0f}ns", std::max(number, 0.0));
    } else if (value.is_string() || value.is_number_integer()) {
        value = static_cast<std::uint64_t>(std::llround(std::max(number, 0.0)));
    } else {
        value = number;
    }
}

void take_fractions(OrderedJson& entry) {
    for (const char* key : {"value", "low", "high"}) {
        if (entry.contains(key) && entry[key].is_number_integer()) entry[key] = entry[key].get<double>();
    }
}

bool is_time(const OrderedJson& entry) {
    for (const char* key : {"value", "low", "high"}) {
        if (entry.contains(key) && entry[key].is_string() && !parse_size(entry[key].get<std::string>()))
            return true;
    }
    return false;
}

}  // namespace streamsim::sim
