// DNxHR (SMPTE ST 2019-1): a header with the place of each row of macroblocks, the rows, stuffing, and a mark
// in the last four bytes. Decoders find the rows by the header and never look at the stuffing.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "media/codec_makers.h"
#include "media/flat_picture.h"
#include "media/payload.h"

namespace streamsim {
namespace {

struct Flavour {
    const char* name;
    int profile;
    AVPixelFormat pixels;
};
constexpr Flavour kFlavours[] = {
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

class DnxhrMaker final : public FrameMaker {
public:
    DnxhrMaker(const Flavour& flavour, std::vector<std::byte> picture)
        : flavour_(flavour), head_(std::move(picture)) {
        std::copy(head_.end() - kEndMark, head_.end(), end_mark_);
        head_.resize(head_.size() - kEndMark);
        while (!head_.empty() && head_.back() == std::byte{0}) head_.pop_back();
        head_.resize(head_.size() + kReadAhead);
    }
    FrameLimits limits(std::uint64_t /*frame*/) const override { return {head_.size() + kEndMark, UINT32_MAX}; }
    void make(std::span<std::byte> into, const FrameToMake& at) const override {
        STREAMSIM_CHECK(into.size() >= head_.size() + kEndMark, "a DNxHR frame has room for its picture");
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
    Flavour flavour_;
    std::vector<std::byte> head_;  // header and rows
    std::byte end_mark_[kEndMark]{};
};

}  // namespace

std::optional<Unmakable> dnxhr_unmakable(const MediaFormat& format) {
    if (flavour_named(kFlavours, format.profile) == nullptr) {
        return Unmakable{"/profile", fmt::format("expected lb, sq, hq, hqx or 444, found {}", format.profile)};
    }
    if (format.width >= kWidthMin && format.height >= kHeightMin) return std::nullopt;
    return Unmakable{"/raster", fmt::format("DNxHR is of {}x{} at least, found {}x{}", kWidthMin, kHeightMin,
                                            format.width, format.height)};
}

MadeMaker make_dnxhr_maker(const MediaFormat& format) {
    const Flavour* const flavour = flavour_named(kFlavours, format.profile);
    STREAMSIM_CHECK(flavour != nullptr, "unmakable formats do not come here");
    auto coded = code_flat(format, {.encoder = "dnxhd",
                                    .pixels = flavour->pixels,
                                    .options = {{"profile", fmt::format("dnxhr_{}", flavour->name)}}});
    if (!coded) return coded.error();
    return std::unique_ptr<FrameMaker>(std::make_unique<DnxhrMaker>(*flavour, std::move(coded->front().bytes)));
}

std::uint64_t dnxhr_bytes_min(const MediaFormat& format) {
    // A flat macroblock has 8 bytes (8 blocks), 10 (of 10 bit) or 16 (12 blocks): measured with libavcodec.
    const auto blocks = [](int pixels) { return (static_cast<std::uint64_t>(pixels) + 15) / 16; };
    return 4096 + blocks(format.width) * blocks(format.height) * (format.profile == "444" ? 20 : 12);
}

}  // namespace streamsim
