#include "run/backends/backends.h"

#include <fmt/format.h>

#include <utility>

#include "loop/decoders.h"
#include "loop/uv_loop.h"
#include "loop/virtual_loop.h"
#include "run/backends/cluster_faults.h"
#include "sim/parts/seat.h"
#include "storage/backends.h"
#include "storage/fault/fault_storage.h"
#include "storage/local/local_byte_store.h"
#include "storage/null_storage.h"
#include "storage/remote/remote_names.h"

namespace streamsim::run {
namespace {

/// Chosen by its name, or because it is the best that is built in.
bool is_chosen(IoChoice io, IoChoice backend, const char* name) {
    return io == backend || (io == IoChoice::automatic && storage::storage_compiled_in().front() == name);
}

Result<std::unique_ptr<Storage>> make_local_storage(const StorageSpec& spec, loop::UvLoop& loop) {
    storage::LocalOptions local = spec.local;
    local.writes_below = spec.target.path;
    const bool uring = is_chosen(spec.io, IoChoice::uring, "uring");
    const bool iocp = is_chosen(spec.io, IoChoice::iocp, "iocp");
    if (uring || iocp) {
        auto made = (uring ? storage::make_uring_storage : storage::make_iocp_storage)(loop, loop.uv(), local);
        if (made) return made;
        if (spec.local.notice) {
            spec.local.notice(fmt::format("{} is not available: {}; reading with a thread pool instead",
                                          uring ? "io_uring" : "a completion port",
                                          made.error().problems.front()));
        }
    }
    if (spec.local.notice && !spec.pool_notice.empty()) spec.local.notice(spec.pool_notice);
    return storage::make_threads_storage(loop, loop.uv(), local);
}

Result<std::unique_ptr<Storage>> make_remote_storage(const StorageSpec& spec, loop::UvLoop& loop) {
    const RemotePlace& place = *spec.target.remote;
    const auto make =
        place.protocol == RemotePlace::Protocol::nfs ? storage::make_nfs_storage : storage::make_smb_storage;
    return make(loop, loop.uv(), place, spec.target.path, spec.remote);
}

/// The node and the link of a seat: its setting, else round robin and the model's link.
sim::SeatPlace place_of(const StorageSpec& spec, std::uint32_t seat) {
    sim::SeatPlace place{.node = spec.target.node_of(seat), .link = std::nullopt};
    if (seat >= spec.seat_settings.size()) return place;
    const SeatSetting& setting = spec.seat_settings[seat];
    place.node = setting.node.value_or(place.node);
    if (setting.has_link()) {
        const ClusterModel& model = *spec.target.model;
        place.link = model.client.link;
        place.link->bits_per_s = setting.link_bits_per_s.value_or(place.link->bits_per_s);
        if (setting.link_efficiency)  // as in the model's document
            place.link->efficiency = *setting.link_efficiency * model.network.payload_share();
        place.link->latency = setting.link_latency.value_or(place.link->latency);
    }
    return place;
}

sim::ClusterOptions cluster_options(const StorageSpec& spec) {
    sim::ClusterOptions options;
    options.model = *spec.target.model;
    for (std::uint32_t seat = 0; seat < spec.seats; ++seat) options.seats.push_back(place_of(spec, seat));
    options.warm = spec.target.warm;
    options.seed = spec.seed;
    options.strategy = spec.target.strategy;
    options.media = spec.media;
    return options;
}

/// The loop and the storage that the target names.
Result<void> open_target(const StorageSpec& spec, LoopAndStorage& made) {
    switch (spec.target.kind) {
        case target::Target::Kind::local:
        case target::Target::Kind::remote: {
            auto loop = std::make_unique<loop::UvLoop>();
            const bool local = spec.target.kind == target::Target::Kind::local;
            auto storage = local ? make_local_storage(spec, *loop) : make_remote_storage(spec, *loop);
            if (!storage) return storage.error();
            made.loop = std::move(loop);
            made.storage = std::move(*storage);
            break;
        }
        case target::Target::Kind::null:
            made.loop = std::make_unique<loop::UvLoop>();
            made.storage = std::make_unique<storage::NullStorage>(*made.loop, "null");
            break;
        case target::Target::Kind::null_virtual:
            made.loop = std::make_unique<loop::VirtualLoop>();
            made.storage = std::make_unique<storage::NullStorage>(*made.loop, "sim");
            made.timing_is_exact = true;
            break;
        case target::Target::Kind::model:
            made.loop = std::make_unique<loop::VirtualLoop>();
            made.model = spec.target.model;
            made.cluster = std::make_unique<sim::Cluster>(*made.loop, cluster_options(spec));
            for (const ScenarioFault& fault : spec.model_faults)
                made.cluster->at(Instant{} + fault.at, cluster_fault(fault));
            made.storage = made.cluster->make_storage();
            made.timing_is_exact = true;
            break;
    }
    return {};
}

}  // namespace

std::vector<std::string> backend_names() {
    std::vector<std::string> names = storage::storage_compiled_in();
    names.insert(names.end(), {"null", "sim"});
    return names;
}

bool reads_by_pool(IoChoice io) {
    if (is_chosen(io, IoChoice::uring, "uring")) return !storage::uring_is_available();
    return !is_chosen(io, IoChoice::iocp, "iocp");
}

Result<LoopAndStorage> make_loop_and_storage(const StorageSpec& spec) {
    LoopAndStorage made;
    if (spec.virtual_storage) {
        made.loop = std::make_unique<loop::VirtualLoop>();
        made.storage = spec.virtual_storage(*made.loop);
        made.timing_is_exact = true;
    } else if (auto opened = open_target(spec, made); !opened) {
        return opened.error();
    }
    if (spec.faults) {
        auto faults = std::make_unique<storage::FaultStorage>(
            *made.loop, std::move(made.storage), *spec.faults, spec.seed,
            spec.local.parallel_reads + spec.local.parallel_opens);
        made.faults = faults.get();
        made.storage = std::move(faults);
    }
    if (spec.through) made.storage = spec.through(std::move(made.storage));
    return made;
}

std::unique_ptr<Decoder> make_decoder(const LoopAndStorage& made, const DecoderSpec& spec) {
    if (made.cluster != nullptr) {
        Duration cost;
        if (spec.format != nullptr) cost = decode_cost(*made.model, *spec.format);
        const Duration display = sim::Seat::display_time(made.model->client, spec.format, spec.layers);
        if (cost + spec.cpu + display <= Duration{}) return nullptr;  // delivery only: it waits for nothing
        Duration more = spec.cpu;
        for (std::uint32_t i = 1; i < spec.layers; ++i) more += cost;
        return made.cluster->make_decoder(spec.seat, spec.format, more, spec.layers);
    }
    if (spec.cpu <= Duration{}) return nullptr;
    if (made.timing_is_exact) return std::make_unique<loop::TimedDecoder>(*made.loop, spec.cpu);
    return std::make_unique<loop::BurningDecoder>(*made.loop, spec.cpu);
}

Duration decode_cost(const ClusterModel& model, const MediaFormat& format) {
    ClientModel one_core = model.client;
    one_core.cores = 1;
    one_core.cpu_ceiling = 1;
    return sim::Seat::decode_time(one_core, &format, Duration{});
}

std::unique_ptr<ByteStore> make_byte_store(const target::Target& target, const Credentials& credentials) {
    if (target.kind == target::Target::Kind::local) return storage::make_local_byte_store();
    if (target.kind != target::Target::Kind::remote) return nullptr;
    if (target.remote->protocol == RemotePlace::Protocol::nfs)
        return storage::by_whole_names(storage::make_nfs_byte_store(*target.remote, target.path));
    return storage::by_whole_names(storage::make_smb_byte_store(*target.remote, target.path, credentials));
}

}  // namespace streamsim::run
