#include "media/cuts/edit_pieces.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace streamsim::media {
namespace {

/// A speed with a larger denominator is cut at its nearest frame: one frame off for less than a source frame.
constexpr std::int64_t kExactDenominatorMax = 1001;
constexpr std::int64_t kDenominatorMax = 1'000'000;  // largest denominator of a fraction for a decimal number
constexpr double kTermMax = 1e15;                    // largest term of a product
constexpr double kSameNumber = 1e-9;                 // relative; nine digits are written at least

struct Interval {
    std::uint64_t from;
    std::uint64_t to;
};

/// A piece that begins `skip` record frames later.
EditPiece shortened(const EditPiece& piece, std::uint64_t skip, std::uint64_t frames) {
    EditPiece out = piece;
    const std::uint64_t rest = piece.frames - skip - frames;
    out.at = piece.at + skip;
    out.frames = frames;
    out.first = piece.source_at(skip);
    out.handle_before = std::min(frames, piece.handle_before - std::min(piece.handle_before, skip));
    out.handle_after = std::min(frames, piece.handle_after - std::min(piece.handle_after, rest));
    return out;
}

/// Appends the record frames [from, to) of a piece, in as many pieces as it takes to be exact: a fraction of a
/// speed may begin between two frames. REQUIRES: piece.at <= from <= to <= piece.at + piece.frames.
void append_part(const EditPiece& piece, std::uint64_t from, std::uint64_t to, std::vector<EditPiece>& out) {
    if (from == to) return;
    std::uint64_t skip = from - piece.at;
    const std::uint64_t end = to - piece.at;
    const auto den = static_cast<std::uint64_t>(piece.speed.den);
    // Frame by frame up to the next one at which the fraction is zero.
    if (skip > 0 && piece.speed.den <= kExactDenominatorMax) {
        for (; skip < end && skip % den != 0; ++skip) out.push_back(shortened(piece, skip, 1));
    }
    if (skip < end) out.push_back(shortened(piece, skip, end - skip));
}

void append_visible(const EditPiece& piece,
                    const std::vector<Interval>& covered,
                    bool& hidden,
                    std::vector<EditPiece>& out) {
    const std::uint64_t end = piece.at + piece.frames;
    std::uint64_t from = piece.at;
    auto above = std::lower_bound(covered.begin(), covered.end(), from,
                                  [](const Interval& interval, std::uint64_t at) { return interval.to <= at; });
    for (; above != covered.end() && above->from < end; ++above) {
        hidden = true;
        if (above->from > from) append_part(piece, from, above->from, out);
        from = above->to;
        if (from >= end) return;
    }
    append_part(piece, from, end, out);
}

void cover(const std::vector<EditPiece>& track, std::vector<Interval>& covered) {
    for (const EditPiece& piece : track) covered.push_back({piece.at, piece.at + piece.frames});
    std::sort(covered.begin(), covered.end(), [](auto& a, auto& b) { return a.from < b.from; });
    std::vector<Interval> joined;
    for (const Interval& interval : covered) {
        if (!joined.empty() && interval.from <= joined.back().to) {
            joined.back().to = std::max(joined.back().to, interval.to);
        } else {
            joined.push_back(interval);
        }
    }
    covered = std::move(joined);
}

}  // namespace

std::vector<EditPiece> topmost(const std::vector<std::vector<EditPiece>>& tracks, bool& hidden) {
    std::vector<EditPiece> out;
    std::vector<Interval> covered;
    for (auto track = tracks.rbegin(); track != tracks.rend(); ++track) {
        for (const EditPiece& piece : *track) append_visible(piece, covered, hidden, out);
        if (track + 1 != tracks.rend()) cover(*track, covered);
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    return out;
}

std::vector<EditPiece> at_speed(const std::vector<EditPiece>& content, const EditPiece& shown) {
    const bool backwards = shown.speed.num < 0;
    // Record frames are in order of content frames: the first one at or beyond a content frame.
    const auto first_beyond = [&](std::uint64_t content_frame) {
        const auto at = static_cast<std::int64_t>(content_frame);
        std::uint64_t low = 0;
        std::uint64_t high = shown.frames;
        while (low < high) {
            const std::uint64_t middle = low + (high - low) / 2;
            const bool before = backwards ? shown.source_at(middle) >= at : shown.source_at(middle) < at;
            (before ? low : high) = before ? middle + 1 : middle;
        }
        return low;
    };
    std::vector<EditPiece> out;
    for (const EditPiece& piece : content) {
        const std::uint64_t end = piece.at + piece.frames;
        const auto [low, high] = std::minmax({first_beyond(piece.at), first_beyond(end)});
        if (low == high) continue;
        EditPiece sped = piece;
        sped.at = 0;
        sped.frames = shown.frames;
        const std::uint64_t inner = piece.at + piece.handle_before;
        const std::uint64_t outer = end - std::min(piece.frames, piece.handle_after);
        sped.handle_before = first_beyond(backwards ? outer : inner);
        sped.handle_after = shown.frames - first_beyond(backwards ? inner : outer);
        if (piece.speed.num == piece.speed.den) {
            sped.first = piece.first + shown.first - static_cast<std::int64_t>(piece.at);
            sped.speed = shown.speed;
            append_part(sped, low, high, out);
            continue;
        }
        // Two fractions in turn become one: exact at both ends, and nearly so between them.
        const auto source = [&](std::uint64_t i) {
            return piece.source_at(static_cast<std::uint64_t>(shown.source_at(i)) - piece.at);
        };
        const std::int64_t span = source(high - 1) - source(low);
        sped.at = low;
        sped.frames = high - low;
        sped.first = source(low);
        sped.speed =
            high - low == 1 ? EditSpeed{0, 1} : reduced(span, static_cast<std::int64_t>(high - low) - 1);
        sped.handle_before = std::min(sped.frames, sped.handle_before - std::min(sped.handle_before, low));
        sped.handle_after =
            std::min(sped.frames, sped.handle_after - std::min(sped.handle_after, shown.frames - high));
        out.push_back(std::move(sped));
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    return out;
}

std::optional<EditPiece> third_at_once(const std::vector<EditPiece>& pieces) {
    std::uint64_t ends[2] = {0, 0};  // ends of the pieces that are on, the later one last
    for (const EditPiece& piece : pieces) {
        if (piece.at < ends[0]) return piece;
        ends[0] = piece.at + piece.frames;
        if (ends[0] > ends[1]) std::swap(ends[0], ends[1]);
    }
    return std::nullopt;
}

std::int64_t frames_of_day(FrameRate rate, bool drop) {
    const TimecodeLabel midnight{':', 24, 0, 0, 0};
    return static_cast<std::int64_t>(*frames_of(midnight, rate, drop && has_drop_frame(rate)));
}

EditSpeed reduced(std::int64_t num, std::int64_t den) {
    const std::int64_t divisor = std::max<std::int64_t>(1, std::gcd(num, den));
    return {num / divisor, den / divisor};
}

std::optional<EditSpeed> product(EditSpeed a, EditSpeed b) {
    const auto too_large = [](std::int64_t x, std::int64_t y) {
        return std::abs(static_cast<double>(x) * static_cast<double>(y)) > kTermMax;
    };
    if (too_large(a.num, b.num) || too_large(a.den, b.den)) return std::nullopt;
    return reduced(a.num * b.num, a.den * b.den);
}

EditSpeed rate_ratio(FrameRate from, FrameRate to) {
    if (nominal_rate(from) == nominal_rate(to)) return {1, 1};
    return reduced(to.num * from.den, to.den * from.num);
}

EditSpeed fraction_of(double value) {
    const double magnitude = std::abs(value);
    const std::int64_t sign = value < 0 ? -1 : 1;
    // Continued fraction: each step is the best approximation up to its denominator.
    EditSpeed before{0, 1};
    EditSpeed last{1, 0};
    for (double rest = magnitude;;) {
        const auto whole = static_cast<std::int64_t>(rest);
        const EditSpeed next{whole * last.num + before.num, whole * last.den + before.den};
        if (next.den > kDenominatorMax) break;
        const double reached = static_cast<double>(next.num) / static_cast<double>(next.den);
        if (std::abs(reached - magnitude) <= magnitude * kSameNumber) return {sign * next.num, next.den};
        before = last;
        last = next;
        const double fraction = rest - static_cast<double>(whole);
        if (fraction * kDenominatorMax < 1) break;  // the next denominator would be too large
        rest = 1 / fraction;
    }
    return reduced(sign * std::llround(magnitude * kDenominatorMax), kDenominatorMax);
}

EditSpeed within(EditSpeed speed, std::uint64_t source, std::uint64_t record) {
    const auto last = static_cast<std::int64_t>(source) - 1;
    const std::int64_t reached = floor_scaled(record - 1, speed.num, speed.den);
    if (reached <= last && reached >= -last) return speed;
    if (record == 1) return {0, 1};
    return reduced(speed.num < 0 ? -last : last, static_cast<std::int64_t>(record) - 1);
}

}  // namespace streamsim::media
