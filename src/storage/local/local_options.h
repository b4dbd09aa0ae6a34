// What the two local backends (io_uring, libuv's pool) have in common: their options, and what direct I/O
// really is on the files they open.
//
// Direct I/O. O_DIRECT can be refused at open (EINVAL), or be accepted and not be direct at all (a journalled
// or an encrypted file), or want more alignment than the reads have been planned with. The first is an answer
// to open(2), the others are statx(2)'s. Asking statx for each frame of a sequence would double the metadata
// work that is being measured, so it is asked once for each directory: the files of one directory are on one
// file system. Files that cannot be read or written directly go through the page cache, that is said once, and
// capabilities().direct is false from then on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "storage/local/local_file.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

/// Enough for every disk on sale.
constexpr std::uint32_t kUsualAlignment = 4096;

struct LocalOptions {
    /// Read and write past the page cache. Refused by the file system: buffered, with a notice.
    bool direct = true;
    /// Pieces being read or written at once, over all streams of this loop; more wait in order. Too few makes
    /// the client the bottleneck, each one more costs a kernel worker or a pool thread only where the file
    /// system blocks.
    std::uint32_t parallel_reads = 64;
    /// Opens, syncs and operations by name at once, over all streams of this loop. Reads and writes never wait
    /// behind these.
    std::uint32_t parallel_opens = 16;
    /// Of offsets, sizes and addresses of direct reads and writes, in bytes: the largest direct_alignment() of
    /// the files.
    std::uint32_t alignment = kUsualAlignment;
    /// The directory that everything is made, written, renamed and removed below; links below it are not
    /// followed, and a file with several names is not written. Empty: anywhere, as the paths say.
    std::string writes_below;
    /// Told once about each thing that could not be had. May be empty.
    NoticeSink notice;
};

/// The alignment that the system reports for direct reads of `file`: a power of two, 1 when direct I/O is not
/// possible there, kUsualAlignment when it does not say. Blocks: before play only.
std::uint32_t direct_alignment(const std::string& file);

/// Lets this process open as many files as the system allows (the soft limit of 1024 is soon reached by a
/// thousand streams). Affects the whole process.
void raise_open_file_limit();

/// What is known about direct I/O, directory by directory. Single-threaded.
class DirectPolicy {
public:
    explicit DirectPolicy(const LocalOptions& options);

    struct Plan {
        bool direct;  // open with O_DIRECT
        bool check;   // ask after the open, and give the answer to checked()
        bool local;   // a file system on a disk of this machine: its open(2) does not wait for anybody
    };
    Plan plan(const char* path) const;

    /// Why a file cannot be read directly, or nullptr when it can. Thread-safe. A file opened so must be opened
    /// again without O_DIRECT.
    const char* objection(const DirectAnswer& answer) const;

    /// The system's answer, without an objection, for the directory of `path`.
    void checked(const char* path, const DirectAnswer& answer);
    /// What is in the directory of `path` goes through the page cache from now on; the first time is said.
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
