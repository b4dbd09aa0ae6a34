#include "target/target_places.h"

#include <uv.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/system/errno_name.h"

namespace streamsim::target {
namespace {

constexpr std::size_t kPlacesMax = 256;
constexpr auto kInterval = std::chrono::milliseconds(200);
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

/// What has become of it, as a sentence goes on; empty: it is there, or cannot be looked at.
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
    // Of a network file system that says that nobody answers, which may be the network's. Nor does a lack of
    // permission, or of this computer's, say anything about it.
    const bool drive = name != nullptr && std::string_view(name) == "EIO" && was.has_block_device;
    return drive ? "its drive does not answer (EIO)" : "";
}

}  // namespace

std::string directory_of(const Clip& clip) {
    const std::string directory = above(clip.index->path_of(0));
    return directory.empty() ? "." : directory;
}

std::vector<std::string> directories_of(const std::vector<const Clip*>& clips) {
    std::set<std::string> all;
    for (const Clip* clip : clips) all.insert(directory_of(*clip));
    return {all.begin(), all.end()};
}

std::uint64_t slots_failed(const GrowingList<StreamProgress>& streams) {
    std::uint64_t sum = 0;
    const std::size_t count = streams.size();
    std::vector<Miss> misses;
    for (std::size_t i = 0; i < count; ++i) {
        misses.clear();
        streams[i].misses.read(misses);
        const bool failed = std::any_of(misses.begin(), misses.end(), [](const Miss& miss) {
            return !miss.stall && miss.kind == FrameKind::failed;
        });
        if (failed) sum += streams[i].bad.load(std::memory_order_relaxed);
    }
    return sum;
}

TargetPlaces::TargetPlaces(const std::vector<std::string>& directories) {
    const std::set<std::string> each(directories.begin(), directories.end());
    for (const std::string& directory : each) {
        if (places_.size() >= kPlacesMax) return;
        Place place{directory, {}};
        for (std::string path = without_end_slashes(directory); !path.empty(); path = above(path)) {
            const host::PlaceAnswer answer = host::place_identity_of(path);
            if (!answer.identity) break;
            place.parts.insert(place.parts.begin(), {path, *answer.identity});
        }
        if (!place.parts.empty()) places_.push_back(std::move(place));
    }
}

std::vector<judge::VanishedPlace> TargetPlaces::vanished() const {
    std::vector<judge::VanishedPlace> out;
    for (const Place& place : places_) {
        const Part& own = place.parts.back();
        if (what_became(own.identity, host::place_identity_of(own.path)).empty()) continue;
        for (const Part& part : place.parts) {
            std::string how = what_became(part.identity, host::place_identity_of(part.path));
            if (how.empty()) continue;
            out.push_back({place.directory, part.path, std::move(how), 0, 0});
            break;
        }
    }
    return out;
}

std::vector<judge::VanishedPlace> TargetPlaces::vanished(const std::shared_ptr<const TargetPlaces>& places,
                                                         Duration timeout) {
    struct Look {
        std::mutex mutex;
        std::condition_variable done;
        std::optional<std::vector<judge::VanishedPlace>> found;  // protected by mutex
    };
    const auto look = std::make_shared<Look>();
    try {
        std::thread([places, look] {
            auto found = places->vanished();
            const std::lock_guard lock(look->mutex);
            look->found = std::move(found);
            look->done.notify_all();
        }).detach();  // a file system that does not answer keeps it
    } catch (const std::system_error&) {
        return {};  // no thread: nothing is known
    }
    std::unique_lock lock(look->mutex);
    look->done.wait_for(lock, std::chrono::nanoseconds(timeout.ns),
                        [&look] { return look->found.has_value(); });
    return look->found ? std::move(*look->found) : std::vector<judge::VanishedPlace>();
}

PlaceWatch::PlaceWatch(std::shared_ptr<const TargetPlaces> places, std::function<std::uint64_t()> failures)
    : places_(std::move(places)),
      failures_(std::move(failures)),
      all_there_ns_(now_ns()),
      thread_([this] { watch(); }) {}

PlaceWatch::~PlaceWatch() {
    if (thread_.joinable()) (void)stop(false);
}

std::vector<judge::VanishedPlace> PlaceWatch::stop(bool look_again) {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
    if (look_again) look();
    return std::move(vanished_);
}

void PlaceWatch::watch() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, kInterval, [this] { return stopping_; })) {
        lock.unlock();
        look();
        lock.lock();
    }
}

/// Where more has failed since the last look.
void PlaceWatch::look() {
    const std::uint64_t failed = failures_();
    if (failed == failed_) return;
    failed_ = failed;
    const std::int64_t at_ns = now_ns();
    const auto gone = TargetPlaces::vanished(places_, kIdentityTimeout);
    if (gone.empty() && vanished_.empty()) all_there_ns_ = at_ns;
    for (judge::VanishedPlace each : gone) {
        const bool known = std::any_of(
            vanished_.begin(), vanished_.end(),
            [&each](const judge::VanishedPlace& other) { return other.directory == each.directory; });
        if (known) continue;
        each.there_ns = all_there_ns_;
        each.gone_ns = at_ns;
        vanished_.push_back(std::move(each));
    }
}

}  // namespace streamsim::target
