// Follows the calls of traced programs: the descriptors of each process, the position of each in its file, and
// the operations on files. Inside profile/ only.
#pragma once

#include <map>
#include <memory>
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

/// A close of "3" or "3</m/a>" begins: its descriptor may be given to another file before the call ends, and
/// has another name then.
void begin_close(TrafficBuilder& traffic, TracedProcess& process, std::string_view descriptor);

/// Follows a call of the process. A call of no interest, and one that has no result, changes nothing.
void follow_call(TrafficBuilder& traffic, TracedProcess& process, const TracedCall& call);

}  // namespace streamsim::profile
