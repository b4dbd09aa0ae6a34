// Bounded random access to the bytes of one file, for readers of headers. The end of the file is an error that
// names the byte. Inside media/ only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "streamsim/byte_store.h"

namespace streamsim::media {

/// Read limit of one header; a header that needs more counts as damaged.
inline constexpr std::size_t kHeaderBytesMax = std::size_t{1} << 20;

class HeaderBytes {
public:
    HeaderBytes(ByteSource& source, std::uint64_t file_bytes, const std::string& file)
        : source_(source), file_bytes_(file_bytes), file_(file) {}

    std::uint64_t file_bytes() const { return file_bytes_; }

    /// The bytes [offset, offset + bytes) of the file, fewer at its end; valid until the next call. Errors: bad
    /// input when more than kHeaderBytesMax were read in all; the source's.
    Result<std::span<const std::byte>> up_to(std::uint64_t offset, std::size_t bytes);

    /// The same, but an error (bad input) when the file ends early. `what` names the expected content: "the
    /// list of channels".
    Result<std::span<const std::byte>> all_of(std::uint64_t offset, std::size_t bytes, const std::string& what);

    /// "file: byte N: what"
    Error wrong(std::uint64_t byte, const std::string& what) const;

private:
    ByteSource& source_;
    std::uint64_t file_bytes_;
    const std::string& file_;
    std::vector<std::byte> window_;
    std::uint64_t window_begins_ = 0;
    std::size_t bytes_read_ = 0;
};

}  // namespace streamsim::media
