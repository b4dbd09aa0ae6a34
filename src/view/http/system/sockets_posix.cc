#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "view/http/system/sockets.h"

namespace streamsim::view {

MHD_socket new_socket(int family) {
    const int fd = socket(family, SOCK_STREAM, 0);
    if (fd < 0) return MHD_INVALID_SOCKET;
    fcntl(fd, F_SETFD, FD_CLOEXEC);  // macOS has no SOCK_CLOEXEC
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return fd;
}

int socket_error() {
    return uv_translate_sys_error(errno);
}

void shut_down(MHD_socket socket) {
    shutdown(socket, SHUT_RDWR);
}

void close_socket(MHD_socket socket) {
    close(socket);
}

}  // namespace streamsim::view
