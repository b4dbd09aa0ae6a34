// The requests of version 3 that write, and those by name.
#include <cstring>
#include <string_view>

#include "storage/nfs/nfs_reply.h"
#include "storage/nfs/system/own_user.h"

namespace streamsim::storage {
namespace {

constexpr std::uint32_t kFileMode = 0666;
constexpr std::uint32_t kDirectoryMode = 0777;
constexpr std::uint32_t kListReplyBytes = 32U << 10;

diropargs3 entry_of(const NfsHandle& directory, const std::string& name) {
    return {handle3(directory), const_cast<char*>(name.c_str())};
}

sattr3 new_attributes(std::uint32_t mode) {
    sattr3 out{};
    out.mode.set_it = 1;
    out.mode.set_mode3_u.mode = without_umask(mode);
    return out;
}

void decode_write(const void* data, const NfsCall& call, NfsReply& reply) {
    const WRITE3resok& ok = static_cast<const WRITE3res*>(data)->WRITE3res_u.resok;
    // With a count of zero the write would never end.
    if (ok.count > call.asked_bytes || ok.count == 0) return fail(reply, EPROTO);
    reply.number = ok.count;
    reply.stable = enumeration_number(ok.committed) != UNSTABLE;
    std::memcpy(reply.verifier.data(), ok.verf, reply.verifier.size());
}

void decode_commit(const void* data, const NfsCall&, NfsReply& reply) {
    const COMMIT3resok& ok = static_cast<const COMMIT3res*>(data)->COMMIT3res_u.resok;
    std::memcpy(reply.verifier.data(), ok.verf, reply.verifier.size());
}

void decode_create(const void* data, const NfsCall&, NfsReply& reply) {
    const post_op_fh3& made = static_cast<const CREATE3res*>(data)->CREATE3res_u.resok.obj;
    const auto& handle = made.post_op_fh3_u.handle.data;
    if (made.handle_follows != 0) set_handle(reply, handle.data_val, handle.data_len);
}

void decode_attributes(const void* data, const NfsCall&, NfsReply& reply) {
    const fattr3& attributes = static_cast<const GETATTR3res*>(data)->GETATTR3res_u.resok.obj_attributes;
    reply.has_attributes = true;
    reply.kind = kind_of(enumeration_number(attributes.type));
    reply.links = attributes.nlink;
    reply.size = attributes.size;
}

void decode_list(const void* data, const NfsCall&, NfsReply& reply) {
    const READDIR3resok& ok = static_cast<const READDIR3res*>(data)->READDIR3res_u.resok;
    for (const entry3* next = ok.reply.entries; next != nullptr;) {
        const entry3 entry = aligned(next);
        next = entry.nextentry;
        const std::string_view name = entry.name == nullptr ? "" : entry.name;
        if (name != "." && name != "..") ++reply.entries;
        reply.cookie = entry.cookie;
    }
    reply.end_of_file = ok.reply.eof != 0;
    std::memcpy(reply.verifier.data(), ok.cookieverf, reply.verifier.size());
    if (ok.reply.entries == nullptr && !reply.end_of_file) fail(reply, EPROTO);  // the list would never end
}

}  // namespace

std::uint32_t without_umask(std::uint32_t mode) {
    return mode & ~own_umask();
}

bool NfsRequests::write(NfsCall& call,
                        const NfsHandle& file,
                        std::uint64_t offset,
                        std::span<const std::byte> bytes) const {
    call.asked_bytes = static_cast<std::uint32_t>(bytes.size());
    WRITE3args args{};
    args.file = handle3(file);
    args.offset = offset;
    args.count = call.asked_bytes;
    args.stable = UNSTABLE;
    args.data.data_len = call.asked_bytes;
    args.data.data_val = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
    return send<decode_write>(call, rpc_nfs3_write_async, args);
}

bool NfsRequests::commit(NfsCall& call, const NfsHandle& file) const {
    return send<decode_commit>(call, rpc_nfs3_commit_async,
                               COMMIT3args{handle3(file), 0, 0});  // the whole file
}

bool NfsRequests::create(NfsCall& call, const NfsHandle& directory, const std::string& name) const {
    CREATE3args args{};
    args.where = entry_of(directory, name);
    args.how.mode = GUARDED;
    args.how.createhow3_u.g_obj_attributes = new_attributes(kFileMode);
    return send<decode_create>(call, rpc_nfs3_create_async, args);
}

bool NfsRequests::make_directory(NfsCall& call, const NfsHandle& directory, const std::string& name) const {
    const MKDIR3args args{entry_of(directory, name), new_attributes(kDirectoryMode)};
    return send<decode_nothing>(call, rpc_nfs3_mkdir_async, args);
}

bool NfsRequests::remove(NfsCall& call, const NfsHandle& directory, const std::string& name) const {
    return send<decode_nothing>(call, rpc_nfs3_remove_async, REMOVE3args{entry_of(directory, name)});
}

bool NfsRequests::remove_directory(NfsCall& call, const NfsHandle& directory, const std::string& name) const {
    return send<decode_nothing>(call, rpc_nfs3_rmdir_async, RMDIR3args{entry_of(directory, name)});
}

bool NfsRequests::rename(NfsCall& call,
                         const NfsHandle& from,
                         const std::string& name,
                         const NfsHandle& to,
                         const std::string& new_name) const {
    const RENAME3args args{entry_of(from, name), entry_of(to, new_name)};
    return send<decode_nothing>(call, rpc_nfs3_rename_async, args);
}

bool NfsRequests::attributes(NfsCall& call, const NfsHandle& handle) const {
    return send<decode_attributes>(call, rpc_nfs3_getattr_async, GETATTR3args{handle3(handle)});
}

bool NfsRequests::list(NfsCall& call,
                       const NfsHandle& directory,
                       std::uint64_t cookie,
                       const std::array<char, 8>& verifier) const {
    READDIR3args args{};
    args.dir = handle3(directory);
    args.cookie = cookie;
    std::memcpy(args.cookieverf, verifier.data(), verifier.size());
    args.count = kListReplyBytes;
    return send<decode_list>(call, rpc_nfs3_readdir_async, args);
}

}  // namespace streamsim::storage
