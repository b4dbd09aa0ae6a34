// The requests that streamsim makes of NFS servers: versions 3 and 4.0, the mount service, the port mapper.
// Each answers its call once; false: it was not sent, and nothing comes.
//
// Replies are not trusted: what they say about sizes is held against what was asked for, and data that are not
// as long as they say fail with EPROTO.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "storage/nfs/nfs_call.h"
#include "storage/nfs/nfs_link.h"

namespace streamsim::storage {

/// `mode` without what this process's umask takes away, as it was when it was first asked.
std::uint32_t without_umask(std::uint32_t mode);

/// The most that one reply of libnfs may carry; longer ones break the connection.
constexpr std::uint32_t kNfsReadMost = 1U << 20;

/// Does nothing; who calls it has what nfs_decode_guard.cc says linked into the program.
void use_nfs_decode_guard();

enum class NfsService : std::uint8_t { mount, nfs };

/// -> number. Asks a port mapper for a service over TCP.
bool nfs_ask_port(NfsLink& link, NfsCall& call, NfsService service, Instant now);
/// -> handle. Asks a mount service for the root of an export.
bool nfs_mount(NfsLink& link, NfsCall& call, const std::string& path, Instant now);
/// -> names.
bool nfs_ask_exports(NfsLink& link, NfsCall& call, Instant now);

/// What libnfs 4 does not get right by itself: the bytes that are free for an ordinary user at a path of a
/// server of version 4, on a context that is mounted at its root. `answer` once: an errno, or zero and the
/// bytes. False: not sent.
bool nfs4_ask_space(rpc_context* rpc,
                    const std::string& path,
                    void (*answer)(void* user, int error, std::uint64_t bytes),
                    void* user);

/// What of NFS differs between its versions. `version` is 3 or 4.
class NfsRequests {
public:
    explicit NfsRequests(std::uint32_t version) : four_(version == 4) {}

    /// -> number; of version 4 also lease_s and the handle of the server's root. `root` is of version 3.
    bool server_facts(NfsLink& link, NfsCall& call, const NfsHandle& root, Instant now) const;
    /// -> handle, kind.
    bool lookup(
        NfsLink& link, NfsCall& call, const NfsHandle& directory, std::string_view name, Instant now) const;
    /// -> text.
    bool read_link(NfsLink& link, NfsCall& call, const NfsHandle& handle, Instant now) const;
    /// -> data, end_of_file.
    bool read(NfsLink& link,
              NfsCall& call,
              const NfsOpenFile& file,
              std::uint64_t offset,
              std::uint32_t bytes,
              Instant now) const;

    // Version 3.
    /// -> may_read, may_write.
    static bool access(NfsLink& link, NfsCall& call, const NfsHandle& handle, Instant now);
    /// -> number (of bytes), stable, verifier. The bytes have been copied when it returns.
    static bool write(NfsLink& link,
                      NfsCall& call,
                      const NfsHandle& file,
                      std::uint64_t offset,
                      std::span<const std::byte> bytes,
                      Instant now);
    /// -> verifier.
    static bool commit(NfsLink& link, NfsCall& call, const NfsHandle& file, Instant now);
    /// -> handle. EEXIST where it is there.
    static bool create(
        NfsLink& link, NfsCall& call, const NfsHandle& directory, const std::string& name, Instant now);
    static bool make_directory(
        NfsLink& link, NfsCall& call, const NfsHandle& directory, const std::string& name, Instant now);
    static bool remove(
        NfsLink& link, NfsCall& call, const NfsHandle& directory, const std::string& name, Instant now);
    static bool remove_directory(
        NfsLink& link, NfsCall& call, const NfsHandle& directory, const std::string& name, Instant now);
    static bool rename(NfsLink& link,
                       NfsCall& call,
                       const NfsHandle& from,
                       const std::string& name,
                       const NfsHandle& to,
                       const std::string& new_name,
                       Instant now);
    /// -> kind, size.
    static bool attributes(NfsLink& link, NfsCall& call, const NfsHandle& handle, Instant now);
    /// -> entries, cookie, verifier, end_of_file. Goes on where the reply before ended; zeroes: at the
    /// beginning.
    static bool list(NfsLink& link,
                     NfsCall& call,
                     const NfsHandle& directory,
                     std::uint64_t cookie,
                     const std::array<char, 8>& verifier,
                     Instant now);

    // Version 4.
    /// -> client, verifier.
    static bool set_client(
        NfsLink& link, NfsCall& call, const std::string& name, std::uint64_t boot, Instant now);
    static bool confirm_client(
        NfsLink& link, NfsCall& call, std::uint64_t client, const std::array<char, 8>& verifier, Instant now);
    static bool renew(NfsLink& link, NfsCall& call, std::uint64_t client, Instant now);
    /// -> handle, state, confirm. `file.owner` is the caller's choice.
    static bool open(NfsLink& link,
                     NfsCall& call,
                     std::uint64_t client,
                     const NfsHandle& directory,
                     std::string_view name,
                     const NfsOpenFile& file,
                     Instant now);
    /// -> state.
    static bool confirm_open(NfsLink& link, NfsCall& call, const NfsOpenFile& file, Instant now);
    static bool close(NfsLink& link, NfsCall& call, const NfsOpenFile& file, Instant now);

private:
    bool four_;
};

}  // namespace streamsim::storage
