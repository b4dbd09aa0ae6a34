// The media formats that streamsim knows: JSON documents, one for a format or one for a family, read strictly.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/json.h"
#include "base/result.h"
#include "media/catalogue/format_document.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// The identity of a format: name, raster, rate, layout and frame sizes, without title and sources. prepare
/// stores the identity beside its media, so that two formats of one name are never confused.
Json format_identity(const MediaFormat& format);
/// The format as far as its identity describes it; nothing when the document is no identity.
std::optional<MediaFormat> format_of_identity(const Json& identity);

/// "sequence", "quicktime", "mp4", "mxf": as documents say it; and back, nothing for any other word.
const char* container_word(MediaFormat::Container container);
std::optional<MediaFormat::Container> container_of(std::string_view word);

/// The documents of one directory. Immutable once loaded; any thread.
class Catalogue {
public:
    /// Reads every *.json in `directory` (a local one, beside the program). Errors: environment when the
    /// directory cannot be read or holds none; bad input with the problems of all documents, when a document's
    /// name is not that of its file, and when two entries have one name.
    static Result<Catalogue> load(const std::string& directory);

    /// "NAME" or "NAME@RATE" (23.976, 24000/1001, 25). Null when there is none. Owned by the catalogue.
    const MediaFormat* find(std::string_view name) const;
    /// A format at all its rates, by its name without a rate. Null when there is none.
    const FormatEntry* entry(std::string_view name) const;
    /// Each at its own rate: the formats of a document of their own, then the families', both in name order;
    /// inside a family in the order of its table.
    const std::vector<MediaFormat>& formats() const { return formats_; }
    /// In the same order.
    const std::vector<FormatDocument>& documents() const { return documents_; }

    /// "; like it: dpx10-packed-hd, ..." for a name that is not there; empty when nothing is.
    std::string like(std::string_view name) const;

private:
    std::vector<FormatDocument> documents_;
    std::vector<MediaFormat> formats_;
};

/// A format as it was asked for, and the same at each of its rates.
struct OpenedFormat {
    MediaFormat format;
    std::vector<MediaFormat> at_rates;  // its own rate first
};

/// Opens a format by the text that a user types: a NAME of the catalogue, a FILE that holds a format, FILE#NAME
/// for an entry of a family's file; each with @RATE behind it. A name of the catalogue comes before a file.
/// Errors: bad input that lists the alternatives.
Result<OpenedFormat> open_format(const Catalogue& catalogue, const std::string& typed, bool may_be_file = true);

}  // namespace streamsim::media
