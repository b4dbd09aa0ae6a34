// Any storage, with a log of what was asked of it.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim::test {

class RecordingStorage final : public Storage {
public:
    explicit RecordingStorage(Storage& inner) : inner_(inner) {}

    /// "open f.3.dpx", "read 1000+500": in the order in which they were asked for.
    std::vector<std::string> log;
    std::uint64_t closed = 0;  // files
    /// Only the names, without the rest.
    std::vector<std::string> opened;
    /// The loop by whose clock reads are stamped when they are seen, as a backend does that polls. Null: reads
    /// keep the stamps of the inner storage.
    EventLoop* stamped_by = nullptr;

    void open(OpenOp& op) override {
        opened.emplace_back(op.path);
        note("open", opened.back());
        inner_.open(op);
    }
    void read(ReadOp& op) override {
        note("read", std::to_string(op.offset).append("+").append(std::to_string(op.buffer.size())));
        if (stamped_by != nullptr) {
            seen_.push_back({*stamped_by, op, op.done});
            op.done = Callback::of<&Seen::ended>(&seen_.back());
        }
        inner_.read(op);
    }
    void hint(FileId file, std::uint64_t offset, std::uint64_t bytes) override {
        inner_.hint(file, offset, bytes);
    }
    void close(FileId file) override {
        ++closed;
        inner_.close(file);
    }
    void cancel(Op& op) override { inner_.cancel(op); }
    StorageCapabilities capabilities() const override { return inner_.capabilities(); }
    void use_memory(std::span<std::byte> memory) override { inner_.use_memory(memory); }
    void shutdown(Callback done) override { inner_.shutdown(done); }

private:
    void note(const char* verb, const std::string& what) {
        log.emplace_back(verb);
        log.back().append(" ").append(what);
    }

    struct Seen {
        EventLoop& loop;
        ReadOp& op;
        Callback done;
        void ended() {
            op.completed_at = loop.now();
            op.done = done;
            op.done();
        }
    };

    Storage& inner_;
    std::deque<Seen> seen_;
};

}  // namespace streamsim::test
