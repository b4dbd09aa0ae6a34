// Whether the counters of a server prove that its drives delivered the bytes of a step. Pure.
//
// A counter counts the reads of drives when its name ends in "_bytes" (or "_bytes_total"; labels in braces do
// not count) and has among its words "read" or "reads", one for a drive ("disk", "drive", "device", "hdd",
// "ssd", "nvme", also in the plural or with a number), and none for memory ("cache", "hit", "arc", "memory",
// ...). Series that differ only in their labels are added up, without arrays and the device mapper (label
// device="md0", "dm-3") where there are others: their drives have read the same bytes.
//
// The reads were cold when that counter grew by 95 % to 150 % of the bytes that the step read. Less came from a
// cache, or was stored compressed. More means that other work read, too: then nothing is known, as is the case
// when the counter went back, when several counters might count parts of the whole, and when more than 5 % of
// the bytes came from this computer's own memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "streamsim/step_commands.h"

namespace streamsim::judge {

struct ColdReadsFinding {
    ColdReads reads = ColdReads::not_known;
    std::string summary;  // "disk_read_bytes +8.1 GB of 8.0 GB read: the reads were cold"; empty: no counter
};

/// `own_memory_bytes`: of `bytes_read`, from this computer's page cache, as far as that is known.
ColdReadsFinding find_cold_reads(const std::vector<CounterChange>& counters,
                                 std::uint64_t bytes_read,
                                 std::uint64_t own_memory_bytes = 0);

/// True when the counter counts bytes that drives have read, by its name.
bool counts_drive_reads(const std::string& name);

}  // namespace streamsim::judge
