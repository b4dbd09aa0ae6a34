#include "storage/uring/ring.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>

#include "base/check.h"
#include "base/system/errno_name.h"

namespace streamsim::storage {
namespace {

// The kernel registers at most 1 GiB as one buffer. Neighbours overlap, so that every read that is no longer
// than the overlap lies in one buffer; the pages are pinned only once.
constexpr std::size_t kBufferBytes = std::size_t{1} << 30;
constexpr std::size_t kOverlapBytes = std::size_t{64} << 20;

std::string why_not(int error) {
    switch (error) {
        case ENOSYS: return "this kernel has no io_uring";
        case EPERM:
        case EACCES:
            return "io_uring is forbidden here (sysctl kernel.io_uring_disabled, or the seccomp profile of a "
                   "container)";
        case ENOMEM: return "no memory may be locked for an io_uring (raise `ulimit -l`)";
        case EMFILE:
        case ENFILE: return "too many open files for an io_uring (raise `ulimit -n`)";
        default: return fmt::format("the kernel refused an io_uring: {}", errno_description(error));
    }
}

}  // namespace

Result<std::unique_ptr<Ring>> Ring::make(std::uint32_t requests) {
    // A disabled ring belongs to no thread yet: the thread that runs the loop enables it. With DEFER_TASKRUN
    // the kernel finishes completions when this thread polls for them, and never interrupts it; older kernels
    // have fewer flags.
    constexpr std::array<unsigned, 3> kFlagSets = {
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
        IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG, 0};
    const std::uint32_t entries = std::bit_ceil(std::clamp<std::uint32_t>(requests, 64, 4096));
    std::unique_ptr<Ring> ring(new Ring);
    int result = -EINVAL;
    for (std::size_t i = 0; i < kFlagSets.size() && result == -EINVAL; ++i) {
        io_uring_params params{};
        params.flags = kFlagSets[i] | IORING_SETUP_R_DISABLED | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP;
        params.cq_entries = std::bit_ceil(std::max(entries, requests) * 2);
        result = io_uring_queue_init_params(entries, &ring->ring_, &params);
    }
    if (result < 0) {
        ring->ring_.ring_fd = -1;
        return environment_error(why_not(-result));
    }
    if (io_uring_probe* const probe = io_uring_get_probe_ring(&ring->ring_)) {
        for (int i = 0; i <= probe->last_op; ++i) {
            ring->operations_.set(static_cast<std::size_t>(i), io_uring_opcode_supported(probe, i) != 0);
        }
        io_uring_free_probe(probe);
    }
    return ring;
}

Ring::~Ring() {
    if (ring_.ring_fd >= 0) io_uring_queue_exit(&ring_);
}

void Ring::enable(std::uint32_t workers) {
    // liburing 2.3 declares io_uring_enable_rings() and does not export it.
    const long result =
        syscall(__NR_io_uring_register, ring_.ring_fd, IORING_REGISTER_ENABLE_RINGS, nullptr, 0);
    STREAMSIM_CHECK(result == 0, "a disabled ring can be enabled");
    enabled_ = true;
    // The default is four workers for each processor: a few reads that hang would delay all others. Kernels
    // before 5.15 ignore this.
    std::array<unsigned, 2> bounded_and_unbounded = {workers, workers};
    io_uring_register_iowq_max_workers(&ring_, bounded_and_unbounded.data());
}

io_uring_sqe& Ring::entry() {
    io_uring_sqe* entry = io_uring_get_sqe(&ring_);
    // EAGAIN: the kernel is short of memory for requests until some complete.
    while (entry == nullptr) {
        submit();
        entry = io_uring_get_sqe(&ring_);
    }
    ++waiting_;
    return *entry;
}

void Ring::submit(bool wait) {
    const int result = io_uring_submit_and_wait(&ring_, wait ? 1 : 0);
    STREAMSIM_CHECK(result >= 0 || result == -EAGAIN || result == -EBUSY || result == -EINTR,
                    "the kernel takes submissions");
    waiting_ = io_uring_sq_ready(&ring_);
}

void Ring::fetch() {
    const unsigned flags = IO_URING_READ_ONCE(*ring_.sq.kflags);
    if ((flags & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0) io_uring_get_events(&ring_);
}

int Ring::register_memory(std::span<std::byte> memory) {
    std::vector<iovec> chunks;
    stride_ = kBufferBytes - kOverlapBytes;
    for (std::size_t at = 0; at < memory.size(); at += stride_) {
        const auto chunk = memory.subspan(at, std::min(kBufferBytes, memory.size() - at));
        chunks.push_back({chunk.data(), chunk.size()});
        buffers_.push_back(chunk);
        if (at + chunk.size() == memory.size()) break;
    }
    const int result = io_uring_register_buffers(&ring_, chunks.data(), static_cast<unsigned>(chunks.size()));
    if (result < 0) buffers_.clear();
    return -result;
}

int Ring::registered(std::span<const std::byte> part) const {
    if (buffers_.empty() || part.data() < buffers_.front().data()) return -1;
    const auto from = static_cast<std::size_t>(part.data() - buffers_.front().data());
    const std::size_t index = std::min(from / stride_, buffers_.size() - 1);
    const auto& buffer = buffers_[index];
    return part.data() + part.size() <= buffer.data() + buffer.size() ? static_cast<int>(index) : -1;
}

}  // namespace streamsim::storage
