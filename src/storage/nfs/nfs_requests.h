// The requests that streamsim sends to NFS servers: versions 3 and 4.0, the mount service, the port mapper.
// Each answers its call once. False: the request was not sent, and no reply comes. "-> handle" names the
// members of NfsReply that a reply fills in.
//
// Replies are not trusted: sizes in them are checked against the request, and data of another length than the
// reply states fail with EPROTO.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "storage/nfs/nfs_call.h"
#include "storage/nfs/nfs_transport.h"

namespace streamsim::storage {

/// `mode` without the bits of this process's umask at the first call.
std::uint32_t without_umask(std::uint32_t mode);

/// The data limit of one request of libnfs; a longer reply breaks the connection.
constexpr std::uint32_t kNfsTransferBytesMax = 1U << 20;

enum class NfsService : std::uint8_t { mount, nfs };

/// -> number. Asks a port mapper for a service over TCP.
bool nfs_ask_port(NfsTransport& transport, NfsCall& call, NfsService service, Instant now);
/// -> handle. Asks a mount service for the root of an export.
bool nfs_mount(NfsTransport& transport, NfsCall& call, const std::string& path, Instant now);
/// -> names.
bool nfs_ask_exports(NfsTransport& transport, NfsCall& call, Instant now);

/// Asks a server of version 4 for the bytes that are free for an ordinary user at a path, on a context that is
/// mounted at its root; libnfs 4 itself gets this wrong. `answer` runs once, with an errno, or zero and the
/// bytes. False: not sent.
bool nfs4_ask_space(rpc_context* rpc,
                    const std::string& path,
                    void (*answer)(void* user, int error, std::uint64_t bytes),
                    void* user);

/// The requests of one version of NFS, 3 or 4, that go out on one connection.
class NfsRequests {
public:
    NfsRequests(NfsTransport& transport, std::uint32_t version, Instant now)
        : transport_(transport), four_(version == 4), now_(now) {}

    /// -> number; version 3, which alone uses `root`: also write_bytes and, if has_attributes, the root's kind;
    /// version 4: also lease_s and the handle of the server's root.
    bool server_limits(NfsCall& call, const NfsHandle& root) const;
    /// -> handle, kind; version 3: also links and size, if has_attributes.
    bool lookup(NfsCall& call, const NfsHandle& directory, const std::string& name) const;
    /// -> text.
    bool read_link(NfsCall& call, const NfsHandle& handle) const;
    /// -> data, end_of_file.
    bool read(NfsCall& call, const NfsOpenFile& file, std::uint64_t offset, std::uint32_t bytes) const;

    // Version 3.
    /// -> may_read, may_write.
    bool access(NfsCall& call, const NfsHandle& handle) const;
    /// -> number (of bytes), stable, verifier. Copies the bytes before it returns.
    bool write(NfsCall& call,
               const NfsHandle& file,
               std::uint64_t offset,
               std::span<const std::byte> bytes) const;
    /// -> verifier.
    bool commit(NfsCall& call, const NfsHandle& file) const;
    /// -> handle. EEXIST: the name exists.
    bool create(NfsCall& call, const NfsHandle& directory, const std::string& name) const;
    bool make_directory(NfsCall& call, const NfsHandle& directory, const std::string& name) const;
    bool remove(NfsCall& call, const NfsHandle& directory, const std::string& name) const;
    bool remove_directory(NfsCall& call, const NfsHandle& directory, const std::string& name) const;
    bool rename(NfsCall& call,
                const NfsHandle& from,
                const std::string& name,
                const NfsHandle& to,
                const std::string& new_name) const;
    /// -> kind, links, size.
    bool attributes(NfsCall& call, const NfsHandle& handle) const;
    /// -> entries, cookie, verifier, end_of_file. `cookie` and `verifier` are those of the previous reply, or
    /// zeroes to list from the beginning.
    bool list(NfsCall& call,
              const NfsHandle& directory,
              std::uint64_t cookie,
              const std::array<char, 8>& verifier) const;

    // Version 4.
    /// -> client, verifier.
    bool set_client(NfsCall& call, const std::string& name, std::uint64_t boot) const;
    bool confirm_client(NfsCall& call, std::uint64_t client, const std::array<char, 8>& verifier) const;
    bool renew(NfsCall& call, std::uint64_t client) const;
    /// -> handle, state, confirm. The caller chooses `file.owner`.
    bool open(NfsCall& call,
              std::uint64_t client,
              const NfsHandle& directory,
              const std::string& name,
              const NfsOpenFile& file) const;
    /// -> state.
    bool confirm_open(NfsCall& call, const NfsOpenFile& file) const;
    bool close(NfsCall& call, const NfsOpenFile& file) const;

private:
    /// Sends a request by a function of libnfs; `decode` takes its reply.
    template <auto decode, typename Begin, typename Arguments>
    bool send(NfsCall& call, Begin begin, Arguments arguments) const;

    NfsTransport& transport_;
    bool four_;
    Instant now_;
};

}  // namespace streamsim::storage
