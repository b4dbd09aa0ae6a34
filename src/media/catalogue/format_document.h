// Reads the two kinds of document that describe media: one format ("streamsim.media-format"), and a family with
// a table ("streamsim.media-family"), from which one entry comes for each of its variants and rasters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// "23.976", "25", "12.5"; "10-3" where no decimal of three digits is exact: never with a '/', because the
/// label becomes part of the name of a directory.
std::string rate_label(FrameRate rate);

/// One format at each of its rates, its own rate first. There its name is as typed ("avci100-hd"), at the
/// others the rate is part of it ("avci100-hd@23.976").
struct FormatEntry {
    std::vector<MediaFormat> at_rates;

    const MediaFormat& own() const { return at_rates.front(); }
    /// Null when the format does not have this rate.
    const MediaFormat* at(FrameRate rate) const;
};

struct FormatDocument {
    bool family = false;
    std::string name;
    std::string title;
    std::vector<FormatEntry> entries;  // at least one; a format's own document has one
};

/// Reads a document of either kind, version 1 (formats/schema/ says the same to an editor). `source` names the
/// text in messages. Errors: bad input with every problem, each with its JSON pointer.
Result<FormatDocument> read_format_document(std::string_view text, const std::string& source);

}  // namespace streamsim::media
