// MeterUser: draws the operations of one user, and begins each at its time.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "load/meter_operation.h"

namespace streamsim::load {

/// The memory of a user's blocks: for each in-flight slot one block to read into where the meter reads, and one
/// to write from where it writes.
std::uint64_t user_memory_bytes(const MeterSpec& spec);

class MeterUser {
public:
    /// `user`: of the seat. `memory` has user_memory_bytes().
    MeterUser(MeterContext& context, std::uint32_t user, std::span<std::byte> memory);

    /// The user's time begins at `at`, in the future or in the past.
    void begin(Instant at);
    /// Ends the user: no operation begins any more.
    void stop();
    /// After stop(): counts arrivals that got no in-flight slot before the end as unfinished, and draws at most
    /// `draws` of them, which are taken off. False: there are more.
    bool count_waiting(std::uint64_t& draws);
    /// After stop(): operations in flight end early.
    void cancel();
    /// After stop(): no operation is in flight, and all writes are synced where the spec asks for it.
    bool finished() const { return finished_; }
    /// Created files that exist, or may exist.
    void list_created(std::vector<std::string>& into) const;

private:
    struct Slot {
        Slot(MeterUser& user, std::span<std::byte> read_into, std::span<std::byte> write_from)
            : owner(user),
              operation(user.context_,
                        user.user_,
                        user.prng_,
                        read_into,
                        write_from,
                        Callback::of<&Slot::ended>(this)) {}
        void ended() { owner.operation_ended(operation); }
        MeterUser& owner;
        MeterOperation operation;
    };

    const MeterSpec& spec() const { return context_.plan.spec; }
    /// The end of the last operation decides when the next one begins.
    bool closed() const { return spec().loop == MeterSpec::Loop::closed || bursting_; }
    void begin_rest(Instant at);
    void start_due();
    void arm(Instant when);
    void on_timer();
    void start(Instant intended);
    void next_arrival();
    MeterTask draw(Instant intended);
    void draw_transfer(MeterTask& task);
    CreatedFile take_created();
    bool has_read_all();
    void end_here();
    void operations_over(Instant at);
    void draw_created(MeterTask& task);
    void operation_ended(MeterOperation& ended);
    void settle_created(const MeterOperation& ended);
    void ready(MeterOperation& idle, Instant at);
    void sync_next();
    void on_synced();

    MeterContext& context_;
    const std::uint32_t user_;
    const std::uint64_t number_;  // of the run
    Prng prng_;
    std::deque<Slot> slots_;
    MeterOperation* idle_ = nullptr;  // by due
    std::uint32_t busy_ = 0;
    std::uint64_t operations_ = 0;               // drawn so far
    std::array<std::uint32_t, 2> next_files_{};  // of reads and writes of whole files
    // Files that exist, or may exist, from created_first_ on; the next to be removed first. Memory grows only
    // when there are more than ever before.
    std::vector<CreatedFile> created_;
    std::size_t created_first_ = 0;
    std::uint64_t created_names_ = 0;  // used so far

    bool bursting_ = false;
    std::uint32_t burst_left_ = 0;
    Duration phase_;          // of its arrivals within those of all users
    Instant origin_;          // of its arrivals; of the rate limit
    std::uint64_t tick_ = 0;  // of the rate limit: the next free one; open loop: the next arrival
    std::optional<PoissonTimes> poisson_;
    Instant arrival_ = Instant::never();  // open loop: of the next operation
    TimerId timer_ = 0;
    Instant timer_at_;
    bool stopped_ = false;
    bool finished_ = false;
    SyncOp sync_;
    std::uint32_t sync_file_ = 0;
    bool syncing_ = false;
};

}  // namespace streamsim::load
