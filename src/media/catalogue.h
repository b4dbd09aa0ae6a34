// The media formats that streamsim knows: one JSON document each, read strictly.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "streamsim/media.h"

namespace streamsim {

/// Reads one "streamsim.media-format" document, version 1 (formats/schema/media-format.json says the same to an
/// editor). `source` names the text in messages. Errors: bad input with every problem, each with its JSON
/// pointer.
Result<MediaFormat> read_format(std::string_view text, const std::string& source);

/// What makes two formats the same media: name, raster, rate, layout and frame sizes, without title and
/// sources. Stored beside prepared media, so that two formats of one name are never taken for each other.
Json format_identity(const MediaFormat& format);

/// The documents of one directory. Immutable once loaded; any thread.
class Catalogue {
public:
    /// Reads every *.json in `directory` (a local one, beside the program), in name order. Errors: environment
    /// when the directory cannot be read or holds none; bad input with the problems of all documents, and when
    /// a document's name is not that of its file.
    static Result<Catalogue> load(const std::string& directory);

    /// Null when there is none of this name. Owned by the catalogue.
    const MediaFormat* find(std::string_view name) const;
    /// In name order.
    const std::vector<MediaFormat>& formats() const { return formats_; }

private:
    std::vector<MediaFormat> formats_;
};

}  // namespace streamsim
