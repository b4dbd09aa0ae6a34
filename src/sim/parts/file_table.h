// The files of a modelled cluster: their names, their lengths, and the drives of their blocks.
//
// Names. A path names a file, and the paths that differ in the last number of the name alone are a numbered
// sequence; both are kept as 64-bit hashes (two of a million files collide once in 40 million runs). Names that
// differ in leading zeros alone are equal.
//
// Layout. The blocks of a file go around all drives of all nodes, block by block, beginning at a drive by the
// file's hash; on each drive they lie one after the other. The files of a sequence were written one after the
// other and continue each other.
//
// Existence. Every path exists and can be opened, unless it was removed or renamed; a file that the run's media
// do not name, and that was neither added nor created, has no end. Names change when the request is submitted,
// and not when the answer comes.
//
// Assumptions: a directory holds the paths that the run has named in it. A replaced or removed file keeps its
// blocks.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "base/time.h"
#include "sim/parts/flat_index.h"
#include "sim/parts/job.h"
#include "sim/parts/station_stats.h"
#include "streamsim/cluster_model.h"
#include "streamsim/media.h"

namespace streamsim::sim {

/// Media of a run, with the strategy that its player asks the storage for.
struct ModelMedia {
    explicit ModelMedia(std::shared_ptr<const FrameIndex> of, AccessStrategy asked = AccessStrategy::as_media)
        : index(std::move(of)), strategy(asked) {}

    std::shared_ptr<const FrameIndex> index;
    AccessStrategy strategy;
};

struct SimFile {
    static constexpr std::uint32_t kNone = UINT32_MAX;

    std::uint64_t bytes = UINT64_MAX;  // UINT64_MAX: no end
    std::uint64_t layout = 0;          // the hash of the file or sequence that it is laid out with
    std::uint64_t first_block = 0;     // within that layout
    std::uint32_t sequence = kNone;    // of the media
    std::uint64_t frame = 0;           // within the sequence
    Instant read_until;                // a file of a sequence: its coordinator has work until then
    Instant written_until;             // the same, for writes
    bool reading = false;              // its coordinator has reads to do
    bool writing = false;              // the same, for writes
    bool of_media = false;             // frames are read from it
    AccessStrategy strategy = AccessStrategy::as_media;  // that its player asks for
};

/// The drive and the position of a block.
struct BlockPlace {
    std::uint32_t ring = 0;      // the drive's number around all drives
    std::uint64_t position = 0;  // on the drive, bytes
};

class FileTable {
public:
    FileTable(const ClusterModel& model, const std::vector<ModelMedia>& media);

    /// The number of a path's file.
    std::uint32_t number_of(std::string_view path);
    /// The number of the file of a sequence's frame; SimFile::kNone behind its end.
    std::uint32_t number_of(std::uint32_t sequence, std::uint64_t frame);
    const SimFile& operator[](std::uint32_t number) const { return files_[number]; }

    /// As number_of(); SimFile::kNone: the path was removed.
    std::uint32_t find(std::string_view path);
    struct Created {
        std::uint32_t file = SimFile::kNone;
        bool is_new = false;
    };
    /// Creates an empty file, unless the path names one already.
    Created create(std::string_view path);
    /// The coordinators of the files of sequences, for reads or for writes, as one part.
    struct Coordinators {
        StationStats stats;
        std::uint32_t at_work = 0;  // files
        std::uint32_t most_at_work = 0;
    };
    /// The coordinator of a file of a sequence works so long for a request, behind those that came before; at a
    /// time it serves one read and one write. Returns when it has done it: leave_coordinator() is called then.
    Instant coordinate(Job& job, Instant now, Duration work);
    void leave_coordinator(const Job& job, Instant now);
    const Coordinators& coordinators(bool of_writes) const { return coordinators_[of_writes ? 1 : 0]; }
    /// Adds a file from before the run.
    void add(std::string_view path, std::uint64_t bytes);
    /// The file was written up to `end`.
    void extend(std::uint32_t number, std::uint64_t end);
    // These return 0 or an errno value.
    int make_directory(std::string_view path);
    int remove(std::string_view path);
    int rename(std::string_view from, std::string_view to);
    int list(std::string_view path, std::uint64_t& entries);
    int stat(std::string_view path, std::uint64_t& bytes);

    static std::uint64_t hash_of(std::string_view path);

    /// REQUIRES: block_bytes > 0; the cluster has drives.
    BlockPlace place(std::uint32_t file, std::uint32_t block) const;
    /// The hash of a block of a file is the same in each run.
    std::uint64_t hash_of_block(std::uint32_t file, std::uint64_t block) const {
        return mix64(files_[file].layout ^ mix64(files_[file].first_block + block));
    }
    std::uint32_t node_of(std::uint32_t ring) const { return ring % nodes_; }
    std::uint32_t drive_of(std::uint32_t ring) const { return ring / nodes_; }
    std::uint32_t ring_size() const { return ring_size_; }
    /// That are written: files lie in the first ones of a drive.
    std::uint64_t blocks_a_drive() const { return blocks_a_drive_; }
    /// The blocks of all media on one node, at most, but for one chance in a million million.
    std::uint64_t media_blocks_a_node() const;
    std::uint64_t blocks_of(std::uint64_t bytes) const { return (bytes + block_bytes_ - 1) / block_bytes_; }

    /// The key of one block, or one page, among all files.
    static std::uint64_t key(std::uint32_t file, std::uint32_t block) {
        return (std::uint64_t{file} << 32) | block;
    }

private:
    struct Sequence {
        std::shared_ptr<const FrameIndex> index;
        std::uint64_t name = 0;            // the hash without the number
        std::uint64_t number = 0;          // in the name of frame 0
        std::uint64_t blocks = 0;          // of its largest file
        std::vector<std::uint32_t> files;  // their numbers, by frame; kNone: not requested yet
        AccessStrategy strategy = AccessStrategy::as_media;
    };

    /// In by_path_: the path was removed.
    static constexpr std::uint32_t kGone = SimFile::kNone - 1;
    struct Directory {
        std::uint64_t entries = 0;
        bool gone = false;
    };

    void add_media(const ModelMedia& media);
    void set(std::uint64_t key, std::uint32_t number);
    std::uint32_t add_named(std::string_view path, std::uint64_t key, std::uint64_t bytes);
    Directory& directory_of(std::string_view path);
    std::uint32_t number_in(std::uint32_t sequence, std::uint64_t frame);
    std::uint32_t add_file(const SimFile& file);

    const std::uint64_t block_bytes_;
    const std::uint32_t nodes_;
    const std::uint32_t ring_size_;
    const std::uint64_t blocks_a_drive_;
    std::deque<SimFile> files_;                                 // there may be millions, too many to move
    FlatIndex by_path_;                                         // files of no sequence, and renamed ones
    std::unordered_map<std::uint64_t, Directory> directories_;  // by the hash of the path
    bool renamed_ = false;                                      // names of sequences may be in by_path_
    std::vector<Sequence> sequences_;
    FlatIndex by_name_;  // of sequences
    std::array<Coordinators, 2> coordinators_;
    double media_blocks_ = 0;
    double media_files_ = 0;
};

}  // namespace streamsim::sim
