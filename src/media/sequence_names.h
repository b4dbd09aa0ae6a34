// Which files of a directory listing are frames of which sequence. Inside media/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "media/sequence_index.h"

namespace streamsim {

struct FoundSequence {
    FramePattern pattern;
    std::vector<std::uint64_t> numbers;  // those that are there: rising, at least one
};

/// Groups names into sequences: names that differ in one run of digits only, the frame number. Where several
/// runs differ (versions, cameras, shots), the one with the most values counts the frames and each value of the
/// others is a sequence of its own. Names without digits are in none. In the order of their patterns.
std::vector<FoundSequence> group_sequences(const std::vector<std::string>& names);

/// The number of a name in the pattern; nothing when it does not belong to it.
std::optional<std::uint64_t> number_in(const FramePattern& pattern, std::string_view name);

/// Reads "shot.%07d.dpx", "shot.%d.dpx" or "shot.####.dpx"; nothing when it is none of these.
std::optional<FramePattern> parse_pattern(std::string_view name);

/// The extension in lower case, without the dot.
std::string extension_of(std::string_view name);

/// The last component of a path, without trailing slashes.
std::string base_name(std::string_view path);

}  // namespace streamsim
