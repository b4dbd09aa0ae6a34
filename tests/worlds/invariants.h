// Every invariant that the documents of streamsim state about a run, by name, and the checks of worlds against
// them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "worlds/world_play.h"

namespace streamsim::worlds {

/// A world with its run.
struct Seen {
    const RandomWorld& world;
    const Played& played;
    const RunResult& result;
};

/// A word or a number of a sentence, without a template for each sentence. Refers to a text.
struct Word {
    Word(std::string_view its) : text(its) {}    // NOLINT: implicit
    Word(const std::string& its) : text(its) {}  // NOLINT: implicit
    Word(const char* its) : text(its) {}         // NOLINT: implicit
    Word(double its) : number(its) {}            // NOLINT: implicit
    Word(std::int64_t its) : whole(its) {}       // NOLINT: implicit
    Word(int its) : whole(its) {}                // NOLINT: implicit
    Word(std::uint64_t its) : count(its) {}      // NOLINT: implicit
    Word(std::uint32_t its) : count(its) {}      // NOLINT: implicit
    Word(Instant its) : whole(its.ns) {}         // NOLINT: implicit

    std::optional<std::string_view> text;
    std::optional<double> number;
    std::optional<std::int64_t> whole;
    std::optional<std::uint64_t> count;
};
using Words = std::initializer_list<Word>;

/// `pattern` with each "{}" replaced.
std::string say(std::string_view pattern, Words words);

/// Why there is no result; empty: there is one.
inline std::string problem_of(const Result<RunResult>& result) {
    return result ? "" : result.error().problems.front();
}

/// Collects what is wrong, a sentence each.
class Findings {
public:
    explicit Findings(const char* invariant) : invariant_(invariant) {}

    /// The sentences that follow are about this stream, or about the run.
    void about(const StreamResult& stream) { stream_ = &stream; }
    void about_run() { stream_ = nullptr; }
    void add(std::string_view pattern, Words words = {});
    /// Adds the sentence unless `holds`.
    bool expect(bool holds, std::string_view pattern, Words words = {}) {
        if (!holds) add(pattern, words);
        return holds;
    }
    /// `what` names the two.
    bool equal(std::uint64_t a, std::uint64_t b, std::string_view what) {
        return expect(a == b, "{}: {} and {}", {what, a, b});
    }
    bool equal_ns(std::int64_t a, std::int64_t b, std::string_view what) {
        return expect(a == b, "{}: {} and {} ns", {what, a, b});
    }
    const std::vector<std::string>& texts() const { return texts_; }

private:
    const char* invariant_;
    const StreamResult* stream_ = nullptr;
    std::vector<std::string> texts_;
};

struct Invariant {
    const char* name;
    const char* statement;
    const char* stated_in;
    void (*check)(const Seen& seen, Findings& findings);
};

/// All of them.
std::vector<Invariant> invariants();

// The parts of the list, by subject.
std::span<const Invariant> count_invariants();
std::span<const Invariant> frame_invariants();
std::span<const Invariant> storage_invariants();
std::span<const Invariant> document_invariants();
std::span<const Invariant> whole_run_invariants();

/// Plays the world and checks all invariants. Empty: they hold. `account`, where it is not null, gets what was
/// played in lines for a reader.
std::vector<std::string> check_world(const RandomWorld& world, std::string* account = nullptr);

}  // namespace streamsim::worlds
