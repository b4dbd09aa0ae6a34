#include "storage/local/local_options.h"

#include <fmt/format.h>

#include <algorithm>

namespace streamsim::storage {

DirectPolicy::DirectPolicy(const LocalOptions& options)
    : wanted_(options.direct),
      alignment_(options.direct ? options.alignment : 1),
      direct_(options.direct),
      notice_(options.notice) {}

DirectPolicy::Plan DirectPolicy::plan(const char* path) const {
    const auto found = directories_.find(directory(path));
    if (found != directories_.end()) return found->second;
    // Buffered reads use Plan::local too.
    return {wanted_, true, false};
}

const char* DirectPolicy::objection(const DirectAnswer& answer) const {
    if (!wanted_) return nullptr;
    if (answer.in_memory) return "the file system is in the memory of this computer";
    if (!answer.told) return nullptr;
    if (answer.alignment == 0) return "the file system reads such files through the page cache";
    if (answer.alignment > alignment_) return "direct reads there need a larger alignment than was planned";
    return nullptr;
}

void DirectPolicy::checked(const char* path, const DirectAnswer& answer) {
    directories_.try_emplace(std::string(directory(path)), Plan{wanted_, false, answer.told});
}

void DirectPolicy::refused(const char* path, Access access, const char* why) {
    directories_.insert_or_assign(std::string(directory(path)), Plan{false, false, false});
    direct_ = false;
    if (said_ || !notice_) return;
    said_ = true;
    notice_(
        fmt::format("direct I/O refused in {}: {}: {} through the page cache, which may answer instead of the "
                    "storage",
                    directory(path), why, access == Access::read ? "reading" : "reading and writing"));
}

std::string_view DirectPolicy::directory(const char* path) {
    const std::string_view all(path);
    const auto slash = all.rfind('/');
    if (slash == std::string_view::npos) return ".";
    return all.substr(0, std::max<std::size_t>(slash, 1));
}

}  // namespace streamsim::storage
