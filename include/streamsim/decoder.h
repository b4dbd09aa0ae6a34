// Decoder: what a client does with a frame once its bytes are there, as far as it costs time. streamsim does
// not decode; it burns the processor time that a decoder would, when it is asked to (--decode-cpu).
#pragma once

#include <atomic>
#include <cstdint>

#include "base/callback.h"
#include "base/time.h"

namespace streamsim {

/// One frame to decode; the caller's, in place until `done` ran.
struct DecodeOp {
    Callback done;                                        // in
    Instant needed_by = Instant::never();                 // in: a frame that would come later is not decoded
    const std::atomic<std::int64_t>* later_ns = nullptr;  // in: by how much later it is needed, as things are
    bool skipped = false;                                 // out
    Instant completed_at;                                 // out, of the loop's clock

    /// True: a frame that is complete at this time is too late. Any thread; to be called when the frame's turn
    /// has come, as a stalled clock has moved all deadlines meanwhile.
    bool too_late(Instant complete) const {
        return needed_by != Instant::never() && (complete - needed_by).ns > later_ns->load();
    }
};

/// The decoder of one stream: frames one after the other, in the order of the calls. `done` runs on the loop's
/// thread, once, never inside the call. No allocation for each frame.
class Decoder {
public:
    virtual ~Decoder() = default;
    virtual void decode(DecodeOp& op) = 0;
};

}  // namespace streamsim
