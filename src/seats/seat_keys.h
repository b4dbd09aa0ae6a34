// The keys of a run: its computers prove to each other by CURVE that they have them, and nobody else reads what
// they say.
#pragma once

#include <string>

#include "base/result.h"

namespace streamsim::seats {

/// Each as ZeroMQ writes it: 40 printable characters.
struct SeatKeys {
    std::string host_public;
    std::string host_secret;  // empty where only seats join
    std::string seat_public;
    std::string seat_secret;

    static SeatKeys make();

    /// A document that is a key for a week from now on.
    std::string to_document() const;
    /// Errors: bad input that names `file`: it is no key, or its time is over.
    static Result<SeatKeys> read_document(const std::string& text, const std::string& file);
};

}  // namespace streamsim::seats
