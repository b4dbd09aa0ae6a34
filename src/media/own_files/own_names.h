// Names of the files and directories that streamsim itself makes beside media.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace streamsim::media {

inline constexpr const char* kMediaDirectory = "streamsim-media";
inline constexpr std::string_view kPartial = ".partial";
/// Directories of a media set that lie beside those of its formats.
inline constexpr const char* kRecordings = "recordings";
inline constexpr const char* kLoadDirectory = "load";

std::string media_root(const std::string& target);

/// An id as documents and names hold it: "0123456789abcdef"; and back, nothing where the text is no such id.
std::string id_text(std::uint64_t id);
std::optional<std::uint64_t> parse_id(std::string_view text);
/// True for an id exactly as id_text() prints it.
bool is_id(std::string_view text);

/// ".0123456789abcdef.partial": the ending of unfinished files and directories of one run, so that no two runs
/// ever share a name.
std::string partial_suffix(std::uint64_t run);
/// Removes a '.', an id and `ending` from the end of a name; false when the name does not end so.
bool take_id_and(std::string_view ending, std::string_view& name);
/// Removes such an ending, or the ".partial" of version 0.1.0; false when the name has neither.
bool take_partial(std::string_view& name);

}  // namespace streamsim::media
