// What a pool's thread does with a local file, by the calls of this system: one file for each. Every call
// blocks. Errors are errno values. Inside storage/ only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace streamsim {

/// What a system says about direct reads of a file.
struct DirectAnswer {
    bool told = false;
    std::uint32_t alignment = 0;  // of offsets, sizes and addresses; 0: not possible. When told.
};

struct OpenedFile {
    int file = -1;  // small and dense, as descriptors are; negative: see `error`
    int error = 0;
};

/// For reading. EINVAL: `direct` is refused there.
OpenedFile open_local(const char* path, bool direct);
/// Of a file that was opened to be read directly.
DirectAnswer direct_answer(int file);

struct ReadPiece {
    std::size_t bytes = 0;  // 0 without an error: the file ends before `offset`
    int error = 0;
};

/// Any number of threads at once, also of one file.
ReadPiece read_local(int file, std::uint64_t offset, std::span<std::byte> into);
/// This range will be read soon, by way of the page cache. May do nothing.
void read_ahead_local(int file, std::uint64_t offset, std::uint64_t bytes);
void close_local(int file);

/// For this process and what it loads, unless it is there. REQUIRES: no other thread runs yet.
void set_environment(const char* name, const std::string& value);

}  // namespace streamsim
