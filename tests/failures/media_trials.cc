#include "failures/media_trials.h"

#include <gtest/gtest.h>

#include <iostream>

#include "media/write/media_set.h"
#include "unit/media/fixtures.h"

namespace streamsim::testing {

void at_every_call(const Trials& trials,
                   const std::function<std::unique_ptr<MemoryDisk>()>& make,
                   const std::function<Result<void>(ByteStore&)>& act,
                   const std::function<void(MemoryDisk&, bool told_done)>& check) {
    std::uint64_t tried = 0;
    const auto trial = [&](const FailurePlan& plan) {
        const auto disk = make();
        FailingStore store(*disk, plan);
        const bool done = act(store).has_value();
        const bool dead = store.has_failed() && is_crash(plan.failure);  // and told nothing
        ++tried;
        SCOPED_TRACE(std::string(name_of(plan.failure)) + " at call " + std::to_string(plan.at) + " (" +
                     store.failed_call() + "), seed " + std::to_string(plan.seed));
        EXPECT_TRUE(done || store.has_failed()) << "without a failure";
        check(*disk, done && !dead);
        if (::testing::Test::HasFailure()) {
            for (const auto& [path, bytes] : disk->tree())
                std::cerr << "    " << path << ' ' << bytes.size() << '\n';
        }
        return store.has_failed() && !::testing::Test::HasFailure();
    };
    for (const Failure failure : kFailures) {
        bool reached = !::testing::Test::HasFailure();
        for (std::uint64_t k = static_cast<std::uint64_t>(failure) % trials.step; reached; k += trials.step)
            for (std::uint64_t i = 0; i < (is_crash(failure) ? trials.seeds : 1) && reached; ++i)
                reached = trial({failure, k, trials.seeds * k + i});
    }
    EXPECT_GT(tried * trials.step, 20u);
}

Tree foreign() {
    return {{"/t/", ""}, {"/t/notes.txt", "of others"}, {"/t/shot/", ""}, {"/t/shot/a.dpx", "of others too"}};
}

std::unique_ptr<MemoryDisk> empty_disk(bool sets_aside) {
    auto disk = std::make_unique<MemoryDisk>(sets_aside);
    for (const auto& [path, bytes] : foreign())
        if (!path.ends_with('/')) disk->put(path, bytes);
    return disk;
}

void expect_cleaned(MemoryDisk& disk, const Tree& others) {
    Tree left = disk.tree();
    const bool marked = left.contains("/t/streamsim-media/streamsim-media.json");
    const auto report = media::clean(disk, kTarget);
    left = disk.tree();
    if (report) {
        EXPECT_TRUE(report->kept.empty()) << report->kept.front();
    } else {
        EXPECT_EQ(report.error().kind, ErrorKind::bad_input) << all_problems(report.error());
    }
    if (!marked) left.erase("/t/streamsim-media/");
    EXPECT_EQ(left, others);
}

}  // namespace streamsim::testing
