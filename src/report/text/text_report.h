// The result for people. The first line is the verdict and stands alone; the rest is for whoever has to act on
// it.
#pragma once

#include <string>
#include <vector>

#include "streamsim/run_result.h"

namespace streamsim::report {

enum class Tone { good, doubtful, bad };

/// The verdict line in two: "PLAYS", then ": 4 streams of ...".
struct Headline {
    std::string word, rest;
    Tone tone = Tone::bad;
};
Headline headline(const RunResult& result);

struct ResultLine {
    std::string heading;  // empty: the line above goes on
    std::string text;
};
using ResultLines = std::vector<ResultLine>;

/// "120.0 MB/s from 0 s, 240.0 MB/s from 60.0 s to 120.0 s", cut where it is long; empty where one rate is
/// required all the time.
std::string required_text(const RunResult& result);

/// How it was played and read, what a cache may have done, on which computer: for every report that says so.
ResultLines setup_lines(const RunResult& result);

/// UTF-8 with ANSI colours only where `colour` is true. Names from outside are shown without their control
/// characters. Long tables are cut, and say by how much; the worst rows stay.
std::string text_report(const RunResult& result, bool colour);

/// "FAULTS INJECTED", or "no statement about storage" of a run on the null storage; empty where the result does
/// speak of a storage. What a report says of such a run begins with it.
std::string disclaimer(const RunResult& result);
/// The same as a sentence: what was injected, and that nothing is said of the storage; or empty.
std::string disclaimer_text(const RunResult& result);

/// Its first line alone, without a newline and without colours.
std::string verdict_line(const RunResult& result);

}  // namespace streamsim::report
