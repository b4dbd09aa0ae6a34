// Blocking calls for local files, for the threads of a pool; each system implements them. Errors are errno
// values. Inside storage/ only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "streamsim/storage.h"

namespace streamsim::storage {

/// The system's answer about direct reads of a file.
struct DirectAnswer {
    bool told = false;
    std::uint32_t alignment = 0;  // when told: for offsets, sizes and addresses; 0: direct I/O is not possible
    bool in_memory = false;       // the file system is memory of this computer
};

struct OpenedFile {
    int file = -1;  // small, as descriptors are; negative: see `error`
    int error = 0;
};

/// EINVAL: the file system refuses `direct`. It may have created a new file all the same: reopen it with
/// opened_before().
OpenedFile open_local(const char* path, Access access, bool direct);
/// The access with which to reopen a file that has just been opened with `access`.
inline Access opened_before(Access access) {
    return access == Access::create_new ? Access::create : access;
}
/// REQUIRES: the file was opened for direct I/O.
DirectAnswer direct_answer(int file);

struct LocalPiece {
    std::size_t bytes = 0;  // 0 without an error: a read found the end of the file
    int error = 0;
};

/// Thread-safe, also for one file.
LocalPiece read_local(int file, std::uint64_t offset, std::span<std::byte> into);
LocalPiece write_local(int file, std::uint64_t offset, std::span<const std::byte> from);
/// Repeats read_local() or write_local() for the rest, up to an error or the end of the file.
inline LocalPiece read_all_local(int file, std::uint64_t offset, std::span<std::byte> into) {
    LocalPiece all;
    for (LocalPiece got{1, 0}; got.bytes > 0 && all.bytes < into.size(); all.bytes += got.bytes) {
        got = read_local(file, offset + all.bytes, into.subspan(all.bytes));
        all.error = got.error;
    }
    return all;
}
inline LocalPiece write_all_local(int file, std::uint64_t offset, std::span<const std::byte> from) {
    LocalPiece all;
    while (all.bytes < from.size() && all.error == 0) {
        const LocalPiece put = write_local(file, offset + all.bytes, from.subspan(all.bytes));
        all.bytes += put.bytes;
        all.error = put.error;
    }
    return all;
}
/// Syncs data and metadata by fsync(2), which on ext4, XFS and Btrfs includes the name of a new file. Returns
/// zero or an errno.
int sync_local(int file);

/// The part of a short write of `bytes` that counts as written: the rest of a direct write has to begin at a
/// multiple of `alignment`, or it would fail for that alone. 0: repeating the write would never end.
inline std::size_t written_for_good(std::size_t bytes, bool direct, std::uint32_t alignment) {
    return direct ? bytes / alignment * alignment : bytes;
}

/// Announces a read of this range through the page cache. May do nothing.
void read_ahead_local(int file, std::uint64_t offset, std::uint64_t bytes);
void close_local(int file);

/// Performs `op` and fills in its outputs, but for the stamps. REQUIRES: they are cleared.
void perform_local(PathOp& op);

/// Sets an environment variable of this process unless it is set. REQUIRES: no other thread runs yet.
void set_environment(const char* name, const std::string& value);

}  // namespace streamsim::storage
