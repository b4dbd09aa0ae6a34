#include "storage/local_options.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

namespace streamsim {
namespace {

constexpr std::uint32_t kUsualAlignment = 4096;

bool reports_alignment(const struct statx& answer) {
    return (answer.stx_mask & STATX_DIOALIGN) != 0;
}

std::uint32_t alignment_of(const struct statx& answer) {
    return std::max(answer.stx_dio_mem_align, answer.stx_dio_offset_align);
}

}  // namespace

std::uint32_t direct_alignment(const std::string& file) {
    struct statx answer {};
    if (statx(AT_FDCWD, file.c_str(), AT_STATX_DONT_SYNC, STATX_DIOALIGN, &answer) != 0 ||
        !reports_alignment(answer)) {
        return kUsualAlignment;
    }
    return std::max<std::uint32_t>(alignment_of(answer), 1);
}

void raise_open_file_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);  // refused: opens beyond the old limit fail with EMFILE and say so
}

DirectPolicy::DirectPolicy(const LocalOptions& options)
    : wanted_(options.direct),
      alignment_(options.direct ? options.alignment : 1),
      direct_(options.direct),
      notice_(options.notice) {}

DirectPolicy::Plan DirectPolicy::plan(const char* path) const {
    const auto found = directories_.find(directory(path));
    if (found != directories_.end()) return found->second;
    // Whether the file system is on this machine is worth knowing for buffered reads too.
    return {wanted_, true, false};
}

const char* DirectPolicy::objection(const struct statx& answer) const {
    if (!wanted_ || !reports_alignment(answer)) return nullptr;
    if (alignment_of(answer) == 0) return "the file system reads such files through the page cache";
    if (alignment_of(answer) > alignment_) return "direct reads there need a larger alignment than was planned";
    return nullptr;
}

void DirectPolicy::checked(const char* path, const struct statx& answer) {
    directories_.try_emplace(std::string(directory(path)), Plan{wanted_, false, reports_alignment(answer)});
}

void DirectPolicy::refused(const char* path, const char* why) {
    directories_.insert_or_assign(std::string(directory(path)), Plan{false, false, false});
    direct_ = false;
    if (said_ || !notice_) return;
    said_ = true;
    notice_(
        fmt::format("direct I/O refused in {}: {}: reading through the page cache, which may answer instead of "
                    "the storage",
                    directory(path), why));
}

std::string_view DirectPolicy::directory(const char* path) {
    const std::string_view all(path);
    const auto slash = all.rfind('/');
    if (slash == std::string_view::npos) return ".";
    return all.substr(0, std::max<std::size_t>(slash, 1));
}

}  // namespace streamsim
