#include <cmath>
#include <numeric>

#include "media/cuts/edit_readers.h"

namespace streamsim::media {
namespace {

int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

std::optional<FrameRate> otio_rate(double value) {
    if (!(value >= 1) || value > kOtioRateMax) return std::nullopt;
    const double whole = std::round(value);
    if (std::abs(value - whole) < 1e-6) return FrameRate{static_cast<std::int64_t>(whole), 1};
    const auto nominal = static_cast<std::int64_t>(std::ceil(value));
    if (std::abs(value - static_cast<double>(nominal) * 1000 / 1001) < 0.006)
        return FrameRate{nominal * 1000, 1001};
    const auto thousandths = static_cast<std::int64_t>(std::llround(value * 1000));
    const std::int64_t divisor = std::gcd(thousandths, std::int64_t{1000});
    return FrameRate{thousandths / divisor, 1000 / divisor};
}

std::string path_in_url(std::string_view url) {
    const std::size_t scheme = url.find("://");
    if (scheme != std::string_view::npos && scheme > 1) {
        url.remove_prefix(scheme + 3);
        const std::size_t host = url.find('/');
        url.remove_prefix(host == std::string_view::npos ? 0 : host);
    } else if (url.starts_with("file:")) {
        url.remove_prefix(5);
    }
    std::string out;
    for (std::size_t i = 0; i < url.size(); ++i) {
        const bool coded = url[i] == '%' && i + 2 < url.size() && hex(url[i + 1]) >= 2 && hex(url[i + 2]) >= 0;
        if (coded) {
            out += static_cast<char>(hex(url[i + 1]) * 16 + hex(url[i + 2]));
            i += 2;
        } else {
            out += url[i] == '\\' ? '/' : url[i];
        }
    }
    return out;
}

}  // namespace streamsim::media
