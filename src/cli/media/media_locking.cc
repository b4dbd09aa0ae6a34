// MediaRun: when the media set of a run is locked, and how.
//
//     set, shared       from the search for clips to the end of the command; also while recorders and meters
//                       write what is theirs alone
//     set, exclusive    while clips are made; then shared without a gap in which others could clean
//     load, exclusive   while a working set is made, and to the end where its meters write
#include <fmt/format.h>

#include <filesystem>

#include "base/system/utf8_path.h"
#include "cli/media/media_run.h"
#include "media/own_files/own_names.h"

namespace streamsim::cli {
namespace {

/// The media set that a path is in: up to its last component of that name. Empty: in none.
std::string set_host_window(const target::Target& target) {
    std::string path = target.name();
    if (target.kind == target::Target::Kind::local) {  // the way to it may lead through links
        std::error_code error;
        const auto canonical = std::filesystem::weakly_canonical(utf8_path(path), error);
        if (!error) path = canonical.string();
    }
    const std::string name = std::string("/") + media::kMediaDirectory;
    for (std::size_t at = path.rfind(name); at != std::string::npos && at > 0; at = path.rfind(name, at - 1)) {
        const std::size_t end = at + name.size();
        if (end == path.size() || path[end] == '/') return path.substr(0, end);
    }
    return {};
}

}  // namespace

Result<void> MediaRun::hold_media(const run::PlayRequest& request, bool writes) {
    if (store_ == nullptr || locks_.set_is_held()) return {};
    const bool ours = writes || !request.formats.empty();
    const std::string root = ours ? media::media_root(request.target.name()) : set_host_window(request.target);
    if (root.empty()) return {};
    if (!writes) {
        const auto there =
            in_background<bool>([this, root] { return media::media_set_is_there(*store_, root); });
        if (!there && there.error().kind == ErrorKind::interrupted) return there.error();
        // What is wrong with a set is said by those who look for clips in it; nothing is put into it here.
        if (!there || !*there) return {};
    }
    return locks_.hold_set(store_, root, LockMode::shared);
}

Result<MediaRun::Missing> MediaRun::find_missing(const run::PlayRequest& request,
                                                 const PlanMedia& media,
                                                 std::uint64_t record_bytes) {
    return in_background<Missing>([this, request, media, record_bytes]() -> Result<Missing> {
        auto load = run::missing_load_set(*store_, request);
        if (!load) return load.error();
        auto plans = media();
        if (!plans) return plans.error();
        auto need = run::need_of_play(*store_, request.target.name(), *load, *plans, record_bytes);
        if (!need) return need.error();
        return Missing{std::move(*plans), std::move(*need)};
    });
}

Result<void> MediaRun::write_missing(const run::PlayRequest& request,
                                     const PlanMedia& media,
                                     std::uint64_t record_bytes) {
    if (auto held = hold_media(request, false); !held) return held;
    auto missing = find_missing(request, media, record_bytes);
    if (!missing) return missing.error();
    if (auto allowed = consent(missing->need); !allowed) return allowed;
    if (!missing->media.empty()) {
        const std::uint64_t allowed_bytes = missing->need.bytes();
        const std::string root = media::media_root(request.target.name());
        if (auto held = locks_.hold_set(store_, root, LockMode::exclusive); !held) return held;
        missing = find_missing(request, media,
                               record_bytes);  // others may have made or removed media in the meantime
        if (!missing) return missing.error();
        if (missing->need.bytes() > allowed_bytes) {
            if (auto allowed = consent(missing->need); !allowed) return allowed;
        }
        if (auto written = write_media(missing->media); !written) return written;
        if (auto shared = locks_.share_set(); !shared) return shared;
    }
    return request.meters.empty() ? Result<void>() : write_load_sets(request);
}

Result<void> MediaRun::write_load_sets(const run::PlayRequest& request) {
    if (auto held = hold_media(request, true); !held) return held;
    const auto names = run::working_sets_of(request);
    if (auto held = locks_.hold_load(names.read, LockMode::shared); !held) return held;
    if (auto held = locks_.hold_load(names.written, LockMode::exclusive); !held) return held;
    const auto find_missing = [this, request]() -> Result<media::LoadSetPlan> {
        if (auto removed = run::remove_created_files(*store_, request); !removed) return removed.error();
        return run::missing_load_set(*store_, request);
    };
    auto plan = in_background<media::LoadSetPlan>(find_missing);
    if (!plan) return plan.error();
    if (plan->nothing_to_do()) return {};
    if (!names.read.empty()) {
        if (auto held = locks_.hold_load(names.read, LockMode::exclusive); !held) return held;
        plan = in_background<media::LoadSetPlan>(find_missing);  // others may have made it in the meantime
        if (!plan) return plan.error();
    }
    if (auto written = write_load(*plan); !written) return written;
    locks_.share_load(names.read);
    return {};
}

}  // namespace streamsim::cli
