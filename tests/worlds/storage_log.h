// StorageLog: stands between the players of a world and its storage, and counts what was asked for and what was
// given.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "run/backends/backends.h"
#include "streamsim/storage.h"

namespace streamsim::worlds {

/// The counts of one storage; outlives it.
class StorageLog {
public:
    struct Slot {
        std::uint64_t reads = 0, outstanding = 0;
        std::uint64_t asked_bytes = 0, given_bytes = 0;
        std::uint64_t written_bytes = 0;
        Instant first_submitted = Instant::never();
        Instant last_completed;
        bool failed = false;
    };
    struct Stream {
        std::uint64_t slots_in_flight = 0, slots_in_flight_max = 0;  // slots with a read outstanding
    };
    using SlotKey = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  // seat, stream, slot

    /// Called when the operation of this number, counted from 1, has completed, before its caller hears of it.
    std::function<void(std::uint64_t completed)> on_completion;

    std::uint64_t operations = 0, completions = 0;
    std::uint64_t outstanding = 0;
    std::uint64_t given_bytes = 0;
    std::map<SlotKey, Slot> slots;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Stream> streams;  // by seat and stream
    std::set<FileId> open_files;
    std::uint64_t opened = 0;
    bool is_shut_down = false;
    std::uint32_t storages = 0;           // that were made
    std::vector<std::string> violations;  // of the contract of a storage, by its caller or by itself

    void violated(const std::string& text) {
        if (violations.size() < 20) violations.push_back(text);
    }
    run::StorageWrapper wrapper();
};

}  // namespace streamsim::worlds
