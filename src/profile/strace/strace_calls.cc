#include "profile/strace/strace_calls.h"

#include <algorithm>
#include <unordered_map>

#include "base/path.h"

namespace streamsim::profile {
namespace {

/// "O_RDONLY|O_CLOEXEC" has "O_CLOEXEC".
bool has_flag(std::string_view flags, std::string_view flag) {
    for (auto at = flags.find(flag); at != std::string_view::npos; at = flags.find(flag, at + 1)) {
        const std::size_t end = at + flag.size();
        const auto is_letter = [](char c) {
            return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        };
        if ((at == 0 || !is_letter(flags[at - 1])) && (end == flags.size() || !is_letter(flags[end])))
            return true;
    }
    return false;
}

std::string_view argument(const TracedCall& call, std::size_t at) {
    return at < call.call.arguments.size() ? call.call.arguments[at] : std::string_view();
}

bool failed(const TracedCall& call) {
    return !call.call.error.empty();
}

/// False for the text that -y writes for a descriptor of another kind: "pipe:[12]", "TCP:[...]",
/// "anon_inode:[eventpoll]", "/dev/null<char 1:3>", "/memfd:x (deleted)".
bool is_file_name(std::string_view name) {
    return name.starts_with('/') && name.find("<char ") == std::string_view::npos &&
           !name.starts_with("/memfd:");
}

/// The offset that pread and its kin were given; what is negative is none.
std::optional<std::uint64_t> offset_of(std::string_view argument) {
    const auto number = number_of(argument);
    return number && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

/// "[0] => [65536]" and "[0]" -> 0.
std::optional<std::uint64_t> pointed_offset(std::string_view argument) {
    const auto end = argument.find(']');
    if (!argument.starts_with('[') || end == std::string_view::npos) return std::nullopt;
    return offset_of(argument.substr(1, end - 1));
}

}  // namespace

StraceCalls::Handler StraceCalls::handler_of(std::string_view name) {
    using Calls = StraceCalls;
    struct Names {
        Handler handler;
        std::string_view names;  // with a blank behind each
    };
    static constexpr Names kNames[] = {
        {&Calls::open, "open openat openat2 creat "},
        {&Calls::close, "close "},
        {&Calls::close_range, "close_range "},
        {&Calls::duplicate, "dup dup2 dup3 "},
        {&Calls::control, "fcntl fcntl64 "},
        {&Calls::move,
         "read pread pread64 readv preadv preadv2 write pwrite pwrite64 writev pwritev pwritev2 "},
        {&Calls::copy, "copy_file_range sendfile sendfile64 splice "},
        {&Calls::seek, "lseek _llseek "},
        {&Calls::query,
         "stat stat64 lstat lstat64 fstat fstat64 newfstatat fstatat64 statx access faccessat faccessat2 "
         "readlink "
         "readlinkat "},
        {&Calls::list, "getdents getdents64 "},
        {&Calls::by_name, "unlink unlinkat rename renameat renameat2 mkdir mkdirat rmdir truncate truncate64 "},
        {&Calls::synchronise, "fsync fdatasync sync_file_range "},
        {&Calls::change, "fallocate ftruncate ftruncate64 "},
        {&Calls::map, "mmap mmap2 "},
        {&Calls::enter, "chdir fchdir getcwd "},
        {&Calls::execute, "execve execveat "},
        {&Calls::unseen, "io_uring_setup io_submit ioctl "}};
    static const auto handlers = [] {
        std::unordered_map<std::string_view, Handler> out;
        for (const Names& each : kNames) {
            for (std::string_view rest = each.names; !rest.empty(); rest.remove_prefix(rest.find(' ') + 1))
                out.emplace(rest.substr(0, rest.find(' ')), each.handler);
        }
        return out;
    }();
    const auto found = handlers.find(name);
    return found == handlers.end() ? nullptr : found->second;
}

void StraceCalls::apply(TracedProcess& process, const TracedCall& call) {
    if (!call.call.has_result) return;  // begun again, or ended with its process
    if (const Handler handler = handler_of(call.name)) (this->*handler)(process, call);
}

TrafficOperation StraceCalls::operation(const TracedProcess& process,
                                        const TracedCall& call,
                                        TrafficKind kind) const {
    TrafficOperation operation;
    operation.begin_ns = call.begin_ns;
    operation.duration_ns = call.duration_ns;
    operation.user = process.user;
    operation.kind = kind;
    operation.failed = failed(call);
    return operation;
}

std::shared_ptr<TracedFile> StraceCalls::opened(TracedProcess& process, std::string_view argument) {
    const auto descriptor = descriptor_of(argument);
    if (!descriptor) return nullptr;
    const std::string name = decoration_of(argument);
    const auto known = process.descriptors->find(*descriptor);
    if (known != process.descriptors->end()) {
        const auto& opened = known->second.opened;
        // A file that was opened before the trace is known by its name.
        if (name.empty() || traffic_.at(opened->file).name == name) return opened;
    }
    if (name.empty()) return nullptr;
    auto fresh = std::make_shared<TracedFile>();
    fresh->counts = is_file_name(name);
    fresh->file = traffic_.file(name);
    traffic_.at(fresh->file).regular = fresh->counts;
    if (fresh->counts) fresh->session = traffic_.add_session({fresh->file, false, false});
    (*process.descriptors)[*descriptor] = {fresh, false};
    return fresh;
}

std::optional<std::string> StraceCalls::path(TracedProcess& process,
                                             const TracedCall& call,
                                             std::size_t at,
                                             bool relative) const {
    const auto name = string_of(argument(call, at));
    if (!name) return std::nullopt;
    if (name->starts_with('/')) return normal_path(*name);
    std::string base;
    if (relative) {
        const std::string_view directory = argument(call, at - 1);
        base = decoration_of(directory);
        if (const auto descriptor = descriptor_of(directory); base.empty() && descriptor) {
            const auto known = process.descriptors->find(*descriptor);
            if (known != process.descriptors->end()) base = traffic_.at(known->second.opened->file).name;
        } else if (!base.empty() && !descriptor) {
            *process.directory = base;  // AT_FDCWD</here>
        }
    }
    if (base.empty()) base = *process.directory;
    if (name->empty()) return base.empty() ? std::nullopt : std::optional(base);
    return normal_path(base.empty() ? *name : base + "/" + *name);
}

void StraceCalls::open(TracedProcess& process, const TracedCall& call) {
    const bool relative = call.name == "openat" || call.name == "openat2";
    const std::size_t at = relative ? 1 : 0;
    auto name = path(process, call, at, relative);
    if (!name) return;
    std::string decorated(call.call.result_path);
    if (!decorated.empty()) *name = decoration_of("3<" + decorated + ">");
    const std::string_view flags = call.name == "creat" ? "O_CREAT|O_TRUNC" : argument(call, at + 1);
    const bool asks_only = failed(call) || has_flag(flags, "O_PATH");
    const bool makes = has_flag(flags, "O_TRUNC") || (has_flag(flags, "O_CREAT") && has_flag(flags, "O_EXCL"));
    TrafficOperation entry = operation(process, call,
                                       asks_only ? TrafficKind::stat
                                       : makes   ? TrafficKind::create
                                                 : TrafficKind::open);
    entry.file = traffic_.file(*name);
    if (failed(call)) {
        traffic_.add(entry);
        return;
    }
    auto opened = std::make_shared<TracedFile>();
    opened->file = entry.file;
    opened->directory = has_flag(flags, "O_DIRECTORY");
    opened->append = has_flag(flags, "O_APPEND");
    opened->counts = decorated.empty() || is_file_name(decorated);
    if (opened->directory || !opened->counts) traffic_.at(entry.file).regular = false;
    if (opened->counts && !opened->directory) {
        entry.session = traffic_.add_session(
            {entry.file, has_flag(flags, "O_DIRECT"), has_flag(flags, "O_SYNC") || has_flag(flags, "O_DSYNC")});
        opened->session = entry.session;
        traffic_.add(entry);
    }
    (*process.descriptors)[call.call.result] = {opened, has_flag(flags, "O_CLOEXEC")};
}

void StraceCalls::close(TracedProcess& process, const TracedCall& call) {
    if (const auto descriptor = descriptor_of(argument(call, 0))) process.descriptors->erase(*descriptor);
}

void StraceCalls::close_range(TracedProcess& process, const TracedCall& call) {
    const auto first = number_of(argument(call, 0)), last = number_of(argument(call, 1));
    if (failed(call) || !first || has_flag(argument(call, 2), "CLOSE_RANGE_CLOEXEC")) return;
    Descriptors& all = *process.descriptors;
    all.erase(all.lower_bound(*first), last && *last >= *first ? all.upper_bound(*last) : all.end());
}

void StraceCalls::duplicate(TracedProcess& process, const TracedCall& call) {
    if (failed(call)) return;
    const auto from = opened(process, argument(call, 0));
    if (from == nullptr) {
        process.descriptors->erase(call.call.result);
    } else {
        (*process.descriptors)[call.call.result] = {from, has_flag(argument(call, 2), "O_CLOEXEC")};
    }
}

void StraceCalls::control(TracedProcess& process, const TracedCall& call) {
    const std::string_view what = argument(call, 1);
    const auto descriptor = descriptor_of(argument(call, 0));
    if (failed(call) || !descriptor) return;
    if (what.starts_with("F_DUPFD")) {
        if (const auto from = opened(process, argument(call, 0)))
            (*process.descriptors)[call.call.result] = {from, what == "F_DUPFD_CLOEXEC"};
    } else if (what == "F_SETFD") {
        const auto known = process.descriptors->find(*descriptor);
        if (known != process.descriptors->end())
            known->second.close_on_exec = has_flag(argument(call, 2), "FD_CLOEXEC");
    }
}

void StraceCalls::moved(const TracedProcess& process,
                        const TracedCall& call,
                        TrafficKind kind,
                        TracedFile& opened,
                        std::optional<std::uint64_t> offset) {
    if (!opened.counts) return;
    const auto bytes =
        failed(call) ? 0 : static_cast<std::uint64_t>(std::max<std::int64_t>(0, call.call.result));
    if (kind == TrafficKind::write && opened.append && !offset)
        opened.position = traffic_.at(opened.file).bytes;
    const std::uint64_t at = offset.value_or(opened.position);
    if (at > UINT64_MAX / 2 - bytes) return;
    if (bytes == 0 && !failed(call)) {
        if (kind == TrafficKind::read) traffic_.found_end();
        return;
    }
    TrafficOperation entry = operation(process, call, kind);
    entry.file = opened.file;
    entry.session = opened.session;
    entry.offset = at;
    entry.bytes = bytes;
    traffic_.add(entry);
    if (!offset) opened.position = at + bytes;
}

void StraceCalls::move(TracedProcess& process, const TracedCall& call) {
    const auto file = opened(process, argument(call, 0));
    if (file == nullptr) {
        if (call.call.result > 0) {
            traffic_.note(
                "a read or write of a descriptor that was opened out of sight is left out: strace -y names "
                "them");
        }
        return;
    }
    const bool reads = call.name.find("read") != std::string_view::npos;
    std::optional<std::uint64_t> offset;
    if (call.name.starts_with('p')) offset = offset_of(argument(call, 3));
    moved(process, call, reads ? TrafficKind::read : TrafficKind::write, *file, offset);
}

void StraceCalls::copy(TracedProcess& process, const TracedCall& call) {
    const bool sends = call.name.starts_with("sendfile");  // (out, in, offset of in, bytes)
    const auto from = opened(process, argument(call, sends ? 1 : 0));
    const auto to = opened(process, argument(call, sends ? 0 : 2));
    // Both in one call: half of its time each.
    TracedCall half{call.name, call.call, call.begin_ns, call.duration_ns / 2};
    if (from != nullptr)
        moved(process, half, TrafficKind::read, *from, pointed_offset(argument(call, sends ? 2 : 1)));
    half.begin_ns += half.duration_ns;
    if (to != nullptr && call.call.result > 0)
        moved(process, half, TrafficKind::write, *to, sends ? std::nullopt : pointed_offset(argument(call, 3)));
}

void StraceCalls::seek(TracedProcess& process, const TracedCall& call) {
    const auto file = opened(process, argument(call, 0));
    if (file == nullptr || failed(call)) return;
    std::optional<std::uint64_t> position;
    if (call.name == "lseek" && call.call.result >= 0) position = static_cast<std::uint64_t>(call.call.result);
    if (call.name == "_llseek") position = pointed_offset(argument(call, 2));
    if (position) file->position = *position;
}

void StraceCalls::query(TracedProcess& process, const TracedCall& call) {
    const bool by_descriptor = descriptor_of(argument(call, 0)).has_value();
    const bool at_directory = by_descriptor || argument(call, 0).starts_with("AT_FDCWD");
    const bool empty = string_of(argument(call, 1)).value_or("x").empty();
    TrafficOperation entry = operation(process, call, TrafficKind::stat);
    if (call.name.starts_with("fstat") ? call.name != "fstatat64" : by_descriptor && empty) {
        const auto file = opened(process, argument(call, 0));
        if (file == nullptr || !file->counts) return;
        entry.file = file->file;
        entry.session = file->session;
    } else {
        const auto name = path(process, call, at_directory ? 1 : 0, at_directory);
        if (!name) return;
        entry.file = traffic_.file(*name);
    }
    TrafficFile& file = traffic_.at(entry.file);
    for (const std::string_view each : call.call.arguments) {
        if (!each.starts_with('{')) continue;
        const bool regular = each.find("S_IFREG") != std::string_view::npos;
        if (!regular && each.find("S_IF") != std::string_view::npos) file.regular = false;
        const auto bytes = member_of(each, call.name == "statx" ? "stx_size" : "st_size");
        if (bytes && regular) file.bytes = std::max(file.bytes, static_cast<std::uint64_t>(*bytes));
    }
    traffic_.add(entry);
}

void StraceCalls::list(TracedProcess& process, const TracedCall& call) {
    const auto directory = opened(process, argument(call, 0));
    if (directory == nullptr || directory->listed) return;
    directory->listed = true;
    traffic_.at(directory->file).regular = false;
    TrafficOperation entry = operation(process, call, TrafficKind::list);
    entry.file = directory->file;
    traffic_.add(entry);
}

void StraceCalls::by_name(TracedProcess& process, const TracedCall& call) {
    const bool relative = call.name.ends_with("at") || call.name.ends_with("at2");
    const auto name = path(process, call, relative ? 1 : 0, relative);
    if (!name) return;
    TrafficKind kind = TrafficKind::other;
    if (call.name.starts_with("unlink") && !has_flag(argument(call, 2), "AT_REMOVEDIR"))
        kind = TrafficKind::remove;
    if (call.name.starts_with("rename")) kind = TrafficKind::rename;
    TrafficOperation entry = operation(process, call, kind);
    entry.file = traffic_.file(*name);
    traffic_.add(entry);
}

void StraceCalls::synchronise(TracedProcess& process, const TracedCall& call) {
    const auto file = opened(process, argument(call, 0));
    if (file == nullptr || !file->counts) return;
    TrafficOperation entry = operation(process, call, TrafficKind::sync);
    entry.file = file->file;
    entry.session = file->session;
    traffic_.add(entry);
}

void StraceCalls::change(TracedProcess& process, const TracedCall& call) {
    const auto file = opened(process, argument(call, 0));
    if (file == nullptr || !file->counts) return;
    TrafficOperation entry = operation(process, call, TrafficKind::other);
    entry.file = file->file;
    traffic_.add(entry);
}

void StraceCalls::map(TracedProcess& process, const TracedCall& call) {
    const auto file = opened(process, argument(call, 4));
    if (file != nullptr && file->counts && !failed(call)) ++traffic_.at(file->file).mappings;
}

void StraceCalls::enter(TracedProcess& process, const TracedCall& call) {
    if (failed(call)) return;
    if (call.name == "fchdir") {
        if (const auto directory = opened(process, argument(call, 0)))
            *process.directory = traffic_.at(directory->file).name;
    } else if (const auto name = path(process, call, 0, false)) {
        *process.directory = *name;
    }
}

void StraceCalls::execute(TracedProcess& process, const TracedCall& call) {
    if (failed(call)) return;
    const auto name = string_of(argument(call, call.name == "execveat" ? 1 : 0));
    if (name) traffic_.name_user(process.user, base_name(*name));
    auto kept = std::make_shared<Descriptors>();
    for (const auto& [number, descriptor] : *process.descriptors)
        if (!descriptor.close_on_exec) kept->emplace(number, descriptor);
    process.descriptors = kept;
}

void StraceCalls::unseen(TracedProcess&, const TracedCall& call) {
    if (failed(call)) return;
    if (call.name == "io_uring_setup")
        traffic_.note("io_uring was set up: what goes through it is in no strace log");
    if (call.name == "io_submit") traffic_.note("io_submit (AIO) is left out: its requests are not counted");
    if (call.name == "ioctl" && argument(call, 1).find("FICLONE") != std::string_view::npos)
        traffic_.note("a file was cloned (FICLONE): no data moved");
}

}  // namespace streamsim::profile
