// One remote procedure call of NFS and its reply, in the same types for versions 3 and 4.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace streamsim::storage {

constexpr Duration kRetryPause = milliseconds(100);  // when the server asks to try again later
constexpr Duration kLossPause = milliseconds(20);    // when the connection was lost

/// The server's identifier of a file.
struct NfsHandle {
    std::uint32_t size = 0;
    std::array<char, 128> bytes;  // only the first `size` count
};

/// An open file; in version 4 with the state that the server keeps for it.
struct NfsOpenFile {
    NfsHandle handle;
    std::uint32_t state_sequence = 0;
    std::array<char, 12> state{};
    std::uint64_t owner = 0;           // each open has an owner of its own, so that none waits for another
    std::uint32_t owner_sequence = 0;  // for the next request that changes the state
};

enum class NfsOutcome : std::uint8_t {
    done,
    failed,   // `error` says why
    lost,     // unknown: the connection was lost, or the server did not understand
    later,    // the server asks to try again later
    stale,    // the file of this handle exists no more
    expired,  // version 4: the server has forgotten this state, or this client
    is_link,  // version 4: a symbolic link cannot be opened
};

enum class NfsKind : std::uint8_t { file, directory, link, other };

/// Valid within the callback. The comments name the requests that fill in a member.
struct NfsReply {
    NfsOutcome outcome = NfsOutcome::lost;
    int error = 0;                    // failed
    std::string_view text;            // lost: the server's refusal; read_link: the target
    NfsHandle handle;                 // lookup, mount, open, create (size 0: the server did not give it)
    NfsKind kind = NfsKind::file;     // lookup, attributes, limits of version 3
    bool has_attributes = false;      // attributes; lookup, limits of version 3: the server told the kind
    std::uint32_t links = 0;          // attributes, lookup of version 3: hard links of the file; 0: unknown
    std::span<const std::byte> data;  // read
    bool end_of_file = false;         // read, list
    bool may_read = true;             // access
    bool may_write = true;            // access
    bool confirm = false;             // open: confirm_open comes next
    std::uint32_t number = 0;         // port; limits: largest read, 0: unknown; write: bytes written
    std::uint32_t write_bytes = 0;    // limits of version 3: largest write
    std::uint64_t size = 0;           // attributes, lookup of version 3
    bool stable = false;              // write: the bytes are on stable storage
    std::uint32_t entries = 0;        // list, "." and ".." left out
    std::uint64_t cookie = 0;         // list: position after the last entry
    std::uint32_t lease_s = 0;        // limits of version 4
    std::uint32_t state_sequence = 0;
    std::array<char, 12> state{};
    std::uint64_t client = 0;
    std::array<char, 8> verifier{};  // of a client, of a list, or of writes that are not stable yet
    std::vector<std::string> names;  // exports
};

class NfsTransport;

/// Belongs to its user, and stays at its address until the reply.
struct NfsCall {
    /// Runs once for each call that was sent, outside of the function that sent it; the call may be sent again.
    void (*answer)(void* owner, NfsCall& call, const NfsReply& reply) = nullptr;
    void* owner = nullptr;
    NfsCall* next = nullptr;  // for the owner
    // for the transport
    NfsTransport* transport = nullptr;
    std::uint32_t asked_bytes = 0;
};

}  // namespace streamsim::storage
