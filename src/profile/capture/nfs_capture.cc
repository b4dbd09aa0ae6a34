#include "profile/capture/nfs_capture.h"

#include <fmt/format.h>

#include <algorithm>

namespace streamsim::profile {
namespace {

constexpr std::uint64_t kNfsProgram = 100003;

/// The meaning of a procedure of NFSv3, or of an operation of NFSv4.
enum class Act {
    none,
    ask,
    look_up,
    read,
    write,
    open,
    remove,
    rename,
    list,
    sync,
    change,
    close,
    set_handle,
    get_handle
};

Act act_of(std::size_t version, std::uint64_t code) {
    using enum Act;
    // RFC 1813: NULL, GETATTR, SETATTR, LOOKUP, ACCESS, READLINK, READ, WRITE, CREATE, MKDIR, SYMLINK, MKNOD,
    // REMOVE, RMDIR, RENAME, LINK, READDIR, READDIRPLUS, what mounts ask (FSSTAT, FSINFO, PATHCONF), COMMIT.
    static constexpr Act kActs3[] = {none, ask,    change, look_up, ask,    ask,    read,   write,
                                     open, change, change, change,  remove, change, rename, change,
                                     list, list,   none,   none,    none,   sync};
    // RFC 7530 and RFC 8881, from 3 on: ACCESS, CLOSE, COMMIT, CREATE, (2), GETATTR, GETFH, LINK, (3), LOOKUP,
    // (2), OPEN, (3), PUTFH, (2), READ, READDIR, READLINK, REMOVE, RENAME, (4), SETATTR, (3), WRITE.
    static constexpr Act kActs4[] = {
        none, none, none,    ask,    close, sync, change, none, none,   ask,        get_handle, change, none,
        none, none, look_up, none,   none,  open, none,   none, none,   set_handle, none,       none,   read,
        list, ask,  remove,  rename, none,  none, none,   none, change, none,       none,       none,   write};
    if (version == 3) return code < std::size(kActs3) ? kActs3[code] : none;
    return code < std::size(kActs4) ? kActs4[code] : none;
}

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
    if (!fresh) return traffic_.note_sent_again();
    Call& call = at->second;
    call.version = version;
    call.begin_ns = message.time_ns;
    call.user = traffic_.user(message.from);
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
    if (field == "nfs.status3" || field == "nfs.nfsstat4") failed = whole(value) != 0;
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
    ++counted_[call.version];
    // Interfaces of one capture may stamp by different clocks, and a capture may be edited.
    call.end_ns = std::max(call.begin_ns, message.time_ns);
    // A COMPOUND ends with the first operation that fails.
    call.steps.resize(std::min(call.steps.size(), std::max<std::size_t>(steps, 1)));
    Compound compound;
    for (Step& step : call.steps) {
        if (call.version == 4 && act_of(4, step.code) != Act::set_handle) step.handle = compound.handle;
        compound.handle = step.handle;
        take_step(call, step, compound);
    }
    if (compound.acted || !compound.asked) return;
    TrafficOperation asked = operation(call, {}, TrafficKind::stat, *compound.asked);
    asked.failed = compound.asked_failed;
    traffic_.add(asked);
}

std::uint32_t NfsCapture::file_of(const std::string& handle) {
    const auto known = handles_.find(handle);
    if (known != handles_.end()) return known->second;
    const auto file = traffic_.file(fmt::format("handle-{}", handles_.size() + 1));
    handles_.emplace(handle, file);
    return file;
}

std::uint32_t NfsCapture::file_in(const std::string& directory, const std::string& name) {
    TrafficFile& parent = traffic_.at(file_of(directory));
    parent.regular = false;
    return traffic_.file(parent.name + "/" + name);
}

/// A name that was looked up or made has a handle from now on.
void NfsCapture::learn(const Step& step, std::uint32_t file) {
    if (step.handle_out.empty()) return;
    handles_[step.handle_out] = file;
    traffic_.grow(file, step.size.value_or(0));
}

TrafficOperation NfsCapture::operation(const Call& call,
                                       const Step& step,
                                       TrafficKind kind,
                                       std::uint32_t file) {
    return {.begin_ns = call.begin_ns,
            .duration_ns = call.end_ns - call.begin_ns,
            .user = call.user,
            .file = file,
            .kind = kind,
            .failed = step.failed};
}

void NfsCapture::moved(const Call& call, const Step& step, TrafficKind kind) {
    const std::uint32_t file = file_of(step.handle);
    Use& use = uses_[{call.user, file}];
    // NFSv3 opens nothing: whoever reads from the beginning again has begun anew.
    const bool again = call.version == 3 && step.offset == 0 && use.reads_at_begin > 0;
    if (use.session == kNoSession || again) {
        use.session = traffic_.add_session({file, false, false, call.version == 3});
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
    const std::uint64_t bytes = step.failed ? 0 : step.moved.value_or(step.bytes);
    traffic_.grow(file, step.size.value_or(0));
    if (bytes == 0 && !step.failed) {
        if (kind == TrafficKind::read) traffic_.found_end();
        return;
    }
    if (!can_be_moved(step.offset, bytes)) return;
    TrafficOperation entry = operation(call, step, kind, file);
    entry.session = use.session;
    entry.offset = step.offset;
    entry.bytes = bytes;
    traffic_.add(entry);
}

void NfsCapture::take_step(const Call& call, const Step& step, Compound& compound) {
    const auto add = [&](TrafficKind kind, std::uint32_t file) {
        compound.acted = true;
        traffic_.add(operation(call, step, kind, file));
    };
    switch (act_of(call.version, step.code)) {
        case Act::none:
        case Act::set_handle: return;
        case Act::get_handle:
            if (!compound.found || step.failed) return;
            learn(step, *compound.found);
            compound.handle = step.handle_out;
            return;
        case Act::ask:
        case Act::look_up: return ask(call, step, compound);
        case Act::read: compound.acted = true; return moved(call, step, TrafficKind::read);
        case Act::write: compound.acted = true; return moved(call, step, TrafficKind::write);
        case Act::open: return open(call, step, compound);
        case Act::list:
            compound.acted = true;
            if (step.cookie != 0) return;  // the same listing goes on
            return add(TrafficKind::list, compound.found.value_or(file_of(step.handle)));
        case Act::remove: return add(TrafficKind::remove, file_in(step.handle, step.name));
        case Act::rename:
            return add(TrafficKind::rename,
                       call.version == 3 ? file_in(step.handle, step.name) : file_of(step.handle));
        case Act::sync: return add(TrafficKind::sync, file_of(step.handle));
        case Act::change: return add(TrafficKind::other, file_of(step.handle));
        case Act::close:
            compound.acted = true;
            uses_.erase({call.user, file_of(step.handle)});
            return;
    }
}

void NfsCapture::open(const Call& call, const Step& step, Compound& compound) {
    const bool creates = call.version == 3;  // CREATE has a name, and creates also where it fails
    const std::uint32_t file =
        !creates && step.name.empty() ? file_of(step.handle) : file_in(step.handle, step.name);
    compound.acted = true;
    TrafficOperation entry = operation(call, step, TrafficKind::open, file);
    if (creates || step.creates) entry.kind = TrafficKind::create;
    if (!creates && step.failed) entry.kind = TrafficKind::stat;
    if (!step.failed) {
        if (creates) learn(step, file);
        compound.found = file;
        entry.session = traffic_.add_session({file, false, false});
        uses_[{call.user, file}] = {entry.session, 0, std::nullopt};
    }
    traffic_.add(entry);
}

/// A COMPOUND of questions counts once, and a LOOKUP of NFSv3 may become an open.
void NfsCapture::ask(const Call& call, const Step& step, Compound& compound) {
    const bool looks_up = act_of(call.version, step.code) == Act::look_up;
    const std::uint32_t file = looks_up         ? file_in(step.handle, step.name)
                               : compound.asked ? *compound.asked
                               : compound.found ? *compound.found
                                                : file_of(step.handle);
    if (call.version == 3) {
        if (looks_up && !step.failed) learn(step, file);
        const std::size_t number = traffic_.add(operation(call, step, TrafficKind::stat, file));
        if (looks_up && !step.failed) uses_[{call.user, file}].lookup = number;
        return;
    }
    if (looks_up) compound.found = file;
    compound.asked = file;
    compound.asked_failed = step.failed;
    traffic_.grow(file, step.size.value_or(0));
}

}  // namespace streamsim::profile
