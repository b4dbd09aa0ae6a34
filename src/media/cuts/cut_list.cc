#include "media/cuts/cut_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/document/problems.h"
#include "base/path.h"
#include "base/timecode.h"
#include "base/units.h"
#include "media/clips/clip_index.h"
#include "media/clips/inspect.h"
#include "media/cuts/clip_finder.h"
#include "media/cuts/edit_pieces.h"
#include "media/cuts/edit_readers.h"
#include "media/sequence/sequence_names.h"

namespace streamsim::media {
namespace {

constexpr std::size_t kNotesMax = 40;
constexpr std::size_t kNamedMax = 4;  // equally good clips in a message
constexpr std::size_t kNoClip = SIZE_MAX;

/// The first place that uses a piece of media.
struct Use {
    std::string place;
    std::string event;
    std::uint64_t count = 0;
};

struct Range {
    std::int64_t low = 0;
    std::int64_t high = -1;  // last frame; below `low`: none

    bool empty() const { return high < low; }
};

class Resolver {
public:
    Resolver(ByteStore& store, const EditList& list, std::optional<FrameRate> rate)
        : store_(store), list_(list), rate_(rate) {}

    Result<CutList> resolve(const std::string& target, const IndexOptions& options) {
        auto finder = ClipFinder::list_below(store_, target, options.depth);
        if (!finder) return finder.error();
        find_uses();
        find_clips(*finder, target);
        if (auto indexed = index_clips(*finder, options); !indexed) return indexed.error();
        const std::size_t missing = problems_.size();
        if (find_rate() && lay_out()) fit_pieces();
        if (problems_.size() > missing && !recounted_.empty()) problems_.insert(problems_.begin(), recounted_);
        if (!problems_.empty()) return failed();
        return finish();
    }

private:
    template <typename... Args>
    void problem(fmt::format_string<Args...> text, Args&&... args) {
        problems_.push_back(fmt::format(text, std::forward<Args>(args)...));
    }
    template <typename... Args>
    void note(fmt::format_string<Args...> text, Args&&... args) {
        notes_.push_back(fmt::format(text, std::forward<Args>(args)...));
    }

    void add_problems(const Error& error) {
        problems_.insert(problems_.end(), error.problems.begin(), error.problems.end());
    }

    Error failed() const {
        ProblemList bounded(list_.source);
        for (const std::string& problem : problems_) bounded.add(problem);
        return bounded.error();
    }

    void find_uses() {
        uses_.resize(list_.media.size());
        const auto use = [this](std::uint32_t media, const std::string& place, const std::string& event) {
            if (uses_[media].count++ == 0) uses_[media] = {place, event, 1};
        };
        for (const EditPiece& piece : list_.pieces) use(piece.media, piece.place, piece.event);
        for (const EdlEvent& event : list_.edl) {
            if (!event.black)
                use(event.media, fmt::format("{}: line {}", list_.source, event.line),
                    fmt::format("event {}", event.number));
        }
    }

    static std::string describe(const EditMedia& media) {
        std::string out;
        const auto add = [&out](const char* what, const std::string& text) {
            if (!text.empty()) out += fmt::format("{}{} \"{}\"", out.empty() ? "" : ", ", what, text);
        };
        add("file", media.file);
        add("clip", media.name);
        add("reel", media.reel);
        return out;
    }

    void find_clips(const ClipFinder& finder, const std::string& target) {
        found_.assign(list_.media.size(), kNoClip);
        std::set<std::string> wanted;  // a clip that is counted at two rates is one
        for (std::size_t i = 0; i < list_.media.size(); ++i)
            if (uses_[i].count > 0) wanted.insert(describe(list_.media[i]));
        for (std::size_t i = 0; i < list_.media.size(); ++i) {
            const Use& use = uses_[i];
            if (use.count == 0) continue;
            const ClipFinder::Answer answer = finder.find(list_.media[i]);
            const std::string others = use.count > 1 ? fmt::format(" and {} more", use.count - 1) : "";
            if (answer.clips.size() == 1) {
                found_[i] = answer.clips.front();
                if (!answer.note.empty()) notes_.push_back(answer.note);
            } else if (answer.clips.size() > 1) {
                std::string names;
                for (std::size_t k = 0; k < std::min(kNamedMax, answer.clips.size()); ++k)
                    names += (k == 0 ? "" : " and ") + finder.clips()[answer.clips[k]].name;
                problem("{}: {}{}: {} is {}{}: expected one clip below {}", use.place, use.event, others,
                        describe(list_.media[i]), names, answer.clips.size() > kNamedMax ? " and others" : "",
                        target);
            } else if (finder.target_is_clip() && wanted.size() == 1) {
                found_[i] = 0;
                note("{}, the only clip, used for {}", finder.clips().front().name, describe(list_.media[i]));
            } else {
                problem("{}: {}{}: no clip below {} for {}", use.place, use.event, others, target,
                        describe(list_.media[i]));
            }
        }
    }

    Result<void> index_clips(const ClipFinder& finder, const IndexOptions& options) {
        for (std::size_t i = 0; i < found_.size(); ++i) {
            if (found_[i] == kNoClip || clips_.contains(found_[i])) continue;
            const FoundClip& found = finder.clips()[found_[i]];
            auto clip = index_clip(store_, found.path, options);
            if (!clip) {
                if (clip.error().kind != ErrorKind::bad_input) return clip.error();
                add_problems(clip.error());
                found_[i] = kNoClip;
                continue;
            }
            clip->name = found.name;
            clip->ours = clip->ours || found.ours;
            clips_.emplace(found_[i], std::move(*clip));
        }
        return {};
    }

    const Clip& clip_of(std::uint32_t media) const { return clips_.at(found_[media]); }

    bool has_clip(std::uint32_t media) const { return found_[media] != kNoClip; }

    static bool states_rate(const Clip& clip) { return !clip.rate_assumed && !clip.index->variable_rate(); }

    /// The common rate of the clips that state one, else of the clips that state none. Empty when rates differ:
    /// `first` and `other` are two clips with different rates. REQUIRES: a clip was found.
    std::optional<FrameRate> shared_rate(const Clip*& first, const Clip*& other) const {
        for (const auto& [found, clip] : clips_) {
            if (first == nullptr || (!states_rate(*first) && states_rate(clip))) first = &clip;
        }
        for (const auto& [found, clip] : clips_) {
            const bool differs = clip.index->rate() != first->index->rate();
            if (differs && states_rate(clip) == states_rate(*first)) other = &clip;
        }
        if (other != nullptr) return std::nullopt;
        return first->index->rate();
    }

    /// Sets the rate of the list's time codes and of its playback. False: neither the list, nor the clips, nor
    /// the user states one.
    bool find_rate() {
        if (!list_.edl.empty() && list_.media.empty()) {
            problems_ = nothing_shown(list_).problems;
            return false;
        }
        if (clips_.empty()) return false;
        if (list_.rate) {
            counted_ = *list_.rate;
            return true;
        }
        const Clip* first = nullptr;
        const Clip* other = nullptr;
        const auto shared = shared_rate(first, other);
        if (rate_) {
            find_counting(shared && states_rate(*first) ? std::optional(labels_of(*first)) : std::nullopt);
            return true;
        }
        if (shared) {
            counted_ = *shared;
            return true;
        }
        problem(
            "{}: an EDL has no frame rate, and its clips have several: {} has {}, {} has {}; name the one of "
            "the list with --fps",
            list_.source, first->name, first->index->rate().to_string(), other->name,
            other->index->rate().to_string());
        return false;
    }

    /// The rate of a clip, which is shared; or that of its time code, where all clips have one that counts
    /// fewer frames than they have and as many as `rate_`.
    FrameRate labels_of(const Clip& shared) const {
        const auto labels = [](const Clip& clip) { return label_rate(clip.index->rate(), clip.timecode_each); };
        const bool as_asked = std::all_of(clips_.begin(), clips_.end(), [&](const auto& found) {
            return !states_rate(found.second) || nominal_rate(labels(found.second)) == nominal_rate(*rate_);
        });
        return as_asked && exists_at(labels(shared)) ? labels(shared) : shared.index->rate();
    }

    /// The time codes of an EDL have the rate of its clips if the clips state one and the time codes exist at
    /// it, else `rate_`.
    void find_counting(std::optional<FrameRate> clips) {
        counted_ = *rate_;
        if (!clips) return;
        const bool alike = nominal_rate(*clips) == nominal_rate(*rate_);
        if (alike ? has_drop_frame(*clips) : exists_at(*clips)) counted_ = *clips;
        if (alike) return;
        if (counted_ == *clips) {
            note("counted at {} frames a second as its clips are, and played at {}", clips->to_string(),
                 rate_->to_string());
        } else {
            recounted_ =
                fmt::format("{}: the time codes of the list are read at {} fps (--fps); its clips have {}",
                            list_.source, rate_->to_string(), clips->to_string());
        }
    }

    static bool fits(const TimecodeLabel& in, const TimecodeLabel& out, FrameRate rate) {
        return std::max(in.frames, out.frames) < nominal_rate(rate);
    }

    bool exists_at(FrameRate rate) const {
        return std::all_of(list_.edl.begin(), list_.edl.end(), [&](const EdlEvent& event) {
            return (event.black || fits(event.source_in, event.source_out, rate)) &&
                   fits(event.record_in, event.record_out, rate);
        });
    }

    /// Labels that a time code of 25 in a clip of 50 does not have count each of its frames.
    bool sources_exist_at(std::uint32_t media, FrameRate rate) const {
        return std::all_of(list_.edl.begin(), list_.edl.end(), [&](const EdlEvent& event) {
            return event.black || event.media != media || fits(event.source_in, event.source_out, rate);
        });
    }

    /// The time code of a container counts as the container states; the header of an image knows no better than
    /// the list.
    SourceCounting counting_of(std::uint32_t media) {
        SourceCounting source{counted_};
        const Clip& clip = clip_of(media);
        if (clip.index->file_per_frame()) return source;
        const FrameRate own = clip.index->rate();
        const bool may_drop = has_drop_frame(own) || has_drop_frame(label_rate(own, clip.timecode_each));
        if (clip.start_timecode && may_drop) source.drop = clip.drop;
        if (nominal_rate(own) == nominal_rate(counted_)) return source;
        other_rate_.insert(found_[media]);
        if (!clip.start_timecode) return source;
        source.rate = label_rate(own, clip.timecode_each);
        source.each = static_cast<std::int64_t>(clip.timecode_each);
        if (source.each == 1 || sources_exist_at(media, source.rate)) return source;
        return {own, 1, source.drop};
    }

    /// False: there are no pieces.
    bool lay_out() {
        if (list_.edl.empty()) {
            pieces_ = list_.pieces;
            frames_ = list_.frames;
            return true;
        }
        std::vector<std::optional<SourceCounting>> sources(list_.media.size());
        for (std::uint32_t i = 0; i < sources.size(); ++i)
            if (has_clip(i)) sources[i] = counting_of(i);
        auto timeline = lay_out_edl(list_, counted_, sources);
        if (!timeline) {
            add_problems(timeline.error());
            return false;
        }
        pieces_ = std::move(timeline->pieces);
        frames_ = timeline->frames;
        notes_.insert(notes_.end(), timeline->notes.begin(), timeline->notes.end());
        return true;
    }

    /// Converts source frames to clip frames, for all pieces whose clips were found.
    void fit_pieces() {
        std::vector<EditPiece> fitting;
        for (EditPiece& piece : pieces_) {
            if (has_clip(piece.media) && to_clip_rate(piece)) fitting.push_back(std::move(piece));
        }
        pieces_ = std::move(fitting);
        const std::size_t before = problems_.size();
        find_origins();
        if (problems_.size() == before) check_handles();
    }

    /// True where source frames at the media's own rate count the frames of the clip, whatever its rate: a clip
    /// conformed to another one. False where they are times, because the length of the media fits as a time
    /// alone.
    bool counts_frames(std::uint32_t number, EditSpeed ratio) {
        const EditMedia& media = list_.media[number];
        if (!media.frames) return true;
        const Clip& clip = clip_of(number);
        const auto count = static_cast<double>(clip.index->count());
        const double step = static_cast<double>(ratio.num) / static_cast<double>(ratio.den);
        if (std::abs(*media.frames - count) < 1) return true;
        if (std::abs(*media.frames * step - count) < std::max(1.0, step)) return false;
        if (doubtful_.insert(found_[number]).second) {
            note(
                "{}: its available_range of {} frames at {} a second is not its length, {} frames at {}: each "
                "is taken for one of its frames",
                clip.name, *media.frames, media.rate->to_string(), clip.index->count(),
                clip.index->rate().to_string());
        }
        return true;
    }

    static std::int64_t at_rate(std::int64_t frame, EditSpeed ratio) {
        const auto frames = static_cast<std::uint64_t>(std::abs(frame));
        return floor_scaled(frames, frame < 0 ? -ratio.num : ratio.num, ratio.den);
    }

    /// Source frames at a rate that is not the clip's are times, unless they count its frames: the clip's frame
    /// at that time counts. False: the ratio is not usable.
    bool to_clip_rate(EditPiece& piece) {
        const EditMedia& media = list_.media[piece.media];
        const FrameRate own = clip_of(piece.media).index->rate();
        if (!media.rate || nominal_rate(own) == nominal_rate(*media.rate)) return true;
        const EditSpeed ratio = rate_ratio(*media.rate, own);
        if (media.own_rate && counts_frames(piece.media, ratio)) return true;
        const auto speed = product(piece.speed, ratio);
        if (!speed) {
            problem("{}: {}: its rate {} and that of {}, {}, have no usable ratio", piece.place, piece.event,
                    media.rate->to_string(), clip_of(piece.media).name, own.to_string());
            return false;
        }
        const std::int64_t start = media.start.value_or(0);
        const std::int64_t origin = at_rate(start, ratio);
        if (media.start) starts_[piece.media] = origin;
        piece.first = origin + at_rate(piece.first - start, ratio);
        piece.speed = *speed;
        piece.day = floor_scaled(static_cast<std::uint64_t>(piece.day), ratio.num, ratio.den);
        converted_.insert(found_[piece.media]);
        return true;
    }

    /// Source frames of a piece, with its handles or without.
    static Range frames_of_piece(const EditPiece& piece, bool handles) {
        const std::uint64_t from = handles ? 0 : piece.handle_before;
        const std::uint64_t to = piece.frames - (handles ? 0 : std::min(piece.handle_after, piece.frames));
        if (from >= to) return {};
        const auto [low, high] = std::minmax({piece.source_at(from), piece.source_at(to - 1)});
        return {low, high};
    }

    /// The offset from source frames to clip frames: `origin`, or a day less past midnight.
    static std::optional<std::int64_t> offset_for(const EditPiece& piece,
                                                  Range range,
                                                  std::int64_t origin,
                                                  const Clip& clip) {
        const auto count = static_cast<std::int64_t>(clip.index->count());
        for (const std::int64_t offset : {origin, origin - piece.day}) {
            if (range.low >= offset && range.high - offset < count) return offset;
        }
        return std::nullopt;
    }

    struct Origin {
        std::int64_t frame = 0;
        const char* what = "";
    };

    /// Possible origins of source times, the likeliest first.
    static std::vector<Origin> origins_of(const Clip& clip) {
        std::vector<Origin> out;
        const auto number = static_cast<std::int64_t>(clip.index->frame_number(0));
        const bool files = clip.index->file_per_frame();
        if (files) out.push_back({number, "the numbers of its files"});
        if (clip.start_timecode && (!files || static_cast<std::int64_t>(*clip.start_timecode) != number))
            out.push_back({static_cast<std::int64_t>(*clip.start_timecode), "its time code"});
        out.push_back({0, "0 at its first frame"});
        return out;
    }

    void find_origins() {
        std::map<std::size_t, std::vector<EditPiece*>> by_clip;  // in name order
        for (EditPiece& piece : pieces_) {
            const EditMedia& media = list_.media[piece.media];
            if (!media.start) {
                by_clip[found_[piece.media]].push_back(&piece);
                continue;
            }
            const auto start = starts_.find(piece.media);
            std::int64_t origin = start == starts_.end() ? *media.start : start->second;
            if (media.start_number) {
                const auto first = static_cast<std::int64_t>(clip_of(piece.media).index->frame_number(0));
                origin -= *media.start_number - first;
            }
            place({&piece}, clip_of(piece.media), {origin, "its available_range"});
        }
        for (const auto& [found, its_pieces] : by_clip) {
            const std::vector<EditPiece*>& pieces = its_pieces;
            const Clip& clip = clips_.at(found);
            const std::vector<Origin> origins = origins_of(clip);
            const auto fitting = [&](const Origin& origin) {
                return std::count_if(pieces.begin(), pieces.end(), [&](const EditPiece* piece) {
                    const Range range = frames_of_piece(*piece, false);
                    return range.empty() || offset_for(*piece, range, origin.frame, clip);
                });
            };
            const auto best =
                std::max_element(origins.begin(), origins.end(),
                                 [&](const Origin& a, const Origin& b) { return fitting(a) < fitting(b); });
            if (best != origins.begin() && fitting(*best) == std::ssize(pieces)) {
                note("{}: source times are taken as {}, not as {}: they do not fit {}", clip.name, best->what,
                     origins[0].what, show(origins[0].frame, clip));
            }
            place(pieces, clip, *best);
        }
    }

    static std::string show(std::int64_t frame, const Clip& clip) {
        if (frame < 0) return std::to_string(frame);
        return fmt::format("{} ({})", frame, clip_timecode(clip, static_cast<std::uint64_t>(frame)));
    }

    void no_such_frames(const EditPiece& piece, Range range, std::int64_t origin, const char* what) {
        if (!reported_.insert(piece.place).second) return;  // a piece may have many parts below other tracks
        const Clip& clip = clip_of(piece.media);
        const auto last = origin + static_cast<std::int64_t>(clip.index->count()) - 1;
        problem("{}: {}: {} frames {} to {} of {}, which has {} to {}", piece.place, piece.event, what,
                show(range.low, clip), show(range.high, clip), clip.name, show(origin, clip), show(last, clip));
    }

    void place(const std::vector<EditPiece*>& pieces, const Clip& clip, Origin origin) {
        for (EditPiece* piece : pieces) {
            const Range own = frames_of_piece(*piece, false);
            const Range range = own.empty() ? frames_of_piece(*piece, true) : own;
            const auto offset = offset_for(*piece, range, origin.frame, clip);
            if (!offset && !own.empty()) no_such_frames(*piece, range, origin.frame, "needs");
            piece->origin = offset.value_or(origin.frame);
            piece->first -= piece->origin;
        }
    }

    void check_handles() {
        for (const EditPiece& piece : pieces_) {
            const Range range = frames_of_piece(piece, true);
            const auto count = static_cast<std::int64_t>(clip_of(piece.media).index->count());
            if (range.low >= 0 && range.high < count) continue;
            no_such_frames(piece, {range.low + piece.origin, range.high + piece.origin}, piece.origin,
                           "its transition needs");
        }
    }

    Result<CutList> finish() {
        CutList out;
        out.name = list_.name.empty() ? base_name(list_.source) : list_.name;
        out.rate = rate_.value_or(counted_);
        out.frames = frames_;
        out.events = list_.events;
        std::map<std::size_t, std::uint32_t> numbers;
        for (const EditPiece& piece : pieces_) {
            const std::size_t found = found_[piece.media];
            const auto [number, is_new] =
                numbers.try_emplace(found, static_cast<std::uint32_t>(out.clips.size()));
            if (is_new) out.clips.push_back(clips_.at(found));
            out.segments.push_back({.at = piece.at,
                                    .frames = piece.frames,
                                    .clip = number->second,
                                    .first = piece.first,
                                    .speed_num = piece.speed.num,
                                    .speed_den = piece.speed.den,
                                    .event = piece.event});
        }
        out.notes = list_.notes;
        for (const std::size_t found : converted_)
            note("{}: source times converted to its rate", clips_.at(found).name);
        for (const std::size_t found : other_rate_)
            note("{} is at {} frames a second, the list at {}", clips_.at(found).name,
                 clips_.at(found).index->rate().to_string(), counted_.to_string());
        out.notes.insert(out.notes.end(), notes_.begin(), notes_.end());
        if (out.notes.size() > kNotesMax) {
            const std::size_t more = out.notes.size() - kNotesMax;
            out.notes.resize(kNotesMax);
            out.notes.push_back(fmt::format("and {} notes more", more));
        }
        return out;
    }

    ByteStore& store_;
    const EditList& list_;
    std::optional<FrameRate> rate_;      // rate that the user asks for
    FrameRate counted_;                  // rate of the list's time codes
    std::string recounted_;              // message before the problems of a list whose rate is not its clips'
    std::vector<Use> uses_;              // for each EditList::media
    std::vector<std::size_t> found_;     // for each EditList::media, the index in ClipFinder::clips()
    std::map<std::size_t, Clip> clips_;  // by ClipFinder::clips()
    std::vector<EditPiece> pieces_;
    std::uint64_t frames_ = 0;
    std::set<std::size_t> converted_;               // by ClipFinder::clips()
    std::set<std::size_t> doubtful_;                // the same: their length is another than the list says
    std::set<std::size_t> other_rate_;              // containers at another rate than the list's
    std::map<std::uint32_t, std::int64_t> starts_;  // EditMedia::start at the clip's rate, where it is a time
    std::set<std::string> reported_;
    std::vector<std::string> notes_;
    std::vector<std::string> problems_;
};

}  // namespace

Result<EditList> parse_cut_list(std::string_view text, const std::string& source) {
    // No line of a binary file is worth printing.
    const auto control = std::ranges::find_if(text, [](char c) {
        return static_cast<unsigned char>(c) < 0x20 &&
               std::string_view("\t\n\v\f\r\x1a").find(c) == std::string_view::npos;
    });
    const bool utf16 = text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");  // named by the readers
    if (!utf16 && control != text.end())
        return bad_input(
            fmt::format("{}: byte {}: a binary file: expected a CMX 3600 EDL or an OpenTimelineIO document",
                        source, control - text.begin()));
    const std::size_t first = text.find_first_not_of("\xef\xbb\xbf \t\r\n");
    const bool json = first != std::string_view::npos && text[first] == '{';
    if (json || extension_of(source) == "otio") return parse_otio(text, source);
    return parse_edl(text, source);
}

Result<CutList> resolve_cut_list(ByteStore& store,
                                 const std::string& target,
                                 const EditList& list,
                                 std::optional<FrameRate> rate,
                                 const IndexOptions& options) {
    return Resolver(store, list, rate).resolve(target, options);
}

}  // namespace streamsim::media
