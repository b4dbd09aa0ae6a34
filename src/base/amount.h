// Amounts of money and power as text.
#pragma once

#include <string>

namespace streamsim {

/// "6,200", "0.25": whole, or with two decimals.
std::string show_amount(double value);

}  // namespace streamsim
