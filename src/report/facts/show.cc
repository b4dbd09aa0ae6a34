#include "report/facts/show.h"

#include <fmt/format.h>

#include <cmath>

#include "base/units.h"
#include "base/utf8.h"
#include "report/facts/selection.h"

namespace streamsim::report {

std::string show_fps(FrameRate rate) {
    if (rate.den == 1) return fmt::format("{} fps", rate.num);
    std::string digits = fmt::format("{:.3f}", rate.per_second());
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
    return digits + " fps";
}

std::string stream_name(std::uint32_t seat, std::uint32_t stream, bool with_seat) {
    return with_seat ? fmt::format("{}.{}", seat, stream) : fmt::format("{}", stream);
}

std::string kind_of(const StreamResult& stream) {
    if (!stream.records) return stream.format;
    return (stream.durable ? "durably recorded " : "recorded ") + stream.format;
}

const char* moved_word(const RunResult& result) {
    if (only_records(result)) return "recorded";
    return records(result) ? "moved" : "read";
}

std::string show_percent(const std::optional<double>& share) {
    return share ? fmt::format("{:.0f} %", *share * 100) : "";
}

std::string show_hits(const PartStats& stats) {
    const std::uint64_t requested = stats.hits + stats.misses;
    if (requested == 0) return "";
    return fmt::format("{:.0f} % of {}",
                       100.0 * static_cast<double>(stats.hits) / static_cast<double>(requested),
                       show_count(requested));
}

std::string show_first_frame(const RunResult& result, const MissEvent& event) {
    const EventFrame& first = event.first;
    const std::string file = first.file.substr(first.file.find_last_of('/') + 1);
    return fmt::format("{} {} (stream {})", first.timecode, file.empty() ? first.clip : file,
                       stream_name(first.seat, first.stream, several_seats(result)));
}

std::string show_event(const RunResult& result, const MissEvent& event) {
    std::vector<std::string> missed;
    if (event.frames > 0) missed.push_back(counted(event.frames, "frame"));
    if (event.stalls > 0) missed.push_back(counted(event.stalls, "stall"));
    return fmt::format("{} for {}: {} on {}, {}, first {}", show_clock(event.from_ns, true),
                       show_duration({event.to_ns - event.from_ns}), fmt::join(missed, " and "),
                       counted(event.streams, "stream"), to_string(event.cause),
                       show_first_frame(result, event));
}

std::string show_latency(const LatencySummary& latency) {
    return fmt::format("median {}, p99 {}, max {}", show_duration({latency.p50}), show_duration({latency.p99}),
                       show_duration({latency.max}));
}

std::string show_lateness(const ClientEvidence& client) {
    return show_latency({.p50 = client.loop_lateness_p50_ns,
                         .p99 = client.loop_lateness_p99_ns,
                         .max = client.loop_lateness_max_ns});
}

std::string show_margin(const MarginSummary& margin) {
    return fmt::format("min {}, p1 {}, median {}", show_duration({margin.min}), show_duration({margin.p1}),
                       show_duration({margin.p50}));
}

std::string show_clock(std::int64_t ns, bool with_ms) {
    const std::uint64_t magnitude =
        ns < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    const std::uint64_t ms =
        with_ms ? (magnitude + 500'000) / 1'000'000 : (magnitude + 500'000'000) / 1'000'000'000 * 1000;
    const std::uint64_t s = ms / 1000;
    std::string out = ns < 0 && ms > 0 ? "-" : "";
    if (s >= 3600) {
        out += fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
    } else {
        out += fmt::format("{}:{:02}", s / 60, s % 60);
    }
    return with_ms ? out + fmt::format(".{:03}", ms % 1000) : out;
}

std::string show_per_second(double rate) {
    if (rate < 10) return fmt::format("{:.3g}", rate);
    return show_count(static_cast<std::uint64_t>(std::llround(rate)));
}

std::string show_block(std::uint64_t bytes) {
    if (bytes >= (1u << 20) && bytes % (1u << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
    if (bytes >= 1024 && bytes % 1024 == 0) return fmt::format("{} KiB", bytes >> 10);
    return fmt::format("{} B", bytes);
}

std::string show_seats(const std::vector<std::uint32_t>& seats) {
    std::string out;
    for (std::size_t first = 0, last = 0; first < seats.size(); first = last + 1) {
        last = first;
        while (last + 1 < seats.size() && seats[last + 1] == seats[last] + 1) ++last;
        out += fmt::format("{}{}", out.empty() ? "" : ", ", seats[first]);
        if (last > first) out += fmt::format("{}{}", last > first + 1 ? " to " : ", ", seats[last]);
    }
    return out;
}

std::string show_difference(const CounterChange& counter) {
    constexpr double kWholeMax = 9e15;  // a double counts so far
    const double size = std::abs(counter.difference);
    const char* const sign = counter.difference < 0 ? "-" : "+";
    if (size > kWholeMax || size != std::floor(size)) return fmt::format("{}{:g}", sign, size);
    const auto whole = static_cast<std::uint64_t>(size);
    return sign + (counter.name.ends_with("_bytes") ? show_bytes(whole) : show_count(whole));
}

std::string show_share(const MountFacts& mount) {
    std::string out = fmt::format("{} from {}", printable(mount.protocol), printable(mount.server));
    if (mount.connections) out += ", " + counted(*mount.connections, "connection");
    if (mount.read_bytes) out += ", reads of up to " + show_io_size(*mount.read_bytes);
    if (mount.read_ahead_bytes)
        out += fmt::format(", the kernel reads {} ahead", show_io_size(*mount.read_ahead_bytes));
    return out;
}

}  // namespace streamsim::report
