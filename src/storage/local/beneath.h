// Files below a directory that the user named, reached so that no path leads elsewhere: no symbolic link below
// that directory is followed, no path leaves it, and no file with a second name is written. Links in the path
// of the directory itself are followed: the user typed that path.
//
// On Linux the directory is held open. Each path below is resolved from its descriptor, by openat2(2) with
// RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS, or component by component with O_NOFOLLOW if the kernel or a seccomp
// filter refuses that call. Names are created, removed and renamed relative to a descriptor of their parent.
// Other systems check each component before the call: not atomic against other processes.
//
// Paths are relative to the directory, with '/' between components; "." is the directory itself. A component
// ".." is refused (EXDEV), and so is a symbolic link on the way (ELOOP). Every call blocks and is thread-safe.
// Errors are errno values; 0 is success. Inside storage/ only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/file_descriptor.h"
#include "storage/local/local_file.h"
#include "streamsim/byte_store.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

class Beneath {
public:
    enum class Resolve { at_once, by_components };  // by_components: as on old kernels, for tests

    /// Without a directory: every call fails with EBADF.
    Beneath() = default;

    /// `directory` as for open(2); links in it are followed.
    static int open(const std::string& directory, Beneath& into, Resolve resolve = Resolve::at_once);

    /// Makes a directory below the root of `into`, which stays that directory even if it is renamed.
    int enter(const std::string& path, Beneath& into) const;

    /// Opens a regular file, nothing else (ELOOP: a link; EISDIR; EOPNOTSUPP: a device, FIFO or socket). A file
    /// to be written must not have a second name (EMLINK). create: a new file (O_EXCL), or an existing one as
    /// for writing; create_new: a new file only. EINVAL: the file system refuses `direct`, but may have created
    /// a file.
    OpenedFile open_file(const std::string& path, Access access, bool direct) const;

    /// The object that has a name; links are not followed, and the other members of a link are zero.
    int look_at(const std::string& path, FileInfo& facts) const;
    /// Lists without "." and "..", sorted by name. `directory` of a link is always false.
    int list(const std::string& path, std::vector<DirectoryEntry>& entries) const;
    /// EEXIST if the name exists. REQUIRES: the parent exists.
    int make_directory(const std::string& path) const;
    /// Never replaces (EEXIST).
    int rename(const std::string& from, const std::string& to) const;
    /// As rename(), to a name that no other process uses. Works also on a file system that cannot rename
    /// without replacing: the object that has the name `from` at that moment is moved, and nothing else is
    /// changed.
    int set_aside(const std::string& from, const std::string& to) const;
    /// Replaces a file without a second name (EMLINK) atomically; as rename() if the new name does not exist.
    int replace(const std::string& from, const std::string& to) const;
    int remove(const std::string& path) const;       // a file, a link itself, or an empty directory
    int remove_file(const std::string& path) const;  // a file or a link itself, never a directory
    int remove_directory(const std::string& path) const;
    /// Makes the names in a directory durable; returns 0 also if the file system cannot.
    int sync_directory(const std::string& path) const;

    /// The directory for openat2(2) by a ring; -1 on systems without directory descriptors. Owned by this
    /// object.
    int descriptor() const { return descriptor_.get(); }
    Resolve resolve() const { return resolve_; }

    /// The part of `path` below `directory`, by text only; empty when it is not below.
    static std::string_view below(std::string_view directory, std::string_view path);

private:
    FileDescriptor descriptor_;
    std::string root_;  // the path of the directory, on systems without directory descriptors
    Resolve resolve_ = Resolve::at_once;
};

/// "a symbolic link", "a file with 2 names (hard links)", "a directory": for messages.
std::string describe(const FileInfo& facts);

/// The errno with which Beneath::open_file refuses such an object; 0: it does not.
int unsuitable(const FileInfo& facts, bool to_write);

}  // namespace streamsim::storage
