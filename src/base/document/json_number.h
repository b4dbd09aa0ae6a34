// Whole numbers of JSON, read exactly.
#pragma once

#include <concepts>
#include <optional>
#include <utility>

#include "base/document/json.h"

namespace streamsim {

/// The value as a whole number of this type; nothing for any other value. JSON's own conversions take any
/// number for any other: a negative one becomes a large one, and one beyond all integers is undefined.
template <std::integral Number>
std::optional<Number> whole_in(const Json& value) {
    const auto within = [](auto number) {
        return std::in_range<Number>(number) ? std::optional(static_cast<Number>(number)) : std::nullopt;
    };
    if (value.is_number_unsigned()) return within(value.get<Json::number_unsigned_t>());
    if (value.is_number_integer()) return within(value.get<Json::number_integer_t>());
    return std::nullopt;
}

}  // namespace streamsim
