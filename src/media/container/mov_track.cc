#include "media/container/mov_track.h"

#include <utility>

namespace streamsim::media {
namespace {

constexpr std::int64_t kFarthest = std::int64_t{1} << 40;  // ticks

bool read_header(Bytes mdhd, MovTrack& track) {
    if (mdhd.size() < 24) return false;
    const unsigned version = u8(mdhd, 0);
    if (version > 1 || (version == 1 && mdhd.size() < 36)) return false;
    track.ticks_per_second = u32(mdhd, version == 1 ? 20 : 12);
    const std::uint64_t length = version == 1 ? u64(mdhd, 24) : u32(mdhd, 16);
    track.length = static_cast<std::int64_t>(length);
    const bool unknown = version == 0 && length == UINT32_MAX;
    return track.ticks_per_second >= 1 && track.ticks_per_second <= INT32_MAX && length < kFarthest && !unknown;
}

bool read_edits(Bytes edts, MovTrack& track) {
    const auto boxes = BoxSet::read(edts, {box_type("elst")});
    const auto elst = boxes ? boxes->find(box_type("elst")) : std::nullopt;
    if (!elst || elst->size() < 8) return false;
    const unsigned version = u8(*elst, 0);
    const std::size_t each = version == 1 ? 20 : 12;
    const Bytes entries = elst->subspan(8);
    if (version > 1 || entries.empty() || entries.size() != std::uint64_t{u32(*elst, 4)} * each) return false;
    for (std::size_t at = 0; at < entries.size(); at += each) {
        MovEdit edit;
        edit.length = version == 1 ? static_cast<std::int64_t>(u64(entries, at)) : u32(entries, at);
        edit.begin = version == 1 ? static_cast<std::int64_t>(u64(entries, at + 8))
                                  : static_cast<std::int32_t>(u32(entries, at + 4));
        const bool at_speed = u32(entries, at + each - 4) == 0x10000;
        if (edit.length < 1 || edit.length > INT32_MAX || edit.begin < -1 || edit.begin > kFarthest ||
            !at_speed)
            return false;
        track.edits.push_back(edit);
    }
    return true;
}

std::optional<SampleEntry::Kind> kind_of(Bytes hdlr) {
    if (hdlr.size() < 20) return std::nullopt;
    switch (u32(hdlr, 8)) {
        case box_type("vide"): return SampleEntry::Kind::video;
        case box_type("soun"): return SampleEntry::Kind::audio;
        case box_type("tmcd"): return SampleEntry::Kind::timecode;
        default: return std::nullopt;
    }
}

/// One reference to data, which is this file.
bool is_in_this_file(Bytes dinf) {
    const auto boxes = BoxSet::read(dinf, {box_type("dref")});
    const auto dref = boxes ? boxes->find(box_type("dref")) : std::nullopt;
    if (!dref || dref->size() < 8 || u32(*dref, 4) != 1) return false;
    const auto references = boxes_in(dref->subspan(8));
    if (!references || references->size() != 1) return false;
    const auto& [type, body] = references->front();
    return (type == box_type("url ") || type == box_type("alis")) && body.size() == 4 && u32(body, 0) == 1;
}

bool read_media(Bytes mdia, MovTrack& track) {
    const auto boxes = BoxSet::read(mdia, {box_type("mdhd"), box_type("hdlr"), box_type("minf")});
    if (!boxes || boxes->first() != box_type("mdhd")) return false;
    const auto handler = boxes->find(box_type("hdlr"));
    const auto minf = boxes->find(box_type("minf"));
    const auto kind = handler ? kind_of(*handler) : std::nullopt;
    // libavformat wants to know the kind before it reads the tables.
    if (!kind || !minf || handler->data() > minf->data()) return false;
    if (!read_header(*boxes->find(box_type("mdhd")), track)) return false;
    const auto inner =
        BoxSet::read(*minf, {box_type("vmhd"), box_type("smhd"), box_type("gmhd"), box_type("nmhd"),
                             box_type("hdlr"), box_type("dinf"), box_type("stbl")});
    if (!inner) return false;
    const auto data_handler = inner->find(box_type("hdlr"));
    if (data_handler && (data_handler->size() < 20 || kind_of(*data_handler))) return false;
    const auto general = inner->find(box_type("gmhd"));
    if (general && !BoxSet::read(*general, {box_type("gmin"), box_type("tmcd"), box_type("text")}))
        return false;
    const auto dinf = inner->find(box_type("dinf"));
    const auto stbl = inner->find(box_type("stbl"));
    if (!dinf || !stbl || !is_in_this_file(*dinf)) return false;
    auto table = SampleTable::read(*stbl);
    if (!table) return false;
    track.table = std::move(*table);
    auto entry = read_sample_entry(*kind, track.table.description());
    if (!entry) return false;
    track.entry = std::move(*entry);
    return true;
}

/// References to other tracks: only the one to the time code, which changes nothing about frames.
bool are_plain_references(Bytes tref) {
    const auto boxes = BoxSet::read(tref, {box_type("tmcd")});
    return boxes && boxes->find(box_type("tmcd")).value_or(Bytes()).size() == 4;
}

}  // namespace

std::optional<MovTrack> read_mov_track(Bytes trak) {
    const auto boxes = BoxSet::read(
        trak, {box_type("tkhd"), box_type("edts"), box_type("tref"), box_type("tapt"), box_type("mdia")});
    if (!boxes || boxes->first() != box_type("tkhd") || boxes->find(box_type("tkhd"))->size() < 84)
        return std::nullopt;
    const auto mdia = boxes->find(box_type("mdia"));
    const auto edts = boxes->find(box_type("edts"));
    const auto tref = boxes->find(box_type("tref"));
    MovTrack track;
    if (!mdia || !read_media(*mdia, track)) return std::nullopt;
    if (edts && !read_edits(*edts, track)) return std::nullopt;
    if (tref && !are_plain_references(*tref)) return std::nullopt;
    return track;
}

}  // namespace streamsim::media
