#include "media/own_files/checked_removal.h"

#include <fmt/format.h>

#include "base/path.h"
#include "base/prng.h"
#include "media/own_files/own_names.h"

namespace streamsim::media {
namespace {

constexpr std::string_view kRemoving = ".removing";

std::string ending_of(const FileInfo& info) {
    const std::uint64_t key =
        derive_seed(derive_seed(info.file_id, info.bytes), static_cast<std::uint64_t>(info.modified_s));
    return fmt::format(".{}{}", id_text(key), kRemoving);
}

}  // namespace

Result<bool> remove_seen(ByteStore& store,
                         const std::string& path,
                         const FileInfo& seen,
                         const IsOurs& is_ours) {
    if (!seen.is_regular()) return false;
    const std::string aside = path + ending_of(seen);
    const auto put = store.set_aside(path, aside);
    if (!put) return put.error();
    const auto now = store.stat(*put ? aside : path);
    Result<bool> ours = now && *now && is_unchanged(**now, seen);
    if (*ours && is_ours) ours = is_ours(*put ? aside : path);
    if (ours && *ours) {
        if (auto removed = store.remove(*put ? aside : path); !removed) return removed.error();
        return true;
    }
    if (*put && !store.rename(aside, path)) {
        return environment_error(
            fmt::format("{}: another file took this name during the removal; that file is kept as {}", path,
                        base_name(aside)));
    }
    return now ? ours : now.error();
}

Result<void> make_way(ByteStore& store, const std::string& path, const Error& foreign, const IsOurs& is_ours) {
    const auto info = store.stat(path);
    if (!info) return info.error();
    if (!*info) return {};
    const auto removed = remove_seen(store, path, **info, is_ours);
    if (!removed) return removed.error();
    return *removed ? Result<void>{} : foreign;
}

bool take_removing(std::string_view& name) {
    std::string_view rest = name;
    if (!take_id_and(kRemoving, rest) || rest.empty()) return false;
    name = rest;
    return true;
}

bool is_half_removed(std::string_view name, const FileInfo& info) {
    std::string_view rest = name;
    return take_removing(rest) && info.is_regular() && name.substr(rest.size()) == ending_of(info);
}

}  // namespace streamsim::media
