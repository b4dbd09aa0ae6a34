#include "media/container/container_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/units.h"

namespace streamsim::media {
namespace {

__extension__ using Signed = __int128;

constexpr FrameRate kStandardRates[] = {
    {24000, 1001}, {24, 1},        {25, 1}, {30000, 1001}, {30, 1},        {48000, 1001}, {48, 1},  {50, 1},
    {60000, 1001}, {60, 1},        {96, 1}, {100, 1},      {120000, 1001}, {120, 1},      {240, 1}, {15, 1},
    {25, 2},       {15000, 1001},  {12, 1}, {12000, 1001}, {10, 1},        {20, 1},       {8, 1},   {5, 1},
    {1, 1},        {240000, 1001}, {72, 1}, {90, 1},       {200, 1}};

constexpr std::int64_t kTicksMax = INT64_MAX / 4;  // ticks: differences never overflow
constexpr double kSame = 5e-6;                     // rates that differ by less are one rate
constexpr double kCopiedRounding = 1e-3;           // seconds
constexpr std::int64_t kLargestTerm = 1'000'000;   // largest numerator or denominator of a mean rate

std::optional<FrameRate> standard_near(FrameRate rate) {
    for (const FrameRate standard : kStandardRates) {
        const double off = rate.per_second() / standard.per_second() - 1;
        if (off < kSame && off > -kSame) return standard;
    }
    return std::nullopt;
}

/// The fraction next to num / den with terms of a sensible size; by continued fractions. At least 1 / limit.
FrameRate sensible(Signed num, Signed den) {
    Signed above = 1;  // the convergent before, and this one
    Signed below = 0;
    Signed last_above = 0;
    Signed last_below = 1;
    while (den != 0) {
        const Signed whole = num / den;
        const Signed next_above = whole * above + last_above;
        const Signed next_below = whole * below + last_below;
        if (next_above > kLargestTerm || next_below > kLargestTerm) break;
        last_above = above;
        last_below = below;
        above = next_above;
        below = next_below;
        const Signed rest = num % den;
        num = den;
        den = rest;
    }
    if (below == 0) return {kLargestTerm, 1};
    if (above == 0) return {1, kLargestTerm};
    return {static_cast<std::int64_t>(above), static_cast<std::int64_t>(below)};
}

bool all_known(const std::vector<std::int64_t>& stamps) {
    return std::find(stamps.begin(), stamps.end(), kNoStamp) == stamps.end();
}

/// Rising, and within what can be counted.
bool usable(const std::vector<std::int64_t>& stamps) {
    return !stamps.empty() && all_known(stamps) && stamps.front() > -kTicksMax && stamps.back() < kTicksMax &&
           std::adjacent_find(stamps.begin(), stamps.end(), std::greater_equal<>()) == stamps.end();
}

/// Gives the frames without a stamp (the second field of a picture) their place between their neighbours.
void fill_gaps(std::vector<std::int64_t>& stamps) {
    std::size_t known = stamps.size();
    for (std::size_t k = 0; k < stamps.size(); ++k) {
        if (stamps[k] == kNoStamp) continue;
        if (known != stamps.size() && k - known > 1 && stamps[k] > stamps[known]) {
            const Signed way = Signed{stamps[k]} - stamps[known];
            for (std::size_t i = known + 1; i < k; ++i) {
                stamps[i] = static_cast<std::int64_t>(stamps[known] + way * static_cast<Signed>(i - known) /
                                                                          static_cast<Signed>(k - known));
            }
        }
        known = k;
    }
    // Behind the last known one: as the one before.
    for (std::size_t k = 2; k < stamps.size(); ++k) {
        if (stamps[k] != kNoStamp || stamps[k - 1] == kNoStamp || stamps[k - 2] == kNoStamp) continue;
        const Signed next = 2 * Signed{stamps[k - 1]} - stamps[k - 2];
        if (next > -kTicksMax && next < kTicksMax) stamps[k] = static_cast<std::int64_t>(next);
    }
}

std::vector<std::int64_t> best_stamps(const FrameStamps& given) {
    if (usable(given.decode)) return given.decode;
    if (all_known(given.show)) {
        std::vector<std::int64_t> shown = given.show;
        std::sort(shown.begin(), shown.end());
        if (usable(shown)) return shown;
    }
    std::vector<std::int64_t> filled = given.decode;
    fill_gaps(filled);
    return usable(filled) ? filled : std::vector<std::int64_t>();
}

std::optional<FrameTiming> at_stated_rate(const FrameStamps& stamps) {
    for (const FrameRate stated : stamps.stated_rates) {
        if (stated.num <= 0 || stated.den <= 0) continue;
        return FrameTiming{standard_near(stated).value_or(stated), {}, {}};
    }
    return std::nullopt;
}

class Timing {
public:
    Timing(const FrameStamps& given, std::vector<std::int64_t> at) : given_(given), at_(std::move(at)) {}

    /// The facts without the last stamps, some of which may be missing.
    std::optional<FrameTiming> before_cut() const {
        constexpr std::size_t kReorderedFramesMax = 16;
        if (at_.size() < 2 * kReorderedFramesMax) return at_stated_rate(given_);
        return Timing(given_, {at_.begin(), at_.end() - kReorderedFramesMax}).constant();
    }

    FrameTiming make() const {
        if (given_.cut && !usable(given_.decode)) {
            if (const auto rate = before_cut()) return *rate;
        }
        if (const auto rate = constant()) return *rate;
        return variable();
    }

private:
    std::int64_t step(std::size_t k) const { return at_[k] - at_[k - 1]; }

    bool even() const {
        for (std::size_t k = 2; k < at_.size(); ++k) {
            if (step(k) != step(1)) return false;
        }
        return true;
    }

    FrameRate exact(Signed frames, Signed ticks) const {
        return sensible(frames * given_.tick_den, ticks * given_.tick_num);
    }

    /// The largest distance of a frame from the grid of the rate, in seconds; nothing when one lies further off
    /// than `allowed`. The grid begins at frame `from`.
    std::optional<double> distance(FrameRate rate, double allowed, std::size_t from = 0) const {
        allowed = std::min(allowed, 0.25 / rate.per_second()) * (1 + 1e-9);
        const double unit = 1.0 / (static_cast<double>(given_.tick_den) * static_cast<double>(rate.num));
        double largest = 0;
        for (std::size_t k = from; k < at_.size(); ++k) {
            const Signed is = Signed{at_[k] - at_[from]} * given_.tick_num * rate.num;
            const Signed meant = static_cast<Signed>(k - from) * rate.den * given_.tick_den;
            const double off = static_cast<double>(is > meant ? is - meant : meant - is) * unit;
            if (off > allowed + kSame * static_cast<double>(k) / rate.per_second()) return std::nullopt;
            largest = std::max(largest, off);
        }
        return largest;
    }

    std::optional<FrameRate> standard_within(double allowed, std::size_t from = 0) const {
        for (const FrameRate stated : given_.stated_rates) {
            const auto standard = standard_near(stated);
            if (standard && distance(*standard, allowed, from)) return standard;
        }
        std::optional<FrameRate> best;
        double least = 0;
        for (const FrameRate rate : kStandardRates) {
            const auto off = distance(rate, allowed, from);
            if (!off || (best && *off >= least)) continue;
            best = rate;
            least = *off;
        }
        return best;
    }

    std::optional<FrameTiming> constant() const {
        const double tick = static_cast<double>(given_.tick_num) / static_cast<double>(given_.tick_den);
        const FrameRate mean = exact(static_cast<Signed>(at_.size()) - 1, Signed{at_.back() - at_.front()});
        if (even()) {
            if (const auto standard = standard_near(mean)) {
                FrameTiming timing{*standard, {}, {}};
                if (*standard != mean) {
                    timing.notes.push_back(fmt::format("its time stamps give {} fps: taken as {}",
                                                       mean.to_string(), standard->to_string()));
                }
                return timing;
            }
        }
        if (const auto standard = standard_within(tick)) return FrameTiming{*standard, {}, {}};
        if (even()) return FrameTiming{mean, {}, {}};
        if (const auto standard = standard_within(kCopiedRounding)) return FrameTiming{*standard, {}, {}};
        if (at_.size() > 3 && distance(mean, tick)) return FrameTiming{mean, {}, {}};
        return constant_after_first(tick);
    }

    std::optional<FrameTiming> constant_after_first(double tick) const {
        if (at_.size() < 8) return std::nullopt;
        const auto rate = standard_within(tick, 1);
        if (!rate) return std::nullopt;
        const double first = static_cast<double>(step(1)) * static_cast<double>(given_.tick_num) /
                             static_cast<double>(given_.tick_den);
        const double periods = first * rate->per_second();
        if (periods > 1.999) return std::nullopt;  // a frame is missing there
        FrameTiming timing{*rate, {}, {}};
        timing.notes.push_back(
            fmt::format("its first frame lasts {:.1f} ms, all others {:.1f}: played at {} fps", first * 1e3,
                        1e3 / rate->per_second(), rate->to_string()));
        return timing;
    }

    FrameTiming variable() const {
        FrameTiming timing;
        const std::size_t count = at_.size();
        timing.due_ns.reserve(count + 1);
        for (const std::int64_t at : at_) timing.due_ns.push_back(ns(Signed{at} - at_[0]));
        const std::int64_t last = given_.last_ticks > 0 ? given_.last_ticks : step(count - 1);
        const Signed ticks = Signed{at_.back() - at_[0]} + last;
        timing.due_ns.push_back(std::max(ns(ticks), timing.due_ns.back() + 1));
        timing.rate = exact(static_cast<Signed>(count), ticks);
        std::int64_t shortest = INT64_MAX;
        std::int64_t longest = 0;
        for (std::size_t k = 1; k < count; ++k) {
            // Ticks of less than a nanosecond: rising all the same.
            timing.due_ns[k] = std::max(timing.due_ns[k], timing.due_ns[k - 1] + 1);
            shortest = std::min(shortest, timing.due_ns[k] - timing.due_ns[k - 1]);
            longest = std::max(longest, timing.due_ns[k] - timing.due_ns[k - 1]);
        }
        timing.due_ns[count] = std::max(timing.due_ns[count], timing.due_ns[count - 1] + 1);
        timing.notes.push_back(
            fmt::format("its frame rate varies (frames of {} to {}): each is due by its own time stamp, {:.3f} "
                        "fps is the mean",
                        show_duration(nanoseconds(shortest)), show_duration(nanoseconds(longest)),
                        timing.rate.per_second()));
        return timing;
    }

    std::int64_t ns(Signed ticks) const {
        const Signed product = ticks * given_.tick_num * 1'000'000'000 / given_.tick_den;
        return static_cast<std::int64_t>(std::min<Signed>(product, INT64_MAX / 2));
    }

    const FrameStamps& given_;
    std::vector<std::int64_t> at_;
};

}  // namespace

std::int64_t tagged_ns(std::string_view text) {
    constexpr std::size_t kFraction = 9;
    const auto parts = split(text, ':');
    if (parts.size() != 3 || parts[2].size() != 3 + kFraction || parts[2][2] != '.') return 0;
    const auto hours = whole_number<std::uint16_t>(parts[0]);
    const auto minutes = whole_number<std::uint16_t>(parts[1]);
    const auto seconds = whole_number<std::uint16_t>(parts[2].substr(0, 2));
    const auto fraction = whole_number<std::uint32_t>(parts[2].substr(3));
    if (!hours || !minutes || !seconds || !fraction) return 0;
    return (*hours * std::int64_t{3600} + *minutes * std::int64_t{60} + *seconds) * 1'000'000'000 + *fraction;
}

std::int64_t plausible_last(const std::vector<std::int64_t>& decode, std::int64_t ticks) {
    constexpr std::int64_t kReorderedFramesMax = 17;
    std::int64_t longest = 0;
    for (std::size_t k = 1; k < decode.size(); ++k) {
        if (decode[k] != kNoStamp && decode[k - 1] != kNoStamp)
            longest = std::max(longest, decode[k] - decode[k - 1]);
    }
    return decode.size() < 2 || ticks / kReorderedFramesMax <= longest ? ticks : 0;
}

void count_pictures(FrameStamps& stamps, std::int64_t each) {
    stamps.tick_den *= each;
    for (FrameRate& rate : stamps.stated_rates) rate.num *= each;
}

std::optional<FrameTiming> time_frames(const FrameStamps& stamps) {
    if (stamps.decode.size() == 1) {
        if (auto timing = at_stated_rate(stamps)) return timing;
        if (stamps.last_ticks <= 0) return std::nullopt;
        const FrameRate exact = sensible(stamps.tick_den, Signed{stamps.last_ticks} * stamps.tick_num);
        return FrameTiming{standard_near(exact).value_or(exact), {}, {}};
    }
    std::vector<std::int64_t> at = best_stamps(stamps);
    if (!at.empty()) return Timing(stamps, std::move(at)).make();
    auto timing = at_stated_rate(stamps);
    if (timing)
        timing->notes.emplace_back("its time stamps do not rise: played at the rate that the file states");
    return timing;
}

}  // namespace streamsim::media
