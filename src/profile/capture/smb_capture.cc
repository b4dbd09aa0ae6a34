// Commands of [MS-SMB2] 2.2.
#include "profile/capture/smb_capture.h"

#include <fmt/format.h>

#include <algorithm>

namespace streamsim::profile {
namespace {

enum Command : std::uint64_t {
    kCreate = 5,
    kClose = 6,
    kFlush = 7,
    kRead = 8,
    kWrite = 9,
    kQueryDirectory = 14,
    kQueryInfo = 16,
    kSetInfo = 17
};

constexpr std::uint64_t kPending = 0x103;         // STATUS_PENDING: the reply is yet to come
constexpr std::uint64_t kEndOfFile = 0xc0000011;  // STATUS_END_OF_FILE
constexpr std::uint64_t kErrors = 0xc0000000;
constexpr std::uint64_t kRenameInformation = 10;  // FileRenameInformation
constexpr std::string_view kRelated =
    "ffffffff-ffff-ffff-ffff-ffffffffffff";  // stands for the file of the CREATE before it

bool is_counted(std::uint64_t command) {
    return (command >= kCreate && command <= kWrite) || command == kQueryDirectory || command == kQueryInfo ||
           command == kSetInfo;
}

/// The bytes that a read moved, as its reply says; its field has another name before tshark 4. A reply without
/// it moved what was asked for, up to the end that the file had at its open (0: not known).
std::uint64_t read_bytes(const CapturedMessage& message,
                         std::uint64_t offset,
                         std::uint64_t asked,
                         std::uint64_t file_bytes) {
    for (const char* field : {"smb2.olb.length", "smb2.read_length"})
        if (const auto bytes = message.number(field)) return *bytes;
    return offset < file_bytes ? std::min(asked, file_bytes - offset) : asked;
}

}  // namespace

void SmbCapture::take(const CapturedMessage& message) {
    if (message.kind == CapturedMessage::Kind::smb2_encrypted) {
        ++encrypted_;
        return;
    }
    const auto number = message.number("smb2.msg_id"), command = message.number("smb2.cmd");
    if (!number || !command || !is_counted(*command)) return;
    const std::pair<std::string, std::uint64_t> key(message.stream, *number);
    if (message.field("smb2.flags.response") == "1") {
        if (message.number("smb2.nt_status") == kPending) return;
        const auto call = calls_.find(key);
        if (call == calls_.end()) return;
        reply(message, call->second);
        calls_.erase(call);
        return;
    }
    const auto [at, fresh] = calls_.try_emplace(key);
    if (!fresh) return traffic_.note_sent_again();
    Call& call = at->second;
    call.begin_ns = message.time_ns;
    call.user = traffic_.user(message.from);
    call.command = *command;
    call.fid = message.field("smb2.fid");
    call.name = message.field("smb2.filename");
    std::replace(call.name.begin(), call.name.end(), '\\', '/');
    if (*command == kCreate) call.tree = tree_of(message, call.user);
    call.offset = message.number("smb2.file_offset").value_or(0);
    call.bytes = message.number(*command == kRead ? "smb2.read_length" : "smb2.write_length").value_or(0);
    call.deletes = message.field("smb2.disposition.delete_on_close") == "1";
    call.renames = message.number("smb2.file_info.infolevel") == kRenameInformation;
}

TrafficOperation SmbCapture::operation(const CapturedMessage& message,
                                       const Call& call,
                                       TrafficKind kind) const {
    return {.begin_ns = call.begin_ns,
            // Interfaces of one capture may stamp by different clocks, and a capture may be edited.
            .duration_ns = std::max<std::int64_t>(0, message.time_ns - call.begin_ns),
            .user = call.user,
            .kind = kind,
            .failed = message.number("smb2.nt_status").value_or(0) >= kErrors};
}

/// "server/share" where the capture has its TREE_CONNECT, else the number of the tree among those of the
/// client: the ids of one share differ from client to client.
std::string SmbCapture::tree_of(const CapturedMessage& message, std::uint32_t user) {
    std::string share(message.field("smb2.tree"));
    std::replace(share.begin(), share.end(), '\\', '/');
    share.erase(0, share.find_first_not_of('/'));
    if (const std::string_view id = message.field("smb2.tid"); share.empty() && !id.empty()) {
        auto& known = trees_[user];
        const auto number = known.try_emplace(std::string(id), known.size() + 1).first->second;
        share = fmt::format("tree-{}", number);
    }
    return share;
}

/// The file of a CREATE; its name is relative to the tree.
std::uint32_t SmbCapture::file_of(const Call& call) {
    if (call.tree.empty()) return traffic_.file(call.name.empty() ? "/" : call.name);
    used_trees_.insert(call.tree);
    const std::uint32_t file = traffic_.file(call.tree + "/" + call.name);
    names_in_tree_.try_emplace(file, call.name.empty() ? "/" : call.name);
    return file;
}

void SmbCapture::opened(const CapturedMessage& message, const Call& call, bool failed) {
    const auto action = message.number("smb2.create.action").value_or(1);
    const TrafficKind kind = failed ? TrafficKind::stat : action == 1 ? TrafficKind::open : TrafficKind::create;
    TrafficOperation entry = operation(message, call, kind);
    entry.file = file_of(call);
    const std::string fid(message.field("smb2.fid"));
    if (failed || fid.empty()) {
        traffic_.add(entry);
        return;
    }
    if (const auto old = opened_.find(fid); old != opened_.end()) {  // its close is not in the capture
        close(old->second);
        opened_.erase(old);
    }
    Opened& opened = opened_[fid];
    opened.file = entry.file;
    opened.session = entry.session = traffic_.add_session({entry.file, false, false});
    opened.bytes = message.number("smb2.eof").value_or(0);
    traffic_.grow(entry.file, opened.bytes);
    opened.open = traffic_.add(entry);
    last_fid_[message.stream] = fid;
}

/// An open that only serves a listing or a query does not count as an open.
void SmbCapture::close(Opened& opened) {
    TrafficOperation* const open = opened.open ? &traffic_.operation(*opened.open) : nullptr;
    if (opened.listed && !opened.data && open != nullptr) {
        open->kind = TrafficKind::list;
        traffic_.at(opened.file).regular = false;
    } else if (!opened.data && !opened.questions.empty() && open != nullptr &&
               open->kind == TrafficKind::open) {
        open->kind = TrafficKind::stat;
    } else if (opened.data || open == nullptr) {
        for (const TrafficOperation& question : opened.questions) traffic_.add(question);
    }
    opened.questions.clear();
}

void SmbCapture::reply(const CapturedMessage& message, const Call& call) {
    ++counted_;
    const std::uint64_t status = message.number("smb2.nt_status").value_or(0);
    const bool failed = status >= kErrors;
    if (call.command == kCreate) return opened(message, call, failed);
    const std::string fid = call.fid == kRelated ? last_fid_[message.stream] : call.fid;
    auto known = opened_.find(fid);
    if (known == opened_.end()) {  // opened before the capture
        Opened opened;
        opened.file = traffic_.file(call.name.empty() ? "file-" + fid : call.name);
        opened.session = traffic_.add_session({opened.file, false, false});
        known = opened_.emplace(fid, opened).first;
    }
    Opened& at = known->second;
    TrafficOperation entry = operation(message, call, TrafficKind::other);
    entry.file = at.file;
    entry.session = at.session;
    switch (call.command) {
        case kClose:
            close(at);
            opened_.erase(known);
            return;
        case kQueryDirectory: at.listed = true; return;
        case kQueryInfo:
            entry.kind = TrafficKind::stat;
            at.questions.push_back(entry);
            return;
        case kFlush: entry.kind = TrafficKind::sync; break;
        case kSetInfo:
            if (call.deletes) entry.kind = TrafficKind::remove;
            if (call.renames) entry.kind = TrafficKind::rename;
            break;
        default: {
            entry.kind = call.command == kRead ? TrafficKind::read : TrafficKind::write;
            at.data = true;
            if (call.command == kRead && status == kEndOfFile) return traffic_.found_end();
            const std::uint64_t bytes =
                call.command == kRead ? read_bytes(message, call.offset, call.bytes, at.bytes) : call.bytes;
            if (!can_be_moved(call.offset, bytes) || (bytes == 0 && !failed)) return;
            entry.offset = call.offset;
            entry.bytes = failed ? 0 : bytes;
        }
    }
    traffic_.add(entry);
}

void SmbCapture::finish() {
    for (auto& [fid, opened] : opened_) close(opened);
    opened_.clear();
    if (used_trees_.size() > 1) return;
    for (const auto& [file, name] : names_in_tree_) traffic_.at(file).name = name;
}

}  // namespace streamsim::profile
