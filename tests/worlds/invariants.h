// Every invariant that the documents of streamsim state about a run, by name, and the checks of worlds against
// them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "worlds/world_play.h"

namespace streamsim::worlds {

/// A world with its run.
struct Seen {
    const RandomWorld& world;
    const Played& played;
    const RunResult& result;
};

/// Collects what is wrong, a sentence each.
class Findings {
public:
    explicit Findings(const char* invariant) : invariant_(invariant) {}

    void add(const std::string& text);
    /// Adds `text` unless `holds`.
    template <typename Text>
    bool expect(bool holds, Text&& text) {
        if (!holds) add(text());
        return holds;
    }
    template <typename A, typename B>
    bool equal(const A& a, const B& b, const std::string& what) {
        return expect(a == b, [&] { return what + ": " + std::to_string(a) + " and " + std::to_string(b); });
    }
    const std::vector<std::string>& texts() const { return texts_; }

private:
    const char* invariant_;
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
