#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "storage/errno_text.h"

namespace streamsim::storage {

int error_or_own_shortage(int error) {
    const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        ::close(file);
        return error;
    }
    return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? errno : error;
}

}  // namespace streamsim::storage
