// By libuv, for systems that have no file of their own here. There is no direct I/O in it: that is told, and so
// in the result.
#include <uv.h>

#include <algorithm>
#include <cstdlib>

#include "storage/local_file.h"
#include "storage/local_options.h"
#include "storage/uv_errno.h"

namespace streamsim {
namespace {

/// Of an operation that was done at once; frees what it left.
int finish(uv_fs_t& request) {
    const auto result = static_cast<int>(request.result);
    uv_fs_req_cleanup(&request);
    return result;
}

}  // namespace

OpenedFile open_local(const char* path, bool direct) {
    if (direct) return {-1, EINVAL};
    uv_fs_t request;
    uv_fs_open(nullptr, &request, path, UV_FS_O_RDONLY, 0, nullptr);
    const int file = finish(request);
    return file < 0 ? OpenedFile{-1, errno_of_uv(file)} : OpenedFile{file, 0};
}

DirectAnswer direct_answer(int /*file*/) {
    return {true, 0};
}

ReadPiece read_local(int file, std::uint64_t offset, std::span<std::byte> into) {
    constexpr std::size_t kMost = std::size_t{1} << 30;  // of one call
    uv_fs_t request;
    const uv_buf_t buffer =
        uv_buf_init(reinterpret_cast<char*>(into.data()), static_cast<unsigned>(std::min(into.size(), kMost)));
    uv_fs_read(nullptr, &request, file, &buffer, 1, static_cast<std::int64_t>(offset), nullptr);
    const int got = finish(request);
    return got < 0 ? ReadPiece{0, errno_of_uv(got)} : ReadPiece{static_cast<std::size_t>(got), 0};
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

}  // namespace streamsim
