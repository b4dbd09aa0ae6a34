#include "seats/seat_greeting.h"

#include <fmt/format.h>

#include <charconv>

namespace streamsim::seats {

bool equal_in_constant_time(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned different = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        different |= unsigned{static_cast<unsigned char>(a[i])} ^ unsigned { static_cast<unsigned char>(b[i]) };
    return different == 0;
}

std::string seat_greeting(std::string_view token, std::uint32_t rank) {
    return fmt::format("{}{}{:08x}", kGreetingBegins, token, rank);
}

std::optional<std::uint32_t> rank_that_greets(std::string_view greeting, std::string_view token) {
    if (greeting.size() != kGreetingBytes || token.size() != kTokenBytes) return std::nullopt;
    const bool begins = greeting.starts_with(kGreetingBegins);
    const bool known = equal_in_constant_time(greeting.substr(kGreetingBegins.size(), kTokenBytes), token);
    if (!begins || !known) return std::nullopt;
    const std::string_view digits = greeting.substr(kGreetingBytes - kRankBytes);
    std::uint32_t rank = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rank, 16);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return rank;
}

}  // namespace streamsim::seats
