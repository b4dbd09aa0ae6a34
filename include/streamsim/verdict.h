// The verdict of a run, and the causes that its missed frames are attributed to.
#pragma once

#include <cstdint>
#include <string>

#include "streamsim/fields.h"

namespace streamsim {

enum class Limit { none, storage, network, client_cpu, client_scheduling, media, unknown };

constexpr const char* to_string(Limit limit) {
    switch (limit) {
        case Limit::none: return "none";
        case Limit::storage: return "storage";
        case Limit::network: return "network";
        case Limit::client_cpu: return "client-cpu";
        case Limit::client_scheduling: return "client-scheduling";
        case Limit::media: return "media";
        case Limit::unknown: return "unknown";
    }
    return "?";
}

/// Causes that a missed frame is attributed to. CauseResult::limit says which side has to change.
enum class Cause {
    none,                  // it was not missed
    slow_reads,            // the storage took long to answer, and was not asked for much
    bandwidth,             // the storage gave all it had, and that was too little
    slow_opens,            // most of the frame's time went into opening its file
    storage_stall,         // no stream got a byte for a while
    storage_error,         // a read or an open failed, here and there
    storage_gone,          // the source of play is not there any more: a mount, a directory, a drive
    slow_file,             // these frames are slow every time, and their neighbours are not
    damaged_file,          // these frames fail every time: cut short, missing, unreadable
    network,               // the path to the storage was full
    network_loss,          // it lost packets
    network_down,          // it was gone for a while
    client_cpu,            // this computer had no processor time left
    client_scheduling,     // this computer did not run the player when it had to
    client_memory,         // this computer had too little memory
    client_resources,      // this computer had no file descriptor, or no port, left
    too_little_in_flight,  // the player was set to ask for less at once than the storage needs
    too_small_reads,       // the player was set to ask in pieces that are too small
    cold_start,            // in the first second, while the storage warmed up
    model_part,            // a part of a model was full, or lost time
    injected_fault,        // streamsim delayed or failed it by itself (--faults, a scenario's faults)
    unknown,
};

constexpr const char* to_string(Cause cause) {
    switch (cause) {
        case Cause::none: return "none";
        case Cause::slow_reads: return "slow-reads";
        case Cause::bandwidth: return "bandwidth";
        case Cause::slow_opens: return "slow-opens";
        case Cause::storage_stall: return "storage-stall";
        case Cause::storage_error: return "storage-error";
        case Cause::storage_gone: return "storage-gone";
        case Cause::slow_file: return "slow-file";
        case Cause::damaged_file: return "damaged-file";
        case Cause::network: return "network";
        case Cause::network_loss: return "network-loss";
        case Cause::network_down: return "network-down";
        case Cause::client_cpu: return "client-cpu";
        case Cause::client_scheduling: return "client-scheduling";
        case Cause::client_memory: return "client-memory";
        case Cause::client_resources: return "client-resources";
        case Cause::too_little_in_flight: return "too-little-in-flight";
        case Cause::too_small_reads: return "too-small-reads";
        case Cause::cold_start: return "cold-start";
        case Cause::model_part: return "model-part";
        case Cause::injected_fault: return "injected-fault";
        case Cause::unknown: return "unknown";
    }
    return "?";
}

/// The missed frames that are attributed to one cause, and the reasons.
struct CauseResult {
    Cause cause = Cause::unknown;
    Limit limit = Limit::unknown;
    std::uint64_t frames = 0;  // slots, start-up drops included
    std::uint64_t stalls = 0;
    std::string summary;  // a sentence that an editor understands
    std::string detail;   // one that an engineer can act on, with the numbers
};
void fields(ConstOr<CauseResult> auto& cause, auto& visit) {
    visit("cause", cause.cause);
    visit("limit", cause.limit);
    visit("frames", cause.frames);
    visit("stalls", cause.stalls);
    visit("summary", cause.summary);
    visit("detail", cause.detail);
}

/// Tells whether the same frames of the clips are missed on each pass: then the material is at fault.
struct PlaceTest {
    enum class Answer { nothing_missed, one_pass, everywhere, same_place, random };
    Answer answer = Answer::nothing_missed;
    std::uint64_t places = 0;      // frames of clips that were missed at least once
    std::uint64_t every_pass = 0;  // those of them that were missed whenever they were due, twice or more
};
void fields(ConstOr<PlaceTest> auto& test, auto& visit) {
    visit("answer", test.answer);
    visit("places", test.places);
    visit("every_pass", test.every_pass);
}

constexpr const char* to_string(PlaceTest::Answer answer) {
    switch (answer) {
        case PlaceTest::Answer::nothing_missed: return "nothing-missed";
        case PlaceTest::Answer::one_pass: return "one-pass";
        case PlaceTest::Answer::everywhere: return "everywhere";
        case PlaceTest::Answer::same_place: return "same-place";
        case PlaceTest::Answer::random: return "random";
    }
    return "?";
}

struct Verdict {
    bool pass = false;
    std::string reason;  // for an editor
    Limit limit = Limit::unknown;
    std::string detail;  // for an engineer: the evidence, and what would help; may be empty
    std::string next;    // the measurement that would tell the cause, where it is not known; else empty
};
void fields(ConstOr<Verdict> auto& verdict, auto& visit) {
    visit("pass", verdict.pass);
    visit("reason", verdict.reason);
    visit("limit", verdict.limit);
    visit("detail", verdict.detail, kAdded);
    visit("next", verdict.next, kAdded);
}

}  // namespace streamsim
