#include "sim/cluster/cluster.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/check.h"
#include "sim/cluster/completions.h"
#include "sim/cluster/fault_schedule.h"
#include "sim/cluster/open_files.h"
#include "sim/cluster/parts.h"
#include "sim/cluster/request_path.h"
#include "sim/cluster/sim_storage.h"

namespace streamsim::sim {
namespace {

/// The decoder of one stream of a seat. Its frames take turns on the processor of the seat with the frames of
/// the seat's other streams and with its requests, and then on the seat's path to the display. A frame that
/// would be too late takes no time.
class SimDecoder final : public Decoder, public JobOwner {
public:
    /// `cost` is time of the whole processor.
    SimDecoder(
        ClusterParts& parts, Completions& completions, std::uint32_t seat, Duration cost, Duration display)
        : parts_(parts), completions_(completions), seat_(seat), cost_(cost), display_(display) {
        STREAMSIM_CHECK(seat < parts.seats.size(), "a decoder is of a seat of the cluster");
        flow_ = ++parts.seats[seat].decoders;
    }

    void decode(DecodeOp& op) override {
        Job& job = parts_.jobs.take(*this, Job::Kind::decode);
        job.decode = &op;
        job.vetted = true;
        op.skipped = false;
        parts_.seats[seat_].cpu.enter(job.enter_stage(Stage::data_cpu), flow_, cost_, 0);
    }

    void advance(Job& job) override {
        if (job.stage == Stage::display || job.decode->skipped || display_ == Duration{})
            return completions_.add_frame(job);
        parts_.seats[seat_].display.enter(job.enter_stage(Stage::display), flow_, display_, 0);
    }
    void reroute(Job& job) override { advance(job); }  // no fault strikes a seat's processor
    bool wanted(Job& job, Instant complete) override {
        job.decode->skipped = job.decode->too_late(complete);
        return !job.decode->skipped;
    }

private:
    ClusterParts& parts_;
    Completions& completions_;
    const std::uint32_t seat_;
    const Duration cost_;
    const Duration display_;
    std::uint32_t flow_;
};

class StatsList {
public:
    StatsList(Instant from, Instant to) : from_(from), to_(to) {}

    PartStats& add(PartKind kind, std::uint32_t owner, std::string name) {
        return all_.emplace_back(PartStats{.kind = kind, .name = std::move(name), .owner = owner});
    }
    PartStats& add(PartKind kind, std::uint32_t owner, std::string name, const Part& part) {
        PartStats& stats = add(kind, owner, std::move(name));
        stats.servers = part.servers();
        stats.bytes_per_s = static_cast<double>(part.rate().bytes_per_s());
        part.stats().fill(stats, from_, to_);
        return stats;
    }
    /// Lists a part that only writes use when a write has used it.
    void add_if_used(PartKind kind, std::uint32_t owner, std::string name, const Part& part) {
        if (part.stats().arrivals() > 0) add(kind, owner, std::move(name), part);
    }
    std::vector<PartStats> take() { return std::move(all_); }

private:
    const Instant from_;
    const Instant to_;
    std::vector<PartStats> all_;
};

void add_cache(PartStats& stats, const BlockCache& cache) {
    stats.hits = cache.hits();
    stats.misses = cache.misses();
    stats.evictions = cache.evictions();
}

void add_seat(StatsList& all, std::uint32_t number, const Seat& seat) {
    const auto name = [number](const char* part) { return fmt::format("seat {} {}", number, part); };
    all.add(PartKind::seat_cpu, number, name("processor"), seat.cpu).bytes_per_s = 0;
    all.add_if_used(PartKind::seat_display, number, name("display"), seat.display);
    if (seat.connections) all.add(PartKind::seat_link, number, name("connections"), *seat.connections);
    all.add(PartKind::seat_link, number, name("link"), seat.link);
    if (seat.connections_out)
        all.add_if_used(PartKind::seat_link, number, name("connections out"), *seat.connections_out);
    all.add_if_used(PartKind::seat_link, number, name("link out"), seat.link_out);
    if (!seat.port) return;
    PartStats& port = all.add(PartKind::switch_port, number, name("switch port"), seat.port->station());
    port.lost = seat.port->lost_segments();
    port.lost_seconds = seat.port->lost_seconds();
}

void add_node(StatsList& all, std::uint32_t number, const Node& node) {
    const auto name = [number](const char* part) { return fmt::format("node {} {}", number, part); };
    all.add(PartKind::front_end, number, name("front end"), node.front_end);
    all.add_if_used(PartKind::front_end_in, number, name("front end in"), node.front_end_in);
    all.add(PartKind::node_cpu, number, name("processor"), node.cpu).bytes_per_s = 0;
    all.add_if_used(PartKind::journal, number, name("journal"), node.journal.entry);
    for (std::uint32_t i = 0; i < node.metadata_lines.size(); ++i)
        all.add(PartKind::metadata, number, fmt::format("node {} names {}", number, i), node.metadata_lines[i]);
    for (std::uint32_t i = 0; i < node.read_lines.size(); ++i)
        all.add(PartKind::read_line, number, fmt::format("node {} read line {}", number, i),
                node.read_lines[i]);
    add_cache(all.add(PartKind::ram, number, name("RAM")), node.ram);
    if (node.l2.capacity() > 0) add_cache(all.add(PartKind::ram, number, name("L2")), node.l2);
    if (node.ssd.capacity() > 0)
        add_cache(all.add(PartKind::ssd, number, name("SSD"), node.ssd_reads), node.ssd);
    all.add(PartKind::back_end, number, name("back end"), node.back_end);
    for (std::uint32_t i = 0; i < node.drives.size(); ++i)
        all.add(PartKind::drive, number, fmt::format("node {} drive {}", number, i), node.drives[i]->part());
}

/// The files of sequences: full where as many as were ever read at once are always at their rate.
void add_sequence_files(StatsList& all, const ClusterParts& parts, Instant from, Instant to) {
    const ClusterModel& model = parts.model();
    for (const bool writes : {false, true}) {
        const FileTable::Coordinators& files = parts.files.coordinators(writes);
        if (files.stats.arrivals() == 0) continue;
        PartStats& stats = all.add(PartKind::file, 0, writes ? "sequence files writes" : "sequence files");
        stats.servers = files.most_at_work;
        stats.bytes_per_s = writes ? model.file_write_bytes_per_s : model.file_bytes_per_s;
        files.stats.fill(stats, from, to);
    }
}

}  // namespace

struct Cluster::Machinery {
    Machinery(EventLoop& loop, ClusterOptions options)
        : parts(loop, std::move(options)),
          completions(loop, parts.calendar, parts.jobs),
          path(parts, open_files, completions),
          faults(parts) {}

    ClusterParts parts;
    OpenFiles open_files;
    Completions completions;
    RequestPath path;
    FaultSchedule faults;
};

Cluster::Cluster(EventLoop& loop, ClusterOptions options)
    : machinery_(std::make_unique<Machinery>(loop, std::move(options))) {}

Cluster::~Cluster() = default;

std::unique_ptr<Storage> Cluster::make_storage() {
    return std::make_unique<SimStorage>(machinery_->parts, machinery_->open_files, machinery_->path);
}

std::unique_ptr<Decoder> Cluster::make_decoder(std::uint32_t seat,
                                               const MediaFormat* format,
                                               Duration extra_cpu,
                                               std::uint32_t pictures) {
    const ClientModel& client = machinery_->parts.model().client;
    return std::make_unique<SimDecoder>(machinery_->parts, machinery_->completions, seat,
                                        Seat::decode_time(client, format, extra_cpu),
                                        Seat::display_time(client, format, pictures));
}

std::vector<PartStats> Cluster::stats(Instant from, Instant to) const {
    const ClusterParts& parts = machinery_->parts;
    StatsList all(from, to);
    for (std::uint32_t i = 0; i < parts.seats.size(); ++i) add_seat(all, i, parts.seats[i]);
    for (std::uint32_t i = 0; i < parts.nodes.size(); ++i) add_node(all, i, parts.nodes[i]);
    for (const RequestPath::Coordinator& each : machinery_->path.coordinators()) {
        all.add(PartKind::file, each.file, fmt::format("file {}{}", each.file, each.writes ? " writes" : ""),
                each.station);
    }
    add_sequence_files(all, parts, from, to);
    return all.take();
}

void Cluster::add_file(const char* path, std::uint64_t bytes) {
    machinery_->parts.files.add(path, bytes);
}

void Cluster::at(Instant when, const ClusterFault& fault) {
    machinery_->faults.add(when, fault);
}

}  // namespace streamsim::sim
