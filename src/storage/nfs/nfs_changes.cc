// The requests of version 3 that change something, and those about names.
#include <sys/stat.h>

#include <string_view>

#include "storage/nfs/nfs_reply.h"

namespace streamsim::storage {
namespace {

constexpr std::uint32_t kFileMode = 0666;
constexpr std::uint32_t kDirectoryMode = 0777;
constexpr std::uint32_t kListBytes = 32U << 10;  // of one reply

diropargs3 place(const NfsHandle& directory, const std::string& name) {
    return {handle3(directory), const_cast<char*>(name.c_str())};
}

sattr3 new_attributes(std::uint32_t mode) {
    sattr3 out{};
    out.mode.set_it = 1;
    out.mode.set_mode3_u.mode = without_umask(mode);
    return out;
}

void decode_write(const void* data, const NfsCall& call, NfsReply& reply) {
    const auto& result = *static_cast<const WRITE3res*>(data);
    note_status(static_cast<int>(result.status), reply);
    if (reply.outcome != NfsOutcome::done) return;
    const WRITE3resok& ok = result.WRITE3res_u.resok;
    // None at all would go on for ever.
    if (ok.count > call.asked_bytes || ok.count == 0) return fail(reply, EPROTO);
    reply.number = ok.count;
    reply.stable = ok.committed != UNSTABLE;
    std::memcpy(reply.verifier.data(), ok.verf, reply.verifier.size());
}

void decode_commit(const void* data, const NfsCall&, NfsReply& reply) {
    const auto& result = *static_cast<const COMMIT3res*>(data);
    note_status(static_cast<int>(result.status), reply);
    if (reply.outcome == NfsOutcome::done)
        std::memcpy(reply.verifier.data(), result.COMMIT3res_u.resok.verf, reply.verifier.size());
}

void decode_create(const void* data, const NfsCall&, NfsReply& reply) {
    const auto& result = *static_cast<const CREATE3res*>(data);
    note_status(static_cast<int>(result.status), reply);
    if (reply.outcome != NfsOutcome::done) return;
    const post_op_fh3& made = result.CREATE3res_u.resok.obj;
    const auto& handle = made.post_op_fh3_u.handle.data;
    if (made.handle_follows != 0 && !set_handle(reply, handle.data_val, handle.data_len)) fail(reply, EPROTO);
}

/// Every result begins with it.
void decode_status(const void* data, const NfsCall&, NfsReply& reply) {
    note_status(static_cast<int>(*static_cast<const nfsstat3*>(data)), reply);
}

void decode_attributes(const void* data, const NfsCall&, NfsReply& reply) {
    const auto& result = *static_cast<const GETATTR3res*>(data);
    note_status(static_cast<int>(result.status), reply);
    if (reply.outcome != NfsOutcome::done) return;
    const fattr3& attributes = result.GETATTR3res_u.resok.obj_attributes;
    reply.kind = kind_of(static_cast<int>(attributes.type));
    reply.size = attributes.size;
}

void decode_list(const void* data, const NfsCall&, NfsReply& reply) {
    const auto& result = *static_cast<const READDIR3res*>(data);
    note_status(static_cast<int>(result.status), reply);
    if (reply.outcome != NfsOutcome::done) return;
    const READDIR3resok& ok = result.READDIR3res_u.resok;
    for (const entry3* entry = ok.reply.entries; entry != nullptr; entry = entry->nextentry) {
        const std::string_view name = entry->name == nullptr ? "" : entry->name;
        if (name != "." && name != "..") ++reply.entries;
        reply.cookie = entry->cookie;
    }
    reply.end_of_file = ok.reply.eof != 0;
    std::memcpy(reply.verifier.data(), ok.cookieverf, reply.verifier.size());
    if (ok.reply.entries == nullptr && !reply.end_of_file) fail(reply, EPROTO);  // it would go on for ever
}

}  // namespace

std::uint32_t without_umask(std::uint32_t mode) {
    static const mode_t mask = [] {
        const mode_t was = umask(0);
        umask(was);
        return was;
    }();
    return mode & ~mask;
}

bool NfsRequests::write(NfsLink& link,
                        NfsCall& call,
                        const NfsHandle& file,
                        std::uint64_t offset,
                        std::span<const std::byte> bytes,
                        Instant now) {
    if (link.rpc() == nullptr) return false;
    call.asked_bytes = static_cast<std::uint32_t>(bytes.size());
    WRITE3args args{};
    args.file = handle3(file);
    args.offset = offset;
    args.count = call.asked_bytes;
    args.stable = UNSTABLE;
    args.data.data_len = call.asked_bytes;
    args.data.data_val = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
    return sent(link, call, now, rpc_nfs3_write_async(link.rpc(), on_reply<decode_write>, &args, &call));
}

bool NfsRequests::commit(NfsLink& link, NfsCall& call, const NfsHandle& file, Instant now) {
    if (link.rpc() == nullptr) return false;
    COMMIT3args args{handle3(file), 0, 0};  // all of it
    return sent(link, call, now, rpc_nfs3_commit_async(link.rpc(), on_reply<decode_commit>, &args, &call));
}

bool NfsRequests::create(
    NfsLink& link, NfsCall& call, const NfsHandle& directory, const std::string& name, Instant now) {
    if (link.rpc() == nullptr) return false;
    CREATE3args args{};
    args.where = place(directory, name);
    args.how.mode = GUARDED;
    args.how.createhow3_u.g_obj_attributes = new_attributes(kFileMode);
    return sent(link, call, now, rpc_nfs3_create_async(link.rpc(), on_reply<decode_create>, &args, &call));
}

bool NfsRequests::make_directory(
    NfsLink& link, NfsCall& call, const NfsHandle& directory, const std::string& name, Instant now) {
    if (link.rpc() == nullptr) return false;
    MKDIR3args args{place(directory, name), new_attributes(kDirectoryMode)};
    return sent(link, call, now, rpc_nfs3_mkdir_async(link.rpc(), on_reply<decode_status>, &args, &call));
}

bool NfsRequests::remove(
    NfsLink& link, NfsCall& call, const NfsHandle& directory, const std::string& name, Instant now) {
    if (link.rpc() == nullptr) return false;
    REMOVE3args args{place(directory, name)};
    return sent(link, call, now, rpc_nfs3_remove_async(link.rpc(), on_reply<decode_status>, &args, &call));
}

bool NfsRequests::remove_directory(
    NfsLink& link, NfsCall& call, const NfsHandle& directory, const std::string& name, Instant now) {
    if (link.rpc() == nullptr) return false;
    RMDIR3args args{place(directory, name)};
    return sent(link, call, now, rpc_nfs3_rmdir_async(link.rpc(), on_reply<decode_status>, &args, &call));
}

bool NfsRequests::rename(NfsLink& link,
                         NfsCall& call,
                         const NfsHandle& from,
                         const std::string& name,
                         const NfsHandle& to,
                         const std::string& new_name,
                         Instant now) {
    if (link.rpc() == nullptr) return false;
    RENAME3args args{place(from, name), place(to, new_name)};
    return sent(link, call, now, rpc_nfs3_rename_async(link.rpc(), on_reply<decode_status>, &args, &call));
}

bool NfsRequests::attributes(NfsLink& link, NfsCall& call, const NfsHandle& handle, Instant now) {
    if (link.rpc() == nullptr) return false;
    GETATTR3args args{handle3(handle)};
    return sent(link, call, now, rpc_nfs3_getattr_async(link.rpc(), on_reply<decode_attributes>, &args, &call));
}

bool NfsRequests::list(NfsLink& link,
                       NfsCall& call,
                       const NfsHandle& directory,
                       std::uint64_t cookie,
                       const std::array<char, 8>& verifier,
                       Instant now) {
    if (link.rpc() == nullptr) return false;
    READDIR3args args{};
    args.dir = handle3(directory);
    args.cookie = cookie;
    std::memcpy(args.cookieverf, verifier.data(), verifier.size());
    args.count = kListBytes;
    return sent(link, call, now, rpc_nfs3_readdir_async(link.rpc(), on_reply<decode_list>, &args, &call));
}

}  // namespace streamsim::storage
