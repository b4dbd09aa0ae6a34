// Which files of a directory listing are frames of which sequence. Inside media/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "media/sequence/sequence_index.h"

namespace streamsim::media {

struct FoundSequence {
    FramePattern pattern;
    std::vector<std::uint64_t> numbers;  // those that are there: rising, at least one
    /// Empty: every name ends as the pattern does. Else one for each number: whether its name ends in
    /// `other_suffix` instead, the same letters in another case.
    std::vector<bool> other_case;
    std::string other_suffix;
    /// Of each number, where more than the number changes from name to name; the pattern is of the first then.
    /// Empty: the pattern gives them.
    std::vector<std::string> names;
    /// Which run of digits is the frame number, and why; empty where there is only one.
    std::string choice;

    /// The file name of numbers[i].
    std::string name(std::size_t i) const;
};

/// Groups names into sequences: names that differ in one run of digits only, the frame number, and in the case
/// of their extension. Where several runs differ (versions, cameras, shots), one of them counts the frames and
/// each value of the others is a sequence of its own: the one with the most values, where a run that hangs on a
/// letter
/// ("sc10") needs sixteen times as many as one that stands alone, and a version ("v003") sixteen times more
/// again; of equals the last. Where they all have another value in each name, so that no choice of one leaves
/// two files together, all are one sequence. Names without digits are in none. In the order of their patterns.
/// `names` has to outlive the call only.
std::vector<FoundSequence> group_sequences(std::span<const std::string_view> names);

/// The number of a name in the pattern; nothing when it does not belong to it.
std::optional<std::uint64_t> number_in(const FramePattern& pattern, std::string_view name);

/// Where in its numbers the frame with this name is; nothing when the sequence does not have it.
std::optional<std::size_t> place_in(const FoundSequence& sequence, std::string_view name);

/// Reads "shot.%07d.dpx", "shot.%d.dpx", "shot.%07i.dpx", "shot.$F4.dpx", "shot.####.dpx" or "shot.@@@@.dpx": a
/// # or an @ for each digit, and %4d means %04d, for nobody names files with blanks. Where there are marks of
/// several kinds, the first kind of these counts and the others are letters of the name. Nothing when it is
/// none of these, or has two marks of its kind.
std::optional<FramePattern> parse_pattern(std::string_view name);

/// The extension in lower case, without the dot.
std::string extension_of(std::string_view name);

/// The last component of a path, without trailing slashes.
std::string base_name(std::string_view path);

}  // namespace streamsim::media
