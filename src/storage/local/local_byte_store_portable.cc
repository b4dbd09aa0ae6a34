// Local files by libuv, called without a loop: then its calls block, and take UTF-8 on every system. Writes go
// through the page cache, and close() waits for all of them. A rename checks first that the new name is free:
// not atomic against other processes, but no other process uses the directory of prepare.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/path.h"
#include "storage/errno_text.h"
#include "storage/local/local_byte_store.h"
#include "storage/local/native_path.h"
#include "storage/local/uv_errno.h"
#include "storage/local/uv_request.h"

namespace streamsim::storage {
namespace {

constexpr std::size_t kCallBytesMax = std::size_t{1} << 30;  // of one read or write

/// An open file of libuv, closed with its owner.
class File {
public:
    explicit File(uv_file file) : file_(file) {}
    ~File() { close(); }
    File(File&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
    File& operator=(File&&) = delete;
    uv_file get() const { return file_; }
    int close() {
        if (file_ < 0) return 0;
        UvRequest request;
        return uv_fs_close(nullptr, &request.fs, std::exchange(file_, -1), nullptr);
    }

private:
    uv_file file_;
};

Error failed(int code, std::string_view action, const std::string& path) {
    return file_error(errno_of_uv(code), action, path);
}

/// Returns zero, or libuv's error, which is negative.
int look_at(const std::string& path, bool follow, uv_stat_t& facts) {
    UvRequest request;
    const std::string native = native_path(path);
    const int result = follow ? uv_fs_stat(nullptr, &request.fs, native.c_str(), nullptr)
                              : uv_fs_lstat(nullptr, &request.fs, native.c_str(), nullptr);
    facts = request.fs.statbuf;
    return result;
}

constexpr std::uint64_t kKindMask = 0170000;
constexpr std::uint64_t kDirectory = 0040000;
constexpr std::uint64_t kLink = 0120000;
constexpr std::uint64_t kRegular = 0100000;
constexpr std::uint64_t kBlockDevice = 0060000;

bool is(const uv_stat_t& facts, std::uint64_t kind) {
    return (facts.st_mode & kKindMask) == kind;
}

/// Checks the kind before the open, because opening a pipe may wait for its other end.
Result<void> expect_file(const std::string& path) {
    uv_stat_t facts{};
    if (const int code = look_at(path, true, facts); code < 0) return failed(code, "open", path);
    if (is(facts, kDirectory)) return file_error(EISDIR, "open", path);
    if (is(facts, kRegular) || is(facts, kBlockDevice)) return {};
    return bad_input(fmt::format("{}: expected a regular file, found something else", path));
}

class LocalSource final : public ByteSource {
public:
    LocalSource(File file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

    Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
        std::size_t done = 0;
        while (done < into.size()) {
            UvRequest request;
            const auto rest = into.subspan(done, std::min(into.size() - done, kCallBytesMax));
            const uv_buf_t buffer =
                uv_buf_init(reinterpret_cast<char*>(rest.data()), static_cast<unsigned>(rest.size()));
            const int got = uv_fs_read(nullptr, &request.fs, file_.get(), &buffer, 1,
                                       static_cast<std::int64_t>(offset + done), nullptr);
            if (got < 0) return failed(got, "read", path_);
            if (got == 0) break;
            done += static_cast<std::size_t>(got);
        }
        return done;
    }

    Result<std::uint64_t> size() override {
        UvRequest request;
        const int code = uv_fs_fstat(nullptr, &request.fs, file_.get(), nullptr);
        if (code < 0) return failed(code, "look at", path_);
        return request.fs.statbuf.st_size;
    }

private:
    File file_;
    std::string path_;
};

class LocalSink final : public ByteSink {
public:
    LocalSink(File file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

    Result<void> write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
        std::size_t done = 0;
        while (done < bytes.size()) {
            UvRequest request;
            const auto rest = bytes.subspan(done, std::min(bytes.size() - done, kCallBytesMax));
            // libuv's buffers are not const; a write does not change them.
            auto* const data = const_cast<char*>(reinterpret_cast<const char*>(rest.data()));
            const uv_buf_t buffer = uv_buf_init(data, static_cast<unsigned>(rest.size()));
            const int put = uv_fs_write(nullptr, &request.fs, file_.get(), &buffer, 1,
                                        static_cast<std::int64_t>(offset + done), nullptr);
            if (put < 0) return failed(put, "write", path_);
            done += static_cast<std::size_t>(put);
        }
        return {};
    }

    Result<void> close() override {
        UvRequest request;
        if (const int code = uv_fs_fsync(nullptr, &request.fs, file_.get(), nullptr); code < 0)
            return failed(code, "write", path_);
        if (const int code = file_.close(); code < 0) return failed(code, "write", path_);
        return {};
    }

private:
    File file_;
    std::string path_;
};

}  // namespace

Result<std::vector<DirectoryEntry>> LocalByteStore::list(const std::string& directory) {
    UvRequest request;
    const int count = uv_fs_scandir(nullptr, &request.fs, native_path(directory).c_str(), 0, nullptr);
    if (count < 0) return failed(count, "list", directory);
    std::vector<DirectoryEntry> entries;
    uv_dirent_t found{};
    while (uv_fs_scandir_next(&request.fs, &found) == 0) {
        DirectoryEntry entry{found.name, found.type == UV_DIRENT_DIR, found.type == UV_DIRENT_LINK};
        uv_stat_t facts{};
        if (found.type == UV_DIRENT_UNKNOWN && look_at(join_path(directory, entry.name), false, facts) == 0) {
            entry.directory = is(facts, kDirectory);
            entry.symbolic_link = is(facts, kLink);
        }
        if (entry.symbolic_link) {
            entry.directory =
                look_at(join_path(directory, entry.name), true, facts) == 0 && is(facts, kDirectory);
        }
        entries.push_back(std::move(entry));
    }
    std::sort(entries.begin(), entries.end(),
              [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; });
    return entries;
}

Result<std::optional<FileInfo>> LocalByteStore::stat(const std::string& path) {
    uv_stat_t facts{};
    if (const int code = look_at(path, false, facts); code < 0) {
        if (code == UV_ENOENT || code == UV_ENOTDIR) return std::optional<FileInfo>();
        return failed(code, "look at", path);
    }
    FileInfo out;
    out.symbolic_link = is(facts, kLink);
    if (out.symbolic_link) {
        const int code = look_at(path, true, facts);
        if (code == UV_ENOENT || code == UV_ENOTDIR || code == UV_ELOOP) return std::optional(out);
        if (code < 0) return failed(code, "look at", path);
    }
    out.directory = is(facts, kDirectory);
    out.bytes = facts.st_size;
    out.modified_s = facts.st_mtim.tv_sec;
    out.links = facts.st_nlink;
    out.file_id = facts.st_ino;
    return std::optional(out);
}

Result<std::unique_ptr<ByteSource>> LocalByteStore::open(const std::string& path) {
    if (auto is_file = expect_file(path); !is_file) return is_file.error();
    UvRequest request;
    const int file = uv_fs_open(nullptr, &request.fs, native_path(path).c_str(), UV_FS_O_RDONLY, 0, nullptr);
    if (file < 0) return failed(file, "open", path);
    return std::unique_ptr<ByteSource>(std::make_unique<LocalSource>(File(file), path));
}

Result<std::unique_ptr<ByteSink>> LocalByteStore::create(const std::string& path) {
    UvRequest request;
    constexpr int kFlags = UV_FS_O_WRONLY | UV_FS_O_CREAT | UV_FS_O_EXCL;
    const int file = uv_fs_open(nullptr, &request.fs, native_path(path).c_str(), kFlags, 0666, nullptr);
    if (file < 0) return failed(file, "create", path);
    return std::unique_ptr<ByteSink>(std::make_unique<LocalSink>(File(file), path));
}

/// Creates only missing directories: a share or a drive cannot be created.
Result<void> LocalByteStore::make_directories(const std::string& path) {
    uv_stat_t facts{};
    const int code = look_at(path, true, facts);
    if (code == 0 && is(facts, kDirectory)) return {};
    if (code == 0) return file_error(ENOTDIR, "make the directory", path);
    const std::string parent = parent_of(path);
    if (parent == path) return failed(code, "make the directory", path);
    if (auto above = make_directories(parent); !above) return above;
    UvRequest request;
    const int made = uv_fs_mkdir(nullptr, &request.fs, native_path(path).c_str(), 0777, nullptr);
    if (made < 0 && made != UV_EEXIST) return failed(made, "make the directory", path);
    return {};
}

Result<void> LocalByteStore::rename(const std::string& from, const std::string& to) {
    uv_stat_t facts{};
    if (const int code = look_at(from, false, facts); code < 0) return failed(code, "rename", from);
    if (look_at(to, false, facts) == 0) return file_error(EEXIST, "rename to", to);
    UvRequest request;
    const int code =
        uv_fs_rename(nullptr, &request.fs, native_path(from).c_str(), native_path(to).c_str(), nullptr);
    if (code < 0) return failed(code, "rename to", to);
    return {};
}

Result<void> LocalByteStore::remove(const std::string& path) {
    uv_stat_t facts{};
    int code = look_at(path, false, facts);
    UvRequest request;
    if (code == 0) {
        code = is(facts, kDirectory) ? uv_fs_rmdir(nullptr, &request.fs, native_path(path).c_str(), nullptr)
                                     : uv_fs_unlink(nullptr, &request.fs, native_path(path).c_str(), nullptr);
    }
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

Result<void> LocalByteStore::evict(const std::string& path) {
    return environment_error(
        fmt::format("{}: this streamsim cannot evict files from the page cache of this system", path));
}

Result<std::unique_ptr<ByteStore>> LocalByteStore::beneath(const std::string& directory) {
    return ByteStore::beneath(directory);
}

}  // namespace streamsim::storage
