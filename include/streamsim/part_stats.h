// PartStats: the statistics of one part of a modelled cluster during a run: its load, its queue, its cache.
// From these the judge finds the part that was full when frames dropped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace streamsim {

/// switch_port and seat_link are the network, seat_cpu and seat_display are the client, and all others are the
/// storage.
enum class PartKind {
    seat_cpu,
    seat_link,
    switch_port,
    front_end,
    node_cpu,
    ram,
    ssd,
    back_end,
    drive,
    file,          // the owner of one file's locks
    front_end_in,  // the other direction of front_end
    journal,
    metadata,  // the lines in which names are changed and looked up
    seat_display,
    read_line,  // of the lines in which reads take turns, by place
};

constexpr const char* to_string(PartKind kind) {
    switch (kind) {
        case PartKind::seat_cpu: return "seat-cpu";
        case PartKind::seat_link: return "seat-link";
        case PartKind::switch_port: return "switch-port";
        case PartKind::front_end: return "front-end";
        case PartKind::node_cpu: return "node-cpu";
        case PartKind::ram: return "ram";
        case PartKind::ssd: return "ssd";
        case PartKind::back_end: return "back-end";
        case PartKind::drive: return "drive";
        case PartKind::file: return "file";
        case PartKind::front_end_in: return "front-end-in";
        case PartKind::journal: return "journal";
        case PartKind::metadata: return "metadata";
        case PartKind::seat_display: return "seat-display";
        case PartKind::read_line: return "read-line";
    }
    return "?";
}

/// Sums are over the requested time, to within a share of the intervals at its edges, unless they say that they
/// are of the whole run.
struct PartStats {
    PartKind kind = PartKind::seat_cpu;
    std::string name;                 // "node 2 front end", "seat 0 link", "node 1 drive 7"
    std::uint32_t owner = 0;          // the seat or the node that it belongs to
    std::uint32_t servers = 1;        // requests served at once; the part is full when busy_ns = servers * time
    double bytes_per_s = 0;           // of one server; 0: no single rate
    std::uint64_t requests = 0;       // whose service began
    std::uint64_t bytes = 0;          // of those requests; of a drive, bytes read
    std::int64_t busy_ns = 0;         // of all servers together
    std::int64_t queue_ns = 0;        // integral of the requests here, waiting or being served, over time
    std::uint64_t longest_queue = 0;  // of the whole run, waiting or being served
    std::int64_t interval_ns = 1'000'000'000;  // of busy_per_s: 1 s; in runs of hours a power of two of that
    std::int64_t first_interval_ns = 0;        // when the first of them begins, on the loop's clock
    std::vector<std::int64_t> busy_per_s;      // busy_ns of each interval
    std::uint64_t hits = 0;                    // caches: blocks, of the whole run
    std::uint64_t misses = 0;
    std::uint64_t evictions = 0;
    std::uint64_t lost = 0;  // switch port: segments that did not fit into its buffer, of the whole run
    std::vector<std::int64_t> lost_seconds;  // in which segments were lost, by the loop's clock, in order
};

}  // namespace streamsim
