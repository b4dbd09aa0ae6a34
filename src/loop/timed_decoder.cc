#include "loop/timed_decoder.h"

namespace streamsim::loop {

void TimedDecoder::decode(DecodeOp& op) {
    queue_.push_back(&op);
    if (queue_.size() == 1) begin();
}

void TimedDecoder::begin() {
    DecodeOp& op = *queue_.front();
    const Instant complete = loop_.now() + cpu_;
    op.skipped = op.too_late(complete);
    op.completed_at = op.skipped ? loop_.now() : complete;
    loop_.at(op.completed_at, Callback::of<&TimedDecoder::finished>(this));
}

void TimedDecoder::finished() {
    DecodeOp* op = queue_.front();
    queue_.pop_front();
    if (!queue_.empty()) begin();
    op->done();
}

}  // namespace streamsim::loop
