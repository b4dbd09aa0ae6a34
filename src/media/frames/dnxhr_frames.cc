// DNxHR (SMPTE ST 2019-1): a header with the offset of each row of macroblocks, the rows, stuffing, and a mark
// in the last four bytes. Decoders find the rows by the header and never look at the stuffing. All rows of a
// flat picture are alike: the frame holds one of them, and each offset in the header names it, so that nearly
// all of the frame is stuffing, which does not compress.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/byte_order.h"
#include "base/check.h"
#include "media/frames/codec_makers.h"
#include "media/frames/flat_picture.h"
#include "media/frames/payload.h"

namespace streamsim::media {
namespace {

struct DnxhrFlavour {
    const char* name;
    int profile;
    AVPixelFormat pixels;
};
constexpr DnxhrFlavour kDnxhrFlavours[] = {
    {"lb", FF_PROFILE_DNXHR_LB, AV_PIX_FMT_YUV422P},     {"sq", FF_PROFILE_DNXHR_SQ, AV_PIX_FMT_YUV422P},
    {"hq", FF_PROFILE_DNXHR_HQ, AV_PIX_FMT_YUV422P},     {"hqx", FF_PROFILE_DNXHR_HQX, AV_PIX_FMT_YUV422P10},
    {"444", FF_PROFILE_DNXHR_444, AV_PIX_FMT_YUV444P10},
};
constexpr int kWidthMin = 256;  // ST 2019-1
constexpr int kHeightMin = 120;
constexpr std::size_t kEndMark = 4;
/// A bit reader may look past the last coefficient of the last row: it finds zeroes there, as an encoder has
/// them.
constexpr std::size_t kReadAhead = 64;

/// Offsets of the fields of a frame's header for the number of its rows and for the position of each row, which
/// counts from the end of the header.
constexpr std::size_t kRowCount = 0x16c;
constexpr std::size_t kRowPlaces = 0x170;
/// The header of a picture with more rows grows with them.
constexpr std::size_t kRowsInHeader = 68;
constexpr std::size_t kDnxhrHeaderBytes = 0x280;

/// The header and each different row once, all of a coded picture that a decoder needs. `picture` ends with its
/// last row; trailing zeroes are no part of a row. The picture as it is where it does not have this form.
std::vector<std::byte> with_each_row_once(std::vector<std::byte> picture) {
    constexpr bool kBigEndian = true;
    if (picture.size() < kRowPlaces) return picture;
    const std::size_t rows = load<std::uint16_t>(picture, kRowCount, kBigEndian);
    const std::size_t header = rows > kRowsInHeader ? kRowPlaces + 4 * rows : kDnxhrHeaderBytes;
    if (rows == 0 || picture.size() < header) return picture;
    std::vector<std::byte> out(picture.begin(), picture.begin() + static_cast<std::ptrdiff_t>(header));
    std::map<std::vector<std::byte>, std::uint32_t> offsets;  // positions of the rows that are in `out`
    for (std::size_t i = 0; i < rows; ++i) {
        const auto offset = [&](std::size_t row) {
            return row < rows ? header + load<std::uint32_t>(picture, kRowPlaces + 4 * row, kBigEndian)
                              : picture.size();
        };
        if (offset(i) > offset(i + 1) || offset(i + 1) > picture.size()) return picture;
        const auto coded = std::span(picture).subspan(offset(i), offset(i + 1) - offset(i));
        std::vector<std::byte> row(coded.begin(), coded.end());
        while (!row.empty() && row.back() == std::byte{0}) row.pop_back();
        const auto [known, added] = offsets.try_emplace(row, static_cast<std::uint32_t>(out.size() - header));
        if (added) {
            out.insert(out.end(), row.begin(), row.end());
            out.resize((out.size() + kReadAhead + 3) / 4 * 4);
        }
        store<std::uint32_t>(out, kRowPlaces + 4 * i, kBigEndian, known->second);
    }
    return out;
}

class DnxhrMaker final : public EqualFramesMaker {
public:
    DnxhrMaker(const MediaFormat& format, const DnxhrFlavour& flavour, std::vector<std::byte> picture)
        : EqualFramesMaker(format, {}), flavour_(flavour), head_(std::move(picture)) {
        std::copy(head_.end() - kEndMark, head_.end(), end_mark_);
        head_.resize(head_.size() - kEndMark);
        while (!head_.empty() && head_.back() == std::byte{0}) head_.pop_back();
        head_ = with_each_row_once(std::move(head_));
        head_.resize(head_.size() + kReadAhead);
        limits_.min = head_.size() + kEndMark;
    }
    void make(std::span<std::byte> into, const FrameToMake& at) const override {
        STREAMSIM_CHECK(into.size() >= limits_.min, "a DNxHR frame has room for its picture");
        std::copy(head_.begin(), head_.end(), into.begin());
        fill_mark_free(into.subspan(head_.size(), into.size() - head_.size() - kEndMark), at.key);
        std::copy(std::begin(end_mark_), std::end(end_mark_), into.end() - kEndMark);
    }
    void describe(AVCodecParameters& track) const override {
        track.codec_id = AV_CODEC_ID_DNXHD;
        track.profile = flavour_.profile;
        track.format = flavour_.pixels;
    }

private:
    DnxhrFlavour flavour_;
    std::vector<std::byte> head_;  // header and rows
    std::byte end_mark_[kEndMark]{};
};

std::optional<Unmakable> why_no_dnxhr(const MediaFormat& format) {
    if (flavour_named(kDnxhrFlavours, format.profile) == nullptr)
        return Unmakable{"/profile", fmt::format("expected lb, sq, hq, hqx or 444, found {}", format.profile)};
    if (format.width >= kWidthMin && format.height >= kHeightMin) return std::nullopt;
    return Unmakable{"/raster", fmt::format("DNxHR is of {}x{} at least, found {}x{}", kWidthMin, kHeightMin,
                                            format.width, format.height)};
}

MadeMaker make_dnxhr_maker(const MediaFormat& format, std::uint64_t /*frames*/) {
    const DnxhrFlavour* const found = flavour_named(kDnxhrFlavours, format.profile);
    STREAMSIM_CHECK(found != nullptr, "unmakable formats do not come here");
    const DnxhrFlavour& flavour = *found;
    auto coded = code_flat(format, {.encoder = "dnxhd",
                                    .pixels = flavour.pixels,
                                    .options = {{"profile", fmt::format("dnxhr_{}", flavour.name)}}});
    if (!coded) return coded.error();
    return std::unique_ptr<FrameMaker>(
        std::make_unique<DnxhrMaker>(format, flavour, std::move(coded->front().bytes)));
}

std::uint64_t dnxhr_bytes_min(const MediaFormat& format) {
    // A flat macroblock has 8 bytes (8 blocks), 10 (of 10 bit) or 16 (12 blocks): measured with libavcodec.
    return 4096 + macroblocks(format) * (format.profile == "444" ? 20 : 12);
}

}  // namespace

const Codec kDnxhr{"dnxhr", make_dnxhr_maker, dnxhr_bytes_min, why_no_dnxhr};

}  // namespace streamsim::media
