// The text files in which the kernel reports its state (/proc, /sys, control groups).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace streamsim {

/// Empty when the file cannot be read. These files state no size, so they are read to their end.
std::optional<std::string> read_proc_text(const std::filesystem::path& file);

/// The first number behind `key` in the first line that begins with `key`: "MemAvailable:   24000 kB".
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key);

}  // namespace streamsim
