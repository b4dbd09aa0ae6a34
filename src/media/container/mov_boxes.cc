#include "media/container/mov_boxes.h"

#include <algorithm>

namespace streamsim::media {

std::optional<std::vector<Box>> boxes_in(Bytes bytes) {
    constexpr std::size_t kHeader = 8;
    std::vector<Box> boxes;
    while (bytes.size() >= kHeader) {
        const std::size_t size = u32(bytes, 0);
        if (size < kHeader || size > bytes.size() || boxes.size() == kBoxesMax) return std::nullopt;
        boxes.push_back({u32(bytes, 4), bytes.subspan(kHeader, size - kHeader)});
        bytes = bytes.subspan(size);
    }
    return boxes;
}

std::optional<BoxSet> BoxSet::read(Bytes bytes, std::initializer_list<std::uint32_t> known) {
    auto boxes = boxes_in(bytes);
    if (!boxes) return std::nullopt;
    std::erase_if(*boxes,
                  [](const Box& box) { return box.type == box_type("free") || box.type == box_type("skip"); });
    for (std::size_t i = 0; i < boxes->size(); ++i) {
        const std::uint32_t type = (*boxes)[i].type;
        const auto same = [&](const Box& other) { return other.type == type; };
        if (std::find(known.begin(), known.end(), type) == known.end()) return std::nullopt;
        if (std::any_of(boxes->begin(), boxes->begin() + static_cast<std::ptrdiff_t>(i), same))
            return std::nullopt;
    }
    return BoxSet(std::move(*boxes));
}

std::optional<Bytes> BoxSet::find(std::uint32_t type) const {
    for (const Box& box : boxes_) {
        if (box.type == type) return box.body;
    }
    return std::nullopt;
}

}  // namespace streamsim::media
