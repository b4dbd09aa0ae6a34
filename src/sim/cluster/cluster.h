// Cluster: storage that nobody has bought yet, with its network and its seats, in virtual time. The numbers of
// a document (streamsim/cluster_model.h) become parts with queues; every read of a player travels through them,
// event by event, and each part keeps statistics.
//
// The path of a read: the seat's processor (the request) -> the transit to the node -> the node's processor ->
// where the model has one, the file's coordinator -> the blocks of the read (block_reader.h), each from the RAM
// of the node, else from the RAM, the SSD or a drive of the block's home node and, where that is another node,
// over the back-end link -> the node's front-end link -> the transit back -> the switch port, where that is
// narrower -> the seat's connections and link -> the seat's processor (the bytes). An open takes the same path
// without blocks or payload. Every frame then takes its decoding from the seat's processor, and its upload from
// the seat's path to the display. Writes go the other way (request_path.h, write_path.h), into the journal,
// which the drives empty.
//
// Small reads at random: where the model has pages, a read of up to an eighth of a block that does not follow
// another one asks the drive for its pages alone, and only they are cached. In a warm cache a page is present
// with a chance: the share of the files that the node's seats have open for which the cache has room. That is
// the state that many random reads leave (each page is as likely as any other), and further ones do not change
// the share.
//
// Assumptions: each part stores and forwards requests whole; requests towards the storage are small and take
// time, but no bandwidth; metadata is in memory. Every random draw is seeded by the request that it decides,
// not by the order of events, so that two models that differ in one number meet the same chances.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/time.h"
#include "sim/parts/file_table.h"
#include "streamsim/cluster_model.h"
#include "streamsim/decoder.h"
#include "streamsim/event_loop.h"
#include "streamsim/media.h"
#include "streamsim/part_stats.h"
#include "streamsim/storage.h"

namespace streamsim::sim {

/// A seat's connection to the cluster.
struct SeatPlace {
    std::uint32_t node = 0;         // the node that it mounts from; below ClusterModel::nodes
    std::optional<LinkModel> link;  // its own link; none: the model's
};

using streamsim::AccessStrategy;

struct ClusterOptions {
    ClusterModel model;
    std::vector<SeatPlace> seats;  // by seat number
    bool warm = false;             // the caches hold the media as far as they reach; else they are empty
    std::uint64_t seed = 0;
    AccessStrategy strategy = AccessStrategy::as_media;  // of all folders; as_media: each as its media ask
    /// The media of the run: the lengths of the files, and whether each is one frame. A file that no index
    /// names has no end, and is a container.
    std::vector<ModelMedia> media;
};

struct ClusterFault {
    enum class Kind {
        drive_dies,   // `drive` of `node`: its blocks are read from model.data_drives others
        node_lost,    // with its drives; its seats wait for `length`, then they mount from the nodes that are
                      // left
        link_slows,   // the front end of `node`, or the link of `seat`: to `factor` of its rate for `length`
        cache_flush,  // both caches of `node` are empty
        pause,        // the processor and the front end of `node` serve no further request for `length`
    };
    /// As a node: all nodes. As a seat: none.
    static constexpr std::uint32_t kAll = UINT32_MAX;

    Kind kind = Kind::pause;
    std::uint32_t node = kAll;  // drive_dies and node_lost: one node
    std::uint32_t drive = 0;
    std::uint32_t seat = kAll;
    double factor = 1;  // above 0
    Duration length;    // link_slows: 0 means for ever
};

/// All seats of a run share one. Everything on the loop's thread. The storages and decoders that it makes are
/// destroyed before it, and it before the loop.
class Cluster {
public:
    /// REQUIRES: the model has nodes, drives and links with a rate; every seat is on one of its nodes.
    Cluster(EventLoop& loop, ClusterOptions options);
    ~Cluster();
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    /// capabilities().io is "sim"; buffers are never touched. IoTag::seat names the seat of an operation.
    /// Several storages of one cluster share its parts. REQUIRES: tags with seats of the options.
    std::unique_ptr<Storage> make_storage();

    /// The decoder takes a frame's cost from the processor of `seat`: the first cost of the model that fits
    /// `format` (null: nothing), and `extra_cpu`, as time of one core; then from its path to the display, for
    /// `pictures` of the format.
    std::unique_ptr<Decoder> make_decoder(std::uint32_t seat,
                                          const MediaFormat* format,
                                          Duration extra_cpu,
                                          std::uint32_t pictures = 1);

    /// All parts, in a fixed order: seats, then nodes with their drives, then files.
    std::vector<PartStats> stats(Instant from, Instant to) const;

    /// The file exists from before the run.
    void add_file(const char* path, std::uint64_t bytes);

    /// Schedules a fault. REQUIRES: it names a node, drive or seat of the cluster.
    void at(Instant when, const ClusterFault& fault);

private:
    struct Machinery;
    std::unique_ptr<Machinery> machinery_;
};

}  // namespace streamsim::sim
