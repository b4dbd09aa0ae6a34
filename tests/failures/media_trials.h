// Trials of what streamsim writes beside media: a failure at each call, on a disk with files of others.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "failures/failing_store.h"

namespace streamsim::testing {

inline constexpr const char* kTarget = "/t";
/// MemoryDisk::tree().
using Tree = std::map<std::string, std::string>;

/// How much is tried.
struct Trials {
    std::uint64_t step = 1;   // of the calls each step-th
    std::uint64_t seeds = 1;  // of each crash, because chance decides what it keeps
};

/// One trial after the other: `act` on a disk of `make`, with each failure at each call, and then `check`.
/// `told_done`: it returned no error, and no crash kept it from telling that.
void at_every_call(const Trials& trials,
                   const std::function<std::unique_ptr<MemoryDisk>()>& make,
                   const std::function<Result<void>(ByteStore&)>& act,
                   const std::function<void(MemoryDisk&, bool told_done)>& check);

/// The files of others on empty_disk().
Tree foreign();
std::unique_ptr<MemoryDisk> empty_disk(bool sets_aside = true);

/// Removes all that is ours, but for a directory without a marker, which may be anybody's: it stays when it is
/// empty (where a lock is held, it goes with the lock). `others`: the tree that must be left.
void expect_cleaned(MemoryDisk& disk, const Tree& others = foreign());

}  // namespace streamsim::testing
