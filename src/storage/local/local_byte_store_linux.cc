// Writing. A sink writes through the page cache, but keeps little of the file there: after each window it
// starts the write-back of that window, waits for that of the window before, and drops its pages. So close()
// waits for about one window, a progress bar shows the progress of the disk, and a media set that is larger
// than memory does not evict everything else.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/path.h"
#include "storage/errno_text.h"
#include "storage/file_descriptor.h"
#include "storage/local/beneath.h"
#include "storage/local/linux_calls.h"
#include "storage/local/local_byte_store.h"
#include "storage/local/local_cache.h"

namespace streamsim::storage {
namespace {

constexpr std::uint64_t kWindowBytes = std::uint64_t{16} << 20;

FileDescriptor open_file(const std::string& path, int flags) {
    return FileDescriptor(open_at(AT_FDCWD, path.c_str(), flags));
}

/// The kind of an object that cannot be read as a file; nullptr for files, directories and block devices.
const char* other_kind(mode_t mode) {
    if (S_ISFIFO(mode)) return "a FIFO";
    if (S_ISSOCK(mode)) return "a socket";
    if (S_ISCHR(mode)) return "a character device";
    return nullptr;
}

/// Checks the kind before the open, because opening a FIFO waits for its other end, perhaps for ever.
/// O_NONBLOCK is no solution: with it the open of a file with a lease (file servers take leases) fails instead
/// of waiting.
Result<void> expect_file(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return file_error(errno, "open", path);
    if (S_ISDIR(info.st_mode)) return file_error(EISDIR, "open", path);
    const char* const other = other_kind(info.st_mode);
    if (other == nullptr) return {};
    return bad_input(fmt::format("{}: expected a regular file, found {}", path, other));
}

/// Some network file systems cannot sync a directory (EINVAL): their servers have stored it when rename
/// returns.
Result<void> sync_directory(const std::string& path) {
    const FileDescriptor directory = open_file(path, O_RDONLY | O_DIRECTORY);
    if (!directory) return file_error(errno, "open", path);
    if (fsync(directory.get()) != 0 && errno != EINVAL && errno != ENOTSUP)
        return file_error(errno, "sync", path);
    return {};
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
        struct stat info {};
        if (fstat(file_.get(), &info) != 0) return file_error(errno, "look at", path_);
        return static_cast<std::uint64_t>(info.st_size);
    }

    Result<std::uint64_t> hole_bytes(std::uint64_t offset) override {
        const auto end = size();
        if (!end) return end.error();
        std::uint64_t holes = 0;
        std::uint64_t at = offset;
        for (int i = 0; i < kHolesMax && at < *end; ++i) {
            const off_t hole = lseek(file_.get(), static_cast<off_t>(at), SEEK_HOLE);
            if (hole < 0 || static_cast<std::uint64_t>(hole) >= *end) break;
            const off_t data = lseek(file_.get(), hole, SEEK_DATA);  // ENXIO: a hole up to the end
            const std::uint64_t next = data < 0 ? *end : static_cast<std::uint64_t>(data);
            holes += next - static_cast<std::uint64_t>(hole);
            at = next;
        }
        return holes;
    }

private:
    static constexpr int kHolesMax = 100'000;  // of one file; more make no difference to the callers

    FileDescriptor file_;
    std::string path_;
};

class LocalSink final : public ByteSink {
public:
    LocalSink(FileDescriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

    Result<void> write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
        const LocalPiece put = write_all_local(file_.get(), offset, bytes);
        if (put.error != 0) return file_error(put.error, "write", path_);
        end_ = std::max(end_, offset + bytes.size());
        while (end_ - started_ >= kWindowBytes) write_back_window();
        return {};
    }

    Result<void> close() override {
        if (fdatasync(file_.get()) != 0) return file_error(errno, "write", path_);
        posix_fadvise(file_.get(), 0, 0, POSIX_FADV_DONTNEED);
        if (file_.close() != 0 && errno != EINTR) return file_error(errno, "write", path_);
        return {};
    }

private:
    // Errors are ignored: fdatasync reports those of the write-back, and a file system without sync_file_range
    // merely has more to do at the end.
    void write_back_window() {
        const auto at = static_cast<off_t>(started_);
        constexpr auto kWindow = static_cast<off_t>(kWindowBytes);
        sync_file_range(file_.get(), at, kWindow, SYNC_FILE_RANGE_WRITE);
        if (started_ >= kWindowBytes) {
            sync_file_range(file_.get(), at - kWindow, kWindow,
                            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
            posix_fadvise(file_.get(), at - kWindow, kWindow, POSIX_FADV_DONTNEED);
        }
        started_ += kWindowBytes;
    }

    FileDescriptor file_;
    std::string path_;
    std::uint64_t end_ = 0;
    std::uint64_t started_ = 0;  // the write-back of the bytes before was started
};

void follow_links(DIR* directory, std::vector<DirectoryEntry>& entries) {
    for (DirectoryEntry& entry : entries) {
        struct stat info {};
        if (entry.symbolic_link)
            entry.directory =
                fstatat(dirfd(directory), entry.name.c_str(), &info, 0) == 0 && S_ISDIR(info.st_mode);
    }
}

}  // namespace

Result<std::vector<DirectoryEntry>> LocalByteStore::list(const std::string& directory) {
    const DirectoryStream open(opendir(directory.c_str()));
    if (open == nullptr) return file_error(errno, "list", directory);
    std::vector<DirectoryEntry> entries;
    if (const int error = read_directory(open.get(), entries)) return file_error(error, "list", directory);
    follow_links(open.get(), entries);
    return entries;
}

Result<std::vector<DirectoryEntry>> LocalByteStore::list_some(const std::string& directory, std::size_t count) {
    const DirectoryStream open(opendir(directory.c_str()));
    if (open == nullptr) return file_error(errno, "list", directory);
    DirectoryNames names;
    if (const int error = read_entries(open.get(), count, names)) return file_error(error, "list", directory);
    std::vector<DirectoryEntry> entries = names.list();
    follow_links(open.get(), entries);
    return entries;
}

Result<std::optional<FileInfo>> LocalByteStore::stat(const std::string& path) {
    struct stat info {};
    if (lstat(path.c_str(), &info) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) return std::optional<FileInfo>();
        return file_error(errno, "look at", path);
    }
    FileInfo out = info_of(info);
    if (!out.symbolic_link) return std::optional(out);
    if (::stat(path.c_str(), &info) != 0) {
        if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return std::optional(out);
        return file_error(errno, "look at", path);
    }
    out = info_of(info);
    out.symbolic_link = true;
    return std::optional(out);
}

Result<std::unique_ptr<ByteSource>> LocalByteStore::open(const std::string& path) {
    if (auto is_file = expect_file(path); !is_file) return is_file.error();
    FileDescriptor file = open_file(path, O_RDONLY);
    if (!file) return file_error(errno, "open", path);
    return std::unique_ptr<ByteSource>(std::make_unique<LocalSource>(std::move(file), path));
}

Result<std::unique_ptr<ByteSink>> LocalByteStore::create(const std::string& path) {
    FileDescriptor file = open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
    if (!file) return file_error(errno, "create", path);
    return std::unique_ptr<ByteSink>(std::make_unique<LocalSink>(std::move(file), path));
}

Result<void> LocalByteStore::make_directories(const std::string& path) {
    for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
        const std::string part = path.substr(0, slash);
        if (mkdir(part.c_str(), 0777) != 0) {
            const int error = errno;
            struct stat info {};
            // mkdir may report an existing directory as "read-only" or "not permitted" just as well as
            // "exists".
            if (::stat(part.c_str(), &info) != 0) return file_error(error, "make the directory", part);
            if (!S_ISDIR(info.st_mode)) return file_error(ENOTDIR, "make the directory", path);
        }
        if (slash == std::string::npos) return {};
    }
}

Result<void> LocalByteStore::rename(const std::string& from, const std::string& to) {
    struct stat info {};
    if (lstat(from.c_str(), &info) != 0) return file_error(errno, "rename", from);
    if (S_ISDIR(info.st_mode)) {
        if (auto synced = sync_directory(from); !synced)
            return synced;  // the entries are durable before the directory has its name
    }
    auto error = rename_anew(AT_FDCWD, from, AT_FDCWD, to);
    if (!error) {
        // Not atomic against others, but prepare has the directory to itself.
        if (lstat(to.c_str(), &info) == 0) return file_error(EEXIST, "rename to", to);
        error = ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
    }
    if (*error != 0) return file_error(*error, "rename to", to);
    if (auto synced = sync_directory(parent_of(to)); !synced) return synced;
    return parent_of(from) == parent_of(to) ? Result<void>{} : sync_directory(parent_of(from));
}

Result<void> LocalByteStore::remove(const std::string& path) {
    if (unlink(path.c_str()) == 0) return {};
    const int error = errno;
    if (error != EISDIR && error != EPERM) return file_error(error, "remove", path);
    if (rmdir(path.c_str()) != 0) return file_error(errno == ENOTDIR ? error : errno, "remove", path);
    return {};
}

Result<std::uint64_t> LocalByteStore::free_bytes(const std::string& path) {
    // A path that does not exist yet will be on the file system of its nearest existing parent.
    std::string at = path;
    struct statvfs info {};
    while (statvfs(at.c_str(), &info) != 0) {
        const std::string parent = parent_of(at);
        if (errno != ENOENT || parent == at) return file_error(errno, "look at", at);
        at = parent;
    }
    return std::uint64_t{info.f_bavail} * info.f_frsize;
}

Result<std::uint64_t> LocalByteStore::total_bytes(const std::string& path) {
    struct statvfs info {};
    if (statvfs(path.c_str(), &info) != 0) return file_error(errno, "look at", path);
    // Without the blocks that are reserved for the superuser.
    return (std::uint64_t{info.f_blocks} - info.f_bfree + info.f_bavail) * info.f_frsize;
}

Result<void> LocalByteStore::evict(const std::string& path) {
    if (auto is_file = expect_file(path); !is_file) return is_file;
    const FileDescriptor file = open_file(path, O_RDONLY);
    if (!file) return file_error(errno, "open", path);
    return evict_local(file.get(), path);
}

namespace {

/// True when a file keeps its inode number as long as it exists. FAT, exFAT and many FUSE file systems number
/// the files that they have in memory; so does a CIFS mount if its server has no numbers.
bool has_lasting_ids(int directory) {
    constexpr std::uint32_t kFat = 0x4d44, kExfat = 0x2011bab0, kFuse = 0x65735546, kCifs = 0xff534d42,
                            kSmb2 = 0xfe534d42;
    struct statfs info {};
    if (fstatfs(directory, &info) != 0) return false;
    const auto type = static_cast<std::uint32_t>(info.f_type);
    return type != kFat && type != kExfat && type != kFuse && type != kCifs && type != kSmb2;
}

/// The files below one directory, from its descriptor (beneath.h).
class StoreBeneath final : public ByteStore {
public:
    StoreBeneath(Beneath root, std::string directory)
        : root_(std::move(root)),
          directory_(std::move(directory)),
          lasting_ids_(has_lasting_ids(root_.descriptor())) {}

    Result<std::vector<DirectoryEntry>> list(const std::string& directory) override {
        std::vector<DirectoryEntry> entries;
        if (const int number = root_.list(below(directory), entries)) return error(number, "list", directory);
        return entries;
    }

    Result<std::optional<FileInfo>> stat(const std::string& path) override {
        FileInfo facts;
        const int number = root_.look_at(below(path), facts);
        if (number == ENOENT || number == ENOTDIR) {
            if (below(path).empty()) return error(number, "look at", path);
            return std::optional<FileInfo>();
        }
        if (number != 0) return error(number, "look at", path);
        if (!lasting_ids_) facts.file_id = 0;
        return std::optional(facts);
    }

    Result<std::unique_ptr<ByteSource>> open(const std::string& path) override {
        const OpenedFile opened = root_.open_file(below(path), Access::read, false);
        if (opened.error != 0) return error(opened.error, "open", path);
        return std::unique_ptr<ByteSource>(std::make_unique<LocalSource>(FileDescriptor(opened.file), path));
    }

    Result<std::unique_ptr<ByteSink>> create(const std::string& path) override {
        const OpenedFile opened = root_.open_file(below(path), Access::create_new, false);
        if (opened.error != 0) return error(opened.error, "create", path);
        return std::unique_ptr<ByteSink>(std::make_unique<LocalSink>(FileDescriptor(opened.file), path));
    }

    Result<void> make_directories(const std::string& path) override {
        const std::string name = below(path);
        for (std::size_t slash = name.find('/');; slash = name.find('/', slash + 1)) {
            const std::string part = name.substr(0, slash);
            if (int number = root_.make_directory(part)) {
                // An existing directory may be reported as "read-only" or "not permitted" as well as "exists".
                FileInfo facts;
                const bool there = root_.look_at(part, facts) == 0;
                if (there && !facts.directory) number = ENOTDIR;
                if (!there || number == ENOTDIR) return error(number, "make the directory", path);
            }
            if (slash == std::string::npos) return {};
        }
    }

    Result<void> rename(const std::string& from, const std::string& to) override {
        const std::string old_name = below(from), new_name = below(to);
        FileInfo facts;
        if (const int number = root_.look_at(old_name, facts)) return error(number, "rename", from);
        if (facts.directory) {
            // The entries are durable before the directory has its name.
            if (const int number = root_.sync_directory(old_name)) return error(number, "sync", from);
        }
        if (const int number = root_.rename(old_name, new_name)) return error(number, "rename to", to);
        for (const std::string& each : {new_name, old_name}) {
            if (const int number = root_.sync_directory(parent_of(each))) return error(number, "sync", to);
            if (parent_of(from) == parent_of(to)) break;
        }
        return {};
    }

    Result<bool> set_aside(const std::string& from, const std::string& to) override {
        const int number = root_.set_aside(below(from), below(to));
        if (number != 0) return error(number, "remove", from);
        return true;
    }

    Result<void> remove(const std::string& path) override { return removed(root_.remove(below(path)), path); }
    Result<void> remove_directory(const std::string& path) override {
        return removed(root_.remove_directory(below(path)), path);
    }

    Result<std::uint64_t> free_bytes(const std::string&) override {
        struct statvfs info {};
        if (fstatvfs(root_.descriptor(), &info) != 0) return file_error(errno, "look at", directory_);
        return std::uint64_t{info.f_bavail} * info.f_frsize;
    }

    Result<std::uint64_t> total_bytes(const std::string&) override {
        struct statvfs info {};
        if (fstatvfs(root_.descriptor(), &info) != 0) return file_error(errno, "look at", directory_);
        return (std::uint64_t{info.f_blocks} - info.f_bfree + info.f_bavail) * info.f_frsize;
    }

    Result<void> evict(const std::string& path) override {
        const OpenedFile opened = root_.open_file(below(path), Access::read, false);
        if (opened.error != 0) return error(opened.error, "open", path);
        return evict_local(FileDescriptor(opened.file).get(), path);
    }

    Result<std::unique_ptr<ByteStore>> beneath(const std::string& directory) override {
        Beneath inner;
        if (const int number = root_.enter(below(directory), inner)) return error(number, "open", directory);
        return std::unique_ptr<ByteStore>(std::make_unique<StoreBeneath>(std::move(inner), directory));
    }

private:
    /// A path relative to the directory; empty, so that every call fails, when it is not below.
    std::string below(const std::string& path) const {
        if (path == directory_ || path + '/' == directory_) return ".";
        return std::string(Beneath::below(directory_, path));
    }
    Result<void> removed(int number, const std::string& path) const {
        return number == 0 ? Result<void>{} : error(number, "remove", path);
    }
    /// The error for a link, a second name or a file of another kind names the first such component of the
    /// path.
    Error error(int number, const char* action, const std::string& path) const {
        const std::string name = below(path);
        if (name.empty()) return environment_error(fmt::format("{}: is not below {}", path, directory_));
        const bool unsuitable =
            number == ELOOP || number == EMLINK || number == EOPNOTSUPP || number == ENOTDIR;
        if (!unsuitable) return file_error(number, action, path);
        for (std::size_t slash = name.find('/');; slash = name.find('/', slash + 1)) {
            FileInfo facts;
            if (root_.look_at(name.substr(0, slash), facts) != 0) break;
            const bool last = slash == std::string::npos;
            if (last || !facts.directory) {
                return environment_error(fmt::format(
                    "cannot {} {}: found {}{}, expected a {} that streamsim made; it is left as it is", action,
                    path, describe(facts),
                    last ? "" : fmt::format(" at {}", path.substr(0, path.size() - name.size() + slash)),
                    last ? "file or directory" : "directory"));
            }
        }
        return file_error(number, action, path);
    }

    Beneath root_;
    std::string directory_;
    bool lasting_ids_;
};

}  // namespace

Result<std::unique_ptr<ByteStore>> LocalByteStore::beneath(const std::string& directory) {
    Beneath root;
    if (const int number = Beneath::open(directory, root)) return file_error(number, "open", directory);
    return std::unique_ptr<ByteStore>(std::make_unique<StoreBeneath>(std::move(root), directory));
}

}  // namespace streamsim::storage
