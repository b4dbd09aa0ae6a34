// Keys of a terminal: from the bytes that it sends to commands of the live view.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace streamsim::view {

enum class Key : std::uint8_t {
    quit,
    add,
    remove,
    up,
    down,
    page_up,
    page_down,
    home,
    end,
    worst_first,
    redraw,
    begin,
};

/// Not thread-safe. Sequences may come in pieces; unknown ones are ignored.
class KeyParser {
public:
    /// The keys that are complete with these bytes.
    std::vector<Key> feed(std::string_view bytes);
    /// Call when no byte came for a while: a pending escape was the escape key, which is ignored.
    void pause() { pending_.clear(); }

private:
    std::string pending_;  // the beginning of a sequence
};

}  // namespace streamsim::view
