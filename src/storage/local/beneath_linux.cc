#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "storage/local/beneath.h"
#include "storage/local/linux_calls.h"

namespace streamsim::storage {
namespace {

constexpr int kAttemptsMax = 16;  // of steps that another process may undo in between

/// Returns a descriptor, or a negative errno.
int open_at_once(int root, const char* path, int flags, mode_t mode) {
    open_how how{};
    how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
    how.mode = (flags & O_CREAT) != 0 ? mode : 0;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    long result = -1;
    int tries = 0;
    do {
        result = syscall(SYS_openat2, root, path, &how, sizeof(how));
    } while (result < 0 && (errno == EINTR || (errno == EAGAIN && ++tries < kAttemptsMax)));
    return result >= 0 ? static_cast<int>(result) : -errno;
}

/// Opens the directories of `path`, then its last component with `flags`.
int open_by_components(int root, const std::string& path, int flags, mode_t mode) {
    if (path.empty()) return -ENOENT;
    if (path.front() == '/') return -EXDEV;
    FileDescriptor held;
    int at = root;
    std::size_t begin = 0;
    for (;;) {
        const std::size_t slash = path.find('/', begin);
        const std::size_t next = path.find_first_not_of('/', slash);
        const bool last = next == std::string::npos;
        const std::string name = path.substr(begin, slash == std::string::npos ? slash : slash - begin);
        if (name == "..") return -EXDEV;
        constexpr int kOnTheWay = O_PATH | O_DIRECTORY | O_NOFOLLOW;
        const int opened =
            last ? open_at(at, name.c_str(), flags | O_NOFOLLOW, mode) : open_at(at, name.c_str(), kOnTheWay);
        if (opened < 0) {
            const int error = errno;
            struct stat info {};
            const bool link = (error == ENOTDIR || error == ELOOP) &&
                              fstatat(at, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                              S_ISLNK(info.st_mode);
            return link ? -ELOOP : -error;
        }
        if (last) return opened;
        held = FileDescriptor(opened);
        at = held.get();
        begin = next;
    }
}

int open_beneath(const Beneath& root, const std::string& path, int flags, mode_t mode = 0) {
    if (root.descriptor() < 0) return -EBADF;
    if (root.resolve() == Beneath::Resolve::at_once) {
        const int result = open_at_once(root.descriptor(), path.c_str(), flags | O_NOFOLLOW, mode);
        // ENOTDIR: a link in the place of a directory is reported as a link.
        if (result != -ENOSYS && result != -EPERM && result != -ENOTDIR) return result;
    }
    return open_by_components(root.descriptor(), path, flags, mode);
}

/// The parent directory of a name that is created, removed or inspected.
struct Place {
    FileDescriptor held;
    int directory = -1;
    std::string name;
    int error = 0;
};

Place place_of(const Beneath& root, const std::string& path) {
    Place place;
    place.directory = root.descriptor();
    if (place.directory < 0) place.error = EBADF;
    const std::size_t end = path.find_last_not_of('/');
    if (end == std::string::npos) place.error = path.empty() ? ENOENT : EXDEV;
    if (place.error != 0) return place;
    const std::size_t slash = path.rfind('/', end);
    place.name = path.substr(slash == std::string::npos ? 0 : slash + 1, end - (slash + 1) + 1);
    if (place.name == "..") place.error = EXDEV;
    if (slash == std::string::npos || place.error != 0) return place;
    if (slash == 0) {
        place.error = EXDEV;
        return place;
    }
    const int opened = open_beneath(root, path.substr(0, slash), O_PATH | O_DIRECTORY);
    if (opened < 0) {
        place.error = -opened;
        return place;
    }
    place.held = FileDescriptor(opened);
    place.directory = opened;
    return place;
}

int look_in(int directory, const std::string& name, FileInfo& facts) {
    struct stat info {};
    if (fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return errno;
    facts = info_of(info);
    return 0;
}

/// Checks the object before the open, because opening a FIFO waits for its other end and opening a device may
/// have effects; and after, because the name may have become another object's. O_NONBLOCK keeps the open from
/// waiting for a FIFO then.
OpenedFile open_existing(const Beneath& root, const std::string& path, bool to_write, bool direct) {
    FileInfo facts;
    if (const int error = root.look_at(path, facts)) return {-1, error};
    if (const int error = unsuitable(facts, to_write)) return {-1, error};
    const int flags = open_flags(to_write ? Access::write : Access::read, direct);
    FileDescriptor opened(open_beneath(root, path, flags | O_NONBLOCK));
    if (opened.get() == -EAGAIN)
        opened = FileDescriptor(open_beneath(root, path, flags));  // the file has a lease
    if (opened.get() < 0) return {-1, -opened.get()};
    struct stat info {};
    if (fstat(opened.get(), &info) != 0) return {-1, errno};
    if (const int error = unsuitable(info_of(info), to_write)) return {-1, error};
    if (fcntl(opened.get(), F_SETFL, flags) != 0) return {-1, errno};
    return {opened.release(), 0};
}

int rename_over(const Place& from, const Place& to) {
    return renameat(from.directory, from.name.c_str(), to.directory, to.name.c_str()) == 0 ? 0 : errno;
}

/// `by_link`: on a file system that cannot rename without replacing, a file gets a second name and loses the
/// first.
int rename_below(const Beneath& root, const std::string& from, const std::string& to, bool by_link) {
    const Place old_place = place_of(root, from), new_place = place_of(root, to);
    if (old_place.error != 0) return old_place.error;
    if (new_place.error != 0) return new_place.error;
    const auto done = rename_anew(old_place.directory, old_place.name, new_place.directory, new_place.name);
    if (done) return *done;
    FileInfo facts;
    if (by_link) {
        if (const int error = look_in(old_place.directory, old_place.name, facts)) return error;
        if (facts.is_regular() && linkat(old_place.directory, old_place.name.c_str(), new_place.directory,
                                         new_place.name.c_str(), 0) == 0)
            return unlinkat(old_place.directory, old_place.name.c_str(), 0) == 0 ? 0 : errno;
    }
    // A file system without links, or a directory: not atomic against other processes.
    if (look_in(new_place.directory, new_place.name, facts) == 0) return EEXIST;
    return rename_over(old_place, new_place);
}

}  // namespace

int Beneath::open(const std::string& directory, Beneath& into, Resolve resolve) {
    FileDescriptor opened(open_at(AT_FDCWD, directory.c_str(), O_PATH | O_DIRECTORY));
    if (!opened) return errno;
    into.descriptor_ = std::move(opened);
    into.resolve_ = resolve;
    return 0;
}

int Beneath::enter(const std::string& path, Beneath& into) const {
    FileDescriptor opened(open_beneath(*this, path, O_PATH | O_DIRECTORY));
    if (!opened) return -opened.get();
    into.descriptor_ = std::move(opened);
    into.resolve_ = resolve_;
    return 0;
}

OpenedFile Beneath::open_file(const std::string& path, Access access, bool direct) const {
    const bool may_create = access == Access::create || access == Access::create_new;
    if (!may_create) return open_existing(*this, path, access == Access::write, direct);
    for (int tries = 0;; ++tries) {
        const int made = open_beneath(*this, path, open_flags(Access::create_new, direct), kNewFileMode);
        if (made >= 0) return {made, 0};
        if (made != -EEXIST || access == Access::create_new) return {-1, -made};
        const OpenedFile old = open_existing(*this, path, true, direct);
        if (old.error != ENOENT || tries == kAttemptsMax)
            return old;  // ENOENT: another process removed the file
    }
}

int Beneath::look_at(const std::string& path, FileInfo& facts) const {
    const Place place = place_of(*this, path);
    return place.error != 0 ? place.error : look_in(place.directory, place.name, facts);
}

int Beneath::list(const std::string& path, std::vector<DirectoryEntry>& entries) const {
    FileDescriptor opened(open_beneath(*this, path, O_RDONLY | O_DIRECTORY));
    if (!opened) return -opened.get();
    const DirectoryStream open(fdopendir(opened.get()));
    if (open == nullptr) return errno;
    (void)opened.release();  // closed with the stream
    return read_directory(open.get(), entries);
}

int Beneath::make_directory(const std::string& path) const {
    const Place place = place_of(*this, path);
    if (place.error != 0) return place.error;
    return mkdirat(place.directory, place.name.c_str(), kNewDirectoryMode) == 0 ? 0 : errno;
}

int Beneath::rename(const std::string& from, const std::string& to) const {
    return rename_below(*this, from, to, true);
}

int Beneath::set_aside(const std::string& from, const std::string& to) const {
    return rename_below(*this, from, to, false);
}

int Beneath::replace(const std::string& from, const std::string& to) const {
    const Place old_place = place_of(*this, from), new_place = place_of(*this, to);
    if (old_place.error != 0) return old_place.error;
    if (new_place.error != 0) return new_place.error;
    FileInfo facts;
    const int error = look_in(new_place.directory, new_place.name, facts);
    if (error == ENOENT) return rename(from, to);
    if (error != 0) return error;
    if (const int wrong = unsuitable(facts, true)) return wrong;
    return rename_over(old_place, new_place);
}

int Beneath::remove_file(const std::string& path) const {
    const Place place = place_of(*this, path);
    if (place.error != 0) return place.error;
    return unlinkat(place.directory, place.name.c_str(), 0) == 0 ? 0 : errno;
}

int Beneath::remove_directory(const std::string& path) const {
    const Place place = place_of(*this, path);
    if (place.error != 0) return place.error;
    return unlinkat(place.directory, place.name.c_str(), AT_REMOVEDIR) == 0 ? 0 : errno;
}

int Beneath::sync_directory(const std::string& path) const {
    const FileDescriptor opened(open_beneath(*this, path, O_RDONLY | O_DIRECTORY));
    if (opened.get() < 0) return -opened.get();
    // Some network file systems cannot sync a directory: their servers have stored it when the call returns.
    if (fsync(opened.get()) == 0 || errno == EINVAL || errno == ENOTSUP) return 0;
    return errno;
}

}  // namespace streamsim::storage
