// Draws worlds. Most are small, so that thousands are played a minute; the numbers lean towards the edges at
// which decisions are made: reads that take a whole or half a frame period, a window of one frame, clips of one
// frame.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/prng.h"
#include "sim/model/model_document.h"
#include "sim/random_cluster.h"
#include "target/named_documents.h"
#include "target/target.h"
#include "worlds/world.h"

namespace streamsim::worlds {
namespace {

constexpr double kOperationsMax = 12'000;
constexpr double kOperationsOfLargeMax = 120'000;
constexpr const char* kModels[] = {"h500", "f800", "h600", "nfs-generic"};

constexpr FrameRate kRates[] = {{24, 1},       {24000, 1001}, {25, 1},  {30000, 1001}, {30, 1}, {48, 1},
                                {60000, 1001}, {60, 1},       {120, 1}, {1000, 7},     {12, 1}, {7, 2}};

class WorldDraw {
public:
    WorldDraw(const Library& library, std::uint64_t seed) : library_(library), prng_(derive_seed(seed, 0x77)) {
        world_.seed = seed;
        large_ = one_in(40);
        plain_ = one_in(4);
    }

    RandomWorld draw() {
        world_.in_phases = one_in(2);
        draw_storage();
        Scenario& scenario = world_.scenario;
        scenario.source = "world";
        scenario.seed = below(1'000'000);
        scenario.duration = draw_duration();
        const std::uint64_t groups = world_.in_phases ? 1 + below(3) : 1;
        for (std::uint64_t i = 0; i < groups; ++i) draw_seats();
        if (world_.in_phases) {
            draw_meter();
            draw_model_faults();
        } else {
            draw_command();
        }
        if (world_.storage == StorageKind::null ? !one_in(10) : one_in(3)) draw_faults();
        if (one_in(12)) scenario.preroll_timeout = milliseconds(1 + upto(1000));
        if (one_in(8)) world_.interrupt_after = one_in(3) ? below(4) : below(3000);
        if (one_in(3)) world_.ranks = static_cast<std::uint32_t>(1 + below(std::min(world_.seats(), 4u)));
        if (!world_.in_phases && one_in(6)) draw_cuts();
        if (plain_) make_plain();
        fit();
        return std::move(world_);
    }

private:
    std::uint64_t below(std::uint64_t bound) { return prng_.below(bound); }
    std::int64_t upto(std::uint64_t bound) { return static_cast<std::int64_t>(below(bound)); }
    bool one_in(std::uint64_t times) { return below(times) == 0; }
    /// Each power of two of the range is as likely as any other.
    std::uint64_t by_magnitude(std::uint64_t from, std::uint64_t to) {
        std::uint64_t doublings = 0;
        while (from << (doublings + 1) <= to) ++doublings;
        const std::uint64_t base = from << below(doublings + 1);
        return std::min(base + below(base), to);
    }

    Duration draw_duration() {
        if (one_in(20)) return nanoseconds(1 + upto(200'000'000));
        if (one_in(4)) return milliseconds(250 * (1 + upto(16)));
        return milliseconds(200 + upto(large_ ? 15'000 : 3'000));
    }

    FrameRate draw_rate() {
        if (!one_in(12)) return kRates[below(std::size(kRates))];
        return {1 + upto(200'000), 1 + upto(2'000)};
    }

    Duration period() { return period_; }
    /// A time that matters to frames of this world: parts and multiples of a period, or any.
    Duration draw_delay() {
        switch (below(4)) {
            case 0: return nanoseconds(period_.ns * (1 + upto(16)) / 4);
            case 1: return microseconds(upto(2'000));
            case 2: return nanoseconds(upto(static_cast<std::uint64_t>(period_.ns) * 3));
            default: return nanoseconds(upto(static_cast<std::uint64_t>(period_.ns) * 20));
        }
    }

    MediaFormat draw_format() {
        if (one_in(2)) {
            const auto& all = library_.formats.formats();
            return all[below(all.size())];
        }
        MediaFormat format = *library_.formats.find("prores-hd");
        format.name = "drawn-" + std::to_string(below(1000));
        format.title = format.name;
        constexpr MediaFormat::Container kKinds[] = {MediaFormat::Container::sequence,
                                                     MediaFormat::Container::quicktime,
                                                     MediaFormat::Container::mp4, MediaFormat::Container::mxf};
        format.container = kKinds[below(4)];
        if (format.container == MediaFormat::Container::sequence) format.codec = "dpx";
        format.rate = draw_rate();
        format.rates = {format.rate};
        FrameSizeModel& size = format.size;
        size = {};
        size.mean_bytes = static_cast<double>(by_magnitude(1, 4 << 20));
        if (one_in(3)) {
            size.kind = FrameSizeModel::Kind::table;
            double sum = 0;
            for (std::uint64_t i = 0, entries = 1 + below(9); i < entries; ++i) {
                size.table.push_back(static_cast<std::uint32_t>(by_magnitude(1, 2 << 20)));
                sum += size.table.back();
            }
            size.mean_bytes = sum / static_cast<double>(size.table.size());
        }
        format.mean_frame_bytes = size.mean_bytes;
        return format;
    }

    void draw_window(ScenarioStreams& streams) {
        streams.readahead = static_cast<std::uint32_t>(one_in(4) ? 1 + below(3) : by_magnitude(1, 64));
        streams.inflight = static_cast<std::uint32_t>(one_in(4) ? 1 : 1 + below(12));
        streams.io_depth = static_cast<std::uint32_t>(1 + below(12));
        if (one_in(3)) {
            streams.io_size = 0;
        } else if (one_in(2)) {
            streams.io_size = by_magnitude(512, 8 << 20);
        }
        if (one_in(3)) streams.rate = draw_rate();
        if (one_in(4)) streams.frames = 1 + below(one_in(2) ? 10 : 200);
    }

    ScenarioStreams draw_streams(bool records) {
        ScenarioStreams streams;
        streams.format = draw_format();
        streams.count = static_cast<std::uint32_t>(one_in(2) ? 1 : 1 + below(large_ ? 12 : 3));
        streams.records = records;
        draw_window(streams);
        const FrameRate rate = streams.rate.value_or(streams.format->rate);
        period_ = rate.period();
        constexpr const char* kPolicies[] = {"drop", "skip", "hold", "stall"};
        if (records) {
            streams.durable = one_in(3);
            streams.on_miss = one_in(3) ? "stall" : "drop";
            return streams;
        }
        streams.on_miss = kPolicies[below(4)];
        constexpr const char* kOrders[] = {"reverse", "ping-pong", "scrub", "random", "shuttle"};
        if (one_in(3)) streams.order = kOrders[below(5)];
        if (streams.order == "shuttle") {
            const std::int64_t step = 1 + upto(9);
            streams.order = "shuttle:" + std::to_string(one_in(2) ? step : -step);
        }
        constexpr const char* kPatterns[] = {"filename-prefetch", "streaming", "on-demand"};
        if (one_in(3)) streams.pattern = kPatterns[below(3)];
        if (one_in(5)) streams.layers = static_cast<std::uint32_t>(2 + below(3));
        streams.same_media = one_in(4);
        if (one_in(2)) streams.clip_duration = rate.due(1 + below(one_in(3) ? 3 : 60));
        if (one_in(12) && streams.frames) streams.paced = false;
        return streams;
    }

    void draw_seats() {
        ScenarioSeats seats;
        seats.target = "sim:null";  // replaced where it is played
        seats.count = static_cast<std::uint32_t>(one_in(2) ? 1 : 1 + below(large_ ? 6 : 3));
        const Duration all = world_.scenario.duration;
        const auto part_of_all = [&] { return nanoseconds(upto(static_cast<std::uint64_t>(all.ns) / 2 + 1)); };
        seats.end = all;
        if (world_.in_phases && one_in(3)) seats.start = part_of_all();
        if (world_.in_phases && one_in(4)) seats.one_more_every = Duration{part_of_all().ns / 8};
        const bool is_model = has_model();
        if (is_model && world_.in_phases && one_in(3))
            seats.nodes = {static_cast<std::uint32_t>(below(world_.model.nodes))};
        if (is_model && world_.in_phases && one_in(4)) seats.link_bits_per_s = 1e8 + 1e10 * prng_.unit();
        for (std::uint64_t i = 0, kinds = 1 + below(one_in(3) ? 3 : 1); i < kinds; ++i) {
            ScenarioStreams streams = draw_streams(false);
            if (world_.in_phases && one_in(3)) streams.start = Duration{part_of_all().ns / 4};
            if (world_.in_phases && one_in(4)) streams.one_more_every = Duration{part_of_all().ns / 8};
            if (world_.in_phases && one_in(4)) streams.end = streams.start + part_of_all() + microseconds(1);
            seats.streams.push_back(std::move(streams));
        }
        if (one_in(6)) seats.streams.push_back(draw_streams(true));
        keep_times(seats);
        world_.scenario.seats.push_back(std::move(seats));
    }

    /// All of a group begins before it ends, as the reader of scenarios demands.
    static void keep_times(ScenarioSeats& seats) {
        const auto last = [](Duration start, Duration every, std::uint32_t count) {
            return start + Duration{every.ns * (count - 1)};
        };
        if (last(seats.start, seats.one_more_every, seats.count) >= seats.end)
            seats.start = seats.one_more_every = {};
        const Duration left = seats.end - last(seats.start, seats.one_more_every, seats.count);
        for (ScenarioStreams& streams : seats.streams) {
            const Duration end = std::min(left, streams.end.value_or(left));
            if (last(streams.start, streams.one_more_every, streams.count) < end) continue;
            streams.start = streams.one_more_every = {};
        }
    }

    /// A workload beside the streams, small enough. A closed loop on a storage that takes no time never ends.
    /// All users begin at once, as the time is too short for a ramp.
    void draw_meter() {
        if (!world_.in_phases || world_.storage == StorageKind::null || !one_in(4)) return;
        ScenarioMeter meter;
        meter.workload = library_.workloads[below(library_.workloads.size())];
        meter.scale = 0.002 + 0.02 * prng_.unit();
        if (one_in(3)) meter.start = Duration{world_.scenario.duration.ns / 4};
        meter.end = meter.start + milliseconds(20 + upto(100));  // a closed loop does thousands in a second
        std::erase_if(meter.workload.meters, [](const MeterSpec& spec) { return spec.users > 400; });
        for (MeterSpec& spec : meter.workload.meters) spec.one_more_every = {};
        ScenarioSeats& seats = world_.scenario.seats[below(world_.scenario.seats.size())];
        const Duration last_seat = seats.start + Duration{seats.one_more_every.ns * (seats.count - 1)};
        if (last_seat + meter.start < seats.end && !meter.workload.meters.empty())
            seats.meters.push_back(std::move(meter));
    }

    bool has_model() const {
        return world_.storage == StorageKind::cluster || world_.storage == StorageKind::shipped;
    }

    void draw_storage() {
        const std::uint64_t of_ten = below(10);
        world_.storage = of_ten < 4   ? StorageKind::null
                         : of_ten < 6 ? StorageKind::truth
                         : of_ten < 9 ? StorageKind::cluster
                                      : StorageKind::shipped;
        world_.warm = has_model() && one_in(3);
        if (world_.storage == StorageKind::truth) {
            const auto family = test::kTruthFamilies[below(std::size(test::kTruthFamilies))];
            world_.truth = test::random_truth(family, prng_.next());
        } else if (world_.storage == StorageKind::cluster) {
            do {
                world_.model = test::random_cluster(prng_).model;
            } while (!sim::problems_together(world_.model).empty());
            world_.model.name = "drawn";
            world_.model.title = "drawn";
        } else if (world_.storage == StorageKind::shipped) {
            const std::size_t i = below(library_.models.size());
            world_.shipped = library_.model_names[i];
            world_.model = library_.models[i];
        }
    }

    /// The options that only a command line has. Streams on one clock have one rate, and so have layers.
    void draw_command() {
        auto& streams = world_.scenario.seats.front().streams;
        ScenarioStreams& first = streams.front();
        if (one_in(5)) world_.multicam = one_in(2) ? run::MultiCam::all : run::MultiCam::active;
        world_.sync = world_.multicam == run::MultiCam::all || one_in(6);
        world_.round_robin = one_in(5);
        if (!world_.sync && one_in(4)) world_.stagger = microseconds(upto(300'000));
        if (one_in(4)) world_.decode_cpu = draw_delay();
        if (world_.multicam == run::MultiCam::active) first.layers = 1;
        const bool records = streams.back().records;
        if (records && (first.on_miss == "hold" || first.on_miss == "skip")) first.on_miss = "drop";
        if (!first.rate && (world_.sync || first.layers > 1)) first.rate = first.format->rate;
    }

    void draw_faults() {
        storage::FaultPlan& plan = world_.faults;
        using Operation = storage::FaultRule::Operation;
        if (world_.storage == StorageKind::null) {
            storage::FaultRule all;
            all.operation = one_in(4) ? Operation::any : Operation::read;
            all.delay = draw_delay();
            plan.rules.push_back(all);
        }
        for (std::uint64_t i = 0, rules = below(one_in(4) ? 20 : 4); i < rules; ++i)
            plan.rules.push_back(draw_rule());
        for (std::uint64_t i = 0, stalls = one_in(3) ? 1 + below(3) : 0; i < stalls; ++i) {
            const Duration at = nanoseconds(upto(static_cast<std::uint64_t>(world_.scenario.duration.ns) + 1));
            plan.stalls.push_back({at, draw_delay() + nanoseconds(1)});
        }
        storage::put_in_order(plan.stalls);
    }

    storage::FaultRule draw_rule() {
        storage::FaultRule rule;
        using Operation = storage::FaultRule::Operation;
        constexpr Operation kOperations[] = {Operation::any,  Operation::read, Operation::read,
                                             Operation::read, Operation::open, Operation::write,
                                             Operation::sync};
        rule.operation = kOperations[below(std::size(kOperations))];
        if (one_in(3)) rule.seat = static_cast<std::uint32_t>(below(world_.seats()));
        if (one_in(3)) rule.stream = static_cast<std::uint32_t>(below(4));
        if (!one_in(4)) {
            rule.slots = {below(200), UINT64_MAX, 1 + below(one_in(2) ? 3 : 60)};
            if (one_in(2)) rule.slots.last = rule.slots.first + below(30);
        }
        if (one_in(8)) rule.clip_frames = {below(30), UINT64_MAX, 1 + below(20)};
        if (one_in(4)) rule.probability = prng_.unit();
        switch (below(8)) {
            case 0: rule.error = one_in(2) ? EIO : ESTALE; break;
            case 1: rule.missing = true; break;
            case 2: rule.short_bytes = by_magnitude(1, 4 << 20); break;
            case 3: rule.delay = milliseconds(upto(4'000)); break;
            default: rule.delay = draw_delay();
        }
        if (one_in(200)) rule.delay = seconds(3'600);  // it hangs
        return rule;
    }

    void draw_cuts() {
        world_.multicam = run::MultiCam::none;
        world_.scenario.seats.front().streams.front().layers = 1;
        for (std::uint64_t i = 0, pieces = 1 + below(one_in(3) ? 40 : 6); i < pieces; ++i) {
            DrawnCut cut;
            cut.frames = 1 + below(one_in(3) ? 3 : 60);
            cut.clip = below(16);
            cut.first = below(2'000);
            if (one_in(5)) cut.black = below(40);
            if (one_in(5)) cut.overlap = below(20);
            if (one_in(5)) cut.speed_num = upto(9) - 4;
            if (one_in(5)) cut.speed_den = 1 + upto(4);
            world_.cuts.push_back(cut);
        }
    }

    void draw_model_faults() {
        if (!one_in(3)) return;
        using Kind = ScenarioFault::Kind;
        for (std::uint64_t i = 0, count = 1 + below(3); i < count; ++i) {
            ScenarioFault fault;
            constexpr Kind kOfAny[] = {Kind::throughput_gap, Kind::delays, Kind::errors};
            constexpr Kind kOfModels[] = {Kind::throughput_gap, Kind::node_lost, Kind::link_slows,
                                          Kind::cache_flush, Kind::drive_dies};
            fault.kind = has_model() && one_in(2) ? kOfModels[below(5)] : kOfAny[below(3)];
            fault.at = nanoseconds(upto(static_cast<std::uint64_t>(world_.scenario.duration.ns)));
            fault.length = milliseconds(1 + upto(600));
            if (fault.kind == Kind::delays) fault.delay = draw_delay();
            if (fault.kind == Kind::errors) fault.error = "EIO";
            if (fault.kind == Kind::delays || fault.kind == Kind::errors) {
                if (one_in(2)) fault.probability = prng_.unit();
                if (one_in(2)) fault.seat = static_cast<std::uint32_t>(below(world_.seats()));
            }
            const bool at_node = fault.kind == Kind::node_lost || fault.kind == Kind::drive_dies ||
                                 fault.kind == Kind::link_slows ||
                                 (fault.kind == Kind::throughput_gap && has_model() && one_in(2));
            if (at_node) fault.node = static_cast<std::uint32_t>(below(world_.model.nodes));
            if (fault.kind == Kind::node_lost && world_.model.nodes < 2) fault.kind = Kind::cache_flush;
            if (fault.kind == Kind::drive_dies)
                fault.drive = static_cast<std::uint32_t>(below(world_.model.node.drives));
            if (fault.kind == Kind::link_slows) fault.factor = 0.01 + 0.9 * prng_.unit();
            world_.scenario.faults.push_back(fault);
        }
    }

    /// Such play as arithmetic can foretell: each frame is one read, of known time, and often ends just when
    /// another one is due.
    void make_plain() {
        world_.storage = StorageKind::null;
        world_.shipped.clear();
        world_.warm = world_.sync = false;
        world_.multicam = run::MultiCam::none;
        world_.decode_cpu = {};
        world_.interrupt_after.reset();
        world_.scenario.faults.clear();
        world_.faults = {};
        constexpr FrameRate kExact[] = {{25, 1}, {50, 1}, {100, 1}, {8, 1}};
        const FrameRate rate = one_in(4) ? draw_rate() : kExact[below(4)];
        period_ = rate.period();
        for (ScenarioSeats& seats : world_.scenario.seats) {
            seats.nodes.clear();
            seats.link_bits_per_s.reset();
            seats.meters.clear();
            for (ScenarioStreams& streams : seats.streams) {
                streams.io_size = 0;
                streams.layers = 1;
                streams.rate = rate;
                if (streams.order == "scrub") streams.order = "random";
                if (one_in(2)) streams.readahead = static_cast<std::uint32_t>(1 + below(4));
                if (one_in(2)) streams.inflight = static_cast<std::uint32_t>(1 + below(3));
            }
        }
        for (std::uint64_t i = 0, rules = 1 + below(5); i < rules; ++i) {
            storage::FaultRule rule;
            rule.operation = storage::FaultRule::Operation::read;
            rule.delay = one_in(3) ? draw_delay() : nanoseconds(period_.ns * (1 + upto(12)) / 4);
            if (i > 0) rule.slots = {below(60), UINT64_MAX, 1 + below(20)};
            if (one_in(12)) rule.error = EIO;
            world_.faults.rules.push_back(rule);
        }
    }

    /// Makes the world small enough to be played in some milliseconds.
    void fit() {
        const double most = large_ ? kOperationsOfLargeMax : kOperationsMax;
        for (int i = 0; i < 60 && operations_of(world_) > most; ++i) {
            for (ScenarioSeats& seats : world_.scenario.seats) {
                for (ScenarioStreams& streams : seats.streams) {
                    if (i % 3 == 0 && streams.io_size > 0)
                        streams.io_size = std::min<std::uint64_t>(streams.io_size * 4, 8 << 20);
                    if (i % 3 == 1) streams.count = (streams.count + 1) / 2;
                    if (i % 3 == 2)
                        streams.frames = std::max<std::uint64_t>(streams.frames.value_or(400) / 2, 1);
                }
            }
        }
    }

    const Library& library_;
    Prng prng_;
    RandomWorld world_;
    bool large_ = false;
    bool plain_ = false;  // make_plain()
    Duration period_ = milliseconds(40);
};

}  // namespace

const char* to_string(StorageKind kind) {
    switch (kind) {
        case StorageKind::null: return "null";
        case StorageKind::truth: return "truth";
        case StorageKind::cluster: return "cluster";
        case StorageKind::shipped: return "shipped";
    }
    return "?";
}

std::uint32_t RandomWorld::seats() const {
    std::uint32_t all = 0;
    for (const ScenarioSeats& each : scenario.seats) all += each.count;
    return all;
}

std::uint64_t RandomWorld::streams() const {
    std::uint64_t all = 0;
    for (const ScenarioSeats& each : scenario.seats) {
        for (const ScenarioStreams& streams : each.streams) all += std::uint64_t{each.count} * streams.count;
    }
    return all;
}

double operations_of(const RandomWorld& world) {
    double all = 0;
    for (const ScenarioSeats& seats : world.scenario.seats) {
        for (const ScenarioStreams& streams : seats.streams) {
            const FrameRate rate = streams.rate.value_or(streams.format->rate);
            auto slots = static_cast<double>(rate.slots_in(world.scenario.duration));
            if (streams.frames) slots = std::min(slots, static_cast<double>(*streams.frames));
            if (!streams.paced) slots = static_cast<double>(*streams.frames);
            const double bytes = streams.format->mean_frame_bytes;
            const double pieces = streams.io_size == 0 ? 1 : bytes / static_cast<double>(streams.io_size) + 1;
            all += slots * (pieces + 3) * streams.layers * streams.count * seats.count;
        }
    }
    return all;
}

Library Library::load() {
    const std::string formats = STREAMSIM_SOURCE_DIR "/formats";
    auto catalogue = media::Catalogue::load(formats + "/media");
    STREAMSIM_CHECK(catalogue.has_value(), "the formats that come with streamsim are right");
    Library library{std::move(*catalogue), {}, {}, {}};
    for (const std::string& name : target::document_names(formats + "/workload")) {
        auto workload = target::open_workload(name, formats + "/workload");
        STREAMSIM_CHECK(workload.has_value(), "the workloads that come with streamsim are right");
        library.workloads.push_back(std::move(*workload));
    }
    for (const char* name : kModels) {
        auto target = target::parse_target(std::string("sim:") + name);
        const auto opened = target::open_model(*target, formats + "/storage");
        STREAMSIM_CHECK(opened.has_value(), "the models that come with streamsim are right");
        library.model_names.emplace_back(name);
        library.models.push_back(*target->model);
    }
    return library;
}

RandomWorld draw_world(const Library& library, std::uint64_t seed) {
    return WorldDraw(library, seed).draw();
}

}  // namespace streamsim::worlds
