// The coordinator of a file owns its locks: one server at the model's file_bytes_per_s, fair between seats, and
// another one for the file's writes. The first access of a file creates its coordinator.
//
// Assumption: only containers have coordinators; one reader at a time reads a file of a sequence.
#pragma once

#include <deque>
#include <vector>

#include "sim/parts/flat_index.h"
#include "sim/parts/station.h"

namespace streamsim::sim {

class FileCoordinators {
public:
    struct Coordinator {
        std::uint32_t file;
        bool writes;
        Station station;
    };

    explicit FileCoordinators(Calendar& calendar) : calendar_(calendar) {}

    Station& of(std::uint32_t file, bool writes, double bytes_per_s) {
        const std::uint64_t key = file | (writes ? std::uint64_t{1} << 32 : 0);
        std::uint32_t number = index_.find(key);
        if (number == FlatIndex::kNone) {
            number = static_cast<std::uint32_t>(all_.size());
            all_.push_back({file, writes, {calendar_, {1, Rate::of(bytes_per_s), true}}});
            index_.insert(key, number);
        }
        return all_[number].station;
    }
    /// In the order of their creation.
    const std::deque<Coordinator>& all() const { return all_; }

private:
    Calendar& calendar_;
    FlatIndex index_;
    std::deque<Coordinator> all_;
};

}  // namespace streamsim::sim
