// Threads that compare frames beside a loop.
#include "run/playback/content_verifier.h"

#include <gtest/gtest.h>

#include <deque>

#include "loop/uv_loop.h"

namespace streamsim::run {
namespace {

/// Frames whose number is a multiple of 7 differ.
class Sevens final : public FrameContent {
public:
    std::optional<std::uint64_t> first_difference(std::uint64_t frame,
                                                  std::span<const ContentPiece> pieces) const override {
        return frame % 7 == 0 ? std::optional(pieces.front().offset + 1) : std::nullopt;
    }
};

struct Frames {
    EventLoop& loop;
    std::size_t left = 0;
    void ended() {
        if (--left == 0) loop.stop();
    }
};

TEST(ContentVerifier, AnswersEveryFrameOnceWithAndWithoutThreads) {
    for (const unsigned threads : {0u, 1u, 4u}) {
        loop::UvLoop loop;
        const Sevens content;
        ContentVerifier verifier(loop, threads);
        const std::vector<std::byte> bytes(100);
        Frames frames{loop, 500};
        std::deque<VerifyOp> ops(frames.left);
        for (std::size_t i = 0; i < ops.size(); ++i) {
            ops[i].done = Callback::of<&Frames::ended>(&frames);
            ops[i].pieces = {{10 * i, bytes}, {10 * i + 1'000, bytes}};
            ops[i].frames = {{0, 1, &content, 1}, {2, i, &content, 2}};
            verifier.verify(ops[i]);
            EXPECT_EQ(frames.left, 500u) << "never inside the call";
        }
        loop.hold();
        ASSERT_EQ(loop.run(), StopReason::stopped);
        loop.release();
        for (std::size_t i = 0; i < ops.size(); ++i) {
            ASSERT_EQ(ops[i].difference.has_value(), i % 7 == 0) << i;
            if (i % 7 != 0) continue;
            EXPECT_EQ(ops[i].difference->source, 2u);
            EXPECT_EQ(ops[i].difference->frame, i);
            EXPECT_EQ(ops[i].difference->offset, 10 * i + 1'001);
        }
        EXPECT_EQ(verifier.check().frames, 1'000u);
        EXPECT_EQ(verifier.check().corrupt, 72u);
        EXPECT_EQ(verifier.check().bytes, 100'000u);
    }
}

}  // namespace
}  // namespace streamsim::run
