#include "storage/errno_text.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace streamsim {
namespace {

const char* advice(int error) {
    switch (error) {
        case ENOSPC: return ": free some space there, or make fewer or shorter clips";
        case EDQUOT:
            return ": this user's or this directory's quota is used up; raise it, or make fewer or shorter "
                   "clips";
        case EACCES:
        case EPERM: return ": run as a user who may, or change the owner or the mode";
        case EROFS: return ": it is mounted read-only";
        case EMFILE: return ": raise the limit of open files (`ulimit -n`)";
        case ESTALE: return ": the server no longer knows it; mount it again";
        case EIO: return ": the storage reported an error; the kernel's log may say more";
        case EEXIST: return ": nothing is replaced";
        default: return "";
    }
}

}  // namespace

Error file_error(int error, std::string_view action, const std::string& path) {
    const char* const name = strerrorname_np(error);
    const char* const text = strerrordesc_np(error);
    return environment_error(fmt::format("cannot {} {}: {} ({}){}", action, path,
                                         text != nullptr ? text : "unknown error",
                                         name != nullptr ? name : std::to_string(error), advice(error)));
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
