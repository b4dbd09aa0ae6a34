// The readers of single kinds of headers, and the bounded access to the bytes of a file that they share;
// image_header.cc chooses. Inside media/ only.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/wide.h"
#include "media/image/image_header.h"

namespace streamsim::media {

/// Read limit of one header; a header that needs more counts as damaged.
inline constexpr std::size_t kHeaderBytesMax = std::size_t{1} << 20;

/// Random access to the bytes of one file. The first failure is kept, and nothing is read after it.
class HeaderBytes {
public:
    HeaderBytes(ByteSource& source, std::uint64_t file_bytes, const std::string& file)
        : source_(source), file_bytes_(file_bytes), file_(file) {}

    std::uint64_t file_bytes() const { return file_bytes_; }

    /// The bytes [offset, offset + bytes) of the file, fewer at its end; valid until the next call. Errors: bad
    /// input when more than kHeaderBytesMax were read in all; the source's.
    Result<std::span<const std::byte>> look(std::uint64_t offset, std::size_t bytes);

    /// The same; an error is kept, and no bytes are returned after one.
    std::span<const std::byte> up_to(std::uint64_t offset, std::size_t bytes);

    /// The same, but all of the bytes: zeroes after an error, which the end of the file is too (bad input).
    /// `what` names the expected content: "the list of channels". REQUIRES: bytes <= kHeaderBytesMax.
    std::span<const std::byte> all_of(std::uint64_t offset, std::size_t bytes, const std::string& what);

    /// "file: byte N: what"
    std::string problem(std::uint64_t byte, const std::string& what) const;

    /// Keeps an error, unless there is one.
    void fail(Error error) {
        if (!error_) error_ = std::move(error);
    }
    void fail(std::uint64_t byte, const std::string& what) { fail(bad_input(problem(byte, what))); }

    const std::optional<Error>& error() const { return error_; }

private:
    ByteSource& source_;
    std::uint64_t file_bytes_;
    const std::string& file_;
    std::vector<std::byte> window_;
    std::vector<std::byte> zeroes_;  // what all_of() returns after an error
    std::uint64_t window_begins_ = 0;
    std::size_t bytes_read_ = 0;
    std::optional<Error> error_;
};

// Each reader keeps its error in `bytes`: bad input that names the byte.

/// Cineon, the predecessor of DPX.
void read_cineon_header(HeaderBytes& bytes, ImageHeader& header);

/// OpenEXR: scan lines and tiles, one part or several, every compression. Without compression the expected
/// length is exact: header, offset tables and chunks, by the data window, the channels and the tiles.
void read_exr_header(HeaderBytes& bytes, ImageHeader& header);

/// TIFF, classic and with 64-bit offsets (BigTIFF), both byte orders: its first directory. For an uncompressed
/// image the expected length is the furthest byte that the directory accounts for: strips or tiles, and the
/// directory with its values. A file with more than one directory has the length of the file.
void read_tiff_header(HeaderBytes& bytes, ImageHeader& header);

/// The frame rate alone of such a file, whatever else its directory says; empty where it has none.
std::optional<FrameRate> read_tiff_rate(HeaderBytes& bytes);

/// Limit of an image in bytes; a header that claims more is damaged.
inline constexpr Wide kImageBytesMax = Wide{1} << 40;

/// The exact rate of a decimal number of frames a second: headers write 23.976, 23.98 or 23.97602 for
/// 24000/1001. Empty when the number is no rate: not finite, below 0.01 or above 1000.
std::optional<FrameRate> rate_from(double frames_per_s);

}  // namespace streamsim::media
