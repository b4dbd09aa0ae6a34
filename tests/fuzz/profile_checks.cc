#include "fuzz/profile_checks.h"

#include "base/document/json.h"
#include "profile/learning/learn.h"
#include "profile/learning/selection.h"
#include "profile/learning/workload_writer.h"
#include "scenario/workload_document.h"

namespace streamsim::fuzz {
namespace {

void require_traffic(const profile::Traffic& traffic) {
    std::int64_t last = 0;
    for (const profile::TrafficOperation& each : traffic.operations) {
        require(each.begin_ns >= last, "operations are sorted, from 0 on");
        last = each.begin_ns;
        require(each.duration_ns >= 0, "no operation ends before it begins");
        require(each.end_ns() >= each.begin_ns, "the end of an operation is a time");
        require(each.file < traffic.files.size() && each.user < traffic.users.size(),
                "an operation has file and user");
        require(each.session == profile::kNoSession || each.session < traffic.sessions.size(),
                "a session is there");
        require(each.moves_data() || each.bytes == 0, "only reads and writes move bytes");
    }
    for (const profile::TrafficSession& each : traffic.sessions)
        require(each.file < traffic.files.size(), "a session has a file");
}

void check_learnt(const profile::Profile& profile) {
    const std::string text = json_text(profile::workload_document(profile.workload), 2);
    const auto read = scenario::read_workload(text, "workload.json");
    if (!read)
        require(false, "a workload that was learnt is read: " + read.error().problems.front() + "\n" + text);
    require(json_text(profile::workload_document(*read), 2) == text,
            "a workload is equal when it was written and read");
}

}  // namespace

void check_traffic(const profile::Traffic& traffic) {
    require_traffic(traffic);
    for (const bool all : {true, false}) {
        profile::Traffic selected = traffic;
        const std::vector<std::string> only = all ? std::vector<std::string>{"/"} : std::vector<std::string>{};
        profile::select(selected, only);
        require_traffic(selected);
        require(selected.operations.size() <= traffic.operations.size(),
                "a selection has no more than there is");
        const auto profile = profile::learn(selected, "learnt");
        if (profile) {
            check_learnt(*profile);
        } else {
            require_refusal(profile.error(), traffic.source);
        }
    }
}

}  // namespace streamsim::fuzz
