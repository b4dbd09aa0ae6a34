// One remote procedure call of NFS and its answer, in words of our own: versions 3 and 4 alike.
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

/// What a server calls a file.
struct NfsHandle {
    std::uint32_t size = 0;
    std::array<char, 128> bytes;  // the first `size`
};

/// A file that is open: in version 4 with the state that the server keeps for it.
struct NfsOpenFile {
    NfsHandle handle;
    std::uint32_t state_sequence = 0;
    std::array<char, 12> state{};
    std::uint64_t owner = 0;           // each open has one of its own, so that none waits for another
    std::uint32_t owner_sequence = 0;  // of the next request that changes the state
};

enum class NfsOutcome : std::uint8_t {
    done,
    failed,   // `error` says why
    lost,     // nobody knows: the connection went, or the server did not understand
    later,    // the server asks for some patience
    stale,    // the handle is of no file any more
    expired,  // version 4: the server knows nothing of this state, or of this client
    is_link,  // version 4: a symbolic link cannot be opened
};

enum class NfsKind : std::uint8_t { file, directory, link, other };

/// Valid within the callback.
struct NfsReply {
    NfsOutcome outcome = NfsOutcome::lost;
    int error = 0;                    // failed
    std::string_view text;            // what the library says, or a symbolic link's
    NfsHandle handle;                 // lookup, mount, open, create (its size is 0: the server did not tell)
    NfsKind kind = NfsKind::file;     // lookup, attributes
    std::uint32_t links = 0;          // lookup of version 3: names of a file; 0: the server did not tell
    std::span<const std::byte> data;  // read
    bool end_of_file = false;         // read, list
    bool may_read = true;             // access
    bool may_write = true;            // access
    bool confirm = false;             // open: confirm_open comes next
    std::uint32_t number = 0;         // a port, the most that one read reads; 0: it does not say; bytes written
    std::uint32_t write_bytes = 0;    // server facts of version 3: the most that one write writes
    std::uint64_t size = 0;           // attributes
    bool stable = false;              // write: it is on stable storage
    std::uint32_t entries = 0;        // list, "." and ".." left out
    std::uint64_t cookie = 0;         // list: of the last entry
    std::uint32_t lease_s = 0;        // server facts of version 4
    std::uint32_t state_sequence = 0;
    std::array<char, 12> state{};
    std::uint64_t client = 0;
    std::array<char, 8> verifier{};  // of a client; of a list; of what was written and is not stable yet
    const std::vector<std::string>* names = nullptr;  // exports
};

class NfsLink;

/// Belongs to its user, and stays in place until it is answered.
struct NfsCall {
    /// Once for each call that was sent, never inside the call that sent it; the call may be sent again.
    void (*answer)(void* owner, NfsCall& call, const NfsReply& reply) = nullptr;
    void* owner = nullptr;
    NfsCall* next = nullptr;  // of the owner
    // of the link
    NfsLink* link = nullptr;
    std::uint32_t asked_bytes = 0;
};

}  // namespace streamsim::storage
