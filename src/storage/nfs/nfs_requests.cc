#include "storage/nfs/nfs_requests.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "storage/nfs/nfs_reply.h"

namespace streamsim::storage {
namespace {

/// A reply with `length` bytes of data to a read of `asked`.
void set_data(NfsReply& reply, const char* bytes, std::uint32_t length, std::uint32_t asked, bool end) {
    if (length > asked || (length > 0 && bytes == nullptr)) return fail(reply, EPROTO);
    reply.data = std::as_bytes(std::span(bytes, length));
    reply.end_of_file = end;
    if (length == 0 && asked > 0 && !end) fail(reply, EPROTO);  // it would go on for ever
}

// ---- the port mapper, the mount service

void decode_port(const void* data, const NfsCall&, NfsReply& reply) {
    reply.outcome = NfsOutcome::done;
    reply.number = *static_cast<const std::uint32_t*>(data);
}

void decode_mount(const void* data, const NfsCall&, NfsReply& reply) {
    const auto& result = *static_cast<const mountres3*>(data);
    note_status(static_cast<int>(result.fhs_status), reply);
    if (reply.outcome != NfsOutcome::done) return;
    const auto& handle = result.mountres3_u.mountinfo.fhandle;
    if (!set_handle(reply, handle.fhandle3_val, handle.fhandle3_len)) fail(reply, EPROTO);
}

void decode_exports_and_answer(rpc_context*, int status, void* data, void* user) {
    auto& call = *static_cast<NfsCall*>(user);
    call.link->answered();
    NfsReply reply;
    std::vector<std::string> names;
    if (status == RPC_STATUS_SUCCESS && data != nullptr) {
        reply.outcome = NfsOutcome::done;
        constexpr std::size_t kMost = 1000;
        for (const exportnode* node = *static_cast<exports*>(data); node != nullptr && names.size() < kMost;
             node = node->ex_next) {
            if (node->ex_dir != nullptr) names.emplace_back(node->ex_dir);
        }
        reply.names = &names;
    }
    call.answer(call.owner, call, reply);
}

// ---- version 3

void decode_facts3(const void* data, const NfsCall&, NfsReply& reply) {
    const auto& result = *static_cast<const FSINFO3res*>(data);
    note_status(static_cast<int>(result.status), reply);
    if (reply.outcome != NfsOutcome::done) return;
    reply.number = result.FSINFO3res_u.resok.rtmax;
    reply.write_bytes = result.FSINFO3res_u.resok.wtmax;
}

void decode_lookup3(const void* data, const NfsCall&, NfsReply& reply) {
    const auto& result = *static_cast<const LOOKUP3res*>(data);
    note_status(static_cast<int>(result.status), reply);
    if (reply.outcome != NfsOutcome::done) return;
    const LOOKUP3resok& ok = result.LOOKUP3res_u.resok;
    if (!set_handle(reply, ok.object.data.data_val, ok.object.data.data_len)) return fail(reply, EPROTO);
    if (ok.obj_attributes.attributes_follow == 0) return;
    reply.kind = kind_of(static_cast<int>(ok.obj_attributes.post_op_attr_u.attributes.type));
    reply.links = ok.obj_attributes.post_op_attr_u.attributes.nlink;
}

void decode_access3(const void* data, const NfsCall&, NfsReply& reply) {
    const auto& result = *static_cast<const ACCESS3res*>(data);
    note_status(static_cast<int>(result.status), reply);
    constexpr std::uint32_t kWrite = ACCESS3_MODIFY | ACCESS3_EXTEND;
    if (reply.outcome != NfsOutcome::done) return;
    reply.may_read = (result.ACCESS3res_u.resok.access & ACCESS3_READ) != 0;
    reply.may_write = (result.ACCESS3res_u.resok.access & kWrite) == kWrite;
}

void decode_link3(const void* data, const NfsCall&, NfsReply& reply) {
    const auto& result = *static_cast<const READLINK3res*>(data);
    note_status(static_cast<int>(result.status), reply);
    if (reply.outcome != NfsOutcome::done) return;
    if (result.READLINK3res_u.resok.data == nullptr) return fail(reply, EPROTO);
    reply.text = result.READLINK3res_u.resok.data;
}

void decode_read3(const void* data, const NfsCall& call, NfsReply& reply) {
    const auto& result = *static_cast<const READ3res*>(data);
    note_status(static_cast<int>(result.status), reply);
    if (reply.outcome != NfsOutcome::done) return;
    const READ3resok& ok = result.READ3res_u.resok;
    if (ok.count != ok.data.data_len) return fail(reply, EPROTO);
    set_data(reply, ok.data.data_val, ok.data.data_len, call.asked_bytes, ok.eof != 0);
}

// ---- version 4

/// A compound request, and its parts until it is sent.
template <std::size_t most>
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
    template <Decode decode>
    bool send(NfsLink& link, NfsCall& call, Instant now) {
        return sent(link, call, now, send(link.rpc(), on_reply<decode>, &call));
    }
    int send(rpc_context* rpc, rpc_cb then, void* user) {
        COMPOUND4args args{};
        args.argarray.argarray_len = static_cast<u_int>(count_);
        args.argarray.argarray_val = operations_.data();
        return rpc_nfs4_compound_async(rpc, then, &args, user);
    }

private:
    std::array<nfs_argop4, most> operations_{};
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

/// The result of an operation that was reached; null, with the reason in the reply: it was not.
const nfs_resop4* find(const void* data, nfs_opnum4 operation, NfsReply& reply) {
    const auto& result = *static_cast<const COMPOUND4res*>(data);
    note_status(static_cast<int>(result.status), reply);
    if (reply.outcome != NfsOutcome::done) return nullptr;
    for (u_int i = 0; i < result.resarray.resarray_len; ++i) {
        if (result.resarray.resarray_val[i].resop == operation) return &result.resarray.resarray_val[i];
    }
    fail(reply, EPROTO);
    return nullptr;
}

bool take_handle4(const void* data, NfsReply& reply) {
    const nfs_resop4* got = find(data, OP_GETFH, reply);
    if (got == nullptr) return false;
    const nfs_fh4& object = got->nfs_resop4_u.opgetfh.GETFH4res_u.resok4.object;
    if (set_handle(reply, object.nfs_fh4_val, object.nfs_fh4_len)) return true;
    fail(reply, EPROTO);
    return false;
}

std::uint32_t word(const char* bytes) {
    std::uint32_t big = 0;
    std::memcpy(&big, bytes, sizeof big);
    return ntohl(big);
}

/// The bytes of attributes of the first mask word, in the order of their numbers.
std::span<const char> attributes(const void* data, std::uint32_t numbers, NfsReply& reply) {
    const nfs_resop4* got = find(data, OP_GETATTR, reply);
    if (got == nullptr) return {};
    const fattr4& attributes = got->nfs_resop4_u.opgetattr.GETATTR4res_u.resok4.obj_attributes;
    if (attributes.attrmask.bitmap4_len < 1 || attributes.attrmask.bitmap4_val == nullptr ||
        attributes.attrmask.bitmap4_val[0] != numbers || attributes.attr_vals.attrlist4_val == nullptr) {
        return {};
    }
    return {attributes.attr_vals.attrlist4_val, attributes.attr_vals.attrlist4_len};
}

constexpr std::uint32_t kFacts4 = (1U << FATTR4_LEASE_TIME) | (1U << FATTR4_MAXREAD);
constexpr std::uint32_t kKind4 = 1U << FATTR4_TYPE;

void decode_facts4(const void* data, const NfsCall&, NfsReply& reply) {
    if (!take_handle4(data, reply)) return;
    const auto bytes = attributes(data, kFacts4, reply);
    if (bytes.size() < 12) return;
    reply.lease_s = word(bytes.data());
    reply.number = word(bytes.data() + 4) != 0 ? kNfsReadMost : word(bytes.data() + 8);
}

void decode_lookup4(const void* data, const NfsCall&, NfsReply& reply) {
    if (!take_handle4(data, reply)) return;
    const auto bytes = attributes(data, kKind4, reply);
    if (bytes.size() >= 4) reply.kind = kind_of(static_cast<int>(word(bytes.data())));
}

void decode_link4(const void* data, const NfsCall&, NfsReply& reply) {
    const nfs_resop4* got = find(data, OP_READLINK, reply);
    if (got == nullptr) return;
    const linktext4& link = got->nfs_resop4_u.opreadlink.READLINK4res_u.resok4.link;
    if (link.utf8string_val == nullptr) return fail(reply, EPROTO);
    reply.text = {link.utf8string_val, link.utf8string_len};
}

void decode_read4(const void* data, const NfsCall& call, NfsReply& reply) {
    const nfs_resop4* got = find(data, OP_READ, reply);
    if (got == nullptr) return;
    const READ4resok& ok = got->nfs_resop4_u.opread.READ4res_u.resok4;
    set_data(reply, ok.data.data_val, ok.data.data_len, call.asked_bytes, ok.eof != 0);
}

void decode_client4(const void* data, const NfsCall&, NfsReply& reply) {
    const nfs_resop4* got = find(data, OP_SETCLIENTID, reply);
    if (got == nullptr) return;
    const SETCLIENTID4resok& ok = got->nfs_resop4_u.opsetclientid.SETCLIENTID4res_u.resok4;
    reply.client = ok.clientid;
    std::memcpy(reply.verifier.data(), ok.setclientid_confirm, reply.verifier.size());
}

void decode_status4(const void* data, const NfsCall&, NfsReply& reply) {
    note_status(static_cast<int>(static_cast<const COMPOUND4res*>(data)->status), reply);
}

void decode_open4(const void* data, const NfsCall&, NfsReply& reply) {
    if (!take_handle4(data, reply)) return;
    const nfs_resop4* got = find(data, OP_OPEN, reply);
    if (got == nullptr) return;
    const OPEN4resok& ok = got->nfs_resop4_u.opopen.OPEN4res_u.resok4;
    set_state(reply, ok.stateid);
    reply.confirm = (ok.rflags & OPEN4_RESULT_CONFIRM) != 0;
}

void decode_confirm4(const void* data, const NfsCall&, NfsReply& reply) {
    const nfs_resop4* got = find(data, OP_OPEN_CONFIRM, reply);
    if (got != nullptr)
        set_state(reply, got->nfs_resop4_u.opopen_confirm.OPEN_CONFIRM4res_u.resok4.open_stateid);
}

struct SpaceQuestion {
    void (*answer)(void* user, int error, std::uint64_t bytes);
    void* user;
};

constexpr std::uint32_t kSpaceAvailable = 1U << (FATTR4_SPACE_AVAIL - 32);

void on_space(rpc_context*, int status, void* data, void* user) {
    const std::unique_ptr<SpaceQuestion> question(static_cast<SpaceQuestion*>(user));
    NfsReply reply;
    if (status != RPC_STATUS_SUCCESS || data == nullptr) return question->answer(question->user, ENOTCONN, 0);
    const nfs_resop4* got = find(data, OP_GETATTR, reply);
    if (got == nullptr) {
        const bool said = reply.outcome == NfsOutcome::failed;
        return question->answer(question->user, said ? reply.error : EIO, 0);
    }
    const fattr4& attributes = got->nfs_resop4_u.opgetattr.GETATTR4res_u.resok4.obj_attributes;
    const char* const bytes = attributes.attr_vals.attrlist4_val;
    if (attributes.attrmask.bitmap4_len < 2 || attributes.attrmask.bitmap4_val[0] != 0 ||
        attributes.attrmask.bitmap4_val[1] != kSpaceAvailable || attributes.attr_vals.attrlist4_len < 8 ||
        bytes == nullptr) {
        return question->answer(question->user, EOPNOTSUPP, 0);
    }
    question->answer(question->user, 0, std::uint64_t{word(bytes)} << 32 | word(bytes + 4));
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
    auto question = std::make_unique<SpaceQuestion>(SpaceQuestion{answer, user});
    if (compound.send(rpc, on_space, question.get()) != 0) return false;
    (void)question.release();  // on_space's now
    return true;
}

bool nfs_ask_port(NfsLink& link, NfsCall& call, NfsService service, Instant now) {
    const auto [program, version] =
        service == NfsService::mount ? std::pair(MOUNT_PROGRAM, MOUNT_V3) : std::pair(NFS_PROGRAM, NFS_V3);
    return link.rpc() != nullptr && sent(link, call, now,
                                         rpc_pmap2_getport_async(link.rpc(), program, version, IPPROTO_TCP,
                                                                 on_reply<decode_port>, &call));
}

bool nfs_mount(NfsLink& link, NfsCall& call, const std::string& path, Instant now) {
    return link.rpc() != nullptr && sent(link, call, now,
                                         rpc_mount3_mnt_async(link.rpc(), on_reply<decode_mount>,
                                                              const_cast<char*>(path.c_str()), &call));
}

bool nfs_ask_exports(NfsLink& link, NfsCall& call, Instant now) {
    return link.rpc() != nullptr &&
           sent(link, call, now, rpc_mount3_export_async(link.rpc(), decode_exports_and_answer, &call));
}

bool NfsRequests::server_facts(NfsLink& link, NfsCall& call, const NfsHandle& root, Instant now) const {
    if (link.rpc() == nullptr) return false;
    if (!four_) {
        FSINFO3args args{handle3(root)};
        return sent(link, call, now, rpc_nfs3_fsinfo_async(link.rpc(), on_reply<decode_facts3>, &args, &call));
    }
    Compound compound;
    compound.add(OP_PUTROOTFH);
    compound.add(OP_GETFH);
    compound.get_attributes(kFacts4);
    return compound.send<decode_facts4>(link, call, now);
}

bool NfsRequests::lookup(
    NfsLink& link, NfsCall& call, const NfsHandle& directory, std::string_view name, Instant now) const {
    if (link.rpc() == nullptr) return false;
    if (!four_) {
        std::string text(name);
        LOOKUP3args args{{handle3(directory), text.data()}};
        return sent(link, call, now, rpc_nfs3_lookup_async(link.rpc(), on_reply<decode_lookup3>, &args, &call));
    }
    Compound compound;
    compound.put_handle(directory);
    compound.add(OP_LOOKUP).nfs_argop4_u.oplookup.objname = component(name);
    compound.add(OP_GETFH);
    compound.get_attributes(kKind4);
    return compound.send<decode_lookup4>(link, call, now);
}

bool NfsRequests::read_link(NfsLink& link, NfsCall& call, const NfsHandle& handle, Instant now) const {
    if (link.rpc() == nullptr) return false;
    if (!four_) {
        READLINK3args args{handle3(handle)};
        return sent(link, call, now, rpc_nfs3_readlink_async(link.rpc(), on_reply<decode_link3>, &args, &call));
    }
    Compound compound;
    compound.put_handle(handle);
    compound.add(OP_READLINK);
    return compound.send<decode_link4>(link, call, now);
}

bool NfsRequests::read(NfsLink& link,
                       NfsCall& call,
                       const NfsOpenFile& file,
                       std::uint64_t offset,
                       std::uint32_t bytes,
                       Instant now) const {
    if (link.rpc() == nullptr) return false;
    call.asked_bytes = bytes;
    if (!four_) {
        READ3args args{handle3(file.handle), offset, bytes};
        return sent(link, call, now, rpc_nfs3_read_async(link.rpc(), on_reply<decode_read3>, &args, &call));
    }
    Compound compound;
    compound.put_handle(file.handle);
    auto& args = compound.add(OP_READ).nfs_argop4_u.opread;
    args.stateid = state_of(file);
    args.offset = offset;
    args.count = bytes;
    return compound.send<decode_read4>(link, call, now);
}

bool NfsRequests::access(NfsLink& link, NfsCall& call, const NfsHandle& handle, Instant now) {
    if (link.rpc() == nullptr) return false;
    ACCESS3args args{handle3(handle), ACCESS3_READ | ACCESS3_MODIFY | ACCESS3_EXTEND};
    return sent(link, call, now, rpc_nfs3_access_async(link.rpc(), on_reply<decode_access3>, &args, &call));
}

bool NfsRequests::set_client(
    NfsLink& link, NfsCall& call, const std::string& name, std::uint64_t boot, Instant now) {
    if (link.rpc() == nullptr) return false;
    Compound compound;
    auto& args = compound.add(OP_SETCLIENTID).nfs_argop4_u.opsetclientid;
    std::memcpy(args.client.verifier, &boot, sizeof boot);
    args.client.id.id_len = static_cast<u_int>(name.size());
    args.client.id.id_val = const_cast<char*>(name.data());
    std::array<char, 4> protocol{"tcp"};
    std::array<char, 12> nobody{"0.0.0.0.0.0"};  // no delegations, please
    args.callback.cb_program = 0x40000000;
    args.callback.cb_location.r_netid = protocol.data();
    args.callback.cb_location.r_addr = nobody.data();
    args.callback_ident = 1;
    return compound.send<decode_client4>(link, call, now);
}

bool NfsRequests::confirm_client(
    NfsLink& link, NfsCall& call, std::uint64_t client, const std::array<char, 8>& verifier, Instant now) {
    if (link.rpc() == nullptr) return false;
    Compound compound;
    auto& args = compound.add(OP_SETCLIENTID_CONFIRM).nfs_argop4_u.opsetclientid_confirm;
    args.clientid = client;
    std::memcpy(args.setclientid_confirm, verifier.data(), verifier.size());
    return compound.send<decode_status4>(link, call, now);
}

bool NfsRequests::renew(NfsLink& link, NfsCall& call, std::uint64_t client, Instant now) {
    if (link.rpc() == nullptr) return false;
    Compound compound;
    compound.add(OP_RENEW).nfs_argop4_u.oprenew.clientid = client;
    return compound.send<decode_status4>(link, call, now);
}

bool NfsRequests::open(NfsLink& link,
                       NfsCall& call,
                       std::uint64_t client,
                       const NfsHandle& directory,
                       std::string_view name,
                       const NfsOpenFile& file,
                       Instant now) {
    if (link.rpc() == nullptr) return false;
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
    return compound.send<decode_open4>(link, call, now);
}

bool NfsRequests::confirm_open(NfsLink& link, NfsCall& call, const NfsOpenFile& file, Instant now) {
    if (link.rpc() == nullptr) return false;
    Compound compound;
    compound.put_handle(file.handle);
    auto& args = compound.add(OP_OPEN_CONFIRM).nfs_argop4_u.opopen_confirm;
    args.open_stateid = state_of(file);
    args.seqid = file.owner_sequence;
    return compound.send<decode_confirm4>(link, call, now);
}

bool NfsRequests::close(NfsLink& link, NfsCall& call, const NfsOpenFile& file, Instant now) {
    if (link.rpc() == nullptr) return false;
    Compound compound;
    compound.put_handle(file.handle);
    auto& args = compound.add(OP_CLOSE).nfs_argop4_u.opclose;
    args.open_stateid = state_of(file);
    args.seqid = file.owner_sequence;
    return compound.send<decode_status4>(link, call, now);
}

}  // namespace streamsim::storage
