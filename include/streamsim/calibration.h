// Calibration: what was measured on a storage, probe by probe, and how well a model that was fitted to it gives
// the same numbers. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "streamsim/fields.h"
#include "streamsim/run_result.h"
#include "streamsim/summaries.h"

namespace streamsim {

/// The question that a probe answers.
enum class ProbeKind : std::uint8_t {
    latency,    // one read in flight, at random places
    ladder,     // reads in flight, up to eight for each of several users, who read a file each in order
    one_file,   // all of them by one user in one file
    reference,  // a step of the ladder again: what changed since
    steady,     // the last step of the ladder for longer: what changes over time
    seats,      // a step of the ladder from several seats, the same reads in flight in all
    open_load,  // reads in order that arrive at random times, at a share of the highest rate
    opens,      // opens and closes of files
    frames,     // a file for each frame: opened, read, closed
    cold,       // files that were not read before, after eviction from this computer's page cache
    again,      // the same files, read again
    writes,     // writes, each with its fsync
};

constexpr const char* to_string(ProbeKind kind) {
    switch (kind) {
        case ProbeKind::latency: return "latency";
        case ProbeKind::ladder: return "ladder";
        case ProbeKind::one_file: return "one-file";
        case ProbeKind::reference: return "reference";
        case ProbeKind::steady: return "steady";
        case ProbeKind::seats: return "seats";
        case ProbeKind::open_load: return "open-load";
        case ProbeKind::opens: return "opens";
        case ProbeKind::frames: return "frames";
        case ProbeKind::cold: return "cold";
        case ProbeKind::again: return "again";
        case ProbeKind::writes: return "writes";
    }
    return "?";
}

/// One load for a few seconds, without deadlines.
struct Probe {
    std::string id;  // "ladder-16"
    ProbeKind kind = ProbeKind::ladder;
    std::uint32_t seats = 1;
    std::uint32_t users = 1;        // of each seat
    std::uint32_t inflight = 1;     // operations of a user at once; open load: more wait
    std::uint64_t block_bytes = 0;  // of a read or write; 0: opens
    double operations_per_s = 0;    // open load: arrivals of each seat; 0: closed load
    std::int64_t duration_ns = 0;

    /// Operations of all users of all seats.
    std::uint32_t all_inflight() const { return seats * users * inflight; }
};
void fields(ConstOr<Probe> auto& probe, auto& visit) {
    visit("id", probe.id);
    visit("kind", probe.kind);
    visit("seats", probe.seats);
    visit("users", probe.users);
    visit("inflight", probe.inflight);
    visit("block_bytes", probe.block_bytes);
    visit("operations_per_s", probe.operations_per_s);
    visit("duration_ns", probe.duration_ns);
}

/// Response times in more detail than LatencySummary, nanoseconds.
struct ResponseQuantiles {
    std::int64_t p10 = 0, p50 = 0, p90 = 0, p99 = 0, p99_9 = 0, max = 0;
};
void fields(ConstOr<ResponseQuantiles> auto& quantiles, auto& visit) {
    visit("p10", quantiles.p10);
    visit("p50", quantiles.p50);
    visit("p90", quantiles.p90);
    visit("p99", quantiles.p99);
    visit("p99_9", quantiles.p99_9);
    visit("max", quantiles.max);
}

/// The raw row of a probe: what a fit needs, without the storage.
struct ProbeRow {
    Probe probe;
    std::string measured_at;                   // RFC 3339
    std::uint64_t operations = 0, failed = 0;  // by the end of the probe
    double operations_per_s = 0;
    double bytes_per_s = 0;
    ResponseQuantiles response_ns;             // from the intended time
    std::int64_t interval_ns = 0;              // of the series
    std::vector<std::uint64_t> bytes;          // that were read or written, by interval
    std::vector<std::uint64_t> operations_in;  // that completed, by interval
    std::string remark = {};                   // on how it was measured; empty: none
};
void fields(ConstOr<ProbeRow> auto& row, auto& visit) {
    visit.object("probe", [&](auto& probe) { fields(row.probe, probe); });
    visit("measured_at", row.measured_at);
    visit("operations", row.operations);
    visit("failed", row.failed);
    visit("operations_per_s", row.operations_per_s);
    visit("bytes_per_s", row.bytes_per_s);
    visit("response_ns", row.response_ns);
    visit("interval_ns", row.interval_ns);
    visit("bytes", row.bytes);
    visit("operations_in", row.operations_in);
    visit("remark", row.remark, kAdded);
}

/// The search for the most streams that play, which no fit sees.
struct HeldBackSearch {
    std::string format;
    std::uint32_t seats = 1;
    std::uint64_t streams = 0;  // that play, of all seats
    std::string limit;          // why one more does not
    std::string at_least = {};  // why no more were tried; empty: one more was, and does not play
};
void fields(ConstOr<HeldBackSearch> auto& run, auto& visit) {
    visit("format", run.format);
    visit("seats", run.seats);
    visit("streams", run.streams);
    visit("limit", run.limit);
    visit("at_least", run.at_least, kAdded);
}

/// Everything that was measured on one storage.
struct Measurement {
    std::string target;      // as typed, without credentials
    std::string started_at;  // RFC 3339
    std::string os, computer;
    std::uint32_t seats = 1;       // computers that measured; of a model its seats
    double link_bits_per_s = 0;    // of the seat's network port, where it is known; 0: not
    std::uint64_t link_bytes = 0;  // that it received in one probe, at most; in no document
    std::uint32_t mtu = 0;         // of the network to the storage; 0: there is none
    std::uint64_t set_bytes = 0;   // of the files that were read
    std::uint64_t seed = 1;
    bool complete = false;
    std::vector<std::string> left_out;  // sentences: probes that were not done, and why
    std::vector<ProbeRow> rows;
    std::optional<HeldBackSearch> held_back;
};
void fields(ConstOr<Measurement> auto& measured, auto& visit) {
    visit("target", measured.target);
    visit("started_at", measured.started_at);
    visit("os", measured.os);
    visit("computer", measured.computer);
    visit("seats", measured.seats);
    visit("link_bits_per_s", measured.link_bits_per_s);
    visit("mtu", measured.mtu);
    visit("set_bytes", measured.set_bytes);
    visit("seed", measured.seed);
    visit("complete", measured.complete);
    visit("left_out", measured.left_out);
    visit("rows", measured.rows);
    visit("held_back", measured.held_back);
}

/// A number that a fit found.
struct CalibratedNumber {
    std::string pointer;         // of the model document: "/node/front_end/bits_per_s"
    std::string name;            // "rate of the server"
    double value = 0;            // in the unit of the document; times in nanoseconds
    double low = 0;              // 90 % interval
    std::optional<double> high;  // nullopt: the part was never full; at least `low`
    bool free = false;           // by the optimiser; else directly from a probe
    std::string basis;
};

void fields(const CalibratedNumber& value, auto& visit) {
    visit("pointer", value.pointer);
    visit("name", value.name);
    visit("value", value.value);
    visit("low", value.low);
    visit("high", value.high);
    visit("free", value.free);
    visit("basis", value.basis);
}

/// A measured number beside that of the fitted model.
struct FitResidual {
    std::string probe;
    std::string quantity;  // "rate", "median response", "p99 response"
    std::string unit;      // "bytes/s", "operations/s", "ns"
    double measured = 0, fitted = 0;
    bool used = false;  // by the fit; else only compared
};

void fields(const FitResidual& residual, auto& visit) {
    visit("probe", residual.probe);
    visit("quantity", residual.quantity);
    visit("unit", residual.unit);
    visit("measured", residual.measured);
    visit("fitted", residual.fitted);
    visit("used", residual.used);
}

/// The check of a model against the held-back run.
struct HeldBackCheck {
    HeldBackSearch measured;
    std::uint64_t predicted = 0, low = 0, high = 0;  // streams; 90 % interval
    bool rejected = false;

    /// False: no more were tried than the model predicts, and all play.
    bool tells() const { return measured.at_least.empty() || rejected || measured.streams > high; }
};

void fields(const HeldBackCheck& check, auto& visit) {
    fields(check.measured, visit);
    visit("predicted", check.predicted);
    visit("low", check.low);
    visit("high", check.high);
    visit("rejected", check.rejected);
}

/// A model that was fitted to a measurement.
struct Calibration {
    Measurement measured;
    std::string document;  // the text of the model document
    std::string name;      // of the model
    std::vector<CalibratedNumber> values;
    std::vector<FitResidual> residuals;
    std::vector<std::string> correlated;           // pointers of the free values
    std::vector<std::vector<double>> correlation;  // of their errors
    double model_error = 0;   // standard deviation of ln rate between the model and the measured ladder
    bool told_apart = false;  // the limit of a seat from that of the server
    bool other_load = false;
    std::vector<std::string> notes;  // sentences: what cannot be told apart, what to measure next
    std::optional<HeldBackCheck> held_back;
};

void fields(const Calibration& calibration, auto& visit) {
    visit("name", calibration.name);
    visit("target", calibration.measured.target);
    visit("measured_at", calibration.measured.started_at);
    visit("seats", calibration.measured.seats);
    visit("told_apart", calibration.told_apart);
    visit("other_load", calibration.other_load);
    visit("model_error", calibration.model_error);
    visit("notes", calibration.notes);
    visit("values", calibration.values);
    visit("residuals", calibration.residuals);
    visit("held_back", calibration.held_back);
}

}  // namespace streamsim
