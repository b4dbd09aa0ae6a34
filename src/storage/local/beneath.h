// Files below a directory that the user named, reached so that nothing leads elsewhere: no symbolic link below
// that directory is followed, no path leaves it, and no file with a second name is written. Links in the path
// of the directory itself are followed: that path is the user's.
//
// On Linux the directory is held open. Each path below is resolved from its descriptor, by openat2(2) with
// RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS, or component by component with O_NOFOLLOW where the kernel or a
// seccomp filter refuses that call. Names are made, removed and renamed in a descriptor of their parent that
// was reached so. Other systems look at each component before the call: not atomic against others.
//
// Paths are relative to the directory, with '/' between components; "." is the directory itself. A component
// ".." is refused (EXDEV), a symbolic link on the way too (ELOOP). Every call blocks and may be made by any
// number of threads at once. Errors are errno values; 0 is success. Inside storage/ only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/local/local_file.h"
#include "streamsim/byte_store.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

/// What has a name, without following it.
struct BeneathFacts {
    enum class Kind { file, directory, link, other };

    Kind kind = Kind::other;
    std::uint64_t bytes = 0;
    std::uint64_t bytes_allocated = 0;  // on the storage, as far as the file system says
    std::uint64_t links = 0;            // names of a file
    std::int64_t modified_s = 0;        // seconds since 1970
    std::uint64_t device = 0;           // with `file_id`: which file it is
    std::uint64_t file_id = 0;
};

class Beneath {
public:
    enum class Resolve { at_once, by_components };  // the second is for tests: what an old kernel gets

    /// Holds nothing: every call fails with EBADF.
    Beneath() = default;
    ~Beneath();
    Beneath(Beneath&& other) noexcept;
    Beneath& operator=(Beneath&& other) noexcept;

    /// `directory` as for open(2); links in it are followed.
    static int open(const std::string& directory, Beneath& into, Resolve resolve = Resolve::at_once);

    /// A directory below as a root of its own. It stays that directory, whatever its name becomes.
    int enter(const std::string& path, Beneath& into) const;

    /// Opens a regular file, nothing else (ELOOP: a link; EISDIR; EOPNOTSUPP: a device, FIFO or socket). For
    /// reading it may have several names; for writing one (EMLINK). create: a new file (O_EXCL), or an existing
    /// one as for writing; create_new: a new file only. EINVAL: `direct` is refused there; a new file may have
    /// been made.
    OpenedFile open_file(const std::string& path, Access access, bool direct) const;

    int look_at(const std::string& path, BeneathFacts& facts) const;
    /// Without "." and "..", sorted by name. `directory` of a link is always false.
    int list(const std::string& path, std::vector<DirectoryEntry>& entries) const;
    /// EEXIST where anything has the name. The parent has to be there.
    int make_directory(const std::string& path) const;
    /// Replaces nothing (EEXIST).
    int rename(const std::string& from, const std::string& to) const;
    /// As rename(), to a name that nobody else uses. Also where the file system cannot rename without
    /// replacing: what has the name `from` by then is moved, whatever it is, and nothing else is touched.
    int set_aside(const std::string& from, const std::string& to) const;
    /// Replaces a file of one name (EMLINK) at once, or is rename() where nothing has the name.
    int replace(const std::string& from, const std::string& to) const;
    int remove_file(const std::string& path) const;  // or a link itself, never a directory
    int remove_directory(const std::string& path) const;
    /// Makes the names in a directory durable; 0 also where the file system cannot.
    int sync_directory(const std::string& path) const;

    /// For openat2(2) by a ring; -1 on systems without descriptors of directories. Owned by this object.
    int descriptor() const { return descriptor_; }
    Resolve resolve() const { return resolve_; }

    /// The part of `path` below `directory`, both as text; an empty view where it is not below.
    static std::string_view below(std::string_view directory, std::string_view path);

private:
    int descriptor_ = -1;
    std::string root_;  // its path, on systems without descriptors of directories
    Resolve resolve_ = Resolve::at_once;
};

/// "a symbolic link", "a file with 2 names (hard links)", "a directory": to be told to a user.
std::string describe(const BeneathFacts& facts);

/// Why what has these facts is not opened as a file: an errno of Beneath::open_file; 0: it may be.
int unsuitable(const BeneathFacts& facts, bool to_write);

}  // namespace streamsim::storage
