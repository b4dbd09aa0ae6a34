// This computer, its memory and its network over a span of time, from their history. Inside judge/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/run_result.h"
#include "streamsim/system_history.h"

namespace streamsim::judge {

/// Shares of the time, 0 to 1; nullopt: not known.
struct HostWindow {
    std::optional<double> processors_busy;  // all processors, by all processes
    std::optional<double> full_processor;   // in which one of them was full
    std::optional<double> run_queue_wait;   // of this process's threads together; may exceed 1
    std::optional<double> cpu_pressure;
    std::optional<double> io_pressure;
    std::optional<double> memory_pressure;
    std::optional<double> stolen;
    std::optional<std::int64_t> run_queue_wait_ns;
    std::optional<std::int64_t> rtt_ns;  // to the server, the median
};

/// The window of the samples that span [from, to].
HostWindow host_window(const SystemHistory& history, std::int64_t from_ns, std::int64_t to_ns);

/// True: for most of that time one processor was full.
bool processor_full(const SystemHistory& history, std::int64_t from_ns, std::int64_t to_ns);

/// nullopt: the system does not tell.
struct MemoryWindow {
    std::optional<double> pressure;  // PSI `some`, 0 to 1: of this process's control group, or of the system
    std::optional<std::uint64_t> limit_hits;
    std::optional<std::uint64_t> limit_bytes;
    std::optional<std::uint64_t> refaulted_bytes;
};

/// The window of [from, to] and half a second at each side: tasks wait for memory a little after it fills up.
MemoryWindow memory_window(const SystemHistory& history, std::int64_t from_ns, std::int64_t to_ns);

enum class MemoryAnswer { enough, short_of, unknown };

/// short_of: tasks waited for memory, and this process reached a limit. Pressure alone may be another
/// process's; a reached limit alone is a full page cache, which costs nothing. Slow storage makes tasks wait
/// for I/O, not for memory.
MemoryAnswer memory_answer(const MemoryWindow& memory);

/// The path to the servers, over the whole history.
struct NetworkPathFacts {
    std::string link;  // the interface that received, or sent, most bytes
    std::string peer;  // of the connection that received most bytes; empty: not known
    std::optional<std::uint64_t> bits_per_s;
    std::uint64_t received_bytes = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t out_of_order = 0;
    std::optional<std::int64_t> rtt_min_ns;
};
/// `by_sent`: the interface is the one that sent most bytes.
NetworkPathFacts network_path_facts(const SystemHistory& history, bool by_sent = false);
/// True: a round trip takes longer than through any local network.
bool is_far(const NetworkPathFacts& path);
/// True: the interface carried nearly what it can, or a round trip took so many times the minimum that it
/// waited in a queue.
bool path_full(const SystemHistory& history,
               const NetworkPathFacts& path,
               std::int64_t from_ns,
               std::int64_t to_ns);

/// Its counts and times are those of a span.
using PathSpan = SystemSample::Path;
/// The span of the samples that host_window() takes. All 0 where nothing is known.
PathSpan path_span(const SystemHistory& history, std::int64_t from_ns, std::int64_t to_ns);

/// Share of its speed that the interface received or sent in [from, to], whichever was more; nullopt: its speed
/// is not known.
std::optional<double> link_busy(const SystemHistory& history,
                                const std::string& link,
                                std::int64_t from_ns,
                                std::int64_t to_ns);

/// The history over time, at most `limit` intervals. `origin_ns`: from which their times count.
std::vector<ComputerInterval> computer_timeline(const SystemHistory& history,
                                                std::int64_t origin_ns,
                                                std::size_t limit);

/// A time in which the computer was suspended: the clock of the history did not advance.
struct Suspension {
    std::int64_t from_ns = 0, to_ns = 0;  // the samples before and after it
    std::int64_t length_ns = 0;
};
std::vector<Suspension> suspensions_of(const SystemHistory& history);
/// How long the computer was suspended in [from, to], or shortly before: after it resumes, connections have to
/// be made again. nullopt: it was not.
std::optional<std::int64_t> suspended_in(const std::vector<Suspension>& all,
                                         std::int64_t from_ns,
                                         std::int64_t to_ns);

/// The interfaces that received data, and the system as a whole, for the result. `by_sent`: as above.
std::vector<LinkEvidence> links_of(const SystemHistory& history, bool by_sent = false);
SystemEvidence system_of(const SystemHistory& history);

}  // namespace streamsim::judge
