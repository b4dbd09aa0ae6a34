// Procedures of RFC 1813 (NFSv3), operations of RFC 7530 and RFC 8881 (NFSv4).
#include <fmt/format.h>

#include <algorithm>

#include "profile/capture/capture_stats.h"

namespace streamsim::profile {
namespace {

constexpr std::uint64_t kNfsProgram = 100003;

enum Procedure3 : std::uint64_t {
    kGetAttr3 = 1,
    kSetAttr3 = 2,
    kLookup3 = 3,
    kAccess3 = 4,
    kReadLink3 = 5,
    kRead3 = 6,
    kWrite3 = 7,
    kCreate3 = 8,
    kMakeDir3 = 9,
    kSymLink3 = 10,
    kMakeNode3 = 11,
    kRemove3 = 12,
    kRemoveDir3 = 13,
    kRename3 = 14,
    kLink3 = 15,
    kReadDir3 = 16,
    kReadDirPlus3 = 17,
    kCommit3 = 21
};

enum Operation4 : std::uint64_t {
    kAccess4 = 3,
    kClose4 = 4,
    kCommit4 = 5,
    kCreate4 = 6,
    kGetAttr4 = 9,
    kGetHandle4 = 10,
    kLink4 = 11,
    kLookup4 = 15,
    kOpen4 = 18,
    kPutHandle4 = 22,
    kRead4 = 25,
    kReadDir4 = 26,
    kReadLink4 = 27,
    kRemove4 = 28,
    kRename4 = 29,
    kSetAttr4 = 34,
    kWrite4 = 38
};

std::uint64_t whole(std::string_view text) {
    return captured_number(text).value_or(0);
}

}  // namespace

void NfsCapture::take(const CapturedMessage& message) {
    const auto type = message.number("rpc.msgtyp"), xid = message.number("rpc.xid");
    if (!type || !xid) return;
    if (*type == 1) {
        const auto call = calls_.find({message.to + " " + message.from, *xid});
        if (call == calls_.end()) return;  // to a call before the capture, or a second time
        reply(message, call->second);
        calls_.erase(call);
        return;
    }
    if (message.number("rpc.program") != kNfsProgram) return;
    const std::uint64_t version = message.number("rpc.programversion").value_or(0);
    const std::uint64_t procedure = message.number("rpc.procedure").value_or(0);
    if ((version != 3 && version != 4) || procedure == 0) return;
    const auto [at, fresh] = calls_.try_emplace({message.from + " " + message.to, *xid});
    if (!fresh) {
        book_.note("a call was sent again; it counts once, from its first time");
        return;
    }
    Call& call = at->second;
    call.version = version;
    call.begin_ns = message.time_ns;
    call.user = clients_.user(message.from);
    if (version == 3) call.steps.push_back({procedure});
    for (const auto& [name, value] : message.fields) {
        if (name == "nfs.opcode" && version == 4) call.steps.push_back({whole(value)});
        if (call.steps.empty()) continue;
        Step& step = call.steps.back();
        if (name == "nfs.fhandle" && step.handle.empty()) step.handle = value;
        if ((name == "nfs.name" || name == "nfs.pathname.component") && step.name.empty()) step.name = value;
        if (name == "nfs.offset3" || name == "nfs.offset4") step.offset = whole(value);
        if (name == "nfs.count3" || name == "nfs.count4" || name == "nfs.write.data_length")
            step.bytes = whole(value);
        if (name == "nfs.cookie3" || name == "nfs.cookie4") step.cookie = whole(value);
        if (name == "nfs.open.opentype") step.creates = whole(value) == 1;
        if (name == "nfs.write.stable") step.stable = whole(value) != 0;
    }
}

void NfsCapture::reply(const CapturedMessage& message, Call& call) {
    std::size_t steps = 0;  // that the reply has spoken of
    for (const auto& [name, value] : message.fields) {
        if (name == "nfs.opcode" && steps < call.steps.size()) ++steps;
        if (call.version == 3) steps = 1;
        if (steps == 0) continue;
        Step& step = call.steps[steps - 1];
        if (name == "nfs.status3" || name == "nfs.nfsstat4") step.status = whole(value);
        if (name == "nfs.fhandle" && step.handle_out.empty()) step.handle_out = value;
        if ((name == "nfs.fattr3.size" || name == "nfs.fattr4.size") && !step.size) step.size = whole(value);
        if (name == "nfs.count3" || name == "nfs.read.data_length") step.moved = whole(value);
    }
    if (call.version == 3) {
        ++counted3_;
        done3(call, call.steps.front(), message.time_ns);
    } else {
        ++counted4_;
        // It ends with the first that fails.
        call.steps.resize(std::min(call.steps.size(), std::max<std::size_t>(steps, 1)));
        done4(call, message.time_ns);
    }
}

std::uint32_t NfsCapture::file_of(const std::string& handle) {
    const auto known = handles_.find(handle);
    if (known != handles_.end()) return known->second;
    const auto file = book_.file(fmt::format("handle-{}", handles_.size() + 1));
    handles_.emplace(handle, file);
    return file;
}

std::uint32_t NfsCapture::file_in(const std::string& directory, const std::string& name) {
    const std::string& parent = book_.at(file_of(directory)).name;
    book_.at(file_of(directory)).regular = false;
    return book_.file(parent.starts_with("handle-") ? name : parent + "/" + name);
}

/// A name that was looked up or made has a handle from now on.
void NfsCapture::learn(const Step& step, std::uint32_t file) {
    if (step.handle_out.empty()) return;
    handles_[step.handle_out] = file;
    if (step.size) book_.at(file).bytes = std::max(book_.at(file).bytes, *step.size);
}

std::size_t NfsCapture::add(
    const Call& call, TrafficKind kind, std::uint32_t file, bool failed, std::int64_t end_ns) {
    TrafficOperation operation;
    operation.begin_ns = call.begin_ns;
    operation.duration_ns = end_ns - call.begin_ns;
    operation.user = call.user;
    operation.file = file;
    operation.kind = kind;
    operation.failed = failed;
    return book_.add(operation);
}

void NfsCapture::moved(const Call& call, const Step& step, TrafficKind kind, std::int64_t end_ns) {
    const std::uint32_t file = file_of(step.handle);
    Use& use = uses_[{call.user, file}];
    // NFSv3 opens nothing: whoever reads from the beginning again has begun anew.
    const bool again = call.version == 3 && step.offset == 0 && use.reads_at_begin > 0;
    if (use.session == kNoSession || again) {
        use.session = book_.add_session({file, false, false});
        use.reads_at_begin = 0;
        if (use.lookup) {
            TrafficOperation& lookup = book_.operation(*use.lookup);
            lookup.kind = TrafficKind::open;
            lookup.session = use.session;
            use.lookup.reset();
        }
    }
    if (step.offset == 0) ++use.reads_at_begin;
    if (step.stable) book_.session(use.session).synchronous = true;
    const std::uint64_t bytes = step.status != 0 ? 0 : step.moved.value_or(step.bytes);
    if (step.size) book_.at(file).bytes = std::max(book_.at(file).bytes, *step.size);
    if (bytes == 0 && step.status == 0) {
        if (kind == TrafficKind::read) book_.found_end();
        return;
    }
    if (step.offset > UINT64_MAX / 2 - bytes) return;
    TrafficOperation& entry = book_.operation(add(call, kind, file, step.status != 0, end_ns));
    entry.session = use.session;
    entry.offset = step.offset;
    entry.bytes = bytes;
    book_.at(file).bytes = std::max(book_.at(file).bytes, entry.offset + entry.bytes);
}

void NfsCapture::done3(const Call& call, const Step& step, std::int64_t end_ns) {
    const bool failed = step.status != 0;
    switch (step.code) {
        case kGetAttr3:
        case kAccess3:
        case kReadLink3: add(call, TrafficKind::stat, file_of(step.handle), failed, end_ns); return;
        case kLookup3: {
            const std::uint32_t file = file_in(step.handle, step.name);
            if (!failed) learn(step, file);
            const std::size_t number = add(call, TrafficKind::stat, file, failed, end_ns);
            if (!failed) uses_[{call.user, file}].lookup = number;
            return;
        }
        case kRead3: return moved(call, step, TrafficKind::read, end_ns);
        case kWrite3: return moved(call, step, TrafficKind::write, end_ns);
        case kCreate3: {
            const std::uint32_t file = file_in(step.handle, step.name);
            if (!failed) learn(step, file);
            TrafficOperation& entry = book_.operation(add(call, TrafficKind::create, file, failed, end_ns));
            if (failed) return;
            Use& use = uses_[{call.user, file}];
            use = {book_.add_session({file, false, false}), 0, std::nullopt};
            entry.session = use.session;
            return;
        }
        case kRemove3: add(call, TrafficKind::remove, file_in(step.handle, step.name), failed, end_ns); return;
        case kRename3: add(call, TrafficKind::rename, file_in(step.handle, step.name), failed, end_ns); return;
        case kReadDir3:
        case kReadDirPlus3:
            if (step.cookie == 0) add(call, TrafficKind::list, file_of(step.handle), failed, end_ns);
            return;
        case kCommit3: add(call, TrafficKind::sync, file_of(step.handle), failed, end_ns); return;
        case kSetAttr3:
        case kMakeDir3:
        case kSymLink3:
        case kMakeNode3:
        case kRemoveDir3:
        case kLink3: add(call, TrafficKind::other, file_of(step.handle), failed, end_ns); return;
        default: return;  // FSSTAT, FSINFO, PATHCONF: what mounts ask
    }
}

void NfsCapture::done4(const Call& call, std::int64_t end_ns) {
    std::string handle;
    std::optional<std::uint32_t> asked;  // a file that was only looked at
    bool asked_in_vain = false, acted = false;
    std::optional<std::uint32_t> to_learn;
    const auto act = [&](TrafficKind kind, std::uint32_t file, const Step& step) {
        acted = true;
        return add(call, kind, file, step.status != 0, end_ns);
    };
    for (Step step : call.steps) {
        if (step.code == kPutHandle4) handle = step.handle;
        step.handle = handle;
        const bool failed = step.status != 0;
        if (step.code == kGetHandle4 && to_learn && !failed) {
            learn(step, *to_learn);
            handle = step.handle_out;
        } else if (step.code == kRead4 || step.code == kWrite4) {
            acted = true;
            moved(call, step, step.code == kRead4 ? TrafficKind::read : TrafficKind::write, end_ns);
        } else if (step.code == kOpen4) {
            const std::uint32_t file = step.name.empty() ? file_of(handle) : file_in(handle, step.name);
            const TrafficKind kind = failed         ? TrafficKind::stat
                                     : step.creates ? TrafficKind::create
                                                    : TrafficKind::open;
            const std::size_t number = act(kind, file, step);
            if (failed) continue;
            to_learn = file;
            Use& use = uses_[{call.user, file}];
            use = {book_.add_session({file, false, false}), 0, std::nullopt};
            book_.operation(number).session = use.session;
        } else if (step.code == kLookup4 || step.code == kGetAttr4 || step.code == kAccess4 ||
                   step.code == kReadLink4) {
            if (step.code == kLookup4) {
                asked = file_in(handle, step.name);
                to_learn = asked;
            }
            if (!asked) asked = to_learn ? *to_learn : file_of(handle);
            if (step.size) book_.at(*asked).bytes = std::max(book_.at(*asked).bytes, *step.size);
            asked_in_vain = failed;
        } else if (step.code == kReadDir4) {
            acted = true;
            if (step.cookie == 0)
                add(call, TrafficKind::list, to_learn.value_or(file_of(handle)), failed, end_ns);
        } else if (step.code == kRemove4) {
            act(TrafficKind::remove, file_in(handle, step.name), step);
        } else if (step.code == kRename4) {
            act(TrafficKind::rename, file_of(handle), step);
        } else if (step.code == kCommit4) {
            act(TrafficKind::sync, file_of(handle), step);
        } else if (step.code == kCreate4 || step.code == kSetAttr4 || step.code == kLink4) {
            act(TrafficKind::other, file_of(handle), step);
        } else if (step.code == kClose4) {
            acted = true;
            uses_.erase({call.user, file_of(handle)});
        }
    }
    if (!acted && asked) add(call, TrafficKind::stat, *asked, asked_in_vain, end_ns);
}

}  // namespace streamsim::profile
