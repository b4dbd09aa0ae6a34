// Without pipe2(2): a program that another thread starts between the two calls inherits the ends.
#include <fcntl.h>
#include <unistd.h>

#include "base/system/pipe.h"

namespace streamsim {

Pipe::Pipe() {
    if (pipe(ends.data()) != 0) {
        ends = {-1, -1};
        return;
    }
    for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
}

void Pipe::close_end(std::size_t end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
}

}  // namespace streamsim
