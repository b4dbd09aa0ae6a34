// The outcome of a frame slot, in the words of the result document.
#pragma once

#include <algorithm>
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
    corrupt,     // its bytes are not those that were written (--verify)
};

constexpr const char* to_string(FrameKind kind) {
    switch (kind) {
        case FrameKind::on_time: return "on_time";
        case FrameKind::late: return "late";
        case FrameKind::dropped: return "dropped";
        case FrameKind::failed: return "failed";
        case FrameKind::cancelled: return "cancelled";
    }
    return "?";
}

constexpr const char* to_string(DropReason reason) {
    switch (reason) {
        case DropReason::none: return "none";
        case DropReason::late: return "late";
        case DropReason::client: return "client";
        case DropReason::error: return "error";
        case DropReason::short_read: return "short";
        case DropReason::missing: return "missing";
        case DropReason::corrupt: return "corrupt";
    }
    return "?";
}

/// The record of one slot. Instants are of the loop's clock; Instant::never() for a moment that did not occur.
struct FrameOutcome {
    std::uint64_t slot = 0;
    std::uint64_t clip_frame = 0;  // the top layer's frame; in a failed slot, the frame that failed
    std::uint32_t source = 0;      // index of that frame's source in the stream
    bool sought = false;           // a jump that nobody knew of: no deadline but its own coming
    FrameKind kind = FrameKind::on_time;
    DropReason reason = DropReason::none;
    int error = 0;                         // errno of a failed frame
    std::uint64_t bytes = 0;               // the frame's length when it was complete, ever; else 0
    std::uint64_t corrupt_at = 0;          // of a corrupt frame: offset in its file of the first wrong byte
    Instant scheduled = Instant::never();  // entered the window
    Instant submitted = Instant::never();  // took an in-flight slot
    Instant opened = Instant::never();     // its file was open (file per frame)
    Duration open_time;                    // time that the open took; 0: no open was needed
    Duration sync_time;                    // time that the fsync of a durable recording took; 0: no fsync
    Instant deadline = Instant::never();   // never: no deadline (rate `max`)
    Instant delivered = Instant::never();  // the last byte was there
    Instant completed = Instant::never();  // and, where there is a decoder, it was decoded
    Instant failed_at = Instant::never();  // its failure was seen

    /// The moment that the frame is judged by: its deadline; of one that failed without a deadline, its
    /// failure.
    Instant due() const { return deadline != Instant::never() ? deadline : failed_at; }
    /// The time that its read took: from its submission, or from its open file where that came later. REQUIRES:
    /// delivered.
    Duration read_time() const {
        return delivered - (opened != Instant::never() ? std::max(submitted, opened) : submitted);
    }
    /// When it came, of what came too late: a frame that was there after its deadline is not decoded any more.
    Instant came() const {
        return completed != Instant::never() || delivered <= deadline ? completed : delivered;
    }
};

}  // namespace streamsim
