#include "media/frames/flat_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "media/libav/av.h"
#include "media/libav/libav.h"

namespace streamsim::media {
namespace {

/// Half of the range in every component.
void fill_grey(AVFrame& frame, const AVPixFmtDescriptor& pixels) {
    for (int plane = 0; plane < AV_NUM_DATA_POINTERS && frame.buf[plane] != nullptr; ++plane) {
        const AVBufferRef& buffer = *frame.buf[plane];
        const AVComponentDescriptor& component = pixels.comp[0];
        if (component.depth <= 8) {
            std::fill_n(buffer.data, buffer.size, std::uint8_t{0x80});
            continue;
        }
        const unsigned grey = 1U << (component.depth - 1 + component.shift);
        for (std::size_t i = 0; i + 1 < buffer.size;
             i += 2) {  // each format that is used here is little-endian
            buffer.data[i] = static_cast<std::uint8_t>(grey & 0xff);
            buffer.data[i + 1] = static_cast<std::uint8_t>(grey >> 8);
        }
    }
}

class Encoder {
public:
    Encoder(const MediaFormat& format, const FlatPictures& wanted)
        : format_(format),
          wanted_(wanted),
          packet_(libav().av_packet_alloc()),
          frame_(libav().av_frame_alloc()) {}

    Result<std::vector<CodedPicture>> run() {
        if (auto opened = open(); !opened) return opened.error();
        for (std::size_t i = 0; i < wanted_.types.size(); ++i) {
            frame_->pts = static_cast<std::int64_t>(i);
            frame_->pict_type = type_of(wanted_.types[i]);
            if (const int error = libav().avcodec_send_frame(context_.get(), frame_.get()); error < 0)
                return failed(error);
            if (auto taken = take(); !taken) return taken.error();
        }
        if (const int error = libav().avcodec_send_frame(context_.get(), nullptr); error < 0)
            return failed(error);
        if (auto taken = take(); !taken) return taken.error();
        if (coded_.size() != wanted_.types.size()) return failed(AVERROR_BUG);
        return std::move(coded_);
    }

private:
    static AVPictureType type_of(char letter) {
        return letter == 'I' ? AV_PICTURE_TYPE_I : letter == 'P' ? AV_PICTURE_TYPE_P : AV_PICTURE_TYPE_B;
    }

    Error failed(int error) const {
        return environment_error(fmt::format("{}: the encoder {} makes no picture of {}x{}: {}", format_.name,
                                             wanted_.encoder, format_.width, format_.height, av_text(error)));
    }

    Result<void> open() {
        begin_av();
        const AVCodec* const codec = libav().avcodec_find_encoder_by_name(wanted_.encoder);
        if (codec == nullptr) {
            return environment_error(fmt::format(
                "{}: this build of libavcodec has no encoder {}, which prepare needs for media of this format",
                format_.name, wanted_.encoder));
        }
        context_.reset(libav().avcodec_alloc_context3(codec));
        if (!context_ || !packet_ || !frame_) return failed(AVERROR(ENOMEM));
        context_->width = format_.width;
        context_->height = format_.height;
        context_->pix_fmt = wanted_.pixels;
        context_->time_base = {static_cast<int>(format_.rate.den), static_cast<int>(format_.rate.num)};
        context_->framerate = {static_cast<int>(format_.rate.num), static_cast<int>(format_.rate.den)};
        context_->sample_aspect_ratio = {1, 1};
        context_->thread_count = 1;
        context_->flags |= AV_CODEC_FLAG_BITEXACT;
        context_->gop_size = wanted_.types.find_first_not_of('I') == std::string::npos
                                 ? 1
                                 : static_cast<int>(wanted_.types.size());
        context_->max_b_frames = wanted_.b_frames_max;
        AVDictionary* options = nullptr;
        for (const auto& [name, value] : wanted_.options)
            libav().av_dict_set(&options, name.c_str(), value.c_str(), 0);
        const int error = libav().avcodec_open2(context_.get(), codec, &options);
        libav().av_dict_free(&options);
        if (error < 0) return failed(error);
        frame_->width = format_.width;
        frame_->height = format_.height;
        frame_->format = wanted_.pixels;
        if (const int got = libav().av_frame_get_buffer(frame_.get(), 0); got < 0) return failed(got);
        fill_grey(*frame_, *libav().av_pix_fmt_desc_get(wanted_.pixels));
        return {};
    }

    Result<void> take() {
        int error = 0;
        while ((error = libav().avcodec_receive_packet(context_.get(), packet_.get())) >= 0) {
            const auto* const begin = reinterpret_cast<const std::byte*>(packet_->data);
            coded_.push_back({{begin, begin + packet_->size}, packet_->pts});
            libav().av_packet_unref(packet_.get());
        }
        if (error != AVERROR(EAGAIN) && error != AVERROR_EOF) return failed(error);
        return {};
    }

    const MediaFormat& format_;
    const FlatPictures& wanted_;
    std::unique_ptr<AVCodecContext, FreeAv> context_;
    std::unique_ptr<AVPacket, FreeAv> packet_;
    std::unique_ptr<AVFrame, FreeAv> frame_;
    std::vector<CodedPicture> coded_;
};

}  // namespace

Result<std::vector<CodedPicture>> code_flat(const MediaFormat& format, const FlatPictures& wanted) {
    return Encoder(format, wanted).run();
}

}  // namespace streamsim::media
