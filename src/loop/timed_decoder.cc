#include "loop/timed_decoder.h"

#include <algorithm>

namespace streamsim {

void TimedDecoder::decode(DecodeOp& op) {
    free_at_ = std::max(free_at_, loop_.now());
    op.skipped = op.needed_by != Instant::never() && free_at_ + cpu_ > op.needed_by;
    if (!op.skipped) free_at_ = free_at_ + cpu_;
    op.completed_at = free_at_;
    queue_.push_back(&op);
    loop_.at(free_at_, Callback::of<&TimedDecoder::finished>(this));
}

void TimedDecoder::finished() {
    DecodeOp* op = queue_.front();
    queue_.pop_front();
    op->done();
}

}  // namespace streamsim
