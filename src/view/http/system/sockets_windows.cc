#include "view/http/system/sockets.h"

namespace streamsim::view {

MHD_socket new_socket(int family) {
    WSADATA data;
    static const int started = WSAStartup(MAKEWORD(2, 2), &data);  // until the program ends
    if (started != 0) {
        WSASetLastError(started);
        return MHD_INVALID_SOCKET;
    }
    const SOCKET made =
        WSASocketW(family, SOCK_STREAM, 0, nullptr, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    if (made == INVALID_SOCKET) return MHD_INVALID_SOCKET;
    // An address that was in use a moment ago is free here; SO_REUSEADDR would let programs share it.
    const BOOL on = TRUE;
    setsockopt(made, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, reinterpret_cast<const char*>(&on), sizeof on);
    return made;
}

int socket_error() {
    return uv_translate_sys_error(WSAGetLastError());
}

void shut_down(MHD_socket socket) {
    shutdown(socket, SD_BOTH);
}

void close_socket(MHD_socket socket) {
    closesocket(socket);
}

}  // namespace streamsim::view
