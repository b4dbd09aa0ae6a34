// What a pool's thread does with a local file, by the calls of this system: one file for each. Every call
// blocks. Errors are errno values. Inside storage/ only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "streamsim/storage.h"

namespace streamsim::storage {

/// What a system says about direct reads of a file.
struct DirectAnswer {
    bool told = false;
    std::uint32_t alignment = 0;  // of offsets, sizes and addresses; 0: not possible. When told.
};

struct OpenedFile {
    int file = -1;  // small and dense, as descriptors are; negative: see `error`
    int error = 0;
};

/// EINVAL: `direct` is refused there; a file that was to be made may have been, and opened_before() is how to
/// open it then.
OpenedFile open_local(const char* path, Access access, bool direct);
/// How to open a file again that has just been opened with `access`.
inline Access opened_before(Access access) {
    return access == Access::create_new ? Access::create : access;
}
/// Of a file that was opened to be read or written directly.
DirectAnswer direct_answer(int file);

struct LocalPiece {
    std::size_t bytes = 0;  // read 0 without an error: the file ends before `offset`
    int error = 0;
};

/// Any number of threads at once, also of one file.
LocalPiece read_local(int file, std::uint64_t offset, std::span<std::byte> into);
LocalPiece write_local(int file, std::uint64_t offset, std::span<const std::byte> from);
/// Data and metadata, by fsync(2), with which ext4, XFS and Btrfs keep the name of a new file as well. An
/// errno.
int sync_local(int file);

/// How many of `bytes`, of which fewer than were asked for were written, count: the rest of a direct write has
/// to begin at a multiple of `alignment` again, or it would fail for that alone. 0: it would go on for ever.
inline std::size_t written_for_good(std::size_t bytes, bool direct, std::uint32_t alignment) {
    return direct ? bytes / alignment * alignment : bytes;
}

/// This range will be read soon, by way of the page cache. May do nothing.
void read_ahead_local(int file, std::uint64_t offset, std::uint64_t bytes);
void close_local(int file);

/// Fills in what comes out of `op`, stamps excepted.
void perform_local(PathOp& op);

/// For this process and what it loads, unless it is there. REQUIRES: no other thread runs yet.
void set_environment(const char* name, const std::string& value);

}  // namespace streamsim::storage
