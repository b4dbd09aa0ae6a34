#include "media/container_clip.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "media/av.h"
#include "media/container_file.h"

extern "C" {
#include <libavcodec/avcodec.h>
}

namespace streamsim {
namespace {

/// Containers that hold their own frames. Playlists are left out on purpose: they open other files.
constexpr const char* kContainers = "mov,mxf,matroska,avi,mpegts,mpeg,gxf";

struct CloseInput {
    void operator()(AVFormatContext* context) const { avformat_close_input(&context); }
};
struct FreePacket {
    void operator()(AVPacket* packet) const { av_packet_free(&packet); }
};

/// A container may name other files (data references, index files); none is opened: a clip is one file.
int refuse_open(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) {
    return AVERROR(EPERM);
}

bool is_rate(AVRational rate) {
    return rate.num > 0 && rate.den > 0;
}

class ContainerReader {
public:
    ContainerReader(ByteSource& source, const std::string& path) : path_(path), io_(source) {}

    Result<Clip> index() {
        if (auto opened = open(); !opened) return opened.error();
        auto extents = has_whole_table() ? table() : walk();
        if (!extents) return extents.error();
        if (extents->empty()) return failed("its video track has no frames");
        const AVRational rate = frame_rate();
        if (!is_rate(rate)) return failed("its video track has no frame rate");
        Clip clip;
        clip.format = describe(*context_->streams[video_]->codecpar);
        clip.index = make_container_index(path_, {rate.num, rate.den}, std::move(*extents));
        if (walked_)
            clip.notes.emplace_back("its container has no whole frame table: all of it was read for the index");
        return clip;
    }

private:
    Error failed(const std::string& what) const {
        if (io_.error()) return *io_.error();
        return bad_input(fmt::format("{}: byte {}: {}", path_, io_.last_read_end(), what));
    }

    Result<void> open() {
        begin_av();
        AVFormatContext* context = avformat_alloc_context();
        if (context == nullptr) return failed("out of memory");
        context->pb = io_.context();
        context->io_open = refuse_open;
        AVDictionary* options = nullptr;
        av_dict_set(&options, "format_whitelist", kContainers, 0);
        const int error = avformat_open_input(&context, "", nullptr, &options);
        av_dict_free(&options);
        if (error < 0) return failed("not a video container that can be read: " + av_text(error));
        context_.reset(context);
        // QuickTime says everything in its header. Others say it in their packets.
        if (!find_video() || !has_whole_table() || !is_rate(context->streams[video_]->avg_frame_rate)) {
            if (const int found = avformat_find_stream_info(context, nullptr); found < 0) {
                return failed("its streams cannot be found: " + av_text(found));
            }
        }
        if (!find_video()) return failed("there is no video track in it");
        return {};
    }

    /// The average is exact where it comes from a whole table. Elsewhere libav guesses it from the first
    /// packets; the rate that all of their times are multiples of is then the better one, unless it is
    /// something else altogether (fields, a variable rate).
    AVRational frame_rate() const {
        const AVStream& video = *context_->streams[video_];
        if (!is_rate(video.avg_frame_rate)) return video.r_frame_rate;
        if (!walked_ || !is_rate(video.r_frame_rate)) return video.avg_frame_rate;
        const double ratio = av_q2d(video.r_frame_rate) / av_q2d(video.avg_frame_rate);
        return ratio > 0.98 && ratio < 1.02 ? video.r_frame_rate : video.avg_frame_rate;
    }

    bool find_video() {
        for (unsigned i = 0; i < context_->nb_streams; ++i) {
            const AVStream& stream = *context_->streams[i];
            const bool picture = (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
            if (stream.codecpar->codec_type != AVMEDIA_TYPE_VIDEO || picture) continue;
            video_ = i;
            return true;
        }
        return false;
    }

    /// QuickTime's sample tables, unless the file is fragmented or an edit list shows only part of it.
    bool has_whole_table() const {
        const AVStream& video = *context_->streams[video_];
        const bool quicktime = std::string_view(context_->iformat->name).starts_with("mov");
        const int entries = avformat_index_get_entries_count(&video);
        return quicktime && entries > 0 && entries == video.nb_frames;
    }

    Result<std::vector<Extent>> table() {
        AVStream* const video = context_->streams[video_];
        const int entries = avformat_index_get_entries_count(video);
        std::vector<Extent> extents;
        extents.reserve(static_cast<std::size_t>(entries));
        for (int i = 0; i < entries; ++i) {
            const AVIndexEntry& entry = *avformat_index_get_entry(video, i);
            if (entry.pos < 0 || entry.size <= 0) {
                return failed(fmt::format("its table puts frame {} at byte {} with {} bytes", i, entry.pos,
                                          static_cast<int>(entry.size)));
            }
            extents.push_back({static_cast<std::uint64_t>(entry.pos), static_cast<std::uint64_t>(entry.size)});
        }
        return extents;
    }

    Result<std::vector<Extent>> walk() {
        walked_ = true;
        for (unsigned i = 0; i < context_->nb_streams; ++i) {
            if (i != video_) context_->streams[i]->discard = AVDISCARD_ALL;
        }
        const std::unique_ptr<AVPacket, FreePacket> packet(av_packet_alloc());
        std::vector<Extent> extents;
        int error = 0;
        while ((error = av_read_frame(context_.get(), packet.get())) >= 0) {
            if (packet->stream_index == static_cast<int>(video_)) {
                if (packet->pos < 0 || packet->size <= 0) {
                    return failed(
                        fmt::format("the place of frame {} in the file is not known", extents.size()));
                }
                extents.push_back(
                    {static_cast<std::uint64_t>(packet->pos), static_cast<std::uint64_t>(packet->size)});
            }
            av_packet_unref(packet.get());
        }
        if (error != AVERROR_EOF || io_.error()) {
            return failed(fmt::format("reading stopped after {} frames: {}", extents.size(), av_text(error)));
        }
        return extents;
    }

    static std::string describe(const AVCodecParameters& codec) {
        const std::string name = avcodec_get_name(codec.codec_id);
        std::string tag;
        for (unsigned shift = 0; shift < 32; shift += 8)
            tag += static_cast<char>(codec.codec_tag >> shift & 0xff);
        const bool printable = std::all_of(tag.begin(), tag.end(), [](char c) { return c > ' ' && c < 127; });
        if (printable) return fmt::format("{} {} {}x{}", name, tag, codec.width, codec.height);
        return fmt::format("{} {}x{}", name, codec.width, codec.height);
    }

    const std::string& path_;
    AvIo io_;
    std::unique_ptr<AVFormatContext, CloseInput> context_;
    unsigned video_ = 0;
    bool walked_ = false;
};

}  // namespace

Result<Clip> index_container(ByteStore& store,
                             const std::string& path,
                             const std::string& name,
                             const IndexOptions& /*options*/) {
    auto source = store.open(path);
    if (!source) return source.error();
    auto clip = ContainerReader(**source, path).index();
    if (!clip) return clip;
    clip->name = name;
    if (auto info = store.stat(path); info && *info) clip->modified_s = (*info)->modified_s;
    return clip;
}

}  // namespace streamsim
