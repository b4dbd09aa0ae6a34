// The project's reader of sample tables against libavformat: where both accept a file they agree.
#include <algorithm>
#include <string>

#include "fuzz/fuzz.h"
#include "fuzz/memory_store.h"
#include "media/container/container_reader.h"
#include "media/container/container_structure.h"
#include "media/container/container_tables.h"

namespace streamsim::fuzz {
namespace {

bool equal(const Extent& a, const Extent& b) {
    return a.offset == b.offset && a.bytes == b.bytes;
}

bool equal_pieces(const media::AudioPiece& a, const media::AudioPiece& b) {
    return equal(a.extent, b.extent) && a.start_ns == b.start_ns && a.length_ns == b.length_ns;
}

template <typename List, typename Equal>
bool all_equal(const List& a, const List& b, Equal equal_each) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal_each);
}

void require_equal(const media::ReadContainer& own, const media::ReadContainer& other) {
    require(own.format == other.format, "both see one format");
    require(own.tracks == other.tracks, "both see the same tracks");
    require(all_equal(own.extents, other.extents, equal), "both see the same frames");
    require(own.sync == other.sync, "both see the same sync frames");
    require(own.timecode == other.timecode && own.timecode_rate == other.timecode_rate,
            "both see one time code");
    require(own.stamps.tick_num == other.stamps.tick_num && own.stamps.tick_den == other.stamps.tick_den,
            "both count in the same ticks");
    require(own.stamps.decode == other.stamps.decode, "both see the same times of decoding");
    require(own.stamps.show == other.stamps.show, "both see the same times of display");
    require(own.stamps.last_ticks == other.stamps.last_ticks, "both see one length of the last frame");
    require(own.stamps.stated_rates == other.stamps.stated_rates, "both see the same rates");
    require(own.stamps.cut == other.stamps.cut, "both see what is cut");
    require(own.audio.size() == other.audio.size(), "both see the same tracks of audio");
    for (std::size_t i = 0; i < own.audio.size(); ++i)
        require(all_equal(own.audio[i], other.audio[i], equal_pieces), "both see the same audio");
}

}  // namespace
}  // namespace streamsim::fuzz

STREAMSIM_FUZZ(mov_tables, streamsim::fuzz::kLibavBytesBase) {
    using namespace streamsim;
    fuzz::MemorySource source(input);
    const auto structure = media::container_structure(source, nullptr);
    if (!structure) return;
    const auto own = media::read_tables(source, *structure, {.audio = true});
    if (!own || !*own) return;
    const auto other = media::read_container(source, "clip.mov", *structure, {.audio = true});
    if (other) fuzz::require_equal(**own, *other);
}
