#include "run/conclude/part_results.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace streamsim::run {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
/// Utilisation values of all parts together, at most: beyond, pairs of intervals are merged.
constexpr std::size_t kIntervalsMax = 500'000;

/// From the first play_start to the last frame.
struct Span {
    Instant from = Instant::never();
    Instant to;
};

Span span_of(const std::vector<const play::DeadlineLedger*>& ledgers) {
    Span span;
    for (const play::DeadlineLedger* ledger : ledgers) {
        span.from = std::min(span.from, ledger->play_start());
        span.to = std::max({span.to, ledger->last_completed(), ledger->last_due()});
    }
    return span;
}

/// The seconds of the loop's clock with a stall, or with a missed frame after the first second of play, and the
/// seconds before them, as the cause of a late frame precedes its deadline. Each with its number of frames; a
/// stall misses some in each second.
using Seconds = std::map<std::int64_t, std::uint64_t>;

Seconds missed_in(const std::vector<const play::DeadlineLedger*>& ledgers) {
    constexpr std::uint64_t kFramesInASecond = 24;
    Seconds seconds;
    const auto note = [&seconds](std::int64_t second, std::uint64_t frames) {
        seconds[second] += frames;
        if (second > 0) seconds[second - 1] += frames;
    };
    for (const play::DeadlineLedger* ledger : ledgers) {
        for (const std::int64_t second : ledger->stalled_seconds()) note(second, kFramesInASecond);
        for (const FrameOutcome& entry : ledger->drops()) {
            if (entry.deadline == Instant::never()) continue;
            if (entry.deadline.ns >= ledger->play_start().ns + kSecond) note(entry.deadline.ns / kSecond, 1);
        }
    }
    return seconds;
}

double share(std::int64_t busy_ns, std::uint32_t servers, std::int64_t time_ns) {
    if (time_ns <= 0) return 0;
    const double full = static_cast<double>(time_ns) * servers;
    return std::min(static_cast<double>(busy_ns) / full, 1.0);
}

/// One part over a span of play.
class PartSummary {
public:
    PartSummary(PartStats stats, Span span) : span_(span) { part_.stats = std::move(stats); }

    PartResult result(const Seconds& missed, std::size_t intervals_max) {
        const PartStats& stats = part_.stats;
        const std::int64_t time_ns = (span_.to - span_.from).ns;
        part_.utilisation = share(stats.busy_ns, stats.servers, time_ns);
        part_.queue_mean =
            static_cast<double>(stats.queue_ns) / static_cast<double>(std::max<std::int64_t>(time_ns, 1));
        if (!missed.empty()) {
            note_missed(missed);
            note_lost(missed);
        }
        while (part_.stats.busy_per_s.size() > intervals_max) double_interval();
        part_.t_ns = part_.stats.first_interval_ns - span_.from.ns;
        for (std::size_t i = 0; i < part_.stats.busy_per_s.size(); ++i) {
            part_.utilisation_per_interval.push_back(
                share(part_.stats.busy_per_s[i], part_.stats.servers, length_of(i)));
        }
        part_.stats.busy_per_s.clear();
        part_.stats.busy_per_s.shrink_to_fit();
        return std::move(part_);
    }

private:
    std::int64_t begin_of(std::size_t interval) const {
        return part_.stats.first_interval_ns + static_cast<std::int64_t>(interval) * part_.stats.interval_ns;
    }
    /// The last interval ends with play.
    std::int64_t length_of(std::size_t interval) const {
        return std::min(begin_of(interval) + part_.stats.interval_ns, span_.to.ns) - begin_of(interval);
    }

    /// The utilisation of the part in the seconds of missed frames, the median: at both ends of an overload a
    /// full part is only partly busy.
    void note_missed(const Seconds& missed) {
        std::map<std::size_t, std::uint64_t> frames_in;  // intervals
        for (const auto& [second, frames] : missed) {
            const std::int64_t at_ns = second * kSecond - part_.stats.first_interval_ns;
            if (at_ns + kSecond <= 0) continue;
            frames_in[static_cast<std::size_t>(std::max<std::int64_t>(at_ns, 0) / part_.stats.interval_ns)] +=
                frames;
        }
        std::vector<std::pair<double, std::uint64_t>> shares;
        std::uint64_t all = 0;
        for (const auto& [interval, frames] : frames_in) {
            const bool idle = interval >= part_.stats.busy_per_s.size();  // no operation any more
            const std::int64_t busy_ns = idle ? 0 : part_.stats.busy_per_s[interval];
            shares.emplace_back(share(busy_ns, part_.stats.servers, length_of(interval)), frames);
            all += frames;
        }
        part_.utilisation_missed = 0;
        std::sort(shares.begin(), shares.end());
        std::uint64_t so_far = 0;
        for (const auto& [busy, frames] : shares) {
            part_.utilisation_missed = busy;
            so_far += frames;
            if (so_far * 2 > all) return;
        }
    }

    /// The share of missed frames that were due in a second with lost segments.
    void note_lost(const Seconds& missed) {
        std::uint64_t all = 0;
        std::uint64_t with_loss = 0;
        for (const auto& [second, frames] : missed) {
            all += frames;
            const auto& lost = part_.stats.lost_seconds;
            if (std::binary_search(lost.begin(), lost.end(), second)) with_loss += frames;
        }
        part_.lost_missed = static_cast<double>(with_loss) / static_cast<double>(all);
    }

    void double_interval() {
        const std::vector<std::int64_t>& busy = part_.stats.busy_per_s;
        std::vector<std::int64_t> pairs((busy.size() + 1) / 2);
        for (std::size_t i = 0; i < busy.size(); ++i) pairs[i / 2] += busy[i];
        part_.stats.busy_per_s = std::move(pairs);
        part_.stats.interval_ns *= 2;
    }

    Span span_;
    PartResult part_;
};

bool of_a_seat(PartKind kind) {
    return kind == PartKind::seat_cpu || kind == PartKind::seat_display || kind == PartKind::seat_link ||
           kind == PartKind::switch_port;
}

}  // namespace

std::vector<PartResult> part_results(const PlaybackLoop& playback_loop,
                                     const std::vector<const play::DeadlineLedger*>& ledgers) {
    const Span span = span_of(ledgers);
    if (span.from == Instant::never() || span.to <= span.from) return {};
    std::vector<PartStats> stats = playback_loop.parts(span.from, span.to);
    if (stats.empty()) return {};
    const Seconds missed = missed_in(ledgers);
    const std::size_t intervals_max = std::max<std::size_t>(kIntervalsMax / stats.size(), 1);
    std::vector<PartResult> parts;
    parts.reserve(stats.size());
    for (PartStats& each : stats)
        parts.push_back(PartSummary(std::move(each), span).result(missed, intervals_max));
    return parts;
}

std::vector<judge::BusyPart> busy_parts(const std::vector<PartResult>& parts,
                                        const std::vector<StreamResult>& streams) {
    std::set<std::uint32_t> bad_seats;
    for (const StreamResult& stream : streams) {
        if (judge::bad_frames(stream.counts) > 0) bad_seats.insert(stream.seat);
    }
    std::vector<judge::BusyPart> busy;
    for (const PartResult& part : parts) {
        const PartStats& stats = part.stats;
        if (of_a_seat(stats.kind) && !bad_seats.contains(stats.owner)) continue;
        busy.push_back({stats.kind, stats.name, part.utilisation_missed.value_or(part.utilisation),
                        part.queue_mean, stats.lost, part.lost_missed});
    }
    return busy;
}

std::vector<ServerResult> server_results(const std::vector<std::vector<ServerTraffic>>& storages,
                                         const std::map<std::uint32_t, std::uint64_t>& frames_read) {
    std::map<std::string, ServerResult> nodes;
    for (const auto& storage : storages) {
        for (const ServerTraffic& traffic : storage) {
            ServerResult& node = nodes[traffic.address];
            node.address = traffic.address;
            if (node.protocol.empty()) node.protocol = traffic.protocol;
            node.seats.insert(node.seats.end(), traffic.seats.begin(), traffic.seats.end());
            node.connections += traffic.connections;
            node.read_bytes = std::max(node.read_bytes, traffic.read_bytes);
            node.requests += traffic.requests;
            node.received_bytes += traffic.received_bytes;
            node.reconnects += traffic.reconnects;
            node.retransmitted_segments += traffic.retransmitted_segments;
            if (traffic.rtt_ns) node.rtt_ns = std::max(node.rtt_ns.value_or(0), *traffic.rtt_ns);
        }
    }
    std::vector<ServerResult> out;
    for (auto& [address, node] : nodes) {
        const std::set<std::uint32_t> seats(node.seats.begin(), node.seats.end());
        node.seats.assign(seats.begin(), seats.end());
        std::uint64_t frames = 0;
        for (const std::uint32_t seat : seats) {
            const auto found = frames_read.find(seat);
            if (found != frames_read.end()) frames += found->second;
        }
        if (frames > 0)
            node.requests_per_frame = static_cast<double>(node.requests) / static_cast<double>(frames);
        out.push_back(std::move(node));
    }
    return out;
}

std::vector<ServerResult> server_results(const RunFacts& facts) {
    std::vector<std::vector<ServerTraffic>> storages;
    for (const LoopStats* playback_loop : facts.playback_loops) storages.push_back(playback_loop->traffic);
    std::map<std::uint32_t, std::uint64_t> frames_read;
    for (std::size_t i = 0; i < facts.ledgers.size(); ++i)
        frames_read[(*facts.streams)[i].options.seat] += facts.ledgers[i]->times().service.count();
    return server_results(storages, frames_read);
}

}  // namespace streamsim::run
