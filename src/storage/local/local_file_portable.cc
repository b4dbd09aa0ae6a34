// By libuv, for systems that have no file of their own here. There is no direct I/O in it: that is told, and so
// in the result.
#include <uv.h>

#include <algorithm>
#include <cstdlib>

#include "storage/local/local_file.h"
#include "storage/local/local_options.h"
#include "storage/local/uv_errno.h"

namespace streamsim::storage {
namespace {

/// Of an operation that was done at once; frees what it left.
int finish(uv_fs_t& request) {
    const auto result = static_cast<int>(request.result);
    uv_fs_req_cleanup(&request);
    return result;
}

int open_flags(Access access) {
    if (access == Access::read) return UV_FS_O_RDONLY;
    return UV_FS_O_RDWR | (access == Access::write ? 0 : UV_FS_O_CREAT) |
           (access == Access::create_new ? UV_FS_O_EXCL : 0);
}

LocalPiece piece(int result) {
    if (result < 0) return {0, errno_of_uv(result)};
    return {static_cast<std::size_t>(result), 0};
}

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // of one call

}  // namespace

OpenedFile open_local(const char* path, Access access, bool direct) {
    if (direct) return {-1, EINVAL};
    constexpr int kMode = 0666;
    uv_fs_t request;
    uv_fs_open(nullptr, &request, path, open_flags(access), kMode, nullptr);
    const int file = finish(request);
    return file < 0 ? OpenedFile{-1, errno_of_uv(file)} : OpenedFile{file, 0};
}

DirectAnswer direct_answer(int /*file*/) {
    return {true, 0};
}

LocalPiece read_local(int file, std::uint64_t offset, std::span<std::byte> into) {
    uv_fs_t request;
    const uv_buf_t buffer = uv_buf_init(reinterpret_cast<char*>(into.data()),
                                        static_cast<unsigned>(std::min(into.size(), kMostAtOnce)));
    uv_fs_read(nullptr, &request, file, &buffer, 1, static_cast<std::int64_t>(offset), nullptr);
    return piece(finish(request));
}

LocalPiece write_local(int file, std::uint64_t offset, std::span<const std::byte> from) {
    uv_fs_t request;
    // libuv's buffers are for reading into as well; a write leaves this one as it is.
    auto* const bytes = const_cast<char*>(reinterpret_cast<const char*>(from.data()));
    const uv_buf_t buffer = uv_buf_init(bytes, static_cast<unsigned>(std::min(from.size(), kMostAtOnce)));
    uv_fs_write(nullptr, &request, file, &buffer, 1, static_cast<std::int64_t>(offset), nullptr);
    return piece(finish(request));
}

int sync_local(int file) {
    uv_fs_t request;
    uv_fs_fsync(nullptr, &request, file, nullptr);
    const int result = finish(request);
    return result < 0 ? errno_of_uv(result) : 0;
}

void read_ahead_local(int /*file*/, std::uint64_t /*offset*/, std::uint64_t /*bytes*/) {}

void close_local(int file) {
    uv_fs_t request;
    uv_fs_close(nullptr, &request, file, nullptr);
    finish(request);
}

void set_environment(const char* name, const std::string& value) {
    setenv(name, value.c_str(), 0);
}

std::uint32_t direct_alignment(const std::string& /*file*/) {
    return 1;
}

void raise_open_file_limit() {}

}  // namespace streamsim::storage
