// OpenTimelineIO documents.
#include "fuzz/fuzz.h"
#include "media/cuts/edit_pieces.h"
#include "media/cuts/edit_readers.h"

STREAMSIM_FUZZ(otio) {
    using namespace streamsim;
    using fuzz::require;
    const std::string source = "list.otio";
    const auto list = media::parse_otio(fuzz::text_of(input), source);
    if (!list) return fuzz::require_refusal(list.error(), source);
    require(list->frames > 0 && list->rate && list->rate->num > 0 && list->rate->den > 0,
            "a timeline has a length");
    std::uint64_t last = 0;
    for (const media::EditPiece& piece : list->pieces) {
        require(piece.at >= last, "pieces are sorted");
        last = piece.at;
        require(piece.frames > 0 && piece.frames <= list->frames && piece.at <= list->frames - piece.frames,
                "a piece lies inside the timeline");
        require(piece.media < list->media.size(), "a piece shows media of the list");
        require(piece.speed.den > 0, "a speed is a fraction");
        (void)piece.source_at(piece.frames - 1);
    }
    require(!media::third_at_once(list->pieces), "never more than two pieces at one frame");
}
