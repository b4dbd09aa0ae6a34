// The frame index of an image sequence: a name pattern, a range of numbers and one length. Inside media/ only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "streamsim/media.h"

namespace streamsim {

/// File names of a sequence: prefix, number, suffix. The number has at least `digits` digits, filled up with
/// zeros.
struct FramePattern {
    std::string prefix;
    int digits = 1;
    std::string suffix;

    std::string name(std::uint64_t number) const;
    /// "shot.%07d.dpx": what a user can type again.
    std::string show() const;
};

/// "frame.0000001.dpx": one run of digits, and seven of them. The first frame has the number 1.
FramePattern prepared_pattern(const std::string& suffix = ".dpx");
inline constexpr std::uint64_t kFirstFrameNumber = 1;

struct SequenceFacts {
    std::string directory;
    FramePattern pattern;
    std::uint64_t first = 1;
    std::uint64_t count = 1;
    std::uint64_t frame_bytes = 0;
    FrameRate rate;
    std::vector<std::uint64_t> frame_sizes;  // of each frame; empty: all alike, frame_bytes
};

/// REQUIRES: count > 0, frame_sizes of that many or none.
std::shared_ptr<const FrameIndex> make_sequence_index(SequenceFacts facts);

/// `directory`/`name`, without a second slash.
std::string join_path(const std::string& directory, const std::string& name);

}  // namespace streamsim
