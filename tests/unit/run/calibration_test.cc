// Calibration in virtual time: what the probes of a known model are fitted to.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/document/json.h"
#include "run/calibration/calibrated_document.h"
#include "run/calibration/direct_numbers.h"
#include "run/calibration/held_back.h"
#include "run/calibration/measurement_notes.h"
#include "run/calibration/model_fit.h"
#include "run/calibration/probes.h"
#include "run/calibration/seat_limits.h"
#include "run/calibration/virtual_target.h"
#include "sim/model/model_document.h"

namespace streamsim::run {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

CalibratedNumber number(const char* pointer, double value) {
    return {pointer, pointer, value, 0, std::nullopt, false, "assumed: for a test"};
}

constexpr double kOfLine = 100e6;  // bytes a second

/// A server whose numbers are those that a calibration looks for. `lines`: in which reads wait by their place.
std::shared_ptr<const ClusterModel> server(double server_bytes_per_s,
                                           double seat_bytes_per_s,
                                           std::uint32_t lines = 0) {
    std::vector<CalibratedNumber> values = {number(kServerRate, 8 * server_bytes_per_s),
                                            number(kSeatRate, 8 * seat_bytes_per_s),
                                            number(kSecondsPerByte, 4e-9),
                                            number(kRequestTime, 5e-6),
                                            number(kOpenTime, 300e-6),
                                            number(kTripTime, 400e3)};
    for (const auto& [name, ns] : {std::pair{"p10", 0.8e6}, std::pair{"p50", 1e6}, std::pair{"p90", 1.5e6},
                                   std::pair{"p99", 4e6}, std::pair{"p99_9", 9e6}, std::pair{"max", 12e6}})
        values.push_back(number((std::string(kAccess) + name).c_str(), ns));
    if (lines > 0) {
        values.push_back(number(kReadLines, lines));
        values.push_back(number(kLineRate, kOfLine));
        std::erase_if(values, [](const CalibratedNumber& each) { return each.pointer == kSecondsPerByte; });
    }
    for (CalibratedNumber& value : values) value.name = "a number";
    auto model = sim::read_model_document(trial_document("server", 0, values), "server");
    EXPECT_TRUE(model) << (model ? "" : model.error().problems.front());
    return std::make_shared<const ClusterModel>(std::move(*model));
}

Calibration fitted_to(const Measurement& measured) {
    FitOptions options;
    options.name = "fitted";
    auto fitted = fit_model(measured, options);
    EXPECT_TRUE(fitted) << (fitted ? "" : fitted.error().problems.front());
    return std::move(*fitted);
}

Calibration calibrated(const std::shared_ptr<const ClusterModel>& model, std::uint32_t seats) {
    const auto measured = measure_virtual(request_on(model), seats, {});
    EXPECT_TRUE(measured);
    return fitted_to(*measured);
}

/// The rates stay, and vary so much that they tell nothing: a bound that was seen is all that is known.
void make_unsure(Measurement& measured) {
    for (ProbeRow& row : measured.rows) {
        row.interval_ns = 0;
        row.operations_in = {0, 0, 0, 1};
    }
}

const CalibratedNumber& value_of(const Calibration& calibration, const std::string& pointer) {
    const auto found = std::find_if(calibration.values.begin(), calibration.values.end(),
                                    [&](const CalibratedNumber& each) { return each.pointer == pointer; });
    EXPECT_NE(found, calibration.values.end()) << pointer;
    return *found;
}

TEST(Calibrate, OneSeatFindsTheRateThatItMeetsAndDoesNotSayWhoseItIs) {
    const Calibration found = calibrated(server(500e6, 5e9), 1);
    const CalibratedNumber& rate = value_of(found, kServerRate);
    EXPECT_NEAR(rate.value / 8, 500e6, 15e6);
    EXPECT_FALSE(rate.high) << "one seat gives a lower bound of the server";
    EXPECT_FALSE(value_of(found, kSeatRate).high);
    EXPECT_FALSE(found.told_apart);
    EXPECT_THAT(found.notes, Contains(HasSubstr("calibrate with two seats")));
}

TEST(Calibrate, OneSeatNeverNamesTheServerWhereTheSeatIsTheLimit) {
    const Calibration found = calibrated(server(5e9, 500e6), 1);
    EXPECT_FALSE(value_of(found, kServerRate).high);
    EXPECT_FALSE(found.told_apart);
}

TEST(Calibrate, TwoSeatsTellThatTheServerIsFull) {
    const Calibration found = calibrated(server(500e6, 5e9), 2);
    EXPECT_TRUE(found.told_apart);
    const CalibratedNumber& rate = value_of(found, kServerRate);
    ASSERT_TRUE(rate.high);
    EXPECT_NEAR(rate.value / 8, 500e6, 15e6);
    EXPECT_FALSE(value_of(found, kSeatRate).high) << "the link was never full";
}

TEST(Calibrate, TwoSeatsTellThatTheirLinksAreFull) {
    const Calibration found = calibrated(server(5e9, 500e6), 2);
    EXPECT_TRUE(found.told_apart);
    const CalibratedNumber& link = value_of(found, kSeatRate);
    ASSERT_TRUE(link.high);
    EXPECT_NEAR(link.value / 8, 500e6, 15e6);
    EXPECT_FALSE(value_of(found, kServerRate).high) << "two seats did not fill the server";
    EXPECT_GT(value_of(found, kServerRate).low / 8, 900e6);
}

TEST(Calibrate, SeatsMayFillTheirLinksAndTheServer) {
    const Calibration found = calibrated(server(750e6, 500e6), 2);
    ASSERT_TRUE(value_of(found, kSeatRate).high);
    ASSERT_TRUE(value_of(found, kServerRate).high);
    EXPECT_NEAR(value_of(found, kSeatRate).value / 8, 500e6, 15e6);
    EXPECT_NEAR(value_of(found, kServerRate).value / 8, 750e6, 25e6);
}

TEST(Calibrate, ReadsThatWaitForOthersOfTheSamePlaceAreFound) {
    const Calibration found = calibrated(server(1e9, 5e9, 16), 2);
    EXPECT_NEAR(value_of(found, kReadLines).value, 16, 4);
    EXPECT_NEAR(value_of(found, kLineRate).value, kOfLine, 0.15 * kOfLine);
    EXPECT_LT(found.model_error, 0.04) << "without lines it is a tenth and more";
    const auto model = sim::read_model_document(found.document, "fitted");
    ASSERT_TRUE(model);
    EXPECT_EQ(model->node.read_lines.lines, std::llround(value_of(found, kReadLines).value));
}

TEST(Calibrate, LinesThatAreFullAreTheLimitOfTheServer) {
    const Calibration found = calibrated(server(50e9, 50e9, 8), 2);
    EXPECT_NEAR(value_of(found, kReadLines).value * value_of(found, kLineRate).value, 8 * kOfLine, 120e6);
    EXPECT_GT(value_of(found, kServerRate).value / 8, 8 * kOfLine);
    EXPECT_LT(found.model_error, 0.04);
}

TEST(Calibrate, OneSeatAndLinesStillSayAtLeast) {
    auto measured = measure_virtual(request_on(server(50e9, 50e9, 8)), 1, {});
    ASSERT_TRUE(measured);
    make_unsure(*measured);
    const Calibration found = fitted_to(*measured);
    EXPECT_GT(value_of(found, kServerRate).low / 8, 0.5 * 8 * kOfLine) << "as the lines delivered";
    EXPECT_FALSE(value_of(found, kServerRate).high);
    const auto model = sim::read_model_document(found.document, "fitted");
    EXPECT_TRUE(model) << model.error().problems.front();
}

TEST(Calibrate, ABoundThatWasSeenIsNoMoreThanTheValue) {
    auto measured = measure_virtual(request_on(server(500e6, 5e9)), 1, {});
    ASSERT_TRUE(measured);
    make_unsure(*measured);
    const auto highest =
        std::ranges::find_if(measured->rows, [](const ProbeRow& row) { return row.probe.id == "ladder-64"; });
    ASSERT_NE(highest, measured->rows.end());
    highest->operations *= 2;  // seen once, and in no other probe
    highest->operations_per_s *= 2;
    highest->bytes_per_s *= 2;
    const Calibration found = fitted_to(*measured);
    const CalibratedNumber& rate = value_of(found, kServerRate);
    ASSERT_LT(rate.value / 8, 900e6) << "else there is nothing to bound";
    EXPECT_LE(rate.low, rate.value);
    const auto model = sim::read_model_document(found.document, "fitted");
    EXPECT_TRUE(model) << model.error().problems.front();
}

TEST(Calibrate, TheResponseHasTheQuantilesThatTheServerHas) {
    const Calibration found = calibrated(server(500e6, 5e9), 1);
    const double trip = value_of(found, kTripTime).value;
    const double p50 = trip + value_of(found, std::string(kAccess) + "p50").value;
    const double p90 = trip + value_of(found, std::string(kAccess) + "p90").value;
    const double p99 = trip + value_of(found, std::string(kAccess) + "p99").value;
    // Part of the time of the bytes may be taken for a part of every read.
    EXPECT_NEAR(p50, 1.4e6, 0.1e6);
    EXPECT_NEAR(p90 - p50, 0.5e6, 0.2e6);
    EXPECT_NEAR(p99 - p50, 3e6, 0.75e6);
}

TEST(Calibrate, TheFittedModelGivesTheLadder) {
    const Calibration found = calibrated(server(500e6, 5e9), 1);
    for (const FitResidual& residual : found.residuals) {
        if (!residual.used || residual.quantity != "rate") continue;
        EXPECT_NEAR(residual.fitted / residual.measured, 1, 0.05) << residual.probe;
    }
}

TEST(Calibrate, TheDocumentIsAnOrdinaryModelWithIntervals) {
    Calibration found = calibrated(server(500e6, 5e9), 2);
    const auto model = sim::read_model_document(found.document, "fitted.json");
    ASSERT_TRUE(model) << model.error().problems.front();
    EXPECT_EQ(model->name, "fitted");
    EXPECT_TRUE(model->calibration);
    EXPECT_FALSE(model->uncertain.empty());
}

TEST(Calibrate, WritesThatAreCompleteTooLateAreLeftOutWithANote) {
    auto measured = measure_virtual(request_on(server(500e6, 5e9)), 1, {});
    ASSERT_TRUE(measured);
    std::erase_if(measured->rows, [](const ProbeRow& row) { return row.probe.kind == ProbeKind::writes; });
    for (const std::uint32_t users : {1U, 8U}) {
        ProbeRow row{.operations = 1, .operations_per_s = 0.1};
        row.probe.id = "writes-" + std::to_string(users);
        row.probe.kind = ProbeKind::writes;
        row.probe.users = users;
        row.probe.block_bytes = 1 << 20;
        row.probe.duration_ns = 600'000'000;
        measured->rows.push_back(row);
    }
    FitOptions options;
    options.name = "fitted";
    const auto found = fit_model(*measured, options);
    ASSERT_TRUE(found) << found.error().problems.front();
    EXPECT_THAT(found->notes, Contains(HasSubstr("no write was complete")));
    EXPECT_TRUE(sim::read_model_document(found->document, "fitted"));
}

Measurement two_writes() {
    Measurement measured;
    measured.rows.push_back(
        {.probe = {.id = "ladder-1", .kind = ProbeKind::ladder}, .operations = 990, .bytes_per_s = 1e8});
    for (const char* id : {"writes-1", "writes-8"})
        measured.rows.push_back({.probe = {.id = id, .kind = ProbeKind::writes, .block_bytes = 1 << 20},
                                 .operations = 100,
                                 .operations_per_s = 100,
                                 .bytes_per_s = 1e8});
    return measured;
}

TEST(Calibrate, EachProbeWithFailedOperationsIsNoted) {
    Measurement measured = two_writes();
    EXPECT_THAT(measurement_notes(measured), testing::Not(Contains(HasSubstr("failed"))));
    measured.rows.front().failed = 10;
    EXPECT_THAT(measurement_notes(measured), Contains(HasSubstr("ladder-1: 10 of 1,000 operations failed")));
}

TEST(Calibrate, ARemarkOnARowIsANote) {
    Measurement measured = two_writes();
    measured.rows.front().remark = "its files were not evicted before: cannot";
    EXPECT_THAT(measurement_notes(measured), Contains("ladder-1: its files were not evicted before: cannot"));
}

TEST(Calibrate, WhyAnySeatHadWarmFilesIsTheRemarkOfTheRow) {
    const Probe probe = two_writes().rows.back().probe;
    RunResult result;
    result.notices = {"another thing"};
    EXPECT_EQ(run::row_of(probe, result).remark, "");
    result.notices.push_back(std::string(run::kNotEvicted) + "cannot");
    EXPECT_EQ(run::row_of(probe, result).remark, "the files of the probe were not evicted before: cannot");
}

TEST(Calibrate, WritesThatFailedGiveNoJournal) {
    Measurement measured = two_writes();
    EXPECT_FALSE(write_values(measured, 0).empty());
    measured.rows.back().failed = 1;
    EXPECT_TRUE(write_values(measured, 0).empty());
    EXPECT_THAT(measurement_notes(measured),
                Contains(HasSubstr("writes failed: the model says nothing about synced writes")));
}

TEST(Calibrate, RowsWithoutALadderAreRefusedWithWhatIsMissing) {
    Measurement empty;
    const auto fitted = fit_model(empty, {});
    ASSERT_FALSE(fitted);
    EXPECT_EQ(fitted.error().kind, ErrorKind::bad_input);
    EXPECT_EQ(fitted.error().problems.size(), 2u);
    EXPECT_THAT(fitted.error().problems, Contains(HasSubstr("ladder-1")));
}

TEST(HeldBack, AFormatIsTakenOfWhichTwoStreamsFit) {
    MediaFormat small, large;
    small.name = "small";
    small.mean_frame_bytes = 1e6;
    small.rate = FrameRate{25, 1};
    large = small;
    large.name = "large";
    large.mean_frame_bytes = 10e6;
    Measurement measured;
    measured.rows.push_back({.probe = {.id = "ladder-64", .kind = ProbeKind::ladder}, .bytes_per_s = 600e6});
    EXPECT_EQ(held_back_format({large, small}, measured).name, "large");
    measured.rows.front().bytes_per_s = 400e6;
    EXPECT_EQ(held_back_format({large, small}, measured).name, "small");
    measured.rows.front().bytes_per_s = 1e6;
    EXPECT_EQ(held_back_format({large, small}, measured).name, "small") << "the smallest where none fits";
}

TEST(HeldBack, AModelIsRejectedThatPredictsFarMore) {
    const Calibration found = calibrated(server(500e6, 5e9), 1);
    MediaFormat format;
    format.name = "test";
    format.codec = "raw";
    format.mean_frame_bytes = 1e6;
    format.rate = FrameRate{25, 1};  // 25 MB/s: about twenty streams
    const auto good = streams_of_model(found, format, 1, {});
    ASSERT_TRUE(good);
    const auto as_predicted = check_held_back(found, {"test", 1, good->streams, ""}, format, {});
    ASSERT_TRUE(as_predicted);
    EXPECT_FALSE(as_predicted->rejected);
    const auto slowed = check_held_back(found, {"test", 1, good->streams / 2, ""}, format, {});
    ASSERT_TRUE(slowed);
    EXPECT_TRUE(slowed->rejected);
    format.mean_frame_bytes = 12e6;  // 300 MB/s: one stream
    const auto nothing = check_held_back(found, {"test", 1, 0, ""}, format, {});
    ASSERT_TRUE(nothing);
    EXPECT_EQ(nothing->low, 1U);
    EXPECT_TRUE(nothing->rejected) << "though it is off by one stream";
}

TEST(HeldBack, ALowerBoundRejectsOnlyWhereMorePlayThanPredicted) {
    Calibration found = calibrated(server(500e6, 5e9), 1);
    MediaFormat format;
    format.name = "test";
    format.codec = "raw";
    format.mean_frame_bytes = 1e6;
    format.rate = FrameRate{25, 1};
    const auto good = streams_of_model(found, format, 1, {});
    ASSERT_TRUE(good);
    const auto check = [&](std::uint64_t streams) {
        const auto checked =
            check_held_back(found, {"test", 1, streams, "", "no more clips may be made"}, format, {});
        return checked ? *checked : HeldBackCheck{};
    };
    const std::string without = calibrated_document(found);
    found.held_back = check(good->streams / 2);
    EXPECT_FALSE(found.held_back->rejected);
    EXPECT_FALSE(found.held_back->tells());
    EXPECT_EQ(calibrated_document(found), without) << "no run has checked the model";
    EXPECT_EQ(with_held_back(without, *found.held_back), without);
    found.held_back = check(2 * good->streams);
    EXPECT_TRUE(found.held_back->rejected);
    EXPECT_TRUE(found.held_back->tells());
    const auto model = sim::read_model_document(calibrated_document(found), "fitted");
    ASSERT_TRUE(model) << model.error().problems.front();
    ASSERT_TRUE(model->calibration->held_back);
    EXPECT_EQ(model->calibration->held_back->at_least, "no more clips may be made");
}

TEST(HeldBack, ACheckWithAnotherFormatAddsItToThoseThatWereMeasured) {
    Calibration calibration;
    calibration.name = "fitted";
    calibration.measured.held_back = HeldBackSearch{"dpx12", 1, 2, ""};
    std::string document = calibrated_document(calibration);
    for (int times = 0; times < 2; ++times)
        document = with_held_back(document, HeldBackCheck{{"prores-hd", 1, 9, ""}, 9, 8, 10});
    const Json facts = Json::parse(document)["calibration"];
    EXPECT_EQ(facts["held_back"]["format"], "prores-hd");
    EXPECT_EQ(facts["formats"], Json({"dpx12", "prores-hd"}));
}

TEST(SeatLimits, APortThatIsFullIsTheSeats) {
    Measurement measured;
    measured.link_bits_per_s = 1e9;
    measured.mtu = 1500;
    measured.rows.push_back({.probe = {.id = "ladder-64", .kind = ProbeKind::ladder}, .bytes_per_s = 117e6});
    const auto rate_of = [](const ProbeRow& row) { return row.bytes_per_s; };
    const SeatLimits limits = seat_limits(measured, rate_of);
    ASSERT_EQ(limits.free.size(), 1u);
    EXPECT_EQ(limits.free.front().pointer, kSeatRate);
    ASSERT_EQ(limits.fixed.size(), 1u);
    EXPECT_EQ(limits.fixed.front().pointer, kServerRate);
    EXPECT_DOUBLE_EQ(limits.fixed.front().low, 117e6) << "the server delivers at least that";
    EXPECT_FALSE(limits.fixed.front().high);
}

TEST(SeatLimits, ALinkThatWasNeverFullHasAnAssumedRate) {
    Measurement measured;
    measured.rows.push_back({.probe = {.id = "ladder-64", .kind = ProbeKind::ladder}, .bytes_per_s = 500e6});
    const auto rate_of = [](const ProbeRow& row) { return row.bytes_per_s; };
    const CalibratedNumber one = seat_limits(measured, rate_of).fixed.at(0);
    measured.rows.push_back({.probe = {.id = "seats-2", .kind = ProbeKind::seats, .seats = 2},
                             .operations = 1,
                             .bytes_per_s = 500e6});
    const CalibratedNumber two = seat_limits(measured, rate_of).fixed.at(0);
    for (const CalibratedNumber& link : {one, two}) {
        EXPECT_EQ(link.pointer, kSeatRate);
        EXPECT_DOUBLE_EQ(link.low, 500e6);
        EXPECT_GT(link.value, 10 * link.low);
        EXPECT_THAT(link.basis, HasSubstr("assumed: high enough not to decide; measured: at least 500.0 MB/s"));
    }
}

TEST(Probes, ThePortIsTheLinkThatReceivedMost) {
    Measurement measured;
    LinkEvidence storage{.name = "eth0", .bits_per_s = 10'000'000'000, .received_bytes = 5'000'000'000};
    LinkEvidence other{.name = "eth1", .bits_per_s = 100'000'000'000, .received_bytes = 1'000'000};
    note_port({storage, other}, measured);
    EXPECT_EQ(measured.link_bits_per_s, 10e9);
    storage.received_bytes = 400'000;
    note_port({storage, other}, measured);
    EXPECT_EQ(measured.link_bits_per_s, 10e9) << "this probe moved little";
}

TEST(Probes, OpenLoadFollowsTheLadder) {
    Measurement measured;
    const auto has_open_load = [&] {
        const auto all = probes_of(measured, {});
        return std::any_of(all.begin(), all.end(),
                           [](const Probe& probe) { return probe.kind == ProbeKind::open_load; });
    };
    EXPECT_FALSE(has_open_load());
    measured.rows.push_back({.probe = {.id = "ladder-64", .kind = ProbeKind::ladder}, .bytes_per_s = 100e6});
    EXPECT_TRUE(has_open_load());
}

TEST(Probes, SeatsReadTheSameInAllAsOneDoes) {
    Measurement measured;
    measured.seats = 4;
    std::vector<std::uint32_t> seats;
    for (const Probe& probe : probes_of(measured, {})) {
        if (!probe.id.starts_with("seats-")) continue;
        seats.push_back(probe.seats);
        EXPECT_EQ(probe.all_inflight(), 64u);
    }
    EXPECT_THAT(seats, testing::ElementsAre(2u, 4u));
}

TEST(Probes, AllSeatsTogetherFillTheServerForLong) {
    Measurement measured;
    const auto find = [&](const char* id) {
        const auto all = probes_of(measured, {});
        const auto found = std::ranges::find(all, std::string(id), &Probe::id);
        return found != all.end() ? std::optional<Probe>(*found) : std::nullopt;
    };
    ASSERT_TRUE(find("steady-64"));
    measured.seats = 4;
    EXPECT_FALSE(find("steady-64")) << "one seat may not meet what others load";
    ASSERT_TRUE(find("steady-seats-4"));
    EXPECT_EQ(find("steady-seats-4")->all_inflight(), 256u);
    EXPECT_EQ(find("steady-seats-4")->duration_ns, 5 * find("ladder-64")->duration_ns);
}

TEST(Probes, CountOperationsAndBytesByTheSameEnd) {
    Measurement measured;
    measured.set_bytes = std::uint64_t{1} << 40;
    for (Probe probe : probes_of(measured, {})) {
        if (probe.kind == ProbeKind::opens) continue;
        SCOPED_TRACE(probe.id);
        probe.duration_ns = milliseconds(400).ns;  // a read of 64 takes a third of it
        const auto row = do_probe(request_on(server(500e6, 5e9)), probe, measured, {});
        ASSERT_TRUE(row);
        if (probe.kind == ProbeKind::ladder) EXPECT_GT(row->operations, 0u);
        EXPECT_NEAR(row->bytes_per_s, row->operations_per_s * static_cast<double>(probe.block_bytes), 1);
    }
}

/// A row whose rate is another in each second.
ProbeRow uneven_row(std::int64_t seconds_long) {
    ProbeRow row;
    row.probe.duration_ns = seconds(seconds_long).ns;
    row.interval_ns = milliseconds(100).ns;
    for (std::int64_t i = 0; i < 10 * seconds_long; ++i)
        row.operations_in.push_back(i / 10 % 2 == 0 ? 80 : 120);
    return row;
}

TEST(SpreadOfRates, ShortProbesAreNoSurerThanLongOnes) {
    const ProbeRow brief = uneven_row(1);
    const ProbeRow usual = uneven_row(6);
    const ProbeRow steady = uneven_row(30);
    const double of_usual = spreads_of_rates({&usual, &steady}, 1).front();
    EXPECT_GT(of_usual, 0.02);
    EXPECT_GT(spreads_of_rates({&brief, &steady}, 1).front(), of_usual) << "as of a second of the long one";
    ProbeRow briefer = brief;
    briefer.probe.duration_ns = milliseconds(250).ns;
    EXPECT_DOUBLE_EQ(spreads_of_rates({&briefer, &steady}, 1).front(),
                     2 * spreads_of_rates({&brief, &steady}, 1).front());
    EXPECT_THAT(spreads_of_rates({&brief, &brief}, 1), testing::ElementsAre(0.05, 0.05)) << "none tells";
}

// The operations in flight at the end of a closed load are half done, on average.
TEST(SteadyRate, CountsHalfOfWhatIsInFlight) {
    ProbeRow row;
    row.probe.users = 8;
    row.operations = 80;
    row.operations_per_s = 10;
    row.bytes_per_s = 10 << 20;
    EXPECT_DOUBLE_EQ(steady_operations_per_s(row), 10 * (1 + 4.0 / 80));
    row.probe.operations_per_s = 5;  // open load
    EXPECT_DOUBLE_EQ(steady_operations_per_s(row), 10);
}

}  // namespace
}  // namespace streamsim::run
