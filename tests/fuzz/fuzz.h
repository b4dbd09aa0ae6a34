// Shared by all targets of tests/fuzz. A target reads bytes that others wrote, and holds the outcome to
// properties: see README.md here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace streamsim::fuzz {

using Input = std::span<const std::byte>;

/// Memory that a target may hold whatever its input is.
inline constexpr std::size_t kBytesBase = std::size_t{24} << 20;
/// For libavformat, whose single allocations src/media bounds (512 MiB).
inline constexpr std::size_t kLibavBytesBase = std::size_t{1} << 30;
/// Memory for each byte of the input.
inline constexpr std::size_t kBytesPerByte = 4096;

struct Target {
    const char* name;
    void (*run)(Input input);
    std::size_t bytes_base = kBytesBase;
};

/// All targets of this program: one in a program of libFuzzer, every one in fuzz_replay.
const std::vector<Target>& targets();
/// Called before main(), by STREAMSIM_FUZZ.
bool add_target(const Target& target);

/// Runs a target on one input. Ends the process, with a message, where a property does not hold, and in builds
/// with ASan where the target held more memory at once than its base and kBytesPerByte for each byte.
void run_target(const Target& target, Input input);

/// A place in the sources. (std::source_location is not in every standard library that clang meets.)
struct Place {
    const char* file;
    int line;

    static constexpr Place here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
};

/// Ends the process where a property does not hold.
void require(bool holds, std::string_view property, Place where = Place::here());

/// The properties of every refusal: bad input, with 1 to 21 problems, none of them empty, endless or without
/// the name of its source.
void require_refusal(const Error& error, std::string_view source, Place where = Place::here());

inline std::string_view text_of(Input input) {
    return {reinterpret_cast<const char*>(input.data()), input.size()};
}

/// Takes values from the front of an input, zeroes behind its end: for targets that need more than one.
class Taker {
public:
    explicit Taker(Input input) : rest_(input) {}

    std::uint8_t byte() {
        if (rest_.empty()) return 0;
        const auto value = static_cast<std::uint8_t>(rest_.front());
        rest_ = rest_.subspan(1);
        return value;
    }
    std::uint64_t number(int bytes) {
        std::uint64_t value = 0;
        for (int i = 0; i < bytes; ++i) value = value << 8 | byte();
        return value;
    }
    /// Up to the next line end, which is taken, too; the rest where there is none.
    std::string_view line() {
        const std::string_view all = text_of(rest_);
        const std::size_t end = all.find('\n');
        rest_ = rest_.subspan(end == std::string_view::npos ? rest_.size() : end + 1);
        return all.substr(0, end);
    }
    bool empty() const { return rest_.empty(); }
    Input rest() const { return rest_; }

private:
    Input rest_;
};

}  // namespace streamsim::fuzz

/// STREAMSIM_FUZZ(edl) { ... }: the body gets `input`. Once in a file, at the outermost level; the name is that
/// of the folder. A second argument is the target's bytes_base.
#define STREAMSIM_FUZZ(name, ...)                                                       \
    static void fuzz_##name(::streamsim::fuzz::Input input);                            \
    static const bool fuzz_added_##name =                                               \
        ::streamsim::fuzz::add_target({#name, fuzz_##name __VA_OPT__(, ) __VA_ARGS__}); \
    static void fuzz_##name([[maybe_unused]] ::streamsim::fuzz::Input input)
