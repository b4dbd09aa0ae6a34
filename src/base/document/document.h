// Reads every document that a user names, and never more than a stated number of bytes of it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace streamsim {

/// Size limit of documents that people write: formats, models, workloads, scenarios, faults, cut lists.
inline constexpr std::uint64_t kDocumentBytesMax = std::uint64_t{16} << 20;
/// Size limit of results and journals. They grow with the run: a stream with its histograms takes 10 to 20 kB,
/// so the limit holds more than 10,000 streams.
inline constexpr std::uint64_t kResultBytesMax = std::uint64_t{256} << 20;

/// The text of a file, a pipe or a device. Reads at most one byte more than `bytes_max`, and stops a device or
/// a pipe at the first zero byte, which no text has.
///
/// Errors: bad input that names the file, when the file is missing, unreadable, a directory, too large, or no
/// text.
Result<std::string> read_document(const std::string& path, std::uint64_t bytes_max = kDocumentBytesMax);

}  // namespace streamsim
