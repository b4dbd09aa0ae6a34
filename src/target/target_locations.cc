#include "target/target_locations.h"

#include <uv.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/path.h"
#include "base/system/errno_name.h"
#include "base/system/utf8_path.h"

namespace streamsim::target {
namespace {

constexpr std::size_t kLocationsMax = 256;
constexpr auto kCheckInterval = std::chrono::milliseconds(200);
constexpr Duration kIdentityTimeout = seconds(2);

std::int64_t now_ns() {
    return static_cast<std::int64_t>(uv_hrtime());  // the clock of every real loop
}

/// "/a/b" of "/a/b/c", "/" of "/a"; empty: there is none above it.
std::string above(const std::string& path) {
    const std::size_t slash = path.find_last_of('/');
    if (slash == std::string::npos || path == "/") return {};
    return slash == 0 ? "/" : path.substr(0, slash);
}

std::string without_end_slashes(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
}

/// The end of a sentence about a path that has vanished; empty: it exists, or its state is unknown.
std::string what_became(const host::PlaceIdentity& was, const host::PlaceAnswer& now) {
    if (now.identity) {
        if (*now.identity == was) return {};
        if (was.has_block_device && !now.identity->has_block_device) return "its drive is not there any more";
        return now.identity->mount != was.mount || now.identity->device != was.device
                   ? "the file system that was mounted there is not mounted any more"
                   : "another directory has its name";
    }
    const char* const name = errno_name(now.error);  // not every system has all of them
    for (const auto& [error, how] :
         {std::pair("ENOENT", "it is not there any more"), std::pair("ENOTDIR", "it is not there any more"),
          std::pair("ENOTCONN", "the program that served it has ended (ENOTCONN)"),
          std::pair("ESTALE", "its server does not have it any more (ESTALE)"),
          std::pair("ENODEV", "its drive is not there any more"),
          std::pair("ENXIO", "its drive is not there any more")}) {
        if (name != nullptr && std::string_view(name) == error) return how;
    }
    // A network file system also answers EIO, and the network may be the reason. A lack of permission, or of a
    // resource of this computer, says nothing about the path.
    const bool drive = name != nullptr && std::string_view(name) == "EIO" && was.has_block_device;
    return drive ? "its drive does not answer (EIO)" : "";
}

}  // namespace

std::string location_of(const Target& target) {
    if (target.kind == Target::Kind::remote) return target.name();  // a URL can be typed in several ways
    if (target.kind != Target::Kind::local) return target.url;
    std::error_code error;
    const auto path = std::filesystem::weakly_canonical(utf8_path(target.path), error);
    if (error) return target.path;
    return utf8_generic_text(path.has_filename() ? path : path.parent_path());  // "media/" is "media"
}

std::string directory_of(const Clip& clip) {
    return parent_of(clip.index->path_of(0));
}

std::vector<std::string> directories_of(const std::vector<const Clip*>& clips) {
    std::set<std::string> all;
    for (const Clip* clip : clips) all.insert(directory_of(*clip));
    return {all.begin(), all.end()};
}

std::map<std::string, MountFacts> mounts_of(const std::vector<const Clip*>& clips) {
    std::map<std::string, MountFacts> mounts;
    std::map<std::uint64_t, std::optional<MountFacts>> of_device;
    for (const std::string& directory : directories_of(clips)) {
        const auto place = host::place_identity_of(directory).identity;
        if (!place) continue;
        const auto [known, first] = of_device.try_emplace(place->device);
        if (first) known->second = host::mount_of(directory);
        if (known->second) mounts.emplace(directory, *known->second);
    }
    return mounts;
}

std::uint64_t slots_failed(const GrowingList<StreamProgress>& streams) {
    std::uint64_t sum = 0;
    std::vector<Miss> misses;
    for (const StreamProgress& stream : streams) {
        misses.clear();
        stream.misses.read(misses);
        const bool failed = std::any_of(misses.begin(), misses.end(), [](const Miss& miss) {
            return !miss.stall && miss.kind == FrameKind::failed;
        });
        if (failed) sum += stream.bad.load(std::memory_order_relaxed);
    }
    return sum;
}

TargetLocations::TargetLocations(const std::vector<std::string>& directories) {
    const std::set<std::string> each(directories.begin(), directories.end());
    for (const std::string& directory : each) {
        if (locations_.size() >= kLocationsMax) return;
        Location location{directory, {}};
        for (std::string path = without_end_slashes(directory); !path.empty(); path = above(path)) {
            const host::PlaceAnswer answer = host::place_identity_of(path);
            if (!answer.identity) break;
            location.parts.insert(location.parts.begin(), {path, *answer.identity});
        }
        if (!location.parts.empty()) locations_.push_back(std::move(location));
    }
}

std::vector<VanishedLocation> TargetLocations::vanished() const {
    std::vector<VanishedLocation> out;
    for (const Location& location : locations_) {
        const Part& own = location.parts.back();
        if (what_became(own.identity, host::place_identity_of(own.path)).empty()) continue;
        for (const Part& part : location.parts) {
            std::string how = what_became(part.identity, host::place_identity_of(part.path));
            if (how.empty()) continue;
            out.push_back({location.directory, part.path, std::move(how), 0, 0});
            break;
        }
    }
    return out;
}

std::vector<VanishedLocation> TargetLocations::vanished(const std::shared_ptr<const TargetLocations>& locations,
                                                        Duration timeout) {
    const auto promise = std::make_shared<std::promise<std::vector<VanishedLocation>>>();
    auto found = promise->get_future();
    try {
        // A file system that does not answer keeps the thread.
        std::thread([locations, promise] { promise->set_value(locations->vanished()); }).detach();
    } catch (const std::system_error&) {
        return {};  // no thread: nothing is known
    }
    if (found.wait_for(std::chrono::nanoseconds(timeout.ns)) != std::future_status::ready) return {};
    return found.get();
}

LocationWatch::LocationWatch(std::shared_ptr<const TargetLocations> locations,
                             std::function<std::uint64_t()> failures)
    : locations_(std::move(locations)),
      failures_(std::move(failures)),
      all_there_ns_(now_ns()),
      thread_([this] { watch(); }) {}

LocationWatch::~LocationWatch() {
    if (thread_.joinable()) (void)stop(false);
}

std::vector<VanishedLocation> LocationWatch::stop(bool check_again) {
    {
        const MutexLock lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
    if (check_again) check();
    return std::move(vanished_);
}

void LocationWatch::watch() {
    MutexLock lock(mutex_);
    while (!stopping_) {
        if (lock.wait_for(wake_, kCheckInterval) || stopping_) continue;
        lock.unlock();
        check();
        lock.lock();
    }
}

/// Checks the locations where slots have failed since the last check.
void LocationWatch::check() {
    const std::uint64_t failed = failures_();
    if (failed == failed_) return;
    failed_ = failed;
    const std::int64_t at_ns = now_ns();
    const auto gone = TargetLocations::vanished(locations_, kIdentityTimeout);
    if (gone.empty() && vanished_.empty()) all_there_ns_ = at_ns;
    for (VanishedLocation each : gone) {
        const bool known =
            std::any_of(vanished_.begin(), vanished_.end(),
                        [&each](const VanishedLocation& other) { return other.directory == each.directory; });
        if (known) continue;
        each.there_ns = all_there_ns_;
        each.gone_ns = at_ns;
        vanished_.push_back(std::move(each));
    }
}

}  // namespace streamsim::target
