// What this computer said of itself, a few times a second while streams played: the evidence that tells its own
// failings, and those of the network, from the storage's. Filled by host/, read by judge/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace streamsim {

/// Counters that only grow; nullopt: not to be had here.
struct SystemSample {
    struct Link {
        std::string name;                         // "eth0"
        std::optional<std::uint64_t> bits_per_s;  // what the interface says of itself
        std::uint64_t received_bytes = 0;
    };
    /// The connection over TCP that has received most since sampling began.
    struct Connection {
        std::string peer;  // its address, without the port
        std::uint64_t received_bytes = 0;
        std::uint64_t received_segments = 0;
        std::uint64_t out_of_order = 0;  // segments: those before them were lost on the way
    };

    /// The network path to the file servers that data came from, all of them together, since sampling began.
    struct Path {
        std::string peer;  // the server that most came from
        std::uint64_t received_segments = 0;
        std::uint64_t out_of_order = 0;  // of them: those before them were lost on the way
        std::uint64_t lossy_looks = 0;   // tenths of a second in which many of them did
        std::uint64_t sent_segments = 0;
        std::uint64_t resent = 0;            // of ours
        std::int64_t quiet_ns = 0;           // in which no server sent a byte
        std::int64_t no_carrier_ns = 0;      // in which the interface toward a server had no carrier
        std::int64_t unanswered_ns = 0;      // quiet, and a host that answers answered no echo and no handshake
        std::int64_t unacknowledged_ns = 0;  // quiet, and our requests, sent again, were not acknowledged
        std::uint64_t quiet_answers =
            0;                      // echoes and handshakes that a server's host answered while it was quiet
        std::uint64_t refused = 0;  // of them, refused: the host is there, its server is not
    };

    std::int64_t at_ns = 0;  // CLOCK_MONOTONIC, which real loops run by
    /// Able to run and not running: of the threads of this process, and of the process here that serves the
    /// file system (FUSE), the one that waited longest each time.
    std::optional<std::int64_t> run_queue_wait_ns;
    std::int64_t process_cpu_ns = 0;                 // of this process
    std::optional<std::uint64_t> cpu_ticks;          // of all processors
    std::uint64_t idle_ticks = 0;                    // of them, nothing to do (waiting for I/O included)
    std::uint64_t stolen_ticks = 0;                  // and taken by a hypervisor
    std::optional<std::int64_t> cpu_pressure_ns;     // in which some task waited for a processor
    std::optional<std::int64_t> io_pressure_ns;      // and for I/O
    std::optional<std::int64_t> memory_pressure_ns;  // and for memory
    /// Of this process's control group alone: in which some task of it waited for memory.
    std::optional<std::int64_t> own_memory_pressure_ns;
    /// Times that there was no memory left, and some had to be taken back first: at the limit of this process's
    /// control group or of one above it, or in the whole computer.
    std::optional<std::uint64_t> memory_limit_hits;
    std::optional<std::uint64_t> memory_limit_bytes;  // the least of those groups; does not grow
    std::optional<std::uint64_t> refaulted_bytes;     // of that group: evicted and read again
    std::optional<std::int64_t> suspended_ns;         // this computer, since it was started
    std::vector<Link> links;
    std::optional<Connection> connection;
    /// Round trip to that peer: of the last echo that came; without echoes, of a TCP handshake, or of the
    /// connection itself where that is short.
    std::optional<std::int64_t> rtt_ns;
    std::optional<std::int64_t> rtt_min_ns;  // the least that the connection knows; only without echoes
    std::optional<Path> path;                // nullopt: no server is known
};

/// By time. The first is from before play began.
using SystemHistory = std::vector<SystemSample>;

/// A directory that was played from and was not there any more.
struct VanishedLocation {
    std::string directory;      // of the media
    std::string path;           // what vanished: that directory, or one above it
    std::string how;            // "it is not there any more"
    std::int64_t there_ns = 0;  // it was last seen then,
    std::int64_t gone_ns = 0;   // and missed
};

}  // namespace streamsim
