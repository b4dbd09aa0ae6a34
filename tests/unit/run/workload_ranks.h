// A workload in virtual time, played by one process or by the ranks of a run.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "result/merge.h"
#include "run/load_steps.h"
#include "run/plan/meters.h"
#include "run/session/session.h"
#include "scenario/workload_document.h"

namespace streamsim::test {

/// Two meters on each of some clients: transfers of several sizes, and operations on names.
inline Workload two_meters(std::uint32_t clients) {
    auto workload = scenario::read_workload(
        R"({"schema": "streamsim.workload", "version": 1, "name": "w", "duration": "3s", "report": "modes",
            "meters": [
              {"name": "edit", "users": 2, "operations": {"read": 3, "write": 1}, "random_percent": 50,
               "think_time": "7ms", "lengths": {"up_to": "64KiB"}, "files": {"bytes": "1MiB"},
               "blocks": [{"bytes": "4KiB", "weight": 1}, {"bytes": "16KiB", "weight": 1}]},
              {"name": "names", "operations": {"create": 2, "stat": 1}, "loop": "open", "arrival": "poisson",
               "operations_per_s": 40, "files": {"count": 3, "bytes": "4KiB"}}]})",
        "w.json");
    EXPECT_TRUE(workload) << (workload ? "" : workload.error().problems.front());
    workload->clients = clients;
    return *workload;
}

/// The request that plays the workload. Some of its operations take long, by the seed and the client, so that
/// all figures differ.
inline run::PlayRequest request_of(const Workload& workload, const std::string& url = "sim:null") {
    run::PlayRequest base;
    base.target = *target::parse_target(url);
    base.keep_frames = true;
    storage::FaultPlan plan;
    for (const auto operation : {storage::FaultRule::Operation::read, storage::FaultRule::Operation::write}) {
        storage::FaultRule& rule = plan.rules.emplace_back();
        rule.operation = operation;
        rule.probability = 0.3;
        rule.delay = milliseconds(5);
    }
    base.faults = plan;
    return run::load_request(workload, base);
}

inline RunResult result_of_meters(const run::PlayRequest& request) {
    run::Session session(request, {}, {}, {}, [](const std::string&) {});
    auto result = session.execute();
    EXPECT_TRUE(result) << (result ? "" : result.error().problems.front());
    return result ? *result : RunResult{};
}

/// The part of one of `ranks`: client i is on rank i % ranks.
inline RunResult part_of_meters(run::PlayRequest request, std::uint32_t rank, std::uint32_t ranks) {
    request.first_seat = rank;
    request.seat_step = ranks;
    request.own_seats = request.seats / ranks + (rank < request.seats % ranks ? 1 : 0);
    RunResult part = result_of_meters(request);
    SeatResult own;
    own.rank = rank;
    for (std::uint32_t seat = rank; seat < request.seats; seat += ranks) own.seats.push_back(seat);
    if (!own.seats.empty()) own.start_ns = 0;
    part.host.name = "h" + std::to_string(rank);
    result::become_part("r1", ranks, std::move(own), part);
    return part;
}

}  // namespace streamsim::test
