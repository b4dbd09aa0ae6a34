// The locations of a target's media: the directories that streams play from, and whether each is still the same
// one as at the start. A mount that was taken away, a parent that was renamed or a drive that was unplugged is
// no damage of the media.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/growing_list.h"
#include "base/system/mutex.h"
#include "base/time.h"
#include "host/mount.h"
#include "streamsim/media.h"
#include "streamsim/progress.h"
#include "streamsim/run_result.h"
#include "streamsim/system_history.h"
#include "target/target.h"

namespace streamsim::target {

/// Directories, each with its parents, as they were at the start.
class TargetLocations {
public:
    /// Reads the identities of the directories now. Leaves out a directory that does not exist, and all beyond
    /// some hundred.
    explicit TargetLocations(const std::vector<std::string>& directories);

    /// The directories that are gone, each with the path that vanished: the directory itself, or the topmost
    /// of its parents. Blocks as long as the file system does.
    std::vector<VanishedLocation> vanished() const;
    /// As above; empty where the file system does not answer within `timeout`.
    static std::vector<VanishedLocation> vanished(const std::shared_ptr<const TargetLocations>& locations,
                                                  Duration timeout);

private:
    struct Part {
        std::string path;
        host::PlaceIdentity identity;
    };
    struct Location {
        std::string directory;
        std::vector<Part> parts;  // from the top to the directory itself
    };

    std::vector<Location> locations_;
};

/// Checks the directories when frames fail, while streams play: a directory may be back when play has ended.
class LocationWatch {
public:
    /// `failures` returns how many slots have failed so far; it is called a few times a second.
    LocationWatch(std::shared_ptr<const TargetLocations> locations, std::function<std::uint64_t()> failures);
    ~LocationWatch();
    LocationWatch(const LocationWatch&) = delete;
    LocationWatch& operator=(const LocationWatch&) = delete;

    /// Ends and returns what vanished. `check_again`: where slots failed since the last check.
    std::vector<VanishedLocation> stop(bool check_again = true);

private:
    void watch();
    void check();

    const std::shared_ptr<const TargetLocations> locations_;
    const std::function<std::uint64_t()> failures_;
    std::uint64_t failed_ = 0;
    std::int64_t all_there_ns_;  // the last check that found every location
    std::vector<VanishedLocation> vanished_;
    Mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ GUARDED_BY(mutex_) = false;
    std::thread thread_;
};

/// The same for two targets that are one directory or clip.
std::string location_of(const Target& target);

/// The directory of the clip's first file; "." where its name has no directory.
std::string directory_of(const Clip& clip);
std::vector<std::string> directories_of(const std::vector<const Clip*>& clips);
/// Those of the clips' directories, by directory. Each device is looked at once.
std::map<std::string, MountFacts> mounts_of(const std::vector<const Clip*>& clips);

/// Missed slots of the streams whose last misses contain failed ones; grows when more slots fail.
std::uint64_t slots_failed(const GrowingList<StreamProgress>& streams);

}  // namespace streamsim::target
