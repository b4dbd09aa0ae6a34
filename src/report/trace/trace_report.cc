#include "report/trace/trace_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/document/json.h"
#include "report/facts/selection.h"
#include "report/facts/show.h"

namespace streamsim::report {
namespace {

constexpr std::size_t kTracePieceBytes = std::size_t{64} << 10;
/// Viewers turn microseconds into binary fractions and back: each end of a slice may move by a nanosecond.
constexpr std::int64_t kApartNs = 2;

std::string quoted(const std::string& text) {
    return json_text(Json(text));
}

bool was_read(const FrameOutcome& frame) {
    return frame.submitted != Instant::never() && frame.completed != Instant::never();
}

std::int64_t earliest(const FrameOutcome& frame) {
    return std::min({frame.scheduled, frame.submitted, frame.deadline, frame.completed}).ns;
}

/// The time of a mark: the deadline; without one the completion, or the last event of the frame.
Instant mark_at(const FrameOutcome& frame) {
    for (const Instant at : {frame.deadline, frame.completed, frame.submitted, frame.scheduled}) {
        if (at != Instant::never()) return at;
    }
    return Instant{0};
}

/// The tracks of one stream, counted from its first: a slice goes to the first track on which it overlaps no
/// other slice.
class TrackOffsets {
public:
    std::size_t track_for(Instant from, Instant to) {
        for (std::size_t offset = 0; offset < last_.size(); ++offset) {
            const auto [begin, end] = last_[offset];
            const std::int64_t apart = begin == end ? 0 : kApartNs;
            if (end.ns + apart > from.ns) continue;
            last_[offset] = {from, to};
            return offset;
        }
        last_.emplace_back(from, to);
        return last_.size() - 1;
    }
    std::size_t count() const { return last_.size(); }

private:
    std::vector<std::pair<Instant, Instant>> last_;  // the last slice of each track
};

class Trace {
public:
    Trace(const RunResult& result, const TextSink& sink) : result_(result), sink_(sink) {}

    void write();

private:
    struct Track {
        std::uint32_t pid = 0;
        std::uint64_t tid = 0;  // the stream's first track
        std::int64_t origin_ns = 0;
    };

    void find_offset();
    void stream(const StreamResult& stream, std::span<const FrameRow> rows);
    void slices(std::span<const FrameRow> rows, const Track& track, const std::string& name);
    void arguments(const FrameRow& row);
    void buffer_counter(const StreamResult& stream, const Track& track);
    double required_at(std::int64_t t_ns) const;
    void throughput_counters();
    void name(const char* what, std::uint32_t pid, std::uint64_t tid, const std::string& text);

    /// Begins an event.
    void begin() {
        if (piece_.size() >= kTracePieceBytes) flush();
        piece_ += first_ ? "\n" : ",\n";
        first_ = false;
    }
    void flush() {
        sink_(piece_);
        piece_.clear();
    }
    template <typename... Args>
    void add(fmt::format_string<Args...> format, Args&&... args) {
        piece_ += fmt::format(format, std::forward<Args>(args)...);
    }
    void add_us(std::int64_t ns) { add("{}.{:03}", ns / 1000, ns % 1000); }
    void add_ts(const Track& track, std::int64_t ns) {
        piece_ += "\"ts\":";
        add_us(offset_ns_ + track.origin_ns + ns);
    }

    const RunResult& result_;
    const TextSink& sink_;
    std::string piece_;
    bool first_ = true;
    std::int64_t offset_ns_ = 0;
    std::optional<std::int64_t> first_start_ns_;  // the earliest of all streams; the time line counts from it
    std::uint64_t next_tid_ = 1;
    std::uint32_t seats_ = 0;
};

/// The rows of one stream: rows are ordered by seat, then stream.
std::span<const FrameRow> take(const StreamResult& stream, std::span<const FrameRow>& rest) {
    std::size_t count = 0;
    while (count < rest.size() && rest[count].seat == stream.seat && rest[count].stream == stream.stream)
        ++count;
    const auto taken = rest.first(count);
    rest = rest.subspan(count);
    return taken;
}

/// The offset that keeps all times at or above 0.
void Trace::find_offset() {
    std::int64_t least = 0;
    std::span<const FrameRow> rest(result_.frames);
    for (const StreamResult& stream : result_.streams) {
        seats_ = std::max(seats_, stream.seat + 1);
        for (const FrameRow& row : take(stream, rest)) {
            if (earliest(row.outcome) == INT64_MAX) continue;
            least = std::min(least, stream.play_start_ns + earliest(row.outcome));
        }
    }
    for (const StreamResult& stream : result_.streams)
        first_start_ns_ = std::min(first_start_ns_.value_or(INT64_MAX), stream.play_start_ns);
    for (const TimelineEntry& entry : result_.timeline)
        least = std::min(least, first_start_ns_.value_or(0) + entry.t_ns);
    offset_ns_ = -least;
}

void Trace::write() {
    find_offset();
    piece_ = kTraceBegins;
    add(",\"version\":1,\"streamsim\":{},\"target\":{},\"started_at\":{},\"seed\":\"{}\",\"offset_ns\":{}}},\n",
        quoted(result_.version), quoted(result_.url), quoted(result_.started_at), result_.seed, offset_ns_);
    piece_ += "\"displayTimeUnit\":\"ms\",\n\"traceEvents\":[";
    std::span<const FrameRow> rest(result_.frames);
    std::uint32_t named = 0;
    for (const StreamResult& one : result_.streams) {
        if (one.seat + 1 > named) {
            named = one.seat + 1;
            name("process_name", named, 0, fmt::format("seat {}", one.seat));
        }
        stream(one, take(one, rest));
    }
    throughput_counters();
    piece_ += "\n]}\n";
    flush();
}

void Trace::name(const char* what, std::uint32_t pid, std::uint64_t tid, const std::string& text) {
    begin();
    add(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", what, pid, tid, quoted(text));
}

void Trace::stream(const StreamResult& stream, std::span<const FrameRow> rows) {
    const Track track{stream.seat + 1, next_tid_, stream.play_start_ns};
    slices(rows, track, fmt::format("stream {}: {}, {}", stream.stream, stream.format, stream.clip));
    for (const FrameRow& row : rows) {
        const FrameOutcome& frame = row.outcome;
        if (frame.kind == FrameKind::on_time && was_read(frame)) continue;
        begin();
        add(R"({{"ph":"i","s":"t","cat":"miss","name":"{} {}","pid":{},"tid":{},)", to_string(frame.kind),
            frame.slot, track.pid, track.tid);
        add_ts(track, mark_at(frame).ns);
        arguments(row);
    }
    buffer_counter(stream, track);
}

void Trace::slices(std::span<const FrameRow> rows, const Track& track, const std::string& name_of_stream) {
    std::vector<std::uint32_t> order;  // by submission
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (was_read(rows[i].outcome)) order.push_back(static_cast<std::uint32_t>(i));
    }
    std::ranges::stable_sort(order, [rows](std::uint32_t a, std::uint32_t b) {
        return rows[a].outcome.submitted < rows[b].outcome.submitted;
    });
    TrackOffsets offsets;
    for (const std::uint32_t index : order) {
        const FrameOutcome& frame = rows[index].outcome;
        const std::size_t offset = offsets.track_for(frame.submitted, frame.completed);
        begin();
        add(R"({{"ph":"X","cat":"frame","name":"{} {}","pid":{},"tid":{},)",
            frame.kind == FrameKind::on_time ? "frame" : to_string(frame.kind), frame.slot, track.pid,
            track.tid + offset);
        add_ts(track, frame.submitted.ns);
        piece_ += ",\"dur\":";
        add_us((frame.completed - frame.submitted).ns);
        arguments(rows[index]);
    }
    const std::size_t tracks = std::max<std::size_t>(1, offsets.count());
    name("thread_name", track.pid, track.tid, name_of_stream);
    for (std::size_t offset = 1; offset < tracks; ++offset) {
        name("thread_name", track.pid, track.tid + offset, fmt::format("{} ({})", name_of_stream, offset + 1));
    }
    next_tid_ += tracks;
}

/// Writes the columns of the row, and the event's end.
void Trace::arguments(const FrameRow& row) {
    const FrameOutcome& frame = row.outcome;
    add(R"(,"args":{{"seat":{},"stream":{},"frame":{},"clip_frame":{})", row.seat, row.stream, frame.slot,
        frame.clip_frame);
    if (!row.file.empty()) add(",\"file\":{}", quoted(row.file));
    add(R"(,"kind":"{}")", to_string(frame.kind));
    if (frame.reason != DropReason::none) add(R"(,"reason":"{}")", to_string(frame.reason));
    add(R"(,"errno":{},"bytes":{})", frame.error, frame.bytes);
    const auto instant = [this](const char* key, Instant at) {
        if (at != Instant::never()) add(",\"{}\":{}", key, at.ns);
    };
    instant("scheduled_ns", frame.scheduled);
    instant("submitted_ns", frame.submitted);
    instant("opened_ns", frame.opened);
    if (frame.open_time != Duration{}) add(",\"open_ns\":{}", frame.open_time.ns);
    instant("due_ns", frame.deadline);
    instant("completed_ns", frame.completed);
    if (frame.deadline != Instant::never() && frame.completed != Instant::never())
        add(",\"margin_ns\":{}", (frame.deadline - frame.completed).ns);
    piece_ += "}}";
}

void Trace::buffer_counter(const StreamResult& stream, const Track& track) {
    for (std::size_t i = 0; i < stream.series.points.size(); ++i) {
        const auto& point = stream.series.points[i];
        if (!point.buffer_min) continue;
        begin();
        add(R"({{"ph":"C","name":"stream {} buffer","pid":{},)", stream.stream, track.pid);
        add_ts(track, static_cast<std::int64_t>(i) * stream.series.interval_ns);
        add(R"(,"args":{{"frames":{}}}}})", *point.buffer_min);
    }
}

/// Nothing is required before play; `t_ns` counts from the first play_start.
double Trace::required_at(std::int64_t t_ns) const {
    if (t_ns < 0) return 0;
    if (result_.required_rates.empty()) return result_.required_bytes_per_s;
    double out = 0;
    for (const RequiredRate& step : result_.required_rates) {
        if (step.t_ns <= t_ns) out = step.bytes_per_s;
    }
    return out;
}

/// Writes the counters as a process of their own, after those of the seats.
void Trace::throughput_counters() {
    if (result_.timeline.empty()) return;
    const Track all{seats_ + 1, 0, first_start_ns_.value_or(0)};
    name("process_name", all.pid, 0, "all seats");
    const auto counter = [this, &all](const char* what, std::int64_t t_ns, double bytes_per_s) {
        if (!std::isfinite(bytes_per_s)) return;
        begin();
        add(R"({{"ph":"C","name":"{}","pid":{},)", what, all.pid);
        add_ts(all, t_ns);
        add(R"(,"args":{{"bytes_per_s":{}}}}})", std::llround(bytes_per_s));
    };
    for (const TimelineEntry& entry : result_.timeline) {
        if (entry.interval_ns <= 0) continue;
        counter(moved_word(result_), entry.t_ns, bytes_per_s(entry));
        if (result_.required_bytes_per_s > 0) counter("required", entry.t_ns, required_at(entry.t_ns));
    }
    const TimelineEntry& last = result_.timeline.back();
    counter(moved_word(result_), last.t_ns + last.interval_ns, 0);
}

}  // namespace

void trace_report(const RunResult& result, const TextSink& sink) {
    Trace(result, sink).write();
}

}  // namespace streamsim::report
