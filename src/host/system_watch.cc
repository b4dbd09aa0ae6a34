#include "host/system_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "host/system_sampler.h"

namespace streamsim::host {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(200);
/// The interval at which the network is sampled: a cut of half a second lasts some samples.
constexpr auto kPathInterval = std::chrono::milliseconds(100);
constexpr std::size_t kSamplesMax = 8192;

/// An empty sample, with the memory of its links.
void reset(SystemSample& sample) {
    auto links = std::move(sample.links);
    links.clear();
    sample = {};
    sample.links = std::move(links);
}

/// Moves every second sample to the front, beginning with the first: how many there are.
std::size_t thin_out(SystemHistory& history) {
    std::size_t kept = 1;
    for (std::size_t i = 2; i < history.size(); i += 2) std::swap(history[kept++], history[i]);
    return kept;
}

}  // namespace

SystemWatch::SystemWatch(std::string path, std::vector<std::string> servers, SuspendClock suspended_ns)
    : path_(std::move(path)), servers_(std::move(servers)), suspended_ns_(std::move(suspended_ns)) {
    SystemSampler::prepare();
    thread_ = std::thread([this] { watch(); });
}

SystemWatch::~SystemWatch() {
    if (thread_.joinable()) (void)stop();
}

SystemHistory SystemWatch::stop(Duration idle) {
    {
        MutexLock lock(mutex_);
        const std::int64_t end_ns = loop_clock_ns() + idle.ns;
        for (std::int64_t now_ns = loop_clock_ns(); now_ns < end_ns; now_ns = loop_clock_ns())
            lock.wait_for(wake_, std::chrono::nanoseconds(end_ns - now_ns));
        stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
    return std::move(history_);
}

void SystemWatch::watch() {
    SystemSampler sampler(path_, servers_);
    // All memory is taken at the beginning: small pieces that stay, between those that others take and give
    // back, would make the process grow for as long as it plays.
    history_.resize(kSamplesMax);
    std::size_t kept = 0;
    auto interval = kInterval;
    for (bool last = false;;) {
        SystemSample& sample = history_[kept++];
        reset(sample);
        sampler.sample(sample);
        sample.suspended_ns = suspended_ns_();
        sample.at_ns = loop_clock_ns();
        if (kept == 1) {
            for (SystemSample& each : history_) each.links.reserve(sample.links.size());
        }
        if (last) break;
        if (kept == kSamplesMax) {
            kept = thin_out(history_);
            interval *= 2;
        }
        last = wait(interval, sampler);
    }
    history_.resize(kept);
}

bool SystemWatch::wait(std::chrono::milliseconds interval, SystemSampler& sampler) {
    for (auto left = interval;; left -= kPathInterval) {
        {
            MutexLock lock(mutex_);
            if (!stopping_) lock.wait_for(wake_, std::min(left, kPathInterval));
            if (stopping_) return true;
        }
        if (left <= kPathInterval) return false;
        sampler.look();
    }
}

}  // namespace streamsim::host
