#include "result/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "judge/claims/claims.h"
#include "metrics/digest.h"
#include "result/distributions.h"
#include "result/merge_seats.h"
#include "result/merge_times.h"
#include "result/miss_events.h"
#include "result/required_rates.h"

namespace streamsim::result {
namespace {

using State = SeatResult::State;

template <typename T>
void append(std::vector<T>& from, std::vector<T>& to) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
    from.clear();
}

void append_new(const std::vector<std::string>& from, std::vector<std::string>& to) {
    for (const std::string& each : from) {
        if (std::ranges::find(to, each) == to.end()) to.push_back(each);
    }
}

/// The rank of the part had something to play.
bool has_played(const RunResult& part) {
    return !part.streams.empty() || !part.meters.empty();
}

/// The frames that were read from the server.
double frames_of(const ServerResult& server) {
    return server.requests_per_frame > 0 ? static_cast<double>(server.requests) / server.requests_per_frame : 0;
}

void add_server(const ServerResult& from, std::vector<ServerResult>& to) {
    const auto entry = std::ranges::lower_bound(to, from.address, {}, &ServerResult::address);
    if (entry == to.end() || entry->address != from.address) {
        to.insert(entry, from);
        return;
    }
    const double frames = frames_of(*entry) + frames_of(from);
    std::set<std::uint32_t> seats(entry->seats.begin(), entry->seats.end());
    seats.insert(from.seats.begin(), from.seats.end());
    entry->seats.assign(seats.begin(), seats.end());
    entry->connections += from.connections;
    entry->read_bytes = std::max(entry->read_bytes, from.read_bytes);
    entry->requests += from.requests;
    entry->requests_per_frame = frames > 0 ? static_cast<double>(entry->requests) / frames : 0;
    entry->received_bytes += from.received_bytes;
    entry->reconnects += from.reconnects;
    entry->retransmitted_segments += from.retransmitted_segments;
    entry->rtt_ns = std::max(entry->rtt_ns, from.rtt_ns);
}

void add_media(const MediaFacts& from, MediaFacts& to) {
    if (from.age_s) to.age_s = std::min(to.age_s.value_or(*from.age_s), *from.age_s);
    to.looped |= from.looped;
    to.shared |= from.shared;
    to.read_for_index |= from.read_for_index;
    to.server_cache_may_be_warm |= from.server_cache_may_be_warm;
    append_new(from.notes, to.notes);
    append_new(from.skipped, to.skipped);
}

/// Seats that share a clip read bytes that another has read before, so that the server may have them in memory.
/// Parts of 0.1.0 know this only of their own seats.
bool clips_are_shared(const RunResult& result) {
    if (result.backend == "null" || result.backend == "sim") return false;
    std::set<std::pair<std::string, std::string>> seen;
    return std::ranges::any_of(result.streams, [&seen](const StreamResult& stream) {
        return !seen.emplace(stream.format, stream.clip).second;
    });
}

/// The most frames that one seat of the part lost to each cause.
std::map<Cause, std::uint64_t> seat_losses_max(const RunResult& part) {
    std::map<std::pair<Cause, std::uint32_t>, std::uint64_t> lost;
    for (const DropRecord& drop : part.drops) ++lost[{drop.cause, drop.seat}];
    std::map<Cause, std::uint64_t> most;
    for (const auto& [key, frames] : lost) most[key.first] = std::max(most[key.first], frames);
    return most;
}

/// More is said by answers that come later here.
int rank_of(PlaceTest::Answer answer) {
    using Answer = PlaceTest::Answer;
    constexpr std::array kAscending = {Answer::nothing_missed, Answer::one_pass, Answer::everywhere,
                                       Answer::random, Answer::same_place};
    return static_cast<int>(std::ranges::find(kAscending, answer) - kAscending.begin());
}

/// Puts the name of the seat before the sentences of a part.
void name_causes(RunResult& part) {
    const std::string name = judge::seat_name(part.seats.front());
    for (CauseResult& cause : part.causes) {
        cause.summary = name + ": " + cause.summary;
        if (!cause.detail.empty()) cause.detail = name + ": " + cause.detail;
    }
}

/// One entry for each cause and limit; frames and stalls add up, and the sentences are those of the seat that
/// lost most frames to the cause, by the drop tables. The cause that cost most comes first. Parts by rank.
std::vector<CauseResult> merged_causes(const std::vector<RunResult>& parts) {
    struct Merged {
        CauseResult cause;
        std::uint64_t most = 0;  // frames that the seat lost whose sentences these are
    };
    std::map<std::pair<Cause, Limit>, Merged> all;
    for (const RunResult& part : parts) {
        std::map<Cause, std::uint64_t> most = seat_losses_max(part);
        for (const CauseResult& cause : part.causes) {
            Merged& merged = all[{cause.cause, cause.limit}];
            const std::uint64_t frames = merged.cause.frames + cause.frames;
            const std::uint64_t stalls = merged.cause.stalls + cause.stalls;
            if (merged.cause.summary.empty() || most[cause.cause] > merged.most) {
                merged.cause = cause;
                merged.most = most[cause.cause];
            }
            merged.cause.frames = frames;
            merged.cause.stalls = stalls;
        }
    }
    std::vector<CauseResult> out;
    out.reserve(all.size());
    for (auto& [key, merged] : all) out.push_back(std::move(merged.cause));
    std::ranges::stable_sort(out, std::ranges::greater{},
                             [](const CauseResult& cause) { return cause.frames + cause.stalls; });
    return out;
}

/// Takes over the answer of the part that says most.
void merge_places(const PlaceTest& from, PlaceTest& to) {
    if (rank_of(from.answer) > rank_of(to.answer)) to.answer = from.answer;
    to.places += from.places;
    to.every_pass += from.every_pass;
}

void sort_tables(RunResult& result) {
    const auto slot_of = [](const auto& row) { return std::tuple(row.seat, row.stream, row.frame); };
    std::ranges::sort(result.streams, {},
                      [](const StreamResult& row) { return std::pair(row.seat, row.stream); });
    std::ranges::stable_sort(result.drops, {}, slot_of);
    std::ranges::stable_sort(result.seeks, {}, slot_of);
    std::ranges::stable_sort(result.frames, {}, [](const FrameRow& row) {
        return std::tuple(row.seat, row.stream, row.outcome.slot);
    });
    // Meters of one seat are in one part, as they were asked for, and so are their rows.
    std::ranges::stable_sort(result.meters, {}, &MeterResult::seat);
    std::ranges::stable_sort(result.operations, {},
                             [](const OperationRow& row) { return std::pair(row.seat, row.meter); });
}

/// Fills the distributions over all streams from those of each.
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

/// REQUIRES: the streams and meters of `from` are not in `to` yet.
void add_digests(const RunResult& from, RunResult& to) {
    metrics::Digest digest = *metrics::Digest::from_hex(to.digest);
    digest.merge(*metrics::Digest::from_hex(from.digest));
    to.digest = digest.hex();
    if (!has_played(from)) return;
    if (!has_played(to)) {
        to.timing_digest = from.timing_digest;
    } else if (from.timing_digest && to.timing_digest) {
        metrics::Digest timing = *metrics::Digest::from_hex(*to.timing_digest);
        timing.merge(*metrics::Digest::from_hex(*from.timing_digest));
        to.timing_digest = timing.hex();
    } else {
        to.timing_digest.reset();
    }
}

/// Adds a part that knows of other ranks. REQUIRES: the streams and meters of `from` are not in `to` yet.
void add_part(RunResult& from, RunResult& to) {
    if (has_played(from)) to.direct = from.direct && (to.direct || !has_played(to));
    if (has_played(from) && !has_played(to)) to.io = from.io;
    append_new(from.notices, to.notices);
    for (const ServerResult& server : from.servers) add_server(server, to.servers);
    merge_places(from.places, to.places);
    add_digests(from, to);
    append(from.streams, to.streams);
    append(from.drops, to.drops);
    append(from.events, to.events);
    append(from.seeks, to.seeks);
    append(from.frames, to.frames);
    append(from.meters, to.meters);
    append(from.operations, to.operations);
    to.drops_omitted += from.drops_omitted;
    to.buffer_bytes += from.buffer_bytes;
    to.totals += from.totals;
    to.reasons += from.reasons;
    if (from.content) {
        if (!to.content) to.content.emplace();
        *to.content += *from.content;
    }
    // Faults inside a model happened in the model of each rank.
    if (from.faults_injected) {
        if (!to.faults_injected) to.faults_injected.emplace();
        *to.faults_injected += *from.faults_injected;
    }
    to.audio |= from.audio;
    add_media(from.media, to.media);
}

/// `alone`: it is one part, whose events, model and proof are those of the run.
void fill_whole(RunResult& whole, bool alone) {
    sort_tables(whole);
    if (!alone) whole.events = merged_events(std::move(whole.events), whole.streams);
    fill_distributions(whole);
    if (clips_are_shared(whole)) whole.media.shared = whole.media.server_cache_may_be_warm = true;
    whole.required_bytes_per_s = most_required(whole.streams);
    whole.required_rates = required_rates(whole.streams);
    whole.read_bytes_per_s = whole.wall_ns > 0 ? static_cast<double>(whole.totals.bytes_read) * 1e9 /
                                                     static_cast<double>(whole.wall_ns)
                                               : 0;
    if (!whole.seats.front().host.name.empty()) whole.host = whole.seats.front().host;
    const auto interrupted = [](const SeatResult& seat) { return seat.state == State::interrupted; };
    whole.interrupted = std::ranges::any_of(whole.seats, interrupted);
    std::uint64_t from_caches = 0;
    bool known = true;
    for (const SeatResult& seat : whole.seats) {
        if (seat.state == State::missing || seat.totals.bytes_read == 0) continue;
        known &= seat.client.page_cache_bytes.has_value();
        from_caches += seat.client.page_cache_bytes.value_or(0);
    }
    whole.client.page_cache_bytes = known ? std::optional(from_caches) : std::nullopt;
    if (!alone) whole.parts.clear();  // each rank had a model of its own
    whole.verdict = judge::verdict_of_seats(whole);
    judge::judge_meters_of_seats(whole);
    judge::judge_mounts(whole);
    std::optional<ProveResult> prove = alone && whole.claims ? whole.claims->prove : std::nullopt;
    whole.claims = judge::claims_of(whole);
    if (whole.claims) whole.claims->prove = std::move(prove);
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
        const bool bare =
            std::ranges::any_of(part.streams, [](const StreamResult& stream) { return !stream.histograms; });
        if (bare) problems.push_back(name + ": has streams without \"histograms\"");
        if (!metrics::Digest::from_hex(part.digest) ||
            (part.timing_digest && !metrics::Digest::from_hex(*part.timing_digest)))
            problems.push_back(name + ": expected digests of 32 hexadecimal digits");
    }
    return problems;
}

/// Problems of seats whose meters ran on two ranks.
std::vector<std::string> meters_in_two_parts(const std::vector<RunResult>& parts) {
    std::vector<std::string> problems;
    std::set<std::uint32_t> taken;
    for (const RunResult& part : parts) {
        std::set<std::uint32_t> seats;
        for (const MeterResult& meter : part.meters) seats.insert(meter.seat);
        for (const std::uint32_t seat : seats) {
            if (taken.insert(seat).second) continue;
            problems.push_back(fmt::format(
                "the meters of seat {} are in two parts of the run: expected each seat in one", seat));
        }
    }
    return problems;
}

/// Problems of streams that two ranks played.
std::vector<std::string> streams_in_two_parts(const RunResult& whole) {
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

std::string seat_name(const SeatResult& seat) {
    return judge::seat_name(seat);
}

void become_part(const std::string& run_id, std::uint32_t ranks, SeatResult own, RunResult& result) {
    if (own.state == State::complete && result.interrupted) {
        own.state = State::interrupted;
        own.why = "it was interrupted";
    }
    own.host = result.host;
    own.started_at = result.started_at;
    if (own.node.empty() && result.servers.size() == 1) own.node = result.servers.front().address;
    own.verdict = result.verdict;
    judge::judge_start(own);
    own.totals = result.totals;
    own.margin_ns = result.margin_ns;
    for (const StreamResult& stream : result.streams)
        own.played_ns = std::max(own.played_ns, stream.play_start_ns + stream.last_due_ns);
    for (const MeterResult& meter : result.meters) own.played_ns = std::max(own.played_ns, meter.wall_ns);
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
    if (auto problems = meters_in_two_parts(chosen->parts); !problems.empty())
        return Error{ErrorKind::bad_input, std::move(problems)};
    for (RunResult& part : chosen->parts) {
        if (is_merged(part)) continue;
        onto_common_axis(part);
        name_causes(part);
    }
    RunResult whole = chosen->parts.front();
    whole.causes = merged_causes(chosen->parts);
    whole.timeline = merged_timeline(chosen->parts);
    whole.wall_ns = merged_wall_ns(chosen->parts);
    // One computer's gaps and load are not those of all.
    if (chosen->parts.size() > 1) {
        whole.throughput_gaps.clear();
        whole.computer_timeline.clear();
    }
    for (std::size_t i = 1; i < chosen->parts.size(); ++i) add_part(chosen->parts[i], whole);
    whole.seats = std::move(chosen->seats);
    fill_whole(whole, chosen->parts.size() == 1);
    if (auto problems = streams_in_two_parts(whole); !problems.empty())
        return Error{ErrorKind::bad_input, std::move(problems)};
    return whole;
}

}  // namespace streamsim::result
