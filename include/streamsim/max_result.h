// MaxResult: what the search for the largest number of streams that plays has found, with everything that it
// saw on its way. Units are in the names; nullopt is "not known" or "there is none".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "streamsim/run_result.h"

namespace streamsim {

/// What is searched for: the number that the steps try.
enum class MaxCounts {
    streams,           // of all seats together
    streams_per_seat,  // of each of them
    seats,             // each with the streams that were asked for
};

constexpr const char* to_string(MaxCounts counts) {
    switch (counts) {
        case MaxCounts::streams: return "streams";
        case MaxCounts::streams_per_seat: return "streams-per-seat";
        case MaxCounts::seats: return "seats";
    }
    return "?";
}

/// One run of a number of streams.
struct MaxRun {
    std::int64_t duration_ns = 0;  // that was asked for
    bool pass = false;             // no frame missed after the first second, and the headroom kept
    Limit limit = Limit::unknown;
    std::string reason;
    std::uint64_t missed = 0;  // dropped, late, failed or stalled for; drops in the first second are apart
    std::uint64_t startup_drops = 0;
    std::optional<std::int64_t> margin_min_ns;
    /// Of the stream that has least of it, measured in its frame periods; margins are from a frame's completion
    /// to its deadline, so that what is buffered ahead is part of them.
    std::optional<std::int64_t> margin_p1_ns;
    std::optional<double> margin_p1_percent;  // of that stream's frame period
    /// Nothing was missed so far, but the buffers emptied all the time: they last so long from the beginning of
    /// play.
    std::optional<std::int64_t> empty_after_ns;
    bool undecided = false;     // that happened so fast that a longer run had to follow
    bool storage_gone = false;  // what it played from vanished: nothing is known, and the search ends
    bool disturbed = false;  // this computer had other things to do, and frames were missed for that: repeated
    double required_bytes_per_s = 0;
    double read_bytes_per_s = 0;
};

/// A number of streams that was tried, as often as it took to know.
struct MaxStep {
    enum class Purpose {
        search,
        confirm,  // the number that was found, for longer
    };
    std::uint64_t streams = 0;
    Purpose purpose = Purpose::search;
    bool pass = false;
    std::vector<MaxRun> runs;  // the last one decided

    /// Its runs did not agree. Undecided ones do not count.
    bool noisy() const;
};

constexpr const char* to_string(MaxStep::Purpose purpose) {
    return purpose == MaxStep::Purpose::search ? "search" : "confirm";
}

inline bool MaxStep::noisy() const {
    for (const MaxRun& run : runs) {
        if (!run.undecided && run.pass != pass) return true;
    }
    return false;
}

/// What was found for one format.
/// "Streams" below are what MaxResult::counts says.
struct MaxFormat {
    std::string format;  // its name, or what the clips were found to be
    int width = 0;       // 0: not known
    int height = 0;
    FrameRate rate;

    std::uint64_t streams = 0;              // plays; 0: not one does
    std::optional<std::uint64_t> fails_at;  // the least number that was seen to fail
    bool confirmed = false;                 // by a longer run
    std::int64_t confirm_ns = 0;            // how long that was; 0: none was asked for
    /// More than `streams` may play: why no more were tried. Empty: `streams` + 1 fail.
    std::string at_least;
    bool interrupted = false;  // the search did not come to its end
    std::vector<MaxStep> steps;

    /// The run that decided about this number; null when it was not tried.
    const MaxRun* decided(std::uint64_t count) const;
};

inline const MaxRun* MaxFormat::decided(std::uint64_t count) const {
    const MaxRun* last = nullptr;
    for (const MaxStep& step : steps) {
        if (step.streams == count && !step.runs.empty()) last = &step.runs.back();
    }
    return last;
}

struct MaxResult {
    RunResult common;  // program, host, target, and how it was played; no streams
    MaxCounts counts = MaxCounts::streams;
    std::uint32_t seats = 1;            // there are so many: that is the most where they are counted
    std::uint32_t streams_of_seat = 1;  // where seats are counted
    double headroom_percent = 0;
    std::int64_t step_ns = 0;     // a step, at least
    std::int64_t confirm_ns = 0;  // 0: found numbers are not played again
    bool interrupted = false;
    bool server_cache_may_be_warm = false;
    std::vector<std::string> notices;
    std::vector<MaxFormat> formats;

    /// Streams that one more of what is counted stands for.
    std::uint64_t streams_of_one() const {
        if (counts == MaxCounts::streams) return 1;
        return counts == MaxCounts::seats ? streams_of_seat : seats;
    }
    /// Seats that play when so many of what is counted do.
    std::uint64_t seats_of(std::uint64_t count) const { return counts == MaxCounts::seats ? count : seats; }
};

}  // namespace streamsim
