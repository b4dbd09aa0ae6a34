// Pieces of media on a record timeline: laid out from an EDL, cut, stacked in tracks. Inside media/ only.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "media/cuts/edit_list.h"

namespace streamsim::media {

/// The visible pieces of stacked tracks, the lowest first; the picture of the topmost piece is opaque. Sets
/// `hidden` when a piece or a part of it is covered. Sorted by `at`, in the order of a track where that is
/// equal.
std::vector<EditPiece> topmost(const std::vector<std::vector<EditPiece>>& tracks, bool& hidden);

/// The pieces of a composition that is shown at a speed: record frame i is frame shown.source_at(i) of the
/// content, i in [0, shown.frames). Sorted by `at`; record frames outside of the content show nothing.
std::vector<EditPiece> at_speed(const std::vector<EditPiece>& content, const EditPiece& shown);

/// The first piece, of pieces sorted by `at`, at which three are on at once.
std::optional<EditPiece> third_at_once(const std::vector<EditPiece>& pieces);

/// Source frames in 24 hours of time code. `drop` counts at rates that have drop-frame time code.
std::int64_t frames_of_day(FrameRate rate, bool drop);

EditSpeed reduced(std::int64_t num, std::int64_t den);

/// Empty: the product has terms too large to count with.
std::optional<EditSpeed> product(EditSpeed a, EditSpeed b);

/// Frames at `to` for each one at `from`; 24 and 24000/1001 are one frame for another.
EditSpeed rate_ratio(FrameRate from, FrameRate to);

inline constexpr double kFractionMax = 1e6;

/// The fraction that a decimal number stands for: the simplest one that it cannot be told from, 1/3 for
/// 0.3333333333; where there is none with a small denominator the number in millionths.
/// REQUIRES: |value| <= kFractionMax.
EditSpeed fraction_of(double value);

/// A speed such that floor(i * speed), i in [0, record), stays in the `source` frames: `speed` where it does,
/// else the one that goes from the first to the last. REQUIRES: source > 0, record > 0.
EditSpeed within(EditSpeed speed, std::uint64_t source, std::uint64_t record);

struct EditTimeline {
    std::vector<EditPiece> pieces;  // as played: sorted by `at`, never more than two at one frame
    std::uint64_t frames = 0;
    std::vector<std::string> notes;
};

/// How the time codes of a source count.
struct SourceCounting {
    FrameRate rate;                 // of their labels
    std::int64_t each = 1;          // frames of the clip for each label
    std::optional<bool> drop = {};  // by the clip; empty: the list says
};

/// From the lines of an EDL to pieces, once the rates are known (edl_timeline.cc). `sources` are those of
/// EditList::media; of an absent one nothing is checked. Pieces count the frames of their clips. The first
/// frame of the timeline is the earliest record-in. Errors: bad input with every line whose time codes do not
/// exist at the rate, run backwards, do not fit each other or lie over another event.
Result<EditTimeline> lay_out_edl(const EditList& list,
                                 FrameRate rate,
                                 std::span<const std::optional<SourceCounting>> sources);

/// Bad input: of all events of an EDL none has a picture and a length.
Error nothing_shown(const EditList& list);

}  // namespace streamsim::media
