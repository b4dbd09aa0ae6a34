#include "play/play_path.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/prng.h"
#include "base/similar_names.h"
#include "base/wide.h"
#include "play/player_options.h"

namespace streamsim::play {
namespace {

constexpr std::uint64_t kRandomUse = 0x72616e646f6d;  // separate uses of the seed
constexpr std::uint64_t kHandUse = 0x68616e64;
constexpr std::uint64_t kAngleUse = 0x616e676c65;

/// Seconds between two jumps: bell-shaped around the middle of [least, most].
struct Rhythm {
    double least = 0.2;
    double most = 1.6;
};
constexpr Rhythm kHand{0.2, 1.6};
constexpr Rhythm kCutter{1, 6};
constexpr double kNearSeconds = 2;  // the distance of most jumps
constexpr std::uint64_t kNearOf5 = 4;

/// The jumps of an operator with a rhythm, as slots; caches one stretch of them. Each stretch has its own seed,
/// so that any slot is found without all stretches before it.
class Jumps {
public:
    struct Jump {
        std::uint64_t slot = 0;
        std::uint64_t draw = 0;  // a random number that decides the target
    };

    Jumps(Rhythm rhythm, FrameRate rate, std::uint64_t seed)
        : least_(std::max<std::uint64_t>(slots_of(rhythm.least, rate), 1)),
          spread_(std::max<std::uint64_t>(slots_of(rhythm.most, rate), least_) - least_),
          seed_(seed) {}

    /// The jumps of the stretch that holds the slot, rising; the first is the stretch's first slot.
    const std::vector<Jump>& around(std::uint64_t slot) {
        const std::uint64_t stretch = slot / kStretch;
        if (!jumps_.empty() && stretch == stretch_) return jumps_;
        stretch_ = stretch;
        jumps_.clear();
        Prng prng(derive_seed(seed_, stretch));
        const std::uint64_t end = (stretch + 1) * kStretch;
        for (std::uint64_t at = stretch * kStretch; at < end;) {
            jumps_.push_back({at, prng.next()});
            const double middling = (prng.unit() + prng.unit() + prng.unit()) / 3;
            at += least_ + static_cast<std::uint64_t>(middling * static_cast<double>(spread_ + 1));
            if (at + least_ > end) break;  // two jumps have a distance
        }
        return jumps_;
    }
    /// The index in around(slot) of the last jump at the slot or before it.
    std::size_t last(std::uint64_t slot) {
        const auto& jumps = around(slot);
        const auto after = std::upper_bound(jumps.begin(), jumps.end(), slot,
                                            [](std::uint64_t at, const Jump& jump) { return at < jump.slot; });
        return static_cast<std::size_t>(after - jumps.begin()) - 1;
    }
    bool at(std::uint64_t slot) { return around(slot)[last(slot)].slot == slot; }

private:
    static constexpr std::uint64_t kStretch = 1 << 14;
    static std::uint64_t slots_of(double length_s, FrameRate rate) {
        return static_cast<std::uint64_t>(length_s * rate.per_second());
    }

    std::uint64_t least_;
    std::uint64_t spread_;
    std::uint64_t seed_;
    std::uint64_t stretch_ = 0;
    std::vector<Jump> jumps_;
};

/// The position of the operator in a clip of `frames` frames.
class Position {
public:
    Position(PlayOrder order, std::uint64_t frames, FrameRate rate, std::uint64_t seed)
        : order_(order),
          frames_(frames),
          near_(std::max<std::uint64_t>(static_cast<std::uint64_t>(kNearSeconds * rate.per_second()), 1)),
          seed_(derive_seed(seed, kRandomUse)),
          hand_(kHand, rate, derive_seed(seed, kHandUse)) {}

    std::uint64_t at(std::uint64_t slot) {
        using Kind = PlayOrder::Kind;
        switch (order_.kind) {
            case Kind::forward:
            case Kind::cuts: break;
            case Kind::reverse: return frames_ - 1 - slot % frames_;
            case Kind::ping_pong: return ping_pong(slot);
            case Kind::shuttle: return shuttled(slot);
            case Kind::random: return Prng(derive_seed(seed_, slot)).below(frames_);
            case Kind::scrub: return scrubbed(slot);
        }
        return slot % frames_;
    }
    bool seeks() const { return order_.kind == PlayOrder::Kind::scrub; }
    bool sought(std::uint64_t slot) { return seeks() && slot > 0 && hand_.at(slot); }
    std::uint64_t pass_slots() const {
        if (order_.kind == PlayOrder::Kind::ping_pong) return std::max<std::uint64_t>(2 * frames_ - 2, 1);
        if (order_.kind != PlayOrder::Kind::shuttle) return frames_;
        const auto step = static_cast<std::uint64_t>(std::abs(order_.step));
        return (frames_ + step - 1) / step;
    }

private:
    std::uint64_t ping_pong(std::uint64_t slot) const {
        const std::uint64_t there = slot % pass_slots();
        return there < frames_ ? there : 2 * frames_ - 2 - there;
    }
    std::uint64_t shuttled(std::uint64_t slot) const {
        const auto step = static_cast<std::uint64_t>(std::abs(order_.step));
        const auto there = static_cast<std::uint64_t>(Wide{slot} * step % frames_);
        return order_.step > 0 ? there : frames_ - 1 - there;
    }
    /// The position after each jump depends on the one before it, from the first of the stretch on.
    std::uint64_t scrubbed(std::uint64_t slot) {
        const auto& jumps = hand_.around(slot);
        if (targets_from_ != jumps.front().slot || targets_.size() != jumps.size()) {
            targets_from_ = jumps.front().slot;
            targets_.clear();
            for (const Jumps::Jump& jump : jumps) targets_.push_back(target(jump, jumps));
        }
        const std::size_t last = hand_.last(slot);
        return (targets_[last] + slot - jumps[last].slot) % frames_;
    }
    std::uint64_t target(const Jumps::Jump& jump, const std::vector<Jumps::Jump>& jumps) const {
        Prng prng(jump.draw);
        const bool near = prng.below(5) < kNearOf5 && !targets_.empty();
        if (!near || 2 * near_ >= frames_) return prng.below(frames_);
        const std::size_t before = targets_.size() - 1;
        const std::uint64_t here = targets_[before] + jump.slot - jumps[before].slot;
        return (here + frames_ - near_ + prng.below(2 * near_ + 1)) % frames_;
    }

    PlayOrder order_;
    std::uint64_t frames_;
    std::uint64_t near_;
    std::uint64_t seed_;
    Jumps hand_;
    std::uint64_t targets_from_ = UINT64_MAX;
    std::vector<std::uint64_t> targets_;  // of the jumps in the operator's stretch
};

class LayeredPath final : public PlayPath {
public:
    LayeredPath(Sources layers, PlayOrder order, std::optional<FrameRate> rate, std::uint64_t seed)
        : PlayPath(layers, rate.value_or(layers.front()->rate())),
          first_(*layers.front()),
          forward_(order.kind == PlayOrder::Kind::forward),
          consecutive_(forward_ || order.kind == PlayOrder::Kind::reverse ||
                       order.kind == PlayOrder::Kind::ping_pong),
          own_times_(forward_ && !rate && first_.variable_rate()),
          position_(order, first_.count(), this->rate(), seed),
          unused_(position_) {}

    void shown(std::uint64_t slot, std::vector<ShownFrame>& into) const override {
        show(position_, slot, into);
    }
    std::size_t shown_max() const override { return sources().size(); }
    Duration due(std::uint64_t slot) const override {
        if (!own_times_) return PlayPath::due(slot);
        const std::uint64_t frames = first_.count();
        return Duration{static_cast<std::int64_t>(slot / frames) * first_.due(frames).ns} +
               first_.due(slot % frames);
    }
    bool steady() const override { return !own_times_; }
    std::uint64_t slots_in(Duration length) const override {
        if (!own_times_) return PlayPath::slots_in(length);
        const std::uint64_t frames = first_.count();
        const std::int64_t pass_ns = std::max<std::int64_t>(first_.due(frames).ns, 1);
        std::uint64_t low = static_cast<std::uint64_t>(length.ns / pass_ns) * frames;  // due before it
        std::uint64_t high = low + frames;
        while (low < high) {
            const std::uint64_t middle = low + (high - low) / 2;
            if (due(middle) < length) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
    bool seeks() const override { return position_.seeks(); }
    bool sought(std::uint64_t slot) const override { return position_.sought(slot); }
    std::uint64_t pass_slots() const override { return position_.pass_slots(); }
    bool repeats_within(std::uint64_t slots) const override {
        if (consecutive_) {
            return std::any_of(sources().begin(), sources().end(),
                               [slots](const auto& layer) { return slots > layer->count(); });
        }
        Position position = unused_;
        return repeats(slots, [&](std::uint64_t slot, auto& into) { show(position, slot, into); });
    }
    bool front_to_back() const override { return forward_ && sources().size() == 1; }

private:
    void show(Position& position, std::uint64_t slot, std::vector<ShownFrame>& into) const {
        into.clear();
        const std::uint64_t frame = position.at(slot);
        into.push_back({0, frame});
        for (std::uint32_t i = 1; i < sources().size(); ++i) into.push_back({i, frame % sources()[i]->count()});
    }

    const FrameIndex& first_;
    bool forward_;
    bool consecutive_;  // the first slots, as many as the clip has frames, show frame after frame
    bool own_times_;
    mutable Position position_;
    const Position unused_;  // caches nothing, so that any thread may copy it
};

class AnglePath final : public PlayPath {
public:
    AnglePath(Sources angles, PlayOrder order, std::optional<FrameRate> rate, std::uint64_t seed)
        : PlayPath(angles, rate.value_or(angles.front()->rate())),
          unused_{{order, angles.front()->count(), this->rate(), seed},
                  {kCutter, this->rate(), derive_seed(seed, kAngleUse)}},
          operator_(unused_) {}

    void shown(std::uint64_t slot, std::vector<ShownFrame>& into) const override {
        show(operator_, slot, into);
    }
    bool seeks() const override { return unused_.position.seeks() || sources().size() > 1; }
    bool sought(std::uint64_t slot) const override {
        if (slot == 0) return false;
        return operator_.position.sought(slot) || (sources().size() > 1 && operator_.cuts.at(slot));
    }
    std::uint64_t pass_slots() const override { return unused_.position.pass_slots(); }
    bool repeats_within(std::uint64_t slots) const override {
        Operator own = unused_;
        return repeats(slots, [&](std::uint64_t slot, auto& into) { show(own, slot, into); });
    }

private:
    struct Operator {
        Position position;
        Jumps cuts;
    };

    void show(Operator& by, std::uint64_t slot, std::vector<ShownFrame>& into) const {
        into.clear();
        const std::uint32_t angle = angle_at(by.cuts, slot);
        into.push_back({angle, by.position.at(slot) % sources()[angle]->count()});
    }
    /// Each cut goes to another angle than the one before it in its stretch.
    std::uint32_t angle_at(Jumps& jumps, std::uint64_t slot) const {
        const auto angles = static_cast<std::uint64_t>(sources().size());
        if (angles == 1) return 0;
        const auto& cuts = jumps.around(slot);
        const std::size_t last = jumps.last(slot);
        std::uint64_t angle = cuts.front().slot == 0 ? 0 : cuts.front().draw % angles;
        for (std::size_t i = 1; i <= last; ++i) angle = (angle + 1 + cuts[i].draw % (angles - 1)) % angles;
        return static_cast<std::uint32_t>(angle);
    }

    const Operator unused_;  // caches nothing, so that any thread may copy it
    mutable Operator operator_;
};

class CutPath final : public PlayPath {
public:
    CutPath(const CutList& list, FrameRate rate) : PlayPath(indexes(list), rate), frames_(list.frames) {
        STREAMSIM_CHECK(frames_ > 0, "a cut list has a length");
        segments_ = list.segments;
        std::vector<std::uint64_t> at = {0};
        for (const CutSegment& segment : segments_) {
            at.push_back(segment.at);
            at.push_back(segment.at + segment.frames);
        }
        std::sort(at.begin(), at.end());
        at.erase(std::unique(at.begin(), at.end()), at.end());
        for (const std::uint64_t begin : at) steps_.push_back({begin, {}});
        for (std::uint32_t i = 0; i < segments_.size(); ++i) {
            const CutSegment& segment = segments_[i];
            auto step = std::lower_bound(steps_.begin(), steps_.end(), segment.at,
                                         [](const Step& a, std::uint64_t b) { return a.begin < b; });
            for (; step != steps_.end() && step->begin < segment.at + segment.frames; ++step) {
                step->segments.insert(step->segments.begin(), i);
                shown_max_ = std::max(shown_max_, step->segments.size());
            }
        }
    }

    void shown(std::uint64_t slot, std::vector<ShownFrame>& into) const override {
        into.clear();
        const std::uint64_t at = slot % frames_;
        for (const std::uint32_t i : step_at(at)->segments) {
            const CutSegment& segment = segments_[i];
            into.push_back({segment.clip, frame_of(segment, at - segment.at)});
        }
    }
    std::size_t shown_max() const override { return shown_max_; }
    std::uint64_t pass_slots() const override { return frames_; }
    std::uint64_t piece(std::uint64_t slot) const override {
        return slot / frames_ * steps_.size() +
               static_cast<std::uint64_t>(step_at(slot % frames_) - steps_.begin());
    }

private:
    struct Step {  // between two edges of segments
        std::uint64_t begin = 0;
        std::vector<std::uint32_t> segments;  // the latest to begin first
    };

    std::vector<Step>::const_iterator step_at(std::uint64_t at) const {
        const auto after = std::upper_bound(steps_.begin(), steps_.end(), at,
                                            [](std::uint64_t a, const Step& b) { return a < b.begin; });
        return std::prev(after);
    }
    static Sources indexes(const CutList& list) {
        Sources sources;
        for (const Clip& clip : list.clips) sources.push_back(clip.index);
        return sources;
    }
    std::uint64_t frame_of(const CutSegment& segment, std::uint64_t i) const {
        const std::int64_t moved = floor_scaled(i, segment.speed_num, segment.speed_den);
        const auto last = static_cast<std::int64_t>(sources()[segment.clip]->count()) - 1;
        return static_cast<std::uint64_t>(std::clamp<std::int64_t>(segment.first + moved, 0, last));
    }

    std::uint64_t frames_;
    std::vector<CutSegment> segments_;
    std::vector<Step> steps_;
    std::size_t shown_max_ = 1;
};

constexpr std::string_view kShuttle = "shuttle";
constexpr std::int64_t kShuttleMax = 1'000'000;
const Words<PlayOrder::Kind> kOrderWords = {
    {"forward", PlayOrder::Kind::forward},     {"reverse", PlayOrder::Kind::reverse},
    {"ping-pong", PlayOrder::Kind::ping_pong}, {"scrub", PlayOrder::Kind::scrub},
    {"random", PlayOrder::Kind::random},       {"cuts", PlayOrder::Kind::cuts}};

}  // namespace

std::string PlayOrder::text() const {
    if (kind == Kind::shuttle) return std::string(kShuttle) + ":" + std::to_string(step);
    return word_of(kOrderWords, kind);
}

Result<PlayOrder> PlayOrder::parse(std::string_view text) {
    if (const auto named = value_of(kOrderWords, std::string(text))) return PlayOrder{*named, 1};
    if (text.starts_with(kShuttle) && text.size() > kShuttle.size() && text[kShuttle.size()] == ':') {
        const std::string_view number = text.substr(kShuttle.size() + 1);
        PlayOrder order{Kind::shuttle, 0};
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), order.step);
        const bool whole = error == std::errc() && end == number.data() + number.size();
        if (whole && order.step != 0 && order.step >= -kShuttleMax && order.step <= kShuttleMax) return order;
        return bad_input("'" + std::string(text) +
                         "': expected shuttle:N, every Nth frame; N is a whole number, below 0 for backwards");
    }
    return bad_input(
        "'" + std::string(text) +
        "': expected one of forward, reverse, ping-pong, shuttle:N, scrub, random, cuts" +
        did_you_mean(text, {"forward", "reverse", "ping-pong", "shuttle:N", "scrub", "random", "cuts"}));
}

bool PlayPath::repeats_within(std::uint64_t slots) const {
    return repeats(slots, [this](std::uint64_t slot, auto& into) { shown(slot, into); });
}

bool PlayPath::repeats(std::uint64_t slots, const Show& show) const {
    std::vector<std::vector<bool>> seen;  // by source and frame
    for (const auto& source : sources_) seen.emplace_back(source->count());
    std::vector<ShownFrame> frames;
    for (std::uint64_t slot = 0; slot < slots; ++slot) {
        show(slot, frames);
        for (const ShownFrame& each : frames) {
            if (seen[each.source][each.frame]) return true;
            seen[each.source][each.frame] = true;
        }
    }
    return false;
}

ShownFrame PlayPath::named(std::uint64_t slot) const {
    shown(slot, scratch_);
    return scratch_.empty() ? ShownFrame{} : scratch_.front();
}

std::shared_ptr<const PlayPath> make_path(PlayPath::Sources layers,
                                          PlayOrder order,
                                          std::optional<FrameRate> rate,
                                          std::uint64_t seed) {
    return std::make_shared<LayeredPath>(std::move(layers), order, rate, seed);
}

std::shared_ptr<const PlayPath> make_angle_path(PlayPath::Sources angles,
                                                PlayOrder order,
                                                std::optional<FrameRate> rate,
                                                std::uint64_t seed) {
    return std::make_shared<AnglePath>(std::move(angles), order, rate, seed);
}

std::shared_ptr<const PlayPath> make_cut_path(const CutList& list, std::optional<FrameRate> rate) {
    return std::make_shared<CutPath>(list, rate.value_or(list.rate));
}

}  // namespace streamsim::play
