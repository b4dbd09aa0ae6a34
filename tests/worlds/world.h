// RandomWorld: a whole run by chance, as plain data. One seed gives one world; a world can be made smaller,
// part by part, which finds the smallest one that still fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "media/catalogue/catalogue.h"
#include "run/plan/play_request.h"
#include "sim/truth/truth_storage.h"
#include "storage/fault/fault_plan.h"
#include "streamsim/cluster_model.h"
#include "streamsim/scenario.h"

namespace streamsim::worlds {

/// The storage of a world, in virtual time.
enum class StorageKind {
    null,     // completes at once; with the world's faults alone
    truth,    // of another structure than the models (tests/sim/truth/)
    cluster,  // a modelled cluster of drawn numbers
    shipped,  // a model that comes with streamsim
};
const char* to_string(StorageKind kind);

/// A piece of a cut list, behind the one before it.
struct DrawnCut {
    std::uint64_t black = 0;    // frames without a picture before it
    std::uint64_t overlap = 0;  // frames of a transition from the piece before, half of either at most
    std::uint64_t frames = 1;
    std::uint64_t clip = 0;   // modulo the number of clips
    std::uint64_t first = 0;  // clip frame, modulo their number
    std::int64_t speed_num = 1, speed_den = 1;
};

struct RandomWorld {
    std::uint64_t seed = 0;
    /// The seats, their streams and meters, when they begin and end, and the faults of a span of time. The
    /// targets in it are empty: `storage` says where all play.
    Scenario scenario;
    /// False: the run is one of the command line. Its seats and options are those of the first group and of its
    /// first streams, the formats those of all its streams, and the following members count.
    bool in_phases = false;
    bool sync = false;
    run::MultiCam multicam = run::MultiCam::none;
    bool round_robin = false;  // --total-streams instead of --streams
    Duration stagger;
    Duration decode_cpu;
    std::vector<DrawnCut> cuts;  // --cuts, of the clips that the streams would have; empty: no cut list

    StorageKind storage = StorageKind::null;
    test::TruthSpec truth;
    ClusterModel model;
    std::string shipped;  // "h500"
    bool warm = false;
    storage::FaultPlan faults;                     // --faults
    std::optional<std::uint64_t> interrupt_after;  // completions of the storage; 0: before play
    std::uint32_t ranks = 1;  // computers that the seats are assigned to, one after the other

    std::uint32_t seats() const;
    std::uint64_t streams() const;
};

/// The formats, workloads and models that worlds are drawn from.
struct Library {
    static Library load();

    media::Catalogue formats;
    std::vector<std::string> model_names;
    std::vector<ClusterModel> models;
    std::vector<Workload> workloads;
};

RandomWorld draw_world(const Library& library, std::uint64_t seed);

/// Every choice, in lines for a reader.
std::string describe(const RandomWorld& world);

/// Worlds that are smaller in one respect each, the largest steps first.
std::vector<RandomWorld> smaller(const RandomWorld& world);

/// Reads and writes of the whole run, roughly: a measure of how long it computes.
double operations_of(const RandomWorld& world);

}  // namespace streamsim::worlds
