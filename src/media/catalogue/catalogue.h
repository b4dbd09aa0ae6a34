// The media formats that streamsim knows: JSON documents, one for a format or one for a family, read strictly.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/json.h"
#include "base/result.h"
#include "media/catalogue/format_document.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// Reads one "streamsim.media-format" document, version 1 (formats/schema/media-format.json says the same to an
/// editor). `source` names the text in messages. Errors: bad input with every problem, each with its JSON
/// pointer.
Result<MediaFormat> read_format(std::string_view text, const std::string& source);

/// The identity of a format: name, raster, rate, layout and frame sizes, without title and sources. prepare
/// stores the identity beside its media, so that two formats of one name are never confused.
Json format_identity(const MediaFormat& format);

/// "sequence", "quicktime", "mp4", "mxf": as documents say it.
const char* container_word(MediaFormat::Container container);

/// The documents of one directory. Immutable once loaded; any thread.
class Catalogue {
public:
    /// Reads every *.json in `directory` (a local one, beside the program). Errors: environment when the
    /// directory cannot be read or holds none; bad input with the problems of all documents, when a document's
    /// name is not that of its file, and when two entries have one name.
    static Result<Catalogue> load(const std::string& directory);

    /// "NAME" or "NAME@RATE" (23.976, 24000/1001, 25). Null when there is none. Owned by the catalogue.
    const MediaFormat* find(std::string_view name) const;
    /// The same, with the reason. Errors: bad input that says which names are like it, or which rates it has.
    Result<MediaFormat> lookup(std::string_view name) const;
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
Result<OpenedFormat> open_format(const Catalogue& catalogue, const std::string& typed);

}  // namespace streamsim::media
