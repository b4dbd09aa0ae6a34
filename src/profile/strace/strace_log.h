// Reads logs of strace: strace -f -ttt -T -y, or any of -tt, -r; -o FILE, or -ff with one file a process.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/traffic/traffic.h"

namespace streamsim::profile {

/// One file of a log; `pid`: the process, where each process has a file of its own.
struct StraceFile {
    std::string name;
    std::istream* text = nullptr;
    std::optional<std::uint32_t> pid;
};

/// Called every now and then with the bytes that were read so far; false ends the reading.
using ReadingProgress = std::function<bool(std::uint64_t bytes)>;

/// Line by line: only the operations stay in memory. Errors: bad input with the first lines that strace did not
/// write, when these are more than one in ten, or when the log has no times or such that order nothing;
/// interrupted.
Result<Traffic> read_strace_log(const std::string& source,
                                const std::vector<StraceFile>& files,
                                const ReadingProgress& progress);

}  // namespace streamsim::profile
