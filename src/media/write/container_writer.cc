#include "media/write/container_writer.h"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "media/libav/av.h"
#include "media/libav/libav.h"

namespace streamsim::media {
namespace {

struct FreeFormat {
    void operator()(AVFormatContext* context) const { libav().avformat_free_context(context); }
};

const char* muxer_of(MediaFormat::Container container) {
    switch (container) {
        case MediaFormat::Container::mp4: return "mp4";
        case MediaFormat::Container::mxf: return "mxf";
        case MediaFormat::Container::sequence:
        case MediaFormat::Container::quicktime: break;
    }
    return "mov";
}

class Writer final : public ContainerWriter {
public:
    Writer(ByteSink& sink, const FrameMaker& maker, const std::string& file)
        : maker_(maker), file_(file), stream_(sink), packet_(libav().av_packet_alloc()) {}

    Result<void> begin(const MediaFormat& format) {
        begin_av();
        AVFormatContext* context = nullptr;
        const char* const muxer = muxer_of(format.container);
        if (const int error = libav().avformat_alloc_output_context2(&context, nullptr, muxer, nullptr);
            error < 0) {
            return failed(error);
        }
        context_.reset(context);
        context->pb = stream_.context();
        context->flags |= AVFMT_FLAG_BITEXACT;  // the same plan gives the same bytes, whatever libav wrote it
        AVStream* const video = libav().avformat_new_stream(context, nullptr);
        if (video == nullptr || packet_ == nullptr) return failed(AVERROR(ENOMEM));
        AVCodecParameters& codec = *video->codecpar;
        codec.codec_type = AVMEDIA_TYPE_VIDEO;
        codec.width = format.width;
        codec.height = format.height;
        codec.field_order = AV_FIELD_PROGRESSIVE;
        codec.video_delay = static_cast<int>(maker_.delay());
        maker_.describe(codec);
        rate_ = format.rate;
        // Every frame of MXF has small writes around it, which would no longer be collected.
        direct_ = format.container == MediaFormat::Container::mxf ? 0 : 1;
        video->time_base = {static_cast<int>(rate_.den), static_cast<int>(rate_.num)};
        video->avg_frame_rate = {static_cast<int>(rate_.num), static_cast<int>(rate_.den)};
        // Without this option the QuickTime muxer multiplies a small time scale until it has five digits.
        if (format.container != MediaFormat::Container::mxf)
            libav().av_opt_set_int(context->priv_data, "video_track_timescale", rate_.num, 0);
        if (const int error = libav().avformat_write_header(context, nullptr); error < 0) return failed(error);
        time_base_ = video->time_base;
        if (rate_.den * time_base_.den % (rate_.num * time_base_.num) != 0) {
            return environment_error(
                fmt::format("{}: libavformat does not keep the time scale {}", file_, rate_.num));
        }
        return {};
    }

    Result<void> add(std::span<std::byte> frame) override {
        const std::int64_t ticks = rate_.den * time_base_.den / (rate_.num * time_base_.num);  // a frame
        AVPacket& packet = *packet_;
        packet.data = reinterpret_cast<std::uint8_t*>(frame.data());
        packet.size = static_cast<int>(frame.size());
        packet.dts = (static_cast<std::int64_t>(frames_) - static_cast<std::int64_t>(maker_.delay())) * ticks;
        packet.pts = static_cast<std::int64_t>(maker_.display(frames_)) * ticks;
        packet.duration = ticks;
        packet.flags = maker_.is_key(frames_) ? AV_PKT_FLAG_KEY : 0;
        packet.stream_index = 0;
        // A frame goes from its own buffer to the sink in one piece, uncopied.
        stream_.context()->direct = direct_;
        const int error = libav().av_write_frame(context_.get(), &packet);
        stream_.context()->direct = 0;
        libav().av_packet_unref(&packet);
        if (error < 0 || stream_.error()) return failed(error);
        ++frames_;
        return {};
    }

    Result<void> finish() override {
        const int error = libav().av_write_trailer(context_.get());
        libav().avio_flush(stream_.context());
        if (error < 0 || stream_.error()) return failed(error);
        return {};
    }

private:
    Error failed(int error) const {
        if (stream_.error()) return *stream_.error();
        return environment_error(fmt::format("{}: libavformat cannot write it: {}", file_, av_text(error)));
    }

    const FrameMaker& maker_;
    std::string file_;
    AvIo stream_;
    std::unique_ptr<AVPacket, FreeAv> packet_;
    std::unique_ptr<AVFormatContext, FreeFormat> context_;  // before stream_ goes: it points there
    FrameRate rate_;
    AVRational time_base_{1, 1};
    std::uint64_t frames_ = 0;
    int direct_ = 0;  // AVIOContext::direct while a frame is added
};

}  // namespace

Result<std::unique_ptr<ContainerWriter>> ContainerWriter::create(ByteSink& sink,
                                                                 const MediaFormat& format,
                                                                 const FrameMaker& maker,
                                                                 const std::string& file) {
    auto writer = std::make_unique<Writer>(sink, maker, file);
    if (auto begun = writer->begin(format); !begun) return begun.error();
    return std::unique_ptr<ContainerWriter>(std::move(writer));
}

}  // namespace streamsim::media
