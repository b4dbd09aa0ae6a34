#include "media/own_files/checked_removal.h"

#include <fmt/format.h>

#include "base/path.h"
#include "base/prng.h"

namespace streamsim::media {
namespace {

constexpr std::string_view kRemoving = ".removing";
constexpr std::size_t kDigits = 16;

std::string ending_of(const FileInfo& info) {
    const std::uint64_t key =
        derive_seed(derive_seed(info.file_id, info.bytes), static_cast<std::uint64_t>(info.modified_s));
    return fmt::format(".{:016x}{}", key, kRemoving);
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
    const bool same = now && *now && is_unchanged(**now, seen) && (!*put || !is_ours || is_ours(aside));
    if (same) {
        if (auto removed = store.remove(*put ? aside : path); !removed) return removed.error();
        return true;
    }
    if (*put && !store.rename(aside, path)) {
        return environment_error(
            fmt::format("{}: another file took this name during the removal; that file is kept as {}", path,
                        base_name(aside)));
    }
    return false;
}

bool take_removing(std::string_view& name) {
    if (!name.ends_with(kRemoving) || name.size() <= kRemoving.size() + kDigits + 1) return false;
    const std::string_view digits = name.substr(name.size() - kRemoving.size() - kDigits, kDigits);
    if (digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return false;
    const std::size_t dot = name.size() - kRemoving.size() - kDigits - 1;
    if (name[dot] != '.') return false;
    name.remove_suffix(name.size() - dot);
    return true;
}

bool is_half_removed(std::string_view name, const FileInfo& info) {
    std::string_view rest = name;
    return take_removing(rest) && info.is_regular() && name.substr(rest.size()) == ending_of(info);
}

}  // namespace streamsim::media
