// Traffic: what programs asked of their files, operation by operation, as a trace or a capture recorded it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace streamsim::profile {

/// Kinds of operations; workload documents know all but sync and other.
enum class TrafficKind : std::uint8_t { read, write, open, stat, create, remove, rename, list, sync, other };
constexpr std::size_t kTrafficKinds = 10;

constexpr const char* to_string(TrafficKind kind) {
    switch (kind) {
        case TrafficKind::read: return "read";
        case TrafficKind::write: return "write";
        case TrafficKind::open: return "open";  // of an existing file
        case TrafficKind::stat:
            return "stat";                          // every question about a name or a file, also for one that
                                                    // is not there
        case TrafficKind::create: return "create";  // an open that made the file, or emptied it
        case TrafficKind::remove: return "remove";
        case TrafficKind::rename: return "rename";
        case TrafficKind::list: return "list";    // of a directory; several calls of one listing count once
        case TrafficKind::sync: return "sync";    // written data goes to stable storage
        case TrafficKind::other: return "other";  // directories made, files cut, attributes set
    }
    return "?";
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
};

struct TrafficFile {
    std::string name;
    std::uint64_t bytes = 0;     // the largest size that was seen
    std::uint64_t mappings = 0;  // mmap: no trace shows the reads by page faults
    bool regular = true;         // false: a directory, a device, a pipe, a socket
};

/// One process, or one connected client.
struct TrafficUser {
    std::string name;  // name of the program, or address of the client
};

struct Traffic {
    std::string source;                        // the file it was read from
    std::string recorder;                      // "strace", "NFSv3", "NFSv4", "SMB2"
    std::vector<TrafficOperation> operations;  // by their beginnings
    std::vector<TrafficSession> sessions;
    std::vector<TrafficFile> files;
    std::vector<TrafficUser> users;
    std::uint64_t read_at_end =
        0;  // reads that found the end of the file: they moved nothing, and are left out
    bool has_durations = true;
    std::vector<std::string> notes;  // sentences about parts that could not be seen or understood
};

}  // namespace streamsim::profile
