// The keys of a run: its computers prove to each other by CURVE that they have them, and nobody else reads what
// they say.
#pragma once

#include <string>

namespace streamsim::seats {

/// Each as ZeroMQ writes it: 40 printable characters.
struct SeatKeys {
    std::string host_public;
    std::string host_secret;  // empty where only seats join
    std::string seat_public;
    std::string seat_secret;

    static SeatKeys make();
};

}  // namespace streamsim::seats
