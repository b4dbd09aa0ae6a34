// By libuv, for systems without an implementation of their own. libuv has no direct I/O: that is reported.
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "storage/local/local_file.h"
#include "storage/local/local_options.h"
#include "storage/local/uv_files.h"

namespace streamsim::storage {
namespace {

int open_flags(Access access) {
    if (access == Access::read) return UV_FS_O_RDONLY;
    return UV_FS_O_RDWR | (access == Access::write ? 0 : UV_FS_O_CREAT) |
           (access == Access::create_new ? UV_FS_O_EXCL : 0);
}

LocalPiece piece(int result) {
    if (result < 0) return {0, errno_of_uv(result)};
    return {static_cast<std::size_t>(result), 0};
}

constexpr std::size_t kCallBytesMax = std::size_t{1} << 30;  // of one read or write

}  // namespace

OpenedFile open_local(const char* path, Access access, bool direct) {
    if (direct) return {-1, EINVAL};
    const int file = call_uv(uv_fs_open, path, open_flags(access), 0666);
    return file < 0 ? OpenedFile{-1, errno_of_uv(file)} : OpenedFile{file, 0};
}

DirectAnswer direct_answer(int /*file*/) {
    return {true, 0};
}

LocalPiece read_local(int file, std::uint64_t offset, std::span<std::byte> into) {
    UvRequest request;
    const uv_buf_t buffer = uv_buf_init(reinterpret_cast<char*>(into.data()),
                                        static_cast<unsigned>(std::min(into.size(), kCallBytesMax)));
    return piece(
        uv_fs_read(nullptr, &request.fs, file, &buffer, 1, static_cast<std::int64_t>(offset), nullptr));
}

LocalPiece write_local(int file, std::uint64_t offset, std::span<const std::byte> from) {
    UvRequest request;
    // libuv's buffers are not const; a write does not change them.
    auto* const bytes = const_cast<char*>(reinterpret_cast<const char*>(from.data()));
    const uv_buf_t buffer = uv_buf_init(bytes, static_cast<unsigned>(std::min(from.size(), kCallBytesMax)));
    return piece(
        uv_fs_write(nullptr, &request.fs, file, &buffer, 1, static_cast<std::int64_t>(offset), nullptr));
}

int sync_local(int file) {
    UvRequest request;
    const int result = uv_fs_fsync(nullptr, &request.fs, file, nullptr);
    return result < 0 ? errno_of_uv(result) : 0;
}

void read_ahead_local(int /*file*/, std::uint64_t /*offset*/, std::uint64_t /*bytes*/) {}

void close_local(int file) {
    UvRequest request;
    uv_fs_close(nullptr, &request.fs, file, nullptr);
}

void set_environment(const char* name, const std::string& value) {
    setenv(name, value.c_str(), 0);
}

std::uint32_t direct_alignment(const std::string& /*file*/) {
    return 1;
}

void raise_open_file_limit() {}

}  // namespace streamsim::storage
