// The files of a meter: which are open, where the last transfer in each ended, and which positions of them were
// visited.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "load/draws.h"
#include "load/meter_plan.h"
#include "streamsim/storage.h"

namespace streamsim::load {

/// A user with at most so many files keeps each of them open. With more files, or where files are transferred
/// whole, each transfer opens its file and closes it again.
inline constexpr std::uint32_t kFilesKeptOpen = 64;

/// A file of a user is named by an index of [0, spec.set.files).
class MeterFiles {
public:
    MeterFiles(const MeterPlan& plan, const Draws& draws);

    std::uint32_t count() const { return files_; }
    const std::string& path(std::uint32_t user, std::uint32_t file) const {
        return plan_.names.files[named(user, file)];
    }
    const std::string& directory(std::uint32_t user, std::uint32_t directory) const;

    /// Each user has its files open all the time.
    bool kept_open() const { return !open_.empty(); }
    struct Opened {
        FileId file = kNoFile;
        int error = 0;
        bool written = false;  // and not synced since
    };
    /// REQUIRES: kept_open().
    Opened& opened(std::uint32_t user, std::uint32_t file) { return open_[pair(user, file)]; }
    std::vector<Opened>& all_opened() { return open_; }

    /// The offset of a sequential transfer of `shape`; the next one follows its end.
    std::uint64_t sequential_offset(std::uint32_t user,
                                    std::uint32_t file,
                                    const TransferShape& shape,
                                    Prng& prng);
    /// The offset of `bytes` of a random transfer, a multiple of `grid`.
    std::uint64_t random_offset(
        std::uint32_t user, std::uint32_t file, std::uint64_t bytes, std::uint64_t grid, Prng& prng);
    // For spec.read_once: each byte is read at most once.

    /// Every byte of the user's files was read, or its read has begun.
    bool all_read(std::uint32_t user);
    /// `file`, or where all of it was read the user's first file with unread bytes. REQUIRES: !all_read(user).
    std::uint32_t file_with_unread(std::uint32_t user, std::uint32_t file);
    /// `length`, at most the unread bytes of the file for this user.
    std::uint64_t fitting_unread(std::uint32_t user, std::uint32_t file, std::uint64_t length) const {
        return left_.empty() ? length : std::min(length, left_[pair(user, file)]);
    }

    /// `offset`, or the beginning of the file where the piece does not fit behind `offset`.
    std::uint64_t around(std::uint64_t offset, std::uint64_t bytes) const {
        return offset + bytes > file_bytes_ ? 0 : offset;
    }
    /// The user's last transfer in the file ended at `offset`.
    void ended(std::uint32_t user, std::uint32_t file, std::uint64_t offset) {
        if (!ends_.empty()) ends_[pair(user, file)] = offset;
    }

private:
    std::size_t pair(std::uint32_t user, std::uint32_t file) const { return std::size_t{user} * files_ + file; }
    std::size_t named(std::uint32_t user, std::uint32_t file) const {
        return plan_.spec.set.shared() ? file : pair(user, file);
    }
    /// The users that share a file, on all seats.
    std::uint64_t sharers() const;
    /// The number of a user among those that share its files.
    std::uint64_t number_of(std::uint32_t user) const;
    bool of_all() const { return plan_.spec.set.of == WorkingSet::Of::all; }
    std::uint64_t end_of_pieces(std::uint64_t begin, std::uint64_t pieces, std::uint64_t bytes) const;
    std::uint64_t end_of(std::uint64_t begin, const TransferShape& shape) const;
    void divide_files();
    bool has_unread(std::uint32_t user, std::uint32_t file) const {
        return left_.empty() ? turn(named(user, file)) < positions() : left_[pair(user, file)] > 0;
    }
    std::uint64_t positions() const { return std::max<std::uint64_t>(file_bytes_ / unit_, 1); }
    /// The number of positions of the file that were visited before, by all seats that share it.
    std::uint64_t turn(std::size_t name) const;

    const MeterPlan& plan_;
    const Draws& draws_;
    const std::uint32_t files_;
    const std::uint64_t file_bytes_;
    std::vector<Opened> open_;                 // by user and file
    std::vector<std::uint64_t> ends_;          // by user and file; empty: not needed
    std::vector<std::uint64_t> visited_;       // by name; empty: positions may repeat
    std::uint64_t unit_ = 0;                   // bytes of a position
    std::vector<std::uint32_t> first_unread_;  // by user: the first file with unread bytes
    std::vector<std::uint64_t>
        left_;  // unread bytes by user and file of sequential users that read once; else empty
};

}  // namespace streamsim::load
