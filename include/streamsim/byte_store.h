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
#include <vector>

#include "base/result.h"
#include "streamsim/file_lock.h"

namespace streamsim {

struct FileInfo {
    bool directory = false;  // it is one, or a symbolic link to one
    std::uint64_t bytes = 0;
    std::int64_t modified_s = 0;  // seconds since 1970
    bool symbolic_link = false;   // the rest is of what it names; of a link that names nothing: zeroes
};

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
    virtual Result<std::uint64_t> size() = 0;
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
    /// A new file, or an old one emptied. REQUIRES: the directory exists.
    virtual Result<std::unique_ptr<ByteSink>> create(const std::string& path) = 0;
    virtual Result<void> make_directories(const std::string& path) = 0;
    /// Atomic; replaces nothing (an existing target is an error). The directory entry is durable afterwards.
    virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
    /// A file, an empty directory, or a symbolic link itself.
    virtual Result<void> remove(const std::string& path) = 0;
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
};

}  // namespace streamsim
