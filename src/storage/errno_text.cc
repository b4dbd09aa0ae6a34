#include "storage/errno_text.h"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "base/system/errno_name.h"

namespace streamsim::storage {
namespace {

/// By name: not every system defines each number.
constexpr std::pair<std::string_view, const char*> kAdvice[] = {
    {"ENOSPC", ": free some space there, or make fewer or shorter clips"},
    {"EDQUOT", ": this user's or this directory's quota is used up; raise it, or make fewer or shorter clips"},
    {"EACCES", ": run as a user who may, or change the owner or the mode"},
    {"EPERM", ": run as a user who may, or change the owner or the mode"},
    {"EROFS", ": it is mounted read-only"},
    {"EMFILE", ": raise the limit of open files (`ulimit -n`)"},
    {"ESTALE", ": the server no longer knows it; mount it again"},
    {"EIO", ": the storage reported an error; the kernel's log may say more"},
    {"EEXIST", ": existing files are not replaced"},
};

const char* advice(std::string_view name) {
    for (const auto& [known, text] : kAdvice) {
        if (known == name) return text;
    }
    return "";
}

}  // namespace

Error file_error(int error, std::string_view action, const std::string& path) {
    const char* const known = errno_name(error);
    const std::string name = known != nullptr ? known : std::to_string(error);
    const char* const text = errno_description(error);
    Error made = environment_error(fmt::format("cannot {} {}: {} ({}){}", action, path,
                                               text != nullptr ? text : "unknown error", name, advice(name)));
    made.inaccessible = error == ENOENT || error == ELOOP || error == EACCES || error == EPERM;
    made.no_room = name == "ENOSPC" || name == "EDQUOT";
    return made;
}

}  // namespace streamsim::storage
