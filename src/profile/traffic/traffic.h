// Traffic: what programs asked of their files, operation by operation, as a trace or a capture recorded it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/workload.h"

namespace streamsim::profile {

/// Kinds of operations. Those up to list are the operations of workload documents, in their order.
enum class TrafficKind : std::uint8_t {
    read,
    write,
    open,    // of an existing file
    stat,    // every question about a name or a file, also for one that is not there
    create,  // an open that made the file, or emptied it
    remove,
    rename,
    list,   // of a directory; several calls of one listing count once
    sync,   // written data goes to stable storage
    other,  // directories made, files cut, attributes set
};
constexpr std::size_t kTrafficKinds = 10;
static_assert(static_cast<std::size_t>(TrafficKind::sync) == kLoadOperations);

/// Empty: a document has no such operation.
constexpr std::optional<LoadOperation> load_operation(TrafficKind kind) {
    return kind < TrafficKind::sync ? std::optional(static_cast<LoadOperation>(kind)) : std::nullopt;
}

constexpr TrafficKind traffic_kind(LoadOperation operation) {
    return static_cast<TrafficKind>(operation);
}

constexpr const char* to_string(TrafficKind kind) {
    if (const auto operation = load_operation(kind)) return to_string(*operation);
    return kind == TrafficKind::sync ? "sync" : "other";
}

constexpr bool moves_data(TrafficKind kind) {
    return kind == TrafficKind::read || kind == TrafficKind::write;
}

constexpr std::uint32_t kNoSession = UINT32_MAX;

struct TrafficOperation {
    std::int64_t begin_ns = 0;           // from the first one of the traffic
    std::int64_t duration_ns = 0;        // 0 where the trace does not tell
    std::uint32_t user = 0;              // index in Traffic::users
    std::uint32_t file = 0;              // index in Traffic::files
    std::uint32_t session = kNoSession;  // index in Traffic::sessions: the open that it belongs to
    TrafficKind kind = TrafficKind::read;
    bool failed = false;
    std::uint64_t offset = 0;  // reads and writes only
    std::uint64_t bytes = 0;   // bytes moved

    std::int64_t end_ns() const { return begin_ns + duration_ns; }
    bool moves_data() const { return profile::moves_data(kind); }
};

/// From an open to its close.
struct TrafficSession {
    std::uint32_t file = 0;
    bool direct = false;       // O_DIRECT
    bool synchronous = false;  // O_SYNC, O_DSYNC: every write is a sync as well
    bool unopened = false;     // NFSv3 has no open; a client that knows the name asks nothing before it reads
};

struct TrafficFile {
    std::string name;
    std::uint64_t bytes = 0;     // the largest size that was seen
    std::uint64_t mappings = 0;  // mmap: no trace shows the reads by page faults
    bool regular = true;         // false: a directory, a device, a pipe, a socket
};

struct Traffic {
    std::string source;                        // the file it was read from
    std::string recorder;                      // "strace", "NFSv3", "NFSv4", "SMB2"
    std::vector<TrafficOperation> operations;  // by their beginnings
    std::vector<TrafficSession> sessions;
    std::vector<TrafficFile> files;
    std::vector<std::string> users;  // processes by their programs, or connected clients by their addresses
    std::uint64_t read_at_end = 0;   // reads that found the end of the file, moved nothing, and are left out
    bool has_durations = true;
    bool io_uring = false;           // programs have used it; what went through it is not in the traffic
    std::vector<std::string> notes;  // sentences about parts that could not be seen or understood
};

}  // namespace streamsim::profile
