// The protocol between streamsim and its helper program streamsim-smb, which speaks SMB. libsmbclient blocks
// and knows one thread only, so it runs in processes of its own: one for each connection.
//
// Both ends are of one build and on one computer: the structs are sent as they are, one in each packet of a
// SOCK_SEQPACKET socket, followed by texts that each end with a NUL. Requests are answered in order, each once.
// File data never go through the socket: they lie in slots, memory that both processes have mapped.
#pragma once

#include <cstddef>
#include <cstdint>

namespace streamsim::storage {

constexpr int kSmbSocket = 3;  // the helper's descriptor of the socket
constexpr int kSmbMemory = 4;  // the helper's descriptor of a memfd of whole slots
constexpr std::size_t kSmbSlotBytes = std::size_t{4} << 20;
constexpr std::uint32_t kSmbDepth = 2;               // requests of a process at a time
constexpr std::uint32_t kSmbSlots = kSmbDepth + 1;   // data are copied from one more
constexpr std::uint32_t kSmbConnectId = kSmbDepth;   // of SmbCall::connect
constexpr std::size_t kSmbTextBytesMax = 16 * 1024;  // all texts of a packet

enum class SmbCall : std::uint32_t {
    connect,         // texts: host, directory (/SHARE/DIR), user, domain, password; port, timeout_ms,
                     // dialect, read_bytes. Answer: as stat, of the directory
    open,            // text: path. Answer: file
    read,            // file, offset, bytes, slot. Answer: bytes in the slot; fewer: the file ends there
    close,           // file, of open or create
    stat,            // text: path. Answer: directory, bytes, modified_s, changed_s
    size,            // file. Answer: bytes
    list,            // text: path; empty: continue. Answer: names in the slot, `bytes` of them; more
    create,          // text: path. Answer: file
    write,           // file, offset, bytes in the slot
    make_directory,  // text: path
    rename,          // texts: from, to, which must not exist
    remove,          // text: path of a file or an empty directory
    free_space,      // text: path. Answer: bytes
};

struct SmbRequest {
    SmbCall call = SmbCall::connect;
    std::uint32_t id = 0;  // the answer has the same
    std::int32_t file = -1;
    std::uint32_t slot = 0;
    std::uint32_t port = 0;
    std::uint32_t timeout_ms = 0;  // for each step of connecting, and for each later request
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    // connect: the answer to an earlier connection, which saves asking again; 0: none
    std::uint32_t dialect = 0;
    std::uint32_t read_bytes = 0;
};

/// The steps of connecting, in order.
enum class SmbStep : std::uint32_t {
    find_host,
    reach_port,
    get_answer,   // the server answers the first message of SMB 2 or 3
    log_in,       // the server accepts user and password
    enter_share,  // the share exists
    may_enter,    // and this user may use it
    connected,
};

struct SmbAnswer {
    std::uint32_t id = 0;
    std::int32_t error = 0;         // errno
    std::int64_t completed_ns = 0;  // CLOCK_MONOTONIC, when the server had answered
    std::uint64_t bytes = 0;
    std::int64_t modified_s = 0;
    std::int64_t changed_s = 0;
    std::int32_t file = -1;
    std::uint32_t requests = 0;  // sent to the server, as far as is known
    bool directory = false;
    bool more = false;
    bool lost = false;  // the connection is lost: this process ends, and its files are closed
    // connect
    std::int32_t directory_error = 0;   // errno; the share is accessible, and the directory is not
    SmbStep step = SmbStep::find_host;  // with an error: the step that failed
    std::uint32_t dialect = 0;          // 0x0311 for SMB 3.1.1
    std::uint32_t read_bytes = 0;       // the largest read of one request
    // TCP statistics, in every answer
    std::uint64_t retransmitted_segments = 0;
    std::int64_t rtt_ns = -1;  // -1: not known
};

}  // namespace streamsim::storage
