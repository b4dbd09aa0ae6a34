#include "media/write/frames_ahead.h"

#include <algorithm>
#include <utility>

namespace streamsim::media {

FramesAhead::FramesAhead(std::vector<std::uint32_t> frame_bytes, Make make)
    : frame_bytes_(std::move(frame_bytes)), make_(std::move(make)) {
    const std::size_t largest = frame_bytes_.empty() ? 0 : *std::ranges::max_element(frame_bytes_);
    for (std::vector<std::byte>& buffer : buffers_) buffer.resize(largest);
    maker_.add([this] { make_all(); });
}

FramesAhead::~FramesAhead() {
    {
        const MutexLock lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    maker_.join();
}

std::span<std::byte> FramesAhead::next() {
    const std::uint64_t frame = taken_++;
    const auto bytes = buffer_of(frame);
    if (maker_.size() == 0) {
        make_(bytes, frame);
        return bytes;
    }
    MutexLock lock(mutex_);
    written_ = frame;
    changed_.notify_all();
    while (made_ <= frame) lock.wait(changed_);
    return bytes;
}

void FramesAhead::make_all() {
    for (std::uint64_t frame = 0; frame < count(); ++frame) {
        {
            MutexLock lock(mutex_);
            while (!stop_ && frame >= written_ + kBuffers) lock.wait(changed_);
            if (stop_) return;
        }
        make_(buffer_of(frame), frame);
        const MutexLock lock(mutex_);
        made_ = frame + 1;
        changed_.notify_all();
    }
}

std::span<std::byte> FramesAhead::buffer_of(std::uint64_t frame) {
    return std::span(buffers_[frame % kBuffers]).first(frame_bytes_[frame]);
}

}  // namespace streamsim::media
