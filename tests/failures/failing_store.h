// A ByteStore that fails at its k-th call.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "failures/memory_disk.h"

namespace streamsim::testing {

enum class Failure {
    error,         // this call does nothing and reports an error; later calls succeed
    unanswered,    // this call does its work and reports an error
    broken,        // this call and all later ones fail, without a crash
    crash,         // the power fails before this call
    crash_behind,  // the power fails after this call, which was made durable only where it says so
    cut,  // half of the bytes of a read or a write; a write reports an error, a read the end of the file
};
inline constexpr Failure kFailures[] = {Failure::error, Failure::unanswered,   Failure::broken,
                                        Failure::crash, Failure::crash_behind, Failure::cut};
const char* name_of(Failure failure);
inline bool is_crash(Failure failure) {
    return failure == Failure::crash || failure == Failure::crash_behind;
}

struct FailurePlan {
    Failure failure = Failure::error;
    std::uint64_t at = UINT64_MAX;  // number of the call, from 0
    std::uint64_t seed = 1;         // of what a crash keeps
};

/// Any thread. REQUIRES: the disk outlives the store.
class FailingStore final : public ByteStore {
public:
    struct State;

    FailingStore(MemoryDisk& disk, const FailurePlan& plan);
    /// Another one of the same disk and plan.
    explicit FailingStore(std::shared_ptr<State> state);
    ~FailingStore() override;

    Result<std::vector<DirectoryEntry>> list(const std::string& directory) override;
    Result<std::optional<FileInfo>> stat(const std::string& path) override;
    Result<std::unique_ptr<ByteSource>> open(const std::string& path) override;
    Result<std::unique_ptr<ByteSink>> create(const std::string& path) override;
    Result<void> make_directories(const std::string& path) override;
    Result<void> rename(const std::string& from, const std::string& to) override;
    Result<bool> set_aside(const std::string& from, const std::string& to) override;
    Result<void> remove(const std::string& path) override;
    Result<std::uint64_t> free_bytes(const std::string& path) override;
    Result<void> evict(const std::string& path) override;
    Result<std::unique_ptr<ByteStore>> beneath(const std::string& directory) override;

    /// True once the call of the plan was made.
    bool has_failed() const;
    /// The call that failed, such as "rename /t/a".
    std::string failed_call() const;
    std::uint64_t calls() const;
    /// The power fails now, unless it has: what is open writes nothing more.
    void end();

private:
    std::shared_ptr<State> state_;
};

}  // namespace streamsim::testing
