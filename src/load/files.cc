#include "load/files.h"

#include <algorithm>

#include "base/check.h"
#include "base/memory.h"

namespace streamsim::load {

MeterFiles::MeterFiles(const MeterPlan& plan, const Draws& draws)
    : plan_(plan), draws_(draws), files_(plan.spec.set.files), file_bytes_(plan.spec.set.file_bytes) {
    const MeterSpec& spec = plan.spec;
    if (draws.longest() == 0) return;
    if (spec.read_once) first_unread_.resize(spec.users);
    const std::size_t pairs = std::size_t{spec.users} * files_;
    if (files_ <= kFilesKeptOpen && !spec.whole_files) open_.resize(pairs);
    if (!spec.whole_files && !spec.sequential_from_anywhere && spec.random_share < 1) {
        // Users of a shared file begin in different parts of it, as the ranks of a parallel program do.
        ends_.resize(pairs);
        const std::uint64_t largest = draws.sizes().largest();
        for (std::uint32_t user = 0; spec.set.shared() && user < spec.users; ++user) {
            const std::uint64_t part = file_bytes_ / sharers() * number_of(user) / largest * largest;
            std::fill_n(ends_.begin() + static_cast<std::ptrdiff_t>(pair(user, 0)), files_, part);
        }
        if (spec.read_once) divide_files();
    }
    if (!spec.non_repeating || spec.whole_files) return;
    visited_.resize(plan.names.files.size());
    unit_ = spec.random_by_block ? draws.sizes().largest() : draws.longest();
    unit_ = align_up(unit_, plan.alignment);
}

std::uint64_t MeterFiles::sharers() const {
    return of_all() ? std::uint64_t{plan_.seats} * plan_.spec.users : plan_.spec.users;
}

std::uint64_t MeterFiles::number_of(std::uint32_t user) const {
    return of_all() ? std::uint64_t{plan_.first_user} + user : user;
}

/// Each user reads from its beginning to that of the next user, or to the end of the file.
void MeterFiles::divide_files() {
    const std::uint64_t whole = align_down(file_bytes_, plan_.alignment);
    const std::uint64_t largest = draws_.sizes().largest();
    const std::uint64_t all = sharers();
    left_.resize(ends_.size());
    for (std::uint32_t user = 0; user < plan_.spec.users; ++user) {
        const std::uint64_t next = number_of(user) + 1;
        const bool last = !plan_.spec.set.shared() || next == all;
        const std::uint64_t end = last ? whole : file_bytes_ / all * next / largest * largest;
        for (std::uint32_t file = 0; file < files_; ++file)
            left_[pair(user, file)] = end - std::min(end, ends_[pair(user, file)]);
    }
}

bool MeterFiles::all_read(std::uint32_t user) {
    std::uint32_t& first = first_unread_[user];
    while (first < files_ && !has_unread(user, first)) ++first;
    return first == files_;
}

std::uint32_t MeterFiles::file_with_unread(std::uint32_t user, std::uint32_t file) {
    if (has_unread(user, file)) return file;
    STREAMSIM_CHECK(!all_read(user), "the user has unread bytes");
    return first_unread_[user];
}

std::uint64_t MeterFiles::turn(std::size_t name) const {
    const std::uint64_t seat = plan_.first_user / plan_.spec.users;
    return of_all() ? visited_[name] * plan_.seats + seat : visited_[name];
}

const std::string& MeterFiles::directory(std::uint32_t user, std::uint32_t directory) const {
    const std::size_t of_user = plan_.spec.set.shared() ? 0 : std::size_t{user} * plan_.spec.set.directories;
    return plan_.names.directories[of_user + directory];
}

/// The end of the last of so many pieces of `bytes`. REQUIRES: 0 < bytes <= the file's.
std::uint64_t MeterFiles::end_of_pieces(std::uint64_t begin, std::uint64_t pieces, std::uint64_t bytes) const {
    const std::uint64_t fitting = (file_bytes_ - std::min(begin, file_bytes_)) / bytes;
    if (pieces <= fitting) return begin + pieces * bytes;
    return ((pieces - fitting - 1) % (file_bytes_ / bytes) + 1) * bytes;
}

std::uint64_t MeterFiles::end_of(std::uint64_t begin, const TransferShape& shape) const {
    std::uint64_t at = begin;
    for (std::uint64_t left = shape.length; left > 0;) {
        const std::uint64_t piece = draws_.sizes().piece(left, shape.block);
        at = end_of_pieces(at, left / piece, piece);
        left %= piece;
    }
    return at;
}

std::uint64_t MeterFiles::sequential_offset(std::uint32_t user,
                                            std::uint32_t file,
                                            const TransferShape& shape,
                                            Prng& prng) {
    if (ends_.empty()) {
        const std::uint64_t block = draws_.sizes().bytes(shape.block);
        return prng.below((file_bytes_ - shape.length) / block + 1) * block;
    }
    std::uint64_t& end = ends_[pair(user, file)];
    const std::uint64_t begin = around(end, draws_.sizes().piece(shape.length, shape.block));
    end = end_of(begin, shape);
    if (!left_.empty()) left_[pair(user, file)] -= shape.length;
    return begin;
}

std::uint64_t MeterFiles::random_offset(
    std::uint32_t user, std::uint32_t file, std::uint64_t bytes, std::uint64_t grid, Prng& prng) {
    if (visited_.empty()) return prng.below((file_bytes_ - bytes) / grid + 1) * grid;
    // The seats that share a file take turns in one order of positions.
    const std::size_t name = named(user, file);
    const std::uint64_t seat = plan_.first_user / plan_.spec.users;
    const std::uint64_t number = turn(name);
    ++visited_[name];
    const std::uint64_t of_file = derive_seed(plan_.seed, of_all() ? name : name + (seat << 32));
    return Permutation(positions(), derive_seed(of_file, number / positions())).at(number % positions()) *
           unit_;
}

}  // namespace streamsim::load
