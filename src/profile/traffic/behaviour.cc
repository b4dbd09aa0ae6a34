#include "profile/traffic/behaviour.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

namespace streamsim::profile {
namespace {

/// The ends of the last blocks of one user in one file. There are several, because several blocks may be in
/// flight and complete in any order, and several threads may read one file at different positions.
class Ends {
public:
    struct End {
        std::uint64_t at = 0;   // the next byte
        std::uint64_t run = 0;  // bytes of the run so far
    };

    /// Takes the run that continues at `offset`; false: no run does.
    bool take(std::uint64_t offset, End& into) {
        const auto found =
            std::find_if(ends_.rbegin(), ends_.rend(), [=](const End& e) { return e.at == offset; });
        if (found == ends_.rend()) return false;
        into = *found;
        ends_.erase(std::next(found).base());
        return true;
    }
    /// Adds an end. True: `out` is the oldest run, which was dropped because there were too many.
    bool add(End end, End& out) {
        ends_.push_back(end);
        if (ends_.size() <= kEndsMax) return false;
        out = ends_.front();
        ends_.erase(ends_.begin());
        return true;
    }
    const std::vector<End>& all() const { return ends_; }

private:
    static constexpr std::size_t kEndsMax = 32;
    std::vector<End> ends_;
};

struct Runs {
    std::vector<bool> sequential;
    SizeCounts lengths[2];  // [0] reads, [1] writes
};

Runs find_runs(std::span<const TrafficOperation> operations) {
    Runs runs;
    runs.sequential.assign(operations.size(), false);
    std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, Ends> all;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        const TrafficOperation& at = operations[i];
        if (!at.moves_data() || at.failed) continue;
        const bool writes = at.kind == TrafficKind::write;
        Ends& ends = all[{at.user, at.file, writes}];
        Ends::End run{at.offset, 0}, over;
        runs.sequential[i] = ends.take(at.offset, run) || at.offset == 0;
        if (ends.add({at.offset + at.bytes, run.run + at.bytes}, over)) ++runs.lengths[writes][over.run];
    }
    for (const auto& [key, ends] : all)
        for (const Ends::End& end : ends.all()) ++runs.lengths[std::get<2>(key)][end.run];
    return runs;
}

void count_in_flight(std::span<const TrafficOperation> operations, Behaviour& into) {
    Steps steps;
    std::int64_t last = 0;
    for (const TrafficOperation& at : operations) {
        last = std::max(last, at.end_ns());
        if (at.duration_ns == 0) continue;
        steps.emplace_back(at.begin_ns, 1);
        steps.emplace_back(at.end_ns(), -1);
    }
    into.span_ns = operations.empty() ? 0 : last - operations.front().begin_ns;
    const Overlap overlap = overlap_of(std::move(steps));
    into.in_flight_max = overlap.most;
    if (into.span_ns <= 0) return;
    into.in_flight_mean = overlap.area_ns / static_cast<double>(into.span_ns);
    into.busy_share = overlap.busy_ns / static_cast<double>(into.span_ns);
}

}  // namespace

std::uint64_t Behaviour::all() const {
    return std::accumulate(operations.begin(), operations.end(), std::uint64_t{0});
}

Overlap overlap_of(Steps steps) {
    std::sort(steps.begin(), steps.end());  // at one time ends come first
    Overlap out;
    std::int64_t from = 0;
    double now = 0;
    for (const auto& [time, step] : steps) {
        const auto passed = static_cast<double>(time - from);
        out.area_ns += now * passed;
        if (now > 0) out.busy_ns += passed;
        now += step;
        from = time;
        out.most = std::max(out.most, now);
    }
    return out;
}

std::vector<bool> sequential_blocks(std::span<const TrafficOperation> operations) {
    return find_runs(operations).sequential;
}

Behaviour behaviour_of(std::span<const TrafficOperation> operations) {
    Behaviour out;
    Runs runs = find_runs(operations);
    for (std::size_t i = 0; i < operations.size(); ++i) {
        const TrafficOperation& at = operations[i];
        ++out.operations[static_cast<std::size_t>(at.kind)];
        if (at.failed) ++out.failed;
        if (!at.moves_data() || at.failed) continue;
        BlockFacts& facts = at.kind == TrafficKind::read ? out.reads : out.writes;
        ++facts.blocks;
        facts.bytes += at.bytes;
        ++facts.sizes[at.bytes];
        if (runs.sequential[i]) ++facts.sequential;
    }
    out.reads.runs = std::move(runs.lengths[0]);
    out.writes.runs = std::move(runs.lengths[1]);
    count_in_flight(operations, out);
    return out;
}

SizeCounts few_sizes(const SizeCounts& sizes, std::size_t kept) {
    if (sizes.size() <= kept) return sizes;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all(sizes.begin(), sizes.end());
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    SizeCounts out(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept));
    struct Group {
        double bytes = 0;
        std::uint64_t count = 0;
    };
    std::map<unsigned, Group> groups;
    for (auto at = all.begin() + static_cast<std::ptrdiff_t>(kept); at != all.end(); ++at) {
        Group& group = groups[static_cast<unsigned>(std::bit_width(at->first))];
        group.bytes += static_cast<double>(at->first) * static_cast<double>(at->second);
        group.count += at->second;
    }
    for (const auto& [width, group] : groups)
        out[static_cast<std::uint64_t>(group.bytes / static_cast<double>(group.count))] += group.count;
    return out;
}

}  // namespace streamsim::profile
