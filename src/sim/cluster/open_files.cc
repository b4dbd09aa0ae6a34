#include "sim/cluster/open_files.h"

namespace streamsim::sim {

FileId OpenFiles::open(std::uint32_t file) {
    FileId id = 0;
    if (free_.empty()) {
        id = static_cast<FileId>(handles_.size());
        handles_.emplace_back();
        free_.reserve(handles_.capacity());
    } else {
        id = free_.back();
        free_.pop_back();
    }
    OpenFile& handle = handles_[static_cast<std::uint32_t>(id)];
    const std::uint32_t opening = handle.opening + 1;
    handle = OpenFile{};
    handle.file = file;
    handle.opening = opening;
    return id;
}

void OpenFiles::close(FileId id) {
    handles_[static_cast<std::uint32_t>(id)].file = SimFile::kNone;
    free_.push_back(id);
}

bool OpenFiles::attach(Job& job, FileId id) const {
    const auto handle = static_cast<std::uint32_t>(id);
    if (id < 0 || handle >= handles_.size() || handles_[handle].file == SimFile::kNone) return false;
    job.handle = handle;
    job.opening = handles_[handle].opening;
    job.file = handles_[handle].file;
    return true;
}

OpenFile* OpenFiles::of(const Job& job) {
    OpenFile& handle = handles_[job.handle];
    return handle.opening == job.opening && handle.file != SimFile::kNone ? &handle : nullptr;
}

}  // namespace streamsim::sim
