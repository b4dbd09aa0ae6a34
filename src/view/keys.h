// Keys of a terminal: from the bytes that it sends to what they mean here.
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
};

/// Not thread-safe. Sequences may come in pieces; what means nothing here is passed over.
class KeyParser {
public:
    /// The keys that are complete with these bytes.
    std::vector<Key> feed(std::string_view bytes);
    /// Nothing came for a while: an escape that has begun was the escape key, which means nothing.
    void pause() { pending_.clear(); }

private:
    std::string pending_;  // a sequence that has begun
};

}  // namespace streamsim::view
