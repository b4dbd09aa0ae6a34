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
    std::uint64_t frame_slots = 0;        // of its stream's frames, those below have begun
    std::uint64_t frame_begin = 0;        // where the last of them begins

    // Writes.
    std::uint64_t written_end = 0;  // of the last one
};

/// True when the job's bytes lie at most `gap` from the end of those before: several requests are in flight,
/// and overtake each other in transit.
inline bool is_near(const Job& job, std::uint64_t end, std::uint64_t gap) {
    return job.offset <= end + gap && end <= job.offset + job.bytes + gap;
}

/// The greatest gap between small requests that follow each other.
inline std::uint64_t small_gap(const Job& job) {
    constexpr std::uint64_t kGapLengthsMax = 16;
    return kGapLengthsMax * job.bytes;
}

class OpenFiles {
public:
    FileId open(std::uint32_t file) {
        auto id = static_cast<FileId>(handles_.size());
        if (free_.empty()) {
            handles_.emplace_back();
            free_.reserve(handles_.capacity());
        } else {
            id = free_.back();
            free_.pop_back();
        }
        OpenFile& handle = handles_[static_cast<std::uint32_t>(id)];
        handle = {.file = file, .opening = handle.opening + 1};
        return id;
    }

    void close(FileId id) {
        handles_[static_cast<std::uint32_t>(id)].file = SimFile::kNone;
        free_.push_back(id);
    }
    /// Names the open file in the job. False: it is not open.
    bool attach(Job& job, FileId id) const {
        const auto handle = static_cast<std::uint32_t>(id);
        if (id < 0 || handle >= handles_.size() || handles_[handle].file == SimFile::kNone) return false;
        job.handle = handle;
        job.opening = handles_[handle].opening;
        job.file = handles_[handle].file;
        return true;
    }

    /// Null: the file was closed meanwhile.
    OpenFile* of(const Job& job) {
        OpenFile& handle = handles_[job.handle];
        return handle.opening == job.opening && handle.file != SimFile::kNone ? &handle : nullptr;
    }

private:
    std::vector<OpenFile> handles_;
    std::vector<FileId> free_;
};

}  // namespace streamsim::sim
