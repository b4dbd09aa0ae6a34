// Cluster: storage that nobody has bought yet, with its network and its seats, in virtual time. A document's
// numbers (streamsim/cluster_model.h) become parts with queues; every read of a player goes through them, event
// by event, and each part keeps books.
//
// The way of a read: the seat's processor (a request) -> the way to the node -> the node's processor -> where
// the model has one, the file's coordinator -> the blocks that it touches, each from the RAM of the node, else
// its SSD, else a drive of the block's home node and, where that is another node, the back-end link -> the
// node's front-end link -> the way back -> the switch port, where it is narrower -> the seat's connections and
// link -> the seat's processor (its bytes). An open goes the same way without blocks or payload. Every frame
// that was read then takes its decoding from the seat's processor. What writes goes the other way around
// (sim/core_writes.cc): the seat's processor, connections and link -> the way to the node -> its front-end
// link, in its other direction -> its processor -> the file's coordinator -> the journal, which the drives
// empty.
//
// Small reads at random. Where the model has pages, a read of up to an eighth of a block that does not follow
// another asks the drive for its pages alone, and they are cached alone. In a warm cache the chance that one is
// there is the share of the files that its node's seats have open that there is room for: what many random
// reads before would have left (each page is as likely as any other).
//
// Assumptions: requests are stored and forwarded whole by each part; requests towards the storage are small
// and only take time, no bandwidth; metadata is in memory. Everything that is left to chance is seeded by the
// request it happens to, not by the order of events, so that two models that differ in one number meet the same
// chances.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/time.h"
#include "streamsim/cluster_model.h"
#include "streamsim/decoder.h"
#include "streamsim/event_loop.h"
#include "streamsim/media.h"
#include "streamsim/part_stats.h"
#include "streamsim/storage.h"

namespace streamsim::sim {

/// Where a seat is.
struct SeatPlace {
    std::uint32_t node = 0;         // that it mounts from; below ClusterModel::nodes
    std::optional<LinkModel> link;  // its own; none: the model's
};

/// What the storage was told about the directories that the media lie in.
enum class AccessStrategy {
    as_media,           // containers: streaming; a file per frame: filename_prefetch
    random,             // never reads ahead
    concurrency,        // a little ahead in a file that is read front to back
    streaming,          // much
    filename_prefetch,  // the next files of a numbered sequence; within a file as concurrency
};

struct ClusterOptions {
    ClusterModel model;
    std::vector<SeatPlace> seats;  // by seat number
    bool warm = false;             // the media are in the caches as far as those reach, else those are empty
    std::uint64_t seed = 0;
    AccessStrategy strategy = AccessStrategy::as_media;
    /// What the run plays: how long its files are and whether they are a frame each. A file that is in none of
    /// them has no end, and is a container.
    std::vector<std::shared_ptr<const FrameIndex>> media;
};

/// Something that happens to a cluster at a given time.
struct ClusterFault {
    enum class Kind {
        drive_dies,   // `drive` of `node`: its blocks are read from model.data_drives others
        node_lost,    // with its drives; its seats wait for `length`, then they are on the nodes that are left
        link_slows,   // the front end of `node`, or the link of `seat`: to `factor` of its rate for `length`
        cache_flush,  // of `node`: both levels are empty
        silence,      // the processor and the front end of `node` begin nothing for `length`
    };
    /// As a node: every one of them. As a seat: none.
    static constexpr std::uint32_t kAll = UINT32_MAX;

    Kind kind = Kind::silence;
    std::uint32_t node = kAll;  // drive_dies and node_lost: one node
    std::uint32_t drive = 0;
    std::uint32_t seat = kAll;
    double factor = 1;  // above 0
    Duration length;    // link_slows: 0 is for good
};

class ClusterCore;

/// All seats of a run share one. Everything on the loop's thread. The storages and decoders that it makes are
/// destroyed before it, and it before the loop.
class Cluster {
public:
    /// REQUIRES: the model has nodes, drives and links with a rate; every seat is on one of its nodes.
    Cluster(EventLoop& loop, ClusterOptions options);
    ~Cluster();
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    /// capabilities().io is "sim"; buffers are never touched. IoTag::seat says whose an operation is. Several
    /// storages of one cluster share its parts. REQUIRES: tags with seats of the options.
    std::unique_ptr<Storage> make_storage();

    /// Takes a frame's cost from the processor of `seat`: what the first fitting cost of the model says for
    /// `format` (null: nothing), and `extra_cpu`, as time of one core.
    std::unique_ptr<Decoder> make_decoder(std::uint32_t seat, const MediaFormat* format, Duration extra_cpu);

    /// Of every part, in a fixed order: seats, then nodes with their drives, then files.
    std::vector<PartStats> stats(Instant from, Instant to) const;

    /// There is such a file, from before the run.
    void add_file(const char* path, std::uint64_t bytes);

    /// Lets it happen then. REQUIRES: it names a node, drive or seat that there is.
    void at(Instant when, const ClusterFault& fault);

private:
    std::unique_ptr<ClusterCore> core_;
};

}  // namespace streamsim::sim
