#include "media/image/header_bytes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace streamsim::media {
namespace {

/// Most headers are within the first few KiB; a reader that comes back for more gets more at a time.
constexpr std::size_t kFirstWindow = std::size_t{8} << 10;
constexpr std::size_t kWindow = std::size_t{64} << 10;

}  // namespace

Error HeaderBytes::wrong(std::uint64_t byte, const std::string& what) const {
    return bad_input(fmt::format("{}: byte {}: {}", file_, byte, what));
}

Result<std::span<const std::byte>> HeaderBytes::up_to(std::uint64_t offset, std::size_t bytes) {
    if (offset >= file_bytes_) return std::span<const std::byte>();
    bytes = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, file_bytes_ - offset));
    const bool there =
        offset >= window_begins_ && offset - window_begins_ + bytes <= window_.size() && !window_.empty();
    if (!there) {
        const std::size_t usual = bytes_read_ == 0 ? kFirstWindow : kWindow;
        std::size_t window = std::max(bytes, usual);
        window = static_cast<std::size_t>(std::min<std::uint64_t>(window, file_bytes_ - offset));
        if (bytes > kHeaderBytesMax || bytes_read_ + window > kHeaderBytesMax) {
            return wrong(offset, fmt::format("the header goes on here, and {} bytes of it are read; no header "
                                             "needs more than {}",
                                             show_count(bytes_read_), show_count(kHeaderBytesMax)));
        }
        window_.resize(window);
        const auto got = source_.read_at(offset, window_);
        if (!got) return got.error();
        window_.resize(*got);
        window_begins_ = offset;
        bytes_read_ += window;
    }
    const std::span<const std::byte> have(window_);
    const std::size_t begin = static_cast<std::size_t>(offset - window_begins_);
    if (begin >= have.size()) return std::span<const std::byte>();
    return have.subspan(begin, std::min(bytes, have.size() - begin));
}

Result<std::span<const std::byte>> HeaderBytes::all_of(std::uint64_t offset,
                                                       std::size_t bytes,
                                                       const std::string& what) {
    auto have = up_to(offset, bytes);
    if (!have) return have.error();
    if (have->size() < bytes) {
        return wrong(std::min(offset + have->size(), file_bytes_),
                     fmt::format("the file ends here, expected {}", what));
    }
    return have;
}

}  // namespace streamsim::media
