#include "storage/nfs/nfs_requests.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "storage/nfs/nfs_reply.h"

namespace streamsim::storage {
namespace {

/// Sets the data of a reply: `length` bytes, of `asked` that were requested.
void set_data(NfsReply& reply, const char* bytes, std::uint32_t length, std::uint32_t asked, bool end) {
    if (length > asked || (length > 0 && bytes == nullptr)) return fail(reply, EPROTO);
    reply.data = std::as_bytes(std::span(bytes, length));
    reply.end_of_file = end;
    if (length == 0 && asked > 0 && !end) fail(reply, EPROTO);  // the read would never end
}

// ---- the port mapper, the mount service

void decode_port(const void* data, const NfsCall&, NfsReply& reply) {
    reply.number = *static_cast<const std::uint32_t*>(data);
}

void decode_mount(const void* data, const NfsCall&, NfsReply& reply) {
    const auto& handle = static_cast<const mountres3*>(data)->mountres3_u.mountinfo.fhandle;
    set_handle(reply, handle.fhandle3_val, handle.fhandle3_len);
}

void decode_exports(const void* data, const NfsCall&, NfsReply& reply) {
    constexpr std::size_t kNamesMax = 1000;
    const exportnode* next = *static_cast<const exports*>(data);
    while (next != nullptr && reply.names.size() < kNamesMax) {
        const exportnode node = aligned(next);
        if (node.ex_dir != nullptr) reply.names.emplace_back(node.ex_dir);
        next = node.ex_next;
    }
}

// ---- version 3

void decode_limits3(const void* data, const NfsCall&, NfsReply& reply) {
    const FSINFO3resok& ok = static_cast<const FSINFO3res*>(data)->FSINFO3res_u.resok;
    reply.number = ok.rtmax;
    reply.write_bytes = ok.wtmax;
    if (ok.obj_attributes.attributes_follow == 0) return;
    reply.has_attributes = true;
    reply.kind = kind_of(enumeration_number(ok.obj_attributes.post_op_attr_u.attributes.type));
}

void decode_lookup3(const void* data, const NfsCall&, NfsReply& reply) {
    const LOOKUP3resok& ok = static_cast<const LOOKUP3res*>(data)->LOOKUP3res_u.resok;
    if (!set_handle(reply, ok.object.data.data_val, ok.object.data.data_len)) return;
    if (ok.obj_attributes.attributes_follow == 0) return;
    reply.has_attributes = true;
    reply.kind = kind_of(enumeration_number(ok.obj_attributes.post_op_attr_u.attributes.type));
    reply.links = ok.obj_attributes.post_op_attr_u.attributes.nlink;
    reply.size = ok.obj_attributes.post_op_attr_u.attributes.size;
}

void decode_access3(const void* data, const NfsCall&, NfsReply& reply) {
    const auto access = static_cast<const ACCESS3res*>(data)->ACCESS3res_u.resok.access;
    constexpr std::uint32_t kWrite = ACCESS3_MODIFY | ACCESS3_EXTEND;
    reply.may_read = (access & ACCESS3_READ) != 0;
    reply.may_write = (access & kWrite) == kWrite;
}

void decode_link3(const void* data, const NfsCall&, NfsReply& reply) {
    const char* const target = static_cast<const READLINK3res*>(data)->READLINK3res_u.resok.data;
    if (target == nullptr) return fail(reply, EPROTO);
    reply.text = target;
}

void decode_read3(const void* data, const NfsCall& call, NfsReply& reply) {
    const READ3resok& ok = static_cast<const READ3res*>(data)->READ3res_u.resok;
    if (ok.count != ok.data.data_len) return fail(reply, EPROTO);
    set_data(reply, ok.data.data_val, ok.data.data_len, call.asked_bytes, ok.eof != 0);
}

// ---- version 4

/// A compound request with its operations.
template <std::size_t operations_max>
class CompoundOf {
public:
    nfs_argop4& add(nfs_opnum4 operation) {
        nfs_argop4& added = operations_.at(count_++);
        added.argop = operation;
        return added;
    }
    void put_handle(const NfsHandle& handle) {
        auto& object = add(OP_PUTFH).nfs_argop4_u.opputfh.object;
        object.nfs_fh4_len = handle.size;
        object.nfs_fh4_val = const_cast<char*>(handle.bytes.data());
    }
    void get_attributes(std::uint32_t numbers, std::uint32_t numbers_above_31 = 0) {
        attributes_ = {numbers, numbers_above_31};
        auto& request = add(OP_GETATTR).nfs_argop4_u.opgetattr.attr_request;
        request.bitmap4_len = numbers_above_31 == 0 ? 1 : 2;
        request.bitmap4_val = attributes_.data();
    }
    /// Valid as long as this object.
    COMPOUND4args args() {
        COMPOUND4args args{};
        args.argarray.argarray_len = static_cast<u_int>(count_);
        args.argarray.argarray_val = operations_.data();
        return args;
    }

private:
    std::array<nfs_argop4, operations_max> operations_{};
    std::size_t count_ = 0;
    std::array<std::uint32_t, 2> attributes_{};
};
using Compound = CompoundOf<4>;

component4 component(std::string_view name) {
    component4 out{};
    out.utf8string_len = static_cast<u_int>(name.size());
    out.utf8string_val = const_cast<char*>(name.data());
    return out;
}

stateid4 state_of(const NfsOpenFile& file) {
    stateid4 out{};
    out.seqid = file.state_sequence;
    std::memcpy(out.other, file.state.data(), file.state.size());
    return out;
}

void set_state(NfsReply& reply, const stateid4& state) {
    reply.state_sequence = state.seqid;
    std::memcpy(reply.state.data(), state.other, reply.state.size());
}

/// The result of an operation of the compound; nothing: there is none, and the reply fails.
std::optional<nfs_resop4> find(const void* data, nfs_opnum4 operation, NfsReply& reply) {
    const auto& result = *static_cast<const COMPOUND4res*>(data);
    for (u_int i = 0; i < result.resarray.resarray_len; ++i) {
        const nfs_resop4 each = aligned(result.resarray.resarray_val + i);
        if (enumeration_number(each.resop) == operation) return each;
    }
    fail(reply, EPROTO);
    return std::nullopt;
}

bool take_handle4(const void* data, NfsReply& reply) {
    const auto got = find(data, OP_GETFH, reply);
    if (!got) return false;
    const nfs_fh4& object = got->nfs_resop4_u.opgetfh.GETFH4res_u.resok4.object;
    return set_handle(reply, object.nfs_fh4_val, object.nfs_fh4_len);
}

std::uint32_t word(const char* bytes) {
    std::uint32_t big = 0;
    std::memcpy(&big, bytes, sizeof big);
    return ntohl(big);
}

/// The bytes of attributes of the first mask word, in the order of their numbers.
std::span<const char> attributes(const void* data, std::uint32_t numbers, NfsReply& reply) {
    const auto got = find(data, OP_GETATTR, reply);
    if (!got) return {};
    const fattr4& attributes = got->nfs_resop4_u.opgetattr.GETATTR4res_u.resok4.obj_attributes;
    if (attributes.attrmask.bitmap4_len < 1 || attributes.attrmask.bitmap4_val == nullptr ||
        attributes.attrmask.bitmap4_val[0] != numbers || attributes.attr_vals.attrlist4_val == nullptr) {
        return {};
    }
    return {attributes.attr_vals.attrlist4_val, attributes.attr_vals.attrlist4_len};
}

constexpr std::uint32_t kLimits4 = (1U << FATTR4_LEASE_TIME) | (1U << FATTR4_MAXREAD);
constexpr std::uint32_t kKind4 = 1U << FATTR4_TYPE;

void decode_limits4(const void* data, const NfsCall&, NfsReply& reply) {
    if (!take_handle4(data, reply)) return;
    const auto bytes = attributes(data, kLimits4, reply);
    if (bytes.size() < 12) return;
    reply.lease_s = word(bytes.data());
    reply.number = word(bytes.data() + 4) != 0 ? kNfsTransferBytesMax : word(bytes.data() + 8);
}

void decode_lookup4(const void* data, const NfsCall&, NfsReply& reply) {
    if (!take_handle4(data, reply)) return;
    const auto bytes = attributes(data, kKind4, reply);
    if (bytes.size() >= 4) reply.kind = kind_of(static_cast<int>(word(bytes.data())));
}

void decode_link4(const void* data, const NfsCall&, NfsReply& reply) {
    const auto got = find(data, OP_READLINK, reply);
    if (!got) return;
    const linktext4& link = got->nfs_resop4_u.opreadlink.READLINK4res_u.resok4.link;
    if (link.utf8string_val == nullptr) return fail(reply, EPROTO);
    reply.text = {link.utf8string_val, link.utf8string_len};
}

void decode_read4(const void* data, const NfsCall& call, NfsReply& reply) {
    const auto got = find(data, OP_READ, reply);
    if (!got) return;
    const READ4resok& ok = got->nfs_resop4_u.opread.READ4res_u.resok4;
    set_data(reply, ok.data.data_val, ok.data.data_len, call.asked_bytes, ok.eof != 0);
}

void decode_client4(const void* data, const NfsCall&, NfsReply& reply) {
    const auto got = find(data, OP_SETCLIENTID, reply);
    if (!got) return;
    const SETCLIENTID4resok& ok = got->nfs_resop4_u.opsetclientid.SETCLIENTID4res_u.resok4;
    reply.client = ok.clientid;
    std::memcpy(reply.verifier.data(), ok.setclientid_confirm, reply.verifier.size());
}

void decode_open4(const void* data, const NfsCall&, NfsReply& reply) {
    if (!take_handle4(data, reply)) return;
    const auto got = find(data, OP_OPEN, reply);
    if (!got) return;
    const OPEN4resok& ok = got->nfs_resop4_u.opopen.OPEN4res_u.resok4;
    set_state(reply, ok.stateid);
    reply.confirm = (ok.rflags & OPEN4_RESULT_CONFIRM) != 0;
}

void decode_confirm4(const void* data, const NfsCall&, NfsReply& reply) {
    const auto got = find(data, OP_OPEN_CONFIRM, reply);
    if (got) set_state(reply, got->nfs_resop4_u.opopen_confirm.OPEN_CONFIRM4res_u.resok4.open_stateid);
}

struct SpaceRequest {
    void (*answer)(void* user, int error, std::uint64_t bytes);
    void* user;
};

constexpr std::uint32_t kSpaceAvailable = 1U << (FATTR4_SPACE_AVAIL - 32);

void on_space(rpc_context*, int status, void* data, void* user) {
    const std::unique_ptr<SpaceRequest> request(static_cast<SpaceRequest*>(user));
    NfsReply reply;
    if (status != RPC_STATUS_SUCCESS || data == nullptr) return request->answer(request->user, ENOTCONN, 0);
    note_status(enumeration_number(static_cast<const COMPOUND4res*>(data)->status), reply);
    const auto got = reply.outcome == NfsOutcome::done ? find(data, OP_GETATTR, reply) : std::nullopt;
    if (!got) {
        const bool said = reply.outcome == NfsOutcome::failed;
        return request->answer(request->user, said ? reply.error : EIO, 0);
    }
    const fattr4& attributes = got->nfs_resop4_u.opgetattr.GETATTR4res_u.resok4.obj_attributes;
    const char* const bytes = attributes.attr_vals.attrlist4_val;
    if (attributes.attrmask.bitmap4_len < 2 || attributes.attrmask.bitmap4_val[0] != 0 ||
        attributes.attrmask.bitmap4_val[1] != kSpaceAvailable || attributes.attr_vals.attrlist4_len < 8 ||
        bytes == nullptr) {
        return request->answer(request->user, EOPNOTSUPP, 0);
    }
    request->answer(request->user, 0, std::uint64_t{word(bytes)} << 32 | word(bytes + 4));
}

}  // namespace

bool nfs4_ask_space(rpc_context* rpc,
                    const std::string& path,
                    void (*answer)(void* user, int error, std::uint64_t bytes),
                    void* user) {
    constexpr std::size_t kNamesMax = 60;
    CompoundOf<kNamesMax + 2> compound;
    compound.add(OP_PUTROOTFH);
    std::size_t names = 0;
    for (std::size_t at = 0; at < path.size() && names < kNamesMax;) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        if (end > at) {
            compound.add(OP_LOOKUP).nfs_argop4_u.oplookup.objname =
                component(std::string_view(path).substr(at, end - at));
            ++names;
        }
        at = end + 1;
    }
    compound.get_attributes(0, kSpaceAvailable);
    auto request = std::make_unique<SpaceRequest>(SpaceRequest{answer, user});
    COMPOUND4args args = compound.args();
    if (rpc_nfs4_compound_async(rpc, on_space, &args, request.get()) != 0) return false;
    (void)request.release();  // on_space() owns it now
    return true;
}

bool nfs_ask_port(NfsTransport& transport, NfsCall& call, NfsService service, Instant now) {
    const auto [program, version] =
        service == NfsService::mount ? std::pair(MOUNT_PROGRAM, MOUNT_V3) : std::pair(NFS_PROGRAM, NFS_V3);
    rpc_context* const rpc = transport.rpc();
    return rpc != nullptr && sent(transport, call, now,
                                  rpc_pmap2_getport_async(rpc, program, version, IPPROTO_TCP,
                                                          on_reply<decode_port, false>, &call));
}

bool nfs_mount(NfsTransport& transport, NfsCall& call, const std::string& path, Instant now) {
    rpc_context* const rpc = transport.rpc();
    char* const name = const_cast<char*>(path.c_str());
    return rpc != nullptr &&
           sent(transport, call, now, rpc_mount3_mnt_async(rpc, on_reply<decode_mount>, name, &call));
}

bool nfs_ask_exports(NfsTransport& transport, NfsCall& call, Instant now) {
    rpc_context* const rpc = transport.rpc();
    return rpc != nullptr &&
           sent(transport, call, now, rpc_mount3_export_async(rpc, on_reply<decode_exports, false>, &call));
}

bool NfsRequests::server_limits(NfsCall& call, const NfsHandle& root) const {
    if (!four_) return send<decode_limits3>(call, rpc_nfs3_fsinfo_async, FSINFO3args{handle3(root)});
    Compound compound;
    compound.add(OP_PUTROOTFH);
    compound.add(OP_GETFH);
    compound.get_attributes(kLimits4);
    return send<decode_limits4>(call, rpc_nfs4_compound_async, compound.args());
}

bool NfsRequests::lookup(NfsCall& call, const NfsHandle& directory, const std::string& name) const {
    if (!four_) {
        const LOOKUP3args args{{handle3(directory), const_cast<char*>(name.c_str())}};
        return send<decode_lookup3>(call, rpc_nfs3_lookup_async, args);
    }
    Compound compound;
    compound.put_handle(directory);
    compound.add(OP_LOOKUP).nfs_argop4_u.oplookup.objname = component(name);
    compound.add(OP_GETFH);
    compound.get_attributes(kKind4);
    return send<decode_lookup4>(call, rpc_nfs4_compound_async, compound.args());
}

bool NfsRequests::read_link(NfsCall& call, const NfsHandle& handle) const {
    if (!four_) return send<decode_link3>(call, rpc_nfs3_readlink_async, READLINK3args{handle3(handle)});
    Compound compound;
    compound.put_handle(handle);
    compound.add(OP_READLINK);
    return send<decode_link4>(call, rpc_nfs4_compound_async, compound.args());
}

bool NfsRequests::read(NfsCall& call,
                       const NfsOpenFile& file,
                       std::uint64_t offset,
                       std::uint32_t bytes) const {
    call.asked_bytes = bytes;
    if (!four_) {
        const READ3args args{handle3(file.handle), offset, bytes};
        return send<decode_read3>(call, rpc_nfs3_read_async, args);
    }
    Compound compound;
    compound.put_handle(file.handle);
    auto& args = compound.add(OP_READ).nfs_argop4_u.opread;
    args.stateid = state_of(file);
    args.offset = offset;
    args.count = bytes;
    return send<decode_read4>(call, rpc_nfs4_compound_async, compound.args());
}

bool NfsRequests::access(NfsCall& call, const NfsHandle& handle) const {
    const ACCESS3args args{handle3(handle), ACCESS3_READ | ACCESS3_MODIFY | ACCESS3_EXTEND};
    return send<decode_access3>(call, rpc_nfs3_access_async, args);
}

bool NfsRequests::set_client(NfsCall& call, const std::string& name, std::uint64_t boot) const {
    Compound compound;
    auto& args = compound.add(OP_SETCLIENTID).nfs_argop4_u.opsetclientid;
    std::memcpy(args.client.verifier, &boot, sizeof boot);
    args.client.id.id_len = static_cast<u_int>(name.size());
    args.client.id.id_val = const_cast<char*>(name.data());
    std::array<char, 4> protocol{"tcp"};
    std::array<char, 12> no_address{"0.0.0.0.0.0"};  // without a callback address the server delegates nothing
    args.callback.cb_program = 0x40000000;
    args.callback.cb_location.r_netid = protocol.data();
    args.callback.cb_location.r_addr = no_address.data();
    args.callback_ident = 1;
    return send<decode_client4>(call, rpc_nfs4_compound_async, compound.args());
}

bool NfsRequests::confirm_client(NfsCall& call,
                                 std::uint64_t client,
                                 const std::array<char, 8>& verifier) const {
    Compound compound;
    auto& args = compound.add(OP_SETCLIENTID_CONFIRM).nfs_argop4_u.opsetclientid_confirm;
    args.clientid = client;
    std::memcpy(args.setclientid_confirm, verifier.data(), verifier.size());
    return send<decode_nothing>(call, rpc_nfs4_compound_async, compound.args());
}

bool NfsRequests::renew(NfsCall& call, std::uint64_t client) const {
    Compound compound;
    compound.add(OP_RENEW).nfs_argop4_u.oprenew.clientid = client;
    return send<decode_nothing>(call, rpc_nfs4_compound_async, compound.args());
}

bool NfsRequests::open(NfsCall& call,
                       std::uint64_t client,
                       const NfsHandle& directory,
                       const std::string& name,
                       const NfsOpenFile& file) const {
    Compound compound;
    compound.put_handle(directory);
    auto& args = compound.add(OP_OPEN).nfs_argop4_u.opopen;
    std::array<char, sizeof file.owner> owner{};
    std::memcpy(owner.data(), &file.owner, owner.size());
    args.seqid = file.owner_sequence;
    args.share_access = OPEN4_SHARE_ACCESS_READ;
    args.owner.clientid = client;
    args.owner.owner.owner_len = static_cast<u_int>(owner.size());
    args.owner.owner.owner_val = owner.data();
    args.openhow.opentype = OPEN4_NOCREATE;
    args.claim.claim = CLAIM_NULL;
    args.claim.open_claim4_u.file = component(name);
    compound.add(OP_GETFH);
    return send<decode_open4>(call, rpc_nfs4_compound_async, compound.args());
}

bool NfsRequests::confirm_open(NfsCall& call, const NfsOpenFile& file) const {
    Compound compound;
    compound.put_handle(file.handle);
    auto& args = compound.add(OP_OPEN_CONFIRM).nfs_argop4_u.opopen_confirm;
    args.open_stateid = state_of(file);
    args.seqid = file.owner_sequence;
    return send<decode_confirm4>(call, rpc_nfs4_compound_async, compound.args());
}

bool NfsRequests::close(NfsCall& call, const NfsOpenFile& file) const {
    Compound compound;
    compound.put_handle(file.handle);
    auto& args = compound.add(OP_CLOSE).nfs_argop4_u.opclose;
    args.open_stateid = state_of(file);
    args.seqid = file.owner_sequence;
    return send<decode_nothing>(call, rpc_nfs4_compound_async, compound.args());
}

}  // namespace streamsim::storage
