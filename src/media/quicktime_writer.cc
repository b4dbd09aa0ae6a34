#include <fmt/format.h>

#include "media/av.h"
#include "media/prores.h"

extern "C" {
#include <libavutil/opt.h>
}

namespace streamsim {
namespace {

struct FreeFormat {
    void operator()(AVFormatContext* context) const { avformat_free_context(context); }
};
struct FreePacket {
    void operator()(AVPacket* packet) const { av_packet_free(&packet); }
};

std::uint32_t tag_of(const std::string& fourcc) {
    std::uint32_t tag = 0;
    for (std::size_t i = 0; i < 4; ++i)
        tag |= static_cast<std::uint32_t>(static_cast<unsigned char>(fourcc[i])) << 8 * i;
    return tag;
}

class Writer final : public QuickTimeWriter {
public:
    Writer(ByteSink& sink, const std::string& file) : file_(file), stream_(sink), packet_(av_packet_alloc()) {}

    Result<void> begin(const MediaFormat& format) {
        begin_av();
        AVFormatContext* context = nullptr;
        if (const int error = avformat_alloc_output_context2(&context, nullptr, "mov", nullptr); error < 0) {
            return failed(error);
        }
        context_.reset(context);
        context->pb = stream_.context();
        context->flags |= AVFMT_FLAG_BITEXACT;  // the same plan gives the same bytes, whatever libav wrote it
        AVStream* const video = avformat_new_stream(context, nullptr);
        if (video == nullptr || packet_ == nullptr) return failed(AVERROR(ENOMEM));
        AVCodecParameters& codec = *video->codecpar;
        codec.codec_type = AVMEDIA_TYPE_VIDEO;
        codec.codec_id = AV_CODEC_ID_PRORES;
        codec.codec_tag = tag_of(format.profile);
        codec.width = format.width;
        codec.height = format.height;
        const bool four = format.profile.starts_with("ap4");
        codec.format = four ? AV_PIX_FMT_YUV444P10 : AV_PIX_FMT_YUV422P10;
        duration_ = format.rate.den;
        video->time_base = {static_cast<int>(format.rate.den), static_cast<int>(format.rate.num)};
        video->avg_frame_rate = {static_cast<int>(format.rate.num), static_cast<int>(format.rate.den)};
        // Left alone, the muxer multiplies a small time scale until it has five digits.
        av_opt_set_int(context->priv_data, "video_track_timescale", format.rate.num, 0);
        if (const int error = avformat_write_header(context, nullptr); error < 0) return failed(error);
        if (video->time_base.num != 1 || video->time_base.den != format.rate.num) {
            return environment_error(
                fmt::format("{}: libavformat does not keep the time scale {}", file_, format.rate.num));
        }
        return {};
    }

    Result<void> add(std::span<std::byte> frame) override {
        AVPacket& packet = *packet_;
        packet.data = reinterpret_cast<std::uint8_t*>(frame.data());
        packet.size = static_cast<int>(frame.size());
        packet.pts = packet.dts = frames_ * duration_;
        packet.duration = duration_;
        packet.flags = AV_PKT_FLAG_KEY;
        packet.stream_index = 0;
        const int error = av_write_frame(context_.get(), &packet);
        av_packet_unref(&packet);
        if (error < 0 || stream_.error()) return failed(error);
        ++frames_;
        return {};
    }

    Result<void> finish() override {
        const int error = av_write_trailer(context_.get());
        avio_flush(stream_.context());
        if (error < 0 || stream_.error()) return failed(error);
        return {};
    }

private:
    Error failed(int error) const {
        if (stream_.error()) return *stream_.error();
        return environment_error(fmt::format("{}: libavformat cannot write it: {}", file_, av_text(error)));
    }

    std::string file_;
    AvIo stream_;
    std::unique_ptr<AVPacket, FreePacket> packet_;
    std::unique_ptr<AVFormatContext, FreeFormat> context_;  // before stream_ goes: it points there
    std::int64_t duration_ = 1;
    std::int64_t frames_ = 0;
};

}  // namespace

Result<std::unique_ptr<QuickTimeWriter>> QuickTimeWriter::create(ByteSink& sink,
                                                                 const MediaFormat& format,
                                                                 const std::string& file) {
    auto writer = std::make_unique<Writer>(sink, file);
    if (auto begun = writer->begin(format); !begun) return begun.error();
    return std::unique_ptr<QuickTimeWriter>(std::move(writer));
}

}  // namespace streamsim
