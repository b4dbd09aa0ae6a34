// The explicit table of storage backends: the one place that knows them all by name.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/cluster/cluster.h"
#include "storage/fault/fault_plan.h"
#include "storage/local/local_options.h"
#include "storage/remote/remote_options.h"
#include "streamsim/byte_store.h"
#include "streamsim/decoder.h"
#include "streamsim/event_loop.h"
#include "streamsim/scenario.h"
#include "streamsim/storage.h"
#include "target/target.h"

namespace streamsim::storage {
class FaultStorage;
}  // namespace streamsim::storage

namespace streamsim::run {

enum class IoChoice { automatic, uring, threads };

/// Puts something between the players and a storage.
using StorageWrapper = std::function<std::unique_ptr<Storage>(std::unique_ptr<Storage>)>;

struct StorageSpec {
    target::Target target;
    IoChoice io = IoChoice::automatic;
    storage::LocalOptions local;               // of one loop
    storage::RemoteOptions remote;             // of one loop
    std::optional<storage::FaultPlan> faults;  // injected over it
    std::uint64_t seed = 0;                    // of the faults, and of what a model leaves to chance
    // A model: how many seats there are, and what they play.
    std::uint32_t seats = 1;
    std::vector<std::shared_ptr<const FrameIndex>> media;
    std::vector<SeatSetting> seat_settings;   // by seat; fewer than seats: the rest as the URL says
    std::vector<ScenarioFault> model_faults;  // at: from the loop's time 0
    StorageWrapper through;
};

/// "uring", "threads", "nfs", "smb" (where libsmbclient was there), "null", "sim": what --version lists and a
/// result may name.
std::vector<std::string> backend_names();

/// A loop and what reads on it. The members are destroyed in the right order, the storage first.
struct LoopAndStorage {
    std::unique_ptr<EventLoop> loop;
    std::shared_ptr<const ClusterModel> model;  // null: storage
    std::unique_ptr<sim::Cluster> cluster;      // of the model
    std::unique_ptr<Storage> storage;
    storage::FaultStorage* faults = nullptr;  // where faults are injected: in `storage`
    bool timing_is_exact = false;             // virtual: the same seed gives the same times
};

/// REQUIRES: called on the thread that will run the loop. Where io_uring cannot be had, the thread pool is used
/// and `spec.local.notice` is told why.
Result<LoopAndStorage> make_loop_and_storage(const StorageSpec& spec);

/// What the frames of one slot are decoded with.
struct DecoderSpec {
    std::uint32_t seat = 0;
    Duration cpu;                         // for the slot, in the time of that loop
    const MediaFormat* format = nullptr;  // on a model: what it says for these frames besides; null: nothing
    std::uint32_t layers = 1;             // of that format, at once
};

/// Null: a frame is there when it is read.
std::unique_ptr<Decoder> make_decoder(const LoopAndStorage& made, const DecoderSpec& spec);

/// Processor time of one core that a model says for a frame.
Duration decode_cost(const ClusterModel& model, const MediaFormat& format);

/// The blocking side of a target; null where there are no files (null:, sim:). Connects when it is first used.
std::unique_ptr<ByteStore> make_byte_store(const target::Target& target, const Credentials& credentials);

}  // namespace streamsim::run
