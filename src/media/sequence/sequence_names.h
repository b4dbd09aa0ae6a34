// Groups the files of a directory listing into sequences. Inside media/ only.
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
    std::vector<std::uint64_t> numbers;  // the numbers that exist: rising, at least one
    /// Empty: every name ends as the pattern does. Else one for each number: whether its name ends in
    /// `other_suffix` instead, the same letters in another case.
    std::vector<bool> other_case;
    std::string other_suffix;
    /// File name of each number, for sequences in which more than the number changes; `pattern` is that of the
    /// first name then. Empty: names by the pattern.
    std::vector<std::string> names;
    /// Explains which run of digits is the frame number; empty when there is only one run.
    std::string choice;

    std::string name(std::size_t i) const;
};

/// Groups names into sequences: names that differ in one run of digits only, the frame number, and in the case
/// of their extension. When several runs differ (versions, cameras, shots), the run with the most values counts
/// the frames, and each combination of the other runs is a sequence of its own. A run that follows a letter
/// ("sc10") needs sixteen times as many values as one that stands alone, and a version ("v003") sixteen times
/// more again; of equals the last run wins. When every run has another value in each name, all names are one
/// sequence. Names without digits are in none. In the order of their patterns. `names` has to outlive the call
/// only.
std::vector<FoundSequence> group_sequences(std::span<const std::string_view> names);

/// The number of a name in the pattern; empty when the name does not match.
std::optional<std::uint64_t> number_in(const FramePattern& pattern, std::string_view name);

/// Index in `numbers` of the frame with this name; empty when the sequence does not have it.
std::optional<std::size_t> index_of_name(const FoundSequence& sequence, std::string_view name);

/// Reads "shot.%07d.dpx", "shot.%d.dpx", "shot.%07i.dpx", "shot.$F4.dpx", "shot.####.dpx" or "shot.@@@@.dpx": a
/// # or an @ for each digit, and %4d means %04d, because nobody names files with blanks. In a name with marks
/// of several kinds the first kind counts, and the others are letters of the name. Empty for a name without a
/// mark, or with two marks of one kind.
std::optional<FramePattern> parse_pattern(std::string_view name);

}  // namespace streamsim::media
