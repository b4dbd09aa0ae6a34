// A storage in virtual time whose structure is not that of the models in src/sim: the truth that predictions
// are compared with. It shares no code with them.
//
//     seat -> half a round trip -> workers of the server, small reads or some seats before others if it is so
//          -> the file's own limit -> memory, then flash, then a channel of the drives (log-normal access;
//          garbage collection) -> the uplink that all seats share -> the seat's link -> half a round trip ->
//          seat
//
// Other load comes in bursts: while one lasts, it takes a share of the uplink and of the workers. Each part
// serves whole operations.
//
// Caches hold whole blocks by their last use: a read of a part of a block fetches all of it from the drives. A
// block is there for the next read as soon as it is asked for. Writes are in memory when they are complete, not
// in the caches, and the drives collect garbage for them as for reads.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "base/time.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim::test {

struct TruthSpec {
    double seat_bytes_per_s = 1.2e9;
    double uplink_bytes_per_s = 5e9;
    Duration round_trip = microseconds(200);

    std::uint32_t workers = 16;
    double worker_s_per_request = 50e-6;
    double worker_s_per_byte = 0.2e-9;
    bool small_first = false;       // reads below 256 KiB overtake
    std::uint32_t first_seats = 0;  // the operations of the seats below overtake
    double file_bytes_per_s = 0;    // of all reads of a file; 0: no limit

    std::uint64_t memory_bytes = 0;  // of blocks of 1 MiB
    std::uint64_t flash_bytes = 0;
    double flash_bytes_per_s = 3e9;

    std::uint32_t channels = 32;
    double channel_bytes_per_s = 200e6;
    Duration access = microseconds(500);    // median
    double access_sigma = 0.3;              // of its logarithm
    std::uint64_t garbage_every_bytes = 0;  // of a channel, read or written; 0: never
    Duration garbage_gap;                   // mean time to the next pause of a channel, exponential; 0: never
    Duration garbage_pause;

    double burst_share = 0;  // 0: no other load
    Duration burst_length;   // mean, exponential
    Duration burst_gap;      // mean, exponential
    bool burst_on_workers = true;
    bool burst_on_uplink = true;

    double open_s = 300e-6;  // of a worker
    double sync_s = 1e-3;    // of a worker
    std::uint64_t seed = 1;
};

enum class TruthFamily : std::uint8_t { priority, caches, uplink, bursts, garbage, mixed };
inline constexpr std::array kTruthFamilies = {TruthFamily::priority, TruthFamily::caches,  TruthFamily::uplink,
                                              TruthFamily::bursts,   TruthFamily::garbage, TruthFamily::mixed};
constexpr const char* to_string(TruthFamily family) {
    switch (family) {
        case TruthFamily::priority: return "priority";
        case TruthFamily::caches: return "caches";
        case TruthFamily::uplink: return "uplink";
        case TruthFamily::bursts: return "bursts";
        case TruthFamily::garbage: return "garbage";
        case TruthFamily::mixed: return "mixed";
    }
    return "?";
}

/// A storage as a post house might have it, with what its family names; mixed: with two families or more. The
/// same seed gives the same one.
TruthSpec random_truth(TruthFamily family, std::uint64_t seed);

/// "uplink 2.1 GB/s, seat 1.2 GB/s, 24 channels of 210 MB/s, ..."
std::string describe(const TruthSpec& spec);

/// Writes and syncs are accepted and take a worker and the links. Every path exists and has no end.
std::unique_ptr<Storage> make_truth_storage(EventLoop& loop, const TruthSpec& spec);

}  // namespace streamsim::test
