// From libnfs's replies to NfsReply. For the files that send raw requests only.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/system/errno_values.h"
#include "storage/nfs/nfs_call.h"
#include "storage/nfs/nfs_library.h"
#include "storage/nfs/nfs_requests.h"
#include "storage/nfs/nfs_transport.h"

namespace streamsim::storage {

// Versions 3 and 4 and the mount service share these status numbers; those up to 31 equal Linux's errno values.
constexpr int kNameTooLong = 63, kNotEmpty = 66, kQuota = 69, kStale = 70, kBadHandle = 10001;
constexpr int kNotSupported = 10004, kLater = 10008, kExpired = 10011, kGrace = 10013, kHandleExpired = 10014;
constexpr int kStaleClient = 10022, kBadStateSequence = 10026, kSymbolicLink = 10029;

inline void note_status(int status, NfsReply& reply) {
    reply.outcome = NfsOutcome::failed;
    switch (status) {
        case 0: reply.outcome = NfsOutcome::done; return;
        case kLater:
        case kGrace: reply.outcome = NfsOutcome::later; return;
        case kStale:
        case kBadHandle:
        case kHandleExpired: reply.outcome = NfsOutcome::stale; return;
        case kExpired: reply.outcome = NfsOutcome::expired; return;
        case kSymbolicLink: reply.outcome = NfsOutcome::is_link; return;
        case kNameTooLong: reply.error = ENAMETOOLONG; return;
        case kNotEmpty: reply.error = ENOTEMPTY; return;
        case kQuota: reply.error = EDQUOT; return;
        case kNotSupported: reply.error = EOPNOTSUPP; return;
        default: break;
    }
    if (status >= kStaleClient && status <= kBadStateSequence) reply.outcome = NfsOutcome::expired;
    reply.error = status > 0 && status < 32 ? status : EIO;
}

inline void fail(NfsReply& reply, int error) {
    reply.outcome = NfsOutcome::failed;
    reply.error = error;
}

/// False: the reply has no handle of a valid size, and fails.
inline bool set_handle(NfsReply& reply, const char* bytes, std::uint32_t size) {
    if (bytes == nullptr || size == 0 || size > reply.handle.bytes.size()) return fail(reply, EPROTO), false;
    reply.handle.size = size;
    std::memcpy(reply.handle.bytes.data(), bytes, size);
    return true;
}

/// libnfs decodes lists and arrays into memory that is aligned to 4 bytes: an element with pointers is copied
/// before it is read.
template <typename T>
T aligned(const T* at) {
    T copy;
    std::memcpy(&copy, static_cast<const void*>(at), sizeof copy);
    return copy;
}

/// The number in an enumeration of libnfs, which a server may set to any value.
template <typename Enumeration>
int enumeration_number(const Enumeration& from) {
    static_assert(sizeof from == sizeof(int));
    int number = 0;
    std::memcpy(&number, &from, sizeof number);
    return number;
}

inline NfsKind kind_of(int type) {
    switch (type) {  // the same in both versions
        case NF3REG: return NfsKind::file;
        case NF3DIR: return NfsKind::directory;
        case NF3LNK: return NfsKind::link;
        default: return NfsKind::other;
    }
}

inline nfs_fh3 handle3(const NfsHandle& handle) {
    nfs_fh3 out{};
    out.data.data_len = handle.size;
    out.data.data_val = const_cast<char*>(handle.bytes.data());
    return out;
}

/// Takes the members of a reply from libnfs's result. Runs only when the result's status, if it has one, is
/// good.
using Decode = void (*)(const void* data, const NfsCall& call, NfsReply& reply);

/// libnfs's words for a reply that refuses the call, or that is none; empty: the connection has ended.
inline std::string_view refusal(const void* data) {
    const std::string_view text = data == nullptr ? "" : static_cast<const char*>(data);
    const bool replied = text.starts_with("Server responded") || text.starts_with("Unknown rpc response") ||
                         text.ends_with("by server") || text.ends_with("by the server");
    return replied ? text : std::string_view();
}

template <Decode decode, bool has_status = true>
void on_reply(rpc_context*, int status, void* data, void* user) {
    auto& call = *static_cast<NfsCall*>(user);
    call.transport->answered();
    NfsReply reply;
    if (status == RPC_STATUS_SUCCESS && data != nullptr) {
        int result_status = 0;
        if (has_status) std::memcpy(&result_status, data, sizeof result_status);  // the first member
        note_status(result_status, reply);
        if (reply.outcome == NfsOutcome::done) decode(data, call, reply);
    } else if (status == RPC_STATUS_ERROR) {
        reply.text = refusal(data);
    }
    call.answer(call.owner, call, reply);
}

inline void decode_nothing(const void*, const NfsCall&, NfsReply&) {}

/// Notes a request that libnfs took with result 0.
inline bool sent(NfsTransport& transport, NfsCall& call, Instant now, int result) {
    if (result != 0) return false;
    transport.sent(call, now);
    return true;
}

template <auto decode, typename Begin, typename Arguments>
bool NfsRequests::send(NfsCall& call, Begin begin, Arguments arguments) const {
    rpc_context* const rpc = transport_.rpc();
    return rpc != nullptr && sent(transport_, call, now_, begin(rpc, on_reply<decode>, &arguments, &call));
}

}  // namespace streamsim::storage
