// ClusterModel: a storage cluster with its network and its seats, as data. A document in formats/storage/ says
// each number with its basis; src/sim/ plays on it in virtual time.
//
// Links are bits a second on the wire, of which `efficiency` is payload, all other rates bytes a second, sizes
// bytes, processor time seconds of one core. Zero: the cluster has no such part.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace streamsim {

/// A full-duplex cable or port. Bytes of the protocols take a part of it: payload moves at rate * efficiency.
struct LinkModel {
    double bits_per_s = 0;
    double efficiency = 1;
    Duration latency;  // one way

    double bytes_per_s() const { return bits_per_s * efficiency / 8; }
};

/// How long something takes beyond its service: a median, and now and then much more; or measured quantiles.
struct LatencyModel {
    /// The shares of requests that take no longer than each of `quantiles`.
    static constexpr std::array<double, 6> kShares{0.1, 0.5, 0.9, 0.99, 0.999, 1};

    Duration median;
    double spread = 0;                    // of most, as a share of the median, both ways
    double tail_share = 0;                // of requests, 0 to 1
    Duration tail_mean;                   // more, of those: exponential, cut at ten times the mean
    bool by_quantiles = false;            // `quantiles` hold, and none of the members above
    std::array<Duration, 6> quantiles{};  // ascending; the last is the longest
};

/// Other load on the front end of a node, which comes and goes: exponential lengths and gaps.
struct OtherLoadModel {
    double share = 0;  // of the front end's rate, both ways, while it is there; 0: there is none
    Duration mean_length;
    Duration mean_gap;
};

/// Time that a seat spends on a frame: for the first of the list that fits.
struct FrameCost {
    std::string codec;       // of the format, "prores"; empty: any
    int bits = 0;            // DPX: of a sample; 0: any
    double s_per_frame = 0;  // seconds
    double s_per_pixel = 0;  // more
};

struct ClientModel {
    double cores = 1;
    double cpu_ceiling = 1;  // share of the cores at which play is no longer safe: what is there to be used
    std::vector<FrameCost> decode;  // of one core
    std::vector<FrameCost>
        display;  // then, of the one path to the display: the upload of pictures to its memory
    double cpu_s_per_request = 0;
    double cpu_s_per_byte = 0;  // copies and the protocol
    LinkModel link;
    std::uint32_t connections = 1;            // SMB multichannel, nconnect
    double connection_bytes_per_s = 0;        // of one of them; 0: as the link
    double connection_write_bytes_per_s = 0;  // the same, outwards
};

/// Between seats and nodes.
struct SwitchModel {
    std::uint32_t mtu = 0;            // bytes of an Ethernet frame on the links of seats and front ends, whose
                                      // efficiency then holds the share of payload in them; 0: it holds all
    std::uint64_t message_bytes = 0;  // that the protocol of files adds to the bytes of a read
    double port_bits_per_s = 0;  // towards a seat, where it is narrower than the seat's own link; 0: as that
    bool flow_control = true;    // false: what does not fit into the buffer is lost and sent again
    std::uint64_t port_buffer_bytes = 0;
    Duration retransmit_after;
    std::uint64_t segment_bytes = 64 << 10;  // what is lost or kept as one

    /// The share of payload in a frame of the MTU: beside the MTU it has a preamble of 8, a header of 14, a
    /// check sequence of 4 and a gap of 12 bytes (IEEE 802.3); the MTU has the headers of IPv4 (RFC 791) and of
    /// TCP (RFC 9293) with time stamps (RFC 7323).
    double payload_share() const {
        constexpr double kFrameBytes = 38, kHeaderBytes = 52;
        return mtu == 0 ? 1 : (mtu - kHeaderBytes) / (mtu + kFrameBytes);
    }
};

struct DriveModel {
    enum class Kind { rotational, flash };
    Kind kind = Kind::rotational;
    double outer_bytes_per_s = 0;  // rotational: of the outermost zone; flash: of one channel
    double inner_bytes_per_s = 0;  // rotational
    double rotations_per_s = 0;    // rotational
    Duration seek_track;           // rotational: to the next track, and over the whole disk
    Duration seek_full;
    std::uint64_t capacity_bytes = 0;
    double filled = 1;           // rotational: share that is written, from the outermost zone in; above 0
    std::uint32_t reorder = 32;  // rotational: the nearest of the oldest so many is next, and none waits for
                                 // more than so many others that came after it
    std::uint32_t channels = 1;  // flash: served at once
    LatencyModel access;         // flash; rotational: beyond seek and rotation
    LatencyModel write_access;   // of a write, instead
};

/// The journal of a node: memory that a power cut does not empty, for writes until the drives have them.
struct JournalModel {
    std::uint64_t bytes = 0;        // 0: there is none, and a write is complete when the drives have it
    double bytes_per_s = 0;         // into it, with its copy on another node; 0: takes no time
    Duration latency;               // of an entry
    std::uint32_t merge_pages = 1;  // written at random, that go to a drive as one, sorted
};

/// Processor time that a node spends on what is done by name. Seconds of one core.
struct MetadataModel {
    double cpu_s_per_stat = 0;
    double cpu_s_per_list = 0;
    double cpu_s_per_create = 0;  // of a file or a directory
    double cpu_s_per_remove = 0;
    double cpu_s_per_rename = 0;
    std::uint32_t lines = 0;  // a node does these, and opens, in so many lines, by file: one at a time in each;
                              // 0: nothing takes turns
    double line_share = 1;    // an operation holds its line for so many times its processor time
};

/// Reads of the same place take turns: each read waits in one of so many lines, by the place of its data, as
/// where blocks lie on drives by a hash of their names, or threads have parts of the files.
struct ReadLinesModel {
    std::uint32_t lines = 0;  // 0: there are none
    double bytes_per_s = 0;   // of one line
    LatencyModel access;      // of a read in its line, besides its bytes
};

struct NodeModel {
    LinkModel front_end;
    LinkModel back_end;  // to its peers
    double cores = 1;
    double cpu_s_per_open = 0;
    double cpu_s_per_request = 0;
    double cpu_s_per_byte = 0;
    double cpu_s_per_frame = 0;  // more, once for each frame of a clip: its place in the file, its leases,
                                 // the decision to read ahead
    double connection_bytes_per_s =
        0;                       // of reads through one connection of a seat: a core serves it; 0: no limit
    double cpu_s_per_write = 0;  // of a request that writes
    double write_cpu_s_per_byte = 0;  // and of its bytes
    MetadataModel metadata;
    JournalModel journal;
    std::uint64_t ram_bytes = 0;  // for blocks that the node's seats ask for
    std::uint64_t l2_bytes = 0;   // RAM for blocks of the node's own drives, whichever node asks; the SSD then
                                  // holds what leaves this one; 0: there is one level, ram_bytes
    std::uint64_t ssd_bytes = 0;
    LinkModel ssd;                 // rate and latency of the second level
    double ssd_s_per_request = 0;  // that its server takes before the bytes
    std::uint32_t drives = 0;
    ReadLinesModel read_lines;
    LatencyModel response;  // of a request, beyond what its parts take
    OtherLoadModel other_load;
};

/// The access strategy that the storage is set to for the folders of some media.
enum class AccessStrategy {
    as_media,     // as the player's pattern asks, else by the kind of media: containers: streaming; a file
                  // per frame: filename_prefetch
    random,       // never reads ahead
    concurrency,  // reads a little ahead in a file that is read front to back
    streaming,    // reads far ahead
    filename_prefetch,  // reads the next files of a numbered sequence; within a file as concurrency
};

/// The read-ahead of the storage.
struct StrategyModel {
    std::uint64_t concurrency_bytes = 0;  // ahead in a file that is read front to back, by default
    std::uint64_t streaming_bytes = 0;    // and where clips are kept for streaming
    std::uint32_t filename_files = 0;     // next of a numbered sequence, where directories are kept for that
    double streaming_cpu_s_per_byte = 0;  // of the node's processor, more, for what is read so
    double filename_cpu_s_per_byte = 0;
};

/// A number of the document with an interval of 90 %. In seconds, bytes or as it is.
struct UncertainNumber {
    std::string pointer;  // "/node/front_end/bits_per_s"
    double value = 0;
    std::optional<double> low;
    std::optional<double> high;  // none: "at least low": the part was never full when it was measured
    double min = 0;              // the bounds of the document
    double max = 0;

    bool at_least() const { return low && !high; }
};

/// Correlations of the normal scores of uncertain numbers.
struct NumberCorrelation {
    std::vector<std::string> numbers;  // pointers
    std::vector<std::vector<double>> matrix;
};

/// A run that the fit did not see: it was predicted, then compared.
struct HeldBackRun {
    std::string format;
    std::uint32_t seats = 1;
    std::uint32_t streams_measured = 0;
    std::uint32_t predicted = 0;
    std::uint32_t low = 0;  // 90 % of the predictions
    std::uint32_t high = 0;
    bool rejected = false;      // the model does not hold
    std::string at_least = {};  // why no more were tried; empty: one more was, and does not play

    /// As many play, and perhaps more.
    bool is_bound() const { return !at_least.empty(); }
};

/// "held back: 17 streams of dpx12 on 2 seats, and 18 were predicted (16 to 19)"
std::string held_back_sentence(const HeldBackRun& run);

/// The calibration that a document comes from.
struct CalibrationFacts {
    std::string target;
    std::string measured_at;
    std::uint32_t seats = 1;                 // that were measured
    std::optional<double> links_bits_per_s;  // of the seats
    std::vector<std::string> formats;        // names whose play or read pattern was measured
    bool told_apart = false;                 // the limit of a seat from the limit of the server
    bool other_load = false;                 // was there while it was measured
    std::string raw;                         // the file of the rows that were measured
    std::optional<NumberCorrelation> correlation;
    double model_error = 0;  // standard deviation of ln rate that the structure of the model adds
    std::optional<HeldBackRun> held_back;
};

struct ClusterModel {
    std::string name;  // "h500"
    std::string title;
    std::uint32_t nodes = 1;
    std::uint64_t block_bytes = 1 << 20;  // the unit of caches and of reading far ahead
    std::uint64_t stripe_bytes = 0;  // the unit that a file goes around the drives in: what a drive is asked
                                     // for at a time without reading ahead; 0: a block
    std::uint32_t data_drives = 1;   // of a protection group: a lost block is read from that many others
    std::uint32_t protection_drives = 0;  // of it, beyond those: what writing costs more; it does not limit
                                          // how many drives may be lost
    double file_bytes_per_s = 0;          // of one file over all nodes (who owns its locks); 0: no limit
    double file_write_bytes_per_s = 0;    // the same, for writes
    std::uint64_t page_bytes = 0;         // what a drive is asked for where reads do not follow each other, and
                                          // what is cached of it; 0: a block. block_bytes is a multiple
    NodeModel node;
    DriveModel drive;
    SwitchModel network;
    StrategyModel strategy;
    ClientModel client;
    std::vector<std::string> sources;  // "/node/cores: data sheet ..."
    std::vector<std::string> trust;    // sentences on how far to trust it: what it was fitted to, what it was
                                       // checked on; not of the document
    std::vector<UncertainNumber> uncertain;  // in the order of `sources`
    std::optional<CalibrationFacts> calibration;
};

}  // namespace streamsim
