#include "judge/search/plan_search.h"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "base/prng.h"

namespace streamsim::judge {
namespace {

/// Levels of one choice that are played to see that more is never worse; the least and the most among them.
constexpr std::uint32_t kLineLevels = 8;
/// Spaces of at most so many configurations are listed in full for the checks of cheaper ones.
constexpr double kListedMax = 20'000;
/// Random steps from a plan that look for one cheaper configuration to check.
constexpr int kStepsToCheck = 4;

/// The configurations of a slice: choices that keep the rule are free, the others have one level.
struct Slice {
    PlanLevels least, most;
};

/// A configuration that fails with all below it, in its slice.
using Clause = PlanLevels;

/// The order of candidates. Every level more comes later.
struct Candidate {
    PlanCost cost;
    std::uint64_t levels_sum = 0;
    PlanLevels levels;

    bool operator>(const Candidate& other) const {
        return std::tie(cost.price, cost.watts, levels_sum, levels) >
               std::tie(other.cost.price, other.cost.watts, other.levels_sum, other.levels);
    }
};

/// The runs that decide: short ones alone, or also verification runs of what plays by these.
enum class Runs { brief, both };

class PlanSearch {
public:
    PlanSearch(const PlanSpace& space,
               const PlanSearchOptions& options,
               const PlanPlays& plays,
               const PlanPlays& holds)
        : space_(space), options_(options), plays_(plays), holds_(holds) {}

    Result<PlansFound> run();

private:
    Result<void> search_all();
    Result<void> search_slice(const Slice& slice);
    Result<void> play_lines(const Slice& slice, std::vector<Clause>& clauses);
    Result<void> candidates(const Slice& slice, std::vector<Clause>& clauses);
    Result<Clause> raised(const Slice& slice, const PlanLevels& fails, Runs runs);
    Result<std::size_t> last_failing(const std::vector<PlanLevels>& ascending, Runs runs);
    void take(const Candidate& plan);
    Result<void> check_around_plans();
    Result<void> check_cheaper();
    std::vector<PlanLevels> cheaper_to_check() const;
    Result<bool> find_contradiction();
    Result<bool> contradiction_in(const std::map<PlanLevels, bool>& answers, Runs runs);
    Result<PlanContradiction> located(const PlanLevels& plays, const PlanLevels& fails, Runs runs);
    std::vector<Slice> slices() const;
    bool same_slice(const PlanLevels& a, const PlanLevels& b) const;

    /// Asks for those that are not known yet, together.
    Result<void> play(std::vector<PlanLevels> all, Runs runs = Runs::brief);
    Result<void> ask(const std::vector<PlanLevels>& all,
                     const PlanPlays& plays,
                     std::map<PlanLevels, bool>& into);
    /// REQUIRES: it was played so.
    bool does_play(const PlanLevels& levels, Runs runs) const {
        return known_.at(levels) && (runs == Runs::brief || held_.at(levels));
    }
    bool is_known(const PlanLevels& levels) const { return known_.count(levels) > 0; }
    Candidate candidate(PlanLevels levels) const {
        Candidate out{space_.cost(levels), 0, std::move(levels)};
        for (const std::uint32_t level : out.levels) out.levels_sum += level;
        return out;
    }
    bool within(const PlanCost& cost) const {
        return cost.price <= options_.most.price && cost.watts <= options_.most.watts;
    }
    /// No more plan of this cost is wanted.
    bool too_late(const Candidate& next) const {
        return plans_.size() >= options_.plans && next > plans_[options_.plans - 1];
    }

    const PlanSpace& space_;
    const PlanSearchOptions& options_;
    const PlanPlays& plays_;
    const PlanPlays& holds_;
    std::map<PlanLevels, bool> known_;  // by short runs
    std::map<PlanLevels, bool> held_;   // by verification runs
    std::set<std::size_t> unordered_;   // choices of which more may be worse
    std::vector<Candidate> plans_;      // of this round, in order
    PlansFound found_;
};

Result<void> PlanSearch::ask(const std::vector<PlanLevels>& all,
                             const PlanPlays& plays,
                             std::map<PlanLevels, bool>& into) {
    std::vector<PlanLevels> open;
    for (const PlanLevels& each : all) {
        if (into.count(each) == 0 && std::find(open.begin(), open.end(), each) == open.end())
            open.push_back(each);
    }
    if (open.empty()) return {};
    const auto answers = plays(open);
    if (!answers) return answers.error();
    for (std::size_t i = 0; i < open.size(); ++i) into[open[i]] = (*answers)[i];
    return {};
}

Result<void> PlanSearch::play(std::vector<PlanLevels> all, Runs runs) {
    if (auto done = ask(all, plays_, known_); !done || runs == Runs::brief) return done;
    std::erase_if(all, [this](const PlanLevels& each) { return !known_.at(each); });
    return ask(all, holds_, held_);
}

/// The last that fails of configurations of which each has no less than the one before. REQUIRES: the first
/// fails.
Result<std::size_t> PlanSearch::last_failing(const std::vector<PlanLevels>& ascending, Runs runs) {
    std::size_t low = 0, high = ascending.size();  // low fails; high plays, or is beyond the end
    while (high - low > 1) {
        const std::size_t points = std::min(options_.at_once, high - low - 1);
        std::vector<std::size_t> at;
        std::vector<PlanLevels> batch;
        for (std::size_t i = 1; i <= points; ++i) {
            at.push_back(low + (high - low) * i / (points + 1));
            batch.push_back(ascending[at.back()]);
        }
        if (auto done = play(batch, runs); !done) return done.error();
        for (const std::size_t i : at) {
            if (does_play(ascending[i], runs)) {
                high = i;
                break;
            }
            low = i;
        }
    }
    return low;
}

/// The levels of each choice with the most of all others: clauses of one choice, and whether more is worse.
Result<void> PlanSearch::play_lines(const Slice& slice, std::vector<Clause>& clauses) {
    const PlanLevels& through = slice.most;
    std::vector<PlanLevels> batch;
    std::vector<std::vector<PlanLevels>> lines(through.size());
    for (std::size_t choice = 0; choice < through.size(); ++choice) {
        const std::uint32_t levels = slice.most[choice] - slice.least[choice];
        if (levels == 0) continue;
        const std::uint32_t points = std::min(levels + 1, kLineLevels);
        for (std::uint32_t i = 0; i < points; ++i) {
            PlanLevels each = through;
            each[choice] = slice.least[choice] + levels * i / (points - 1);
            lines[choice].push_back(each);
            batch.push_back(std::move(each));
        }
    }
    if (auto done = play(batch); !done) return done;
    for (std::size_t choice = 0; choice < through.size(); ++choice) {
        const auto& line = lines[choice];
        const auto plays = [this](const PlanLevels& each) { return known_.at(each); };
        if (line.empty() || plays(line.front()) || std::none_of(line.begin(), line.end(), plays)) continue;
        std::vector<PlanLevels> between;
        PlanLevels each = *(std::find_if(line.begin(), line.end(), plays) - 1);
        const std::uint32_t end = (*std::find_if(line.begin(), line.end(), plays))[choice];
        for (; each[choice] < end; ++each[choice]) between.push_back(each);
        const auto last = last_failing(between, Runs::brief);
        if (!last) return last.error();
        clauses.push_back(between[*last]);
    }
    return {};
}

/// The configuration, with more of each choice as long as it fails. Cheap choices first: those that remain are
/// dear, and the next candidate is.
Result<Clause> PlanSearch::raised(const Slice& slice, const PlanLevels& fails, Runs runs) {
    std::vector<std::size_t> order;
    for (std::size_t choice = 0; choice < fails.size(); ++choice) {
        if (fails[choice] < slice.most[choice]) order.push_back(choice);
    }
    const double price = space_.cost(fails).price;
    std::vector<double> dearer(fails.size());
    for (const std::size_t choice : order) {
        PlanLevels more = fails;
        more[choice] = slice.most[choice];
        dearer[choice] = space_.cost(more).price - price;
    }
    std::stable_sort(order.begin(), order.end(),
                     [&dearer](std::size_t a, std::size_t b) { return dearer[a] < dearer[b]; });
    PlanLevels now = fails;
    for (std::size_t next = 0; next < order.size();) {
        // All choices that can be raised to their most together, by halving; then one in its levels.
        std::vector<PlanLevels> together = {now};
        for (std::size_t i = next; i < order.size(); ++i) {
            PlanLevels more = together.back();
            more[order[i]] = slice.most[order[i]];
            together.push_back(std::move(more));
        }
        const auto last = last_failing(together, runs);
        if (!last) return last.error();
        now = together[*last];
        next += *last;
        if (next >= order.size()) break;
        const std::size_t choice = order[next++];
        std::vector<PlanLevels> levels = {now};
        while (levels.back()[choice] + 1 < slice.most[choice]) {
            PlanLevels more = levels.back();
            ++more[choice];
            levels.push_back(std::move(more));
        }
        const auto level = last_failing(levels, runs);
        if (!level) return level.error();
        now = levels[*level];
    }
    return now;
}

/// REQUIRES: no plan is less of everything, or more: those come later, by their cost.
void PlanSearch::take(const Candidate& plan) {
    plans_.insert(std::upper_bound(plans_.begin(), plans_.end(), plan,
                                   [](const auto& a, const auto& b) { return b > a; }),
                  plan);
}

/// Takes candidates by their cost until enough of them are plans, or none is left.
Result<void> PlanSearch::candidates(const Slice& slice, std::vector<Clause>& clauses) {
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> open;
    std::set<PlanLevels> seen;
    const auto add = [&](PlanLevels levels) {
        if (!seen.insert(levels).second) return;
        Candidate next = candidate(std::move(levels));
        if (within(next.cost)) open.push(std::move(next));
    };
    add(slice.least);
    while (!open.empty()) {
        const Candidate next = open.top();
        if (too_late(next)) return {};
        open.pop();
        const bool more_of_a_plan = std::any_of(plans_.begin(), plans_.end(), [&](const Candidate& plan) {
            return no_more_than(plan.levels, next.levels);
        });
        if (more_of_a_plan) continue;
        auto violated = std::find_if(clauses.begin(), clauses.end(), [&next](const Clause& clause) {
            return no_more_than(next.levels, clause);
        });
        if (violated == clauses.end()) {
            if (auto done = play({next.levels}, Runs::both); !done) return done;
            if (does_play(next.levels, Runs::both)) {
                take(next);
                continue;
            }
            auto clause = raised(slice, next.levels, known_.at(next.levels) ? Runs::both : Runs::brief);
            if (!clause) return clause.error();
            clauses.push_back(std::move(*clause));
            violated = clauses.end() - 1;
        }
        const Clause clause = *violated;
        for (std::size_t choice = 0; choice < clause.size(); ++choice) {
            if (clause[choice] >= slice.most[choice]) continue;
            PlanLevels more = next.levels;
            more[choice] = clause[choice] + 1;
            add(std::move(more));
        }
    }
    return {};
}

Result<void> PlanSearch::search_slice(const Slice& slice) {
    if (auto done = play({slice.most}); !done) return done;
    if (!known_.at(slice.most)) return {};
    found_.most_plays = true;
    if (!within(space_.cost(slice.least)) || too_late(candidate(slice.least))) return {};
    std::vector<Clause> clauses;
    if (unordered_.empty()) {
        if (auto done = play_lines(slice, clauses); !done) return done;
    }
    return candidates(slice, clauses);
}

/// One, or one for each level of the choices that break the rule, the cheapest first.
std::vector<Slice> PlanSearch::slices() const {
    Slice all;
    all.least.assign(space_.sizes.size(), 0);
    for (const std::uint32_t size : space_.sizes) all.most.push_back(size - 1);
    std::vector<Slice> out = {all};
    for (const std::size_t choice : unordered_) {
        std::vector<Slice> cut;
        for (const Slice& slice : out) {
            for (std::uint32_t level = 0; level < space_.sizes[choice]; ++level) {
                cut.push_back(slice);
                cut.back().least[choice] = cut.back().most[choice] = level;
            }
        }
        out = std::move(cut);
    }
    std::stable_sort(out.begin(), out.end(), [this](const Slice& a, const Slice& b) {
        return candidate(b.least) > candidate(a.least);
    });
    return out;
}

bool PlanSearch::same_slice(const PlanLevels& a, const PlanLevels& b) const {
    return std::all_of(unordered_.begin(), unordered_.end(),
                       [&](std::size_t choice) { return a[choice] == b[choice]; });
}

Result<void> PlanSearch::search_all() {
    plans_.clear();
    for (const Slice& slice : slices()) {
        if (auto done = search_slice(slice); !done) return done;
    }
    if (plans_.size() > options_.plans) plans_.resize(options_.plans);
    return check_around_plans();
}

/// One step more and one step less of each choice of each plan.
Result<void> PlanSearch::check_around_plans() {
    std::vector<PlanLevels> batch;
    for (const Candidate& plan : plans_) {
        for (std::size_t choice = 0; choice < plan.levels.size(); ++choice) {
            PlanLevels other = plan.levels;
            if (other[choice] > 0) {
                --other[choice];
                batch.push_back(other);
                ++other[choice];
            }
            if (++other[choice] < space_.sizes[choice]) batch.push_back(other);
        }
    }
    return play(std::move(batch));
}

std::vector<PlanLevels> PlanSearch::cheaper_to_check() const {
    std::vector<PlanLevels> out;
    const auto wanted = [&](const Candidate& each) {
        if (!within(each.cost) || is_known(each.levels)) return false;
        return plans_.empty() || plans_.front() > each;
    };
    double all = 1;
    for (const std::uint32_t size : space_.sizes) all *= size;
    if (all <= kListedMax) {
        std::vector<Candidate> listed;
        PlanLevels levels(space_.sizes.size(), 0);
        for (bool ended = false; !ended;) {
            if (Candidate each = candidate(levels); wanted(each)) listed.push_back(std::move(each));
            std::size_t choice = 0;
            while (choice < levels.size() && ++levels[choice] == space_.sizes[choice]) levels[choice++] = 0;
            ended = choice == levels.size();
        }
        std::sort(listed.begin(), listed.end(), std::greater<>());  // the dearest first
        for (Candidate& each : listed) {
            if (out.size() == options_.checks) break;
            out.push_back(std::move(each.levels));
        }
        return out;
    }
    Prng chance(1);
    std::set<PlanLevels> seen;
    for (std::size_t i = 0; i < 50 * options_.checks && out.size() < options_.checks; ++i) {
        PlanLevels levels = plans_.empty() ? slices().front().most : plans_.front().levels;
        for (int step = 0; step < kStepsToCheck; ++step) {
            const std::size_t choice = chance.below(levels.size());
            levels[choice] = static_cast<std::uint32_t>(chance.below(space_.sizes[choice]));
        }
        if (wanted(candidate(levels)) && seen.insert(levels).second) out.push_back(std::move(levels));
    }
    return out;
}

Result<void> PlanSearch::check_cheaper() {
    std::vector<PlanLevels> batch = cheaper_to_check();
    found_.checked += batch.size();
    return play(std::move(batch));
}

/// From a configuration that plays to one that fails, one choice after the other.
Result<PlanContradiction> PlanSearch::located(const PlanLevels& plays, const PlanLevels& fails, Runs runs) {
    std::vector<PlanLevels> path = {plays};
    std::vector<std::size_t> choices;
    for (std::size_t choice = 0; choice < plays.size(); ++choice) {
        if (plays[choice] == fails[choice]) continue;
        path.push_back(path.back());
        path.back()[choice] = fails[choice];
        choices.push_back(choice);
    }
    std::size_t low = 0, high = path.size() - 1;
    while (high - low > 1) {
        const std::size_t middle = low + (high - low) / 2;
        if (auto done = play({path[middle]}, runs); !done) return done.error();
        (does_play(path[middle], runs) ? low : high) = middle;
    }
    return PlanContradiction{choices[low], path[low], path[high]};
}

Result<bool> PlanSearch::contradiction_in(const std::map<PlanLevels, bool>& answers, Runs runs) {
    std::vector<const PlanLevels*> plays, fails;
    for (const auto& [levels, answer] : answers) (answer ? plays : fails).push_back(&levels);
    for (const PlanLevels* low : plays) {
        for (const PlanLevels* high : fails) {
            if (!same_slice(*low, *high) || !no_more_than(*low, *high)) continue;
            auto where = located(*low, *high, runs);
            if (!where) return where.error();
            unordered_.insert(where->choice);
            found_.contradictions.push_back(std::move(*where));
            return true;
        }
    }
    return false;
}

/// Looks for a configuration that plays although one with no less of everything fails. True: a choice more is
/// unordered now.
Result<bool> PlanSearch::find_contradiction() {
    auto found = contradiction_in(known_, Runs::brief);
    if (!found || *found) return found;
    return contradiction_in(held_, Runs::both);
}

Result<PlansFound> PlanSearch::run() {
    for (;;) {
        if (auto done = search_all(); !done) return done.error();
        auto again = find_contradiction();
        if (!again) return again.error();
        if (*again) continue;
        if (auto done = check_cheaper(); !done) return done.error();
        again = find_contradiction();
        if (!again) return again.error();
        if (!*again) break;
    }
    for (Candidate& plan : plans_) found_.plans.push_back(std::move(plan.levels));
    for (const auto& [levels, answer] : known_) found_.most_plays |= answer;
    found_.played = known_.size();
    found_.verified = held_.size();
    return std::move(found_);
}

}  // namespace

bool no_more_than(const PlanLevels& a, const PlanLevels& b) {
    return std::equal(a.begin(), a.end(), b.begin(), [](std::uint32_t x, std::uint32_t y) { return x <= y; });
}

Result<PlansFound> find_plans(const PlanSpace& space,
                              const PlanSearchOptions& options,
                              const PlanPlays& plays,
                              const PlanPlays& holds) {
    return PlanSearch(space, options, plays, holds).run();
}

}  // namespace streamsim::judge
