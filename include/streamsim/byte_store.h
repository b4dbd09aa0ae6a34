// ByteStore: the blocking side of a storage backend, off the loop and never during play. Indexing and `prepare`
// reach files by it, so that a new backend brings both. Paths are the backend's own (local: as given to
// open(2)).
//
// Threading: a ByteStore may be used by several threads at once; a source or a sink by one at a time. Errors:
// an environment error that names the path and the reason; bad input for what is neither a file nor a
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
    bool directory = false;  // it is one, or a symbolic link to one
    std::uint64_t bytes = 0;
    std::int64_t modified_s = 0;  // seconds since 1970
    bool symbolic_link = false;   // the rest is of what it names; of a link that names nothing: zeroes
    std::uint64_t links = 0;      // names of a file; 0: not known
    std::uint64_t file_id = 0;    // which file or directory it is on its file system; 0: not known
    bool other = false;           // neither of them nor a link: a device, FIFO or socket

    bool is_regular() const { return !directory && !symbolic_link && !other; }
};

/// Whether two of FileInfo::file_id may be of one file: one that is not known may be any.
inline bool may_be_same_file(std::uint64_t a, std::uint64_t b) {
    return a == 0 || b == 0 || a == b;
}

/// Whether two looks saw the same file, which nobody has changed in between, as far as ids are known.
inline bool is_unchanged(const FileInfo& a, const FileInfo& b) {
    return may_be_same_file(a.file_id, b.file_id) && a.is_regular() && b.is_regular() && a.bytes == b.bytes &&
           a.modified_s == b.modified_s && a.links == b.links;
}

struct DirectoryEntry {
    std::string name;
    bool directory = false;  // it is one, or a symbolic link to one
    bool symbolic_link = false;
};

class ByteSource {
public:
    virtual ~ByteSource() = default;
    /// Fewer bytes than asked for only at the end of the file.
    virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) = 0;
    /// A part of the file that is wanted, and how many bytes of it came.
    struct Piece {
        std::uint64_t offset = 0;
        std::span<std::byte> into;
        std::size_t got = 0;
    };
    /// read_at() of each, on storage that can in one round trip.
    virtual Result<void> read_each(std::span<Piece> pieces) {
        for (Piece& piece : pieces) {
            const auto got = read_at(piece.offset, piece.into);
            if (!got) return got.error();
            piece.got = *got;
        }
        return {};
    }
    virtual Result<std::uint64_t> size() = 0;
    /// Bytes from `offset` on that nobody ever wrote and no storage holds. 0 where the file system does not
    /// say.
    virtual Result<std::uint64_t> hole_bytes(std::uint64_t /*offset*/) { return std::uint64_t{0}; }
};

class ByteSink {
public:
    virtual ~ByteSink() = default;  // without close(): what was written may be lost
    virtual Result<void> write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
    /// On stable storage and, where there is a page cache, no longer in it.
    virtual Result<void> close() = 0;
};

class ByteStore {
public:
    virtual ~ByteStore() = default;

    /// The entries of a directory without "." and "..", sorted by name, byte by byte.
    virtual Result<std::vector<DirectoryEntry>> list(const std::string& directory) = 0;
    /// Nothing when there is no such file.
    virtual Result<std::optional<FileInfo>> stat(const std::string& path) = 0;
    virtual Result<std::unique_ptr<ByteSource>> open(const std::string& path) = 0;
    /// A new file. An error where anything has the name already, a symbolic link too: nothing that is there is
    /// written. REQUIRES: the directory exists.
    virtual Result<std::unique_ptr<ByteSink>> create(const std::string& path) = 0;
    virtual Result<void> make_directories(const std::string& path) = 0;
    /// Atomic; replaces nothing (an existing target is an error). The directory entry is durable afterwards.
    virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
    /// Renames what has the name `from`, for as long as it is looked at again, to a name that nobody else uses:
    /// nothing can come between that look and its removal (local files on Linux). Not durable. False: this
    /// store cannot; nothing is done.
    virtual Result<bool> set_aside(const std::string& /*from*/, const std::string& /*to*/) { return false; }
    /// A file, an empty directory, or a symbolic link itself.
    virtual Result<void> remove(const std::string& path) = 0;
    /// An empty directory and nothing else.
    virtual Result<void> remove_directory(const std::string& path) {
        const auto info = stat(path);
        if (!info) return info.error();
        if (info->has_value() && (!(*info)->directory || (*info)->symbolic_link))
            return environment_error(path + ": is not a directory: it is left alone");
        return remove(path);
    }
    /// Bytes that an ordinary user may still write below `path`.
    virtual Result<std::uint64_t> free_bytes(const std::string& path) = 0;
    /// Bytes that the file system of `path` holds when it is full, for an ordinary user. Errors: environment,
    /// also where it cannot be known.
    virtual Result<std::uint64_t> total_bytes(const std::string& path) {
        return environment_error(path + ": how large its file system is cannot be known here");
    }
    /// One attempt to lock a file of ours that is made for nothing else; it is made where it is not there.
    /// Never waits. `note` says who holds the lock to those who are refused: one line, at most
    /// kLockNoteBytesMax bytes. A shared lock needs no permission to write; the note of such a holder is not
    /// kept. Unsupported: on storage whose locks other computers may not see (network file systems), or which
    /// has none; and where a shared lock is wanted of a file that is not there and cannot be made. Errors:
    /// environment; bad input for a file of others.
    virtual Result<LockAttempt> try_lock(const std::string& /*path*/,
                                         LockMode /*mode*/,
                                         const std::string& /*note*/) {
        return LockAttempt{};
    }
    /// Drops the file from this client's page cache, where there is one.
    virtual Result<void> evict(const std::string& path) = 0;

    /// This store confined to `directory`, which has to be there and may be reached through symbolic links.
    /// Below it none is followed: stat() tells a link as a link (the rest zeroes), list() never calls one a
    /// directory, and all else is an error that names it. Paths are whole ones, as for this store, and have to
    /// be below `directory` or `directory` itself.
    ///
    /// Local files on Linux: `directory` is held open, so that the store returned stays in the directory that
    /// it was made for, whatever its name becomes. Elsewhere (NFS, SMB, other systems) names are all there is:
    /// each component below is looked at before each change, and one that another client exchanges in that
    /// moment is not seen. REQUIRES: this store outlives the one returned.
    virtual Result<std::unique_ptr<ByteStore>> beneath(const std::string& directory);
};

/// The default of ByteStore::beneath(): checks each component of a path before it is used.
class CheckedByteStore final : public ByteStore {
public:
    /// REQUIRES: `inner` outlives it.
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
    /// What was checked once is not looked at again by the store of a directory below.
    Result<std::unique_ptr<ByteStore>> beneath(const std::string& directory) override {
        if (auto safe = check(directory, true); !safe) return safe.error();
        return std::unique_ptr<ByteStore>(std::make_unique<CheckedByteStore>(inner_, directory));
    }

private:
    /// No component below the directory is a link; the last one is looked at when `last_too`.
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
                                         ": found a symbolic link, expected what streamsim made: nothing "
                                         "is read or written through it");
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
