// One user: when each of its operations begins, and what it is.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "load/place.h"

namespace streamsim::load {

/// What a user's blocks in flight lie in: for each place a block that is read into, and one that is written
/// from, as far as there are reads and writes.
std::uint64_t user_memory_bytes(const MeterSpec& spec);

class MeterUser {
public:
    /// `user`: of the seat. `memory` has user_memory_bytes().
    MeterUser(MeterRoom& room, std::uint32_t user, std::span<std::byte> memory);

    /// Its time begins at `at`, in the future or in the past.
    void begin(Instant at);
    /// The end that the books know has come: begins nothing more. What stands in line is unfinished.
    void stop();
    /// After stop(): what is under way ends early.
    void cancel();
    /// After stop(): nothing is under way, and what it wrote is synced where that is asked for.
    bool finished() const { return finished_; }
    /// Files that were created and are there, as far as is known.
    void list_created(std::vector<std::string>& into) const;

private:
    // Its places call back without knowing which they are.
    struct Seat {
        Seat(MeterUser& user, std::span<std::byte> read_into, std::span<std::byte> write_from)
            : owner(user),
              place(
                  user.room_, user.user_, user.prng_, read_into, write_from, Callback::of<&Seat::ended>(this)) {
        }
        void ended() { owner.place_ended(place); }
        MeterUser& owner;
        Place place;
    };

    const MeterSpec& spec() const { return room_.plan.spec; }
    /// The next operation begins at what became of the last one, and not at an intended time.
    bool closed() const { return spec().loop == MeterSpec::Loop::closed || bursting_; }
    void begin_rest(Instant at);
    void pump();
    void arm(Instant when);
    void on_timer();
    void start(Instant intended);
    void next_arrival();
    MeterTask draw(Instant intended);
    void draw_transfer(MeterTask& task);
    bool has_read_all();
    void end_here();
    void draw_created(MeterTask& task);
    void place_ended(Place& place);
    void settle_created(const Place& place);
    void ready(Place& place, Instant at);
    void sync_next();
    void on_synced();

    MeterRoom& room_;
    const std::uint32_t user_;
    const std::uint64_t number_;  // of the run
    Prng prng_;
    std::deque<Seat> places_;
    Place* idle_ = nullptr;  // by due
    std::uint32_t busy_ = 0;
    std::uint64_t operations_ = 0;               // that were drawn
    std::array<std::uint32_t, 2> next_files_{};  // of reads and writes of whole files
    CreatedFiles created_;
    std::uint64_t created_names_ = 0;  // that were used

    bool bursting_ = false;
    std::uint32_t burst_left_ = 0;
    Duration phase_;          // of its arrivals within those of all users
    Instant origin_;          // of its arrivals; of the rate limit
    std::uint64_t slot_ = 0;  // of the rate limit: the next that is free; open loop: the next arrival
    std::optional<PoissonTimes> poisson_;
    Instant arrival_ = Instant::never();  // open loop: the next that has not begun
    TimerId timer_ = 0;
    Instant timer_at_;
    bool stopped_ = false;
    bool finished_ = false;
    SyncOp sync_;
    std::uint32_t sync_file_ = 0;
    bool syncing_ = false;
};

}  // namespace streamsim::load
