#include "fuzz/fuzz.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

// ASan's; absent in other builds.
extern "C" {
[[gnu::weak]] int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*,
                                                                                std::size_t),
                                                            void (*free_hook)(const volatile void*));
[[gnu::weak]] std::size_t __sanitizer_get_allocated_size(const volatile void* memory);
}

namespace streamsim::fuzz {
namespace {

std::vector<Target>& all_targets() {
    static std::vector<Target> targets;
    return targets;
}

std::atomic<std::int64_t> live_bytes = 0;
std::atomic<std::int64_t> live_bytes_max = 0;

void allocated(const volatile void*, std::size_t bytes) {
    const std::int64_t live = live_bytes += static_cast<std::int64_t>(bytes);
    std::int64_t most = live_bytes_max;
    while (live > most && !live_bytes_max.compare_exchange_weak(most, live)) {
    }
}

void freed(const volatile void* memory) {
    if (memory != nullptr) live_bytes -= static_cast<std::int64_t>(__sanitizer_get_allocated_size(memory));
}

[[noreturn]] void fail(std::string_view text, Place where) {
    fmt::print(stderr, "{}:{}: property does not hold: {}\n", where.file, where.line, text);
    std::fflush(stderr);
    std::abort();
}

}  // namespace

const std::vector<Target>& targets() {
    return all_targets();
}

bool add_target(const Target& target) {
    all_targets().push_back(target);
    return true;
}

void run_target(const Target& target, Input input) {
    static const bool metered = __sanitizer_install_malloc_and_free_hooks != nullptr &&
                                __sanitizer_install_malloc_and_free_hooks(allocated, freed) != 0;
    if (!metered) return target.run(input);
    const std::int64_t before = live_bytes;
    live_bytes_max = before;
    target.run(input);
    const auto most = static_cast<std::size_t>(live_bytes_max - before);
    require(most <= target.bytes_base + kBytesPerByte * input.size(),
            fmt::format("memory in proportion to the input: {} bytes for {}", most, input.size()));
}

void require(bool holds, std::string_view property, Place where) {
    if (!holds) fail(property, where);
}

void require_refusal(const Error& error, std::string_view source, Place where) {
    require(error.kind == ErrorKind::bad_input, "a refusal is bad input", where);
    require(!error.problems.empty(), "a refusal has a problem", where);
    require(error.problems.size() <= 21, "a refusal has 21 problems at most", where);
    for (const std::string& problem : error.problems) {
        if (!problem.starts_with(source)) fail("a problem begins with its source: " + problem, where);
        if (problem.size() > 2000) fail("a problem is short: " + problem, where);
    }
}

}  // namespace streamsim::fuzz
