// The join token: the addresses of rank 0 and the keys of its run, with which the other ranks connect to it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "seats/seat_keys.h"

namespace streamsim::seats {

/// A streamsim with another version of the channel is refused.
inline constexpr int kChannelVersion = 3;

struct JoinToken {
    std::string run_id;
    SeatKeys keys;                       // without rank 0's secret
    std::string machine;                 // this_machine() of rank 0
    std::vector<std::string> addresses;  // of all interfaces but loopback, as numbers
    std::uint16_t port = 0;

    std::string to_text() const;
    /// Errors: environment.
    static Result<JoinToken> parse(const std::string& text);
};

/// Equal for two processes that share their loopback interface.
std::string this_machine();
/// The addresses that this computer finds of a name, as numbers. Blocks. Errors: environment.
Result<std::vector<std::string>> addresses_of(const std::string& name);
/// The addresses of all interfaces that are up, as numbers, IPv4 first; without loopback and link-local ones.
std::vector<std::string> own_addresses();

}  // namespace streamsim::seats
