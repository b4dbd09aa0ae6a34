// Boxes (QuickTime: atoms) in memory, for readers that use only what they know. Pure. Inside media/ only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/byte_order.h"

namespace streamsim::media {

using Bytes = std::span<const std::byte>;

/// Big-endian integers. REQUIRES: at and the bytes behind it lie in `bytes`.
inline std::uint8_t u8(Bytes bytes, std::size_t at) {
    return load<std::uint8_t>(bytes, at, true);
}
inline std::uint16_t u16(Bytes bytes, std::size_t at) {
    return load<std::uint16_t>(bytes, at, true);
}
inline std::uint32_t u32(Bytes bytes, std::size_t at) {
    return load<std::uint32_t>(bytes, at, true);
}
inline std::uint64_t u64(Bytes bytes, std::size_t at) {
    return load<std::uint64_t>(bytes, at, true);
}

/// box_type("moov")
consteval std::uint32_t box_type(const char (&name)[5]) {
    std::uint32_t type = 0;
    for (int i = 0; i < 4; ++i) type = type << 8 | static_cast<unsigned char>(name[i]);
    return type;
}

struct Box {
    std::uint32_t type = 0;
    Bytes body;
};

/// Boxes of one parent that are listed.
inline constexpr std::size_t kBoxesMax = 10'000;

/// The boxes in `bytes`, in their order. Fewer than 8 bytes may follow the last one. Empty where a box ends
/// behind `bytes`, has a 64-bit size, or claims to reach to the end, and where there are more than kBoxesMax.
std::optional<std::vector<Box>> boxes_in(Bytes bytes);

/// The boxes of one parent, each of another type.
class BoxSet {
public:
    /// Empty where boxes_in() is, where a box is there twice, and where one is not in `known`. Free space
    /// ("free", "skip") is always known.
    static std::optional<BoxSet> read(Bytes bytes, std::initializer_list<std::uint32_t> known);

    /// The body; nothing: there is no such box.
    std::optional<Bytes> find(std::uint32_t type) const;
    bool has(std::uint32_t type) const { return find(type).has_value(); }
    /// The type of the first box; 0: there is none.
    std::uint32_t first() const { return boxes_.empty() ? 0 : boxes_.front().type; }

private:
    explicit BoxSet(std::vector<Box> boxes) : boxes_(std::move(boxes)) {}

    std::vector<Box> boxes_;
};

}  // namespace streamsim::media
