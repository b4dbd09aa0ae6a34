#include "result/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "metrics/digest.h"
#include "result/distributions.h"
#include "result/merge_causes.h"
#include "result/merge_seats.h"
#include "result/merge_times.h"
#include "result/required_rates.h"

namespace streamsim::result {
namespace {

using State = SeatResult::State;

void add(const FrameCounts& from, FrameCounts& to) {
    to.scheduled += from.scheduled;
    to.on_time += from.on_time;
    to.late += from.late;
    to.dropped += from.dropped;
    to.failed += from.failed;
    to.cancelled += from.cancelled;
    to.startup_drops += from.startup_drops;
    to.stalls += from.stalls;
    to.stall_ns += from.stall_ns;
    to.bytes_read += from.bytes_read;
    to.bytes_written += from.bytes_written;
    to.seeks += from.seeks;
    to.passes += from.passes;
}

void add(const ReasonCounts& from, ReasonCounts& to) {
    to.late += from.late;
    to.client += from.client;
    to.error += from.error;
    to.short_read += from.short_read;
    to.missing += from.missing;
}

/// Faults inside a model happened in the model of each rank.
void add(const std::optional<FaultsInjected>& from, std::optional<FaultsInjected>& to) {
    if (!from) return;
    if (!to) to.emplace();
    to->operations_delayed += from->operations_delayed;
    to->operations_failed += from->operations_failed;
    to->operations_shortened += from->operations_shortened;
    to->model_faults += from->model_faults;
    to->frames_met += from->frames_met;
}

template <typename T>
void append(std::vector<T>& from, std::vector<T>& to) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
    from.clear();
}

void append_new(const std::vector<std::string>& from, std::vector<std::string>& to) {
    for (const std::string& each : from) {
        if (std::find(to.begin(), to.end(), each) == to.end()) to.push_back(each);
    }
}

/// Of a server's entry: the frames that were read from it.
double frames_of(const ServerResult& server) {
    return server.requests_per_frame > 0 ? static_cast<double>(server.requests) / server.requests_per_frame : 0;
}

void add_server(const ServerResult& from, std::vector<ServerResult>& to) {
    const auto place =
        std::lower_bound(to.begin(), to.end(), from,
                         [](const ServerResult& a, const ServerResult& b) { return a.address < b.address; });
    if (place == to.end() || place->address != from.address) {
        to.insert(place, from);
        return;
    }
    const double frames = frames_of(*place) + frames_of(from);
    std::set<std::uint32_t> seats(place->seats.begin(), place->seats.end());
    seats.insert(from.seats.begin(), from.seats.end());
    place->seats.assign(seats.begin(), seats.end());
    place->connections += from.connections;
    place->read_bytes = std::max(place->read_bytes, from.read_bytes);
    place->requests += from.requests;
    place->requests_per_frame = frames > 0 ? static_cast<double>(place->requests) / frames : 0;
    place->received_bytes += from.received_bytes;
    place->reconnects += from.reconnects;
    place->retransmitted_segments += from.retransmitted_segments;
    place->rtt_ns = std::max(place->rtt_ns, from.rtt_ns);
}

void add_media(const MediaFacts& from, MediaFacts& to) {
    if (from.age_s) to.age_s = std::min(to.age_s.value_or(*from.age_s), *from.age_s);
    to.looped |= from.looped;
    to.server_cache_may_be_warm |= from.server_cache_may_be_warm;
    append_new(from.notes, to.notes);
    append_new(from.skipped, to.skipped);
}

/// What one seat reads, another has read before it, where they share a clip.
bool clips_are_shared(const RunResult& result) {
    if (result.backend == "null" || result.backend == "sim") return false;
    std::set<std::pair<std::string, std::string>> seen;
    return std::any_of(result.streams.begin(), result.streams.end(), [&seen](const StreamResult& stream) {
        return !seen.emplace(stream.format, stream.clip).second;
    });
}

void sort_tables(RunResult& result) {
    std::sort(result.streams.begin(), result.streams.end(), [](const StreamResult& a, const StreamResult& b) {
        return std::tie(a.seat, a.stream) < std::tie(b.seat, b.stream);
    });
    std::stable_sort(result.drops.begin(), result.drops.end(), [](const DropRecord& a, const DropRecord& b) {
        return std::tie(a.seat, a.stream, a.frame) < std::tie(b.seat, b.stream, b.frame);
    });
    std::stable_sort(result.seeks.begin(), result.seeks.end(), [](const SeekRecord& a, const SeekRecord& b) {
        return std::tie(a.seat, a.stream, a.frame) < std::tie(b.seat, b.stream, b.frame);
    });
    std::stable_sort(result.frames.begin(), result.frames.end(), [](const FrameRow& a, const FrameRow& b) {
        return std::tie(a.seat, a.stream, a.outcome.slot) < std::tie(b.seat, b.stream, b.outcome.slot);
    });
}

/// Over all streams, from theirs.
void fill_distributions(RunResult& result) {
    metrics::Distributions all;
    std::map<std::int64_t, std::uint64_t> depths;
    for (const StreamResult& stream : result.streams) {
        all.merge(distributions_of(*stream.histograms));
        for (const auto& [depth, times] : stream.histograms->buffer_frames.buckets) depths[depth] += times;
    }
    fill_summaries(all, result);
    result.histograms = histograms_of(all, {});
    HistogramCounts& buffer = result.histograms->buffer_frames;
    for (const auto& [depth, times] : depths) buffer.buckets.push_back({depth, times});
    if (depths.empty()) return;
    buffer.min = depths.begin()->first;
    buffer.max = depths.rbegin()->first;
}

/// REQUIRES: the streams of `from` are not in `to` yet.
void add_digests(const RunResult& from, RunResult& to) {
    metrics::Digest digest = *metrics::Digest::from_hex(to.digest);
    digest.merge(*metrics::Digest::from_hex(from.digest));
    to.digest = digest.hex();
    if (from.streams.empty()) return;
    if (to.streams.empty()) {
        to.timing_digest = from.timing_digest;
    } else if (from.timing_digest && to.timing_digest) {
        metrics::Digest timing = *metrics::Digest::from_hex(*to.timing_digest);
        timing.merge(*metrics::Digest::from_hex(*from.timing_digest));
        to.timing_digest = timing.hex();
    } else {
        to.timing_digest.reset();
    }
}

/// What adds up, of two parts that know of different ranks.
void add_part(RunResult& from, RunResult& to) {
    if (!from.streams.empty()) to.direct = from.direct && (to.direct || to.streams.empty());
    append_new(from.notices, to.notices);
    for (const ServerResult& server : from.servers) add_server(server, to.servers);
    merge_places(from.places, to.places);
    add_digests(from, to);
    append(from.streams, to.streams);
    append(from.drops, to.drops);
    append(from.seeks, to.seeks);
    append(from.frames, to.frames);
    to.drops_omitted += from.drops_omitted;
    to.buffer_bytes += from.buffer_bytes;
    add(from.totals, to.totals);
    add(from.reasons, to.reasons);
    add(from.faults_injected, to.faults_injected);
    add_media(from.media, to.media);
}

void fill_whole(RunResult& whole) {
    sort_tables(whole);
    fill_distributions(whole);
    whole.media.server_cache_may_be_warm |= clips_are_shared(whole);
    whole.required_bytes_per_s = most_required(whole.streams);
    whole.required_rates = required_rates(whole.streams);
    whole.read_bytes_per_s = whole.wall_ns > 0 ? static_cast<double>(whole.totals.bytes_read) * 1e9 /
                                                     static_cast<double>(whole.wall_ns)
                                               : 0;
    if (!whole.seats.front().host.name.empty()) whole.host = whole.seats.front().host;
    const auto interrupted = [](const SeatResult& seat) { return seat.state == State::interrupted; };
    whole.interrupted = std::any_of(whole.seats.begin(), whole.seats.end(), interrupted);
    std::uint64_t from_caches = 0;
    bool known = true;
    for (const SeatResult& seat : whole.seats) {
        if (seat.state == State::missing) continue;
        known &= seat.client.page_cache_bytes.has_value();
        from_caches += seat.client.page_cache_bytes.value_or(0);
    }
    whole.client.page_cache_bytes = known ? std::optional(from_caches) : std::nullopt;
    whole.parts.clear();  // each rank had a model of its own
    whole.verdict = verdict_of_seats(whole.seats);
}

/// Every problem of parts that cannot be put together.
std::vector<std::string> problems_of(const std::vector<RunResult>& parts,
                                     const std::vector<std::string>& names) {
    std::vector<std::string> problems;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const RunResult& part = parts[i];
        const std::string name = !names.empty()
                                     ? names[i]
                                     : fmt::format("document {} (started {} on {})", i + 1, part.started_at,
                                                   part.host.name.empty() ? "an unknown host" : part.host.name);
        if (part.seats.empty() || part.run_id.empty()) {
            problems.push_back(name +
                               ": is the result of one computer alone: expected one that names its run "
                               "(\"run_id\"), as journals do");
            continue;
        }
        if (part.run_id != parts.front().run_id) {
            problems.push_back(
                fmt::format("{}: is of the run {}, and the first one of {}: expected parts of one run", name,
                            part.run_id, parts.front().run_id));
        }
        if (part.ranks != parts.front().ranks) {
            problems.push_back(fmt::format("{}: its run has {} ranks, and that of the first one {}", name,
                                           part.ranks, parts.front().ranks));
        }
        if (part.seats.size() != 1 && !is_merged(part)) {
            problems.push_back(fmt::format("{}: has {} of {} ranks: expected one or all", name,
                                           part.seats.size(), part.ranks));
        }
        const bool bare = std::any_of(part.streams.begin(), part.streams.end(),
                                      [](const StreamResult& stream) { return !stream.histograms; });
        if (bare) problems.push_back(name + ": has streams without \"histograms\"");
        if (!metrics::Digest::from_hex(part.digest) ||
            (part.timing_digest && !metrics::Digest::from_hex(*part.timing_digest)))
            problems.push_back(name + ": expected digests of 32 hexadecimal digits");
    }
    return problems;
}

/// Streams that two ranks say they played.
std::vector<std::string> twice(const RunResult& whole) {
    std::vector<std::string> problems;
    for (std::size_t i = 1; i < whole.streams.size(); ++i) {
        const StreamResult& stream = whole.streams[i];
        if (stream.seat != whole.streams[i - 1].seat || stream.stream != whole.streams[i - 1].stream) continue;
        problems.push_back(
            fmt::format("stream {} of seat {} is in two parts of the run: expected each seat in one",
                        stream.stream, stream.seat));
    }
    return problems;
}

}  // namespace

void become_part(const std::string& run_id, std::uint32_t ranks, SeatResult own, RunResult& result) {
    if (own.state == State::complete && result.interrupted) {
        own.state = State::interrupted;
        own.why = "it was interrupted";
    }
    own.host = result.host;
    own.started_at = result.started_at;
    if (own.node.empty() && result.servers.size() == 1) own.node = result.servers.front().address;
    own.verdict = result.verdict;
    own.totals = result.totals;
    own.margin_ns = result.margin_ns;
    for (const StreamResult& stream : result.streams)
        own.played_ns = std::max(own.played_ns, stream.play_start_ns + stream.last_due_ns);
    own.client = result.client;
    own.system = result.system;
    own.links = result.links;
    own.mount = result.mount;
    result.run_id = run_id;
    result.ranks = ranks;
    result.seats = {std::move(own)};
}

Result<RunResult> merge_results(std::vector<RunResult> parts, const std::vector<std::string>& names) {
    if (parts.empty()) return bad_input("there is nothing to merge: expected results of ranks");
    if (auto problems = problems_of(parts, names); !problems.empty())
        return Error{ErrorKind::bad_input, std::move(problems)};
    auto chosen = choose_parts(std::move(parts));
    if (!chosen) return chosen.error();
    for (RunResult& part : chosen->parts) {
        if (is_merged(part)) continue;
        onto_common_axis(part);
        name_causes(part);
    }
    RunResult whole = chosen->parts.front();
    whole.causes = merged_causes(chosen->parts);
    whole.timeline = merged_timeline(chosen->parts);
    whole.wall_ns = merged_wall_ns(chosen->parts);
    // One computer's gaps are not those of all.
    if (chosen->parts.size() > 1) whole.throughput_gaps.clear();
    for (std::size_t i = 1; i < chosen->parts.size(); ++i) add_part(chosen->parts[i], whole);
    whole.seats = std::move(chosen->seats);
    fill_whole(whole);
    if (auto problems = twice(whole); !problems.empty())
        return Error{ErrorKind::bad_input, std::move(problems)};
    return whole;
}

}  // namespace streamsim::result
