#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>

#include "storage/file_descriptor.h"
#include "storage/local/beneath.h"
#include "storage/open_flags.h"

namespace streamsim::storage {
namespace {

constexpr int kTriesMax = 16;  // of what another process may undo in between

/// A descriptor, or a negative errno.
int open_at(int directory, const char* path, int flags, mode_t mode) {
    int result = -1;
    do {
        result = ::openat(directory, path, flags | O_CLOEXEC, mode);
    } while (result < 0 && errno == EINTR);
    return result >= 0 ? result : -errno;
}

int open_at_once(int root, const char* path, int flags, mode_t mode) {
    open_how how{};
    how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
    how.mode = (flags & O_CREAT) != 0 ? mode : 0;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    long result = -1;
    int tries = 0;
    do {
        result = syscall(SYS_openat2, root, path, &how, sizeof(how));
    } while (result < 0 && (errno == EINTR || (errno == EAGAIN && ++tries < kTriesMax)));
    return result >= 0 ? static_cast<int>(result) : -errno;
}

/// The directories of `path`, then its last component with `flags`.
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
        const int opened = last ? open_at(at, name.c_str(), flags | O_NOFOLLOW, mode)
                                : open_at(at, name.c_str(), kOnTheWay, 0);
        if (opened < 0) {
            struct stat info {};
            const bool link = (opened == -ENOTDIR || opened == -ELOOP) &&
                              fstatat(at, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                              S_ISLNK(info.st_mode);
            return link ? -ELOOP : opened;
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
        // ENOTDIR: a link in place of a directory is told as a link.
        if (result != -ENOSYS && result != -EPERM && result != -ENOTDIR) return result;
    }
    return open_by_components(root.descriptor(), path, flags, mode);
}

/// Where a name is made, removed or looked at.
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

BeneathFacts facts_of(const struct stat& info) {
    using Kind = BeneathFacts::Kind;
    BeneathFacts facts;
    facts.kind = S_ISREG(info.st_mode)   ? Kind::file
                 : S_ISDIR(info.st_mode) ? Kind::directory
                 : S_ISLNK(info.st_mode) ? Kind::link
                                         : Kind::other;
    facts.bytes = static_cast<std::uint64_t>(info.st_size);
    facts.bytes_allocated = static_cast<std::uint64_t>(info.st_blocks) * 512;
    facts.links = info.st_nlink;
    facts.modified_s = info.st_mtim.tv_sec;
    facts.device = info.st_dev;
    facts.file_id = info.st_ino;
    return facts;
}

int look_in(int directory, const std::string& name, BeneathFacts& facts) {
    struct stat info {};
    if (fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return errno;
    facts = facts_of(info);
    return 0;
}

/// Looked at before it is opened, because to open a FIFO waits for its other end and to open a device may do
/// something; and after, because the name may be another file's by then, or a FIFO's, for which O_NONBLOCK does
/// not wait.
OpenedFile open_existing(const Beneath& root, const std::string& path, bool to_write, bool direct) {
    BeneathFacts facts;
    if (const int error = root.look_at(path, facts)) return {-1, error};
    if (const int error = unsuitable(facts, to_write)) return {-1, error};
    const int flags = open_flags(to_write ? Access::write : Access::read, direct);
    FileDescriptor opened(open_beneath(root, path, flags | O_NONBLOCK));
    if (opened.get() == -EAGAIN) opened = FileDescriptor(open_beneath(root, path, flags));  // leased
    if (opened.get() < 0) return {-1, -opened.get()};
    struct stat info {};
    if (fstat(opened.get(), &info) != 0) return {-1, errno};
    if (const int error = unsuitable(facts_of(info), to_write)) return {-1, error};
    if (fcntl(opened.get(), F_SETFL, flags) != 0) return {-1, errno};
    return {opened.release(), 0};
}

int rename_over(const Place& from, const Place& to) {
    return renameat(from.directory, from.name.c_str(), to.directory, to.name.c_str()) == 0 ? 0 : errno;
}

/// Nothing: the file system cannot rename without replacing.
std::optional<int> rename_anew(const Place& from, const Place& to) {
    if (renameat2(from.directory, from.name.c_str(), to.directory, to.name.c_str(), RENAME_NOREPLACE) == 0)
        return 0;
    if (errno == EINVAL || errno == ENOSYS || errno == ENOTSUP) return std::nullopt;
    return errno;
}

int rename_without_flag(const Place& from, const Place& to) {
    BeneathFacts facts;
    if (const int error = look_in(from.directory, from.name, facts)) return error;
    if (facts.kind == BeneathFacts::Kind::file &&
        linkat(from.directory, from.name.c_str(), to.directory, to.name.c_str(), 0) == 0)
        return unlinkat(from.directory, from.name.c_str(), 0) == 0 ? 0 : errno;
    // A file system without links, or a directory: not atomic against others.
    if (look_in(to.directory, to.name, facts) == 0) return EEXIST;
    return rename_over(from, to);
}

struct CloseDirectory {
    void operator()(DIR* directory) const { closedir(directory); }
};

}  // namespace

Beneath::~Beneath() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Beneath::Beneath(Beneath&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      root_(std::move(other.root_)),
      resolve_(other.resolve_) {}

Beneath& Beneath::operator=(Beneath&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    root_.swap(other.root_);
    resolve_ = other.resolve_;
    return *this;
}

int Beneath::open(const std::string& directory, Beneath& into, Resolve resolve) {
    const int opened = open_at(AT_FDCWD, directory.c_str(), O_PATH | O_DIRECTORY, 0);
    if (opened < 0) return -opened;
    Beneath root;
    root.descriptor_ = opened;
    root.resolve_ = resolve;
    into = std::move(root);
    return 0;
}

int Beneath::enter(const std::string& path, Beneath& into) const {
    const int opened = open_beneath(*this, path, O_PATH | O_DIRECTORY);
    if (opened < 0) return -opened;
    Beneath root;
    root.descriptor_ = opened;
    root.resolve_ = resolve_;
    into = std::move(root);
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
        if (old.error != ENOENT || tries == kTriesMax) return old;  // ENOENT: it was removed in between
    }
}

int Beneath::look_at(const std::string& path, BeneathFacts& facts) const {
    const Place place = place_of(*this, path);
    return place.error != 0 ? place.error : look_in(place.directory, place.name, facts);
}

int Beneath::list(const std::string& path, std::vector<DirectoryEntry>& entries) const {
    const int opened = open_beneath(*this, path, O_RDONLY | O_DIRECTORY);
    if (opened < 0) return -opened;
    const std::unique_ptr<DIR, CloseDirectory> open(fdopendir(opened));
    if (open == nullptr) {
        const int error = errno;
        ::close(opened);
        return error;
    }
    entries.clear();
    for (;;) {
        errno = 0;
        const dirent* const entry = readdir(open.get());
        if (entry == nullptr) break;
        const std::string_view name(entry->d_name);
        if (name == "." || name == "..") continue;
        DirectoryEntry out{std::string(name), entry->d_type == DT_DIR, entry->d_type == DT_LNK};
        BeneathFacts facts;
        if (entry->d_type == DT_UNKNOWN && look_in(opened, out.name, facts) == 0) {
            out.directory = facts.kind == BeneathFacts::Kind::directory;
            out.symbolic_link = facts.kind == BeneathFacts::Kind::link;
        }
        entries.push_back(std::move(out));
    }
    if (errno != 0) return errno;
    std::sort(entries.begin(), entries.end(),
              [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; });
    return 0;
}

int Beneath::make_directory(const std::string& path) const {
    const Place place = place_of(*this, path);
    if (place.error != 0) return place.error;
    return mkdirat(place.directory, place.name.c_str(), kNewDirectoryMode) == 0 ? 0 : errno;
}

int Beneath::rename(const std::string& from, const std::string& to) const {
    const Place old_place = place_of(*this, from), new_place = place_of(*this, to);
    if (old_place.error != 0) return old_place.error;
    if (new_place.error != 0) return new_place.error;
    if (const auto done = rename_anew(old_place, new_place)) return *done;
    return rename_without_flag(old_place, new_place);
}

int Beneath::set_aside(const std::string& from, const std::string& to) const {
    const Place old_place = place_of(*this, from), new_place = place_of(*this, to);
    if (old_place.error != 0) return old_place.error;
    if (new_place.error != 0) return new_place.error;
    if (const auto done = rename_anew(old_place, new_place)) return *done;
    BeneathFacts facts;
    if (look_in(new_place.directory, new_place.name, facts) == 0) return EEXIST;
    return rename_over(old_place, new_place);
}

int Beneath::replace(const std::string& from, const std::string& to) const {
    const Place old_place = place_of(*this, from), new_place = place_of(*this, to);
    if (old_place.error != 0) return old_place.error;
    if (new_place.error != 0) return new_place.error;
    BeneathFacts facts;
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
    // Some network file systems cannot sync a directory: their servers have it when the call returns.
    if (fsync(opened.get()) == 0 || errno == EINVAL || errno == ENOTSUP) return 0;
    return errno;
}

}  // namespace streamsim::storage
