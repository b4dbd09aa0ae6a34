// What the requests have in common: libnfs's answers in words of our own. Inside the files of requests only.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "storage/nfs/nfs_call.h"
#include "storage/nfs/nfs_library.h"
#include "storage/nfs/nfs_link.h"
#include "storage/nfs/nfs_requests.h"

namespace streamsim::storage {

// Versions 3 and 4 and the mount service share these numbers; up to 31 they are errno's, of Linux too.
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

inline bool set_handle(NfsReply& reply, const char* bytes, std::uint32_t size) {
    if (bytes == nullptr || size == 0 || size > reply.handle.bytes.size()) return false;
    reply.handle.size = size;
    std::memcpy(reply.handle.bytes.data(), bytes, size);
    return true;
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

using Decode = void (*)(const void* data, const NfsCall& call, NfsReply& reply);

template <Decode decode>
void on_reply(rpc_context* rpc, int status, void* data, void* user) {
    auto& call = *static_cast<NfsCall*>(user);
    call.link->answered();
    NfsReply reply;
    if (status == RPC_STATUS_SUCCESS && data != nullptr) {
        decode(data, call, reply);
    } else if (status == RPC_STATUS_ERROR) {
        const char* text = rpc_get_error(rpc);
        reply.text = text == nullptr ? "" : text;
    }
    call.answer(call.owner, call, reply);
}

inline bool sent(NfsLink& link, NfsCall& call, Instant now, int result) {
    if (result != 0) return false;
    link.sent(call, now);
    return true;
}

}  // namespace streamsim::storage
