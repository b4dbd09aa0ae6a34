#include "media/container/container_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/timecode.h"
#include "base/units.h"
#include "media/container/container_mxf.h"
#include "media/libav/av.h"
#include "media/libav/libav.h"

namespace streamsim::media {
namespace {

/// Containers that hold their own frames. Playlists are left out on purpose: they open other files.
constexpr const char* kContainers = "mov,mxf,matroska,avi,mpegts,mpeg,gxf";
constexpr std::uint32_t kTimecodeTag = MKTAG('t', 'm', 'c', 'd');

struct CloseInput {
    void operator()(AVFormatContext* context) const { libav().avformat_close_input(&context); }
};

/// A container may name other files (data references, index files); none is opened: a clip is one file.
int refuse_open(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) {
    return AVERROR(EPERM);
}

/// Stamps and times beyond this are damage; within it sums and differences of a few do not overflow.
constexpr std::int64_t kFarthest = std::int64_t{1} << 60;
constexpr std::int64_t kLongestPieceNs = std::int64_t{1} << 40;
/// Tracks of a file lie no further apart than this where all of them go on.
constexpr std::int64_t kInterleaveNs = 1'000'000'000;

std::int64_t stamp_of(std::int64_t av) {
    return av == AV_NOPTS_VALUE || av > kFarthest || av < -kFarthest ? kNoStamp : av;
}

std::int64_t to_ns(std::int64_t ticks, AVRational base) {
    // A time that does not fit becomes INT64_MIN.
    return std::clamp(libav().av_rescale_q_rnd(ticks, base, {1, 1'000'000'000}, AV_ROUND_DOWN), -kFarthest,
                      kFarthest);
}

std::int64_t piece_length(std::int64_t ns) {
    return std::clamp(ns, std::int64_t{0}, kLongestPieceNs);
}

std::string describe(const AVCodecParameters& codec) {
    std::string tag;
    for (unsigned shift = 0; shift < 32; shift += 8) tag += static_cast<char>(codec.codec_tag >> shift & 0xff);
    const bool printable = std::all_of(tag.begin(), tag.end(), [](char c) { return c > ' ' && c < 127; });
    return fmt::format("{}{} {}x{}", libav().avcodec_get_name(codec.codec_id), printable ? " " + tag : "",
                       codec.width, codec.height);
}

std::string describe_track(const AVCodecParameters& codec) {
    const std::string name = libav().avcodec_get_name(codec.codec_id);
    switch (codec.codec_type) {
        case AVMEDIA_TYPE_VIDEO: return "video " + name;
        case AVMEDIA_TYPE_AUDIO: return describe_audio(name, codec.ch_layout.nb_channels, codec.sample_rate);
        case AVMEDIA_TYPE_SUBTITLE: return "subtitles";
        default: return codec.codec_tag == kTimecodeTag ? "time code" : "data";
    }
}

class ContainerReader {
public:
    ContainerReader(ByteSource& source,
                    const std::string& path,
                    const ContainerStructure& structure,
                    const IndexOptions& options)
        : source_(source), path_(path), structure_(structure), options_(options), io_(source, path_) {
        io_.obey(options.progress);
    }
    ~ContainerReader() { io_.end_progress(); }
    ContainerReader(const ContainerReader&) = delete;
    ContainerReader& operator=(const ContainerReader&) = delete;

    Result<ReadContainer> read() {
        if (const auto& refusal = structure_.refusal)
            return bad_input(fmt::format("{}: byte {}: {}", path_, refusal->byte, refusal->why));
        if (auto opened = open(); !opened) return opened.error();
        if (auto framed = has_table() ? by_table() : by_scan(); !framed) return framed.error();
        if (out_.extents.empty()) return failed("its video track has no frames");
        describe_streams();
        find_timecode();
        say_rates();
        note_cut();
        if (!is_intra()) out_.sync = sync_frames(key_);
        return std::move(out_);
    }

private:
    std::span<AVStream* const> streams() const { return {context_->streams, context_->nb_streams}; }
    AVStream& video() const { return *context_->streams[video_]; }

    static bool is_audio(const AVStream& stream) { return stream.codecpar->codec_type == AVMEDIA_TYPE_AUDIO; }

    template <typename... Args>
    Error failed(fmt::format_string<Args...> what, Args&&... args) const {
        if (io_.error()) return *io_.error();
        return bad_input(fmt::format("{}: byte {}: {}", path_, io_.last_read_end(),
                                     fmt::format(what, std::forward<Args>(args)...)));
    }

    template <typename... Args>
    void note(fmt::format_string<Args...> what, Args&&... args) {
        out_.notes.push_back(fmt::format(what, std::forward<Args>(args)...));
    }

    Result<void> open() {
        begin_av();
        AVFormatContext* context = libav().avformat_alloc_context();
        if (context == nullptr) return failed("out of memory");
        context->pb = io_.context();
        context->io_open = refuse_open;
        AVDictionary* options = nullptr;
        libav().av_dict_set(&options, "format_whitelist", kContainers, 0);
        const int error = libav().avformat_open_input(&context, "", nullptr, &options);
        libav().av_dict_free(&options);
        if (error < 0) return failed("not a video container that can be read: {}", av_text(error));
        context_.reset(context);
        // QuickTime says everything in its header. Others say it in their packets.
        if (!find_video() || !has_table()) {
            if (const int found = libav().avformat_find_stream_info(context, nullptr);
                found < 0 || io_.error()) {
                return failed("its streams cannot be found: {}", av_text(found));
            }
        }
        if (!find_video()) return failed("there is no video track in it");
        const AVRational tick = video().time_base;
        if (tick.num <= 0 || tick.den <= 0) return failed("its video track has no unit of time");
        out_.stamps.tick_num = tick.num;
        out_.stamps.tick_den = tick.den;
        return {};
    }

    bool find_video() {
        video_tracks_ = 0;
        for (unsigned i = 0; i < context_->nb_streams; ++i) {
            const AVStream& stream = *context_->streams[i];
            const bool picture = (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
            if (stream.codecpar->codec_type != AVMEDIA_TYPE_VIDEO || picture) continue;
            if (video_tracks_++ == 0) video_ = i;
        }
        return video_tracks_ > 0;
    }

    /// QuickTime and MP4 have tables, in one place or in each fragment. libav splits MPEG-1 into frames while
    /// it reads.
    bool has_table() const {
        return std::string_view(context_->iformat->name).starts_with("mov") &&
               (structure_.fragmented || libav().avformat_index_get_entries_count(&video()) > 0) &&
               video().codecpar->codec_id != AV_CODEC_ID_MPEG1VIDEO;
    }

    void show_progress() {
        if (const auto size = source_.size()) io_.show_progress(*size);
    }

    Result<void> by_table() {
        const std::int64_t delay = options_.audio ? shown_after() : 0;
        if (structure_.fragmented) {
            if (auto walked = walk_fragments(); !walked) return walked;
        }
        const int entries = libav().avformat_index_get_entries_count(&video());
        const auto count = static_cast<std::size_t>(entries);
        out_.extents.reserve(count);
        out_.stamps.decode.reserve(count);
        key_.reserve(count);
        std::uint64_t hidden = 0;
        for (int i = 0; i < entries; ++i) {
            const AVIndexEntry& entry = *libav().avformat_index_get_entry(&video(), i);
            const int bytes = entry.size;
            const std::int64_t at = entry.pos;
            if (at < 0 || bytes < 0)
                return failed("its table puts frame {} at byte {} with {} bytes", i, at, bytes);
            if (bytes == 0) {
                ++empty_;
                continue;
            }
            if ((entry.flags & AVINDEX_DISCARD_FRAME) != 0) ++hidden;
            add({static_cast<std::uint64_t>(at), static_cast<std::uint64_t>(bytes)}, entry.timestamp,
                (entry.flags & AVINDEX_KEYFRAME) != 0);
        }
        if (out_.extents.empty()) return {};
        note_edits(static_cast<std::uint64_t>(entries), hidden);
        note_empty();
        const std::int64_t begin = out_.stamps.decode.front();
        const std::int64_t end = out_.stamps.decode.back();
        const std::int64_t length = stamp_of(video().duration);
        if (!structure_.fragmented && begin != kNoStamp && end >= begin && length > end - begin)
            out_.stamps.last_ticks = plausible_last(out_.stamps.decode, length - (end - begin));
        if (options_.audio) audio_by_table(begin == kNoStamp ? 0 : to_ns(begin + delay, video().time_base));
        return {};
    }

    void add(Extent extent, std::int64_t stamp, bool key) {
        out_.extents.push_back(extent);
        out_.stamps.decode.push_back(stamp_of(stamp));
        key_.push_back(key);
    }

    void note_edits(std::uint64_t entries, std::uint64_t hidden) {
        const auto stored = static_cast<std::uint64_t>(std::max<std::int64_t>(0, video().nb_frames));
        if (!structure_.edit_list || structure_.fragmented) return;
        if (entries < stored) {
            note("its edit list hides {} of {} frames: they are not read", show_count(stored - entries),
                 show_count(stored));
        } else if (entries > stored) {
            note("its edit list repeats frames: {} of {} stored ones", show_count(entries), show_count(stored));
        }
        if (hidden > 0) {
            note(
                "its edit list hides {} more frames, which are read because other frames need them for "
                "decoding",
                show_count(hidden));
        }
    }

    void note_empty() {
        if (empty_ > 0) note("{} frames have no bytes and are left out", show_count(empty_));
    }

    /// Delay between decoding and display of the first frame, in ticks: from the first packet, because the
    /// table does not state it.
    std::int64_t shown_after() {
        discard_others(false);
        const std::unique_ptr<AVPacket, FreeAv> packet(libav().av_packet_alloc());
        if (libav().av_read_frame(context_.get(), packet.get()) < 0) return 0;
        if (stamp_of(packet->pts) == kNoStamp || stamp_of(packet->dts) == kNoStamp) return 0;
        const std::int64_t delay = packet->pts - packet->dts;
        return delay > 0 && delay < video().time_base.den ? delay : 0;
    }

    void discard_others(bool keep_audio) {
        for (AVStream* const stream : streams()) {
            const bool kept = stream == &video() || (is_audio(*stream) && keep_audio);
            stream->discard = kept ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
        }
    }

    /// With every stream discarded libav passes over the media, but reads the header of each fragment that it
    /// has not read yet (where there is an index of them, it stops after the first).
    Result<void> walk_fragments() {
        show_progress();
        for (AVStream* const stream : streams()) stream->discard = AVDISCARD_ALL;
        const std::unique_ptr<AVPacket, FreeAv> packet(libav().av_packet_alloc());
        const int error = libav().av_read_frame(context_.get(), packet.get());
        if (io_.error()) return *io_.error();
        if (error < 0 && error != AVERROR_EOF)
            note("its fragments end at byte {}: {}", io_.last_read_end(), av_text(error));
        return {};
    }

    void audio_by_table(std::int64_t base_ns) {
        for (AVStream* const stream : streams()) {
            if (!is_audio(*stream) || stream->time_base.den <= 0) continue;
            std::vector<AudioPiece>& pieces = out_.audio.emplace_back();
            const int entries = libav().avformat_index_get_entries_count(stream);
            pieces.reserve(static_cast<std::size_t>(entries));
            for (int k = 0; k < entries; ++k) {
                const AVIndexEntry& entry = *libav().avformat_index_get_entry(stream, k);
                if (entry.pos < 0 || entry.size <= 0) continue;
                const std::int64_t start = to_ns(entry.timestamp, stream->time_base) - base_ns;
                if (!pieces.empty()) pieces.back().length_ns = piece_length(start - pieces.back().start_ns);
                const Extent extent{static_cast<std::uint64_t>(entry.pos),
                                    static_cast<std::uint64_t>(entry.size)};
                pieces.push_back({extent, start, pieces.empty() ? 0 : pieces.back().length_ns});
            }
        }
    }

    Result<void> by_scan() {
        show_progress();
        const std::unique_ptr<AVPacket, FreeAv> packet(libav().av_packet_alloc());
        int error = 0;
        while (true) {
            if (scanned_audio_.size() != context_->nb_streams) {  // transport streams find new ones on the way
                scanned_audio_.resize(context_->nb_streams);
                discard_others(options_.audio || is_cut_matroska());
            }
            error = libav().av_read_frame(context_.get(), packet.get());
            if (error < 0) break;
            note_end(*packet);
            if (packet->stream_index == static_cast<int>(video_)) {
                if (auto taken = take(*packet); !taken) return taken;
                auto walked = by_headers();
                if (!walked) return walked.error();
                if (*walked) return {};
            } else if (options_.audio) {
                take_audio(*packet);
            }
            libav().av_packet_unref(packet.get());
        }
        if (error != AVERROR_EOF || io_.error())
            return failed("reading ended early, after {} frames: {}", out_.extents.size(), av_text(error));
        out_.read_through = true;
        if (is_container("mpeg")) reach_next_frames();  // "mpegts" too
        leave_out_partial();
        note_empty();
        if (guessed_ > 0) {
            note("the position of {} frames is unknown: assumed directly behind the frame before",
                 show_count(guessed_));
        }
        place_scanned_audio();
        return {};
    }

    /// libav tells how long a frame is without the packets that carry it, and a reader of such a stream reads
    /// the packets of other tracks between them as well: up to where the next frame begins. (In a program
    /// stream the end of a frame may share a packet with it, which is read with the next frame.)
    void reach_next_frames() {
        const auto size = source_.size();
        reach_next(out_.extents, size ? *size : 0);
        for (auto& pieces : scanned_audio_) {
            out_.audio_in_frames = out_.audio_in_frames || !pieces.empty();
            pieces.clear();
        }
    }

    /// libav gives what there is of a frame that the end of the file cuts. In a transport stream no frame says
    /// where it ends, but the next; where all frames are in one element of MXF, something follows the last one.
    void leave_out_partial() {
        if (out_.extents.empty()) return;
        const Extent last = out_.extents.back();
        const auto size = source_.size();
        const bool at_end = size && last.offset + last.bytes == *size;
        const bool open_end = (structure_.cut && is_container("mpegts")) ||
                              (at_end && is_container("mxf") && last.bytes != out_.extents.front().bytes);
        if (!partial_ && !open_end) return;
        // A recorded stream ends anywhere. In other containers the frame keeps its slot.
        ends_in_frame_ = !is_container("mpeg") && (partial_ || structure_.cut);
        note("its last frame, at byte {}, is incomplete{}", last.offset, ends_in_frame_ ? "" : " and left out");
        out_.extents.pop_back();
        out_.stamps.decode.pop_back();
        out_.stamps.show.pop_back();
        key_.pop_back();
    }

    bool is_container(std::string_view name) const {
        return std::string_view(context_->iformat->name).starts_with(name);
    }

    bool is_cut_matroska() const { return structure_.cut && is_container("matroska"); }

    void note_end(const AVPacket& packet) {
        const std::int64_t at = stamp_of(packet.pts);
        const AVStream& stream = *context_->streams[packet.stream_index];
        if (at == kNoStamp || stream.time_base.den <= 0) return;
        data_end_ns_ = std::max(data_end_ns_, to_ns(at, stream.time_base));
        if (&stream == &video()) video_end_ns_ = std::max(video_end_ns_, to_ns(at, stream.time_base));
    }

    /// How long the video of a truncated Matroska file was, by its own tag. Without one there is only the
    /// length of the longest track, which is not the video where others go on behind its last frame; 0: not
    /// known.
    std::int64_t matroska_ns() const {
        const AVDictionaryEntry* const tag =
            libav().av_dict_get(video().metadata, "DURATION", nullptr, AV_DICT_IGNORE_SUFFIX);
        std::int64_t end = tag == nullptr ? 0 : tagged_ns(tag->value);
        const bool goes_on = ends_in_frame_ || data_end_ns_ - video_end_ns_ <= kInterleaveNs;
        if (end == 0 && goes_on) end = to_ns(stamp_of(context_->duration), {1, AV_TIME_BASE});
        std::int64_t begin = kFarthest;
        for (const std::int64_t show : out_.stamps.show)
            if (show != kNoStamp) begin = std::min(begin, to_ns(show, video().time_base));
        return begin > 0 && begin < end ? end - begin : end;
    }

    /// By the duration, or the count, that the header states; 0: none.
    std::uint64_t stated_frames() const {
        std::int64_t ns = 0;
        if (is_container("avi"))
            return static_cast<std::uint64_t>(std::max<std::int64_t>(0, video().nb_frames));
        if (is_container("mxf")) ns = to_ns(stamp_of(video().duration), video().time_base);
        if (is_cut_matroska()) ns = matroska_ns();
        if (ns <= 0 || out_.stamps.stated_rates.empty()) return 0;
        const double frames = static_cast<double>(ns) * 1e-9 * out_.stamps.stated_rates.front().per_second();
        return static_cast<std::uint64_t>(frames + 0.01);
    }

    void note_cut() {
        std::uint64_t stated = stated_frames();
        const std::uint64_t found = out_.extents.size() + empty_;
        // The count may be an estimate: where the file ends as it should, no frame is missing.
        const bool truncated = structure_.cut || ends_in_frame_;
        if (stated > 0 && found > stated + 1 && (structure_.cut || !truncated))
            stated *= pictures_in_unit(stated, found);
        const bool less = stated > found + (truncated ? 0 : 1);
        out_.stamps.cut = structure_.cut || less;
        if (less) {
            note("the file states {} frames and has {}{}", show_count(stated), show_count(found),
                 truncated ? ": it is truncated" : "");
        }
        out_.missing = less && truncated ? stated - found : (ends_in_frame_ ? 1 : 0);
    }

    /// MXF may hold a picture for each eye, or each field, in an edit unit: libavformat counts them as units.
    /// A file that is cut lacks some of its last ones. 1: the frames are no such pictures.
    std::uint64_t pictures_in_unit(std::uint64_t stated, std::uint64_t found) {
        constexpr std::uint64_t kPicturesMax = 4;  // two fields for each eye
        const std::uint64_t each = (found + stated - 1) / stated;
        const bool fits = each <= kPicturesMax && (structure_.cut || each * stated == found);
        if (!is_container("mxf") || !fits) {
            if (!structure_.cut)
                note("the file states {} frames and has {}: all are played", show_count(stated),
                     show_count(found));
            return 1;
        }
        if (out_.timecode_rate == 0)
            out_.timecode_rate = static_cast<std::int64_t>(nominal_rate(out_.stamps.stated_rates.front()));
        count_pictures(out_.stamps, static_cast<std::int64_t>(each));
        note("{} pictures in each edit unit: played at {} a second", each,
             out_.stamps.stated_rates.front().to_string());
        return each;
    }

    /// MXF: once enough packets are known, the rest by walking over its headers, where that gives the same.
    /// Only where each frame can be decoded alone: which ones can, only reading tells. False: it has to be
    /// read.
    Result<bool> by_headers() {
        constexpr std::size_t kFirst = 8;
        constexpr std::size_t kFirstOfLongGop = 64;  // longer than the first group of one
        const std::size_t enough = is_intra() ? kFirst : kFirstOfLongGop;
        if (out_.extents.size() != enough || std::string_view(context_->iformat->name) != "mxf") return false;
        const auto& at = out_.stamps.decode;
        if (guessed_ > 0 || empty_ > 0 || std::find(key_.begin(), key_.end(), false) != key_.end())
            return false;
        if (std::find(at.begin(), at.end(), kNoStamp) != at.end()) return false;
        const std::int64_t step = at[1] - at[0];
        const auto uneven = [&](std::int64_t a, std::int64_t b) { return b - a != step; };
        if (step <= 0 || step > INT32_MAX) return false;
        if (std::adjacent_find(at.begin(), at.end(), uneven) != at.end()) return false;
        MxfTracks first{out_.extents};
        std::vector<std::size_t> tracks;
        for (unsigned i = 0; options_.audio && i < context_->nb_streams; ++i) {
            if (!is_audio(*context_->streams[i])) continue;
            if (scanned_audio_[i].empty()) return false;
            tracks.push_back(i);
            auto& packets = first.emplace_back();
            for (const AudioPiece& piece : scanned_audio_[i]) packets.push_back(piece.extent);
        }
        auto walked = walk_mxf(source_, first, options_.progress);
        if (!walked) return walked.error();
        if (!*walked) return false;
        take_walked(**walked, tracks, step);
        place_scanned_audio();
        return true;
    }

    void take_walked(const MxfTracks& walked, const std::vector<std::size_t>& tracks, std::int64_t step) {
        auto& at = out_.stamps.decode;
        for (std::size_t k = out_.extents.size(); k < walked.front().size(); ++k)
            at.push_back(at.back() + step);
        out_.extents = walked.front();
        key_.assign(out_.extents.size(), true);
        // An element of audio for each frame, beside it.
        const std::int64_t period = to_ns(step, video().time_base);
        for (std::size_t track = 0; track < tracks.size(); ++track) {
            auto& pieces = scanned_audio_[tracks[track]];
            const std::int64_t begin = pieces.front().start_ns;
            for (std::size_t k = pieces.size(); k < walked[1 + track].size(); ++k) {
                const std::int64_t start = to_ns(static_cast<std::int64_t>(k) * step, video().time_base);
                pieces.push_back({walked[1 + track][k], begin + start, period});
            }
        }
    }

    Result<void> take(const AVPacket& packet) {
        if (packet.size <= 0) {
            ++empty_;
            return {};
        }
        Extent extent{0, static_cast<std::uint64_t>(packet.size)};
        if (packet.pos >= 0) {
            extent.offset = static_cast<std::uint64_t>(packet.pos);
        } else if (!out_.extents.empty()) {
            extent.offset = out_.extents.back().offset + out_.extents.back().bytes;
            ++guessed_;
        } else {
            return failed("the position of its first frame in the file is unknown");
        }
        partial_ = (packet.flags & AV_PKT_FLAG_CORRUPT) != 0;
        add(extent, packet.dts, (packet.flags & AV_PKT_FLAG_KEY) != 0);
        out_.stamps.show.push_back(stamp_of(packet.pts));
        out_.stamps.last_ticks = packet.duration;
        return {};
    }

    void take_audio(const AVPacket& packet) {
        const AVStream& stream = *context_->streams[packet.stream_index];
        if (!is_audio(stream) || stream.time_base.den <= 0) return;
        auto& pieces = scanned_audio_[static_cast<std::size_t>(packet.stream_index)];
        if (packet.size <= 0 || (packet.pos < 0 && pieces.empty())) return;
        const std::int64_t at = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
        AudioPiece piece{{0, static_cast<std::uint64_t>(packet.size)}, 0, 0};
        // Only the first of several frames in one packet of the stream has a byte position.
        piece.extent.offset = packet.pos >= 0 ? static_cast<std::uint64_t>(packet.pos)
                                              : pieces.back().extent.offset + pieces.back().extent.bytes;
        piece.length_ns = piece_length(to_ns(packet.duration, stream.time_base));
        if (at != AV_NOPTS_VALUE) {
            piece.start_ns = to_ns(at, stream.time_base);
        } else if (!pieces.empty()) {
            piece.start_ns = pieces.back().start_ns + pieces.back().length_ns;
        }
        pieces.push_back(piece);
    }

    void place_scanned_audio() {
        if (!options_.audio || out_.extents.empty()) return;
        std::int64_t first = out_.stamps.show.front();
        if (first == kNoStamp) first = out_.stamps.decode.front();
        const std::int64_t base = first == kNoStamp ? 0 : to_ns(first, video().time_base);
        for (auto& pieces : scanned_audio_) {
            if (pieces.empty()) continue;
            for (AudioPiece& piece : pieces) piece.start_ns -= base;
            out_.audio.push_back(std::move(pieces));
        }
    }

    void describe_streams() {
        if (video().codecpar->width == 0 && structure_.width > 0) {  // MPEG-4: libav leaves it to a decoder
            video().codecpar->width = structure_.width;
            video().codecpar->height = structure_.height;
        }
        out_.format = describe(*video().codecpar);
        std::vector<std::string> tracks;
        for (const AVStream* const stream : streams()) tracks.push_back(describe_track(*stream->codecpar));
        out_.tracks = list_tracks(tracks);
        if (video_tracks_ > 1) note("it has {} video tracks: the first is played", video_tracks_);
        const AVDictionaryEntry* label =
            libav().av_dict_get(context_->metadata, "operational_pattern_ul", nullptr, 0);
        if (label != nullptr) out_.pattern = mxf_pattern(label->value);
    }

    void find_timecode() {
        const auto look = [&](const AVDictionary* where) {
            const AVDictionaryEntry* entry = libav().av_dict_get(where, "timecode", nullptr, 0);
            if (entry != nullptr && !out_.timecode) out_.timecode = entry->value;
        };
        look(video().metadata);
        look(context_->metadata);
        for (const AVStream* const stream : streams()) {
            look(stream->metadata);
            const AVRational rate = stream->avg_frame_rate;
            if (stream->codecpar->codec_tag == kTimecodeTag && rate.num > 0 && rate.den > 0)
                out_.timecode_rate = (std::int64_t{rate.num} + rate.den / 2) / rate.den;
        }
    }

    void say_rates() {
        for (const AVRational rate : {video().r_frame_rate, video().avg_frame_rate}) {
            if (rate.num > 0 && rate.den > 0) out_.stamps.stated_rates.push_back({rate.num, rate.den});
        }
    }

    bool is_intra() const {
        const AVCodecDescriptor* codec = libav().avcodec_descriptor_get(video().codecpar->codec_id);
        return codec != nullptr && (codec->props & AV_CODEC_PROP_INTRA_ONLY) != 0;
    }

    ByteSource& source_;
    const std::string& path_;
    const ContainerStructure& structure_;
    const IndexOptions& options_;
    AvIo io_;
    std::unique_ptr<AVFormatContext, CloseInput> context_;
    unsigned video_ = 0;
    unsigned video_tracks_ = 0;
    std::vector<bool> key_;
    std::vector<std::vector<AudioPiece>> scanned_audio_;  // audio of each stream
    std::uint64_t empty_ = 0;
    std::uint64_t guessed_ = 0;
    bool partial_ = false;  // the last frame
    bool ends_in_frame_ = false;
    std::int64_t data_end_ns_ = 0;   // when the last packet of any track that is read begins
    std::int64_t video_end_ns_ = 0;  // of the video
    ReadContainer out_;
};

}  // namespace

Result<ReadContainer> read_container(ByteSource& source,
                                     const std::string& path,
                                     const ContainerStructure& structure,
                                     const IndexOptions& options) {
    return ContainerReader(source, path, structure, options).read();
}

}  // namespace streamsim::media
