// ByteStore: the blocking side of a storage backend, off the loop and never during play. Indexing and `prepare`
// reach files through it, so that a new backend serves both. Paths are the backend's own (local: as for
// open(2)).
//
// Threading: several threads may use a ByteStore at once, and one thread at a time a source or a sink. Errors:
// an environment error that names the path and the reason; bad input for a name of neither a file nor a
// directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
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

    bool is_regular() const { return !directory && !symbolic_link && !other; }
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

class ByteSource {
public:
    virtual ~ByteSource() = default;
    /// Returns fewer bytes than `into` holds only at the end of the file.
    virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) = 0;
    /// A part of the file to read, and the number of bytes read.
    struct Piece {
        std::uint64_t offset = 0;
        std::span<std::byte> into;
        std::size_t got = 0;
    };
    /// Reads each piece as read_at() does; in one round trip if the storage can.
    virtual Result<void> read_each(std::span<Piece> pieces) {
        for (Piece& piece : pieces) {
            const auto got = read_at(piece.offset, piece.into);
            if (!got) return got.error();
            piece.got = *got;
        }
        return {};
    }
    virtual Result<std::uint64_t> size() = 0;
    /// Bytes in holes from `offset` on, which were never written and take no space. 0: the file system does not
    /// report holes.
    virtual Result<std::uint64_t> hole_bytes(std::uint64_t /*offset*/) { return std::uint64_t{0}; }
};

class ByteSink {
public:
    virtual ~ByteSink() = default;  // without close(), written data may be lost
    virtual Result<void> write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
    /// Puts the file on stable storage and drops it from the page cache, if there is one.
    virtual Result<void> close() = 0;
};

class ByteStore {
public:
    virtual ~ByteStore() = default;

    /// The entries of a directory without "." and "..", sorted by name, byte by byte.
    virtual Result<std::vector<DirectoryEntry>> list(const std::string& directory) = 0;
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
    virtual Result<bool> set_aside(const std::string& /*from*/, const std::string& /*to*/) { return false; }
    /// Removes a file, an empty directory, or a symbolic link itself.
    virtual Result<void> remove(const std::string& path) = 0;
    /// Removes an empty directory and nothing else.
    virtual Result<void> remove_directory(const std::string& path) {
        const auto info = stat(path);
        if (!info) return info.error();
        if (info->has_value() && (!(*info)->directory || (*info)->symbolic_link))
            return environment_error(path + ": not a directory, so it was not removed");
        return remove(path);
    }
    /// Bytes that an ordinary user may still write below `path`.
    virtual Result<std::uint64_t> free_bytes(const std::string& path) = 0;
    /// The capacity of the file system of `path`, in bytes, for an ordinary user. Errors: environment, also
    /// when the capacity is unknown.
    virtual Result<std::uint64_t> total_bytes(const std::string& path) {
        return environment_error(path + ": the size of its file system is not available");
    }
    /// Makes one attempt to lock a lock file of streamsim, and never waits; a missing lock file is created.
    /// Other processes that are refused read `note`, which names the holder: one line, at most
    /// kLockNoteBytesMax bytes. A shared lock needs no permission to write; without it the note is not kept.
    /// Unsupported: storage whose locks other computers may not see (network file systems), or that has none,
    /// and a shared lock on a missing file that cannot be created. Errors: environment; bad input for a file
    /// that is no lock file.
    virtual Result<LockAttempt> try_lock(const std::string& /*path*/,
                                         LockMode /*mode*/,
                                         const std::string& /*note*/) {
        return LockAttempt{};
    }
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

/// The default of ByteStore::beneath(): checks each component of a path before it is used.
class CheckedByteStore final : public ByteStore {
public:
    /// REQUIRES: `inner` outlives this store.
    CheckedByteStore(ByteStore& inner, std::string directory)
        : inner_(inner), directory_(std::move(directory)) {}

    Result<std::vector<DirectoryEntry>> list(const std::string& directory) override {
        if (auto safe = check(directory, true); !safe) return safe.error();
        auto entries = inner_.list(directory);
        if (!entries) return entries.error();
        for (DirectoryEntry& entry : *entries) entry.directory = entry.directory && !entry.symbolic_link;
        return entries;
    }
    Result<std::optional<FileInfo>> stat(const std::string& path) override {
        if (auto safe = check(path, false); !safe) return safe.error();
        auto info = inner_.stat(path);
        if (info && info->has_value() && (*info)->symbolic_link && path != directory_) {
            **info = FileInfo{};
            (*info)->symbolic_link = true;
        }
        return info;
    }
    Result<std::unique_ptr<ByteSource>> open(const std::string& path) override {
        if (auto safe = check(path, true); !safe) return safe.error();
        return inner_.open(path);
    }
    Result<std::unique_ptr<ByteSink>> create(const std::string& path) override {
        if (auto safe = check(path, false); !safe) return safe.error();
        return inner_.create(path);
    }
    Result<void> make_directories(const std::string& path) override {
        if (auto safe = check(path, true); !safe) return safe;
        return inner_.make_directories(path);
    }
    Result<void> rename(const std::string& from, const std::string& to) override {
        if (auto safe = check(from, false); !safe) return safe;
        if (auto safe = check(to, false); !safe) return safe;
        return inner_.rename(from, to);
    }
    Result<bool> set_aside(const std::string& from, const std::string& to) override {
        if (auto safe = check(from, false); !safe) return safe.error();
        return inner_.set_aside(from, to);
    }
    Result<void> remove(const std::string& path) override {
        if (auto safe = check(path, false); !safe) return safe;
        return inner_.remove(path);
    }
    Result<std::uint64_t> free_bytes(const std::string& path) override { return inner_.free_bytes(path); }
    Result<std::uint64_t> total_bytes(const std::string& path) override { return inner_.total_bytes(path); }
    Result<void> evict(const std::string& path) override {
        if (auto safe = check(path, true); !safe) return safe;
        return inner_.evict(path);
    }
    /// The store of a directory below does not check the path to that directory again.
    Result<std::unique_ptr<ByteStore>> beneath(const std::string& directory) override {
        if (auto safe = check(directory, true); !safe) return safe.error();
        return std::unique_ptr<ByteStore>(std::make_unique<CheckedByteStore>(inner_, directory));
    }

private:
    /// Checks that no component below the directory is a link; the last one only when `last_too`.
    Result<void> check(const std::string& path, bool last_too) {
        if (path == directory_) return {};
        if (!path.starts_with(directory_) || (!directory_.ends_with('/') && path[directory_.size()] != '/') ||
            (path + '/').find("/../") != std::string::npos)
            return environment_error(path + ": is not below " + directory_);
        for (std::size_t slash = path.find('/', directory_.size() + 1);; slash = path.find('/', slash + 1)) {
            if (slash == std::string::npos && !last_too) return {};
            const auto info = inner_.stat(path.substr(0, slash));
            if (!info) return info.error();
            if (!info->has_value()) return {};
            if ((*info)->symbolic_link)
                return environment_error(path.substr(0, slash) +
                                         ": found a symbolic link where streamsim made a file or directory; "
                                         "it is not followed");
            if (slash == std::string::npos) return {};
        }
    }

    ByteStore& inner_;
    std::string directory_;
};

inline Result<std::unique_ptr<ByteStore>> ByteStore::beneath(const std::string& directory) {
    return std::unique_ptr<ByteStore>(std::make_unique<CheckedByteStore>(*this, directory));
}

}  // namespace streamsim
