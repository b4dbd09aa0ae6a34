#include <fcntl.h>
#include <unistd.h>

#include "base/system/pipe.h"

namespace streamsim {

Pipe::Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
}

void Pipe::close_end(std::size_t end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
}

}  // namespace streamsim
