// The verdict of a result in one line, and what a reader must know before it. Inside report/ and its callers.
#pragma once

#include <cstdint>
#include <string>

#include "streamsim/run_result.h"

namespace streamsim::report {

enum class Tone { good, doubtful, bad };

/// The verdict line in two parts: "PLAYS", then ": 4 streams of ...".
struct Headline {
    std::string word;
    Tone tone = Tone::bad;
    std::string rest;
};
Headline headline(const RunResult& result);
/// "PLAYS" and its tone alone, of the frames and the verdict: without injected faults and --prove.
Headline first_word(const RunResult& result);

/// Both parts, without a newline and without colours.
std::string verdict_line(const RunResult& result);

/// The verdict in one short line, which ends a report: "DOES NOT PLAY", then ": 200 of 960 frames missed".
Headline closing_line(const RunResult& result);

/// How long the run lasted: from its first read to the last frame that came, was due, or stalled.
/// totals.wall_ns ends with the last one that came.
std::int64_t elapsed_ns(const RunResult& result);
/// " until the last frame came", of rates, where no frame came for a clear part of the run at its end; else
/// empty.
std::string until_last_frame(const RunResult& result);

/// "FAULTS INJECTED", or "no statement about storage" after a run on the null storage; else empty. A report of
/// such a run begins with it.
std::string disclaimer(const RunResult& result);
/// The same as a sentence with the numbers of injected faults, where they are known; or empty.
std::string disclaimer_text(const RunResult& result);

}  // namespace streamsim::report
