// Documents of media formats and of families of formats; what a format plans; its identity, written and read.
#include "base/document/json.h"
#include "fuzz/fuzz.h"
#include "media/catalogue/catalogue.h"
#include "media/catalogue/format_document.h"
#include "media/catalogue/frame_sizes.h"
#include "media/clips/planned_index.h"

namespace streamsim::fuzz {
namespace {

constexpr std::uint64_t kFrames = 50;

void check_format(const MediaFormat& format) {
    require(!format.name.empty() && format.width > 0 && format.height > 0, "a format has a name and a raster");
    require(format.rate.num > 0 && format.rate.den > 0, "a rate is above 0");
    require(format.mean_frame_bytes > 0, "frames have bytes");
    const auto sizes = media::plan_frame_bytes(format, kFrames, 1, 0);
    require(sizes.size() == kFrames, "as many frames are planned as are asked for");
    for (const std::uint32_t bytes : sizes) require(bytes > 0, "a planned frame has bytes");
    const auto index = media::planned_index(format, kFrames, 1, 0, "clip");
    require(index->count() == kFrames, "a planned clip has its frames");
    const Json identity = media::format_identity(format);
    const auto again = media::format_of_identity(identity);
    require(again.has_value(), "an identity that was written is read");
    require(media::format_identity(*again) == identity, "an identity is equal when it was written and read");
}

}  // namespace
}  // namespace streamsim::fuzz

STREAMSIM_FUZZ(format_document) {
    using namespace streamsim;
    using fuzz::require;
    const std::string source = "format.json";
    if (const auto json = parse_json(fuzz::text_of(input), source)) {
        if (const auto format = media::format_of_identity(*json)) (void)media::format_identity(*format);
    }
    const auto document = media::read_format_document(fuzz::text_of(input), source);
    if (!document) return fuzz::require_refusal(document.error(), source);
    require(!document->entries.empty(), "a document has formats");
    std::size_t checked = 0;
    for (const media::FormatEntry& entry : document->entries) {
        require(!entry.at_rates.empty(), "a format has a rate");
        for (const MediaFormat& format : entry.at_rates) {
            if (++checked <= 8) fuzz::check_format(format);  // a family may have hundreds
        }
    }
}
