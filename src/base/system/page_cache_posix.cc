// By mincore(2), which takes other types on macOS than on Linux.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#endif

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/system/page_cache.h"
#include "base/system/proc_text.h"

namespace streamsim {
namespace {

/// Fills in a byte for each page. False: refused.
template <typename Address, typename Byte>
bool ask(int (*call)(Address, std::size_t, Byte*),
         void* view,
         std::size_t length,
         std::vector<unsigned char>& pages) {
    return call(view, length, reinterpret_cast<Byte*>(pages.data())) == 0;
}

#ifdef __linux__
bool acts_as_owner_of_all() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
    return syscall(SYS_capget, &header, sets) == 0 &&
           (sets[CAP_TO_INDEX(CAP_FOWNER)].effective & CAP_TO_MASK(CAP_FOWNER)) != 0;
}

/// False: the owner has no number in this user namespace, where no capability counts for its files.
bool is_mapped(uid_t owner) {
    const auto stand_in = number_after(read_proc_text("/proc/sys/kernel/overflowuid").value_or(""), "");
    return owner != stand_in.value_or(65534);
}

/// False: mincore(2) calls every page cached (since Linux 5.2), as this user neither owns the file nor may
/// write it.
bool is_told(int file, uid_t owner) {
    if (owner == geteuid() || (is_mapped(owner) && acts_as_owner_of_all())) return true;
    return faccessat(AT_FDCWD, ("/proc/self/fd/" + std::to_string(file)).c_str(), W_OK, AT_EACCESS) == 0;
}
#else
bool is_told(int /*file*/, uid_t /*owner*/) {
    return true;
}
#endif

}  // namespace

std::optional<CachedPart> cached_part_of(int file, std::uint64_t offset, std::uint64_t bytes) {
    struct stat facts {};
    if (fstat(file, &facts) != 0 || facts.st_size <= 0) return std::nullopt;
    if (!is_told(file, facts.st_uid)) return std::nullopt;
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    constexpr std::uint64_t kWindow = std::uint64_t{1} << 30;
    const auto size = static_cast<std::uint64_t>(facts.st_size);
    if (offset >= size || bytes == 0) return std::nullopt;
    CachedPart part{0, std::min(bytes, size - offset)};
    const std::uint64_t end = offset + part.bytes;
    std::vector<unsigned char> resident;
    for (std::uint64_t from = offset / page * page; from < end; from += kWindow) {
        const std::uint64_t length = std::min(kWindow, end - from);
        void* const view = mmap(nullptr, length, PROT_READ, MAP_SHARED, file, static_cast<off_t>(from));
        if (view == MAP_FAILED) return std::nullopt;
        resident.assign((length + page - 1) / page, 0);
        const bool told = ask(&mincore, view, length, resident);
        munmap(view, length);
        if (!told) return std::nullopt;
        for (std::size_t i = 0; i < resident.size(); ++i) {
            const std::uint64_t at = from + i * page;
            if ((resident[i] & 1U) != 0) part.cached += std::min(at + page, end) - std::max(at, offset);
        }
    }
    return part;
}

}  // namespace streamsim
