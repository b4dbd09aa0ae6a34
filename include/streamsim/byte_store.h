// ByteStore: the blocking side of a storage backend, off the loop and never during play. Indexing and `prepare`
// reach files through it, so that a new backend serves both. Paths are the backend's own (local: as for
// open(2)).
//
// Threading: several threads may use a ByteStore at once, and one thread at a time a source or a sink. Errors:
// an environment error that names the path and the reason; bad input for a name of neither a file nor a
// directory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "streamsim/file_lock.h"

namespace streamsim {

struct FileInfo {
    bool directory = false;  // a directory, or a symbolic link to one
    std::uint64_t bytes = 0;
    std::int64_t modified_s = 0;  // seconds since 1970
    bool symbolic_link = false;   // the other members describe its target; all zero without a target
    std::uint64_t links = 0;      // hard links of a file; 0: unknown
    std::uint64_t file_id = 0;    // unique within its file system; 0: unknown
    bool other = false;           // a device, FIFO or socket
    std::int64_t changed_s = 0;   // of contents or attributes (ctime), which no copy keeps; 0: unknown

    bool is_regular() const { return !directory && !symbolic_link && !other; }
    /// The last time at which the storage may have written the contents.
    std::int64_t touched_s() const { return std::max(modified_s, changed_s); }
};

/// True when two values of FileInfo::file_id may belong to one file: an unknown id may be any.
inline bool may_be_same_file(std::uint64_t a, std::uint64_t b) {
    return a == 0 || b == 0 || a == b;
}

/// True when two calls of stat() saw the same unchanged regular file, as far as ids are known.
inline bool is_unchanged(const FileInfo& a, const FileInfo& b) {
    return may_be_same_file(a.file_id, b.file_id) && a.is_regular() && b.is_regular() && a.bytes == b.bytes &&
           a.modified_s == b.modified_s && a.links == b.links;
}

struct DirectoryEntry {
    std::string name;
    bool directory = false;  // a directory, or a symbolic link to one
    bool symbolic_link = false;

    /// The order of ByteStore::list().
    bool operator<(const DirectoryEntry& other) const { return name < other.name; }
};

/// The entries of a directory while it is read, their names packed one behind the other: several times faster
/// than a string for each, of which the list is made at the end.
class DirectoryNames {
public:
    void add(std::string_view name, bool directory, bool symbolic_link);
    std::size_t count() const { return entries_.size(); }
    /// In the order in which they were added.
    std::vector<DirectoryEntry> list() const;
    /// In the order of ByteStore::list().
    std::vector<DirectoryEntry> sorted() const;

private:
    struct Entry {
        std::size_t begin = 0;  // in names_
        std::uint32_t bytes = 0;
        bool directory = false;
        bool symbolic_link = false;
    };
    struct Key;  // for sorting

    std::string_view name(const Entry& entry) const {
        return std::string_view(names_).substr(entry.begin, entry.bytes);
    }
    DirectoryEntry make(const Entry& entry) const {
        return {std::string(name(entry)), entry.directory, entry.symbolic_link};
    }
    std::size_t common_beginning() const;
    static void sort_by_bytes(std::vector<Key>& keys);

    std::string names_;
    std::vector<Entry> entries_;
};

class ByteSource {
public:
    virtual ~ByteSource();
    /// Returns fewer bytes than `into` holds only at the end of the file.
    virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) = 0;
    /// A part of the file to read, and the number of bytes read.
    struct Piece {
        std::uint64_t offset = 0;
        std::span<std::byte> into;
        std::size_t got = 0;
    };
    /// Reads each piece as read_at() does; in one round trip if the storage can.
    virtual Result<void> read_each(std::span<Piece> pieces);
    virtual Result<std::uint64_t> size() = 0;
    /// Bytes in holes from `offset` on, which were never written and take no space. 0: the file system does not
    /// report holes.
    virtual Result<std::uint64_t> hole_bytes(std::uint64_t offset);
};

class ByteSink {
public:
    virtual ~ByteSink();  // without close(), written data may be lost
    /// The error may be that of an earlier write: a store may still be writing when this returns.
    virtual Result<void> write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
    /// Puts the file on stable storage and drops it from the page cache, if there is one.
    virtual Result<void> close() = 0;
};

class ByteStore {
public:
    virtual ~ByteStore();

    /// The entries of a directory without "." and "..", sorted by name, byte by byte.
    virtual Result<std::vector<DirectoryEntry>> list(const std::string& directory) = 0;
    /// At least `count` of these entries, in no order, or all where there are fewer. A store that cannot stop
    /// lists all.
    virtual Result<std::vector<DirectoryEntry>> list_some(const std::string& directory, std::size_t count);
    /// None when there is no such file.
    virtual Result<std::optional<FileInfo>> stat(const std::string& path) = 0;
    virtual Result<std::unique_ptr<ByteSource>> open(const std::string& path) = 0;
    /// Creates a new file. An existing name, also of a symbolic link, is an error: no existing file is written.
    /// REQUIRES: the directory exists.
    virtual Result<std::unique_ptr<ByteSink>> create(const std::string& path) = 0;
    virtual Result<void> make_directories(const std::string& path) = 0;
    /// Atomic; replaces nothing (an existing target is an error). The directory entry is durable afterwards.
    virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
    /// Renames `from` to a name that no other process uses, so that the object can be checked again and then
    /// removed without a race (local files on Linux). Not durable. False: this store cannot, and does nothing.
    virtual Result<bool> set_aside(const std::string& from, const std::string& to);
    /// Removes a file, an empty directory, or a symbolic link itself.
    virtual Result<void> remove(const std::string& path) = 0;
    /// Removes an empty directory and nothing else.
    virtual Result<void> remove_directory(const std::string& path);
    /// Bytes that an ordinary user may still write below `path`.
    virtual Result<std::uint64_t> free_bytes(const std::string& path) = 0;
    /// The capacity of the file system of `path`, in bytes, for an ordinary user. Errors: environment, also
    /// when the capacity is unknown.
    virtual Result<std::uint64_t> total_bytes(const std::string& path);
    /// Makes one attempt to lock a lock file of streamsim, and never waits; a missing lock file is created.
    /// Other processes that are refused read `note`, which names the holder: one line, at most
    /// kLockNoteBytesMax bytes. A shared lock needs no permission to write; without it the note is not kept.
    /// Unsupported: storage whose locks other computers may not see (network file systems), or that has none,
    /// and a shared lock on a missing file that cannot be created. Errors: environment; bad input for a file
    /// that is no lock file.
    virtual Result<LockAttempt> try_lock(const std::string& path, LockMode mode, const std::string& note);
    /// Drops the file from this client's page cache, if there is one.
    virtual Result<void> evict(const std::string& path) = 0;

    /// Returns this store confined to `directory`, which exists and may be reached through symbolic links. No
    /// link below it is followed: stat() reports a link as a link (the rest zeroes), list() never reports one
    /// as a directory, and every other call returns an error that names the link. Paths are whole ones, as for
    /// this store, and name `directory` or something below it.
    ///
    /// Local files on Linux: the returned store holds `directory` open and stays in it even if it is renamed.
    /// Elsewhere (NFS, SMB, other systems) each component below is checked before each change; a component that
    /// another client exchanges in that moment goes unnoticed. REQUIRES: this store outlives the returned one.
    virtual Result<std::unique_ptr<ByteStore>> beneath(const std::string& directory);
};

}  // namespace streamsim
