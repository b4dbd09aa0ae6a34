// Evidence about the computers of a run: hosts, player threads, mounts, file servers, links and the system
// while streams played.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/fields.h"

namespace streamsim {

struct HostFacts {
    std::string name, os;
    std::uint32_t cpus = 0;
    std::uint64_t memory_bytes = 0;
};
void fields(ConstOr<HostFacts> auto& host, auto& visit) {
    visit("name", host.name);
    visit("os", host.os);
    visit("cpus", host.cpus);
    visit("memory_bytes", host.memory_bytes);
}

struct ClientEvidence {
    double cpu_percent = 0;  // of one processor, over the run
    std::int64_t cpu_ns = 0;
    std::int64_t helpers_cpu_ns = 0;  // share of cpu_ns that processes spent which the player has started
    std::int64_t loop_lateness_p50_ns = 0, loop_lateness_p99_ns = 0, loop_lateness_max_ns = 0;
    std::uint64_t loop_stalls = 0;
    std::int64_t loop_stalled_ns = 0;
    std::optional<std::uint64_t> page_cache_bytes;  // nullopt: cannot be known here
    std::uint32_t loops = 1;                        // player threads
    bool realtime = false;
};
void fields(ConstOr<ClientEvidence> auto& client, auto& visit) {
    visit("cpu_percent", client.cpu_percent);
    visit("cpu_ns", client.cpu_ns);
    visit("helpers_cpu_ns", client.helpers_cpu_ns, kAdded);
    visit.object("loop_lateness_ns", [&](auto& lateness) {
        lateness("p50", client.loop_lateness_p50_ns);
        lateness("p99", client.loop_lateness_p99_ns);
        lateness("max", client.loop_lateness_max_ns);
    });
    visit("loop_stalls", client.loop_stalls);
    visit("loop_stalled_ns", client.loop_stalled_ns);
    visit("page_cache_bytes", client.page_cache_bytes);
    visit("loops", client.loops);
    visit("realtime", client.realtime);
}

/// This computer in a time between two samples.
struct ComputerInterval {
    std::int64_t t_ns = 0;  // from the first play_start
    std::int64_t interval_ns = 0;
    std::optional<double> cpu_busy;          // share of all processors, by all processes
    double process_cpu = 0;                  // streamsim's own, of one processor
    std::uint64_t received_bytes_per_s = 0;  // by all network interfaces
};
void fields(ConstOr<ComputerInterval> auto& interval, auto& visit) {
    visit("t_ns", interval.t_ns);
    visit("interval_ns", interval.interval_ns);
    visit("cpu_busy", four_decimals(interval.cpu_busy));
    visit("process_cpu", four_decimals(interval.process_cpu));
    visit("received_bytes_per_s", interval.received_bytes_per_s);
}

/// The file system of the media, as this computer sees it.
struct MountFacts {
    std::string point;    // "/mnt/media"
    std::string source;   // "server:/export", "/dev/sdb1"
    std::string type;     // "nfs4", "ext4", "fuse.sshfs"
    std::string options;  // as mounted
    // About a network file system; empty or nothing where it does not say.
    std::string server;                             // "isilon"
    std::string protocol;                           // "NFSv4.2", "SMB 3.1.1"
    std::optional<std::uint64_t> connections;       // nconnect, max_channels
    std::optional<std::uint64_t> read_bytes;        // rsize
    std::optional<std::uint64_t> read_ahead_bytes;  // of the kernel
    std::vector<std::string> hints;                 // what a playback tester would change, a sentence each
    std::string target;  // of the run, where all its streams have one; empty: they have several
};
void fields(ConstOr<MountFacts> auto& mount, auto& visit) {
    visit("point", mount.point);
    visit("source", mount.source);
    visit("type", mount.type);
    visit("options", mount.options);
    visit("server", mount.server, kAdded);
    visit("protocol", mount.protocol, kAdded);
    visit("connections", mount.connections, kAdded);
    visit("read_bytes", mount.read_bytes, kAdded);
    visit("read_ahead_bytes", mount.read_ahead_bytes, kAdded);
    visit("hints", mount.hints, kAdded);
    visit("target", mount.target, kAdded);
}

/// A file server that streamsim spoke to itself, one entry a node.
struct ServerResult {
    std::string address;
    std::string protocol;              // "NFSv3", "NFSv4.0", "SMB 3.1.1"
    std::vector<std::uint32_t> seats;  // that used it
    std::uint32_t connections = 0;
    std::uint64_t read_bytes = 0;  // the most that one request reads
    std::uint64_t requests = 0;
    double requests_per_frame = 0;  // over the frames that were read from it
    std::uint64_t received_bytes = 0;
    std::uint64_t reconnects = 0;
    std::uint64_t retransmitted_segments = 0;
    std::optional<std::int64_t> rtt_ns;
};
void fields(ConstOr<ServerResult> auto& server, auto& visit) {
    visit("address", server.address);
    visit("protocol", server.protocol);
    visit("seats", server.seats);
    visit("connections", server.connections);
    visit("read_bytes", server.read_bytes);
    visit("requests", server.requests);
    visit("requests_per_frame", server.requests_per_frame);
    visit("received_bytes", server.received_bytes);
    visit("reconnects", server.reconnects);
    visit("retransmitted_segments", server.retransmitted_segments);
    visit("rtt_ns", server.rtt_ns);
}

/// A network interface over the time of play.
struct LinkEvidence {
    std::string name;                         // "eth0"
    std::optional<std::uint64_t> bits_per_s;  // as the interface reports it; nullopt: it does not
    std::uint64_t received_bytes = 0;
    std::uint64_t sent_bytes = 0;
    double busy_percent = 0;      // of bits_per_s, on average, in the fuller direction
    double busy_percent_max = 0;  // in the fullest interval
    std::int64_t rtt_ns = 0;      // round-trip time to the server, the median while it played; 0: not known
    std::int64_t rtt_min_ns = 0;
    std::uint64_t resent = 0;  // segments that came out of order: those before them were lost on the path
};
void fields(ConstOr<LinkEvidence> auto& link, auto& visit) {
    visit("name", link.name);
    visit("bits_per_s", link.bits_per_s);
    visit("received_bytes", link.received_bytes);
    visit("sent_bytes", link.sent_bytes, kAdded);
    visit("busy_percent", link.busy_percent);
    visit("busy_percent_max", link.busy_percent_max);
    visit("rtt_ns", link.rtt_ns);
    visit("rtt_min_ns", link.rtt_min_ns);
    visit("resent", link.resent);
}

/// Counters of the operating system over the time of play; nullopt: not available.
struct SystemEvidence {
    std::optional<std::int64_t> run_queue_wait_ns;  // able to run and not running; the longest of our threads
    std::optional<double> cpu_busy_percent;         // of all processors, all processes
    std::optional<double> cpu_pressure_percent;     // share of the time some task waited for a processor
    std::optional<double> io_pressure_percent;      // share of the time some task waited for I/O
    std::optional<double> memory_pressure_percent;
    std::optional<double> stolen_percent;      // of all processors, by a hypervisor
    std::optional<std::int64_t> suspended_ns;  // the computer slept meanwhile; nullopt: it did not
};
void fields(ConstOr<SystemEvidence> auto& system, auto& visit) {
    visit("run_queue_wait_ns", system.run_queue_wait_ns);
    visit("cpu_busy_percent", system.cpu_busy_percent);
    visit("cpu_pressure_percent", system.cpu_pressure_percent);
    visit("io_pressure_percent", system.io_pressure_percent);
    visit("memory_pressure_percent", system.memory_pressure_percent);
    visit("stolen_percent", system.stolen_percent);
    visit("suspended_ns", system.suspended_ns, only_if(system.suspended_ns.has_value()));
}

}  // namespace streamsim
