// Names and documents of a media set (media_set.h shows the tree). Inside media/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/json.h"
#include "base/result.h"
#include "media/own_files/own_names.h"
#include "streamsim/byte_store.h"
#include "streamsim/media.h"

namespace streamsim::media {

inline constexpr const char* kMarkerName = "streamsim-media.json";
inline constexpr const char* kFormatName = "format.json";

/// Frames of a clip that prepare makes: four days at 24 fps. A name with a larger number is not ours.
inline constexpr std::uint64_t kClipFramesMax = 10'000'000;

/// True when the directory exists. Errors: environment, also for anything else of this name.
Result<bool> directory_exists(ByteStore& store, const std::string& directory);
/// The names in a directory; none when it does not exist.
Result<std::set<std::string>> names_in(ByteStore& store, const std::string& directory);

/// "240-frames", and back; nothing for more than kClipFramesMax.
std::string length_name(std::uint64_t frames);
std::optional<std::uint64_t> length_in(std::string_view name);

/// "clip-0001", "clip-0001.mov" (or .mp4, .mxf), each with the run's partial_suffix() while it is being
/// written; and back.
struct ClipName {
    std::uint32_t number = 1;
    MediaFormat::Container container = MediaFormat::Container::sequence;
    bool partial = false;
    std::string ending = std::string(kPartial);  // partial clips only: their partial_suffix()

    bool is_file() const { return container != MediaFormat::Container::sequence; }
    std::string text() const;
};
std::optional<ClipName> clip_name_in(std::string_view name);

/// The id of the media set at `root`; nothing when there is none: no such directory, or one that holds nothing
/// but an unfinished marker. Errors: bad input when the directory is someone else's or its marker is damaged.
Result<std::optional<std::uint64_t>> read_marker(ByteStore& store, const std::string& root);

/// The same; writes the marker where there is none. Errors: as read_marker; environment.
Result<std::uint64_t> ensure_marker(ByteStore& store, const std::string& root);

/// The directory that holds media of exactly this format, and whether it is there yet; else the one to make:
/// the format's name, with "-2", "-3" ... after it where another format has taken the name.
struct FormatDirectory {
    std::string path;
    bool there = false;
};
Result<FormatDirectory> find_format(ByteStore& store, const std::string& root, const MediaFormat& format);

/// REQUIRES: the directory exists.
Result<void> write_format(ByteStore& store, const std::string& directory, const MediaFormat& format);
/// The identity (catalogue.h) that the directory of a format says; nothing where its document is not ours.
/// Errors: environment from the store.
Result<std::optional<Json>> read_identity(ByteStore& store, const std::string& directory);

struct StoredClip {
    std::uint64_t frames = 0;
    ClipName name;
    std::string path;
};

/// The clips in the directory of a format: by length, then number, complete before partial. With `frames` only
/// those of that length. Empty when the directory is not there.
Result<std::vector<StoredClip>> stored_clips(ByteStore& store,
                                             const std::string& directory,
                                             const MediaFormat& format,
                                             std::optional<std::uint64_t> frames);

}  // namespace streamsim::media
