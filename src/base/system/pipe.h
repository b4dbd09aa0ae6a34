// A pipe whose ends no program inherits unless it is given them. POSIX systems only.
#pragma once

#include <array>
#include <cstddef>

namespace streamsim {

/// Both ends of a pipe, closed in the end.
struct Pipe {
    std::array<int, 2> ends{-1, -1};  // to read from, to write to; negative: refused, or closed

    Pipe();
    ~Pipe() {
        close_end(0);
        close_end(1);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    void close_end(std::size_t end);
};

}  // namespace streamsim
