#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "base/document/problems.h"
#include "media/cuts/edit_pieces.h"

namespace streamsim::media {
namespace {

constexpr std::int64_t kSpeedSteps = 10'000;  // a speed is rounded to a hundredth of a percent

/// Position of an event, in frames.
struct PlacedEvent {
    const EdlEvent* event = nullptr;
    std::uint64_t in = 0;  // record
    std::uint64_t out = 0;
    std::int64_t source_in = 0;
    std::int64_t source_out = 0;
    std::int64_t day = 0;  // frames of a day of its source
    EditSpeed speed;
    bool recorded = false;             // its record times are known
    bool sourced = false;              // so are those of its source; not of black
    std::optional<std::size_t> piece;  // in its track

    std::uint64_t record_frames() const { return out - in; }
};

class EdlLayout {
public:
    EdlLayout(const EditList& list, FrameRate rate, std::span<const std::optional<SourceCounting>> sources)
        : list_(list), rate_(rate), sources_(sources), record_drop_(counts_drop()) {}

    Result<EditTimeline> lay_out() {
        for (const EdlEvent& event : list_.edl) place(event);
        if (std::any_of(placed_.begin(), placed_.end(), [](const auto& placed) { return placed.recorded; }))
            set_origin();
        find_overlaps();
        for (PlacedEvent& placed : placed_) find_speed(placed);
        if (!problems_.empty()) return problems_.error();
        for (PlacedEvent& placed : placed_) add_piece(placed);
        for (const PlacedEvent& placed : placed_) add_outgoing(placed);
        return finish();
    }

private:
    template <typename... Args>
    void problem(const EdlEvent& event, fmt::format_string<Args...> text, Args&&... args) {
        problems_.add(fmt::format("{}: line {}: event {}: {}", list_.source, event.line, event.number,
                                  fmt::format(text, std::forward<Args>(args)...)));
    }

    template <typename... Args>
    void note(fmt::format_string<Args...> text, Args&&... args) {
        timeline_.notes.push_back(fmt::format(text, std::forward<Args>(args)...));
    }

    std::optional<std::int64_t> record_frames(const EdlEvent& event, const TimecodeLabel& label) {
        return frames(event, label, rate_, record_drops(label));
    }

    bool record_drops(const TimecodeLabel& label) const { return label.says_drop() || record_drop_; }

    /// How labels of the record count that do not say it. Without FCM they count drop frame as the clips do,
    /// where the list marks no label and drop frame leaves out none of the record.
    bool counts_drop() const {
        if (list_.fcm || !has_drop_frame(rate_)) return list_.record_drop && has_drop_frame(rate_);
        const auto fits = [&](const TimecodeLabel& label) { return frames_of(label, rate_, true).has_value(); };
        const bool may_drop = std::all_of(list_.edl.begin(), list_.edl.end(), [&](const EdlEvent& event) {
            return !event.separators_speak && fits(event.record_in) && fits(event.record_out);
        });
        bool drop = false;
        for (const auto& source : sources_) {
            if (!source || !source->drop) continue;
            if (!*source->drop) return false;
            drop = true;
        }
        return may_drop && drop;
    }

    std::optional<std::int64_t> frames(const EdlEvent& event,
                                       const TimecodeLabel& label,
                                       FrameRate rate,
                                       bool drop) {
        const auto at = frames_of(label, rate, drop);
        if (at) return static_cast<std::int64_t>(*at);
        problem(event, "{}", at.error().problems.front());
        return std::nullopt;
    }

    /// A source whose second has another number of frames than the list's has time codes of its own.
    FrameRate source_rate(FrameRate own) const {
        return nominal_rate(own) == nominal_rate(rate_) ? rate_ : own;
    }

    /// A time code before the one preceding it is past midnight.
    static void unwrap(std::int64_t in, std::int64_t& out, std::int64_t day) {
        if (out < in && in - out > day / 2) out += day;
    }

    void place(const EdlEvent& event) {
        PlacedEvent placed;
        placed.event = &event;
        if ((event.drop || list_.record_drop) && !has_drop_frame(rate_)) dropless_ = true;
        place_record(placed);
        if (!event.black && sources_[event.media]) place_source(placed, *sources_[event.media]);
        placed_.push_back(placed);
    }

    void place_record(PlacedEvent& placed) {
        const EdlEvent& event = *placed.event;
        const auto in = record_frames(event, event.record_in);
        auto out = record_frames(event, event.record_out);
        if (!in || !out) return;
        unwrap(*in, *out, frames_of_day(rate_, record_drops(event.record_in)));
        if (*out < *in) return problem(event, "its record out is before its record in");
        if (event.kind == EdlEvent::Kind::transition &&
            event.transition_frames > static_cast<std::uint64_t>(*out - *in)) {
            problem(event, "its transition of {} frames is longer than the event, {} frames",
                    event.transition_frames, *out - *in);
        }
        placed.in = static_cast<std::uint64_t>(*in);
        placed.out = static_cast<std::uint64_t>(*out);
        placed.recorded = true;
    }

    void place_source(PlacedEvent& placed, const SourceCounting& source) {
        const EdlEvent& event = *placed.event;
        const FrameRate rate = source_rate(source.rate);
        const bool unmarked = source.drop.value_or(event.drop) && has_drop_frame(rate);
        const auto drops = [&](const TimecodeLabel& label) {
            return event.separators_speak ? label.says_drop() : unmarked;
        };
        const auto in = frames(event, event.source_in, rate, drops(event.source_in));
        auto out = frames(event, event.source_out, rate, drops(event.source_out));
        if (list_.fcm && !event.separators_speak && has_drop_frame(rate) && unmarked != event.drop) {
            auto& [first, count] = against_fcm_[unmarked];
            if (count++ == 0) first = event.number;
        }
        if (!in || !out) return;
        placed.day = frames_of_day(rate, drops(event.source_in));
        unwrap(*in, *out, placed.day);
        if (*out < *in && event.milli_fps.value_or(0) >= 0)
            return problem(event, "its source out is before its source in, and no M2 line plays it backwards");
        placed.source_in = *in;
        placed.source_out = *out;
        placed.sourced = true;
    }

    /// Counts the record from its earliest frame. REQUIRES: one event is recorded.
    void set_origin() {
        std::vector<PlacedEvent*> recorded;
        for (PlacedEvent& placed : placed_) {
            if (placed.recorded) recorded.push_back(&placed);
        }
        const auto earlier = [](const PlacedEvent* a, const PlacedEvent* b) { return a->in < b->in; };
        const PlacedEvent& front = *recorded.front();
        const auto day = static_cast<std::uint64_t>(frames_of_day(rate_, record_drops(front.event->record_in)));
        const auto [first, last] = std::minmax_element(recorded.begin(), recorded.end(), earlier);
        if ((*last)->in - (*first)->in > day / 2 && front.in > day / 2) {  // past midnight
            for (PlacedEvent* placed : recorded) {
                if (placed->in >= day / 2) continue;
                placed->in += day;
                placed->out += day;
            }
        }
        const std::uint64_t origin = (*std::min_element(recorded.begin(), recorded.end(), earlier))->in;
        for (PlacedEvent* placed : recorded) {
            placed->in -= origin;
            placed->out -= origin;
            timeline_.frames = std::max(timeline_.frames, placed->out);
        }
    }

    /// Events of one track follow each other; only a key lies over its background.
    void find_overlaps() {
        std::vector<const PlacedEvent*> sorted;
        for (const PlacedEvent& placed : placed_) {
            if (placed.in < placed.out && placed.event->kind != EdlEvent::Kind::key) sorted.push_back(&placed);
        }
        std::stable_sort(sorted.begin(), sorted.end(), [](const PlacedEvent* a, const PlacedEvent* b) {
            return std::pair(a->event->track, a->in) < std::pair(b->event->track, b->in);
        });
        const PlacedEvent* longest = nullptr;
        for (const PlacedEvent* placed : sorted) {
            const bool same = longest != nullptr && longest->event->track == placed->event->track;
            if (same && placed->in < longest->out) {
                problem(*placed->event, "its record times lie over those of event {} in line {}, by {} frames",
                        longest->event->number, longest->event->line,
                        std::min(longest->out, placed->out) - placed->in);
            }
            if (!same || placed->out > longest->out) longest = placed;
        }
    }

    void find_speed(PlacedEvent& placed) {
        const EdlEvent& event = *placed.event;
        const std::uint64_t record = placed.record_frames();
        const auto source = static_cast<std::uint64_t>(std::abs(placed.source_out - placed.source_in));
        if (!placed.recorded || !placed.sourced) return;
        if (event.milli_fps) return find_stated_speed(placed, source, record);
        if (source == record || record == 0) return;
        const FrameRate own = sources_[event.media]->rate;
        const EditSpeed ratio = reduced(static_cast<std::int64_t>(nominal_rate(own)),
                                        static_cast<std::int64_t>(nominal_rate(rate_)));
        const double expected =
            static_cast<double>(record) * static_cast<double>(ratio.num) / static_cast<double>(ratio.den);
        if (ratio.num != ratio.den && std::abs(static_cast<double>(source) - expected) <= 1) {
            placed.speed = ratio;
            note("event {}: {} source frames over {} of the record, as the rates are", event.number, source,
                 record);
        } else if (list_.ignore_mismatch || source + 1 == record || source == record + 1) {
            note("event {}: its source is {} frames long and its record {}: the record is taken", event.number,
                 source, record);
        } else {
            problem(event,
                    "its source is {} frames long and its record {}, and no M2 line gives a speed "
                    "(--ignore-mismatch plays the record)",
                    source, record);
        }
    }

    /// M2 gives frames a second to one decimal, by the nominal rate or by the exact one; the lengths give the
    /// same speed but for a frame. The simplest fraction that agrees counts.
    void find_stated_speed(PlacedEvent& placed, std::uint64_t source, std::uint64_t record) {
        const EdlEvent& event = *placed.event;
        const std::int64_t milli = std::abs(*event.milli_fps);
        const bool backwards = *event.milli_fps < 0;
        if (milli == 0) {
            placed.speed = {0, 1};
            return;
        }
        const double fps = static_cast<double>(milli) / 1000;
        const auto nominal = static_cast<double>(nominal_rate(rate_));
        const auto rounded = [](double ratio) {
            const auto steps = static_cast<std::int64_t>(std::llround(ratio * kSpeedSteps));
            return reduced(std::max<std::int64_t>(1, steps), kSpeedSteps);
        };
        std::vector<EditSpeed> candidates = {rounded(fps / nominal), rounded(fps / rate_.per_second())};
        const double by_length = record == 0 ? 0 : static_cast<double>(source) / static_cast<double>(record);
        const double slack =
            0.06 + fps * 0.002 + nominal / static_cast<double>(std::max<std::uint64_t>(1, record));
        const bool agrees = source > 0 && record > 0 && std::abs(by_length * nominal - fps) <= slack;
        if (agrees)
            candidates.push_back(reduced(static_cast<std::int64_t>(source), static_cast<std::int64_t>(record)));
        const auto fits = [&](const EditSpeed& speed) {
            const double shown =
                static_cast<double>(record) * static_cast<double>(speed.num) / static_cast<double>(speed.den);
            return !agrees || std::abs(static_cast<double>(source) - shown) < 1;
        };
        std::erase_if(candidates, [&](const EditSpeed& speed) { return !fits(speed); });
        placed.speed = *std::min_element(candidates.begin(), candidates.end(),
                                         [](const EditSpeed& a, const EditSpeed& b) { return a.den < b.den; });
        if (agrees) placed.speed = within(placed.speed, source, record);
        if (!agrees && record > 0) {
            note("event {}: its M2 line says {} frames a second, its lengths {:.3f}: M2 is taken", event.number,
                 fps, by_length * nominal);
        }
        if (!backwards) return;
        placed.speed.num = -placed.speed.num;
        if (agrees) placed.speed = within(placed.speed, source, record);
        // [in, out) backwards begins at its last frame; written from the later to the earlier, at the first.
        if (placed.source_out > placed.source_in) placed.source_in = placed.source_out - 1;
    }

    EditPiece piece_of(const PlacedEvent& placed) const {
        const auto& source = sources_[placed.event->media];
        const std::int64_t each = source ? source->each : 1;
        EditPiece piece;
        piece.at = placed.in;
        piece.frames = placed.record_frames();
        piece.media = placed.event->media;
        piece.first = placed.source_in * each;
        piece.speed = reduced(placed.speed.num * each, placed.speed.den);
        piece.day = placed.day * each;
        piece.event = fmt::format("event {}", placed.event->number);
        piece.place = fmt::format("{}: line {}", list_.source, placed.event->line);
        return piece;
    }

    void add_piece(PlacedEvent& placed) {
        if (placed.in == placed.out || placed.event->black) return;
        auto& track = tracks_[placed.event->track];
        placed.piece = track.size();
        track.push_back(piece_of(placed));
        if (placed.event->kind != EdlEvent::Kind::key) ends_[{placed.event->track, placed.out}] = *placed.piece;
    }

    /// The outgoing side of a transition goes on for its length.
    void add_outgoing(const PlacedEvent& placed) {
        const EdlEvent& event = *placed.event;
        if (event.kind != EdlEvent::Kind::transition || event.transition_frames == 0) return;
        auto& track = tracks_[event.track];
        const auto before = ends_.find({event.track, placed.in});
        EditPiece* const previous = before == ends_.end() ? nullptr : &track[before->second];
        const PlacedEvent* const stated = event.outgoing ? &placed_[*event.outgoing] : nullptr;
        if (stated != nullptr && stated->event->black) return;
        if (stated != nullptr && stated->in == stated->out) {
            EditPiece tail = piece_of(*stated);
            const bool goes_on = previous != nullptr && previous->media == tail.media &&
                                 !stated->event->milli_fps &&
                                 previous->source_at(previous->frames) == tail.first;
            if (!goes_on) {
                tail.at = placed.in;
                tail.frames = tail.handle_after = event.transition_frames;
                tails_[event.track].push_back(std::move(tail));
                return;
            }
        }
        if (previous == nullptr) return;  // from black
        previous->frames += event.transition_frames;
        previous->handle_after += event.transition_frames;
    }

    Result<EditTimeline> finish() {
        std::vector<std::vector<EditPiece>> tracks;
        for (auto& [number, pieces] : tracks_) {
            auto& track =
                tracks.emplace_back(std::move(tails_[number]));  // before the incoming of the same frame
            track.insert(track.end(), std::make_move_iterator(pieces.begin()),
                         std::make_move_iterator(pieces.end()));
        }
        bool hidden = false;
        timeline_.pieces = topmost(tracks, hidden);
        if (hidden) note("where video tracks lie over each other only the topmost is read");
        for (const auto& [drop, events] : against_fcm_) {
            const auto& [first, count] = events;
            note("event {}{}: source times counted as {}drop frame, as the clip states, not as FCM says", first,
                 count > 1 ? fmt::format(" and {} more", count - 1) : "", drop ? "" : "non-");
        }
        if (dropless_) note("FCM: DROP FRAME means nothing at {} frames a second", rate_.to_string());
        if (const auto third = third_at_once(timeline_.pieces)) {
            return bad_input(fmt::format("{}: {}: more than two pictures at record frame {}", third->place,
                                         third->event, third->at));
        }
        if (timeline_.pieces.empty()) return nothing_shown(list_);
        return std::move(timeline_);
    }

    const EditList& list_;
    const FrameRate rate_;
    const std::span<const std::optional<SourceCounting>> sources_;
    const bool record_drop_;
    std::vector<PlacedEvent> placed_;  // in the order of EditList::edl
    std::map<std::uint32_t, std::vector<EditPiece>> tracks_;
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> ends_;  // track and record end: a piece
    std::map<std::uint32_t, std::vector<EditPiece>> tails_;
    bool dropless_ = false;
    /// By drop frame: the first event that is counted so although FCM does not say it, and how many are.
    std::map<bool, std::pair<std::string, std::uint64_t>> against_fcm_;
    ProblemList problems_{list_.source};
    EditTimeline timeline_;
};

}  // namespace

Result<EditTimeline> lay_out_edl(const EditList& list,
                                 FrameRate rate,
                                 std::span<const std::optional<SourceCounting>> sources) {
    return EdlLayout(list, rate, sources).lay_out();
}

Error nothing_shown(const EditList& list) {
    const EdlEvent& first = list.edl.front();
    const std::string others = list.edl.size() > 1 ? fmt::format(" and {} more", list.edl.size() - 1) : "";
    return bad_input(
        fmt::format("{}: line {}: event {}{}: no event shows a clip: expected one that is not black and whose "
                    "record out is after its record in",
                    list.source, first.line, first.number, others));
}

}  // namespace streamsim::media
