// The published loads that are not playback, on the models: the documents of formats/workload/ played
// by meters in virtual time, against the figures that the papers print. Shorter than the documents say, and not
// at each of their steps: minutes otherwise.
#include <gmock/gmock.h>

#include "sim/workload_play.h"

namespace streamsim::test {
namespace {

LoadFigures play(const std::string& document, double value, const OnModel& on, Duration duration) {
    Workload workload = shipped_workload(document);
    workload.duration = duration;
    if (workload.sweep.over != Sweep::Over::none) workload = scenario::at_step(workload, value);
    const LoadFigures figures = WorkloadPlay(workload, on).run();
    EXPECT_EQ(figures.failed, 0u) << document;
    return figures;
}

const OnModel kF800{"f800", 4, false, 4};
const OnModel kH600{"h600", 4, false, 4};

struct Peak {
    const char* document;
    const char* model;
    double printed;     // GB/s, at 64 clients
    bool flat = false;  // after two clients
};

void PrintTo(const Peak& peak, std::ostream* out) {
    *out << peak.document << " on " << peak.model;
}

class PublishedPeak : public testing::TestWithParam<Peak> {
protected:
    static double gb_per_s(double clients) {
        const Peak& peak = GetParam();
        const LoadFigures done =
            play(peak.document, clients, peak.model == std::string("f800") ? kF800 : kH600, seconds(2));
        return (done.read_bytes_per_s + done.write_bytes_per_s) / 1e9;
    }
};

TEST_P(PublishedPeak, IsReachedByManyClients) {
    const Peak& peak = GetParam();
    const double one = gb_per_s(1);
    const double two = gb_per_s(2);
    const double most = gb_per_s(64);
    EXPECT_NEAR(most, peak.printed, 0.2 * peak.printed);
    EXPECT_LT(one, 1.5) << "a client's own";
    if (peak.flat) {
        EXPECT_NEAR(two, most, 0.1 * most);
        EXPECT_LT(one, 0.9 * two);
    } else {
        EXPECT_NEAR(two, 2 * one, 0.1 * one);
        EXPECT_NEAR(gb_per_s(32), most, 0.1 * most) << "and that is the most";
    }
}

INSTANTIATE_TEST_SUITE_P(Hpc,
                         PublishedPeak,
                         testing::Values(Peak{"ior-n-n-read", "f800", 12},
                                         Peak{"ior-n-n-read", "h600", 6},
                                         Peak{"ior-n-n-write", "f800", 8},
                                         Peak{"ior-n-n-write", "h600", 7.4},
                                         Peak{"ior-n-1-read", "f800", 5.6},
                                         Peak{"ior-n-1-read", "h600", 2},
                                         Peak{"ior-n-1-write", "f800", 1, true},
                                         Peak{"ior-n-1-write", "h600", 1.1, true}));

TEST(PublishedRandom, FourKiBOfLargeFiles) {
    struct Figure {
        const char* document;
        const char* model;
        double printed;
    };
    for (const Figure& figure :
         {Figure{"ior-random-read", "f800", 2.7}, Figure{"ior-random-write", "f800", 1.6},
          Figure{"ior-random-read", "h600", 0.8}, Figure{"ior-random-write", "h600", 0.8}}) {
        for (const double clients : {24.0, 64.0}) {
            const LoadFigures done =
                play(figure.document, clients, {figure.model, 4, true, 4}, milliseconds(300));
            const double rate = (done.read_bytes_per_s + done.write_bytes_per_s) / 1e9;
            EXPECT_NEAR(rate, figure.printed, 0.2 * figure.printed) << figure.document << " " << figure.model;
        }
    }
}

TEST(PublishedCloudVolume, FromReadsAloneToWritesAlone) {
    const OnModel cvs{"cvs"};
    const auto mib = [](double bytes_per_s) { return bytes_per_s / (1 << 20); };
    EXPECT_NEAR(mib(play("cvs-sequential-mix", 100, cvs, seconds(1)).read_bytes_per_s), 4300, 430);
    EXPECT_NEAR(mib(play("cvs-sequential-mix", 0, cvs, seconds(1)).write_bytes_per_s), 1240, 124);
    double last = 0;
    for (const double percent : {100.0, 70.0, 40.0, 0.0}) {
        const double rate = play("cvs-random-mix", percent, cvs, milliseconds(300)).operations_per_s;
        if (percent == 100) {
            EXPECT_NEAR(rate, 460'000, 46'000);
        } else {
            EXPECT_LT(rate, last) << "the more writes the less";
        }
        last = rate;
    }
    EXPECT_NEAR(last, 130'000, 13'000);
    EXPECT_NEAR(play("database-70-30", 128'000, cvs, milliseconds(500)).operations_per_s, 128'000, 3'000);
}

TEST(PublishedEda, TurnsUpBetweenItsPrintedPoints) {
    Workload workload = shipped_workload("eda");
    for (MeterSpec& meter : workload.meters) {  // names cost the model nothing
        meter.set.files = std::min(meter.set.files, 1000u);
        meter.set.directories = std::min(meter.set.directories, 100u);
    }
    workload.duration = milliseconds(1500);
    std::vector<double> ms;
    for (const double rate : {100'000.0, 190'000.0, 240'000.0, 264'000.0}) {
        const LoadFigures done = WorkloadPlay(scenario::at_step(workload, rate), {"cvs"}).run();
        EXPECT_EQ(done.failed, 0u);
        EXPECT_NEAR(done.operations_per_s, rate, 0.02 * rate) << "it keeps up";
        ms.push_back(done.latency_ms);
    }
    EXPECT_LT(ms[0], 1.6);
    EXPECT_NEAR(ms[1], 2, 0.6);
    EXPECT_NEAR(ms[2], 4, 1.2);
    EXPECT_NEAR(ms[3], 7, 2.1);
    EXPECT_GT((ms[2] - ms[1]) / 50, 1.3 * (ms[1] - ms[0]) / 90) << "ms for each thousand more";
    EXPECT_GT((ms[3] - ms[2]) / 24, 1.3 * (ms[2] - ms[1]) / 50);
}

/// The work of all users of a run within the interval `at`.
struct AtOnce {
    double users = 0;
    double operations_per_s = 0;
    double latency_ms = 0;
};

AtOnce at_once(const LoadFigures& figures, std::size_t at) {
    AtOnce out;
    double latency_ns = 0;
    for (const MeterResult& meter : figures.meters) {
        if (at >= meter.series.size()) continue;
        const MeterResult::Point& point = meter.series[at];
        out.users += static_cast<double>(point.users);
        out.operations_per_s +=
            static_cast<double>(point.operations) * 1e9 / static_cast<double>(meter.interval_ns);
        latency_ns += static_cast<double>(point.response_sum_ns);
    }
    out.latency_ms = latency_ns * 1e-6 * 1e9 / static_cast<double>(figures.meters[0].interval_ns) /
                     std::max(out.operations_per_s, 1.0);
    return out;
}

TEST(PublishedDesktops, BootWorkAndLogIn) {
    const OnModel array{"sc7020f", 2};
    const LoadFigures boot = play("vdi-boot", 0, array, milliseconds(700));
    EXPECT_NEAR(boot.operations_per_s, 295'000, 15'000);
    EXPECT_LT(boot.latency_ms, 0.8);
    const LoadFigures steady = play("vdi-steady", 0, array, seconds(1));
    EXPECT_NEAR(steady.operations_per_s, 164'000, 3'300);
    EXPECT_NEAR(steady.latency_ms, 0.8, 0.16);

    // The ramp ten times as fast again: the last users come when most of the others are at work.
    Workload login = shipped_workload("vdi-login");
    for (MeterSpec& meter : login.meters) {
        meter.one_more_every = milliseconds(1);
        meter.burst = 11;
    }
    login.duration = milliseconds(5'100);
    const LoadFigures ramp = WorkloadPlay(login, array).run();
    EXPECT_EQ(ramp.failed, 0u);
    const AtOnce middle = at_once(ramp, 1);
    EXPECT_NEAR(middle.operations_per_s, 11'000 + 1500 * 54.67, 7'000);
    const AtOnce last = at_once(ramp, 2);
    EXPECT_NEAR(last.operations_per_s, 11'000 + 2500 * 54.67, 8'000) << "up to 175,000";
    EXPECT_LT(last.latency_ms, 0.8);
    const AtOnce in = at_once(ramp, 4);
    EXPECT_EQ(in.users, 3000);
    EXPECT_NEAR(in.operations_per_s / in.users, 54.67, 0.6) << "the steady state";
    EXPECT_LT(in.latency_ms, 0.8);
}

}  // namespace
}  // namespace streamsim::test
