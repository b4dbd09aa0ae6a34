// The options that the two local backends (io_uring, libuv's pool) share, and their policy of direct I/O.
//
// Direct I/O. The file system may refuse O_DIRECT at the open (EINVAL), accept it and use the page cache all
// the same (a journalled or an encrypted file, a tmpfs), or demand more alignment than the reads were planned
// with. open(2) reports the first, statx(2) the others. A statx for each frame of a sequence would double the
// metadata work that is being measured, so there is one for each directory: the files of one directory are on
// one file system. Files that cannot be read or written directly go through the page cache; that is reported
// once, and capabilities().direct is false from then on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "storage/local/local_file.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

/// Enough for all common disks.
constexpr std::uint32_t kUsualAlignment = 4096;

struct LocalOptions {
    /// Read and write past the page cache. Refused by the file system: buffered, with a notice.
    bool direct = true;
    /// Pieces in flight at once over all streams of this loop; more wait in order. Too few make the client the
    /// bottleneck; one more costs a kernel worker or a pool thread only if the file system blocks.
    std::uint32_t parallel_reads = 64;
    /// Opens, syncs and operations by name at once, over all streams of this loop. Reads and writes never wait
    /// behind these.
    std::uint32_t parallel_opens = 16;
    /// The alignment of direct reads and writes (offsets, sizes, addresses) in bytes: the largest
    /// direct_alignment() of the files.
    std::uint32_t alignment = kUsualAlignment;
    /// All writing operations (create, write, rename, remove) stay below this directory; links below it are not
    /// followed, and a file with several names is not written. Empty: no restriction.
    std::string writes_below;
    /// Receives each unavailable capability once. May be empty.
    NoticeSink notice;
};

/// The alignment that the system reports for direct reads of `file`: a power of two; 1: direct I/O is not
/// possible; kUsualAlignment: unknown. Blocks: before play only.
std::uint32_t direct_alignment(const std::string& file);

/// True: direct reads of this file system, as MountFacts::type names it, may be answered from the page cache.
/// macOS takes pages that are there already, and Btrfs compressed files; a tmpfs is the page cache.
bool direct_reads_use_cached_pages(std::string_view file_system);

/// Lets this process open as many files as the system allows (the soft limit of 1024 is soon reached by a
/// thousand streams). Affects the whole process.
void raise_open_file_limit();

/// The policy of direct I/O, by directory. Single-threaded.
class DirectPolicy {
public:
    explicit DirectPolicy(const LocalOptions& options);

    struct Plan {
        bool direct;  // open with O_DIRECT
        bool check;   // ask statx after the open, and pass the answer to checked()
        bool local;   // a file system on a disk of this machine: its open(2) does not wait for a server
    };
    Plan plan(const char* path) const;

    /// The reason why a file cannot be read directly, or nullptr when it can. Thread-safe. A file with an
    /// objection must be reopened without O_DIRECT.
    const char* objection(const DirectAnswer& answer) const;

    /// Notes an answer without an objection for the directory of `path`.
    void checked(const char* path, const DirectAnswer& answer);
    /// The files in the directory of `path` go through the page cache from now on; the first time is reported.
    void refused(const char* path, Access access, const char* why);

    bool direct() const { return direct_; }
    std::uint32_t alignment() const { return alignment_; }

private:
    static std::string_view directory(const char* path);

    const bool wanted_;
    const std::uint32_t alignment_;
    bool direct_;
    bool said_ = false;
    NoticeSink notice_;
    std::map<std::string, Plan, std::less<>> directories_;
};

}  // namespace streamsim::storage
