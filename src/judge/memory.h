// Lack of memory on this computer while frames were missed. Inside judge/ only.
#pragma once

#include <cstdint>
#include <optional>

#include "streamsim/system_history.h"

namespace streamsim::judge {

/// nullopt: the system does not tell.
struct MemoryWindow {
    std::optional<double> pressure;  // PSI `some`, 0 to 1: of this process's control group, or of the system
    std::optional<std::uint64_t> limit_hits;
    std::optional<std::uint64_t> limit_bytes;
    std::optional<std::uint64_t> refaulted_bytes;
};

/// The window of [from, to] and half a second at each side: tasks wait for memory a little after it fills up.
MemoryWindow memory_window(const SystemHistory& history, std::int64_t from_ns, std::int64_t to_ns);

enum class MemoryAnswer { enough, short_of, unknown };

/// short_of: tasks waited for memory, and this process reached a limit. Pressure alone may be another
/// process's; a reached limit alone is a full page cache, which costs nothing. Slow storage makes tasks wait
/// for I/O, not for memory.
MemoryAnswer memory_answer(const MemoryWindow& memory);

}  // namespace streamsim::judge
