// The join token: the addresses of rank 0 and the secret of its run, from which the other ranks connect to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace streamsim::seats {

struct JoinToken {
    std::string run_id;
    std::string token;
    std::string machine;                 // this_machine() of rank 0
    std::vector<std::string> addresses;  // of all interfaces but loopback, as numbers
    std::uint16_t port = 0;

    std::string to_text() const;
    /// Errors: environment.
    static Result<JoinToken> parse(const std::string& text);
};

/// Equal for two processes that share their loopback interface.
std::string this_machine();
/// The addresses of all interfaces that are up, as numbers, IPv4 first; without loopback and link-local ones.
std::vector<std::string> own_addresses();

// The greeting: the first bytes of a connection to rank 0. They have a fixed length, so that a stranger's bytes
// are never parsed.

inline constexpr std::string_view kGreetingBegins = "streamsim seat 2 ";
/// The characters of a run's token, and of the rank behind it.
inline constexpr std::size_t kTokenBytes = 32;
inline constexpr std::size_t kRankBytes = 8;
inline constexpr std::size_t kGreetingBytes = kGreetingBegins.size() + kTokenBytes + kRankBytes;

/// Compares all bytes, wherever the first difference is, so that the time reveals nothing of the token.
bool equal_in_constant_time(std::string_view a, std::string_view b);

/// REQUIRES: a token of kTokenBytes.
std::string seat_greeting(std::string_view token, std::uint32_t rank);

/// The rank that greets; nullopt: a stranger.
std::optional<std::uint32_t> rank_that_greets(std::string_view greeting, std::string_view token);

}  // namespace streamsim::seats
