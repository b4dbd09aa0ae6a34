#include "media/container/container_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/timecode.h"
#include "base/units.h"
#include "media/container/mov_audio.h"
#include "media/container/mov_boxes.h"
#include "media/container/mov_track.h"

namespace streamsim::media {
namespace {

constexpr std::uint64_t kHeaderBytesMax = 64 << 20;
constexpr std::size_t kTracksMax = 64;

/// QuickTime's texts: each a length, a language and the characters.
bool is_text(Bytes body) {
    return body.size() >= 4 && std::size_t{u16(body, 0)} + 4 == body.size();
}

bool names_nothing_used(Bytes keys) {
    const std::string_view text(reinterpret_cast<const char*>(keys.data()), keys.size());
    return text.find("timecode") == std::string_view::npos && text.find("artwork") == std::string_view::npos;
}

/// Texts about the file, as many writers put there. No picture, and no time code.
bool is_plain_metadata(Bytes meta) {
    if (meta.size() < 4) return false;
    const bool has_version = u32(meta, 0) == 0;
    const auto boxes =
        BoxSet::read(meta.subspan(has_version ? 4 : 0), {box_type("hdlr"), box_type("keys"), box_type("ilst")});
    if (!boxes || boxes->first() != box_type("hdlr")) return false;
    const auto keys = boxes->find(box_type("keys"));
    const auto list = boxes->find(box_type("ilst"));
    const Bytes handler = *boxes->find(box_type("hdlr"));
    if (handler.size() < 20) return false;
    if (u32(handler, 8) != box_type("mdir") || keys) return !list && (!keys || names_nothing_used(*keys));
    const auto items = boxes_in(list.value_or(Bytes()));
    return items && std::all_of(items->begin(), items->end(), [](const Box& item) {
               const auto data = boxes_in(item.body);
               return item.type >> 24 == 0xa9 && data && data->size() == 1 &&
                      data->front().type == box_type("data") && data->front().body.size() >= 8 &&
                      data->front().body.size() + 8 == item.body.size() && u32(data->front().body, 0) == 1;
           });
}

bool is_plain_user_data(Bytes udta) {
    const auto boxes = boxes_in(udta);
    return boxes && std::all_of(boxes->begin(), boxes->end(), [](const Box& box) {
               return box.type >> 24 == 0xa9 ? is_text(box.body)
                                             : box.type == box_type("meta") && is_plain_metadata(box.body);
           });
}

class TableReader {
public:
    TableReader(ByteSource& source, const ContainerStructure& structure, const IndexOptions& options)
        : source_(source), structure_(structure), options_(options) {}

    Result<std::optional<ReadContainer>> read() {
        if (structure_.refusal || structure_.header.bytes == 0 || structure_.header.bytes > kHeaderBytesMax)
            return std::optional<ReadContainer>();
        const auto moov = read_header();
        if (!moov) return moov.error();
        if (!read_movie(*moov) || !take_video() || (options_.audio && !take_audio()))
            return std::optional<ReadContainer>();
        if (timecode_ != nullptr) {
            auto taken = take_timecode();
            if (!taken) return taken.error();
            if (!*taken) return std::optional<ReadContainer>();
        }
        describe_tracks();
        return std::optional(std::move(out_));
    }

private:
    /// Fewer bytes than there should be: the file has become shorter.
    Result<std::vector<std::byte>> read_header() {
        constexpr std::size_t kPiece = 1 << 20;
        std::vector<std::byte> moov(static_cast<std::size_t>(structure_.header.bytes));
        for (std::size_t at = 0; at < moov.size();) {
            if (options_.progress != nullptr && options_.progress->cancelled()) return interrupted_error();
            const auto into = std::span(moov).subspan(at, std::min(kPiece, moov.size() - at));
            const auto got = source_.read_at(structure_.header.offset + at, into);
            if (!got) return got.error();
            at += *got;
            if (*got < into.size()) moov.resize(at);
        }
        return moov;
    }

    bool read_movie(Bytes moov) {
        if (moov.size() != structure_.header.bytes) return false;
        const auto boxes = boxes_in(moov);
        if (!boxes || boxes->empty() || boxes->front().type != box_type("mvhd")) return false;
        for (const Box& box : *boxes) {
            const bool first = &box == &boxes->front();
            bool good = box.type == box_type("free") || box.type == box_type("skip");
            if (box.type == box_type("mvhd")) good = first && read_movie_header(box.body);
            if (box.type == box_type("udta")) good = is_plain_user_data(box.body);
            if (box.type == box_type("meta")) good = is_plain_metadata(box.body);
            if (box.type == box_type("trak")) {
                auto track = read_mov_track(box.body);
                good = track.has_value() && tracks_.size() < kTracksMax;
                if (track) tracks_.push_back(std::move(*track));
            }
            if (!good) return false;
        }
        for (const MovTrack& track : tracks_) {
            const auto kind = track.entry.kind;
            if (kind == SampleEntry::Kind::audio) continue;
            const MovTrack*& only = kind == SampleEntry::Kind::video ? video_ : timecode_;
            if (only != nullptr) return false;
            only = &track;
        }
        return video_ != nullptr;
    }

    bool read_movie_header(Bytes mvhd) {
        if (mvhd.size() < 100) return false;
        const unsigned version = u8(mvhd, 0);
        if (version > 1 || (version == 1 && mvhd.size() < 112)) return false;
        movie_ticks_ = u32(mvhd, version == 1 ? 20 : 12);
        return movie_ticks_ >= 1 && movie_ticks_ <= INT32_MAX;
    }

    bool take_video() {
        const SampleTable& table = video_->table;
        auto extents = table.extents();
        if (!extents || video_->edits.size() > 1) return false;
        out_.extents = std::move(*extents);
        std::vector<std::int64_t>& at = out_.stamps.decode;
        at.reserve(out_.extents.size());
        std::int64_t now = 0;
        for (const SampleRun& run : table.durations()) {
            for (std::uint32_t k = 0; k < run.count; ++k, now += run.ticks) at.push_back(now);
        }
        for (const SampleRun& run : table.delays()) delays_.insert(delays_.end(), run.count, run.ticks);
        delays_.resize(at.size());
        key_ = table.sync();
        std::int64_t length = video_->length == 0 ? 0 : std::min(video_->length, table.length());
        std::int64_t first_shown = 0;
        if (!video_->edits.empty()) {
            const std::int64_t edit = edit_length(*video_, video_->edits.front(), movie_ticks_);
            if (!shows_all(video_->edits.front().begin, edit)) return false;
            first_shown = std::max<std::int64_t>(0, first_shown_at());
            length = std::min(length, edit);
        }
        const std::int64_t shift = decode_shift();
        for (std::int64_t& each : at) each -= shift + first_shown;
        if (const std::int64_t span = at.back() - at.front(); length > span)
            out_.stamps.last_ticks = plausible_last(at, length - span);
        out_.stamps.tick_num = 1;
        out_.stamps.tick_den = video_->ticks_per_second;
        out_.stamps.cut = structure_.cut;
        if (!video_->entry.intra) out_.sync = sync_frames(key_);
        return take_rates();
    }

    /// libavformat begins decoding so much earlier that no frame is shown before it is decoded; the last two
    /// entries of the table do not count.
    std::int64_t decode_shift() const {
        const auto& delays = video_->table.delays();
        std::int64_t shift = 0;
        for (std::size_t i = 0; i + 2 < delays.size(); ++i) shift = std::max(shift, -delays[i].ticks);
        return shift;
    }

    std::int64_t first_shown_at() const {
        std::int64_t first = INT64_MAX;
        for (std::size_t k = 0; k < delays_.size(); ++k)
            first = std::min(first, out_.stamps.decode[k] + delays_[k]);
        return first;
    }

    /// Whether the edit of `length` ticks from `begin` on leaves each frame in its place. libavformat looks for
    /// the frame to begin with among the sync frames, and ends at the first one behind the edit, or with
    /// delays at the second.
    bool shows_all(std::int64_t begin, std::int64_t length) const {
        const auto& at = out_.stamps.decode;
        const bool delayed = !video_->table.delays().empty();
        if (begin < 0 || !key_.front() || delays_.front() > begin) return false;
        int behind = 0;
        for (std::size_t k = 0; k < at.size(); ++k) {
            const std::int64_t shown = at[k] + delays_[k];
            if (shown < begin || shown >= begin + length) return false;
            if (k > 0 && key_[k] && at[k] <= begin) return false;
            const bool last = k + 1 == at.size();
            if (last || !key_[k] || shown + at[k + 1] - at[k] < begin + length) continue;
            if (!delayed || ++behind > 1) return false;
        }
        return true;
    }

    /// The rate of the first frame and the mean rate. libavformat guesses the first one where durations vary.
    bool take_rates() {
        const SampleTable& table = video_->table;
        const auto& runs = table.durations();
        if (runs.size() > 2 || (runs.size() == 2 && runs[1].count > 1)) return false;
        return state_rate(video_->ticks_per_second, runs.front().ticks) &&
               state_rate(std::int64_t{table.samples()} * video_->ticks_per_second, table.length());
    }

    bool state_rate(std::int64_t num, std::int64_t den) {
        const std::int64_t divisor = std::gcd(num, den);
        out_.stamps.stated_rates.push_back({num / divisor, den / divisor});
        return num / divisor <= INT32_MAX && den / divisor <= INT32_MAX;
    }

    bool take_audio() {
        const std::int64_t delay = video_->table.delays().empty() ? 0 : decode_shift() + delays_.front();
        // libavformat reads the first frame for the delay.
        const Extent& first = out_.extents.front();
        const auto size = source_.size();
        if (delay != 0 && (!size || first.offset + first.bytes > *size)) return false;
        const bool used = delay > 0 && delay < video_->ticks_per_second;
        const std::int64_t begin = out_.stamps.decode.front() + (used ? delay : 0);
        const std::int64_t base_ns = ticks_to_ns(begin, video_->ticks_per_second);
        std::size_t left = SampleTable::kListedMax;
        for (const MovTrack& track : tracks_) {
            if (track.entry.kind != SampleEntry::Kind::audio) continue;
            auto pieces = read_mov_audio(track, movie_ticks_, base_ns);
            if (!pieces || pieces->size() > left) return false;
            left -= pieces->size();
            out_.audio.push_back(std::move(*pieces));
        }
        return true;
    }

    /// The number that the only sample of the time code track holds. False: it is not taken with certainty.
    Result<bool> take_timecode() {
        const auto shown = [](const MovEdit& edit) { return edit.begin >= 0; };
        const auto& edits = timecode_->edits;
        if (!edits.empty() && std::none_of(edits.begin(), edits.end(), shown)) return false;
        const auto extents = timecode_->table.extents();
        if (!extents || extents->size() != 1 || extents->front().bytes != 4) return false;
        const std::uint32_t counted = timecode_->entry.count_per_second;
        if (nominal_rate(out_.stamps.stated_rates.front()) != counted) return false;
        std::array<std::byte, 4> bytes{};
        const auto got = source_.read_at(extents->front().offset, bytes);
        if (!got) return got.error();
        const std::uint64_t frame = u32(bytes, 0);
        constexpr std::uint64_t kDaySeconds = 86'400;
        if (*got != bytes.size() || frame >= kDaySeconds * counted) return false;
        const std::uint64_t seconds = frame / counted;
        out_.timecode = timecode_->entry.drop ? timecode(frame, {std::int64_t{counted} * 1000, 1001})
                                              : fmt::format("{:02}:{:02}:{:02}:{:02}", seconds / 3600,
                                                            seconds / 60 % 60, seconds % 60, frame % counted);
        out_.timecode_rate = counted;
        return true;
    }

    void describe_tracks() {
        const SampleEntry& video = video_->entry;
        out_.format = fmt::format("{} {} {}x{}", video.codec, video.tag, video.width, video.height);
        std::vector<std::string> tracks;
        for (const MovTrack& track : tracks_) tracks.push_back(describe(track.entry));
        out_.tracks = list_tracks(tracks);
    }

    static std::string describe(const SampleEntry& entry) {
        switch (entry.kind) {
            case SampleEntry::Kind::video: return "video " + entry.codec;
            case SampleEntry::Kind::audio:
                return describe_audio(entry.codec, entry.channels, static_cast<int>(entry.sample_rate));
            case SampleEntry::Kind::timecode: return "time code";
        }
        return "";
    }

    ByteSource& source_;
    const ContainerStructure& structure_;
    const IndexOptions& options_;
    std::uint32_t movie_ticks_ = 0;
    std::vector<MovTrack> tracks_;
    const MovTrack* video_ = nullptr;
    const MovTrack* timecode_ = nullptr;
    std::vector<std::int64_t> delays_;  // of each frame
    std::vector<bool> key_;
    ReadContainer out_;
};

}  // namespace

Result<std::optional<ReadContainer>> read_tables(ByteSource& source,
                                                 const ContainerStructure& structure,
                                                 const IndexOptions& options) {
    return TableReader(source, structure, options).read();
}

}  // namespace streamsim::media
