// The values of numbers in the JSON of a model's document, to be changed in place.
#pragma once

#include <optional>
#include <string>

#include "base/document/json.h"

namespace streamsim::sim {

/// An object with a value and a basis, the value no boolean.
bool is_number(const OrderedJson& entry);

/// The number at a pointer; null where there is none.
OrderedJson* entry_at(OrderedJson& document, const std::string& pointer);

/// Nanoseconds, bytes or the number itself; nullopt: a text of another kind.
std::optional<double> plain_value(const OrderedJson& value);

/// In the unit of plain_value. Whole numbers, sizes and times stay whole. `time`: the value is one.
void set_value(OrderedJson& value, double number, bool time);

/// Whole numbers of the entry, as 1 for a share, may then have other values than whole ones.
void take_fractions(OrderedJson& entry);

/// A text of the entry has a unit of time. "0" alone has none.
bool is_time(const OrderedJson& entry);

}  // namespace streamsim::sim
