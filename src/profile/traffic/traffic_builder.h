// Builds a Traffic from files by their names, users, sessions, and operations in any order. Inside profile/
// only.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/traffic/traffic.h"

namespace streamsim::profile {

/// Bytes of one operation at most: no system moves as many at once.
inline constexpr std::uint64_t kMovedBytesMax = std::uint64_t{1} << 40;
/// False for bytes that no operation of a file moves: the trace is damaged there.
constexpr bool can_be_moved(std::uint64_t offset, std::uint64_t bytes) {
    return bytes <= kMovedBytesMax && offset <= UINT64_MAX / 2 - bytes;
}

class TrafficBuilder {
public:
    std::uint32_t file(const std::string& name);
    TrafficFile& at(std::uint32_t file) { return traffic_.files[file]; }
    /// The file was seen with this size.
    void grow(std::uint32_t file, std::uint64_t bytes) { at(file).bytes = std::max(at(file).bytes, bytes); }
    /// The user of this name, or a new one.
    std::uint32_t user(const std::string& name);
    std::uint32_t add_user(const std::string& name);
    void name_user(std::uint32_t user, const std::string& name) { traffic_.users[user] = name; }
    std::uint32_t add_session(const TrafficSession& session);
    /// Returns the index of the operation, for operation().
    std::size_t add(const TrafficOperation& operation);
    TrafficOperation& operation(std::size_t number) { return traffic_.operations[number]; }
    TrafficSession& session(std::uint32_t session) { return traffic_.sessions[session]; }
    /// Adds a sentence for the user. Equal sentences are joined, and their `times` added up.
    void note(const std::string& sentence, std::uint64_t times = 1);
    void note_sent_again() { note("a call was sent again; it counts once, from its first time"); }
    void found_end() { ++traffic_.read_at_end; }
    void note_io_uring();

    /// Returns the traffic, sorted, with times from its first operation, and with its notes.
    Traffic finish(std::string source, std::string recorder, bool has_durations);

private:
    Traffic traffic_;
    std::unordered_map<std::string, std::uint32_t> files_, users_;
    std::vector<std::pair<std::string, std::uint64_t>> notes_;
};

/// "/a/./b//../c" -> "/a/c"; relative names stay relative.
std::string normal_path(const std::string& path);

/// Takes a whole number from the front of a text.
template <typename Number = std::uint64_t>
std::optional<Number> take_number(std::string_view& text) {
    Number value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}
/// Takes ".123456" from the front of a text: the nanoseconds of a time in seconds. Without digits 0.
std::int64_t take_fraction(std::string_view& text);
inline constexpr std::uint64_t kSecondsMax = 1ull << 33;  // seconds of a plausible clock
/// Three years: of a plausible call, or between two. A clock and a call after it fit into 63 bits of
/// nanoseconds.
inline constexpr std::uint64_t kSpanSecondsMax = 100'000'000;
static_assert(kSecondsMax + kSpanSecondsMax < INT64_MAX / 1'000'000'000);

}  // namespace streamsim::profile
