// The sample table of one QuickTime or MP4 track. Pure. Inside media/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "media/container/mov_boxes.h"
#include "streamsim/media.h"

namespace streamsim::media {

/// `count` samples that share a value: a duration, or the delay between decoding and display.
struct SampleRun {
    std::uint32_t count = 0;
    std::int64_t ticks = 0;
};

/// Chunks from number `first` (the first of a file is 1) on hold `samples` samples each.
struct ChunkRun {
    std::uint32_t first = 0;
    std::uint32_t samples = 0;
};

/// A table whose parts agree with each other. Refers to the bytes that it was read from.
class SampleTable {
public:
    /// `stbl`: the body of the box. Empty for a table that is damaged, has no samples, or has a part which is
    /// not known here.
    static std::optional<SampleTable> read(Bytes stbl);

    Bytes description() const { return description_; }  // stsd
    std::uint32_t samples() const { return samples_; }
    const std::vector<SampleRun>& durations() const { return durations_; }  // each at least 1
    std::int64_t length() const { return length_; }                         // sum of the durations
    const std::vector<SampleRun>& delays() const { return delays_; }        // empty: all 0
    const std::vector<ChunkRun>& chunk_runs() const { return chunk_runs_; }
    std::uint32_t chunks() const { return chunks_; }
    std::uint64_t chunk_offset(std::uint32_t chunk) const;  // below 2^62. REQUIRES: chunk < chunks()
    bool all_sync() const { return !sync_; }

    /// The limit of samples that are listed one by one.
    static constexpr std::uint32_t kListedMax = 1 << 24;
    /// The extent of each sample in stored order. Empty: too many, or one without bytes or beyond 512 MiB.
    std::optional<std::vector<Extent>> extents() const;
    /// True for each sample from which decoding can begin. REQUIRES: samples() <= kListedMax.
    std::vector<bool> sync() const;

private:
    bool read_sizes(const BoxSet& stbl);
    bool read_chunks(const BoxSet& stbl);
    bool read_durations(Bytes stts);
    bool read_delays(Bytes ctts);
    bool read_sync(Bytes stss);
    std::uint32_t size_of(std::uint32_t sample) const;

    Bytes description_;
    std::uint32_t samples_ = 0;
    std::uint32_t one_size_ = 0;  // 0: each has a size of its own
    Bytes sizes_;
    unsigned size_bits_ = 0;
    std::vector<SampleRun> durations_;
    std::int64_t length_ = 0;
    std::vector<SampleRun> delays_;
    std::vector<ChunkRun> chunk_runs_;
    Bytes chunk_offsets_;
    std::uint32_t chunks_ = 0;
    bool wide_offsets_ = false;
    std::optional<Bytes> sync_;  // numbers of the sync samples, from 1 on
};

}  // namespace streamsim::media
