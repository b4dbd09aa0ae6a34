// What a meter knows of the files it works on: where they are open, where the last transfer in each ended, and
// which places of them were visited.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "load/draws.h"
#include "load/meter.h"

namespace streamsim::load {

/// A user that has no more files than this keeps each of them open; of more, each transfer opens its own and
/// closes it again; so it does where files are moved whole.
inline constexpr std::uint32_t kFilesKeptOpen = 64;

/// Of one meter. A file of a user is named by an index of [0, spec.set.files).
class MeterFiles {
public:
    MeterFiles(const MeterPlan& plan, const Draws& draws);

    std::uint32_t count() const { return files_; }
    const std::string& path(std::uint32_t user, std::uint32_t file) const {
        return plan_.names.files[named(user, file)];
    }
    const std::string& directory(std::uint32_t user, std::uint32_t directory) const;

    /// Whether each user has its files open all the time.
    bool kept_open() const { return !open_.empty(); }
    struct Opened {
        FileId file = kNoFile;
        int error = 0;
        bool written = false;  // and not synced since
    };
    /// REQUIRES: kept_open().
    Opened& opened(std::uint32_t user, std::uint32_t file) { return open_[pair(user, file)]; }
    std::vector<Opened>& all_opened() { return open_; }

    /// Where a sequential transfer of `shape` begins; it is taken note of where it ends.
    std::uint64_t sequential_place(std::uint32_t user,
                                   std::uint32_t file,
                                   const TransferShape& shape,
                                   Prng& prng);
    /// Where `bytes` of a random one do, aligned to their `grid`.
    std::uint64_t random_place(
        std::uint32_t user, std::uint32_t file, std::uint64_t bytes, std::uint64_t grid, Prng& prng);
    // Where each byte is read once at most (spec.read_once).

    /// The user has read all of its files, or begun to.
    bool nothing_left(std::uint32_t user);
    /// `file`, or where nothing is left of it the first one of the user that has a rest. REQUIRES: there is
    /// one.
    std::uint32_t file_with_rest(std::uint32_t user, std::uint32_t file);
    /// `length`, or what is left of the file for this user where that is less.
    std::uint64_t fitting_rest(std::uint32_t user, std::uint32_t file, std::uint64_t length) const;

    /// The next piece begins at `offset`, or at the beginning of the file where it does not fit there.
    std::uint64_t around(std::uint64_t offset, std::uint64_t bytes) const {
        return offset + bytes > file_bytes_ ? 0 : offset;
    }
    /// The user's last transfer in the file ended there.
    void ended(std::uint32_t user, std::uint32_t file, std::uint64_t offset) {
        if (!ends_.empty()) ends_[pair(user, file)] = offset;
    }

private:
    std::size_t pair(std::uint32_t user, std::uint32_t file) const { return std::size_t{user} * files_ + file; }
    std::size_t named(std::uint32_t user, std::uint32_t file) const {
        return plan_.spec.set.shared ? file : pair(user, file);
    }
    std::uint64_t end_of(std::uint64_t begin, const TransferShape& shape) const;
    void share_out();
    bool has_rest(std::uint32_t user, std::uint32_t file) const;
    std::uint64_t places() const { return std::max<std::uint64_t>(file_bytes_ / unit_, 1); }
    /// How many places of the file were visited before, by all seats.
    std::uint64_t turn(std::size_t name) const;

    const MeterPlan& plan_;
    const Draws& draws_;
    const std::uint32_t files_;
    const std::uint64_t file_bytes_;
    std::vector<Opened> open_;                    // by user and file
    std::vector<std::uint64_t> ends_;             // the same; empty: nobody asks
    std::vector<std::uint64_t> visited_;          // by name; empty: places come as they are drawn
    std::uint64_t unit_ = 0;                      // of places that are visited
    std::vector<std::uint32_t> first_with_rest_;  // by user; those before it have none
    std::vector<std::uint64_t> left_;  // by user and file, of a sequential user that reads once; else empty
};

}  // namespace streamsim::load
