#include "run/load_steps.h"

#include <gmock/gmock.h>

#include "unit/run/workload_ranks.h"

namespace streamsim::run {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A meter of one second with so many operations of 1 ms in each of its intervals.
MeterResult meter_of(const std::string& name, const std::vector<std::uint64_t>& operations) {
    MeterResult meter;
    meter.name = name;
    meter.interval_ns = 1'000'000'000;
    meter.wall_ns = static_cast<std::int64_t>(operations.size()) * meter.interval_ns;
    for (const std::uint64_t count : operations) {
        meter.series.push_back(
            {.operations = count, .response_sum_ns = static_cast<std::int64_t>(count) * 1'000'000});
        meter.all.done += count;
        meter.all.response_sum_ns += meter.series.back().response_sum_ns;
    }
    return meter;
}

void move_bytes(MeterResult& meter, std::uint64_t read, std::uint64_t written) {
    meter.operations[static_cast<std::size_t>(LoadOperation::read)].bytes = read;
    meter.operations[static_cast<std::size_t>(LoadOperation::write)].bytes = written;
}

/// A step over clients that was played on this model; empty: on storage.
LoadStep step_of(double at, const std::string& model, std::uint64_t read_bytes, std::uint64_t written_bytes) {
    RunResult result;
    if (!model.empty()) result.model = ModelFacts{.name = model};
    result.meters.push_back(meter_of("m", {100}));
    move_bytes(result.meters.back(), read_bytes, written_bytes);
    return load_step(at, Workload{}, std::move(result));
}

Workload over_clients(std::vector<double> values, std::vector<PrintedFigure> printed) {
    Workload workload;
    workload.sweep = {Sweep::Over::clients, std::move(values)};
    workload.printed = std::move(printed);
    return workload;
}

PrintedFigure figure_at(double at, const std::string& model, const std::string& quantity) {
    return {.at = at, .model = model, .quantity = quantity, .value = 1, .source = "paper: p"};
}

PrintedFigure peak_of(const std::string& model, const std::string& quantity) {
    return {.peak = true, .model = model, .quantity = quantity, .value = 1, .source = "paper: p"};
}

TEST(PrintedFigures, OfAModelAreComparedOnThatModelAlone) {
    const Workload workload =
        over_clients({1}, {figure_at(1, "h600", "read_bytes_per_s"),
                           figure_at(1, "f800-hpc", "read_bytes_per_s"), figure_at(1, "", "read_bytes_per_s")});
    const auto models = [&workload](const std::string& played) {
        std::vector<std::string> out;
        for (const PrintedComparison& each : compare_with_printed(workload, {step_of(1, played, 7, 0)}))
            out.push_back(each.printed.model);
        return out;
    };
    EXPECT_THAT(models("h600"), ElementsAre("h600", ""));
    EXPECT_THAT(models("f800-hpc"), ElementsAre("f800-hpc", ""));
    EXPECT_THAT(models("h500"), ElementsAre(""));
    EXPECT_THAT(models(""), ElementsAre("")) << "real storage is none of the models";
}

TEST(PrintedFigures, AreComparedAtTheirStep) {
    const Workload workload = over_clients({1, 2}, {figure_at(2, "", "read_bytes_per_s")});
    const auto compared = compare_with_printed(workload, {step_of(1, "", 7, 0), step_of(2, "", 9, 0)});
    ASSERT_THAT(compared, SizeIs(1));
    EXPECT_EQ(compared[0].measured, 9);
}

TEST(PrintedFigures, APeakIsTheLargestOfAllSteps) {
    const Workload workload = over_clients({1, 2, 4}, {peak_of("", "read_bytes_per_s")});
    std::vector<LoadStep> steps;
    for (const auto& [at, bytes] : {std::pair(1.0, 7u), {2.0, 9u}, {4.0, 8u}})
        steps.push_back(step_of(at, "", bytes, 0));
    const auto compared = compare_with_printed(workload, steps);
    ASSERT_THAT(compared, SizeIs(1));
    EXPECT_EQ(compared[0].measured, 9);
    EXPECT_EQ(compared[0].printed.at, 2) << "the step of the peak";
    EXPECT_TRUE(compared[0].printed.peak);
    steps.pop_back();
    EXPECT_THAT(compare_with_printed(workload, steps), IsEmpty()) << "a later step could have more";
}

TEST(PrintedFigures, BytesPerSecondAreReadsAndWritesTogether) {
    const Workload workload =
        over_clients({1}, {figure_at(1, "", "bytes_per_s"), figure_at(1, "", "read_bytes_per_s"),
                           figure_at(1, "", "write_bytes_per_s")});
    std::vector<double> measured;
    for (const PrintedComparison& each : compare_with_printed(workload, {step_of(1, "", 7, 5)}))
        measured.push_back(each.measured);
    EXPECT_THAT(measured, ElementsAre(12, 7, 5));
}

TEST(StepPeaks, AreOfTheBusiestSecondOfAllMetersTogether) {
    Workload played;
    played.name = "w";
    played.meters.resize(2);
    played.meters[0].name = "early";
    played.meters[1].name = "late";
    played.meters[1].start = seconds(2);
    RunResult result;
    result.meters = {meter_of("w-early", {10, 50, 20}), meter_of("w-late", {45, 3})};
    result.meters[0].series[0].response_sum_ns = 90'000'000;  // ten operations of 9 ms, no more than that
    const LoadStep step = load_step(0, played, std::move(result));
    EXPECT_EQ(step.peak.operations_per_s, 65) << "20 and 45 in the third second";
    EXPECT_EQ(step.peak.latency_mean_ns, 9'000'000) << "of the first second";
}

/// Two meters of 40 operations a second, of which the second begins when the first ends.
TEST(StepPeaks, OfMetersThatFollowEachOtherAreThoseOfOne) {
    Workload workload = test::two_meters(1);
    for (MeterSpec& meter : workload.meters) {
        meter.users = 1;
        meter.loop = MeterSpec::Loop::open;
        meter.arrival = MeterSpec::Arrival::constant;
        meter.operations_per_s = 40;
        meter.think_time = {};
    }
    workload.duration = seconds(4);
    workload.meters[0].end = seconds(2);
    workload.meters[1].start = seconds(2);
    const LoadStep step = load_step(0, workload, test::result_of_meters(test::request_of(workload)));
    EXPECT_GE(step.peak.operations_per_s, 35);
    EXPECT_LE(step.peak.operations_per_s, 50) << "together they would have 80";
}

TEST(StepPeaks, OfALongRunAreOfItsLongerIntervals) {
    RunResult result;
    result.meters = {meter_of("m", {10, 50, 20, 0}), meter_of("m", {40, 60})};
    result.meters[1].seat = 1;
    result.meters[1].interval_ns = 2'000'000'000;
    const LoadStep step = load_step(0, Workload{}, std::move(result));
    EXPECT_EQ(step.peak.operations_per_s, 50) << "10 + 50 + 40 in two seconds";
}

TEST(StepPeaks, OfAShortStepAreOverItsOwnTime) {
    RunResult result;
    result.meters = {meter_of("m", {10})};
    result.meters[0].wall_ns = 500'000'000;
    EXPECT_EQ(load_step(0, Workload{}, std::move(result)).peak.operations_per_s, 20);
}

TEST(StepPeaks, AreAPrintedQuantity) {
    Workload workload;
    workload.printed = {figure_at(0, "", "peak_operations_per_s"), figure_at(0, "", "peak_latency_ms"),
                        figure_at(0, "", "operations_per_s"), figure_at(0, "", "latency_ms")};
    RunResult result;
    result.meters = {meter_of("m", {10, 30})};
    result.meters[0].series[0].response_sum_ns *= 3;
    result.meters[0].all.response_sum_ns = 60'000'000;
    std::vector<double> measured;
    std::vector<LoadStep> steps;
    steps.push_back(load_step(0, workload, std::move(result)));
    for (const PrintedComparison& each : compare_with_printed(workload, steps))
        measured.push_back(each.measured);
    EXPECT_THAT(measured, ElementsAre(30, 3, 20, 1.5));
}

}  // namespace
}  // namespace streamsim::run
