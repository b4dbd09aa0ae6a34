// The table of storage backends: only this file names them all.
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

enum class IoChoice { automatic, uring, iocp, threads };

/// Puts a layer between the players and a storage.
using StorageWrapper = std::function<std::unique_ptr<Storage>(std::unique_ptr<Storage>)>;

/// Makes a storage on a loop in virtual time.
using StorageMaker = std::function<std::unique_ptr<Storage>(EventLoop& loop)>;

/// The storage of a run, as the user asks for it.
struct StorageRequest {
    target::Target target;
    IoChoice io = IoChoice::automatic;
    std::optional<storage::FaultPlan> faults;  // injected over the storage
    std::uint64_t seed = 1;                    // of the run; of faults, and of random events in a model
    std::uint32_t seats = 1;                   // of the whole run
    std::vector<SeatSetting> seat_settings;   // of a model: by seat; fewer than seats: the rest as the URL says
    std::vector<ScenarioFault> model_faults;  // inside a model; at: from the beginning of the run
    StorageMaker virtual_storage;  // instead of the target's own, in virtual time: a model of another kind
    StorageWrapper through;        // a layer between the players and the storage: a trace
};

struct StorageSpec : StorageRequest {
    storage::LocalOptions local;         // of one loop
    std::string pool_notice;             // said where a thread pool reads; empty: it is large enough
    storage::RemoteOptions remote;       // of one loop
    std::vector<sim::ModelMedia> media;  // of a model
};

/// "uring", "iocp", "threads", "nfs", "smb" (as far as they are built in), "null", "sim": for --version and
/// results.
std::vector<std::string> backend_names();

/// A loop with its storage. The storage is destroyed first.
struct LoopAndStorage {
    std::unique_ptr<EventLoop> loop;
    std::shared_ptr<const ClusterModel> model;  // null: no model
    std::unique_ptr<sim::Cluster> cluster;      // null: no model
    std::unique_ptr<Storage> storage;
    storage::FaultStorage* faults = nullptr;  // where faults are injected: in `storage`
    bool timing_is_exact = false;             // virtual time: the same seed gives the same times
};

/// Local files are read by the thread pool: it was chosen, or the system has nothing better.
bool reads_by_pool(IoChoice io);

/// REQUIRES: called on the thread that will run the loop. Uses the thread pool where io_uring or a completion
/// port is not available, with a notice that says why.
Result<LoopAndStorage> make_loop_and_storage(const StorageSpec& spec);

/// How the frames of one slot are decoded.
struct DecoderSpec {
    std::uint32_t seat = 0;
    Duration cpu;                         // for the slot, in the loop's time
    const MediaFormat* format = nullptr;  // on a model: its decode cost is added; null: none
    std::uint32_t layers = 1;             // of that format, at once
};

/// Null: a frame is complete when it is read.
std::unique_ptr<Decoder> make_decoder(const LoopAndStorage& made, const DecoderSpec& spec);

/// Processor time of one core for a frame, by the model.
Duration decode_cost(const ClusterModel& model, const MediaFormat& format);

/// The blocking access to a target's files; null: it has none (null:, sim:). Connects when it is first used.
std::unique_ptr<ByteStore> make_byte_store(const target::Target& target, const Credentials& credentials);

}  // namespace streamsim::run
