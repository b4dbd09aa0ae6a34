// ByteMeter: counts the bytes that a storage gives in a span of time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "streamsim/storage.h"

namespace streamsim::run {

/// `count` outlives it.
class ByteMeter final : public StorageDecorator {
public:
    struct Count {
        Duration after;                    // the first submission the span begins,
        Duration length;                   // and is so long
        Instant first = Instant::never();  // a read was submitted
        std::uint64_t bytes = 0;           // complete in the span
    };
    ByteMeter(std::unique_ptr<Storage> inner, Count& count)
        : StorageDecorator(std::move(inner)), count_(count) {}

    void read(ReadOp& op) override {
        Watched& watched = watched_[&op];
        watched = {this, &op, op.done};
        op.done = Callback::of<&Watched::finished>(&watched);
        StorageDecorator::read(op);
    }

private:
    struct Watched {
        ByteMeter* meter = nullptr;
        ReadOp* op = nullptr;
        Callback done;

        void finished() {
            meter->note(*op);
            op->done = done;
            done();
        }
    };

    void note(const ReadOp& op) {
        count_.first = std::min(count_.first, op.submitted_at);
        const Instant from = count_.first + count_.after;
        if (op.completed_at >= from && op.completed_at < from + count_.length) count_.bytes += op.bytes;
    }

    Count& count_;
    std::unordered_map<const ReadOp*, Watched> watched_;  // whose members stay where they are
};

}  // namespace streamsim::run
