// Handles of Windows behind the small numbers of open files. For *_windows.cc inside storage/ only.
#pragma once

#include <io.h>
#include <uv.h>
#include <windows.h>

#include <cstddef>
#include <cstdint>

#include "storage/local/uv_files.h"

namespace streamsim::storage {

inline int errno_of_system(DWORD error) {
    return errno_of_uv(uv_translate_sys_error(static_cast<int>(error)));
}

/// INVALID_HANDLE_VALUE for a negative number, which the C library would take for a fault of the program.
inline HANDLE handle_of(int file) {
    return file < 0 ? INVALID_HANDLE_VALUE : reinterpret_cast<HANDLE>(_get_osfhandle(file));
}

/// Limit of one read or write.
constexpr std::size_t kCallBytesMax = std::size_t{1} << 30;

inline OVERLAPPED place_at(std::uint64_t offset) {
    OVERLAPPED place{};
    place.Offset = static_cast<DWORD>(offset & 0xffff'ffff);
    place.OffsetHigh = static_cast<DWORD>(offset >> 32);
    return place;
}

}  // namespace streamsim::storage
