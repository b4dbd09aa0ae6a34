#include "run/calibration/seat_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "run/calibration/calibrated_document.h"

namespace streamsim::run {
namespace {

/// Several seats that get so many times the rate of one show that the seat was the limit.
constexpr double kMoreThanOne = 1.15;
/// Seats that get less than this share of what they would without each other have filled the server.
constexpr double kServerFull = 0.85;
/// A port that carries this share of its payload is full.
constexpr double kPortFull = 0.85;
/// The value of a limit that was not met, in times of what was seen: high enough not to decide.
constexpr double kBeyond = 20;

CalibratedNumber server(double value, double low, std::string basis) {
    return {kServerRate, "rate of the server", value, low, std::nullopt, false, std::move(basis)};
}

CalibratedNumber seat(double value, double low, std::string basis) {
    return {kSeatRate, "rate of the seat's link", value, low, std::nullopt, false, std::move(basis)};
}

const char* const kFitted = "fitted to the rates of the ladder";
const char* const kFittedSeats = "fitted to the rates of the ladder and of several seats";
const char* const kAtLeast = "measured: at least this, as it was never full";

/// A link that one seat did not fill with this rate.
CalibratedNumber seat_never_full(double one) {
    return seat(kBeyond * one, one,
                fmt::format("assumed: high enough not to decide; measured: at least {}, as it was never full",
                            show_rate(one)));
}

SeatLimits of_one_seat(const Measurement& measured, double one) {
    SeatLimits out;
    const double port = measured.link_bits_per_s / 8 * payload_share(measured.mtu);
    if (port > 0 && one >= kPortFull * port) {
        out.free.push_back(seat(0, 0,
                                fmt::format("{}: the seat's port of {:.3g} Gb/s was full", kFitted,
                                            measured.link_bits_per_s / 1e9)));
        out.fixed.push_back(server(one, one, kAtLeast));
        out.notes.push_back(
            fmt::format("the server delivers at least {}: the link of the seat was full; two "
                        "seats at once would show more of it",
                        show_rate(one)));
        return out;
    }
    out.free.push_back(server(0, one,
                              fmt::format("{}: at least this, as one seat does not tell its own limit from "
                                          "the server's",
                                          kFitted)));
    out.fixed.push_back(seat_never_full(one));
    out.notes.push_back(
        fmt::format("{} is the limit of this seat or of the server, which one seat cannot tell "
                    "apart: calibrate with two seats",
                    show_rate(one)));
    return out;
}

}  // namespace

double payload_share(std::uint32_t mtu) {
    constexpr double kFrame = 38;    // preamble, header, check sequence and gap (IEEE 802.3)
    constexpr double kHeaders = 52;  // IPv4, and TCP with time stamps
    return mtu == 0 ? 1 : (mtu - kHeaders) / (mtu + kFrame);
}

SeatLimits seat_limits(const Measurement& measured, const std::function<double(const ProbeRow&)>& rate_of) {
    double one = 0;
    const ProbeRow* most = nullptr;  // the row of the most seats
    for (const ProbeRow& row : measured.rows) {
        if (row.probe.kind == ProbeKind::ladder) one = std::max(one, rate_of(row));
        if (row.probe.kind != ProbeKind::seats || row.operations == 0) continue;
        const auto more = [&] {
            if (row.probe.seats != most->probe.seats) return row.probe.seats > most->probe.seats;
            return rate_of(row) > rate_of(*most);
        };
        if (most == nullptr || more()) most = &row;
    }
    if (most == nullptr) return of_one_seat(measured, one);
    const double all = rate_of(*most);
    SeatLimits out;
    out.told_apart = true;
    if (all < kMoreThanOne * one) {
        out.free.push_back(
            server(0, 0, fmt::format("{}: {} seats get no more than one", kFittedSeats, most->probe.seats)));
        out.fixed.push_back(seat_never_full(one));
        out.free.back().high = 0;
        return out;
    }
    out.free.push_back(seat(0, 0,
                            fmt::format("{}: {} seats get {:.2f} times as much as one", kFittedSeats,
                                        most->probe.seats, all / one)));
    if (all < kServerFull * one * most->probe.seats) {
        out.free.push_back(
            server(all, 0, fmt::format("{}: {} seats filled it", kFittedSeats, most->probe.seats)));
        return out;
    }
    out.fixed.push_back(server(all, all, kAtLeast));
    out.notes.push_back(
        fmt::format("the server delivers at least {}: {} seats did not fill it; more seats at "
                    "once would show more of it",
                    show_rate(all), most->probe.seats));
    return out;
}

}  // namespace streamsim::run
