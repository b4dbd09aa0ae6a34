#include "profile/learning/transfers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/ascii.h"

namespace streamsim::profile {
namespace {

constexpr std::size_t kSizesKept = 64;
constexpr double kFormShareMin = 0.9;  // share of the transfers that a form must fit
/// Files of a sequence that are out of order and yet no jump: as many as are in flight, within these.
constexpr double kFewMin = 2, kFewMax = 8;

std::vector<WeightedSize> weighted(const SizeCounts& sizes) {
    std::vector<WeightedSize> out;
    for (const auto& [bytes, count] : few_sizes(sizes, kSizesKept))
        if (bytes > 0) out.push_back({bytes, static_cast<double>(count)});
    return out;
}

/// Blocks of one size and a remainder: what a workload document can say of a transfer.
class Cut {
public:
    void add(const std::vector<std::uint64_t>& blocks) {
        transfers_.push_back(blocks);
        for (const std::uint64_t bytes : blocks) largest_ = std::max(largest_, bytes);
    }
    /// Nothing was moved: there was no transfer, or all have failed.
    bool empty() const { return largest_ == 0; }
    bool fits() const {
        std::size_t right = 0;
        for (const auto& blocks : transfers_)
            right += std::count_if(blocks.begin(), blocks.end(), [this](auto b) { return b != largest_; }) <= 1;
        return static_cast<double>(right) >= kFormShareMin * static_cast<double>(transfers_.size());
    }
    /// REQUIRES: not empty().
    TransferSizes sizes() const {
        SizeCounts lengths;
        for (const auto& blocks : transfers_) {
            std::uint64_t length = 0;
            for (const std::uint64_t bytes : blocks) length += bytes;
            ++lengths[length];
        }
        TransferSizes out;
        out.lengths = weighted(lengths);
        std::map<std::uint64_t, double> blocks;
        for (const WeightedSize& length : out.lengths)
            if (length.bytes % largest_ > 0) blocks[length.bytes % largest_] = 0;
        blocks[largest_] = 1;
        for (const auto& [bytes, weight] : blocks) out.blocks.push_back({bytes, weight});
        return out;
    }

private:
    std::vector<std::vector<std::uint64_t>> transfers_;
    std::uint64_t largest_ = 0;
};

/// The boundary between short and long pauses, by Otsu's method over their logarithms. Empty when there is no
/// clear boundary: a factor of ten between the means, with at least `least` long pauses of a millisecond or
/// more.
std::optional<std::int64_t> parting(const std::vector<std::int64_t>& pauses, double least) {
    constexpr int kBins = 120;  // ten a decade, from a microsecond on
    std::vector<double> count(kBins), sum(kBins);
    for (const std::int64_t pause : pauses) {
        const double log = std::log10(static_cast<double>(std::max<std::int64_t>(pause, 1000)) / 1000);
        const auto bin = static_cast<std::size_t>(std::min(log * 10, kBins - 1.0));
        ++count[bin];
        sum[bin] += log;
    }
    double all = 0, all_sum = 0;
    for (std::size_t i = 0; i < kBins; ++i) {
        all += count[i];
        all_sum += sum[i];
    }
    double best = 0, below = 0, below_sum = 0;
    std::optional<std::int64_t> at;
    for (std::size_t i = 0; i + 1 < kBins; ++i) {
        below += count[i];
        below_sum += sum[i];
        const double above = all - below;
        if (below == 0 || above == 0) continue;
        const double distance = (all_sum - below_sum) / above - below_sum / below;
        const double between = below * above * distance * distance;
        if (between <= best) continue;
        best = between;
        const auto bound = static_cast<std::int64_t>(1000 * std::pow(10, static_cast<double>(i + 1) / 10));
        const bool parts = distance >= 1 && above >= least && (all_sum - below_sum) / above >= 3;
        at = parts ? std::optional(bound) : std::nullopt;
    }
    return at;
}

class Finder {
public:
    Finder(const Traffic& traffic, std::span<const TrafficOperation> operations)
        : traffic_(traffic), operations_(operations), sequential_(sequential_blocks(operations)) {
        // Time in which a user waits for another operation (a copy tool for its writes) is no pause.
        std::map<std::uint32_t, std::int64_t> ends;
        for (const TrafficOperation& at : operations) {
            const auto [end, first] = ends.try_emplace(at.user, at.begin_ns);
            idle_.push_back(at.begin_ns - end->second);
            end->second = std::max(end->second, at.end_ns());
        }
    }

    FoundTransfers find() {
        find_sessions();
        out_.whole_files = whole_files();
        if (out_.whole_files) {
            add_sessions();
        } else {
            add_bursts();
        }
        for (std::size_t i = 0; i < operations_.size(); ++i) {
            const TrafficOperation& at = operations_[i];
            if (at.moves_data() || taken(i)) continue;
            out_.units.push_back({at.begin_ns, at.end_ns(), static_cast<double>(at.duration_ns), at.user,
                                  at.file, at.kind, false, 0});
        }
        std::ranges::stable_sort(out_.units, {}, &TrafficUnit::begin_ns);
        return std::move(out_);
    }

private:
    struct Session {
        std::optional<std::size_t> open;
        std::vector<std::size_t> blocks;
        bool whole = false;
    };

    void find_sessions() {
        for (std::size_t i = 0; i < operations_.size(); ++i) {
            const TrafficOperation& at = operations_[i];
            if (at.session == kNoSession) continue;
            if (at.kind == TrafficKind::open) sessions_[at.session].open = i;
            if (at.moves_data()) sessions_[at.session].blocks.push_back(i);
        }
        for (auto& [number, session] : sessions_) session.whole = is_whole(session);
    }

    /// True for blocks that cover the file from its front, every byte once, in one direction. Blocks in flight
    /// together may come in any order. Without an open they go up to the end.
    bool is_whole(const Session& session) const {
        if (session.blocks.empty()) return false;
        const TrafficOperation& any = operations_[session.blocks.front()];
        if (!session.open && !traffic_.sessions[any.session].unopened) return false;
        std::vector<std::size_t> blocks = session.blocks;
        std::ranges::sort(blocks, {}, [this](auto block) { return operations_[block].offset; });
        std::uint64_t end = 0;
        for (const std::size_t block : blocks) {
            const TrafficOperation& at = operations_[block];
            if (at.offset != end || at.kind != operations_[blocks.front()].kind) return false;
            end += at.bytes;
        }
        return session.open || end == traffic_.files[any.file].bytes;
    }

    /// Pauses within sessions; a container that is read at the pace of its frames is no file that is moved
    /// whole.
    bool paced_within() const {
        std::vector<std::int64_t> pauses;
        for (const auto& [number, session] : sessions_) {
            for (std::size_t i = 1; i < session.blocks.size(); ++i) pauses.push_back(idle_[session.blocks[i]]);
        }
        const auto long_ones =
            std::count_if(pauses.begin(), pauses.end(), [](auto p) { return p >= 1'000'000; });
        // Between every block: a slow reader; between some of them: bursts.
        const double least = static_cast<double>(sessions_.size());
        return parting(pauses, least).has_value() ||
               (static_cast<double>(long_ones) >= 0.5 * static_cast<double>(pauses.size()) &&
                static_cast<double>(long_ones) > 2 * least);
    }

    bool whole_files() {
        double all = 0, right = 0;
        for (std::size_t i = 0; i < operations_.size(); ++i) {
            if (!operations_[i].moves_data()) continue;
            ++all;
            const auto session = sessions_.find(operations_[i].session);
            if (session != sessions_.end() && session->second.whole) ++right;
        }
        if (right == 0 || right < kFormShareMin * all) return false;
        Cut reads, writes;
        for (const auto& [number, session] : sessions_) {
            if (!session.whole) continue;
            (operations_[session.blocks.front()].kind == TrafficKind::read ? reads : writes)
                .add(sizes_of(session.blocks));
        }
        if (reads.empty() && writes.empty()) return false;  // empty files
        if (!reads.fits() || !writes.fits() || paced_within()) return false;
        if (!reads.empty()) out_.reads = reads.sizes();
        if (!writes.empty()) out_.writes = writes.sizes();
        return true;
    }

    std::vector<std::uint64_t> sizes_of(const std::vector<std::size_t>& blocks) const {
        std::vector<std::uint64_t> out;
        out.reserve(blocks.size());
        for (const std::size_t block : blocks) out.push_back(operations_[block].bytes);
        return out;
    }

    TrafficUnit unit_of(const std::vector<std::size_t>& blocks) const {
        const TrafficOperation& first = operations_[blocks.front()];
        TrafficUnit unit{first.begin_ns, first.end_ns(), 0, first.user, first.file, first.kind, false, 0};
        for (const std::size_t block : blocks) {
            const TrafficOperation& at = operations_[block];
            unit.begin_ns = std::min(unit.begin_ns, at.begin_ns);
            unit.end_ns = std::max(unit.end_ns, at.end_ns());
            unit.busy_ns += static_cast<double>(at.duration_ns);
            unit.bytes += at.bytes;
        }
        return unit;
    }

    /// An open that a transfer has made.
    bool taken(std::size_t operation) const {
        const TrafficOperation& at = operations_[operation];
        if (!out_.whole_files || at.kind != TrafficKind::open || at.session == kNoSession) return false;
        return sessions_.at(at.session).whole;
    }

    void add_sessions() {
        std::vector<TrafficUnit> transfers;
        for (const auto& [number, session] : sessions_) {
            if (!session.whole) continue;
            TrafficUnit unit = unit_of(session.blocks);
            if (session.open) {
                const TrafficOperation& open = operations_[*session.open];
                unit.begin_ns = open.begin_ns;
                unit.busy_ns += static_cast<double>(open.duration_ns);
            }
            transfers.push_back(unit);
        }
        std::ranges::stable_sort(transfers, {}, &TrafficUnit::begin_ns);
        find_jumps(transfers);
        out_.units.insert(out_.units.end(), transfers.begin(), transfers.end());
    }

    /// A transfer is random where its file is far from those that its user read, or wrote, of the sequence
    /// before. Files that are in flight together begin in any order.
    void find_jumps(std::vector<TrafficUnit>& transfers) const {
        struct Reached {
            std::uint32_t last = 0, furthest = 0;
        };
        std::map<std::tuple<std::uint32_t, TrafficKind, std::string>, Reached> all;
        std::map<std::uint32_t, Steps> steps;  // by user
        for (const TrafficUnit& unit : transfers) {
            steps[unit.user].emplace_back(unit.begin_ns, 1);
            steps[unit.user].emplace_back(unit.end_ns, -1);
        }
        std::map<std::uint32_t, std::uint32_t> few;
        for (const auto& [user, own] : steps)
            few[user] = static_cast<std::uint32_t>(std::clamp(overlap_of(own).most, kFewMin, kFewMax));
        const auto places = places_of_files();
        for (TrafficUnit& unit : transfers) {
            const auto& [sequence, position] = places.at({unit.kind, unit.file});
            const auto [at, first] =
                all.try_emplace({unit.user, unit.kind, sequence}, Reached{position, position});
            Reached& reached = at->second;
            const std::uint32_t most = few[unit.user];
            const bool near =
                distance(position, reached.last) <= most || distance(position, reached.furthest) <= most;
            unit.random = !first && !near && position != 0;  // 0: from the beginning again
            reached = {position, near ? std::max(reached.furthest, position) : position};
        }
    }

    static std::uint32_t distance(std::uint32_t one, std::uint32_t other) {
        return one > other ? one - other : other - one;
    }

    /// Pattern of the names of a sequence, and the position within; all files of no sequence are in one,
    /// without a pattern.
    using Place = std::pair<std::string, std::uint32_t>;

    /// By direction and file.
    std::map<std::pair<TrafficKind, std::uint32_t>, Place> places_of_files() const {
        std::set<std::pair<TrafficKind, std::uint32_t>> moved;
        for (const TrafficOperation& at : operations_)
            if (at.moves_data()) moved.emplace(at.kind, at.file);
        std::map<std::pair<TrafficKind, std::string>, std::vector<std::uint32_t>> sequences;
        for (const auto& [kind, file] : moved)
            sequences[{kind, pattern_of(traffic_.files[file].name)}].push_back(file);
        for (auto& [key, files] : sequences) {
            if (files.size() >= kSequenceFilesMin || key.second.empty()) continue;
            auto& others = sequences[{key.first, ""}];
            others.insert(others.end(), files.begin(), files.end());
            files.clear();
        }
        std::map<std::pair<TrafficKind, std::uint32_t>, Place> places;
        for (auto& [key, files] : sequences) {
            std::ranges::sort(files, natural_less,
                              [this](auto file) -> const std::string& { return traffic_.files[file].name; });
            for (std::uint32_t i = 0; i < files.size(); ++i) places[{key.first, files[i]}] = {key.second, i};
        }
        return places;
    }

    /// Blocks that follow each other without a pause, where there are pauses; else each block for itself.
    void add_bursts() {
        using Key = std::tuple<std::uint32_t, std::uint32_t, TrafficKind>;
        std::map<Key, std::vector<std::size_t>> chains;
        std::vector<std::int64_t> pauses;
        for (std::size_t i = 0; i < operations_.size(); ++i) {
            const TrafficOperation& at = operations_[i];
            if (!at.moves_data()) continue;
            auto& chain = chains[{at.user, at.file, at.kind}];
            if (!chain.empty() && sequential_[i]) pauses.push_back(idle_[i]);
            chain.push_back(i);
        }
        const auto pause = parting(pauses, std::max(4.0, 0.01 * static_cast<double>(pauses.size())));
        std::vector<std::vector<std::size_t>> bursts;
        for (const auto& [key, chain] : chains) {
            for (std::size_t i = 0; i < chain.size(); ++i) {
                const bool follows = pause && i > 0 && sequential_[chain[i]] && idle_[chain[i]] < *pause;
                if (!follows) bursts.emplace_back();
                bursts.back().push_back(chain[i]);
            }
        }
        Cut reads, writes;
        for (const auto& burst : bursts)
            (operations_[burst.front()].kind == TrafficKind::read ? reads : writes).add(sizes_of(burst));
        const bool cut = pause && reads.fits() && writes.fits();
        if (!cut) {
            bursts.clear();
            for (const auto& [key, chain] : chains)
                for (const std::size_t block : chain) bursts.push_back({block});
        }
        for (const auto& burst : bursts) {
            out_.units.push_back(unit_of(burst));
            out_.units.back().random = !sequential_[burst.front()];
        }
        if (cut && !reads.empty()) out_.reads = reads.sizes();
        if (cut && !writes.empty()) out_.writes = writes.sizes();
        if (!cut) add_single_sizes();
    }

    void add_single_sizes() {
        SizeCounts reads, writes;
        for (const TrafficOperation& at : operations_)
            if (at.moves_data()) ++(at.kind == TrafficKind::read ? reads : writes)[at.bytes];
        out_.reads.blocks = weighted(reads);
        out_.writes.blocks = weighted(writes);
    }

    const Traffic& traffic_;
    const std::span<const TrafficOperation> operations_;
    const std::vector<bool> sequential_;
    std::vector<std::int64_t> idle_;  // of the user before each operation; below 0: others were in flight
    std::map<std::uint32_t, Session> sessions_;
    FoundTransfers out_;
};

}  // namespace

FoundTransfers find_transfers(const Traffic& traffic, std::span<const TrafficOperation> operations) {
    return Finder(traffic, operations).find();
}

std::string pattern_of(const std::string& name) {
    const auto base = name.rfind('/') + 1;  // 0 without a directory
    const auto dot = name.rfind('.');
    // Digits of an extension such as .j2c are no number of a frame.
    const bool extension =
        dot != std::string::npos && dot >= base && dot + 1 < name.size() && !is_digit(name[dot + 1]);
    const auto end = name.find_last_of("0123456789", extension ? dot : std::string::npos);
    if (end == std::string::npos || end < base) return "";
    auto begin = name.find_last_not_of("0123456789", end);
    begin = begin == std::string::npos ? 0 : begin + 1;
    return name.substr(0, begin) + std::string(end + 1 - begin, '#') + name.substr(end + 1);
}

bool natural_less(const std::string& one, const std::string& other) {
    std::size_t a = 0, b = 0;
    while (a < one.size() && b < other.size()) {
        if (is_digit(one[a]) && is_digit(other[b])) {
            while (a < one.size() && one[a] == '0') ++a;
            while (b < other.size() && other[b] == '0') ++b;
            std::size_t a_end = a, b_end = b;
            while (a_end < one.size() && is_digit(one[a_end])) ++a_end;
            while (b_end < other.size() && is_digit(other[b_end])) ++b_end;
            if (a_end - a != b_end - b) return a_end - a < b_end - b;
            const int order = one.compare(a, a_end - a, other, b, b_end - b);
            if (order != 0) return order < 0;
            a = a_end;
            b = b_end;
        } else if (one[a] != other[b]) {
            return one[a] < other[b];
        } else {
            ++a;
            ++b;
        }
    }
    return one.size() - a < other.size() - b;
}

}  // namespace streamsim::profile
