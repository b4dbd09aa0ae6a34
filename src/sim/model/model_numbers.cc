#include "sim/model/model_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/document/json.h"
#include "sim/model/document_values.h"
#include "sim/model/model_document.h"

namespace streamsim::sim {
namespace {

std::string text_of(const OrderedJson& entry, const char* key) {
    if (!entry.contains(key)) return "";
    return entry[key].is_string() ? entry[key].get<std::string>() : entry[key].dump();
}

void list(const OrderedJson& value, const std::string& pointer, std::vector<ModelNumber>& into) {
    if (is_number(value)) {
        into.push_back({pointer, text_of(value, "value"), value["basis"].get<std::string>(),
                        text_of(value, "low"), text_of(value, "high")});
        return;
    }
    if (!value.is_structured()) return;
    for (const auto& [key, member] : value.items()) list(member, fmt::format("{}/{}", pointer, key), into);
}

/// Low and high keep their ratio to the value, within the bounds of the document.
void scale_interval(OrderedJson& entry, double before, const UncertainNumber& number) {
    constexpr double kNsPerS = 1e9;
    const bool time = is_time(entry);
    const double unit = time ? kNsPerS : 1;
    const double after = plain_value(entry["value"]).value_or(before);
    for (const char* key : {"low", "high"}) {
        if (!entry.contains(key)) continue;
        const double bound = plain_value(entry[key]).value_or(after);
        const double scaled =
            std::clamp(before != 0 ? bound * after / before : bound, number.min * unit, number.max * unit);
        set_value(entry[key], key[0] == 'l' ? std::min(scaled, after) : std::max(scaled, after), time);
    }
}

/// No value like the one in the document is at this pointer.
bool refuses_value(const OrderedJson& document, const std::string& source, const std::string& pointer) {
    const std::string place = fmt::format("{}: {}/value: ", source, pointer);
    const auto model = read_model_document(document.dump(), source);
    return !model && std::ranges::any_of(model.error().problems, [&place](const std::string& problem) {
        return problem.starts_with(place);
    });
}

/// "0" is a time as well as a size: where it is a time, it gets a unit.
void give_unit(OrderedJson& document, const std::string& source, const std::string& pointer) {
    OrderedJson* const entry = entry_at(document, pointer);
    if (entry == nullptr || (*entry)["value"] != "0") return;
    (*entry)["value"] = "0ns";
    if (refuses_value(document, source, pointer)) (*entry)["value"] = "0";
}

/// Neither half less nor half more is a number of this kind.
bool takes_whole_only(const OrderedJson& document, const std::string& source, const std::string& pointer) {
    OrderedJson changed = document;
    OrderedJson* const entry = entry_at(changed, pointer);
    if (entry == nullptr || is_time(*entry) || (*entry)["value"].is_number_float()) return false;
    const auto value = plain_value((*entry)["value"]);
    if (!value) return false;
    entry->erase("low");
    entry->erase("high");
    for (const double by : {0.5, -0.5}) {
        (*entry)["value"] = *value + by;
        if (!refuses_value(changed, source, pointer)) return false;
    }
    return true;
}

bool apply(OrderedJson& entry, const ModelChange& change, const std::vector<UncertainNumber>& uncertain) {
    OrderedJson& value = entry["value"];
    const auto before = plain_value(value);
    if (!before) return false;
    double after = change.multiply ? *before * change.by : change.by;
    const bool whole = value.is_number_integer();
    const bool same = std::llround(after) == std::llround(*before);
    if (whole && change.multiply && same && *before != 0 && change.by != 1)
        after = *before + (change.by > 1 ? 1 : -1);
    set_value(value, after, value.is_string() && is_time(entry));
    for (const UncertainNumber& number : uncertain) {
        if (number.pointer == change.pointer) scale_interval(entry, *before, number);
    }
    return true;
}

}  // namespace

Result<std::vector<ModelNumber>> model_numbers(std::string_view text, const std::string& source) {
    if (const auto model = read_model_document(text, source); !model) return model.error();
    std::vector<ModelNumber> all;
    list(OrderedJson::parse(text), "", all);
    return all;
}

Result<std::string> changed_document(std::string_view text,
                                     const std::string& source,
                                     const std::vector<ModelChange>& changes) {
    const auto model = read_model_document(text, source);
    if (!model) return model.error();
    auto document = OrderedJson::parse(text);
    for (const ModelChange& change : changes) {
        give_unit(document, source, change.pointer);
        OrderedJson* const entry = entry_at(document, change.pointer);
        const bool fraction = change.multiply || change.by != std::floor(change.by);
        if (fraction && entry != nullptr && (*entry)["value"].is_number() &&
            !takes_whole_only(document, source, change.pointer))
            take_fractions(*entry);
        if (entry == nullptr || !apply(*entry, change, model->uncertain))
            return bad_input(fmt::format("{}: {}: there is no number", source, change.pointer));
    }
    return document.dump();
}

Result<ClusterModel> changed_model(std::string_view text,
                                   const std::string& source,
                                   const std::vector<ModelChange>& changes) {
    const auto document = changed_document(text, source, changes);
    if (!document) return document.error();
    return read_model_document(*document, source);
}

bool is_whole_at(std::string_view text, const std::string& source, const std::string& pointer) {
    if (!read_model_document(text, source)) return false;
    auto document = OrderedJson::parse(text);
    give_unit(document, source, pointer);
    return takes_whole_only(document, source, pointer);
}

bool is_time_at(std::string_view text, const std::string& source, const std::string& pointer) {
    if (!read_model_document(text, source)) return false;
    auto document = OrderedJson::parse(text);
    give_unit(document, source, pointer);
    const OrderedJson* const entry = entry_at(document, pointer);
    return entry != nullptr && is_time(*entry);
}

bool is_size_at(std::string_view text, const std::string& source, const std::string& pointer) {
    if (!read_model_document(text, source)) return false;
    auto document = OrderedJson::parse(text);
    OrderedJson* const entry = entry_at(document, pointer);
    if (entry == nullptr) return false;
    (*entry)["value"] = "1GiB";
    return !refuses_value(document, source, pointer);
}

Result<double> number_at(std::string_view text, const std::string& source, const std::string& pointer) {
    if (const auto model = read_model_document(text, source); !model) return model.error();
    auto document = OrderedJson::parse(text);
    OrderedJson* const entry = entry_at(document, pointer);
    const auto value = entry != nullptr ? plain_value((*entry)["value"]) : std::nullopt;
    if (!value) return bad_input(fmt::format("{}: {}: there is no number", source, pointer));
    return *value;
}

}  // namespace streamsim::sim
