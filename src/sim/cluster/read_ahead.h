// Reads ahead as the modelled storage does.
//
// Strategies concurrency and streaming: a file that is read front to back, apart from the requests in flight,
// has its next bytes fetched up to the model's distance. A jump ends that until two reads follow each other
// again; the next frame is one where it lies before the last, however near. Strategy filename_prefetch: when a
// stream begins to read two files of a numbered sequence one after the other, the next `filename_files` files
// are fetched whole; opening alone proves nothing, as a player opens names long before it reads them. A storage
// tells readers apart by connection and folder; the model does so by stream.
#pragma once

#include <unordered_map>

#include "sim/cluster/block_reader.h"
#include "sim/cluster/open_files.h"
#include "sim/cluster/parts.h"

namespace streamsim::sim {

class ReadAhead {
public:
    ReadAhead(ClusterParts& parts, OpenFiles& open_files, BlockReader& blocks)
        : parts_(parts), open_files_(open_files), blocks_(blocks) {}

    AccessStrategy strategy_of(const SimFile& file) const;
    /// A small read at random, which takes single pages and no blocks.
    bool takes_pages(const Job& read) const;
    /// The bytes that the storage asks for ahead of this reader, as far as it knows its order by now.
    std::uint64_t distance(const Job& read) const;
    /// Follows up on a read whose blocks were requested.
    void follow(const Job& read);

private:
    /// One stream that reads one sequence.
    struct SequenceReader {
        std::uint64_t frame = 0;
        std::uint64_t fetched_to = 0;  // the first frame that was not fetched
        std::uint32_t node = 0;
        bool in_order = false;
    };

    static std::uint64_t reader_key(const Job& read, const SimFile& file);
    std::uint64_t window_of(const SimFile& file) const;
    void track_small(OpenFile& handle, const Job& read) const;
    void track_order(OpenFile& handle, const Job& read, std::uint64_t window) const;
    void follow_names(const Job& read);

    ClusterParts& parts_;
    OpenFiles& open_files_;
    BlockReader& blocks_;
    std::unordered_map<std::uint64_t, SequenceReader> readers_;  // by stream and sequence
};

}  // namespace streamsim::sim
