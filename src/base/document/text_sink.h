// A long text, handed on piece by piece, is never whole in memory.
#pragma once

#include <functional>
#include <string_view>

namespace streamsim {

/// Takes the next piece of a text.
using TextSink = std::function<void(std::string_view piece)>;

}  // namespace streamsim
