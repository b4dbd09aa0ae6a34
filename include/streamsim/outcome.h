// What became of a frame slot. The words are those of the result.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace streamsim {

enum class FrameKind : std::uint8_t { on_time, late, dropped, failed, cancelled };

enum class DropReason : std::uint8_t {
    none,        // on time, or cancelled
    late,        // the storage had not given it at its deadline
    client,      // this client was not running when it mattered, so that the storage cannot be blamed
    error,       // the read or the open failed; see the errno
    short_read,  // the file ends before the frame does
    missing,     // there is no such file
};

const char* to_string(FrameKind kind);
const char* to_string(DropReason reason);

/// The books of one slot. Instants are of the loop's clock; Instant::never() where there is none.
struct FrameOutcome {
    std::uint64_t slot = 0;
    std::uint64_t clip_frame = 0;
    FrameKind kind = FrameKind::on_time;
    DropReason reason = DropReason::none;
    int error = 0;                 // errno of a failed frame
    std::uint64_t bytes = 0;       // the frame's length when it was complete, ever; else 0
    Instant scheduled = Instant::never();  // entered the window
    Instant submitted = Instant::never();  // took its place in flight
    Instant opened = Instant::never();     // its file was open (file per frame)
    Duration open_time;                    // of the open itself; 0: no open was needed
    Instant deadline = Instant::never();   // never: no deadline (rate `max`)
    Instant completed = Instant::never();  // the last byte was there
};

}  // namespace streamsim
