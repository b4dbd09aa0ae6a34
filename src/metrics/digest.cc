#include "metrics/digest.h"

#include <fmt/format.h>

#include "base/ascii.h"

namespace streamsim::metrics {

std::string Digest::hex() const {
    return fmt::format("{:016x}{:016x}", high, low);
}

std::optional<Digest> Digest::from_hex(std::string_view hex) {
    Digest digest;
    for (std::uint64_t* const word : {&digest.high, &digest.low}) {
        const auto digits = whole_number<std::uint64_t>(hex.substr(0, 16), 16);
        if (!digits || hex.size() < 16) return std::nullopt;
        *word = *digits;
        hex.remove_prefix(16);
    }
    return hex.empty() ? std::optional(digest) : std::nullopt;
}

}  // namespace streamsim::metrics
