// The other end of a connection of the seat channel. Inside seats/ only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "seats/seat_channel.h"

namespace streamsim::seats {

/// Before each text: its number, 0 for what is not sent again, and the number of the last message that came.
inline constexpr std::size_t kNumbersBytes = 16;
struct SeatChannel::Peer {
    std::string name;                          // by which rank 0's socket reaches it
    std::string who;                           // it calls itself
    int connection = -1;                       // that its last message came by
    bool connected = false;                    // what is written now arrives there, or the connection ends
    bool gone = false;                         // lost, or left
    Instant awaited_until = Instant::never();  // away; never: it is here
    std::string why;                           // it is away, or was lost; empty: it has left
    bool ended = false;                        // its last connection did: its process may be no more
    Instant heard;
    std::uint64_t sent = 0;  // the number of the last message to it
    std::uint64_t came = 0;  // the number of the last message from it
    struct Out {
        std::uint64_t number;
        std::string text;
    };
    std::deque<Out> unanswered;  // messages that have not come there, as far as is known
};

}  // namespace streamsim::seats
