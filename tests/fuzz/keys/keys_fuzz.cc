// The bytes of a terminal's keys: the same keys however they come in pieces.
#include <vector>

#include "fuzz/fuzz.h"
#include "view/keys.h"

STREAMSIM_FUZZ(keys) {
    using namespace streamsim;
    const std::string_view text = fuzz::text_of(input);
    view::KeyParser whole, pieces;
    const std::vector<view::Key> keys = whole.feed(text);
    std::vector<view::Key> one_by_one;
    for (const char c : text) {
        const auto more = pieces.feed({&c, 1});
        one_by_one.insert(one_by_one.end(), more.begin(), more.end());
    }
    fuzz::require(keys == one_by_one, "pieces give the keys of the whole");
    fuzz::require(keys.size() <= text.size(), "a key has a byte");
}
