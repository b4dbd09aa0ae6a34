// Follows the calls of traced programs: the descriptors of each process, the position of each in its file, and
// the operations on files. Inside profile/ only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "profile/strace/strace_line.h"
#include "profile/traffic/traffic_builder.h"

namespace streamsim::profile {

/// An open file. Copied descriptors share it, and with it the file position.
struct TracedFile {
    std::uint32_t file = 0;
    std::uint32_t session = kNoSession;
    std::uint64_t position = 0;
    bool counts = true;  // false: a socket, a pipe, a device
    bool append = false;
    bool directory = false;
    bool listed = false;
};

struct Descriptor {
    std::shared_ptr<TracedFile> opened;
    bool close_on_exec = false;
};

using Descriptors = std::map<std::int64_t, Descriptor>;

/// A traced process, or one of its threads: these share what they point at.
struct TracedProcess {
    std::uint32_t user = 0;
    std::shared_ptr<Descriptors> descriptors;
    std::shared_ptr<std::string> directory;  // empty: not known
};

/// One call that is complete.
struct TracedCall {
    std::string_view name;
    const StraceCall& call;
    std::int64_t begin_ns = 0;
    std::int64_t duration_ns = 0;
};

class StraceCalls {
public:
    explicit StraceCalls(TrafficBuilder& traffic) : traffic_(traffic) {}

    void apply(TracedProcess& process, const TracedCall& call);

private:
    using Handler = void (StraceCalls::*)(TracedProcess&, const TracedCall&);
    static Handler handler_of(std::string_view name);

    void open(TracedProcess& process, const TracedCall& call);
    void close(TracedProcess& process, const TracedCall& call);
    void close_range(TracedProcess& process, const TracedCall& call);
    void duplicate(TracedProcess& process, const TracedCall& call);
    void control(TracedProcess& process, const TracedCall& call);
    void move(TracedProcess& process, const TracedCall& call);
    void copy(TracedProcess& process, const TracedCall& call);
    void seek(TracedProcess& process, const TracedCall& call);
    void query(TracedProcess& process, const TracedCall& call);
    void list(TracedProcess& process, const TracedCall& call);
    void by_name(TracedProcess& process, const TracedCall& call);
    void synchronise(TracedProcess& process, const TracedCall& call);
    void change(TracedProcess& process, const TracedCall& call);
    void map(TracedProcess& process, const TracedCall& call);
    void enter(TracedProcess& process, const TracedCall& call);
    void execute(TracedProcess& process, const TracedCall& call);
    void unseen(TracedProcess& process, const TracedCall& call);

    /// The open file of a descriptor in an argument; null: unknown.
    std::shared_ptr<TracedFile> opened(TracedProcess& process, std::string_view argument);
    /// The path in the argument `at`; with `relative`, below the directory in the argument before it.
    std::optional<std::string> path(TracedProcess& process,
                                    const TracedCall& call,
                                    std::size_t at,
                                    bool relative) const;
    TrafficOperation operation(const TracedProcess& process, const TracedCall& call, TrafficKind kind) const;
    void moved(const TracedProcess& process,
               const TracedCall& call,
               TrafficKind kind,
               TracedFile& opened,
               std::optional<std::uint64_t> offset);

    TrafficBuilder& traffic_;
};

}  // namespace streamsim::profile
