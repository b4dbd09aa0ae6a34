// The command line as data. Every problem of it is reported at once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "media/catalogue/catalogue.h"
#include "run/session/play_request.h"
#include "streamsim/max_result.h"

namespace streamsim::cli {

/// Where results go: file names, "-" for standard output, or empty.
struct ResultFiles {
    std::string json, csv, html, trace, junit;

    /// One row a frame is wanted.
    bool need_frames() const { return !csv.empty() || !trace.empty(); }
};

struct CliOptions {
    enum class Command { play, prepare, max, run, formats, inspect, profile, report, clean };
    Command command = Command::play;
    run::PlayRequest play;       // play, prepare; target of inspect and clean
    MediaFormat default_format;  // play, prepare: what a target without media gets
    std::string name;            // formats: the one to show; empty: all. run: the file, or a workload's name
    std::string where;           // run: of a workload, the TARGET; empty: where it is at home
    std::vector<std::string> meters;       // play, max: workloads beside the streams
    double scale = 1;                      // of workloads
    std::optional<std::uint32_t> clients;  // run: instead of the workload's
    std::optional<std::uint64_t> seed;     // run: instead of the scenario's
    std::string credentials;               // the file; empty: as the environment says
    std::string workload;                  // profile: where the document goes; empty: standard output
    std::string workload_name;             // profile: the document's; empty: the capture's
    std::vector<std::string> only;         // profile: beginnings of paths that count; empty: its own rule
    ResultFiles files;
    std::string metrics;               // ADDR:PORT for OpenMetrics while it plays; empty: nowhere
    std::optional<Duration> confirm;   // max: how long the found number is played again
    double headroom_percent = 0;       // max: of the period, that the p1 margin must keep free
    std::optional<MaxCounts> find;     // max: nothing: streams; over several computers those of each seat
    std::vector<std::string> results;  // report: the documents
    std::string journal;               // play, run: the directory for one; empty: none is kept
    std::string journal_beside;        // over several computers: the directory for one where none is asked for
    bool alone = true;                 // beside meters: first measure streams and meters alone
    bool frames = false;               // inspect --frames
    bool streams_given = false;        // max: more than those of `play` are not tried
    bool merge = false;                // report: parts of one run, put together
    bool yes = false;                  // play, prepare, max, run: much may be written without a question
    bool wait = false;                 // for others that use the media set
    bool quiet = false;
    bool verbose = false;
    std::vector<std::string> command_line;
};

/// Which command the first argument names; anything else is play.
CliOptions::Command command_of(int argc, const char* const* argv);

/// What there is to print and nothing else to do (--help, --version).
struct CliText {
    std::string text;
};

struct ParsedCommandLine {
    std::optional<CliText> text;
    CliOptions options;
};

/// Errors: bad input, every problem. `version_text` is what --version prints.
Result<ParsedCommandLine> parse_command_line(int argc,
                                             const char* const* argv,
                                             const std::string& version_text);

}  // namespace streamsim::cli
