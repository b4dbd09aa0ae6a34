// The frames of one clip, made by a thread of their own while their writer waits for the storage. Inside media/
// only.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/system/mutex.h"
#include "base/system/thread_group.h"

namespace streamsim::media {

class FramesAhead {
public:
    /// The writer has one frame, and the next one is made meanwhile.
    static constexpr std::size_t kBuffers = 2;
    using Make = std::function<void(std::span<std::byte> into, std::uint64_t frame)>;

    /// `frame_bytes`: by frame. `make` fills in one frame after the other, in another thread if the system
    /// gives one.
    FramesAhead(std::vector<std::uint32_t> frame_bytes, Make make);
    /// Waits for the frame that is being made; makes no other one.
    ~FramesAhead();
    FramesAhead(const FramesAhead&) = delete;
    FramesAhead& operator=(const FramesAhead&) = delete;

    std::uint64_t count() const { return frame_bytes_.size(); }
    /// The next frame, until the next call. One thread. REQUIRES: not more than count() calls.
    std::span<std::byte> next();

private:
    void make_all();
    std::span<std::byte> buffer_of(std::uint64_t frame);

    const std::vector<std::uint32_t> frame_bytes_;
    const Make make_;
    std::array<std::vector<std::byte>, kBuffers> buffers_;
    std::uint64_t taken_ = 0;  // by next()
    Mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t made_ GUARDED_BY(mutex_) = 0;
    std::uint64_t written_ GUARDED_BY(mutex_) = 0;  // the buffers of the frames before are free
    bool stop_ GUARDED_BY(mutex_) = false;
    ThreadGroup maker_;  // at most one; empty: next() makes the frames
};

}  // namespace streamsim::media
