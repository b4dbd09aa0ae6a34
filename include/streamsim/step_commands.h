// The commands of a user around the steps of a run: one that is run before each step (flush caches, remount),
// and one that prints counters of the server before and after it. A step is a play, one value of a workload's
// sweep, or one number of streams that `max` tries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "streamsim/fields.h"

namespace streamsim {

/// Bytes of a command's output that are kept.
inline constexpr std::size_t kCommandOutputBytesMax = std::size_t{64} << 10;

struct StepCommands {
    std::string command;   // run before each step; empty: none
    std::string counters;  // prints counters; empty: none
    Duration timeout = seconds(60);
    bool as_text = false;  // in a document: "before_step" is the command itself, and no object

    bool empty() const { return command.empty() && counters.empty(); }
};

/// The command that was run before a step. A step is measured only where the command succeeded.
struct BeforeStep {
    std::string command;
    std::string output;  // standard output and standard error, the first kCommandOutputBytesMax
    std::uint64_t output_omitted_bytes = 0;
    std::int32_t exit_code = 0;
    std::int64_t duration_ns = 0;
};
void fields(ConstOr<BeforeStep> auto& before, auto& visit) {
    visit("command", before.command);
    visit("output", before.output);
    visit("output_omitted_bytes", before.output_omitted_bytes);
    visit("exit_code", before.exit_code);
    visit("duration_ns", before.duration_ns);
}

/// A counter of the server over a step. Its name says its unit.
struct CounterChange {
    std::string name;
    double before = 0, after = 0;
    double difference = 0;  // exact for whole numbers, also where `before` and `after` are rounded
};
void fields(ConstOr<CounterChange> auto& counter, auto& visit) {
    visit("name", counter.name);
    visit("before", counter.before);
    visit("after", counter.after);
    visit("difference", counter.difference);
}

/// Whether the server's drives delivered the bytes of a step, as its counters say.
enum class ColdReads {
    not_known,  // no counter decides
    cold,       // its drives read as much as the step did
    not_cold,   // they read less: the rest came from a cache, or was stored compressed
};
constexpr const char* to_string(ColdReads reads) {
    switch (reads) {
        case ColdReads::not_known: return "not-known";
        case ColdReads::cold: return "cold";
        case ColdReads::not_cold: return "not-cold";
    }
    return "?";
}

struct Counters {
    std::string command;
    std::vector<CounterChange> values;  // as the command printed them
    std::uint64_t bytes_read = 0;       // by the step, streams and meters together
    ColdReads reads = ColdReads::not_known;
    std::string summary;  // a sentence about the counter that decided, or why it does not; empty: none is there
};
void fields(ConstOr<Counters> auto& counters, auto& visit) {
    visit("command", counters.command);
    visit("values", counters.values);
    visit("bytes_read", counters.bytes_read);
    visit("reads", counters.reads);
    visit("summary", counters.summary);
}

}  // namespace streamsim
