// ByteMeter: counts the bytes that a storage delivers in a span of time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include "run/backends/backends.h"

namespace streamsim::run {

/// `count` outlives it.
class ByteMeter final : public StorageDecorator {
public:
    struct Count {
        Duration after;                    // the span begins so long after the first submission
        Duration length;                   // of the span
        Instant first = Instant::never();  // submission
        std::uint64_t bytes = 0;           // of reads that completed in the span
        std::function<void()> begun = {};  // called once, before the first read is submitted
        std::function<void()> over = {};   // called once a read completes behind the span

        /// The layer that counts here.
        StorageWrapper wrapper() {
            return [this](std::unique_ptr<Storage> inner) {
                return std::make_unique<ByteMeter>(std::move(inner), *this);
            };
        }
        double bytes_per_s() const { return static_cast<double>(bytes) * 1e9 / static_cast<double>(length.ns); }
    };
    ByteMeter(std::unique_ptr<Storage> inner, Count& count)
        : StorageDecorator(std::move(inner)), count_(count) {}

    void read(ReadOp& op) override {
        if (count_.begun) std::exchange(count_.begun, nullptr)();
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
        if (op.completed_at >= from + count_.length && count_.over) std::exchange(count_.over, nullptr)();
    }

    Count& count_;
    std::unordered_map<const ReadOp*, Watched> watched_;  // whose members stay where they are
};

}  // namespace streamsim::run
