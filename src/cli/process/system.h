// The functions of the operating system that the command line needs.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace streamsim::cli {

/// The command line in UTF-8, with which `argv` came. From here on standard output takes bytes as they are, the
/// descriptors 0 to 2 are open, and a reader that goes away is an error of the writer and no signal. Once,
/// first of all.
std::vector<std::string> begin_program(int argc, const char* const* argv);

/// False where the process was started without it; writing to it fails.
bool standard_output_is_open();

/// Returns the number of descriptors that this process may still open, `most` at most. Raises its own limit as
/// far as it may.
std::size_t free_descriptors(std::size_t most);

/// Before threads begin. All of them take their memory from one heap: with the many of the GNU C library, what
/// one thread has freed stays beside what others need, and a long run grows. Threads that compute do better
/// with their own.
void use_one_heap();

/// Opens a file for writing and empties it; with `is_new` it is an error (EEXIST) that the file exists. Null:
/// errno says why.
std::FILE* open_output(const std::string& path, bool is_new);

/// Opens a descriptor of this process for writing once more; what it has written stays. Null: errno says why.
std::FILE* open_descriptor(int descriptor);

/// Opens a new file that only its owner may read. Null: errno says why.
std::FILE* open_secret(const std::string& path);

/// Writes the data of a file through to the disk. Returns an errno; 0: done.
int to_disk(std::FILE* file);

/// Gives a file the name `path` where nothing has that name. Returns an errno; 0: done; EEXIST: something has
/// it.
int name_new(const std::string& temporary, const std::string& path);

/// Gives a file the name `path`; the file that has it is replaced. Returns an errno; 0: done.
int replace_file(const std::string& temporary, const std::string& path);

/// Tells whether a name still means the same unchanged file; all members are 0 where there is none.
struct FileIdentity {
    bool exists = false;
    std::uint64_t device = 0, number = 0, bytes = 0;
    std::int64_t written_ns = 0;
    bool operator==(const FileIdentity&) const = default;
};
FileIdentity identity_of(const std::string& path);

}  // namespace streamsim::cli
