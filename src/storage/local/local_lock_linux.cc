// Locks of open file descriptions (OFD) on byte ranges of a lock file. The kernel releases them when the last
// descriptor is closed, so that no lock outlives a process that is killed.
//
// Byte 0 is the lock. Behind the header the file has slots; a holder that may write locks the first byte of a
// free slot and leaves its note there. A note counts only while its slot is locked, so that notes of dead
// processes are ignored.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/path.h"
#include "base/prng.h"
#include "storage/errno_text.h"
#include "storage/file_descriptor.h"
#include "storage/local/linux_calls.h"
#include "storage/local/local_byte_store.h"

namespace streamsim::storage {
namespace {

constexpr std::string_view kHeader = "streamsim lock file, version 1\n";
constexpr off_t kSlotBytes = 1024;
constexpr int kSlots = 64;
constexpr int kLockFlags = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
constexpr int kOpenAttempts = 20;  // clean may remove the file between its opening and its locking
static_assert(kLockNoteBytesMax < kSlotBytes);

// Magic numbers that not every linux/magic.h has.
constexpr unsigned long kXfs = 0x58465342, kZfs = 0x2fc12fc1, kNtfs3 = 0x7366746e, kExfat = 0x2011bab0,
                        kF2fs = 0xf2f52010, kHfsPlus = 0x482b, kVfat = 0x4d44, kUdf = 0x15013346,
                        kBcachefs = 0xca451a4e;

/// True when only this computer writes to the file system, so that its kernel knows every lock. On others
/// (network and cluster file systems, FUSE) other computers may not see a lock.
bool locks_are_seen_by_all(int descriptor) {
    constexpr unsigned long kLocal[] = {EXT4_SUPER_MAGIC,
                                        BTRFS_SUPER_MAGIC,
                                        TMPFS_MAGIC,
                                        RAMFS_MAGIC,
                                        OVERLAYFS_SUPER_MAGIC,
                                        SQUASHFS_MAGIC,
                                        kXfs,
                                        kZfs,
                                        kNtfs3,
                                        kExfat,
                                        kF2fs,
                                        kHfsPlus,
                                        kVfat,
                                        kUdf,
                                        kBcachefs,
                                        ISOFS_SUPER_MAGIC,
                                        REISERFS_SUPER_MAGIC};
    struct statfs info {};
    if (fstatfs(descriptor, &info) != 0) return false;
    const auto type = static_cast<unsigned long>(info.f_type) & 0xffffffffUL;
    return std::find(std::begin(kLocal), std::end(kLocal), type) != std::end(kLocal);
}

/// The errors of file systems without locks.
bool is_unsupported(int error) {
    return error == ENOLCK || error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
}

/// The errors of a lock file that is missing and cannot be created: a reader goes without a lock then.
bool may_not_write(int error) {
    return error == EACCES || error == EPERM || error == EROFS || error == ENOSPC || error == EDQUOT;
}

struct flock range_at(off_t offset, short type) {
    struct flock range {};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    range.l_start = offset;
    range.l_len = 1;
    return range;
}

/// Returns zero or an errno; EAGAIN: another process has the lock.
int lock_byte(int descriptor, off_t offset, short type) {
    struct flock range = range_at(offset, type);
    if (fcntl(descriptor, F_OFD_SETLK, &range) == 0) return 0;
    return errno == EACCES ? EAGAIN : errno;
}

off_t slot_at(int slot) {
    return kSlotBytes * (slot + 1);
}

/// The notes in slots that are locked.
std::vector<std::string> read_notes(int descriptor) {
    std::vector<std::string> notes;
    for (int slot = 0; slot < kSlots; ++slot) {
        struct flock range = range_at(slot_at(slot), F_WRLCK);
        if (fcntl(descriptor, F_OFD_GETLK, &range) != 0 || range.l_type == F_UNLCK) continue;
        char text[kSlotBytes];
        const ssize_t got = pread(descriptor, text, sizeof(text), slot_at(slot));
        if (got <= 0) continue;
        const std::string_view note(text, static_cast<std::size_t>(got));
        notes.emplace_back(note.substr(0, std::min(note.find('\n'), note.find('\0'))));
    }
    return notes;
}

void leave_note(int descriptor, const std::string& note) {
    for (int slot = 0; slot < kSlots; ++slot) {
        const int error = lock_byte(descriptor, slot_at(slot), F_WRLCK);
        if (error == EAGAIN) continue;
        if (error != 0) return;
        char text[kSlotBytes] = {};
        const std::size_t bytes = std::min(note.size(), kLockNoteBytesMax);
        note.copy(text, bytes);
        text[bytes] = '\n';
        // A note that cannot be written is only missing in messages.
        (void)!pwrite(descriptor, text, sizeof(text), slot_at(slot));
        return;
    }
}

class LocalLock final : public FileLock {
public:
    explicit LocalLock(FileDescriptor file) : file_(std::move(file)) {}

    Result<bool> change(LockMode mode) override {
        const int error = lock_byte(file_.get(), 0, mode == LockMode::shared ? F_RDLCK : F_WRLCK);
        if (error == 0) return true;
        if (error == EAGAIN || error == EBADF) return false;  // EBADF: the file is open for reading only
        return file_error(error, "lock", "the lock file");
    }

private:
    FileDescriptor file_;
};

Error not_our_lock_file(const std::string& path) {
    return bad_input(
        fmt::format("{}: is not a lock file of streamsim, although it has the name of one: it is left alone; "
                    "move it elsewhere",
                    path));
}

/// True when a file is a lock file of streamsim: regular, with one name and the header.
Result<void> expect_lock_file(int descriptor, const std::string& path) {
    struct stat info {};
    if (fstat(descriptor, &info) != 0) return file_error(errno, "look at", path);
    char text[kHeader.size()];
    const bool ours = S_ISREG(info.st_mode) && info.st_nlink <= 1 &&
                      pread(descriptor, text, sizeof(text), 0) == static_cast<ssize_t>(sizeof(text)) &&
                      std::string_view(text, sizeof(text)) == kHeader;
    return ours ? Result<void>{} : not_our_lock_file(path);
}

/// Every user who may write into the directory may lock a new lock file.
void share_as_directory(int descriptor, int directory) {
    struct stat info {};
    if (fstat(directory, &info) == 0) (void)fchmod(descriptor, info.st_mode & 0666);
}

struct OpenedLock {
    FileDescriptor file{-1};
    int error = 0;
    bool may_write = true;
};

/// As rename(2), but never replaces.
int name_anew(int directory, const std::string& from, const std::string& to) {
    if (const auto error = rename_anew(directory, from, directory, to)) return *error;
    if (linkat(directory, from.c_str(), directory, to.c_str(), 0) != 0) return errno;
    return unlinkat(directory, from.c_str(), 0) == 0 ? 0 : errno;
}

/// The header is on the disk before the file gets its name, so that even after a power cut an empty file of
/// that name is not streamsim's. Until then the file has the name of an unfinished file of a media set.
OpenedLock make_lock(int directory, const std::string& name) {
    const std::string partial = fmt::format("{}.{:016x}.partial", name, entropy64());
    OpenedLock made;
    made.file =
        FileDescriptor(openat(directory, partial.c_str(), O_RDWR | O_CREAT | O_EXCL | kLockFlags, 0666));
    if (!made.file) {
        made.error = errno;
        return made;
    }
    share_as_directory(made.file.get(), directory);
    const ssize_t put = pwrite(made.file.get(), kHeader.data(), kHeader.size(), 0);
    if (put != static_cast<ssize_t>(kHeader.size())) {
        made.error = put < 0 ? errno : ENOSPC;
    } else if (fsync(made.file.get()) != 0) {
        made.error = errno;
    } else {
        made.error = name_anew(directory, partial, name);
    }
    if (made.error != 0) {
        (void)unlinkat(directory, partial.c_str(), 0);
        made.file = FileDescriptor();
    }
    return made;
}

OpenedLock open_lock(int directory, const std::string& name, LockMode mode) {
    OpenedLock opened;
    const auto open = [&](int flags) {
        const int number = openat(directory, name.c_str(), flags | kLockFlags, 0666);
        opened.error = number < 0 ? errno : 0;
        return FileDescriptor(number);
    };
    if (FileDescriptor file = open(O_RDWR); file) return {std::move(file), 0, true};
    if (opened.error == ENOENT) {
        OpenedLock made = make_lock(directory, name);
        if (made.file) return made;
        opened.error = made.error;
    }
    if (may_not_write(opened.error) && mode == LockMode::shared) {
        const int why_not = opened.error;
        if (FileDescriptor file = open(O_RDONLY); file) return {std::move(file), 0, false};
        if (opened.error == ENOENT) opened.error = why_not;
    }
    return opened;
}

/// True when the name still belongs to the open file: clean removes the file while it holds the lock.
bool is_still_named(int descriptor, int directory, const std::string& name) {
    struct stat here {};
    struct stat named {};
    return fstat(descriptor, &here) == 0 &&
           fstatat(directory, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 && here.st_ino == named.st_ino &&
           here.st_dev == named.st_dev;
}

}  // namespace

Result<LockAttempt> LocalByteStore::try_lock(const std::string& path, LockMode mode, const std::string& note) {
    const std::string parent = parent_of(path), name = base_name(path);
    int error = ENOENT;
    for (int attempt = 0; attempt < kOpenAttempts; ++attempt) {
        const FileDescriptor directory(open_at(AT_FDCWD, parent.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
        if (!directory) return file_error(errno, "open", parent);
        if (!locks_are_seen_by_all(directory.get())) return LockAttempt{};
        OpenedLock opened = open_lock(directory.get(), name, mode);
        error = opened.error;
        if (error == ENOENT || error == EEXIST)
            continue;  // another process has just removed or created the file
        if (may_not_write(error) && mode == LockMode::shared) return LockAttempt{};
        const bool other_kind = error == ELOOP || error == EISDIR || error == ENXIO;  // a link, a socket ...
        if (other_kind) return not_our_lock_file(path);
        if (error != 0) return file_error(error, "open the lock file", path);
        const int file = opened.file.get();
        if (auto ours = expect_lock_file(file, path); !ours) return ours.error();
        error = lock_byte(file, 0, mode == LockMode::shared ? F_RDLCK : F_WRLCK);
        if (is_unsupported(error)) return LockAttempt{};
        if (error == EAGAIN) return LockAttempt{LockAttempt::Outcome::refused, nullptr, read_notes(file)};
        if (error != 0) return file_error(error, "lock", path);
        if (!is_still_named(file, directory.get(), name)) continue;
        if (opened.may_write) leave_note(file, note);  // on a full disk only the note is missing
        return LockAttempt{LockAttempt::Outcome::held, std::make_unique<LocalLock>(std::move(opened.file)), {}};
    }
    return file_error(error == 0 ? EAGAIN : error, "lock", path);
}

}  // namespace streamsim::storage
