// The properties of image headers, for the targets of single kinds.
#pragma once

#include <string>

#include "fuzz/fuzz.h"
#include "fuzz/memory_store.h"
#include "media/image/image_header.h"

namespace streamsim::fuzz {

/// Reads the input as a file of this kind.
inline void check_image(Input input, media::ImageKind kind, const std::string& file) {
    MemorySource source(input);
    const auto header = media::read_image_header(source, kind, file);
    if (!header) return require_refusal(header.error(), file);
    require(!header->format.empty(), "a header has a description");
    require(header->width <= 1'000'000 && header->height <= 1'000'000, "a raster has the size of rasters");
    require(!header->rate || (header->rate->num > 0 && header->rate->den > 0), "a rate is above 0");
    require(header->expected_bytes <= input.size() || header->expected_bytes <= (std::uint64_t{1} << 30),
            "an image of a GiB that is not there is not believed");
    const bool cut = header->expected_bytes > input.size() ||
                     (header->image_begins > 0 && header->image_begins >= input.size());
    require(!cut || !header->cut.empty(), "a file that ends before its image is cut");
    require(header->cut.empty() || header->cut.starts_with(file), "the message of a cut file names it");
}

}  // namespace streamsim::fuzz
