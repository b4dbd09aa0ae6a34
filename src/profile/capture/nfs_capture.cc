// Procedures of RFC 1813 (NFSv3), operations of RFC 7530 and RFC 8881 (NFSv4).
#include "profile/capture/nfs_capture.h"

#include <fmt/format.h>

#include <algorithm>

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
        traffic_.note("a call was sent again; it counts once, from its first time");
        return;
    }
    Call& call = at->second;
    call.version = version;
    call.begin_ns = message.time_ns;
    call.user = clients_.user(message.from);
    if (version == 3) call.steps.push_back({procedure});
    for (const auto& [name, value] : message.fields) {
        if (name == "nfs.opcode" && version == 4) call.steps.push_back({whole(value)});
        if (!call.steps.empty()) call.steps.back().take_argument(name, value);
    }
}

void NfsCapture::Step::take_argument(std::string_view field, const std::string& value) {
    if (field == "nfs.fhandle" && handle.empty()) handle = value;
    if ((field == "nfs.name" || field == "nfs.pathname.component") && name.empty()) name = value;
    if (field == "nfs.offset3" || field == "nfs.offset4") offset = whole(value);
    if (field == "nfs.count3" || field == "nfs.count4" || field == "nfs.write.data_length")
        bytes = whole(value);
    if (field == "nfs.cookie3" || field == "nfs.cookie4") cookie = whole(value);
    if (field == "nfs.open.opentype") creates = whole(value) == 1;
    if (field == "nfs.write.stable") stable = whole(value) != 0;
}

void NfsCapture::Step::take_result(std::string_view field, const std::string& value) {
    if (field == "nfs.status3" || field == "nfs.nfsstat4") status = whole(value);
    if (field == "nfs.fhandle" && handle_out.empty()) handle_out = value;
    if ((field == "nfs.fattr3.size" || field == "nfs.fattr4.size") && !size) size = whole(value);
    if (field == "nfs.count3" || field == "nfs.read.data_length") moved = whole(value);
}

void NfsCapture::reply(const CapturedMessage& message, Call& call) {
    std::size_t steps = 0;  // operations that the reply has answered so far
    for (const auto& [name, value] : message.fields) {
        if (name == "nfs.opcode" && steps < call.steps.size()) ++steps;
        if (call.version == 3) steps = 1;
        if (steps == 0) continue;
        call.steps[steps - 1].take_result(name, value);
    }
    if (call.version == 3) {
        ++counted3_;
        done3(call, call.steps.front(), message.time_ns);
    } else {
        ++counted4_;
        // A COMPOUND ends with the first operation that fails.
        call.steps.resize(std::min(call.steps.size(), std::max<std::size_t>(steps, 1)));
        done4(call, message.time_ns);
    }
}

std::uint32_t NfsCapture::file_of(const std::string& handle) {
    const auto known = handles_.find(handle);
    if (known != handles_.end()) return known->second;
    const auto file = traffic_.file(fmt::format("handle-{}", handles_.size() + 1));
    handles_.emplace(handle, file);
    return file;
}

std::uint32_t NfsCapture::file_in(const std::string& directory, const std::string& name) {
    const std::string& parent = traffic_.at(file_of(directory)).name;
    traffic_.at(file_of(directory)).regular = false;
    return traffic_.file(parent.starts_with("handle-") ? name : parent + "/" + name);
}

/// A name that was looked up or made has a handle from now on.
void NfsCapture::learn(const Step& step, std::uint32_t file) {
    if (step.handle_out.empty()) return;
    handles_[step.handle_out] = file;
    if (step.size) traffic_.at(file).bytes = std::max(traffic_.at(file).bytes, *step.size);
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
    return traffic_.add(operation);
}

void NfsCapture::moved(const Call& call, const Step& step, TrafficKind kind, std::int64_t end_ns) {
    const std::uint32_t file = file_of(step.handle);
    Use& use = uses_[{call.user, file}];
    // NFSv3 opens nothing: whoever reads from the beginning again has begun anew.
    const bool again = call.version == 3 && step.offset == 0 && use.reads_at_begin > 0;
    if (use.session == kNoSession || again) {
        use.session = traffic_.add_session({file, false, false});
        use.reads_at_begin = 0;
        if (use.lookup) {
            TrafficOperation& lookup = traffic_.operation(*use.lookup);
            lookup.kind = TrafficKind::open;
            lookup.session = use.session;
            use.lookup.reset();
        }
    }
    if (step.offset == 0) ++use.reads_at_begin;
    if (step.stable) traffic_.session(use.session).synchronous = true;
    const std::uint64_t bytes = step.status != 0 ? 0 : step.moved.value_or(step.bytes);
    if (step.size) traffic_.at(file).bytes = std::max(traffic_.at(file).bytes, *step.size);
    if (bytes == 0 && step.status == 0) {
        if (kind == TrafficKind::read) traffic_.found_end();
        return;
    }
    if (step.offset > UINT64_MAX / 2 - bytes) return;
    TrafficOperation& entry = traffic_.operation(add(call, kind, file, step.status != 0, end_ns));
    entry.session = use.session;
    entry.offset = step.offset;
    entry.bytes = bytes;
    traffic_.at(file).bytes = std::max(traffic_.at(file).bytes, entry.offset + entry.bytes);
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
            open(call, TrafficKind::create, file, failed, end_ns);
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

void NfsCapture::open(
    const Call& call, TrafficKind kind, std::uint32_t file, bool failed, std::int64_t end_ns) {
    const std::size_t number = add(call, kind, file, failed, end_ns);
    if (failed) return;
    const std::uint32_t session = traffic_.add_session({file, false, false});
    uses_[{call.user, file}] = {session, 0, std::nullopt};
    traffic_.operation(number).session = session;
}

void NfsCapture::done4(const Call& call, std::int64_t end_ns) {
    Compound compound;
    for (Step step : call.steps) {
        if (step.code == kPutHandle4) compound.handle = step.handle;
        step.handle = compound.handle;
        done_step4(call, step, compound, end_ns);
    }
    if (!compound.acted && compound.asked)
        add(call, TrafficKind::stat, *compound.asked, compound.asked_failed, end_ns);
}

void NfsCapture::done_step4(const Call& call, const Step& step, Compound& compound, std::int64_t end_ns) {
    const bool failed = step.status != 0;
    const auto act = [&](TrafficKind kind, std::uint32_t file) {
        compound.acted = true;
        add(call, kind, file, failed, end_ns);
    };
    switch (step.code) {
        case kGetHandle4:
            if (!compound.found || failed) return;
            learn(step, *compound.found);
            compound.handle = step.handle_out;
            return;
        case kRead4:
        case kWrite4:
            compound.acted = true;
            return moved(call, step, step.code == kRead4 ? TrafficKind::read : TrafficKind::write, end_ns);
        case kOpen4: return open4(call, step, compound, end_ns);
        case kLookup4:
        case kGetAttr4:
        case kAccess4:
        case kReadLink4: return ask4(step, compound);
        case kReadDir4:
            compound.acted = true;
            if (step.cookie != 0) return;  // the same listing goes on
            add(call, TrafficKind::list, compound.found.value_or(file_of(step.handle)), failed, end_ns);
            return;
        case kRemove4: return act(TrafficKind::remove, file_in(step.handle, step.name));
        case kRename4: return act(TrafficKind::rename, file_of(step.handle));
        case kCommit4: return act(TrafficKind::sync, file_of(step.handle));
        case kCreate4:
        case kSetAttr4:
        case kLink4: return act(TrafficKind::other, file_of(step.handle));
        case kClose4:
            compound.acted = true;
            uses_.erase({call.user, file_of(step.handle)});
            return;
        default: return;
    }
}

void NfsCapture::open4(const Call& call, const Step& step, Compound& compound, std::int64_t end_ns) {
    const bool failed = step.status != 0;
    const std::uint32_t file = step.name.empty() ? file_of(step.handle) : file_in(step.handle, step.name);
    compound.acted = true;
    if (!failed) compound.found = file;
    open(call,
         failed         ? TrafficKind::stat
         : step.creates ? TrafficKind::create
                        : TrafficKind::open,
         file, failed, end_ns);
}

void NfsCapture::ask4(const Step& step, Compound& compound) {
    if (step.code == kLookup4) {
        compound.asked = file_in(step.handle, step.name);
        compound.found = compound.asked;
    }
    if (!compound.asked) compound.asked = compound.found ? *compound.found : file_of(step.handle);
    TrafficFile& file = traffic_.at(*compound.asked);
    if (step.size) file.bytes = std::max(file.bytes, *step.size);
    compound.asked_failed = step.status != 0;
}

}  // namespace streamsim::profile
