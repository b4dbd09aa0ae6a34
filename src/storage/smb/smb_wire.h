// What streamsim and streamsim-smb, the program that speaks SMB for it, say to each other. libsmbclient blocks
// and knows one thread only, so it lives in processes of its own: one for each connection.
//
// Both ends are of one build and on one computer: the structs are sent as they are, one in each packet of a
// socket that keeps packets apart (SOCK_SEQPACKET), followed by texts that each end with a NUL. Requests are
// answered in order, each once. What files hold never goes through the socket: it lies in slots, memory that
// both have mapped.
#pragma once

#include <cstddef>
#include <cstdint>

namespace streamsim::storage {

constexpr int kSmbSocket = 3;  // of the helper: where requests come from
constexpr int kSmbMemory = 4;  // of the helper: a memfd of whole slots
constexpr std::size_t kSmbSlotBytes = std::size_t{4} << 20;
constexpr std::size_t kSmbTextBytes = 16 * 1024;  // the most that a packet has

enum class SmbCall : std::uint32_t {
    connect,         // texts: host, directory (/SHARE/DIR), user, domain, password; port, timeout_ms
    open,            // text: path. Answer: file
    read,            // file, offset, bytes, slot. Answer: bytes in the slot; fewer: the file ends there
    close,           // file, of open or create
    stat,            // text: path. Answer: directory, bytes, modified_s
    size,            // file. Answer: bytes
    list,            // text: path; empty: goes on. Answer: names in the slot, `bytes` of them; more
    create,          // text: path. Answer: file
    write,           // file, offset, bytes in the slot
    make_directory,  // text: path
    rename,          // texts: from, to, which must not exist
    remove,          // text: path of a file or an empty directory
    free_space,      // text: path. Answer: bytes
};

struct SmbRequest {
    SmbCall call = SmbCall::connect;
    std::uint32_t id = 0;  // given back
    std::int32_t file = -1;
    std::uint32_t slot = 0;
    std::uint32_t port = 0;
    std::uint32_t timeout_ms = 0;  // of each step of connecting, and of each request later
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

/// How far connecting came.
enum class SmbStep : std::uint32_t {
    find_host,
    reach_port,
    get_answer,   // to the first message, by SMB 2 or 3
    log_in,       // the user is who he says
    enter_share,  // it is there
    may_enter,    // and open to this user
    find_directory,
    connected,
};

struct SmbAnswer {
    std::uint32_t id = 0;
    std::int32_t error = 0;         // errno
    std::int64_t completed_ns = 0;  // CLOCK_MONOTONIC, when the server's answer was there
    std::uint64_t bytes = 0;
    std::int64_t modified_s = 0;
    std::int32_t file = -1;
    std::uint32_t requests = 0;  // that were sent to the server, as far as is known
    bool directory = false;
    bool more = false;
    bool lost = false;  // the connection is gone, and with it this process and its files
    // After connect.
    SmbStep step = SmbStep::find_host;  // with an error: where it happened
    std::uint32_t dialect = 0;          // 0x0311 for SMB 3.1.1
    std::uint32_t read_bytes = 0;       // the most that the server gives for one request
    // Of TCP, always.
    std::uint64_t retransmitted_segments = 0;
    std::int64_t rtt_ns = -1;  // -1: not known
};

}  // namespace streamsim::storage
