// Facts about this client, and the processor time and bytes that it spent. All are read from the kernel;
// unknown ones are nullopt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/run_result.h"

namespace streamsim::host {

/// Name and system from uname, the processors that this process may use, the memory of the machine. Never
/// fails: an unreadable fact stays empty or 0 (at least 1 processor).
HostFacts read_host_facts();

/// Counters of the whole process since its start.
struct ProcessUsage {
    std::int64_t cpu_ns = 0;  // user and system, all threads, and the helper processes that it has started
    std::int64_t helpers_cpu_ns = 0;  // the helper processes' part
    /// Bytes that block devices delivered to this process, without those from the page cache. Stays 0 for
    /// network and FUSE file systems (see block_device_behind). nullopt: the kernel does not count them.
    std::optional<std::uint64_t> storage_read_bytes;
};
ProcessUsage read_process_usage();

/// The living children of a process ("self", or its number).
std::vector<std::string> children_of(const std::string& process);

/// True: the file system of the path is on a block device, so that `storage_read_bytes` counts its files. False
/// when the path cannot be read, and for file systems with anonymous devices (network, FUSE, tmpfs, overlay,
/// btrfs).
bool block_device_behind(const std::string& path);

/// Threads that this user may have, in all processes together; nullopt: as many as the system can hold, or not
/// known.
std::optional<std::uint64_t> threads_allowed();

/// Requests SCHED_FIFO, priority 10, for the calling thread; threads that it starts inherit it. False: refused,
/// and `why_not` has the reason and the remedy.
bool request_realtime(std::string& why_not);

/// The wall clock, for the record only: "2024-05-01T12:00:00Z". No measurement uses it.
std::string now_rfc3339();

}  // namespace streamsim::host
