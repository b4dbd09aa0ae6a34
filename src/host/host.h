// What this client is, and what it spent. Everything here is read from the kernel; what it does not say is
// nullopt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/run_result.h"

namespace streamsim::host {

/// Name and system from uname, the processors that this process may use, the memory of the machine. Never
/// fails: what cannot be read stays empty or 0 (at least 1 processor).
HostFacts read_host_facts();

/// Of the whole process since it began; subtract two readings.
struct ProcessUsage {
    std::int64_t cpu_ns = 0;  // user and system, all threads, and the helper processes that it has started
    std::int64_t helpers_cpu_ns = 0;  // those processes' part of it
    /// Bytes that block devices really gave to this process; what came from the page cache is not in it. Counts
    /// nothing for network and FUSE file systems (see block_device_behind). nullopt: the kernel does not tell.
    std::optional<std::uint64_t> storage_read_bytes;
};
ProcessUsage read_process_usage();

/// The processes that this one ("self", or its number) has started and that are still there.
std::vector<std::string> children_of(const std::string& process);

/// Whether `storage_read_bytes` means something for files here: the file system sits on a block device. False
/// when the path cannot be read, and for file systems with anonymous devices (network, FUSE, tmpfs, overlay,
/// btrfs).
bool block_device_behind(const std::string& path);

/// Asks for SCHED_FIFO, priority 10, for the calling thread; threads that it starts inherit it. When refused:
/// false, and `why_not` says it with the remedy.
bool request_realtime(std::string& why_not);

/// The wall clock, for the record only: "2024-05-01T12:00:00Z". Nothing is ever measured with it.
std::string now_rfc3339();

}  // namespace streamsim::host
