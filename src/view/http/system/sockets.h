// Sockets that an HTTP server listens on, by each system's calls. Errors are libuv's, for uv_strerror().
#pragma once

#include <microhttpd.h>
#include <uv.h>

namespace streamsim::view {

/// A TCP socket that programs started later do not get, for an address that was in use a moment ago.
/// MHD_INVALID_SOCKET: see socket_error().
MHD_socket new_socket(int family);

/// The error of the last call of this thread.
int socket_error();

/// Ends its connection; the socket stays open.
void shut_down(MHD_socket socket);

void close_socket(MHD_socket socket);

}  // namespace streamsim::view
