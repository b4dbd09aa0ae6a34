// The processes of one run over several computers, as each of them sees the others: which of them are there,
// their names, the seats that they play, and the channel to them. Rank 0 leads, the others follow.
//
// A rank that dies is left out from then on, and its name is kept: the others go on without it.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "seats/lobby.h"
#include "seats/seat_channel.h"
#include "streamsim/run_result.h"

namespace streamsim::seats {

/// How the seats of a run are assigned to its ranks.
enum class SeatOrder : std::uint8_t {
    blocks,       // seats that follow each other are on one rank
    round_robin,  // seat i is on rank i % ranks: where it is does not depend on the number of seats
};

class RankGroup {
public:
    struct Peer {
        bool here = false;  // it has introduced itself
        bool lost = false;
        bool left = false;
        bool failed = false;  // it has ended with an error that it did not report
        bool loss_reported = false;
        bool away = false;          // cut off, and awaited
        std::string why;            // of its loss, or of its absence
        bool part_written = false;  // rank 0 has written a result that has its part
        HostFacts host;
        // The rest is of a seat that came by itself.
        std::vector<std::string> allows;  // places
        std::optional<SeatReport> report;

        bool gone() const { return lost || left; }
    };

    /// `first_plays` is false where rank 0 only leads.
    RankGroup(std::uint32_t rank, std::uint32_t ranks, bool first_plays = true);
    /// The channel outlives all calls that send.
    void set_channel(SeatChannel& channel) { channel_ = &channel; }

    std::uint32_t rank() const { return rank_; }
    std::uint32_t size() const { return size_; }
    bool first() const { return rank_ == 0; }
    SeatChannel& channel() const { return *channel_; }
    const std::string& run_id() const { return channel_->join_token().run_id; }
    /// The id in the documents of the next time of play: that of the run, or, with a name, of one part of it.
    /// Documents of different parts are not merged.
    std::string play_id() const { return play_name_.empty() ? run_id() : run_id() + "-" + play_name_; }
    void name_play(std::string name) { play_name_ = std::move(name); }

    void assign_seats(std::uint32_t seats, SeatOrder order) {
        seats_ = seats;
        order_ = order;
    }
    std::uint32_t first_seat_of(std::uint32_t rank) const {
        const std::uint32_t player = part_of(rank);
        if (order_ == SeatOrder::round_robin) return player;
        return static_cast<std::uint32_t>(std::uint64_t{seats_} * player / players());
    }
    std::uint32_t seat_count_of(std::uint32_t rank) const;
    /// The ranks that play.
    std::uint32_t players() const { return size_ - leaders_; }
    /// The first of them.
    std::uint32_t first_player() const { return leaders_; }
    /// The number of a rank among those that play, which is its rank in results.
    std::uint32_t part_of(std::uint32_t rank) const { return rank - std::min(rank, leaders_); }
    /// The distance between two seats of a rank.
    std::uint32_t seat_step() const { return order_ == SeatOrder::round_robin ? players() : 1; }
    std::vector<std::uint32_t> seats_of(std::uint32_t rank) const;
    /// As result::seat_name.
    std::string name_of(std::uint32_t rank) const;

    void send_to_first(const Json& message) { channel_->send(0, message); }
    /// To rank 0, or from rank 0 to all others that are not gone. REQUIRES: `mutex` is held.
    void send_to_others(const Json& message);
    /// Ends all waits, in every rank. Any thread. REQUIRES: `mutex` is not held.
    void stop();

    /// Protects all state below, and that of the classes that share this group. Functions that wait take its
    /// lock as a parameter, which clang's analysis of locks cannot follow.
    mutable std::mutex mutex;
    std::condition_variable changed;

    // REQUIRES: `mutex` is held.
    Peer& peer(std::uint32_t rank) { return peers_[rank]; }
    const Peer& peer(std::uint32_t rank) const { return peers_[rank]; }
    const std::vector<Peer>& peers() const { return peers_; }
    bool first_is_gone() const { return peers_[0].gone(); }
    bool all_gone_or(const std::function<bool(std::uint32_t rank)>& holds) const;
    /// One error for all of `errors`, by rank, with the names of the ranks that had it.
    Error joined(const std::map<std::uint32_t, Error>& errors) const;
    bool stopped = false;
    /// The rank that makes media and removes them: the first one that plays, and is there at the beginning.
    std::uint32_t media_maker = 0;
    /// The time of play: counts the plays that all ranks have ended.
    std::uint64_t play = 0;

private:
    const std::uint32_t rank_;
    const std::uint32_t size_;
    const std::uint32_t leaders_;  // 1: rank 0 plays nothing
    std::uint32_t seats_;
    SeatOrder order_ = SeatOrder::blocks;
    std::string play_name_;
    SeatChannel* channel_ = nullptr;
    std::vector<Peer> peers_;
};

}  // namespace streamsim::seats
