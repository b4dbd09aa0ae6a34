// The sentences about the network.
#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "judge/causes.h"
#include "judge/host_window.h"
#include "judge/network_path.h"
#include "judge/sentences.h"

namespace streamsim::judge {
namespace {

std::string server_name(const Evidence& evidence) {
    for (auto sample = evidence.system.rbegin(); sample != evidence.system.rend(); ++sample)
        if (sample->path && !sample->path->peer.empty()) return sample->path->peer;
    const NetworkPathFacts path = path_of_data(evidence);
    return path.peer.empty() ? "the server" : path.peer;
}

std::string share_text(std::uint64_t part, std::uint64_t all) {
    return fmt::format("{:.2g} %", 100 * static_cast<double>(part) / static_cast<double>(all));
}

void add(std::string& list, const std::string& text) {
    list += (list.empty() ? "" : "; ") + text;
}

void describe_loss(CauseResult& cause, const PathSpan& path, const CauseFrames& of) {
    cause.summary =
        fmt::format("the network between this computer and {} lost packets: {}", server_name(of.run), of.what);
    if (path.received_segments > 0) {
        add(cause.detail,
            fmt::format("losses: {} of {} segments that came in that time ({}) were out of order, because "
                        "segments before them were lost",
                        show_count(path.out_of_order), show_count(path.received_segments),
                        share_text(path.out_of_order, path.received_segments)));
    }
    if (path.resent > 0) {
        add(cause.detail, fmt::format("{} of {} segments from this computer were lost and sent again",
                                      show_count(path.resent), show_count(path.sent_segments)));
    }
    const NetworkPathFacts facts = path_of_data(of.run);
    const auto rtt_ns =
        host_window(of.run.system, of.run.system.front().at_ns, of.run.system.back().at_ns).rtt_ns;
    if (rtt_ns && facts.rtt_min_ns) {
        const TimeSpan times = due_span(of.missed);
        const bool full = path_full(of.run.system, facts, times.from_ns, times.to_ns);
        add(cause.detail, fmt::format("RTT median {}, min {}{}", show_duration({*rtt_ns}),
                                      show_duration({*facts.rtt_min_ns}), full ? "" : ": no full queue"));
    }
    add(cause.detail,
        "the error and drop counters of interfaces and switch ports on the path show where (cable, optics, "
        "duplex, a port that overflows)");
}

void describe_down(CauseResult& cause, const PathSpan& path, const CauseFrames& of) {
    const std::string server = server_name(of.run);
    const std::int64_t gone_ns = std::max({path.no_carrier_ns, path.unanswered_ns, path.unacknowledged_ns});
    const std::string time = gone_ns > 0 ? fmt::format(" for {}", show_duration({gone_ns})) : "";
    cause.summary = fmt::format("the network to {} was gone{}: {}", server, time, of.what);
    if (path.no_carrier_ns > 0) {
        add(cause.detail, fmt::format("this computer's interface toward it had no carrier for {}",
                                      show_duration({path.no_carrier_ns})));
    }
    if (path.unanswered_ns > 0) {
        add(cause.detail,
            fmt::format("its host answered no ping (ICMP) or TCP handshake for {}, and did before",
                        show_duration({path.unanswered_ns})));
    }
    if (path.unacknowledged_ns > 0) {
        add(cause.detail, fmt::format("requests were sent again and not acknowledged for {}",
                                      show_duration({path.unacknowledged_ns})));
    }
    if (cause.detail.empty()) add(cause.detail, "this computer reports that the server is unreachable");
    add(cause.detail,
        "cables, switch ports and the power of the server's host come first: the host of a server "
        "that only stopped still answers");
}

/// Those of the frames that were missed while one processor was full, which may be why.
std::uint64_t with_full_processor(const CauseFrames& of) {
    if (!rate_is_limit(of.run) || !(of.run.remote || through_network(of.run))) return 0;
    const auto full = [&of](const MissedFrame* each) {
        return processor_full(of.run.system, each->submitted_ns.value_or(each->due_ns),
                              std::max(each->due_ns, each->delivered_ns.value_or(0)));
    };
    return static_cast<std::uint64_t>(std::ranges::count_if(of.missed, full));
}

}  // namespace

bool may_be_a_processor(const CauseFrames& of) {
    const std::uint64_t frames = with_full_processor(of);
    const TimeSpan times = due_span(of.missed);
    return frames * 2 > of.missed.size() ||
           (frames > 0 && processor_full(of.run.system, times.from_ns, times.to_ns));
}

void describe_full_processor(CauseResult& cause, const CauseFrames& of) {
    cause.summary =
        of.what + "; whether the storage or a full processor of this computer delayed them is not known";
    cause.detail = fmt::format(
        "while {} of these {} were missed, one of {} processors was full, as the one that serves a connection "
        "can be; {}",
        show_count(with_full_processor(of)), counted(of.missed.size(), "frame"), of.run.cpus,
        rates_text(of.run));
}

std::string next_of_full_processor(const CauseFrames& of) {
    return fmt::format(
        "look what fills that processor (`top`, `mpstat -P ALL`), and play again with more connections to the "
        "server{}, which more processors serve",
        of.run.more_connections.empty() ? "" : fmt::format(" ({})", of.run.more_connections));
}

std::string next_of_one_connection(const CauseFrames& of) {
    if (of.run.connections != 1 || of.run.more_connections.empty()) return {};
    return fmt::format(
        "play again with more connections to the server ({}): if it gives more then, the one connection was "
        "the "
        "limit, not the storage",
        of.run.more_connections);
}

void describe_path(CauseResult& cause, const CauseFrames& of) {
    const TimeSpan times = due_span(of.missed);
    const PathSpan path = path_span(of.run.system, times.from_ns, times.to_ns);
    if (cause.cause == Cause::network_loss) {
        describe_loss(cause, path, of);
    } else {
        describe_down(cause, path, of);
    }
}

std::string host_answers(const CauseFrames& of) {
    TimeSpan times = due_span(of.missed);
    for (const DeliveryGap& each : of.run.delivery_gaps) {
        if (each.from_ns < times.to_ns && each.to_ns > times.from_ns)
            times.from_ns = std::min(times.from_ns, each.from_ns);
    }
    const PathSpan path = path_span(of.run.system, times.from_ns, times.to_ns);
    if (path.quiet_answers == 0) return {};
    if (path.refused > 0) {
        return fmt::format(
            "the network was there: the host of {} refused connections meanwhile, as nobody "
            "listened",
            server_name(of.run));
    }
    return fmt::format("the network was there: the host of {} answered meanwhile", server_name(of.run));
}

std::string unknown_path_text(const CauseFrames& of) {
    if (of.run.several_storages)
        return "the clips are on several storages, of which the rates and the network were measured together";
    const TimeSpan times = due_span(of.missed);
    if (in_throughput_gap(of)) {
        const std::string answers = host_answers(of);
        if (answers.empty()) {
            return "no stream received data, and the server's host answers neither pings (ICMP) nor "
                   "TCP handshakes, which would show whether it could be reached";
        }
        if (lost_share(of.run.system, times.from_ns, times.to_ns) > 0) {
            return fmt::format("no stream received data; {}, but segments came out of order, as after losses",
                               answers);
        }
    }
    const NetworkPathFacts path = path_of_data(of.run);
    if (!through_network(of.run) && (path.bits_per_s || path.rtt_min_ns)) {
        const StorageTraffic traffic = storage_traffic(of.run);
        if (traffic.moved == 0) return "no frame came from the server";
        return fmt::format("{} {} {}, too little for the {} that were {}: their way is not known",
                           path.link.empty() ? "the network" : path.link, traffic.writes ? "sent" : "received",
                           show_bytes(traffic.carried), show_bytes(traffic.moved),
                           traffic.writes ? "written" : "read");
    }
    if (path.bits_per_s || path.rtt_min_ns) {
        const char* const meanwhile =
            in_throughput_gap(of) ? "" : "other data came over the network meanwhile: ";
        return fmt::format("{}whether the server or the way to it delayed these is not seen", meanwhile);
    }
    return "the interface does not report its speed, and the server answers no ping (ICMP)";
}

bool in_throughput_gap(const CauseFrames& of) {
    const TimeSpan times = due_span(of.missed);
    return std::ranges::any_of(of.run.delivery_gaps, [&times](const DeliveryGap& each) {
        return each.from_ns < times.to_ns && each.to_ns > times.from_ns;
    });
}

}  // namespace streamsim::judge
