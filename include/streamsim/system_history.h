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
    std::optional<std::int64_t> suspended_ns;        // this computer, since it was started
    std::vector<Link> links;
    std::optional<Connection> connection;
    std::optional<std::int64_t> echo_ns;  // the way to that peer and back, of the last echo that came
};

/// By time. The first is from before play began.
using SystemHistory = std::vector<SystemSample>;

}  // namespace streamsim
