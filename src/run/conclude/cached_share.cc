#include "run/conclude/cached_share.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/system/utf8_path.h"
#include "host/mount.h"

namespace streamsim::run {

std::optional<double> cached_share(const std::vector<const Clip*>& clips) {
    constexpr std::uint64_t kFilesOfClip = 64;
    double cached = 0;
    double bytes = 0;
    for (const Clip* clip : clips) {
        const std::uint64_t files = clip->index->file_per_frame() ? clip->index->count() : 1;
        const std::uint64_t step = std::max<std::uint64_t>(files / kFilesOfClip, 1);
        for (std::uint64_t i = 0; i < files; i += step) {
            const std::string path = clip->index->path_of(i);
            const auto file = host::cached_bytes(path.c_str());
            if (!file) continue;
            std::error_code error;
            bytes += static_cast<double>(std::filesystem::file_size(utf8_path(path), error));
            cached += static_cast<double>(*file);
        }
    }
    if (bytes <= 0) return std::nullopt;
    return cached / bytes;
}

}  // namespace streamsim::run
