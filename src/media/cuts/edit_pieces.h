// Pieces of media on a record timeline: cutting them, and stacking tracks. Inside media/ only.
#pragma once

#include <optional>
#include <vector>

#include "media/cuts/edit_list.h"

namespace streamsim::media {

/// Appends the record frames [from, to) of a piece, in as many pieces as it takes to be exact: a fraction of a
/// speed may begin between two frames. REQUIRES: piece.at <= from <= to <= piece.at + piece.frames.
void append_part(const EditPiece& piece, std::uint64_t from, std::uint64_t to, std::vector<EditPiece>& out);

/// The visible pieces of stacked tracks, the lowest first; the picture of the topmost piece is opaque. Sets
/// `hidden` when a piece or a part of it is covered. Sorted by `at`, in the order of a track where that is
/// equal.
std::vector<EditPiece> topmost(const std::vector<std::vector<EditPiece>>& tracks, bool& hidden);

/// The first piece, of pieces sorted by `at`, at which three are on at once.
std::optional<EditPiece> third_at_once(const std::vector<EditPiece>& pieces);

/// Source frames for a record frame, as a fraction; den > 0.
struct EditSpeed {
    std::int64_t num = 1;
    std::int64_t den = 1;
};
EditSpeed reduced(std::int64_t num, std::int64_t den);

inline constexpr double kFractionMax = 1e6;

/// The fraction that a decimal number stands for: the simplest one that it cannot be told from, 1/3 for
/// 0.3333333333; where there is none with a small denominator the number in millionths.
/// REQUIRES: |value| <= kFractionMax.
EditSpeed fraction_of(double value);

/// A speed such that floor(i * speed), i in [0, record), stays in the `source` frames: `speed` where it does,
/// else the one that goes from the first to the last. REQUIRES: source > 0, record > 0.
EditSpeed within(EditSpeed speed, std::uint64_t source, std::uint64_t record);

}  // namespace streamsim::media
