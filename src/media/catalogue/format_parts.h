// The parts that a format document and a family document have in common. Inside media/ only.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/document/json.h"
#include "media/catalogue/format_document.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// Mean frame size: the same at all rates, or by a bit rate, or listed by rate.
struct MeanBytes {
    std::optional<double> bytes;
    std::optional<double> bits_per_s;
    std::vector<std::pair<FrameRate, double>> by_rate;

    bool stated() const { return bytes || bits_per_s || !by_rate.empty(); }
    /// Empty when this rate is not listed.
    std::optional<double> at(FrameRate rate) const;
};

/// Each reader notes every problem of its member in the object's JsonProblems, and leaves what it cannot read
/// as it was.

/// "name", which may become a directory; empty when it is missing or wrong.
std::optional<std::string> read_format_name(JsonObject& object);

/// "container" and "codec", which must fit together. Empty when the codec is unknown.
std::optional<std::string> read_codec(JsonObject& object, MediaFormat& format);

/// "profile": required, and one of a list, where the codec has such a list.
void read_profile(JsonObject& object, MediaFormat& format);

/// "rates": a list without repetitions, the format's own rate first.
std::vector<FrameRate> read_rates(JsonObject& object, JsonProblems& problems, bool required);
void read_dpx_layout(JsonObject& object, JsonProblems& problems, MediaFormat& format);

/// The members of a frame-size model but for its mean. A table has its mean in itself.
void read_size_model(JsonObject& sizes, JsonProblems& problems, FrameSizeModel& model);

/// "mean_bytes", "mean_bits_per_s" or "mean_bytes_at", exactly one of them. Gives the key that was there.
std::string read_mean(JsonObject& sizes, JsonProblems& problems, MeanBytes& mean);

/// A list of {"rates", "bytes"}: the value of "mean_bytes_at" and of a cell in a family's table.
void read_bytes_by_rate(const Json& list, const std::string& pointer, JsonProblems& problems, MeanBytes& mean);
void read_sources(JsonObject& object, JsonProblems& problems, bool required, std::vector<std::string>& sources);

/// Sets the sizes of a format whose raster, layout, model and rate are known. Returns the problem with them,
/// worded to follow "RATE fps: " or to stand alone.
std::optional<std::string> set_sizes(MediaFormat& format, const MeanBytes& mean);

}  // namespace streamsim::media
