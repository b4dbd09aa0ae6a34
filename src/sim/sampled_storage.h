// A storage in virtual time whose operations take times that were recorded of operations like them.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/prng.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim::sim {

/// Recorded times, nanoseconds.
struct SampledTimes {
    std::map<std::uint64_t, std::vector<std::int64_t>> reads, writes;  // by bytes
    std::vector<std::int64_t> opens, syncs, stats, lists, removes, renames;
};

/// Every file exists, and no operation fails. Operations do not wait for each other: their waits are in the
/// recorded times.
class SampledStorage final : public Storage {
public:
    /// `loop` and `times` outlive it.
    SampledStorage(EventLoop& loop, const SampledTimes& times, std::uint64_t seed);
    ~SampledStorage() override;

    void open(OpenOp& op) override;
    void read(ReadOp& op) override;
    void write(WriteOp& op) override;
    void sync(SyncOp& op) override;
    void perform(PathOp& op) override;
    void hint(FileId, std::uint64_t, std::uint64_t) override {}
    void close(FileId) override {}
    /// The operation runs to its end, which is near.
    void cancel(Op&) override {}
    StorageCapabilities capabilities() const override {
        return {.io = "sim", .fills_buffers = false, .writes = true};
    }
    void use_memory(std::span<std::byte>) override {}
    void shutdown(Callback done) override;

private:
    std::int64_t draw(const std::vector<std::int64_t>& times);
    std::int64_t draw(const std::map<std::uint64_t, std::vector<std::int64_t>>& times, std::uint64_t bytes);
    void complete(Op& op, std::int64_t ns);
    void arm();
    void on_timer();

    EventLoop& loop_;
    const SampledTimes& times_;
    Prng prng_;
    std::multimap<Instant, Op*> waiting_;  // by their ends
    TimerId timer_ = 0;
    Callback shutdown_;
};

}  // namespace streamsim::sim
