// The command line as data. The option table (option_table.h) fills it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/command.h"
#include "media/catalogue/catalogue.h"
#include "report/text/text_report.h"
#include "run/plan/play_request.h"
#include "streamsim/max_result.h"
#include "streamsim/step_commands.h"

namespace streamsim::cli {

/// The destinations of results: file names, "-" for standard output, whatever name it has, or empty.
struct ResultFiles {
    std::string json, csv, html, trace, junit;

    /// A result wants one row for each frame.
    bool need_frames() const { return !csv.empty() || !trace.empty(); }
    bool take_standard_output() const {
        return json == "-" || csv == "-" || html == "-" || trace == "-" || junit == "-";
    }
};

struct CliOptions {
    Command command = Command::play;
    bool leads = true;           // this process runs the commands of --before-step and --counters for all
    run::PlayRequest play;       // play, prepare, max; target of inspect and clean; base of a workload's steps
    MediaFormat default_format;  // play, prepare, max: what a target without media gets

    // Operands and names of documents, as typed.
    std::string target;                // run: empty: the document's own
    std::vector<std::string> targets;  // max; `target` is the first
    std::string name;                  // formats: empty: all; run: the file, or a workload's name
    std::vector<std::string> results;  // report
    std::vector<std::string> formats;  // --format; then the names of --dpx10, ...
    std::vector<std::string> meters;   // workloads beside the streams
    std::string faults, cuts;          // files
    bool ignore_mismatch = false;      // of the cut list
    std::string credentials;           // the file; empty: as the environment says

    double scale = 1;                      // of workloads
    std::optional<std::uint32_t> clients;  // run: instead of the workload's
    std::optional<std::uint32_t> users;    // run: of each meter on each client, instead of the workload's
    bool alone = true;                     // beside meters: first measure streams and meters alone
    std::optional<std::uint32_t> draws;    // of a calibrated model; empty: the command's own number
    std::optional<Duration> confirm;       // max: how long the found number is played again
    double headroom_percent = 0;           // max: of the period, that the p1 margin must keep free
    std::optional<MaxCounts> find;         // max: empty: streams; over several computers those of each seat
    std::string output;                    // profile, calibrate: the document; empty: standard output
    std::string workload_name;             // profile: the document's; empty: the capture's
    std::vector<std::string> only;         // profile: beginnings of paths that count; empty: its own rule
    StepCommands step;                     // play, max, run: as typed; run adds those of its document
    bool allow_commands = false;           // run: also those of the document
    ResultFiles files;
    Project project;              // of results; its logo is read
    std::string logo;             // the file
    std::string metrics;          // ADDR:PORT for OpenMetrics while it plays; empty: nowhere
    std::string web;              // ADDR:PORT for the page of the run; empty: nowhere
    std::string journal;          // play, run: the directory for one; empty: none is kept
    std::string journal_beside;   // over several computers: the directory for one where none is asked for
    bool frames = false;          // inspect --frames
    bool keep_checksums = false;  // inspect: of all frames, beside the clip
    bool sensitivity = false;     // inspect, of a model
    bool fit = false;             // run published: fit the models again
    bool merge = false;           // report: parts of one run, put together
    bool refit = false;           // calibrate: from the raw rows, without the storage
    bool again = false;           // calibrate: anew, instead of what was measured before
    bool check = false;           // calibrate: only the held-back run, against the model
    std::uint64_t set_bytes = 0;  // calibrate: files of the probes; 0: by the free space
    std::optional<double> max_load_percent;  // calibrate: of the bandwidth, without a question
    bool yes = false;                        // much may be written without a question
    bool wait = false;                       // for others that use the media set
    bool quiet = false;
    unsigned verbosity = 0;  // 1 (-v): the whole report; 2 (-vv): debugging messages, too

    // host and join
    std::vector<std::string> line;  // host: the words of the run; join: the host's address, and more to allow
    std::string key;                // the file
    std::string listen;             // host: ADDR:PORT
    std::vector<std::string> allow;
    std::optional<std::uint32_t> quorum;
    std::optional<Duration> within;  // host: with fewer seats than --seats
    std::string at;                  // host: a time of day
    bool on_key = false;             // host: begin when Enter is pressed

    std::vector<CliOptions> others;  // max: the same command on each TARGET but the first

    std::vector<std::string> command_line;
    /// The text of each option that was given, by its name in the table; a flag's is empty.
    std::map<std::string, std::string, std::less<>> typed;

    /// REQUIRES: the option table has `option`.
    bool given(std::string_view option) const;
    report::TextDetail text_detail() const {
        return verbosity >= 1 ? report::TextDetail::full : report::TextDetail::screen;
    }
};

}  // namespace streamsim::cli
