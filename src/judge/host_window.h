// This computer over a span of time, from what it said of itself. Inside judge/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "streamsim/run_result.h"
#include "streamsim/system_history.h"

namespace streamsim::judge {

/// Shares are of the time, 0 to 1, and nullopt where the system does not say.
struct HostWindow {
    std::optional<double> processors_busy;  // of all of them, by all processes
    std::optional<double> waiting;  // time that this process's threads waited for a processor; may pass 1
    std::optional<double> cpu_pressure;
    std::optional<double> io_pressure;
    std::optional<double> memory_pressure;
    std::optional<double> stolen;
    std::optional<std::int64_t> waited_ns;
    std::optional<std::int64_t> echo_ns;  // to the server and back, the median
};

/// The samples that span [from, to], and one more at each side where a sample lies inside.
HostWindow host_window(const SystemHistory& history, std::int64_t from_ns, std::int64_t to_ns);

/// The network, over the whole history.
struct NetworkPathFacts {
    std::string link;  // the interface that received most
    std::string peer;  // of the connection that received most; empty: none is known
    std::optional<std::uint64_t> bits_per_s;
    std::uint64_t received_bytes = 0;
    std::uint64_t segments = 0;
    std::uint64_t out_of_order = 0;
    std::optional<std::int64_t> echo_idle_ns;  // the least that an echo ever took
};
NetworkPathFacts network_path_facts(const SystemHistory& history);

/// What the path to the servers went through in a span: counts and times of SystemSample::Path.
struct PathSpan {
    std::uint64_t received_segments = 0, out_of_order = 0, sent_segments = 0, resent = 0;
    std::uint64_t lossy_looks = 0;
    std::int64_t quiet_ns = 0, no_carrier_ns = 0, unanswered_ns = 0, unacknowledged_ns = 0;
    std::uint64_t quiet_answers = 0, refused = 0;
};
/// The samples that span [from, to], as in around(). All 0 where nothing is known.
PathSpan path_span(const SystemHistory& history, std::int64_t from_ns, std::int64_t to_ns);

/// Share of its speed that the interface received in [from, to]; nullopt: it does not say its speed.
std::optional<double> link_busy(const SystemHistory& history,
                                const std::string& link,
                                std::int64_t from_ns,
                                std::int64_t to_ns);

/// A time in which the computer was suspended, for as long as the clock of the history did not advance.
struct Suspension {
    std::int64_t from_ns = 0, to_ns = 0;  // the samples before and after it
    std::int64_t took_ns = 0;
};
std::vector<Suspension> suspensions_of(const SystemHistory& history);
/// What a frame waited for in [from, to] waited for a computer that slept, or that had just woken up: its
/// connections have to be made again. nullopt: there was no such time; else how long the computer slept.
std::optional<std::int64_t> suspended_in(const std::vector<Suspension>& all,
                                         std::int64_t from_ns,
                                         std::int64_t to_ns);

/// The interfaces that received something, and the system as a whole, for the result.
std::vector<LinkEvidence> links_of(const SystemHistory& history);
SystemEvidence system_of(const SystemHistory& history);

}  // namespace streamsim::judge
