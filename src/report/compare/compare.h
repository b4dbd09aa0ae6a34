// Results side by side: what differs in the set-up, and which figures changed beyond the noise.
//
// The first result is the reference; each other one is held against it, figure by figure. The noise of a figure
// is taken from evidence, never assumed; the largest of these counts:
//   - inside each run, three standard errors of the figure: of a percentile by the slope between its neighbours
//     and the number of frames, and by how far streams of one format differ; of an extreme by how far the
//     extremes of the time line's intervals and of the streams differ; of a rate by how far the intervals
//     differ; of a count by two square roots of it, and by how far the intervals differ where both runs have
//     some;
//   - between runs of one set-up, where there are two or more besides the one that is judged: three standard
//     deviations.
//
// Some differences are changes whatever the noise is (judge/compare_rule.h). Counts of runs of different
// lengths are compared per frame that was due. A figure is not comparable only where one side has none, where a
// rate was asked for that the other was not, or where what is compared is a verdict that an interrupted run
// does not have. Results with injected faults or from the null storage differ, and are neither better nor
// worse. In virtual time the same seed gives the same result: every difference is a change.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "streamsim/run_result.h"

namespace streamsim::report {

struct NamedResult {
    std::string name;  // of its file
    RunResult result;
};

enum class Unit { words, count, share, ns, bytes_per_s };
enum class ChangeVerdict { reference, changed, within_noise, not_comparable };
enum class Direction { neither, better, worse };

constexpr const char* to_string(Unit unit) {
    switch (unit) {
        case Unit::words: return "words";
        case Unit::count: return "count";
        case Unit::share: return "share";
        case Unit::ns: return "ns";
        case Unit::bytes_per_s: return "bytes_per_s";
    }
    return "?";
}
constexpr const char* to_string(ChangeVerdict verdict) {
    switch (verdict) {
        case ChangeVerdict::reference: return "reference";
        case ChangeVerdict::changed: return "changed";
        case ChangeVerdict::within_noise: return "within the noise";
        case ChangeVerdict::not_comparable: return "not comparable";
    }
    return "?";
}
constexpr const char* to_string(Direction direction) {
    switch (direction) {
        case Direction::neither: return "neither";
        case Direction::better: return "better";
        case Direction::worse: return "worse";
    }
    return "?";
}

/// A figure of one result.
struct ComparedValue {
    std::optional<double> number;  // nullopt: there is none, or it is words
    std::string words;
    ChangeVerdict verdict = ChangeVerdict::reference;
    Direction direction = Direction::neither;  // of a change
    std::optional<double> noise;               // of the difference to the reference
};

struct ComparedFigure {
    std::string key;    // "margin_ns_min"
    std::string label;  // "min margin"
    Unit unit = Unit::count;
    std::vector<ComparedValue> values;  // one a result
};

struct SetupDifference {
    std::string what;
    std::vector<std::string> values;  // one a result
};

struct ComparedResult {
    std::string name;
    std::string started_at;
    std::string verdict;    // its line
    std::size_t setup = 0;  // results of one set-up have the same number, the reference's is 0
};

struct Comparison {
    std::vector<std::string> remarks;  // what a reader must know before the figures, a sentence each
    std::vector<ComparedResult> results;
    std::vector<SetupDifference> setup;  // only what differs
    std::vector<ComparedFigure> figures;
};

/// REQUIRES: two results or more.
Comparison compare(const std::vector<NamedResult>& results);

/// One property of the set-up.
struct SetupFact {
    const char* what;
    std::string value;
    bool of_setup;  // results that agree in all of these are runs of one set-up
};

/// The same properties in the same order for every result.
std::vector<SetupFact> setup_facts(const RunResult& result);

}  // namespace streamsim::report
