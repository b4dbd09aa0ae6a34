#include "sim/model/model_numbers.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "base/document/json.h"
#include "base/units.h"
#include "sim/model/model_document.h"

namespace streamsim::sim {
namespace {

bool is_number(const OrderedJson& entry) {
    return entry.is_object() && entry.contains("value") && entry.contains("basis") &&
           !entry["value"].is_boolean();
}

void list(const OrderedJson& value, const std::string& pointer, std::vector<ModelNumber>& into) {
    if (is_number(value)) {
        const OrderedJson& number = value["value"];
        into.push_back({pointer, number.is_string() ? number.get<std::string>() : number.dump(),
                        value["basis"].get<std::string>()});
        return;
    }
    if (!value.is_structured()) return;
    for (const auto& [key, member] : value.items()) list(member, pointer + "/" + key, into);
}

OrderedJson* entry_at(OrderedJson& document, const std::string& pointer) {
    const OrderedJson::json_pointer path(pointer);
    if (!document.contains(path)) return nullptr;
    OrderedJson& entry = document[path];
    return is_number(entry) ? &entry : nullptr;
}

/// Nanoseconds, bytes or the number itself; nullopt: a text of another kind.
std::optional<double> plain_value(const OrderedJson& value) {
    if (value.is_number()) return value.get<double>();
    const auto text = value.get<std::string>();
    if (const auto size = parse_size(text)) return static_cast<double>(*size);
    if (const auto time = parse_duration(text)) return static_cast<double>(time->ns);
    return std::nullopt;
}

void set(OrderedJson& value, double number) {
    const bool time = value.is_string() && !parse_size(value.get<std::string>());
    if (time) {
        value = fmt::format("{:.0f}ns", number);
    } else if (value.is_string() || value.is_number_integer()) {
        value = static_cast<std::uint64_t>(std::llround(std::max(number, 0.0)));
    } else {
        value = number;
    }
}

bool apply(OrderedJson& entry, const ModelChange& change) {
    OrderedJson& value = entry["value"];
    const auto before = plain_value(value);
    if (!before) return false;
    double after = change.multiply ? *before * change.by : change.by;
    const bool whole = value.is_number_integer();
    if (whole && change.multiply && std::llround(after) == std::llround(*before) && change.by != 1)
        after = *before + (change.by > 1 ? 1 : -1);
    set(value, after);
    return true;
}

Result<OrderedJson> parse(std::string_view text, const std::string& source) {
    if (const auto model = read_model_document(text, source); !model) return model.error();
    return OrderedJson::parse(text);
}

}  // namespace

Result<std::vector<ModelNumber>> model_numbers(std::string_view text, const std::string& source) {
    const auto document = parse(text, source);
    if (!document) return document.error();
    std::vector<ModelNumber> all;
    list(*document, "", all);
    return all;
}

Result<ClusterModel> changed_model(std::string_view text,
                                   const std::string& source,
                                   const std::vector<ModelChange>& changes) {
    auto document = parse(text, source);
    if (!document) return document.error();
    for (const ModelChange& change : changes) {
        OrderedJson* const entry = entry_at(*document, change.pointer);
        if (entry == nullptr || !apply(*entry, change))
            return bad_input(fmt::format("{}: {}: there is no number", source, change.pointer));
    }
    return read_model_document(document->dump(), source);
}

Result<double> number_at(std::string_view text, const std::string& source, const std::string& pointer) {
    auto document = parse(text, source);
    if (!document) return document.error();
    OrderedJson* const entry = entry_at(*document, pointer);
    const auto value = entry != nullptr ? plain_value((*entry)["value"]) : std::nullopt;
    if (!value) return bad_input(fmt::format("{}: {}: there is no number", source, pointer));
    return *value;
}

}  // namespace streamsim::sim
