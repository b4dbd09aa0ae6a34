// The frame index of an image sequence: a name pattern, a range of numbers, and one length or a list of them.
// Inside media/ only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "streamsim/media.h"

namespace streamsim::media {

/// File names of a sequence: prefix, number, suffix. The number has at least `digits` digits, filled up with
/// zeros; 0 digits: there is no number in the name, and one file only.
struct FramePattern {
    std::string prefix;
    int digits = 1;
    std::string suffix;

    std::string name(std::uint64_t number) const;
    /// "shot.%07d.dpx", which a user can type as a path.
    std::string show() const;
};

/// "frame.0000001.dpx": one run of digits, and seven of them. The first frame has the number 1.
FramePattern prepared_pattern(std::string_view extension = "dpx");
inline constexpr std::uint64_t kFirstFrameNumber = 1;

/// Frames next to each other whose files were in the listing.
struct FrameRun {
    std::uint64_t first = 0;   // frame, not number
    std::uint64_t count = 0;   // at least 1
    std::uint64_t before = 0;  // frames in the runs before this one
};

struct SequenceFacts {
    std::string directory;
    FramePattern pattern;
    std::uint64_t first = 1;
    std::uint64_t count = 1;
    /// Size of every frame; with frame_sizes, the size of the frames that were not listed.
    std::uint64_t frame_bytes = 0;
    FrameRate rate;
    std::vector<FrameRun> listed;            // rising; empty: all of them
    std::vector<std::uint64_t> frame_sizes;  // sizes of the listed frames, in order; empty: frame_bytes
    /// For each listed frame, in order: true when its name ends in `other_suffix`; empty: no name does.
    std::vector<bool> other_case;
    std::string other_suffix;  // as long as the pattern's suffix
    /// File names of the listed frames, in order; empty: by the pattern.
    std::vector<std::string> names;
    /// Files whose sizes were compared, where these stand for all; 0: each has been.
    std::uint64_t looked_at = 0;
};

/// REQUIRES: count > 0, and the lists that are not empty have an entry for each listed frame.
std::shared_ptr<const FrameIndex> make_sequence_index(SequenceFacts facts);

/// The facts that a sequence index was made from; null for an index of another kind. Valid as long as the
/// index.
const SequenceFacts* sequence_facts(const FrameIndex& index);

struct FrameGaps {
    std::uint64_t missing = 0;
    std::string text;  // "7 frame numbers are missing: 3, 4, 6 to 10"; empty when none is
};
FrameGaps gaps_of(const SequenceFacts& facts);

/// The runs of `numbers` (rising) in a clip whose frame 0 has the number `first`. REQUIRES: first <= numbers.
std::vector<FrameRun> runs_of(std::span<const std::uint64_t> numbers, std::uint64_t first);

}  // namespace streamsim::media
