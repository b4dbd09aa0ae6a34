// The header of a DPX file, by itself and as the header of a file of that length.
#include "fuzz/fuzz.h"
#include "fuzz/memory_store.h"
#include "media/image/dpx.h"

STREAMSIM_FUZZ(dpx_header) {
    using namespace streamsim;
    using fuzz::require;
    const std::string file = "frame.0001.dpx";
    const auto header = media::parse_dpx_header(input, file);
    if (!header) {
        fuzz::require_refusal(header.error(), file);
    } else {
        require(header->width > 0 && header->height > 0, "a DPX image has pixels");
        require(!header->rate || (header->rate->num > 0 && header->rate->den > 0), "a rate is above 0");
        require(!header->describe().empty(), "a header has a description");
        if (!header->run_length) {
            require(header->expected_bytes >= header->image_begins, "an image does not begin behind its end");
            require(header->expected_bytes > 0, "an image that is not compressed has a length");
        }
    }
    fuzz::MemorySource source(input);
    const auto whole = media::read_image_header(source, media::ImageKind::dpx, file);
    if (!whole) return fuzz::require_refusal(whole.error(), file);
    require(header.has_value(), "the header of a file is a header");
    require(whole->width == header->width && whole->height == header->height, "both give one raster");
    require(whole->image_begins < (std::uint64_t{1} << 40), "an image begins where files are");
    const bool cut = whole->image_begins >= input.size() || whole->expected_bytes > input.size();
    require(cut == !whole->cut.empty(), "a file that ends before its image is cut");
}
