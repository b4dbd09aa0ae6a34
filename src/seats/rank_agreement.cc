#include "seats/rank_agreement.h"

#include <utility>

#include "seats/rank_messages.h"

namespace streamsim::seats {

void RankAgreement::hear(std::uint32_t rank, const std::string& what, const Json& message) {
    if (what == "report") {
        reports_[rank].insert_or_assign(message.at("step").get<std::uint64_t>(),
                                        outcome_from_json(message.at("outcome")));
    } else if (what == "answer") {
        answers_.insert_or_assign(message.at("step").get<std::uint64_t>(),
                                  outcome_from_json(message.at("outcome")));
    } else if (what == "share") {
        shared_[message.at("step")] = message.at("value");
    } else if (what == "end") {
        ended_ = true;
    }
}

Result<void> RankAgreement::agree(const Result<void>& own) {
    if (!own && own.error().kind == ErrorKind::interrupted) group_.stop();
    std::unique_lock lock(group_.mutex);
    const std::uint64_t step = ++step_;
    if (!group_.first()) return ask_first(lock, step, own);
    reports_[0].insert_or_assign(step, own);
    group_.changed.wait(lock, [&] {
        return group_.stopped || !own ||
               group_.all_gone_or([&](std::uint32_t rank) { return reports_[rank].contains(step); });
    });
    if (group_.stopped) return interrupted_error();
    std::map<std::uint32_t, Error> errors;
    for (std::uint32_t rank = 0; rank < group_.size(); ++rank) {
        ByStep& reports = reports_[rank];
        const auto report = reports.find(step);
        if (report != reports.end() && !report->second) errors[rank] = report->second.error();
        reports.erase(reports.begin(), reports.upper_bound(step));
    }
    const Result<void> together = errors.empty() ? Result<void>() : Result<void>(group_.joined(errors));
    group_.send_to_others({{"do", "answer"}, {"step", step}, {"outcome", to_json(together)}});
    return together;
}

Result<void> RankAgreement::ask_first(std::unique_lock<std::mutex>& lock,
                                      std::uint64_t step,
                                      const Result<void>& own) {
    group_.send_to_first({{"do", "report"}, {"step", step}, {"outcome", to_json(own)}});
    group_.changed.wait(lock,
                        [&] { return group_.stopped || answers_.contains(step) || group_.first_is_gone(); });
    if (const auto answer = answers_.find(step); answer != answers_.end()) return answer->second;
    if (group_.stopped) return interrupted_error();
    const RankGroup::Peer& first = group_.peer(0);
    return environment_error("rank 0 is gone: " + (first.lost ? first.why : "it has ended"));
}

Result<Json> RankAgreement::share(const Json& value) {
    std::unique_lock lock(group_.mutex);
    const std::uint64_t step = ++step_;
    if (group_.first()) {
        group_.send_to_others({{"do", "share"}, {"step", step}, {"value", value}});
        return value;
    }
    group_.changed.wait(
        lock, [&] { return group_.stopped || shared_.contains(step) || group_.first_is_gone() || ended_; });
    if (const auto found = shared_.find(step); found != shared_.end()) {
        Json shared = std::move(found->second);
        shared_.erase(found);
        return shared;
    }
    return interrupted_error();
}

}  // namespace streamsim::seats
