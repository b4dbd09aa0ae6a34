// A callback is two words: a plain function and the object it is for. A callback allocates nothing and owns
// nothing, so timers and reads can carry one for each frame.
#pragma once

#include <cstddef>

#include "base/memory.h"

namespace streamsim {

/// Non-owning. REQUIRES: the object outlives every call.
class Callback {
public:
    using Function = void (*)(void* object);

    constexpr Callback() = default;
    constexpr Callback(Function function, void* object) : function_(function), object_(object) {}

    /// `Callback::of<&Player::on_slot>(player)` calls `player->on_slot()`.
    template <auto Method, typename T>
    static constexpr Callback of(T* object) {
        return {[](void* self) { (static_cast<T*>(self)->*Method)(); }, object};
    }

    void operator()() const { function_(object_); }
    /// The call comes soon: asks for the beginning of the object to be in the cache by then.
    void prefetch() const {
        constexpr std::size_t kBytes = 640;
        streamsim::prefetch(object_, kBytes);
    }
    explicit operator bool() const { return function_ != nullptr; }

private:
    Function function_ = nullptr;
    void* object_ = nullptr;
};

}  // namespace streamsim
