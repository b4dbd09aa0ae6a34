// A learnt meter is played as its traffic was seen.
#include "run/traffic_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/learning/fit.h"

namespace streamsim::run {
namespace {

using profile::TrafficKind;

/// 200 files of 64 KiB, one every 40 ms, each read in four blocks; the first `opened` with an open before.
profile::Traffic files_read_whole(std::uint32_t opened) {
    constexpr std::int64_t kMs = 1'000'000;
    profile::Traffic traffic;
    traffic.source = "test";
    traffic.recorder = "NFSv3";
    traffic.users.push_back("player");
    const auto add = [&traffic](std::uint32_t i, std::int64_t after_ns, TrafficKind kind,
                                std::uint64_t offset) {
        const std::uint64_t bytes = kind == TrafficKind::read ? 16'384 : 0;
        traffic.operations.push_back({i * 40 * kMs + after_ns, kMs / 2, 0, i, i, kind, false, offset, bytes});
    };
    for (std::uint32_t i = 0; i < 200; ++i) {
        traffic.files.push_back({"/m/f." + std::to_string(1000 + i), 65'536, 0, true});
        traffic.sessions.push_back({i, false, false, i >= opened});
        if (i < opened) add(i, 0, TrafficKind::open, 0);
        for (std::uint32_t block = 0; block < 4; ++block)
            add(i, (block + 1) * kMs, TrafficKind::read, block * 16'384);
    }
    return traffic;
}

TEST(TrafficFit, WholeFilesAreOpenedAsOftenAsTheTrafficShows) {
    for (const std::uint32_t opened : {0u, 100u, 200u}) {
        const auto learnt = profile::learn(files_read_whole(opened), "test");
        ASSERT_TRUE(learnt);
        const profile::LearntMeter& meter = learnt->meters.front();
        ASSERT_TRUE(meter.spec.whole_files);
        const profile::Behaviour played = played_behaviour(meter, learnt->workload.duration);
        EXPECT_NEAR(static_cast<double>(played.of(TrafficKind::open)) * 4,
                    static_cast<double>(played.of(TrafficKind::read)) * opened / 200, 8);
        for (const profile::FitLine& line : profile::compare(meter.behaviour, played).lines)
            if (line.name == "operation mix") EXPECT_TRUE(line.fits()) << opened << ": " << line.distance;
    }
}

}  // namespace
}  // namespace streamsim::run
