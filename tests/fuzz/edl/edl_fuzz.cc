// Edit decision lists: read, laid out on a timeline, and compared with a second reader (plain_edl.h).
#include <algorithm>
#include <optional>
#include <vector>

#include "fuzz/edl/plain_edl.h"
#include "fuzz/fuzz.h"
#include "media/cuts/edit_pieces.h"
#include "media/cuts/edit_readers.h"

namespace streamsim::fuzz {
namespace {

bool equal(const PlainTime& plain, const TimecodeLabel& label) {
    return plain.hours == label.hours && plain.minutes == label.minutes && plain.seconds == label.seconds &&
           plain.frames == label.frames && !label.says_drop();
}

void require_equal(const PlainEdl& plain, const media::EditList& list) {
    require(plain.title == list.name, "both readers see one title");
    require(plain.events.size() == list.edl.size(), "both readers see the same events");
    for (std::size_t i = 0; i < list.edl.size(); ++i) {
        const PlainEvent& one = plain.events[i];
        const media::EdlEvent& other = list.edl[i];
        require(one.number == other.number, "both readers see one number of an event");
        require(one.transition.has_value() == (other.kind == media::EdlEvent::Kind::transition) &&
                    one.transition.value_or(0) == other.transition_frames,
                "both readers see one transition");
        require(other.black || list.media[other.media].reel == one.reel, "both readers see one reel");
        require(equal(one.source_in, other.source_in) && equal(one.source_out, other.source_out) &&
                    equal(one.record_in, other.record_in) && equal(one.record_out, other.record_out),
                "both readers see the same time codes");
    }
}

void require_timeline(const media::EditTimeline& timeline, const media::EditList& list) {
    require(timeline.frames > 0 && !timeline.pieces.empty(), "a timeline shows something");
    std::uint64_t last = 0;
    for (const media::EditPiece& piece : timeline.pieces) {
        require(piece.at >= last, "pieces are sorted");
        last = piece.at;
        require(
            piece.frames > 0 && piece.frames <= timeline.frames && piece.at <= timeline.frames - piece.frames,
            "a piece lies inside the timeline");
        require(piece.media < list.media.size(), "a piece shows media of the list");
        require(piece.speed.den > 0, "a speed is a fraction");
        require(piece.handle_before + piece.handle_after <= piece.frames, "handles lie inside their piece");
    }
    require(!media::third_at_once(timeline.pieces), "never more than two pieces at one frame");
}

}  // namespace
}  // namespace streamsim::fuzz

STREAMSIM_FUZZ(edl) {
    using namespace streamsim;
    using fuzz::require;
    const std::string source = "list.edl";
    const auto plain = fuzz::read_plain_edl(fuzz::text_of(input));
    const auto list = media::parse_edl(fuzz::text_of(input), source);
    if (!list) {
        require(!plain || plain->events.empty(), "a plain list is read");
        return fuzz::require_refusal(list.error(), source);
    }
    require(!list->edl.empty(), "a list has events");
    for (const media::EdlEvent& event : list->edl) {
        require(event.black || event.media < list->media.size(), "an event shows media of the list");
        require(event.line > 0, "an event has a line");
    }
    if (plain) fuzz::require_equal(*plain, *list);
    for (const FrameRate rate : {FrameRate{25, 1}, FrameRate{30000, 1001}}) {
        using Sources = std::vector<std::optional<media::SourceCounting>>;
        const Sources same(list->media.size(), media::SourceCounting{rate});
        const Sources other(list->media.size(), media::SourceCounting{{30000, 1001}, 2, true});
        for (const auto& sources : {same, other, Sources(list->media.size())}) {
            const auto timeline = media::lay_out_edl(*list, rate, sources);
            if (timeline) {
                fuzz::require_timeline(*timeline, *list);
            } else {
                fuzz::require_refusal(timeline.error(), source);
            }
            if (!plain || rate != FrameRate{25, 1} || &sources == &other) continue;
            const auto length = fuzz::plain_length(*plain);
            const bool known =
                length && (sources.empty() || (sources.front() && sources.front()->rate == rate));
            if (known)
                require(timeline && timeline->frames == static_cast<std::uint64_t>(*length),
                        "both see one length");
        }
    }
}
