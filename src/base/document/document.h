// The one way to read a document that a user names: never more than a stated number of bytes of it, whatever is
// behind the name.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace streamsim {

/// Limit of every document that people write: formats, models, workloads, scenarios, faults, cut lists.
inline constexpr std::uint64_t kDocumentBytesMax = std::uint64_t{16} << 20;
/// Limit of results and journals. streamsim writes them itself, so that they grow with the run: a stream with
/// its histograms takes 10 to 20 kB, and this is more than 10,000 of them.
inline constexpr std::uint64_t kResultBytesMax = std::uint64_t{256} << 20;

/// The text of a file, a pipe or a device. Reads at most one byte more than `bytes_max`; of a device
/// or a pipe only up to the first byte that is zero, which no text has.
///
/// Errors: bad input that names the file: it is not there or cannot be read, it is a directory, it is larger,
/// or it is no text.
Result<std::string> read_document(const std::string& path, std::uint64_t bytes_max = kDocumentBytesMax);

}  // namespace streamsim
