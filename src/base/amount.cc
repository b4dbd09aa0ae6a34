#include "base/amount.h"

#include <fmt/format.h>

#include <cmath>

#include "base/units.h"

namespace streamsim {

std::string show_amount(double value) {
    if (value == std::floor(value) && value >= 0 && value < 1e15)
        return show_count(static_cast<std::uint64_t>(value));
    return fmt::format("{:.2f}", value);
}

}  // namespace streamsim
