// The operations that a run asks of its storage, stream by stream, in the order of asking.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "run/backends/backends.h"

namespace streamsim::test {

/// For a run with one loop.
class ReadingLog {
public:
    /// Opens and reads apart: how the two interleave depends on when they are answered.
    struct Operations {
        std::vector<std::string> opens;  // the path, without the target before it
        std::vector<std::string> reads;  // "slot 3, frame 3: 4096+512"
        friend bool operator==(const Operations&, const Operations&) = default;
    };

    const std::map<std::pair<std::uint32_t, std::uint32_t>, Operations>& streams() const { return streams_; }

    run::StorageWrapper wrapper() {
        return [this](std::unique_ptr<Storage> inner) {
            return std::make_unique<Logged>(std::move(inner), *this);
        };
    }

private:
    class Logged final : public StorageDecorator {
    public:
        Logged(std::unique_ptr<Storage> inner, ReadingLog& log)
            : StorageDecorator(std::move(inner)), log_(log) {}

        void open(OpenOp& op) override {
            const std::string path = op.path;
            log_.of(op).opens.push_back(path.substr(path.find('/')));
            StorageDecorator::open(op);
        }
        void read(ReadOp& op) override {
            log_.of(op).reads.push_back("slot " + std::to_string(op.tag.slot) + ", frame " +
                                        std::to_string(op.tag.clip_frame) + ": " + std::to_string(op.offset) +
                                        "+" + std::to_string(op.buffer.size()));
            StorageDecorator::read(op);
        }

    private:
        ReadingLog& log_;
    };

    Operations& of(const Op& op) { return streams_[{op.tag.seat, op.tag.stream}]; }

    std::map<std::pair<std::uint32_t, std::uint32_t>, Operations> streams_;
};

}  // namespace streamsim::test
