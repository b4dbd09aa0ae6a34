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

/// Does nothing; a call to it links nfs_decode_guard.cc into the program.
void use_nfs_decode_guard();

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

/// The requests of one version of NFS, 3 or 4.
class NfsRequests {
public:
    explicit NfsRequests(std::uint32_t version) : four_(version == 4) {}

    /// -> number; version 4: also lease_s and the handle of the server's root. `root` is used by version 3
    /// only.
    bool server_limits(NfsTransport& transport, NfsCall& call, const NfsHandle& root, Instant now) const;
    /// -> handle, kind.
    bool lookup(NfsTransport& transport,
                NfsCall& call,
                const NfsHandle& directory,
                std::string_view name,
                Instant now) const;
    /// -> text.
    bool read_link(NfsTransport& transport, NfsCall& call, const NfsHandle& handle, Instant now) const;
    /// -> data, end_of_file.
    bool read(NfsTransport& transport,
              NfsCall& call,
              const NfsOpenFile& file,
              std::uint64_t offset,
              std::uint32_t bytes,
              Instant now) const;

    // Version 3.
    /// -> may_read, may_write.
    static bool access(NfsTransport& transport, NfsCall& call, const NfsHandle& handle, Instant now);
    /// -> number (of bytes), stable, verifier. Copies the bytes before it returns.
    static bool write(NfsTransport& transport,
                      NfsCall& call,
                      const NfsHandle& file,
                      std::uint64_t offset,
                      std::span<const std::byte> bytes,
                      Instant now);
    /// -> verifier.
    static bool commit(NfsTransport& transport, NfsCall& call, const NfsHandle& file, Instant now);
    /// -> handle. EEXIST: the name exists.
    static bool create(NfsTransport& transport,
                       NfsCall& call,
                       const NfsHandle& directory,
                       const std::string& name,
                       Instant now);
    static bool make_directory(NfsTransport& transport,
                               NfsCall& call,
                               const NfsHandle& directory,
                               const std::string& name,
                               Instant now);
    static bool remove(NfsTransport& transport,
                       NfsCall& call,
                       const NfsHandle& directory,
                       const std::string& name,
                       Instant now);
    static bool remove_directory(NfsTransport& transport,
                                 NfsCall& call,
                                 const NfsHandle& directory,
                                 const std::string& name,
                                 Instant now);
    static bool rename(NfsTransport& transport,
                       NfsCall& call,
                       const NfsHandle& from,
                       const std::string& name,
                       const NfsHandle& to,
                       const std::string& new_name,
                       Instant now);
    /// -> kind, size.
    static bool attributes(NfsTransport& transport, NfsCall& call, const NfsHandle& handle, Instant now);
    /// -> entries, cookie, verifier, end_of_file. `cookie` and `verifier` are those of the previous reply, or
    /// zeroes to list from the beginning.
    static bool list(NfsTransport& transport,
                     NfsCall& call,
                     const NfsHandle& directory,
                     std::uint64_t cookie,
                     const std::array<char, 8>& verifier,
                     Instant now);

    // Version 4.
    /// -> client, verifier.
    static bool set_client(
        NfsTransport& transport, NfsCall& call, const std::string& name, std::uint64_t boot, Instant now);
    static bool confirm_client(NfsTransport& transport,
                               NfsCall& call,
                               std::uint64_t client,
                               const std::array<char, 8>& verifier,
                               Instant now);
    static bool renew(NfsTransport& transport, NfsCall& call, std::uint64_t client, Instant now);
    /// -> handle, state, confirm. The caller chooses `file.owner`.
    static bool open(NfsTransport& transport,
                     NfsCall& call,
                     std::uint64_t client,
                     const NfsHandle& directory,
                     std::string_view name,
                     const NfsOpenFile& file,
                     Instant now);
    /// -> state.
    static bool confirm_open(NfsTransport& transport, NfsCall& call, const NfsOpenFile& file, Instant now);
    static bool close(NfsTransport& transport, NfsCall& call, const NfsOpenFile& file, Instant now);

private:
    bool four_;
};

}  // namespace streamsim::storage
