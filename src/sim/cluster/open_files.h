// The open files of a cluster, each with the history of its accesses, from which the storage tells reading
// front to back from reading at random.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/parts/file_table.h"
#include "sim/parts/job.h"
#include "streamsim/storage.h"

namespace streamsim::sim {

struct OpenFile {
    std::uint32_t file = SimFile::kNone;  // kNone: not open
    std::uint32_t opening = 0;            // counts the uses of this handle

    // Reads.
    bool was_read = false;
    std::uint32_t node = SimFile::kNone;  // the node that reads ahead for it
    std::uint32_t in_order = 0;           // reads since the last jump
    std::uint64_t end = 0;                // of all bytes read
    std::uint64_t ahead = 0;              // the first block that was not read ahead
    std::uint32_t small_in_order = 0;     // small reads that followed each other
    std::uint32_t small_jumps = 0;        // consecutive reads of single pages
    std::uint64_t small_end = 0;          // of the last small read

    // Writes.
    std::uint64_t written_end = 0;  // of the last one
};

class OpenFiles {
public:
    FileId open(std::uint32_t file);
    void close(FileId id);
    /// Names the open file in the job. False: it is not open.
    bool attach(Job& job, FileId id) const;
    /// Null: the file was closed meanwhile.
    OpenFile* of(const Job& job);

private:
    std::vector<OpenFile> handles_;
    std::vector<FileId> free_;
};

}  // namespace streamsim::sim
