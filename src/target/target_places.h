// Whether the directories that are played from are still there, and are the same ones as at the start. What
// has vanished (a mount that was taken away, a parent that was renamed, a drive that was unplugged) is no
// damage of the media.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/growing_list.h"
#include "base/time.h"
#include "host/place_identity.h"
#include "judge/evidence.h"
#include "streamsim/media.h"
#include "streamsim/progress.h"

namespace streamsim::target {

/// Directories, each with those above it, as they were.
class TargetPlaces {
public:
    /// Reads their identities now. A directory that is not there is left out, and so are those beyond some
    /// hundred.
    explicit TargetPlaces(const std::vector<std::string>& directories);

    /// Those that are not there any more, with what it is that vanished: the directory itself, or the topmost
    /// of those above it. Blocks as long as the file system does; nothing of it is more than one look at each.
    std::vector<judge::VanishedPlace> vanished() const;
    /// The same, within so much time; empty where the file system did not answer.
    static std::vector<judge::VanishedPlace> vanished(const std::shared_ptr<const TargetPlaces>& places,
                                                      Duration timeout);

private:
    struct Part {
        std::string path;
        host::PlaceIdentity identity;
    };
    struct Place {
        std::string directory;
        std::vector<Part> parts;  // from the top to the directory itself
    };

    std::vector<Place> places_;
};

/// Checks the directories when frames fail, while streams play: a directory may be back when play has ended.
class PlaceWatch {
public:
    /// `failures` says how many slots have failed so far; it is asked a few times a second.
    PlaceWatch(std::shared_ptr<const TargetPlaces> places, std::function<std::uint64_t()> failures);
    ~PlaceWatch();
    PlaceWatch(const PlaceWatch&) = delete;
    PlaceWatch& operator=(const PlaceWatch&) = delete;

    /// Ends, checks once more where anything failed and there is time for it, and returns what vanished.
    std::vector<judge::VanishedPlace> stop(bool look_again = true);

private:
    void watch();
    void look();

    const std::shared_ptr<const TargetPlaces> places_;
    const std::function<std::uint64_t()> failures_;
    std::uint64_t failed_ = 0;
    std::int64_t all_there_ns_;  // the last look at which nothing was missing
    std::vector<judge::VanishedPlace> vanished_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;  // protected by mutex_
    std::thread thread_;
};

/// Where its first file is; "." where the name has no directory.
std::string directory_of(const Clip& clip);
std::vector<std::string> directories_of(const std::vector<const Clip*>& clips);

/// Slots of streams among whose last misses some have failed; grows when more fail.
std::uint64_t slots_failed(const GrowingList<StreamProgress>& streams);

}  // namespace streamsim::target
