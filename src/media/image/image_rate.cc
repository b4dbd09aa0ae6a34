#include "media/image/image_rate.h"

#include <cmath>
#include <numeric>

namespace streamsim::media {

std::optional<FrameRate> rate_from(double frames_per_s) {
    if (!std::isfinite(frames_per_s) || frames_per_s < 0.01 || frames_per_s > 1000) return std::nullopt;
    for (const std::int64_t nominal : {24, 30, 48, 60, 120}) {
        const double exact = static_cast<double>(nominal) * 1000 / 1001;
        if (std::abs(frames_per_s - exact) < 0.0002 * exact) return FrameRate{nominal * 1000, 1001};
    }
    const double whole = std::round(frames_per_s);
    if (whole > 0 && std::abs(frames_per_s - whole) < 0.0002 * whole)
        return FrameRate{static_cast<std::int64_t>(whole), 1};
    const auto thousandths = static_cast<std::int64_t>(std::round(frames_per_s * 1000));
    const std::int64_t common = std::gcd(thousandths, std::int64_t{1000});
    return FrameRate{thousandths / common, 1000 / common};
}

}  // namespace streamsim::media
