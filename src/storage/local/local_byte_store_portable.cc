// Local files by libuv, called without a loop: then its calls block, and take UTF-8 on every system. Writes go
// through the page cache, and close() waits for all of them.
#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "base/path.h"
#include "storage/errno_text.h"
#include "storage/file_descriptor.h"
#include "storage/local/local_byte_store.h"
#include "storage/local/local_cache.h"
#include "storage/local/local_file.h"
#include "storage/local/rename_new.h"
#include "storage/local/uv_files.h"

namespace streamsim::storage {
namespace {

Error failed(int code, std::string_view action, const std::string& path) {
    return file_error(errno_of_uv(code), action, path);
}

/// Checks the kind before the open, because opening a pipe may wait for its other end.
Result<void> expect_file(const std::string& path) {
    uv_stat_t facts{};
    if (const int code = stat_uv(path, true, facts); code < 0) return failed(code, "open", path);
    if (is_kind(facts, kDirectoryKind)) return file_error(EISDIR, "open", path);
    if (is_kind(facts, kRegularKind) || is_kind(facts, kBlockDeviceKind)) return {};
    return bad_input(fmt::format("{}: expected a regular file, found something else", path));
}

class LocalSource final : public ByteSource {
public:
    LocalSource(FileDescriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

    Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
        const LocalPiece got = read_all_local(file_.get(), offset, into);
        if (got.error != 0) return file_error(got.error, "read", path_);
        return got.bytes;
    }

    Result<std::uint64_t> size() override {
        UvRequest request;
        const int code = uv_fs_fstat(nullptr, &request.fs, file_.get(), nullptr);
        if (code < 0) return failed(code, "look at", path_);
        return request.fs.statbuf.st_size;
    }

private:
    FileDescriptor file_;
    std::string path_;
};

class LocalSink final : public ByteSink {
public:
    LocalSink(FileDescriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

    Result<void> write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
        const LocalPiece put = write_all_local(file_.get(), offset, bytes);
        if (put.error != 0) return file_error(put.error, "write", path_);
        return {};
    }

    Result<void> close() override {
        if (const int error = sync_local(file_.get())) return file_error(error, "write", path_);
        // Interrupted: the file is synced, and its descriptor is gone.
        if (file_.close() != 0 && errno != EINTR && errno != EINPROGRESS)
            return file_error(errno, "write", path_);
        return {};
    }

private:
    FileDescriptor file_;
    std::string path_;
};

}  // namespace

Result<std::vector<DirectoryEntry>> LocalByteStore::list_some(const std::string& directory, std::size_t) {
    return list(directory);
}

Result<std::vector<DirectoryEntry>> LocalByteStore::list(const std::string& directory) {
    std::vector<DirectoryEntry> entries;
    if (const int code = read_directory(directory, entries); code < 0) return failed(code, "list", directory);
    for (DirectoryEntry& entry : entries) {
        uv_stat_t facts{};
        if (entry.symbolic_link)
            entry.directory =
                stat_uv(join_path(directory, entry.name), true, facts) == 0 && is_kind(facts, kDirectoryKind);
    }
    return entries;
}

Result<std::optional<FileInfo>> LocalByteStore::stat(const std::string& path) {
    uv_stat_t facts{};
    if (const int code = stat_uv(path, false, facts); code < 0) {
        if (code == UV_ENOENT || code == UV_ENOTDIR) return std::optional<FileInfo>();
        return failed(code, "look at", path);
    }
    FileInfo out = info_of(facts);
    if (!out.symbolic_link) return std::optional(out);
    const int code = stat_uv(path, true, facts);
    if (code == UV_ENOENT || code == UV_ENOTDIR || code == UV_ELOOP) return std::optional(out);
    if (code < 0) return failed(code, "look at", path);
    out = info_of(facts);
    out.symbolic_link = true;
    return std::optional(out);
}

Result<std::unique_ptr<ByteSource>> LocalByteStore::open(const std::string& path) {
    if (auto is_file = expect_file(path); !is_file) return is_file.error();
    const OpenedFile opened = open_local(path.c_str(), Access::read, false);
    if (opened.error != 0) return file_error(opened.error, "open", path);
    return std::unique_ptr<ByteSource>(std::make_unique<LocalSource>(FileDescriptor(opened.file), path));
}

Result<std::unique_ptr<ByteSink>> LocalByteStore::create(const std::string& path) {
    const OpenedFile opened = open_local(path.c_str(), Access::create_new, false);
    if (opened.error != 0) return file_error(opened.error, "create", path);
    return std::unique_ptr<ByteSink>(std::make_unique<LocalSink>(FileDescriptor(opened.file), path));
}

/// Creates only missing directories: a share or a drive cannot be created.
Result<void> LocalByteStore::make_directories(const std::string& path) {
    uv_stat_t facts{};
    const int code = stat_uv(path, true, facts);
    if (code == 0 && is_kind(facts, kDirectoryKind)) return {};
    if (code == 0) return file_error(ENOTDIR, "make the directory", path);
    const std::string parent = parent_of(path);
    if (parent == path) return failed(code, "make the directory", path);
    if (auto above = make_directories(parent); !above) return above;
    const int made = call_uv(uv_fs_mkdir, path, 0777);
    if (made < 0 && made != UV_EEXIST) return failed(made, "make the directory", path);
    return {};
}

Result<void> LocalByteStore::rename(const std::string& from, const std::string& to) {
    uv_stat_t facts{};
    if (const int code = stat_uv(from, false, facts); code < 0) return failed(code, "rename", from);
    if (const int error = rename_new(from, to)) return file_error(error, "rename to", to);
    return {};
}

Result<void> LocalByteStore::remove(const std::string& path) {
    uv_stat_t facts{};
    int code = stat_uv(path, false, facts);
    if (code == 0) code = call_uv(is_kind(facts, kDirectoryKind) ? uv_fs_rmdir : uv_fs_unlink, path);
    if (code < 0) return failed(code, "remove", path);
    return {};
}

Result<std::uint64_t> LocalByteStore::free_bytes(const std::string& path) {
    // A path that does not exist yet will be on the file system of its nearest existing parent.
    std::string at = path;
    for (;;) {
        UvRequest request;
        const int code = uv_fs_statfs(nullptr, &request.fs, native_path(at).c_str(), nullptr);
        if (code == 0) {
            const auto& facts = *static_cast<const uv_statfs_t*>(request.fs.ptr);
            return facts.f_bavail * facts.f_bsize;
        }
        const std::string parent = parent_of(at);
        if (code != UV_ENOENT || parent == at) return failed(code, "look at", at);
        at = parent;
    }
}

Result<std::uint64_t> LocalByteStore::total_bytes(const std::string& path) {
    UvRequest request;
    const int code = uv_fs_statfs(nullptr, &request.fs, native_path(path).c_str(), nullptr);
    if (code != 0) return failed(code, "look at", path);
    const auto& facts = *static_cast<const uv_statfs_t*>(request.fs.ptr);
    return (facts.f_blocks - facts.f_bfree + facts.f_bavail) * facts.f_bsize;
}

/// Only Linux has locks that belong to an open file: other systems use lease files instead.
Result<LockAttempt> LocalByteStore::try_lock(const std::string& path, LockMode mode, const std::string& note) {
    return ByteStore::try_lock(path, mode, note);
}

Result<void> LocalByteStore::evict(const std::string& path) {
    if (auto is_file = expect_file(path); !is_file) return is_file;
    const OpenedFile opened = open_local(path.c_str(), Access::read, false);
    if (opened.error != 0) return file_error(opened.error, "open", path);
    return evict_local(FileDescriptor(opened.file).get(), path);
}

Result<std::unique_ptr<ByteStore>> LocalByteStore::beneath(const std::string& directory) {
    return ByteStore::beneath(directory);
}

}  // namespace streamsim::storage
