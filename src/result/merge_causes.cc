#include "result/merge_causes.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "result/merge_seats.h"

namespace streamsim::result {
namespace {

/// The most frames that one seat of the part lost to each cause.
std::map<Cause, std::uint64_t> most_of_a_seat(const RunResult& part) {
    std::map<std::pair<Cause, std::uint32_t>, std::uint64_t> lost;
    for (const DropRecord& drop : part.drops) ++lost[{drop.cause, drop.seat}];
    std::map<Cause, std::uint64_t> most;
    for (const auto& [key, frames] : lost) most[key.first] = std::max(most[key.first], frames);
    return most;
}

int says(PlaceTest::Answer answer) {
    using Answer = PlaceTest::Answer;
    constexpr std::array kAscending = {Answer::nothing_missed, Answer::one_pass, Answer::everywhere,
                                       Answer::random, Answer::same_place};
    return static_cast<int>(std::find(kAscending.begin(), kAscending.end(), answer) - kAscending.begin());
}

}  // namespace

void name_causes(RunResult& part) {
    const std::string name = seat_name(part.seats.front());
    for (CauseResult& cause : part.causes) {
        cause.summary = name + ": " + cause.summary;
        if (!cause.detail.empty()) cause.detail = name + ": " + cause.detail;
    }
}

std::vector<CauseResult> merged_causes(const std::vector<RunResult>& parts) {
    struct Merged {
        CauseResult cause;
        std::uint64_t most = 0;  // frames, of the seat whose sentences these are
    };
    std::map<std::pair<Cause, Limit>, Merged> all;
    for (const RunResult& part : parts) {
        std::map<Cause, std::uint64_t> most = most_of_a_seat(part);
        for (const CauseResult& cause : part.causes) {
            Merged& merged = all[{cause.cause, cause.limit}];
            const std::uint64_t frames = merged.cause.frames + cause.frames;
            const std::uint64_t stalls = merged.cause.stalls + cause.stalls;
            if (merged.cause.summary.empty() || most[cause.cause] > merged.most) {
                merged.cause = cause;
                merged.most = most[cause.cause];
            }
            merged.cause.frames = frames;
            merged.cause.stalls = stalls;
        }
    }
    std::vector<CauseResult> out;
    for (auto& [key, merged] : all) out.push_back(std::move(merged.cause));
    std::stable_sort(out.begin(), out.end(), [](const CauseResult& a, const CauseResult& b) {
        return a.frames + a.stalls > b.frames + b.stalls;
    });
    return out;
}

void merge_places(const PlaceTest& from, PlaceTest& to) {
    if (says(from.answer) > says(to.answer)) to.answer = from.answer;
    to.places += from.places;
    to.every_pass += from.every_pass;
}

}  // namespace streamsim::result
