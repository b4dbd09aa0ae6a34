// Scenario: who plays what from where, when it begins and ends, and what happens meanwhile. Plain data with its
// seed: the same scenario is played in virtual time on a model and in real time on real storage.
//
// Times of seats and of faults count from the beginning of the run, those of streams from the start of their
// seat. A stream fills its read-ahead from its start on and plays from when that is full, for as long as is
// between its start and its end; streams with one start play from one instant.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "streamsim/media.h"
#include "streamsim/step_commands.h"
#include "streamsim/workload.h"

namespace streamsim {

/// Streams of one kind, on each seat of a group.
struct ScenarioStreams {
    std::optional<MediaFormat> format;  // empty: the clips of the target, in name order
    std::uint32_t count = 1;            // on each seat
    bool same_media = false;            // one clip for all such streams of the same format and target
    std::uint32_t layers = 1;
    bool audio = false;
    bool records = false;  // they write; what is about clips, orders and patterns says nothing then
    bool durable = false;  // and each frame is synced
    std::optional<Duration> clip_duration;
    std::string order = "forward";  // text from the document, already checked
    std::string pattern;            // text from the document, already checked; empty: by the kind of clip
    std::string on_miss = "drop";
    std::optional<FrameRate> rate;  // empty: the clip's own rate
    bool paced = true;              // false: "max"
    std::optional<std::uint64_t> frames;
    std::uint32_t readahead = 8;
    std::uint32_t inflight = 2;
    std::uint64_t io_size = 1 << 20;  // 0: a frame in one read
    std::uint32_t io_depth = 8;
    Duration start;               // from that of the seat
    Duration one_more_every;      // stream i of a seat begins so many times i later
    std::optional<Duration> end;  // from the start of the seat; nothing: with the seat
};

/// A workload beside the streams of each seat of a group, its meters alone: their users are on each seat.
struct ScenarioMeter {
    Workload workload;
    double scale = 1;
    Duration start;               // from that of the seat
    std::optional<Duration> end;  // from the start of the seat; nothing: with the seat
};

/// Seats that are alike.
struct ScenarioSeats {
    std::uint32_t count = 1;
    std::string target;                     // text from the document
    std::vector<std::uint32_t> nodes;       // model only: seat i is on nodes[i % size]; empty: round robin
    std::optional<double> link_bits_per_s;  // model only: replaces the link rate of the model
    std::optional<double> link_efficiency;  // as in the model's document: its MTU takes a part beside it
    std::optional<Duration> link_latency;
    Duration start;
    Duration one_more_every;               // seat i begins so many times i later
    Duration end;                          // end of the last phase
    std::vector<ScenarioStreams> streams;  // playing streams before recording streams
    std::vector<ScenarioMeter> meters;

    /// When stream `i` of seat `seat`, both counted within their groups, begins and ends; from the beginning.
    Duration start_of(std::uint32_t seat, const ScenarioStreams& of, std::uint32_t i) const {
        return seat_start(seat) + of.start + Duration{of.one_more_every.ns * i};
    }
    Duration end_of(std::uint32_t seat, const ScenarioStreams& of) const {
        return of.end ? std::min(end, seat_start(seat) + *of.end) : end;
    }

private:
    Duration seat_start(std::uint32_t seat) const { return start + Duration{one_more_every.ns * seat}; }
};

struct ScenarioFault {
    enum class Kind {
        throughput_gap,  // no operation completes while it lasts; with a node: its processor
                         // and its front end begin nothing
        delays,          // frames that are due while it lasts take so much longer
        errors,          // and those end with an error
        drive_dies,      // this and those below on models only
        node_lost,       // its seats go to the others, after `length`
        link_slows,      // the link of a seat or of a node's front end, to a share of its rate
        cache_flush,     // drops the cache of one node, or of all
    };
    Kind kind = Kind::throughput_gap;
    Duration at;
    std::optional<Duration> length;  // link_slows: empty means until the end
    std::optional<std::uint32_t> node;
    std::optional<std::uint32_t> drive;
    std::optional<std::uint32_t> seat;
    std::optional<std::uint32_t> stream;  // stream of the seat
    double factor = 1;
    double probability = 1;  // probability that a frame is affected
    Duration delay;
    std::string error;  // "EIO"
};

/// The result that the author of a scenario expects. Bounds include their ends.
struct ScenarioExpectation {
    struct Bounds {
        std::uint64_t min = 0;
        std::uint64_t max = UINT64_MAX;
    };
    std::string effect;  // a sentence
    std::optional<bool> plays;
    std::optional<std::string> limit;
    std::optional<Bounds> dropped;  // start-up drops left out
    std::optional<Bounds> late;
    std::optional<Bounds> failed;
    std::optional<Bounds> stalls;
};

struct Scenario {
    std::string source;  // the file it was read from
    std::string description;
    std::uint64_t seed = 1;
    Duration duration;
    Duration preroll_timeout = seconds(10);  // time for each stream to fill its read-ahead
    std::vector<ScenarioSeats> seats;        // numbered through in this order
    std::vector<ScenarioFault> faults;
    std::optional<ScenarioExpectation> expect;
    StepCommands before_step;  // around the run
};

/// The node and the link of a seat of a model.
struct SeatSetting {
    std::optional<std::uint32_t> node;  // empty: round robin
    std::optional<double> link_bits_per_s;
    std::optional<double> link_efficiency;
    std::optional<Duration> link_latency;

    bool has_link() const { return link_bits_per_s || link_efficiency || link_latency; }
    friend bool operator==(const SeatSetting&, const SeatSetting&) = default;
};

}  // namespace streamsim
