#include <cstring>

#include "base/system/errno_name.h"

namespace streamsim {

const char* errno_name(int error) {
    return strerrorname_np(error);
}

const char* errno_description(int error) {
    return strerrordesc_np(error);
}

std::optional<int> errno_from_name(std::string_view name) {
    constexpr int kLast = 133;  // EHWPOISON, the last one on Linux
    for (int error = 1; error <= kLast; ++error) {
        const char* const candidate = strerrorname_np(error);
        if (candidate != nullptr && name == candidate) return error;
    }
    return std::nullopt;
}

}  // namespace streamsim
