// The seats of a meeting before it begins, as rank 0 knows them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/document/json.h"
#include "base/result.h"
#include "base/time.h"
#include "streamsim/run_result.h"

namespace streamsim::seats {

/// A target of the run, as one seat finds it.
struct TargetSeen {
    std::string target;
    std::string problem;                      // empty: it is reached
    std::optional<std::uint64_t> free_bytes;  // nothing: it is no file system, or did not say
};

/// How a seat looks at the targets of the run. Blocks.
using LookAtTargets = std::function<std::vector<TargetSeen>(const std::vector<std::string>& targets)>;

/// The words of a seat that has looked.
struct SeatReport {
    /// Its time of day is ahead of rank 0's by so much, wrong by the error of the clock.
    std::optional<Duration> ahead;
    std::optional<Duration> clock_error;  // there where `ahead` is; nothing: no answer came
    std::vector<TargetSeen> targets;
};

struct LobbySeat {
    bool here = false;
    bool away = false;  // cut off, and awaited
    bool gone = false;
    std::string name;
    HostFacts host;
    std::vector<std::string> allows;
    std::optional<SeatReport> report;  // nothing: it still looks

    bool is_ready() const { return here && !away && !gone && report; }
};

struct Lobby {
    std::vector<LobbySeat> seats;   // by rank, from the first that plays
    std::vector<std::string> news;  // since the last one

    std::uint32_t here() const;
    std::uint32_t ready() const;
};

/// When a meeting begins.
struct StartRule {
    std::optional<std::uint32_t> quorum;  // so many seats are enough; nothing: all
    std::optional<Duration> within;       // of the host's start; then it begins, or ends
    std::optional<Duration> at;           // of the host's start: it begins then, and not before
    std::string at_text;                  // with its date, as a person reads it
    bool by_key = false;                  // not by itself

    /// With a quorum and no time, the others are awaited for so long.
    static constexpr Duration kGrace = seconds(10);

    /// "begins when all 8 seats are here"
    std::string text(std::uint32_t seats) const;
};

/// The rule as time passes.
class StartWatch {
public:
    explicit StartWatch(StartRule rule) : rule_(std::move(rule)) {}
    /// True: the run begins now. `passed`: since the host's start; `key`: a person wants it now. Errors:
    /// environment: the time is over, and too few are here.
    Result<bool> begins(const Lobby& lobby, Duration passed, bool key);

private:
    const StartRule rule_;
    std::optional<Duration> enough_since_;
    std::uint32_t here_before_ = 0;
};

Json to_json(const std::vector<TargetSeen>& targets);
std::vector<TargetSeen> targets_seen_from_json(const Json& json);
/// The message "ready" of a seat. `time_of_day`: added to an instant of rank 0's clock gives its time of day.
/// Throws Json::exception where the message is malformed.
SeatReport seat_report_from_json(const Json& message, Duration time_of_day);

}  // namespace streamsim::seats
