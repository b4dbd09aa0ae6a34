#include "profile/learning/pace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "base/units.h"

namespace streamsim::profile {
namespace {

constexpr double kThinkTimeMaxNs = 1000 * 3600e9;  // the longest of a document

constexpr double kEvenCvMax = 0.25;  // coefficient of variation of even distances, at most
constexpr double kPoissonCvMin = 0.7, kPoissonCvMax = 1.4;  // random distances; 1 in theory
constexpr std::size_t kDistancesMin = 8;                    // distances to say anything from

bool is_transfer(const TrafficUnit& unit) {
    return moves_data(unit.kind);
}

struct Moments {
    double mean = 0, cv = 0;
};

Moments moments_of(const std::vector<double>& values) {
    Moments out;
    if (values.empty()) return out;
    for (const double value : values) out.mean += value;
    out.mean /= static_cast<double>(values.size());
    double squares = 0;
    for (const double value : values) squares += (value - out.mean) * (value - out.mean);
    if (out.mean > 0) out.cv = std::sqrt(squares / static_cast<double>(values.size())) / out.mean;
    return out;
}

/// The largest distance between the distribution of `values` and an exponential one of the same mean.
double distance_to_exponential(std::vector<double> values, double mean) {
    std::sort(values.begin(), values.end());
    const auto count = static_cast<double>(values.size());
    double most = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double expected = 1 - std::exp(-values[i] / mean);
        most = std::max({most, std::abs(expected - static_cast<double>(i) / count),
                         std::abs(expected - static_cast<double>(i + 1) / count)});
    }
    return most;
}

/// Several processes at one time, and what each has under way.
struct Concurrency {
    double users = 1;           // at one time, at most
    double in_flight_busy = 1;  // mean while anything is
    double in_flight_max = 1;
    double busy_share = 0;
};

class PaceFinder {
public:
    PaceFinder(const std::vector<TrafficUnit>& units, LearntMeter& meter)
        : units_(units), meter_(meter), spec_(meter.spec) {
        const Behaviour& behaviour = meter.behaviour;
        // Files that a copy tool has open at once are not under way at once: its calls are, or are not.
        if (behaviour.busy_share > 0) overlap_.in_flight_busy = behaviour.in_flight_mean / behaviour.busy_share;
        overlap_.in_flight_max = std::max(1.0, behaviour.in_flight_max);
        for (const TrafficUnit& unit : units) has_transfers_ = has_transfers_ || is_transfer(unit);
        for (const TrafficUnit& unit : units) last_ns_ = std::max(last_ns_, unit.end_ns);
        span_s_ = static_cast<double>(std::max<std::int64_t>(last_ns_ - units.front().begin_ns, 1)) / 1e9;
        find_overlap();
        find_distances();
    }

    void find() {
        spec_.users = static_cast<std::uint32_t>(overlap_.users);
        meter_.distances_cv = moments_.cv;
        const bool enough = distances_.size() >= kDistancesMin && moments_.mean > 0;
        const std::string mean = show_duration(duration(moments_.mean));
        if (enough && moments_.cv < kEvenCvMax && overlap_.busy_share < 0.9 && keeps_time()) {
            open(MeterSpec::Arrival::constant, fmt::format("at even distances of {}", mean));
            find_read_ahead();
        } else if (enough && is_poisson()) {
            open(MeterSpec::Arrival::poisson,
                 fmt::format("at random, {} apart on average, like a Poisson process", mean));
        } else {
            closed();
        }
    }

private:
    /// As many as a document may have.
    void set_inflight(double wanted) {
        const double most = std::clamp(static_cast<double>(kWorkloadUsersMax) / overlap_.users, 1.0,
                                       static_cast<double>(kLoadInflightMax));
        spec_.inflight = static_cast<std::uint32_t>(std::clamp(wanted, 1.0, most));
        if (wanted <= most) return;
        const auto count = [](double value) { return show_count(static_cast<std::uint64_t>(value)); };
        meter_.notes.push_back(fmt::format(
            "{} operations of a user are in flight at once; the document has {}, the most that it may have",
            count(wanted), count(most)));
    }

    static Duration duration(double ns) { return {static_cast<std::int64_t>(ns)}; }

    void find_overlap() {
        std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> lives;
        Steps of_users, of_units;
        for (const TrafficUnit& unit : units_) {
            auto& life = lives.try_emplace(unit.user, unit.begin_ns, unit.end_ns).first->second;
            life.second = std::max(life.second, unit.end_ns);
            if (unit.end_ns == unit.begin_ns) continue;
            of_units.emplace_back(unit.begin_ns, 1);
            of_units.emplace_back(unit.end_ns, -1);
        }
        for (const auto& [user, life] : lives) {
            if (life.second == life.first) continue;
            of_users.emplace_back(life.first, 1);
            of_users.emplace_back(life.second, -1);
        }
        overlap_.users = std::max(1.0, overlap_of(of_users).most);
        overlap_.busy_share = overlap_of(of_units).busy_ns / (span_s_ * 1e9);
    }

    /// Distances between the operations of each user, or between its transfers if it has any. The first quarter
    /// is left out, because players fill their buffers in it.
    void find_distances() {
        std::map<std::uint32_t, std::vector<const TrafficUnit*>> by_user;
        for (const TrafficUnit& unit : units_)
            if (!has_transfers_ || is_transfer(unit)) by_user[unit.user].push_back(&unit);
        double follows = 0;
        for (const auto& [user, own] : by_user) {
            double service = 0;
            std::vector<std::int64_t> ends;
            for (const TrafficUnit* unit : own) {
                service += static_cast<double>(unit->end_ns - unit->begin_ns) / static_cast<double>(own.size());
                ends.push_back(unit->end_ns);
            }
            std::sort(ends.begin(), ends.end());
            const double mean = static_cast<double>(own.back()->begin_ns - own.front()->begin_ns) /
                                static_cast<double>(std::max<std::size_t>(own.size() - 1, 1));
            const auto soon = static_cast<std::int64_t>(0.1 * std::min(service, mean));
            for (std::size_t i = 1; i < own.size(); ++i) {
                const auto distance = static_cast<double>(own[i]->begin_ns - own[i - 1]->begin_ns);
                if (i > own.size() / 4) distances_.push_back(distance);
                const auto end = std::upper_bound(ends.begin(), ends.end(), own[i]->begin_ns);
                if (end != ends.begin() && own[i]->begin_ns - *std::prev(end) <= soon) follows += 1;
                if (own[i]->begin_ns < own[i - 1]->end_ns) overlapping_ += 1;
            }
            pairs_ += static_cast<double>(own.size()) - 1;
        }
        moments_ = moments_of(distances_);
        if (pairs_ > 0) follows_share_ = follows / pairs_;
    }

    /// True when the load follows a clock. Its operations stay near the ticks of the clock. The errors of a
    /// load that merely takes about the same time for each operation add up, so that they are larger over
    /// several distances than over one.
    bool keeps_time() const {
        constexpr std::size_t kSteps = 8, kMany = 4 * kSteps;
        constexpr double kFrame = 2e6;  // ns; few of them at smaller distances are no frames
        if (distances_.size() < kMany) return moments_.mean >= kFrame;
        double one = 0, several = 0;
        for (std::size_t i = 0; i + kSteps <= distances_.size(); i += kSteps) {
            double sum = 0;
            for (std::size_t k = i; k < i + kSteps; ++k) {
                const double error = distances_[k] - moments_.mean;
                one += error * error / kSteps;
                sum += error;
            }
            several += sum * sum;
        }
        // Errors that have nothing to do with each other: eight times; of a clock: once.
        return several <= 3 * one;
    }

    /// A closed loop asks as soon as something has come; an open one at any time.
    bool is_poisson() const {
        if (moments_.cv < kPoissonCvMin || moments_.cv > kPoissonCvMax) return false;
        const bool own_times = overlapping_ > 0.05 * pairs_ ? follows_share_ < 0.5 : overlap_.busy_share < 0.5;
        const double chance = 1.36 / std::sqrt(static_cast<double>(distances_.size()));  // at 5 %
        return own_times && distance_to_exponential(distances_, moments_.mean) < 0.1 + chance;
    }

    void open(MeterSpec::Arrival arrival, std::string reason) {
        double transfers = 0;
        for (const TrafficUnit& unit : units_) transfers += !has_transfers_ || is_transfer(unit) ? 1 : 0;
        spec_.loop = MeterSpec::Loop::open;
        spec_.arrival = arrival;
        const double rate = 1e9 / moments_.mean * static_cast<double>(units_.size()) / transfers;
        spec_.operations_per_s = std::clamp(rate, kLoadRateMin, kLoadRateMax);
        // Each arrival finds a free in-flight slot, as it did in the traffic.
        set_inflight(std::max(4.0, overlap_.in_flight_max));
        meter_.arrival = std::move(reason);
    }

    void closed() {
        set_inflight(std::round(overlap_.in_flight_busy / overlap_.users));
        double busy = 0;
        for (const TrafficUnit& unit : units_) busy += unit.busy_ns;
        const auto count = static_cast<double>(units_.size());
        const double cycle = overlap_.users * spec_.inflight * span_s_ * 1e9 / count;
        const double think = cycle - busy / count;
        if (think > 0.02 * cycle) spec_.think_time = duration(std::min(think, kThinkTimeMaxNs));
        meter_.arrival = spec_.think_time.ns > 0
                             ? fmt::format("each after the last one, and {} of other things",
                                           show_duration(spec_.think_time))
                             : std::string("each as soon as the last one is done");
        if (spec_.inflight > 1) meter_.arrival += fmt::format(", {} at once", spec_.inflight);
    }

    void find_read_ahead() {
        double bytes = 0, transfers = 0, before = 0, half_bytes = 0, half_ns = 0;
        std::vector<std::pair<double, double>> sums;  // time, bytes until then
        for (const TrafficUnit& unit : units_) {
            if (unit.kind != TrafficKind::read) continue;
            bytes += static_cast<double>(unit.bytes);
            transfers += 1;
            sums.emplace_back(static_cast<double>(unit.begin_ns - units_.front().begin_ns), bytes);
        }
        if (sums.size() < 2 * kDistancesMin) return;
        const auto& half = sums[sums.size() / 2];
        half_bytes = sums.back().second - half.second;
        half_ns = sums.back().first - half.first;
        if (half_ns <= 0) return;
        const double rate = half_bytes / half_ns;  // bytes a ns
        ReadAhead ahead;
        for (const auto& [ns, sum] : sums) {
            ahead.bytes = std::max(ahead.bytes, sum - rate * ns);
            before = sum;
        }
        ahead.seconds = ahead.bytes / rate / 1e9;
        ahead.transfers = ahead.bytes / (before / transfers);
        meter_.read_ahead = ahead;
        if (ahead.transfers >= 1.5 && spec_.users == 1)
            spec_.burst = static_cast<std::uint32_t>(std::round(ahead.transfers)) - 1;
    }

    const std::vector<TrafficUnit>& units_;
    LearntMeter& meter_;
    MeterSpec& spec_;
    bool has_transfers_ = false;
    std::int64_t last_ns_ = 0;
    double span_s_ = 0;
    Concurrency overlap_;
    std::vector<double> distances_;
    Moments moments_;
    double follows_share_ = 0, overlapping_ = 0, pairs_ = 0;
};

}  // namespace

void find_pace(const std::vector<TrafficUnit>& units, LearntMeter& meter) {
    PaceFinder(units, meter).find();
}

}  // namespace streamsim::profile
