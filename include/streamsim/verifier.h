// Verifier: checks that the bytes of a frame are those that were written (--verify).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/callback.h"
#include "streamsim/fields.h"

namespace streamsim {

/// Bytes of a file that were read, and where they lie in it.
struct ContentPiece {
    std::uint64_t offset = 0;
    std::span<const std::byte> bytes;
};

/// The bytes that the frames of one clip must have. Immutable, any thread.
class FrameContent {
public:
    virtual ~FrameContent() = default;
    /// The offset in its file of the first byte of the frame that is not what it must be; where only a checksum
    /// is known, of the frame's first byte. Nothing: all are. REQUIRES: `pieces` hold the frame's extent,
    /// rising, without gaps and overlaps.
    virtual std::optional<std::uint64_t> first_difference(std::uint64_t frame,
                                                          std::span<const ContentPiece> pieces) const = 0;
};

/// The frames of one slot; the caller's, in place until `done` ran.
struct VerifyOp {
    struct Frame {
        std::uint32_t source = 0;  // of the caller
        std::uint64_t frame = 0;
        const FrameContent* content = nullptr;
        std::size_t pieces_end = 0;  // of `pieces`; they begin where those of the frame before end
    };
    struct Difference {
        std::uint32_t source = 0;
        std::uint64_t frame = 0;
        std::uint64_t offset = 0;  // in the frame's file
    };
    Callback done;                         // in
    std::vector<Frame> frames;             // in
    std::vector<ContentPiece> pieces;      // in
    std::optional<Difference> difference;  // out: the first frame that differs
};

/// How many frames were checked, and the cost.
struct ContentCheck {
    std::uint64_t frames = 0;   // a frame that is read again counts again
    std::uint64_t corrupt = 0;  // of them, that differ
    std::uint64_t bytes = 0;    // of them
    std::int64_t cpu_ns = 0;    // processor time that the check took

    ContentCheck& operator+=(const ContentCheck& more) {
        frames += more.frames;
        corrupt += more.corrupt;
        bytes += more.bytes;
        cpu_ns += more.cpu_ns;
        return *this;
    }
};
void fields(ConstOr<ContentCheck> auto& check, auto& visit) {
    visit("frames", check.frames);
    visit("frames_corrupt", check.corrupt);
    visit("bytes", check.bytes);
    visit("cpu_ns", check.cpu_ns);
}

class Verifier {
public:
    virtual ~Verifier() = default;
    /// `done` runs on the loop's thread, once, never inside the call.
    virtual void verify(VerifyOp& op) = 0;
};

}  // namespace streamsim
