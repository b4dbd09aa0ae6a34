#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "base/document/json.h"
#include "base/units.h"
#include "media/cuts/edit_pieces.h"
#include "media/cuts/edit_readers.h"
#include "media/cuts/otio_values.h"

namespace streamsim::media {
namespace {

constexpr int kNestingMax = 64;
constexpr double kItemFramesMax = 1e9;  // frames of one item
constexpr double kStartMax = 1e12;
constexpr double kSpeedMax = 1000;
constexpr double kSourceFramesMax = 1e15;  // source frames that one item passes over
constexpr double kRoundedUp = 1e-6;        // frames: a sum that is less below a whole number is that number

std::int64_t whole_frames(double frames) {
    return std::llround(std::floor(frames + kRoundedUp));
}

double scaled(double value, EditSpeed ratio) {
    return value * static_cast<double>(ratio.num) / static_cast<double>(ratio.den);
}

std::int64_t floor_signed(std::int64_t i, EditSpeed speed) {
    return i >= 0 ? floor_scaled(static_cast<std::uint64_t>(i), speed.num, speed.den)
                  : floor_scaled(static_cast<std::uint64_t>(-i), -speed.num, speed.den);
}

struct Time {
    double value = 0;
    FrameRate rate;
};

struct ItemRange {
    Time start;
    Time duration;
};

/// An item in its parent; times in frames of the record.
struct Node {
    enum class Kind { clip, gap, track, stack, transition };
    Kind kind = Kind::gap;
    std::string pointer;
    std::string event;
    double duration = 0;
    double start = 0;     // track, stack: start of the visible part
    EditPiece piece;      // clip: at 0; track, stack: the content frames that its frames show, from `start`
    std::int64_t in = 0;  // transition: before the cut and after it
    std::int64_t out = 0;
    std::vector<Node> children;        // a stack omits disabled children
    std::vector<std::int64_t> starts;  // track: of its children, then its end

    std::int64_t frames() const { return whole_frames(duration); }
};

class OtioReader {
public:
    explicit OtioReader(const std::string& source) : problems_(source) { list_.source = source; }

    Result<EditList> read(const Json& document) {
        const auto top = find_top(document, "");
        if (!top) return problems_.error();
        const auto& [item, pointer] = *top;
        list_.rate = find_rate(*item, 0);
        if (const Json& global = member(document, "global_start_time"); global.is_object()) {
            const auto time = read_time(global, "/global_start_time");
            if (time && time->rate.per_second() > 1) list_.rate = time->rate;
        }
        if (!list_.rate && problems_.empty()) problems_.add(pointer, "no item in it has a length");
        if (!problems_.empty()) return problems_.error();
        Node root = read_item(*item, pointer, "", 0);
        if (!problems_.empty()) return problems_.error();
        const std::int64_t frames = root.frames();
        if (frames <= 0) {
            problems_.add(pointer, "its picture has no length");
            return problems_.error();
        }
        list_.frames = static_cast<std::uint64_t>(frames);
        list_.pieces = render(root, 0, frames);
        if (const auto third = third_at_once(list_.pieces))
            problems_.add(third->place, fmt::format("more than two pictures at record frame {}", third->at));
        else if (list_.pieces.empty())
            problems_.add(pointer, generated_ > 0
                                       ? "no clip is shown, only generated pictures: there is nothing to read"
                                       : "no clip is shown");
        if (!problems_.empty()) return problems_.error();
        for (EditPiece& piece : list_.pieces) piece.place = fmt::format("{}: {}", list_.source, piece.place);
        add_notes();
        return std::move(list_);
    }

private:
    /// The composition to play, and where it stands.
    std::optional<std::pair<const Json*, std::string>> find_top(const Json& value, const std::string& pointer) {
        const std::string schema = schema_of(value);
        if (list_.name.empty()) list_.name = text_of(value, "name");
        if (schema == "Stack" || schema == "Track") return std::pair(&value, pointer);
        if (schema == "Timeline") {
            const Json& tracks = member(value, "tracks");
            if (schema_of(tracks) == "Stack") return std::pair(&tracks, pointer + "/tracks");
            problems_.add(pointer + "/tracks", "expected a Stack");
            return std::nullopt;
        }
        const Json& children = member(value, "children");
        if (schema == "SerializableCollection" && children.is_array()) {
            std::optional<std::size_t> found;
            for (std::size_t i = 0; i < children.size(); ++i) {
                const std::string inside = schema_of(children[i]);
                if (inside != "Timeline" && inside != "Stack" && inside != "Track") continue;
                if (found) {
                    problems_.add(pointer, "more than one timeline in it: expected one to play");
                    return std::nullopt;
                }
                found = i;
            }
            if (found) return find_top(children[*found], fmt::format("{}/children/{}", pointer, *found));
        }
        problems_.add(pointer,
                      "expected an OTIO_SCHEMA of Timeline, Stack, Track, or a SerializableCollection with "
                      "one of them");
        return std::nullopt;
    }

    /// The rate of the first length in the picture.
    std::optional<FrameRate> find_rate(const Json& item, int depth) {
        if (text_of(item, "kind") == "Audio") return std::nullopt;
        if (depth > kNestingMax) {
            if (problems_.empty())
                problems_.add("", fmt::format("more than {} compositions inside each other", kNestingMax));
            return std::nullopt;
        }
        for (const char* key : {"source_range", "available_range"}) {
            const Json& duration = member(member(item, key), "duration");
            if (const auto found = rate_of(member(duration, "rate"))) return found;
        }
        if (schema_of(item) == "Clip") {
            const auto reference = active_reference(item, "");
            if (!reference.first->is_null()) return find_rate(*reference.first, depth + 1);
        }
        const Json& children = member(item, "children");
        if (!children.is_array()) return std::nullopt;
        for (const Json& child : children) {
            if (const auto found = find_rate(child, depth + 1)) return found;
        }
        return std::nullopt;
    }

    std::optional<Time> read_time(const Json& value, const std::string& pointer) {
        const Json& number = member(value, "value");
        const Json& rate = member(value, "rate");
        if (!number.is_number() || !rate.is_number()) {
            problems_.add(pointer, "expected a RationalTime with a value and a rate, both finite numbers");
            return std::nullopt;
        }
        const auto exact = rate_of(rate);
        if (!exact) {
            problems_.add(pointer + "/rate", fmt::format("expected frames a second, 1 to {:.0f}, found {}",
                                                         kOtioRateMax, json_text(rate)));
            return std::nullopt;
        }
        const auto frames = number.get<double>();
        if (!(std::abs(frames) <= kStartMax)) {
            problems_.add(pointer + "/value", fmt::format("too large: {}", json_text(number)));
            return std::nullopt;
        }
        return Time{frames, *exact};
    }

    std::optional<ItemRange> read_range(const Json& item, const char* key, const std::string& pointer) {
        const Json& range = member(item, key);
        if (range.is_null()) return std::nullopt;
        const std::string at = pointer + "/" + key;
        const Json& start = member(range, "start_time");
        const Json& duration = member(range, "duration");
        if (start.is_null() || duration.is_null()) {
            problems_.add(at, "expected a TimeRange with a start_time and a duration");
            return std::nullopt;
        }
        const auto from = read_time(start, at + "/start_time");
        const auto length = read_time(duration, at + "/duration");
        if (!from || !length) return std::nullopt;
        if (length->value < 0 || length->value > kItemFramesMax) {
            problems_.add(at + "/duration", fmt::format("expected 0 to {:.0f} frames", kItemFramesMax));
            return std::nullopt;
        }
        return ItemRange{*from, *length};
    }

    double in_record(const Time& time) const { return scaled(time.value, rate_ratio(time.rate, *list_.rate)); }

    Node read_item(const Json& item, const std::string& pointer, const std::string& event, int depth) {
        Node node;
        node.pointer = pointer;
        node.event = event;
        if (depth > kNestingMax) {
            problems_.add(pointer, fmt::format("more than {} compositions inside each other", kNestingMax));
            return node;
        }
        const std::string schema = schema_of(item);
        if (schema == "Clip") {
            read_clip(item, node);
        } else if (schema == "Track" || schema == "Stack") {
            read_composition(item, schema == "Track", node, depth);
        } else if (schema == "Transition") {
            read_transition(item, node);
        } else if (schema.empty()) {
            problems_.add(pointer, "expected an object with an OTIO_SCHEMA");
        } else {
            if (const auto range = read_range(item, "source_range", pointer))
                node.duration = in_record(range->duration);
            if (schema != "Gap") ++unknown_[schema];
        }
        if (!is_enabled(item) && node.kind != Node::Kind::gap && node.kind != Node::Kind::transition) {
            node.kind = Node::Kind::gap;
            ++disabled_;
        }
        return node;
    }

    void read_transition(const Json& item, Node& node) {
        node.kind = Node::Kind::transition;
        for (const auto& [key, into] : {std::pair("in_offset", &node.in), std::pair("out_offset", &node.out)}) {
            const Json& offset = member(item, key);
            if (offset.is_null()) continue;
            const auto time = read_time(offset, node.pointer + "/" + key);
            if (!time) continue;
            const double frames = in_record(*time);
            if (frames < 0 || frames > kItemFramesMax)
                problems_.add(node.pointer + "/" + key, "expected a length of 0 or more");
            else
                *into = to_frame(frames);
        }
    }

    /// A time between two frames means the frame before.
    std::int64_t to_frame(double frames) {
        const std::int64_t whole = whole_frames(frames);
        if (frames - static_cast<double>(whole) > 1e-3) ++between_frames_;
        return whole;
    }

    void read_composition(const Json& item, bool track, Node& node, int depth) {
        node.kind = track ? Node::Kind::track : Node::Kind::stack;
        const Json& children = member(item, "children");
        if (!children.is_array()) {
            problems_.add(node.pointer + "/children", "expected an array");
            return;
        }
        std::size_t clips = 0;
        std::size_t tracks = 0;
        double length = 0;
        for (std::size_t i = 0; i < children.size(); ++i) {
            const Json& child = children[i];
            const std::string schema = schema_of(child);
            const std::string at = fmt::format("{}/children/{}", node.pointer, i);
            const std::string kind = text_of(child, "kind");
            if (schema == "Track" && !kind.empty() && kind != "Video") {
                ++other_tracks_;
                if (!track) continue;
            }
            std::string event = node.event + (node.event.empty() ? "" : " ");
            if (schema == "Track") {
                event += fmt::format("track V{}", ++tracks);
            } else if (schema != "Transition" && schema != "Gap") {
                event += fmt::format("clip {}", ++clips);
            }
            Node read = read_item(child, at, event, depth + 1);
            if (track) {
                node.starts.push_back(to_frame(length));
                length += read.duration;
            } else {
                length = std::max(length, read.duration);
            }
            node.children.push_back(std::move(read));
        }
        if (track) node.starts.push_back(to_frame(length));
        node.duration = length;
        if (const auto range = read_range(item, "source_range", node.pointer)) {
            node.start = in_record(range->start);
            node.duration = in_record(range->duration);
        }
        if (length > kStartMax) problems_.add(node.pointer, "too long");
        if (track) check_transitions(node);
        check_range(node, length);
        set_speed(node, fraction_of_speed(item, node.pointer));
    }

    /// The range of a composition may begin before its content or end after it; there it shows nothing.
    void check_range(const Node& node, double length) {
        const bool outside = node.start >= length || node.start + node.duration <= 0;
        if (length > 0 && node.duration > 0 && outside)
            problems_.add(node.pointer + "/source_range",
                          fmt::format("frames {} to {} lie outside of what it holds, frames 0 to {}",
                                      whole_frames(node.start), whole_frames(node.start + node.duration) - 1,
                                      whole_frames(length) - 1));
        else if (node.start < 0)
            ++begins_before_;
    }

    void check_transitions(const Node& track) {
        std::int64_t taken = 0;  // frames of the item that the transition before it took
        std::int64_t item = 0;   // its length
        for (std::size_t i = 0; i < track.children.size(); ++i) {
            const Node& child = track.children[i];
            if (child.kind != Node::Kind::transition) {
                if (i == 0 || track.children[i - 1].kind != Node::Kind::transition) taken = 0;
                item = track.starts[i + 1] - track.starts[i];
                if (taken > item)
                    problems_.add(track.children[i - 1].pointer, "reaches past the end of the item after it");
                continue;
            }
            if (i > 0 && child.in + taken > item)
                problems_.add(child.pointer,
                              "reaches past the beginning of the item before it, or into the "
                              "transition there");
            taken = child.out;
        }
    }

    EditSpeed fraction_of_speed(const Json& item, const std::string& pointer) {
        const double speed = speed_of(item, pointer);
        if (std::abs(speed) <= kFractionMax) return fraction_of(speed);
        problems_.add(pointer + "/effects", "its speed takes it through too many frames");
        return {};
    }

    /// The product of the time effects; 0: a still.
    double speed_of(const Json& item, const std::string& pointer) {
        double speed = 1;
        const Json& effects = member(item, "effects");
        if (!effects.is_array()) return speed;
        for (std::size_t i = 0; i < effects.size(); ++i) {
            const Json& effect = effects[i];
            const std::string schema = schema_of(effect);
            if (!is_enabled(effect)) continue;
            if (schema == "FreezeFrame") {
                speed = 0;
            } else if (schema == "LinearTimeWarp") {
                const Json& scalar = member(effect, "time_scalar");
                if (scalar.is_number() && std::abs(scalar.get<double>()) <= kSpeedMax) {
                    speed *= scalar.get<double>();
                } else {
                    problems_.add(fmt::format("{}/effects/{}/time_scalar", pointer, i),
                                  fmt::format("expected a number from -{0:.0f} to {0:.0f}", kSpeedMax));
                }
            } else if (schema.find("Time") != std::string::npos) {
                ++unknown_[schema];
            }
        }
        return speed;
    }

    void read_image_sequence(const Json& reference, const std::string& pointer, EditMedia& media) {
        std::string folder = path_in_url(text_of(reference, "target_url_base"));
        if (!folder.empty() && folder.back() != '/') folder += '/';
        const auto number = [&](const char* key, std::int64_t fallback) {
            const Json& found = member(reference, key);
            if (found.is_null()) return fallback;
            if (found.is_number_integer() && std::abs(found.get<double>()) <= kStartMax)
                return found.get<std::int64_t>();
            problems_.add(pointer + "/" + key, fmt::format("expected an integer, found {}", json_text(found)));
            return fallback;
        };
        media.start_number = number("start_frame", 1);
        const std::int64_t digits = number("frame_zero_padding", 0);
        if (digits < 0 || digits > 18)
            problems_.add(pointer + "/frame_zero_padding", "expected 0 to 18 digits");
        if (number("frame_step", 1) != 1)
            problems_.add(pointer + "/frame_step", "a step other than 1 cannot be played");
        media.file = fmt::format("{}{}{:0{}}{}", folder, text_of(reference, "name_prefix"), *media.start_number,
                                 std::clamp<std::int64_t>(digits, 0, 18), text_of(reference, "name_suffix"));
        media.rate = rate_of(member(reference, "rate"));
        media.own_rate = media.rate.has_value();
    }

    void read_clip(const Json& item, Node& node) {
        const auto [reference, at] = active_reference(item, node.pointer);
        EditMedia media;
        media.name = text_of(item, "name");
        media.reel = reel_of(item);
        std::optional<ItemRange> available;
        bool generated = false;
        if (!reference->is_null()) {
            const std::string schema = schema_of(*reference);
            available = read_range(*reference, "available_range", at);
            generated = schema == "GeneratorReference";
            if (schema == "ExternalReference") media.file = path_in_url(text_of(*reference, "target_url"));
            if (schema == "ImageSequenceReference") read_image_sequence(*reference, at, media);
            if (media.reel.empty()) media.reel = reel_of(*reference);
            if (media.reel.empty()) media.reel = text_of(*reference, "name");
        }
        auto range = read_range(item, "source_range", node.pointer);
        if (!range) range = available;
        if (!range) {
            problems_.add(node.pointer,
                          "expected a source_range, or an available_range in its media reference");
            return;
        }
        node.duration = in_record(range->duration);
        if (generated) {
            ++generated_;
            return;
        }
        ++list_.events;
        node.kind = Node::Kind::clip;
        if (media.file.empty() && media.name.empty() && media.reel.empty())
            problems_.add(node.pointer, "expected a target_url, a name or a reel: it names no media");
        if (available) {
            media.rate = available->start.rate;
            media.own_rate = true;
            media.start = to_frame(available->start.value);
            media.frames = scaled(available->duration.value, rate_ratio(available->duration.rate, *media.rate));
        } else if (!media.rate) {
            media.rate = range->start.rate;
        }
        EditSpeed speed = fraction_of_speed(item, node.pointer);
        const bool still = available && available->duration.value == 1 && range->duration.value > 1;
        if (still) {
            range->start = available->start;
            speed = {0, 1};
        }
        set_source(node, *range, *media.rate, speed);
        node.piece.media = known_media(std::move(media));
    }

    void set_source(Node& node, const ItemRange& range, FrameRate rate, EditSpeed speed) {
        EditPiece& piece = node.piece;
        piece.event = node.event;
        piece.place = node.pointer;
        piece.first = to_frame(scaled(range.start.value, rate_ratio(range.start.rate, rate)));
        piece.day = frames_of_day(rate, false);
        const auto usable = product(speed, rate_ratio(*list_.rate, rate));
        if (!usable) {
            problems_.add(node.pointer, "its speed and its rate have no usable ratio to the rate of the list");
            return;
        }
        set_speed(node, *usable);
    }

    /// Source or content frames for each frame of the record; backwards begins with the last one.
    void set_speed(Node& node, EditSpeed shown) {
        EditPiece& piece = node.piece;
        const auto record = static_cast<std::uint64_t>(std::max<std::int64_t>(1, node.frames()));
        if (std::abs(scaled(static_cast<double>(record), shown)) > kSourceFramesMax) {
            problems_.add(node.pointer, "its speed takes it through too many frames");
            return;
        }
        if (shown.num < 0) {
            const auto source = std::max<std::uint64_t>(
                1, static_cast<std::uint64_t>(floor_scaled(record, -shown.num, shown.den)));
            piece.first += static_cast<std::int64_t>(source) - 1;
            shown = within(shown, source, record);
        }
        piece.speed = shown;
    }

    std::uint32_t known_media(EditMedia media) {
        const auto next = static_cast<std::uint32_t>(list_.media.size());
        const FrameRate rate = media.rate.value_or(FrameRate{});
        const auto [entry, is_new] =
            known_.try_emplace({media.file, media.name, media.reel, media.start, media.start_number, rate.num,
                                rate.den, media.own_rate, media.frames},
                               next);
        if (is_new) list_.media.push_back(std::move(media));
        return entry->second;
    }

    /// The visible pieces of a node in [from, to) of its own frames; pieces count from `from`.
    std::vector<EditPiece> render(const Node& node, std::int64_t from, std::int64_t to) const {
        if (from >= to) return {};
        const EditSpeed speed = node.piece.speed;
        if (node.kind == Node::Kind::clip || speed.num == speed.den) return render_content(node, from, to);
        EditPiece shown = node.piece;
        shown.first += floor_signed(from, speed);
        shown.frames = static_cast<std::uint64_t>(to - from);
        const auto [low, high] = std::minmax({shown.source_at(0), shown.source_at(shown.frames - 1)});
        shown.first -= low;
        return at_speed(render_content(node, low, high + 1), shown);
    }

    std::vector<EditPiece> render_content(const Node& node, std::int64_t from, std::int64_t to) const {
        std::vector<EditPiece> out;
        if (node.kind == Node::Kind::clip) {
            EditPiece piece = node.piece;
            piece.first += floor_signed(from, piece.speed);
            piece.frames = static_cast<std::uint64_t>(to - from);
            piece.handle_before = static_cast<std::uint64_t>(std::clamp<std::int64_t>(-from, 0, to - from));
            piece.handle_after =
                static_cast<std::uint64_t>(std::clamp<std::int64_t>(to - node.frames(), 0, to - from));
            out.push_back(std::move(piece));
        } else if (node.kind == Node::Kind::track) {
            render_track(node, from, to, out);
        } else if (node.kind == Node::Kind::stack) {
            const std::int64_t start = whole_frames(node.start);
            std::vector<std::vector<EditPiece>> tracks;
            for (const Node& child : node.children) {
                const std::int64_t begin = std::max<std::int64_t>(0, from + start);
                tracks.push_back(render(child, begin, std::min(child.frames(), to + start)));
                shift(tracks.back(), begin - start - from);
            }
            out = topmost(tracks, hidden_);
        }
        return out;
    }

    static void shift(std::vector<EditPiece>& pieces, std::int64_t by) {
        for (EditPiece& piece : pieces) piece.at += static_cast<std::uint64_t>(by);
    }

    void render_track(const Node& track,
                      std::int64_t from,
                      std::int64_t to,
                      std::vector<EditPiece>& out) const {
        const std::int64_t start = whole_frames(track.start);
        for (std::size_t i = 0; i < track.children.size(); ++i) {
            const Node& child = track.children[i];
            const std::int64_t begin = track.starts[i];
            std::int64_t first = begin;
            std::int64_t end = track.starts[i + 1];
            if (i > 0 && track.children[i - 1].kind == Node::Kind::transition)
                first -= track.children[i - 1].in;
            if (i + 1 < track.children.size() && track.children[i + 1].kind == Node::Kind::transition)
                end += track.children[i + 1].out;
            first = std::max(first, from + start);
            end = std::min(end, to + start);
            auto pieces = render(child, first - begin, end - begin);
            shift(pieces, first - start - from);
            out.insert(out.end(), std::make_move_iterator(pieces.begin()),
                       std::make_move_iterator(pieces.end()));
        }
    }

    void add_notes() {
        const auto note = [this](std::uint64_t count, const char* what) {
            if (count > 0) list_.notes.push_back(fmt::format("{} {}", show_count(count), what));
        };
        note(other_tracks_, "tracks without a picture ignored");
        note(disabled_, "disabled items ignored");
        note(generated_, "generated pictures, for which nothing is read");
        note(begins_before_, "source ranges that begin before what the track holds: nothing is shown there");
        note(between_frames_, "times that fall between two frames: the frame before is taken");
        for (const auto& [schema, count] : unknown_)
            list_.notes.push_back(fmt::format("{} of schema {} passed over", count, schema));
        if (hidden_)
            list_.notes.emplace_back("where video tracks lie over each other only the topmost is read");
    }

    using MediaKey = std::tuple<std::string,
                                std::string,
                                std::string,
                                std::optional<std::int64_t>,
                                std::optional<std::int64_t>,
                                std::int64_t,
                                std::int64_t,
                                bool,
                                std::optional<double>>;

    JsonProblems problems_;
    EditList list_;
    std::map<MediaKey, std::uint32_t> known_;
    std::map<std::string, std::uint64_t> unknown_;
    std::uint64_t other_tracks_ = 0;
    std::uint64_t disabled_ = 0;
    std::uint64_t generated_ = 0;
    std::uint64_t begins_before_ = 0;
    std::uint64_t between_frames_ = 0;
    mutable bool hidden_ = false;
};

}  // namespace

Result<EditList> parse_otio(std::string_view text, const std::string& source) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    const auto document = parse_json(without_infinities(text), source);
    if (!document) return document.error();
    return OtioReader(source).read(*document);
}

}  // namespace streamsim::media
