#include "profile/strace/strace_calls.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/ascii.h"
#include "base/path.h"

namespace streamsim::profile {
namespace {

/// "O_RDONLY|O_CLOEXEC" has "O_CLOEXEC".
bool has_flag(std::string_view flags, std::string_view flag) {
    for (auto at = flags.find(flag); at != std::string_view::npos; at = flags.find(flag, at + 1)) {
        const std::size_t end = at + flag.size();
        const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; };
        if ((at == 0 || !is_letter(flags[at - 1])) && (end == flags.size() || !is_letter(flags[end])))
            return true;
    }
    return false;
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

/// One call of one process.
class CallFollower {
public:
    CallFollower(TrafficBuilder& traffic, TracedProcess& process, const TracedCall& call)
        : traffic_(traffic), process_(process), call_(call) {}

    void follow() {
        if (!call_.call.has_result) return;  // begun again, or ended with its process
        if (const Handler handler = handler_of(call_.name)) (this->*handler)();
    }

private:
    using Handler = void (CallFollower::*)();

    static Handler handler_of(std::string_view name) {
        using Calls = CallFollower;
        struct Names {
            Handler handler;
            std::string_view names;
        };
        static constexpr Names kNames[] = {
            {&Calls::open, "open openat openat2 creat"},
            {&Calls::close, "close"},
            {&Calls::close_range, "close_range"},
            {&Calls::duplicate, "dup dup2 dup3"},
            {&Calls::control, "fcntl fcntl64"},
            {&Calls::move,
             "read pread pread64 readv preadv preadv2 write pwrite pwrite64 writev pwritev pwritev2"},
            {&Calls::copy, "copy_file_range sendfile sendfile64 splice"},
            {&Calls::seek, "lseek _llseek"},
            {&Calls::query,
             "stat stat64 lstat lstat64 fstat fstat64 newfstatat fstatat64 statx access faccessat faccessat2 "
             "readlink readlinkat"},
            {&Calls::list, "getdents getdents64"},
            {&Calls::by_name,
             "unlink unlinkat rename renameat renameat2 mkdir mkdirat rmdir truncate truncate64"},
            {&Calls::change, "fsync fdatasync sync_file_range fallocate ftruncate ftruncate64"},
            {&Calls::map, "mmap mmap2"},
            {&Calls::enter, "chdir fchdir getcwd"},
            {&Calls::execute, "execve execveat"},
            {&Calls::unseen, "io_uring_setup io_uring_enter io_uring_register io_submit ioctl"}};
        static const auto handlers = [] {
            std::unordered_map<std::string_view, Handler> out;
            for (const Names& each : kNames)
                for (const std::string_view one : split(each.names, ' ')) out.emplace(one, each.handler);
            return out;
        }();
        const auto found = handlers.find(name);
        return found == handlers.end() ? nullptr : found->second;
    }

    std::string_view argument(std::size_t at) const {
        return at < call_.call.arguments.size() ? call_.call.arguments[at] : std::string_view();
    }
    bool failed() const { return !call_.call.error.empty(); }

    TrafficOperation operation(TrafficKind kind, std::uint32_t file, std::uint32_t session = kNoSession) const {
        return {.begin_ns = call_.begin_ns,
                .duration_ns = call_.duration_ns,
                .user = process_.user,
                .file = file,
                .session = session,
                .kind = kind,
                .failed = failed()};
    }

    /// The open file of a descriptor in an argument; null: unknown.
    std::shared_ptr<TracedFile> opened(std::size_t at) {
        const auto descriptor = descriptor_of(argument(at));
        if (!descriptor) return nullptr;
        const std::string name = decoration_of(argument(at));
        const auto known = process_.descriptors->find(*descriptor);
        if (known != process_.descriptors->end()) {
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
        (*process_.descriptors)[*descriptor] = {fresh, false};
        return fresh;
    }
    /// The same; null also for a file that does not count.
    std::shared_ptr<TracedFile> counted(std::size_t at) {
        auto file = opened(at);
        return file != nullptr && file->counts ? file : nullptr;
    }

    /// The path in the argument `at`; with `relative`, below the directory in the argument before it.
    std::optional<std::string> path(std::size_t at, bool relative) const {
        const auto name = string_of(argument(at));
        if (!name) return std::nullopt;
        if (name->starts_with('/')) return normal_path(*name);
        std::string base;
        if (relative) {
            const std::string_view directory = argument(at - 1);
            base = decoration_of(directory);
            if (const auto descriptor = descriptor_of(directory); base.empty() && descriptor) {
                const auto known = process_.descriptors->find(*descriptor);
                if (known != process_.descriptors->end()) base = traffic_.at(known->second.opened->file).name;
            } else if (!base.empty() && !descriptor) {
                *process_.directory = base;  // AT_FDCWD</here>
            }
        }
        if (base.empty()) base = *process_.directory;
        if (name->empty()) return base.empty() ? std::nullopt : std::optional(base);
        return normal_path(base.empty() ? *name : base + "/" + *name);
    }

    void open() {
        const bool relative = call_.name == "openat" || call_.name == "openat2";
        const std::size_t at = relative ? 1 : 0;
        auto name = path(at, relative);
        if (!name) return;
        const std::string decorated(call_.call.result_path);
        if (!decorated.empty()) *name = decoration_of("3<" + decorated + ">");
        const std::string_view flags = call_.name == "creat" ? "O_CREAT|O_TRUNC" : argument(at + 1);
        const bool asks_only = failed() || has_flag(flags, "O_PATH");
        const bool makes =
            has_flag(flags, "O_TRUNC") || (has_flag(flags, "O_CREAT") && has_flag(flags, "O_EXCL"));
        TrafficOperation entry = operation(asks_only ? TrafficKind::stat
                                           : makes   ? TrafficKind::create
                                                     : TrafficKind::open,
                                           traffic_.file(*name));
        if (failed()) {
            traffic_.add(entry);
            return;
        }
        auto opened = std::make_shared<TracedFile>();
        opened->file = entry.file;
        opened->append = has_flag(flags, "O_APPEND");
        opened->counts = decorated.empty() || is_file_name(decorated);
        if (const bool directory = has_flag(flags, "O_DIRECTORY"); directory || !opened->counts) {
            traffic_.at(entry.file).regular = false;
        } else {
            entry.session = opened->session =
                traffic_.add_session({entry.file, has_flag(flags, "O_DIRECT"),
                                      has_flag(flags, "O_SYNC") || has_flag(flags, "O_DSYNC")});
            traffic_.add(entry);
        }
        (*process_.descriptors)[call_.call.result] = {opened, has_flag(flags, "O_CLOEXEC")};
    }

    void close() { begin_close(traffic_, process_, argument(0)); }

    void close_range() {
        const auto first = number_of(argument(0)), last = number_of(argument(1));
        if (failed() || !first || has_flag(argument(2), "CLOSE_RANGE_CLOEXEC")) return;
        Descriptors& all = *process_.descriptors;
        all.erase(all.lower_bound(*first), last && *last >= *first ? all.upper_bound(*last) : all.end());
    }

    void duplicate() {
        if (failed()) return;
        const auto from = opened(0);
        if (from == nullptr) {
            process_.descriptors->erase(call_.call.result);
        } else {
            (*process_.descriptors)[call_.call.result] = {from, has_flag(argument(2), "O_CLOEXEC")};
        }
    }

    void control() {
        const std::string_view what = argument(1);
        const auto descriptor = descriptor_of(argument(0));
        if (failed() || !descriptor) return;
        if (what.starts_with("F_DUPFD")) {
            if (const auto from = opened(0))
                (*process_.descriptors)[call_.call.result] = {from, what == "F_DUPFD_CLOEXEC"};
        } else if (what == "F_SETFD") {
            const auto known = process_.descriptors->find(*descriptor);
            if (known != process_.descriptors->end())
                known->second.close_on_exec = has_flag(argument(2), "FD_CLOEXEC");
        }
    }

    void moved(TrafficKind kind, TracedFile& opened, std::optional<std::uint64_t> offset) {
        if (!opened.counts) return;
        const auto bytes =
            failed() ? 0 : static_cast<std::uint64_t>(std::max<std::int64_t>(0, call_.call.result));
        if (kind == TrafficKind::write && opened.append && !offset)
            opened.position = traffic_.at(opened.file).bytes;
        const std::uint64_t at = offset.value_or(opened.position);
        if (!can_be_moved(at, bytes)) return;
        if (bytes == 0 && !failed()) {
            if (kind == TrafficKind::read) traffic_.found_end();
            return;
        }
        TrafficOperation entry = operation(kind, opened.file, opened.session);
        entry.offset = at;
        entry.bytes = bytes;
        traffic_.add(entry);
        if (!offset) opened.position = at + bytes;
    }

    void move() {
        const auto file = opened(0);
        if (file == nullptr) {
            if (call_.call.result > 0) {
                traffic_.note(
                    "a read or write of a descriptor that was opened out of sight is left out: strace -y names "
                    "them");
            }
            return;
        }
        const bool reads = call_.name.find("read") != std::string_view::npos;
        std::optional<std::uint64_t> offset;
        if (call_.name.starts_with('p')) offset = offset_of(argument(3));
        moved(reads ? TrafficKind::read : TrafficKind::write, *file, offset);
    }

    void copy() {
        const bool sends = call_.name.starts_with("sendfile");  // (out, in, offset of in, bytes)
        const auto from = opened(sends ? 1 : 0);
        const auto to = opened(sends ? 0 : 2);
        // Both in one call: half of its time each.
        call_.duration_ns /= 2;
        if (from != nullptr) moved(TrafficKind::read, *from, pointed_offset(argument(sends ? 2 : 1)));
        call_.begin_ns += call_.duration_ns;
        if (to != nullptr && call_.call.result > 0)
            moved(TrafficKind::write, *to, sends ? std::nullopt : pointed_offset(argument(3)));
    }

    void seek() {
        const auto file = opened(0);
        if (file == nullptr || failed()) return;
        std::optional<std::uint64_t> position;
        if (call_.name == "lseek" && call_.call.result >= 0)
            position = static_cast<std::uint64_t>(call_.call.result);
        if (call_.name == "_llseek") position = pointed_offset(argument(2));
        if (position) file->position = *position;
    }

    void query() {
        const bool by_descriptor = descriptor_of(argument(0)).has_value();
        const bool at_directory = by_descriptor || argument(0).starts_with("AT_FDCWD");
        const bool empty = string_of(argument(1)).value_or("x").empty();
        TrafficOperation entry = operation(TrafficKind::stat, 0);
        if (call_.name.starts_with("fstat") ? call_.name != "fstatat64" : by_descriptor && empty) {
            const auto file = counted(0);
            if (file == nullptr) return;
            entry.file = file->file;
            entry.session = file->session;
        } else {
            const auto name = path(at_directory ? 1 : 0, at_directory);
            if (!name) return;
            entry.file = traffic_.file(*name);
        }
        for (const std::string_view each : call_.call.arguments) {
            if (!each.starts_with('{')) continue;
            const bool regular = each.find("S_IFREG") != std::string_view::npos;
            if (!regular && each.find("S_IF") != std::string_view::npos)
                traffic_.at(entry.file).regular = false;
            const auto bytes = member_of(each, call_.name == "statx" ? "stx_size" : "st_size");
            if (bytes && regular) traffic_.grow(entry.file, static_cast<std::uint64_t>(*bytes));
        }
        traffic_.add(entry);
    }

    void list() {
        const auto directory = opened(0);
        if (directory == nullptr || directory->listed) return;
        directory->listed = true;
        traffic_.at(directory->file).regular = false;
        traffic_.add(operation(TrafficKind::list, directory->file));
    }

    void by_name() {
        const bool relative = call_.name.ends_with("at") || call_.name.ends_with("at2");
        const auto name = path(relative ? 1 : 0, relative);
        if (!name) return;
        TrafficKind kind = TrafficKind::other;
        if (call_.name.starts_with("unlink") && !has_flag(argument(2), "AT_REMOVEDIR"))
            kind = TrafficKind::remove;
        if (call_.name.starts_with("rename")) kind = TrafficKind::rename;
        traffic_.add(operation(kind, traffic_.file(*name)));
    }

    void change() {
        const auto file = counted(0);
        if (file == nullptr) return;
        const bool syncs = call_.name.find("sync") != std::string_view::npos;
        traffic_.add(operation(syncs ? TrafficKind::sync : TrafficKind::other, file->file, file->session));
    }

    void map() {
        const auto file = counted(4);
        if (file != nullptr && !failed()) ++traffic_.at(file->file).mappings;
    }

    void enter() {
        if (failed()) return;
        if (call_.name == "fchdir") {
            if (const auto directory = opened(0)) *process_.directory = traffic_.at(directory->file).name;
        } else if (const auto name = path(0, false)) {
            *process_.directory = *name;
        }
    }

    void execute() {
        if (failed()) return;
        const auto name = string_of(argument(call_.name == "execveat" ? 1 : 0));
        if (name) traffic_.name_user(process_.user, base_name(*name));
        auto kept = std::make_shared<Descriptors>();
        for (const auto& [number, descriptor] : *process_.descriptors)
            if (!descriptor.close_on_exec) kept->emplace(number, descriptor);
        process_.descriptors = kept;
    }

    void unseen() {
        if (failed()) return;
        if (call_.name.starts_with("io_uring_")) traffic_.note_io_uring();
        if (call_.name == "io_submit")
            traffic_.note("io_submit (AIO) is left out: its requests are not counted");
        if (call_.name == "ioctl" && argument(1).find("FICLONE") != std::string_view::npos)
            traffic_.note("a file was cloned (FICLONE): no data moved");
    }

    TrafficBuilder& traffic_;
    TracedProcess& process_;
    TracedCall call_;
};

}  // namespace

void begin_close(TrafficBuilder& traffic, TracedProcess& process, std::string_view descriptor) {
    const auto number = descriptor_of(descriptor);
    const auto known = number ? process.descriptors->find(*number) : process.descriptors->end();
    if (known == process.descriptors->end()) return;
    const std::string name = decoration_of(descriptor);
    if (name.empty() || traffic.at(known->second.opened->file).name == name) process.descriptors->erase(known);
}

void follow_call(TrafficBuilder& traffic, TracedProcess& process, const TracedCall& call) {
    CallFollower(traffic, process, call).follow();
}

}  // namespace streamsim::profile
