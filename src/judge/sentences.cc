#include "judge/sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/units.h"
#include "judge/causes.h"
#include "judge/distance.h"
#include "judge/host_window.h"
#include "judge/network_path.h"

namespace streamsim::judge {
namespace {

std::string were(std::uint64_t count) {
    return count == 1 ? "was" : "were";
}

/// "16 reads of 1 MiB in flight a stream"
std::string in_flight(const ProbeResult& probe) {
    const std::string size = probe.io_size_bytes == 0 ? "a whole frame" : show_io_size(probe.io_size_bytes);
    return fmt::format("{} frame{} of each stream, {} read{} of {} of each", probe.inflight,
                       probe.inflight == 1 ? "" : "s", probe.io_depth, probe.io_depth == 1 ? "" : "s", size);
}

/// The median of a time of the delivered frames; 0: none was delivered.
template <typename Get>
std::int64_t median(const std::vector<const MissedFrame*>& missed, Get get) {
    std::vector<std::int64_t> values;
    for (const MissedFrame* each : missed) {
        if (each->delivered_ns && each->submitted_ns) values.push_back(std::invoke(get, *each));
    }
    return median_ns(std::move(values));
}

std::int64_t service_ns(const MissedFrame& missed) {
    return *missed.delivered_ns - *missed.submitted_ns;
}

/// "; eth0 was 41 % busy; RTT to 10.0.0.1: median 0.4 ms while frames were missed, min 0.2 ms", or empty.
std::string network_load(const CauseFrames& of) {
    const NetworkPathFacts path = path_of_data(of.run);
    if (!through_network(of.run) || of.missed.empty()) return {};
    const auto [from_ns, to_ns] = due_span(of.missed);
    std::string out;
    if (const auto busy = link_busy(of.run.system, path.link, from_ns, to_ns))
        out += fmt::format("; {} was {:.0f} % busy", path.link, *busy * 100);
    const auto rtt_ns = host_window(of.run.system, from_ns, to_ns).rtt_ns;
    if (rtt_ns && path.rtt_min_ns) {
        out += fmt::format("; RTT to {}: median {} while frames were missed, min {}", path.peer,
                           show_duration({*rtt_ns}), show_duration({*path.rtt_min_ns}));
    }
    return out;
}

std::string required(const Evidence& evidence) {
    return fmt::format("{} are required", show_rate(evidence.required_bytes_per_s));
}

std::string processors(const CauseFrames& of) {
    std::string out =
        fmt::format("streamsim used {:.0f} % of one of {} processors", of.run.cpu_percent, of.run.cpus);
    const auto [from_ns, to_ns] = delivery_span(of.missed);
    const HostWindow then = host_window(of.run.system, from_ns, to_ns);
    if (then.processors_busy)
        out += fmt::format("; all processors were {:.0f} % busy", *then.processors_busy * 100);
    if (then.run_queue_wait_ns)
        out += fmt::format(
            "; a thread of streamsim, or of its file system's process here, waited {} for a processor",
            show_duration({*then.run_queue_wait_ns}));
    if (then.cpu_pressure) out += fmt::format("; CPU pressure {:.0f} % (PSI some)", *then.cpu_pressure * 100);
    out += fmt::format("; timer lateness median {}, scheduling stalls {} in all",
                       show_duration({of.run.loop_lateness_p50_ns}), show_duration({of.run.loop_stalled_ns}));
    return out;
}

std::string places_text(const CauseFrames& of) {
    std::set<std::pair<std::uint32_t, std::uint64_t>> places;
    for (const MissedFrame* each : of.missed) places.insert({each->clip, each->clip_frame});
    if (places.size() > 1) return fmt::format("{} frames of the clips", show_count(places.size()));
    const auto name = of.run.frame_names.find(*places.begin());
    return name != of.run.frame_names.end() ? name->second : "one frame of a clip";
}

/// "re-read alone the frame took 80 ms, others take 4 ms"; empty: no frame was slow again.
std::string rereads_text(const Evidence& evidence) {
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t> missed;  // the fastest reading
    std::int64_t usual_ns = 0;
    std::uint64_t usual = 0;
    for (const Reread& each : evidence.rereads) {
        if (each.failed) continue;
        if (each.missed) {
            const auto [place, first] = missed.try_emplace({each.clip, each.clip_frame}, each.took_ns);
            if (!first) place->second = std::min(place->second, each.took_ns);
        } else {
            usual_ns += each.took_ns;
            ++usual;
        }
    }
    std::int64_t slow_ns = 0;
    for (const auto& [place, least_ns] : missed) slow_ns = std::max(slow_ns, least_ns);
    if (slow_ns == 0 || usual == 0) return {};
    return fmt::format("re-read alone the frame took {}, others take {}", show_duration({slow_ns}),
                       show_duration({usual_ns / static_cast<std::int64_t>(usual)}));
}

void describe_storage(CauseResult& cause, const CauseFrames& of) {
    const std::string head = "the storage did not keep up: " + of.what;
    const std::int64_t took_ns = median(of.missed, service_ns);
    switch (cause.cause) {
        case Cause::bandwidth:
            cause.summary = fmt::format("{}; it gives {}, and {}", head,
                                        show_rate(of.run.as_played->bytes_per_s), required(of.run));
            cause.detail =
                fmt::format("its bandwidth is the limit{}; {}",
                            of.run.more_in_flight ? ": more in flight would not help" : "", rates_text(of.run));
            break;
        case Cause::slow_opens:
            cause.summary = head + "; opening files takes too long";
            cause.detail = fmt::format(
                "metadata, not data: opening the file of a missed frame took {} (median), reading it {}",
                show_duration({median(of.missed, &MissedFrame::open_ns)}),
                show_duration({median(of.missed, &MissedFrame::read_ns)}));
            break;
        default:
            cause.summary = head;
            if (took_ns > 0) {
                cause.summary +=
                    fmt::format("; a missed frame took {} (median), and one is due every {}",
                                show_duration({took_ns}), show_duration({of.run.shortest_period_ns}));
            }
            cause.detail = rates_text(of.run);
            if (more_would_help(of.run)) {
                cause.detail = "its latency is the limit: more in flight would help; " + cause.detail;
            } else if (gives_enough(of.run, of.run.as_played)) {
                cause.detail = "its average rate is enough, but not at every moment; " + cause.detail;
            } else if (of.run.as_played && another_way_gives_enough(of.run)) {
                cause.detail = "it gives about what is required; " + cause.detail;
            }
            break;
    }
    cause.detail += network_load(of);
    if (cause.detail.starts_with("; ")) cause.detail.erase(0, 2);
}

void describe_settings(CauseResult& cause, const CauseFrames& of) {
    const bool small = cause.cause == Cause::too_small_reads;
    const std::optional<ProbeResult>& better = small ? of.run.larger_reads : of.run.usual;
    cause.summary =
        small ? fmt::format("the player reads in pieces that are too small ({}): {}; the storage can do it",
                            show_io_size(of.run.io_size), of.what)
              : fmt::format("the player has too little in flight: {}; the storage can do it", of.what);
    cause.detail =
        fmt::format("{} would help: {}",
                    small ? "a larger I/O size (--io-size)" : "more in flight (--inflight, --io-depth)",
                    better ? rates_text(of.run) : std::string());
}

/// "a round trip to 10.0.0.1 takes 88 ms, a missed frame took 179 ms (median)"; empty: that is not known.
std::string round_trip_text(const CauseFrames& of) {
    const NetworkPathFacts path = path_of_data(of.run);
    const std::int64_t took_ns = median(of.missed, service_ns);
    if (!path.rtt_min_ns || took_ns <= 0) return {};
    return fmt::format("a round trip to {} takes {}, a missed frame took {} (median)",
                       path.peer.empty() ? "the server" : path.peer, show_duration({*path.rtt_min_ns}),
                       show_duration({took_ns}));
}

void describe_network(CauseResult& cause, const CauseFrames& of) {
    const NetworkPathFacts path = path_of_data(of.run);
    const std::string where = path.peer.empty() ? "" : fmt::format(" between this computer and {}", path.peer);
    const TimeSpan times = due_span(of.missed);
    if (is_far(path) && !path_full(of.run.system, path, times.from_ns, times.to_ns)) {
        cause.summary = fmt::format("the network{} is too long for this way to play: {}", where, of.what);
        cause.detail = round_trip_text(of);
        if (const std::int64_t alone_ns = read_alone_ns(of.run); alone_ns > 0)
            cause.detail += fmt::format(", {} when it was re-read alone", show_duration({alone_ns}));
        cause.detail += "; more frames in flight, or a server that is nearer, help";
        return;
    }
    cause.summary = fmt::format("the network{} was full: {}", where, of.what);
    const StorageTraffic traffic = storage_traffic(of.run);
    cause.detail = traffic.writes
                       ? fmt::format("{} went over {}", show_bytes(traffic.moved), path.link)
                       : fmt::format("{} came over {}", show_rate(of.run.delivered_bytes_per_s), path.link);
    cause.detail += network_load(of);
}

/// How long the computer was suspended while it waited for most of these frames; 0: it was not.
std::int64_t suspended_ns(const CauseFrames& of) {
    const std::vector<Suspension> all = suspensions_of(of.run.system);
    std::int64_t took_ns = 0;
    std::size_t count = 0;
    for (const MissedFrame* each : of.missed) {
        const auto found = suspended_in(all, each->submitted_ns.value_or(each->due_ns), each->due_ns);
        if (found) ++count;
        took_ns = std::max(took_ns, found.value_or(0));
    }
    return count * 2 >= of.missed.size() ? took_ns : 0;
}

void describe_client(CauseResult& cause, const CauseFrames& of) {
    const std::string not_storage =
        counted(cause.stalls > 0 ? cause.stalls : cause.frames, "frame") +
        (of.run.judges_storage() ? " cannot be held against the storage" : " were late for this reason alone");
    const bool decoding = of.run.decode_cpu_ns > 0 && of.run.loop_stalled_ns == 0;
    if (cause.cause == Cause::client_cpu && decoding) {
        cause.summary =
            fmt::format("decoding, at {} of processor time a frame, did not keep up on this computer: {}",
                        show_duration({of.run.decode_cpu_ns}), not_storage);
    } else if (const auto length_ns = suspended_ns(of); cause.cause != Cause::client_cpu && length_ns > 0) {
        cause.summary =
            fmt::format("this computer was suspended for {}: {}", show_duration({length_ns}), not_storage);
    } else if (cause.cause == Cause::client_cpu) {
        cause.summary = "this computer ran out of processor time: " + not_storage;
    } else {
        const std::string how =
            of.run.loop_stalled_ns > 0
                ? fmt::format("scheduling stalls: {} in all", show_duration({of.run.loop_stalled_ns}))
                : fmt::format("timer lateness: median {}", show_duration({of.run.loop_lateness_p50_ns}));
        cause.summary =
            fmt::format("this computer did not let the player run when it had to ({}): {}", how, not_storage);
    }
    if (!of.run.virtual_time) cause.detail = processors(of);
}

std::size_t frames_with(const CauseFrames& of, DropReason reason) {
    return static_cast<std::size_t>(
        std::ranges::count_if(of.missed, [reason](const MissedFrame* each) { return each->reason == reason; }));
}

void describe_damage(CauseResult& cause, const CauseFrames& of) {
    const auto with = [&of](DropReason reason) { return frames_with(of, reason); };
    std::string list;
    for (const auto& [number, word] :
         {std::pair(with(DropReason::missing), "missing"), std::pair(with(DropReason::short_read), "cut short"),
          std::pair(with(DropReason::error), "unreadable"), std::pair(with(DropReason::corrupt), "corrupt")}) {
        if (number == 0) continue;
        list += fmt::format("{}{} {} {}", list.empty() ? "" : " and ", counted(number, "frame"), were(number),
                            word);
    }
    const bool corrupt = with(DropReason::corrupt) == of.missed.size();
    cause.summary = list + (corrupt ? ": their bytes are not those that were written"
                                    : ": the media are damaged or incomplete, on any storage");
    cause.detail = fmt::format(
        "{}{}; the others of the same clips can be read", places_text(of),
        corrupt ? fmt::format(", the first at byte {} of its file", show_count(of.missed.front()->corrupt_at))
                : "");
}

/// The throughput gaps in which these frames were due.
std::vector<DeliveryGap> stalls_of(const CauseFrames& of) {
    std::vector<DeliveryGap> out;
    for (const DeliveryGap& gap : of.run.delivery_gaps) {
        if (!is_stall(gap, of.run.shortest_period_ns)) continue;
        const auto in_it = [&gap](const MissedFrame* each) {
            const std::int64_t from_ns = each->submitted_ns.value_or(each->due_ns);
            const std::int64_t to_ns = std::max(each->due_ns, each->delivered_ns.value_or(each->due_ns));
            return from_ns < gap.to_ns && to_ns > gap.from_ns;
        };
        if (std::ranges::any_of(of.missed, in_it)) out.push_back(gap);
    }
    return out;
}

/// REQUIRES: there is one.
DeliveryGap longest(const std::vector<DeliveryGap>& gaps) {
    return *std::ranges::max_element(gaps, [](const DeliveryGap& a, const DeliveryGap& b) {
        return a.to_ns - a.from_ns < b.to_ns - b.from_ns;
    });
}

/// "for 520.0 ms"; "2 times, for 520.0 ms and 510.0 ms"; "12 times, for 6.1 s in all, longest 520.0 ms"
std::string stalls_text(const std::vector<DeliveryGap>& gaps) {
    constexpr std::size_t kListedMax = 4;
    std::int64_t all_ns = 0;
    const DeliveryGap worst = longest(gaps);
    const std::int64_t longest_ns = worst.to_ns - worst.from_ns;
    std::string list;
    for (const DeliveryGap& gap : gaps) {
        const std::int64_t ns = gap.to_ns - gap.from_ns;
        all_ns += ns;
        const bool last = &gap == &gaps.back();
        if (!list.empty()) list += last ? " and " : ", ";
        list += show_duration({ns});
    }
    if (gaps.size() <= 1) return fmt::format("for {}", show_duration({longest_ns}));
    if (gaps.size() <= kListedMax) return fmt::format("{} times, for {}", gaps.size(), list);
    return fmt::format("{} times, for {} in all, longest {}", show_count(gaps.size()), show_duration({all_ns}),
                       show_duration({longest_ns}));
}

}  // namespace

std::string rates_text(const Evidence& evidence) {
    std::string out;
    for (const auto* rate :
         {&evidence.as_played, &evidence.usual, &evidence.larger_reads, &evidence.more_in_flight}) {
        if (!*rate) continue;
        out += fmt::format("{}{} {} ({})", out.empty() ? "read without deadlines the storage gives " : ", ",
                           show_rate((*rate)->bytes_per_s), (*rate)->name, in_flight(**rate));
    }
    return out.empty() ? out : out + "; " + required(evidence);
}

TimeSpan due_span(const std::vector<const MissedFrame*>& missed) {
    TimeSpan span;
    for (const MissedFrame* each : missed) {
        span.from_ns = std::min(span.from_ns, each->submitted_ns.value_or(each->due_ns));
        span.to_ns = std::max(span.to_ns, each->due_ns);
    }
    return span;
}

TimeSpan delivery_span(const std::vector<const MissedFrame*>& missed) {
    TimeSpan span = due_span(missed);
    for (const MissedFrame* each : missed)
        span.to_ns = std::max(span.to_ns, each->delivered_ns.value_or(INT64_MIN));
    return span;
}

std::string gaps_text(const CauseFrames& of) {
    const std::vector<DeliveryGap> gaps = stalls_of(of);
    return gaps.empty() ? "" : stalls_text(gaps);
}

void describe_stall(CauseResult& cause, const CauseFrames& of) {
    std::vector<DeliveryGap> gaps = stalls_of(of);
    if (gaps.empty()) gaps = {longest(of.run.delivery_gaps)};
    const bool to_the_end = std::ranges::any_of(gaps, &DeliveryGap::to_the_end);
    cause.summary = fmt::format("the storage gave no data {}: {}", stalls_text(gaps), of.what);
    cause.detail =
        fmt::format("no stream received data in {}, and {}", gaps.size() > 1 ? "those times" : "that time",
                    to_the_end        ? "nothing came up to the end"
                    : gaps.size() > 1 ? "all went on after each"
                                      : "all went on afterwards");
    const std::string answers = host_answers(of);
    if (!answers.empty()) cause.detail += "; " + answers;
}

std::string slow_frames(std::uint64_t frames, std::uint64_t stalls, std::int64_t stall_ns) {
    if (stalls > 0) {
        return fmt::format("play stalled {} for {} in all, waiting for frames",
                           stalls == 1 ? "once" : show_count(stalls) + " times", show_duration({stall_ns}));
    }
    return fmt::format("{} {} late or dropped", counted(frames, "frame"), were(frames));
}

void describe(CauseResult& cause, const CauseFrames& of) {
    const std::uint64_t count = cause.stalls > 0 ? cause.stalls : cause.frames;
    switch (cause.cause) {
        case Cause::slow_reads:
        case Cause::bandwidth:
        case Cause::slow_opens: describe_storage(cause, of); return;
        case Cause::storage_stall: describe_stall(cause, of); return;
        case Cause::storage_error:
            if (frames_with(of, DropReason::corrupt) == of.missed.size()) {
                cause.summary = fmt::format("the storage gave other bytes than were written for {}",
                                            counted(count, "frame"));
                cause.detail = "they were right when they were read again: the drop table has the first offset";
                return;
            }
            cause.summary = fmt::format("the storage gave an error for {}", counted(count, "frame"));
            cause.detail = "the errors do not stay with certain frames: the drop table has their errno";
            return;
        case Cause::storage_gone: describe_gone(cause, of); return;
        case Cause::client_memory: describe_memory(cause, of); return;
        case Cause::client_resources: describe_resources(cause, of); return;
        case Cause::cold_start:
            cause.summary = fmt::format("cold start: {} {} missed while the storage was cold, and none later",
                                        counted(count, "frame"), were(count));
            cause.detail = "frames that were read later, or again, were on time";
            return;
        case Cause::slow_file:
            cause.summary = fmt::format("the media are slow in one place: {} ({})", of.what, places_text(of));
            cause.detail = fmt::format(
                "{}; the cause is that file or its place on the storage (fragments, a bad disk), not the "
                "storage as a whole",
                of.run.rereads.empty() ? "missed on each pass, other frames never" : rereads_text(of.run));
            return;
        case Cause::damaged_file: describe_damage(cause, of); return;
        case Cause::network: describe_network(cause, of); return;
        case Cause::network_loss:
        case Cause::network_down: describe_path(cause, of); return;
        case Cause::client_cpu:
        case Cause::client_scheduling: describe_client(cause, of); return;
        case Cause::too_little_in_flight:
        case Cause::too_small_reads: describe_settings(cause, of); return;
        default:
            if (may_lack_memory(of)) {
                describe_unknown_memory(cause, of);
                return;
            }
            if (may_be_a_processor(of)) {
                describe_full_processor(cause, of);
                return;
            }
            cause.summary = of.what + "; whether the storage or the network delayed them is not known";
            cause.detail = !of.run.several_storages && is_far(path_of_data(of.run)) ? round_trip_text(of)
                                                                                    : unknown_path_text(of);
            return;
    }
}

std::string what_next(Cause cause, const CauseFrames& of) {
    const bool silent = std::ranges::any_of(of.run.delivery_gaps, [](const DeliveryGap& each) {
        return each.to_ns - each.from_ns >= 1'000'000'000;
    });
    const bool far = is_far(path_of_data(of.run));
    if (cause == Cause::unknown && may_lack_memory(of)) return next_of_shortage(Cause::client_memory);
    if (cause == Cause::unknown && of.run.several_storages)
        return "play the clips of each storage alone: then the side can be named";
    if (cause == Cause::unknown && may_be_a_processor(of)) return next_of_full_processor(of);
    if (cause == Cause::unknown && of.run.remote && silent && !far) {
        return "let the server's host answer pings (ICMP) and play again, or look in the logs of the "
               "server and of the switch whether the server stopped or its port went down at that time";
    }
    if (cause == Cause::unknown) {
        return "play the same on a computer that is nearer to the storage, or on the server itself: if it "
               "plays there, it is the network";
    }
    if (std::string next = next_of_shortage(cause); !next.empty()) return next;
    if (cause == Cause::bandwidth) return next_of_one_connection(of);
    if (cause != Cause::slow_reads || of.run.more_in_flight || !of.run.any_player) return {};
    const char* how = nullptr;
    if (of.run.as_played && of.run.reads_at_once_max) {
        how = "play again with more threads (UV_THREADPOOL_SIZE, `ulimit -u`)";
    } else if (!of.run.as_played && !of.run.find_cause) {
        how = "play again without --no-probes";
    } else if (!of.run.as_played && of.run.interrupted) {
        how = of.run.preroll_took_too_long ? "play again with a longer --preroll-timeout"
                                           : "let a run end by itself";
    }
    return how == nullptr ? "" : fmt::format("{}: then it measures whether more in flight would help", how);
}

}  // namespace streamsim::judge
