#include "seats/lobby.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "seats/message_values.h"

namespace streamsim::seats {
namespace {

std::optional<Duration> duration_or_null(const Json& json) {
    if (json.is_null()) return std::nullopt;
    return Duration{time_of(json)};
}

}  // namespace

std::uint32_t Lobby::here() const {
    return static_cast<std::uint32_t>(std::ranges::count_if(
        seats, [](const LobbySeat& seat) { return seat.here && !seat.away && !seat.gone; }));
}

std::uint32_t Lobby::ready() const {
    return static_cast<std::uint32_t>(std::ranges::count_if(seats, &LobbySeat::is_ready));
}

std::string StartRule::text(std::uint32_t seats) const {
    const std::string all = fmt::format("all {} seats are here", seats);
    if (by_key) return "begins when Enter is pressed";
    if (at) return fmt::format("begins at {}", at_text);
    if (within && quorum)
        return fmt::format("begins when {}, or {} of them {} after the host", all, *quorum,
                           show_duration(*within));
    if (quorum)
        return fmt::format("begins when {}, or {} of them and no other one for {}", all, *quorum,
                           show_duration(kGrace));
    return "begins when " + all;
}

Result<bool> StartWatch::begins(const Lobby& lobby, Duration passed, bool key) {
    const std::uint32_t here = lobby.ready();
    const auto all = static_cast<std::uint32_t>(lobby.seats.size());
    const std::uint32_t enough = rule_.quorum.value_or(all);
    const auto too_few = [&](const std::string& when) {
        return environment_error(
            fmt::format("{} of {} seats came {}, and {} were to come", here, all, when, enough));
    };
    if (key && here > 0) return true;
    if (rule_.at) {
        if (passed < *rule_.at) return false;
        if (here < enough) return too_few("until " + rule_.at_text);
        return true;
    }
    if (!rule_.by_key && here == all) return true;
    if (rule_.within) {
        if (passed < *rule_.within) return false;
        if (here < enough) return too_few("within " + show_duration(*rule_.within));
        return !rule_.by_key;
    }
    if (!rule_.quorum || rule_.by_key || here < enough) {
        enough_since_.reset();
        return false;
    }
    // Each one that comes makes the others be awaited anew.
    if (std::exchange(here_before_, here) != here || !enough_since_) enough_since_ = passed;
    return passed - *enough_since_ >= StartRule::kGrace;
}

Json to_json(const std::vector<TargetSeen>& targets) {
    Json out = Json::array();
    for (const TargetSeen& each : targets) {
        out.push_back({{"target", each.target},
                       {"problem", each.problem},
                       {"free", each.free_bytes ? Json(*each.free_bytes) : Json()}});
    }
    return out;
}

std::vector<TargetSeen> targets_seen_from_json(const Json& json) {
    std::vector<TargetSeen> out;
    for (const Json& each : json) {
        TargetSeen seen{each.at("target"), each.at("problem"), std::nullopt};
        if (const Json& free = each.at("free"); !free.is_null())
            seen.free_bytes = whole_of<std::uint64_t>(free);
        out.push_back(std::move(seen));
    }
    return out;
}

SeatReport seat_report_from_json(const Json& message, Duration time_of_day) {
    SeatReport report;
    report.targets = targets_seen_from_json(message.at("targets"));
    report.clock_error = duration_or_null(message.at("bound_ns"));
    const auto clock = duration_or_null(message.at("clock_ns"));
    if (report.clock_error.value_or(Duration{}) < Duration{} ||
        report.clock_error.has_value() != clock.has_value())
        throw malformed("a clock lacks its bound");
    if (clock) report.ahead = Duration{time_of(message.at("time_of_day_ns"))} - (time_of_day + *clock);
    return report;
}

}  // namespace streamsim::seats
