// Reads logs of strace: strace -f -ttt -T -y, or any of -t, -tt, -r; -o FILE, or -ff with one file a process.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/traffic.h"

namespace streamsim::profile {

/// One file of a log; `pid`: whose it is, where each process has its own.
struct StraceFile {
    std::string name;
    std::istream* text = nullptr;
    std::optional<std::uint32_t> pid;
};

/// Called every now and then with the bytes that were read so far; false ends the reading.
using ReadingProgress = std::function<bool(std::uint64_t bytes)>;

/// Line by line: of the log nothing is kept but the operations. Errors: bad input with the first lines that are
/// none of strace's where those are more than one in ten, or where there are no times; interrupted.
Result<Traffic> read_strace_log(const std::string& source,
                                const std::vector<StraceFile>& files,
                                const ReadingProgress& progress);

/// That a file begins like a log of strace: one of its first lines is a call.
bool looks_like_strace(std::istream& text);

}  // namespace streamsim::profile
