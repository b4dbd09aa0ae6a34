#include "judge/network_sentences.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "judge/host_window.h"

namespace streamsim::judge {
namespace {

struct Times {
    std::int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;
};

/// The time from the first submission to the last deadline.
Times times_of(const std::vector<const MissedFrame*>& missed) {
    Times times;
    for (const MissedFrame* each : missed) {
        times.from_ns = std::min(times.from_ns, each->submitted_ns.value_or(each->due_ns));
        times.to_ns = std::max(times.to_ns, each->due_ns);
    }
    return times;
}

std::string server_name(const Evidence& evidence) {
    for (auto sample = evidence.system.rbegin(); sample != evidence.system.rend(); ++sample)
        if (sample->path && !sample->path->peer.empty()) return sample->path->peer;
    const NetworkPathFacts path = network_path_facts(evidence.system);
    return path.peer.empty() ? "the server" : path.peer;
}

std::string duration(std::int64_t ns) {
    return show_duration({ns});
}

std::string share(std::uint64_t part, std::uint64_t all) {
    return fmt::format("{:.2g} %", 100 * static_cast<double>(part) / static_cast<double>(all));
}

void add(std::string& list, const std::string& text) {
    list += (list.empty() ? "" : "; ") + text;
}

void describe_loss(CauseResult& cause,
                   const PathSpan& path,
                   const Evidence& evidence,
                   const std::string& what) {
    cause.summary =
        fmt::format("the network between this computer and {} lost packets: {}", server_name(evidence), what);
    if (path.received_segments > 0) {
        add(cause.detail,
            fmt::format("losses: {} of {} segments that came in that time ({}) were out of order, because "
                        "segments before them were lost",
                        show_count(path.out_of_order), show_count(path.received_segments),
                        share(path.out_of_order, path.received_segments)));
    }
    if (path.resent > 0) {
        add(cause.detail, fmt::format("{} of {} segments from this computer were lost and sent again",
                                      show_count(path.resent), show_count(path.sent_segments)));
    }
    const NetworkPathFacts facts = network_path_facts(evidence.system);
    const auto rtt_ns =
        host_window(evidence.system, evidence.system.front().at_ns, evidence.system.back().at_ns).rtt_ns;
    if (rtt_ns && facts.rtt_min_ns) {
        add(cause.detail, fmt::format("RTT median {}, min {}: no full queue", duration(*rtt_ns),
                                      duration(*facts.rtt_min_ns)));
    }
    add(cause.detail,
        "the error and drop counters of interfaces and switch ports on the path show where (cable, optics, "
        "duplex, a port that overflows)");
}

void describe_down(CauseResult& cause,
                   const PathSpan& path,
                   const Evidence& evidence,
                   const std::string& what) {
    const std::string server = server_name(evidence);
    const std::int64_t gone_ns = std::max({path.no_carrier_ns, path.unanswered_ns, path.unacknowledged_ns});
    const std::string time = gone_ns > 0 ? fmt::format(" for {}", duration(gone_ns)) : "";
    cause.summary = fmt::format("the network to {} was gone{}: {}", server, time, what);
    if (path.no_carrier_ns > 0) {
        add(cause.detail, fmt::format("this computer's interface toward it had no carrier for {}",
                                      duration(path.no_carrier_ns)));
    }
    if (path.unanswered_ns > 0) {
        add(cause.detail,
            fmt::format("its host answered no ping (ICMP) or TCP handshake for {}, and did before",
                        duration(path.unanswered_ns)));
    }
    if (path.unacknowledged_ns > 0) {
        add(cause.detail, fmt::format("requests were sent again and not acknowledged for {}",
                                      duration(path.unacknowledged_ns)));
    }
    if (cause.detail.empty()) add(cause.detail, "this computer reports that the server is unreachable");
    add(cause.detail,
        "cables, switch ports and the power of the server's host come first: the host of a server "
        "that only stopped still answers");
}

}  // namespace

void describe_path(CauseResult& cause,
                   const std::vector<const MissedFrame*>& missed,
                   const Evidence& evidence,
                   const std::string& what) {
    const Times times = times_of(missed);
    const PathSpan path = path_span(evidence.system, times.from_ns, times.to_ns);
    if (cause.cause == Cause::network_loss) {
        describe_loss(cause, path, evidence, what);
    } else {
        describe_down(cause, path, evidence, what);
    }
}

std::string host_answers(const std::vector<const MissedFrame*>& missed, const Evidence& evidence) {
    Times times = times_of(missed);
    for (const DeliveryGap& each : evidence.delivery_gaps) {
        if (each.from_ns < times.to_ns && each.to_ns > times.from_ns)
            times.from_ns = std::min(times.from_ns, each.from_ns);
    }
    const PathSpan path = path_span(evidence.system, times.from_ns, times.to_ns);
    if (path.quiet_answers == 0) return {};
    if (path.refused > 0) {
        return fmt::format(
            "the network was there: the host of {} refused connections meanwhile, as nobody "
            "listened",
            server_name(evidence));
    }
    return fmt::format("the network was there: the host of {} answered meanwhile", server_name(evidence));
}

bool in_throughput_gap(const std::vector<const MissedFrame*>& missed, const Evidence& evidence) {
    const Times times = times_of(missed);
    return std::any_of(
        evidence.delivery_gaps.begin(), evidence.delivery_gaps.end(),
        [&times](const DeliveryGap& each) { return each.from_ns < times.to_ns && each.to_ns > times.from_ns; });
}

}  // namespace streamsim::judge
