// SystemHistory: samples of this computer's own state, a few a second while streams played. They separate
// faults of this computer and of the network from faults of the storage. host/ fills it, judge/ reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace streamsim {

/// Counters that only grow; nullopt: not available here.
struct SystemSample {
    struct Link {
        std::string name;                         // "eth0"
        std::optional<std::uint64_t> bits_per_s;  // as the interface reports it
        std::uint64_t received_bytes = 0;
        std::uint64_t sent_bytes = 0;
    };
    /// The connection over TCP that has received most since sampling began.
    struct Connection {
        std::string peer;  // its address, without the port
        std::uint64_t received_bytes = 0;
        std::uint64_t received_segments = 0;
        std::uint64_t out_of_order = 0;  // segments that came after a lost one
    };

    /// The network path to the file servers that data came from, all of them together, since sampling began.
    struct Path {
        std::string peer;  // the server with most bytes
        std::uint64_t received_segments = 0;
        std::uint64_t out_of_order = 0;   // of those, after a lost one
        std::uint64_t lossy_samples = 0;  // tenths of a second in which many came out of order
        std::uint64_t sent_segments = 0;
        std::uint64_t resent = 0;            // of our segments
        std::int64_t quiet_ns = 0;           // the time in which no server sent a byte
        std::int64_t no_carrier_ns = 0;      // the time in which the interface toward a server had no carrier
        std::int64_t unanswered_ns = 0;      // quiet, and a host that answers answered no ping and no handshake
        std::int64_t unacknowledged_ns = 0;  // quiet, and our requests, sent again, were not acknowledged
        std::uint64_t quiet_answers =
            0;                      // pings and handshakes that a server's host answered while it was quiet
        std::uint64_t refused = 0;  // of those, refused: the host answers, its server does not run
    };

    std::int64_t at_ns = 0;  // CLOCK_MONOTONIC, which real loops run by
    /// Run-queue wait: of the threads of this process, and of the process here that serves the file system
    /// (FUSE), the thread that waited longest in each sample.
    std::optional<std::int64_t> run_queue_wait_ns;
    std::int64_t process_cpu_ns = 0;                 // of this process
    std::optional<std::uint64_t> cpu_ticks;          // of all processors
    std::uint64_t idle_ticks = 0;                    // of those, idle (waiting for I/O included)
    std::uint64_t stolen_ticks = 0;                  // of those, taken by a hypervisor
    std::optional<std::int64_t> full_processor_ns;   // in which one was 95 % busy or more, but for nice work
    std::optional<std::int64_t> cpu_pressure_ns;     // in which some task waited for a processor
    std::optional<std::int64_t> io_pressure_ns;      // and for I/O
    std::optional<std::int64_t> memory_pressure_ns;  // and for memory
    /// The time in which some task of this process's control group waited for memory.
    std::optional<std::int64_t> own_memory_pressure_ns;
    /// Times that no memory was left, and the kernel had to reclaim some first: at the limit of this process's
    /// control group or of one above it, or in the whole computer.
    std::optional<std::uint64_t> memory_limit_hits;
    std::optional<std::uint64_t> memory_limit_bytes;  // the lowest of those groups; does not grow
    std::optional<std::uint64_t> refaulted_bytes;     // of that group: evicted and read again
    std::optional<std::int64_t> suspended_ns;         // of this computer, since its start
    std::vector<Link> links;
    std::optional<Connection> connection;
    /// Round trip to that peer: of the last ping that came back; without pings, of a TCP handshake, or of the
    /// connection itself where that is short.
    std::optional<std::int64_t> rtt_ns;
    std::optional<std::int64_t> rtt_min_ns;  // the least that the connection knows; only without pings
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
