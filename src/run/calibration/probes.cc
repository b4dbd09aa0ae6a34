#include "run/calibration/probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/units.h"
#include "fit/resample.h"

namespace streamsim::run {
namespace {

constexpr std::uint64_t kLatencyBlocks[] = {4 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20};
constexpr std::uint32_t kLadder[] = {1, 2, 4, 8, 16, 32, 64};
/// Reads in flight of one user: about as many as a stream has.
constexpr std::uint32_t kInflightOfUser = 8;
constexpr std::uint32_t kUsersMax = 8;
constexpr std::int64_t kSteadyLengths = 5;
constexpr double kOpenLoad[] = {0.3, 0.6, 0.8, 0.9};
constexpr std::uint64_t kFrameBytes = 8 << 20;
constexpr std::uint32_t kFrameFiles = 64;
/// The files that are read cold, and again, are fewer: the first pass has to end.
constexpr std::uint64_t kColdBytes = 1 << 30;
constexpr std::int64_t kSeriesInterval = 100'000'000;  // ns

Probe probe(std::string id, ProbeKind kind, std::uint32_t users, std::uint32_t inflight, Duration length) {
    Probe out;
    out.id = std::move(id);
    out.kind = kind;
    out.users = users;
    out.inflight = inflight;
    out.block_bytes = kProbeBlock;
    out.duration_ns = length.ns;
    return out;
}

std::string size_text(std::uint64_t bytes) {
    return bytes < (1 << 20) ? fmt::format("{}k", bytes >> 10) : fmt::format("{}m", bytes >> 20);
}

void add_reference(std::vector<Probe>& all, int number, Duration length) {
    all.push_back(probe(fmt::format("reference-{}", number), ProbeKind::reference, 1, kInflightOfUser, length));
}

void add_latency(std::vector<Probe>& all, Duration length) {
    for (const std::uint64_t block : kLatencyBlocks) {
        all.push_back(probe("latency-" + size_text(block), ProbeKind::latency, 1, 1, length));
        all.back().block_bytes = block;
    }
}

void add_ladder(std::vector<Probe>& all, Duration length) {
    for (const std::uint32_t reads : kLadder) {
        const std::uint32_t inflight = std::min(reads, kInflightOfUser);
        all.push_back(
            probe(fmt::format("ladder-{}", reads), ProbeKind::ladder, reads / inflight, inflight, length));
    }
}

void add_open_load(std::vector<Probe>& all, const Measurement& measured, Duration length) {
    const double highest = highest_rate(measured);
    if (highest <= 0) return;
    for (const double share : kOpenLoad) {
        all.push_back(probe(fmt::format("open-load-{:.0f}", share * 100), ProbeKind::open_load, kUsersMax,
                            kInflightOfUser, length));
        all.back().operations_per_s = share * highest / static_cast<double>(kProbeBlock) / kUsersMax;
    }
}

/// The same reads in flight in all, from several seats; then as many from each, for longer.
void add_seats(std::vector<Probe>& all, const Measurement& measured, Duration length) {
    std::vector<std::uint32_t> counts;
    for (std::uint32_t seats = 2; seats < measured.seats; seats *= 2) counts.push_back(seats);
    if (measured.seats > 1) counts.push_back(measured.seats);
    for (const std::uint32_t seats : counts) {
        all.push_back(probe(fmt::format("seats-{}", seats), ProbeKind::seats,
                            std::max(kUsersMax / seats, std::uint32_t{1}), kInflightOfUser, length));
        all.back().seats = seats;
    }
    if (measured.seats == 1) return;
    all.push_back(probe(fmt::format("steady-seats-{}", measured.seats), ProbeKind::seats, kUsersMax,
                        kInflightOfUser, Duration{length.ns * kSteadyLengths}));
    all.back().seats = measured.seats;
}

LoadOperation operation_of(ProbeKind kind) {
    if (kind == ProbeKind::opens) return LoadOperation::open;
    return kind == ProbeKind::writes ? LoadOperation::write : LoadOperation::read;
}

WorkingSet working_set_of(const Probe& probe, const Measurement& measured) {
    WorkingSet set;  // a file of each user
    const auto whole = [](std::uint64_t bytes) { return std::max<std::uint64_t>(bytes >> 20, 8) << 20; };
    switch (probe.kind) {
        case ProbeKind::opens:
        case ProbeKind::frames:
            set.of = WorkingSet::Of::all;
            set.files = kFrameFiles;
            set.file_bytes = kFrameBytes;
            break;
        case ProbeKind::cold:
        case ProbeKind::again:
        case ProbeKind::writes:
            set.file_bytes = whole(std::min(measured.set_bytes / 4, kColdBytes) / kUsersMax);
            break;
        default: set.file_bytes = whole(measured.set_bytes / kUsersMax);
    }
    return set;
}

/// Each kind of files has one name, so that its probes share them.
const char* set_name(ProbeKind kind) {
    switch (kind) {
        case ProbeKind::opens:
        case ProbeKind::frames: return "frames";
        case ProbeKind::cold:
        case ProbeKind::again: return "cold";
        case ProbeKind::writes: return "written";
        default: return "files";
    }
}

void shape_transfers(const Probe& probe, MeterSpec& meter) {
    if (probe.kind == ProbeKind::latency) meter.random_share = 1;
    if (probe.kind == ProbeKind::frames) meter.whole_files = true;
    if (probe.kind == ProbeKind::cold) meter.read_once = true;
    if (probe.kind == ProbeKind::writes) meter.sync = MeterSpec::Sync::each_write;
    if (probe.operations_per_s <= 0) return;
    meter.loop = MeterSpec::Loop::open;
    meter.arrival = MeterSpec::Arrival::poisson;
    meter.operations_per_s = probe.operations_per_s;
}

struct Completion {
    std::int64_t at_ns, response_ns;
    std::uint64_t bytes;
};

/// In a closed load the blocks of a transfer follow one another: a block's time counts from its submission.
std::vector<Completion> completions_of(const RunResult& result, bool open_load) {
    std::vector<Completion> all;
    all.reserve(result.operations.size());
    for (const OperationRow& row : result.operations) {
        if (row.error != 0) continue;
        const std::int64_t from_ns = open_load ? row.intended_ns : row.submitted_ns;
        all.push_back({row.completed_ns, row.completed_ns - from_ns, row.bytes});
    }
    return all;
}

ResponseQuantiles quantiles_of(const std::vector<Completion>& all) {
    ResponseQuantiles out;
    if (all.empty()) return out;
    std::vector<double> times;
    times.reserve(all.size());
    for (const Completion& each : all) times.push_back(static_cast<double>(each.response_ns));
    std::sort(times.begin(), times.end());
    const auto at = [&times](double share) {
        const auto index = static_cast<std::size_t>(share * static_cast<double>(times.size()));
        return static_cast<std::int64_t>(times[std::min(index, times.size() - 1)]);
    };
    out = {at(0.1), at(0.5), at(0.9), at(0.99), at(0.999), static_cast<std::int64_t>(times.back())};
    return out;
}

void add_series(const std::vector<Completion>& all, std::int64_t duration_ns, ProbeRow& row) {
    row.interval_ns = kSeriesInterval;
    const auto intervals = static_cast<std::size_t>(std::max<std::int64_t>(duration_ns / kSeriesInterval, 1));
    row.bytes.resize(intervals);
    row.operations_in.resize(intervals);
    for (const Completion& each : all) {
        const auto at = static_cast<std::size_t>(std::max<std::int64_t>(each.at_ns, 0) / kSeriesInterval);
        if (at >= intervals) continue;
        row.bytes[at] += each.bytes;
        ++row.operations_in[at];
    }
}

/// The seats of other processes have no rows here: the meters' own series, of a second each.
void add_meter_series(const RunResult& result, ProbeRow& row) {
    for (const MeterResult& meter : result.meters) {
        row.interval_ns = std::max(row.interval_ns, meter.interval_ns);
        row.bytes.resize(std::max(row.bytes.size(), meter.series.size()));
        row.operations_in.resize(row.bytes.size());
        for (std::size_t i = 0; i < meter.series.size(); ++i) {
            row.bytes[i] += meter.series[i].bytes;
            row.operations_in[i] += meter.series[i].operations;
        }
    }
}

}  // namespace

std::vector<Probe> probes_of(const Measurement& measured, const ProbeOptions& options) {
    const Duration length = options.length;
    const Duration brief{length.ns * 2 / 3};
    std::vector<Probe> all;
    // From little load to much.
    add_latency(all, brief);
    add_ladder(all, length);
    add_reference(all, 1, brief);
    if (measured.seats == 1)
        all.push_back(probe("steady-64", ProbeKind::steady, kUsersMax, kInflightOfUser,
                            Duration{length.ns * kSteadyLengths}));
    for (const std::uint32_t reads : {8U, 64U})
        all.push_back(probe(fmt::format("one-file-{}", reads), ProbeKind::one_file, 1, reads, brief));
    add_reference(all, 2, brief);
    add_open_load(all, measured, length);
    all.push_back(probe("opens-1", ProbeKind::opens, 1, 1, brief));
    all.push_back(probe("opens-16", ProbeKind::opens, 16, 1, brief));
    all.push_back(probe("frames-4", ProbeKind::frames, 4, 1, brief));
    all.push_back(probe("cold", ProbeKind::cold, kUsersMax, 4, Duration{length.ns * 2}));
    all.push_back(probe("again", ProbeKind::again, kUsersMax, 4, length));
    if (options.writes) {
        all.push_back(probe("writes-1", ProbeKind::writes, 1, 1, brief));
        all.push_back(probe("writes-8", ProbeKind::writes, 8, 1, brief));
    }
    add_seats(all, measured, length);
    add_reference(all, 3, brief);
    return all;
}

Workload workload_of(const Probe& probe, const Measurement& measured) {
    MeterSpec meter;
    meter.name = set_name(probe.kind);
    meter.users = probe.users;
    meter.inflight = probe.inflight;
    meter.weights[static_cast<std::size_t>(operation_of(probe.kind))] = 1;
    meter.blocks = {{probe.block_bytes, 1}};
    meter.set = working_set_of(probe, measured);
    shape_transfers(probe, meter);
    Workload out;
    out.name = "calibrate";
    out.title = probe.id;
    out.clients = probe.seats;
    out.duration = Duration{probe.duration_ns};
    out.meters = {meter};
    return out;
}

ProbeRow row_of(const Probe& probe, const RunResult& result) {
    ProbeRow row;
    row.probe = probe;
    row.measured_at = result.started_at;
    const auto why = std::ranges::find_if(
        result.notices, [](const std::string& text) { return text.starts_with(kNotEvicted); });
    if (why != result.notices.end()) row.remark = *why;
    std::int64_t wall_ns = 0;
    std::uint64_t bytes = 0;
    std::uint64_t opened = 0;
    for (const MeterResult& meter : result.meters) {
        row.failed += std::max(meter.all.failed, meter.blocks_failed);  // a failed block fails its operation
        opened += meter.all.done;
        wall_ns = std::max(wall_ns, meter.wall_ns);
        bytes += meter.all.bytes;
    }
    // As the bytes: blocks_done has those, too, that were complete after the end.
    row.operations = probe.kind == ProbeKind::opens ? opened : bytes / probe.block_bytes;
    if (wall_ns > 0) {
        row.operations_per_s = static_cast<double>(row.operations) * 1e9 / static_cast<double>(wall_ns);
        row.bytes_per_s = static_cast<double>(bytes) * 1e9 / static_cast<double>(wall_ns);
    }
    const auto all = completions_of(result, probe.operations_per_s > 0);
    row.response_ns = quantiles_of(all);
    const auto in_time =
        std::ranges::count_if(all, [wall_ns](const Completion& each) { return each.at_ns <= wall_ns; });
    if (static_cast<std::uint64_t>(in_time) >= row.operations) {
        add_series(all, std::min(probe.duration_ns, wall_ns), row);
    } else {
        add_meter_series(result, row);
    }
    return row;
}

void note_port(const std::vector<LinkEvidence>& links, Measurement& measured) {
    for (const LinkEvidence& link : links) {
        if (link.received_bytes <= measured.link_bytes) continue;
        measured.link_bytes = link.received_bytes;
        measured.link_bits_per_s = static_cast<double>(link.bits_per_s.value_or(0));
    }
}

double highest_rate(const Measurement& measured) {
    double highest = 0;
    for (const ProbeRow& row : measured.rows) {
        if (row.probe.kind == ProbeKind::ladder) highest = std::max(highest, row.bytes_per_s);
    }
    return highest;
}

const ProbeRow* find_row(const Measurement& measured, const std::string& id) {
    for (const ProbeRow& row : measured.rows) {
        if (row.probe.id == id) return &row;
    }
    return nullptr;
}

}  // namespace streamsim::run
