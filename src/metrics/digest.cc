#include "metrics/digest.h"

#include <charconv>

#include "base/prng.h"
#include "base/wide.h"

namespace streamsim::metrics {

void Digest::add(std::uint64_t hash) {
    merge({hash, mix64(hash)});
}

void Digest::merge(const Digest& other) {
    const Wide sum = ((Wide{high} << 64) | low) + ((Wide{other.high} << 64) | other.low);
    low = static_cast<std::uint64_t>(sum);
    high = static_cast<std::uint64_t>(sum >> 64);
}

std::string Digest::hex() const {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string out;
    for (const std::uint64_t word : {high, low}) {
        for (int shift = 60; shift >= 0; shift -= 4) out += kDigits[(word >> shift) & 15];
    }
    return out;
}

std::optional<Digest> Digest::from_hex(std::string_view hex) {
    Digest digest;
    for (std::uint64_t* const word : {&digest.high, &digest.low}) {
        const std::string_view digits = hex.substr(0, 16);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *word, 16);
        if (error != std::errc() || end != digits.data() + 16) return std::nullopt;
        hex.remove_prefix(16);
    }
    return hex.empty() ? std::optional(digest) : std::nullopt;
}

}  // namespace streamsim::metrics
