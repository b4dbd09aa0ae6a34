// A storage in virtual time that writes: each operation takes as long as the test says, and ends as it says.
#pragma once

#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim::test {

class FakeDisk final : public Storage {
public:
    enum class What { make, open, write, sync };
    struct Asked {
        What what = What::open;
        std::uint64_t slot = 0;
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
        std::string path;
        FileId file = kNoFile;
        const std::byte* from = nullptr;
    };

    explicit FakeDisk(EventLoop& loop) : loop_(loop) {}

    std::function<Duration(const Asked&)> takes = [](const Asked&) { return Duration{}; };
    std::function<int(const Asked&)> error = [](const Asked&) { return 0; };
    /// A throughput gap: operations that would complete in it complete at its end.
    Instant gap_from = Instant::never(), gap_to = Instant::never();
    std::vector<Asked> log;
    std::vector<std::string> problems;  // broken contracts
    std::map<std::string, std::uint64_t> bytes_of;
    std::uint32_t writes_out = 0, writes_out_max = 0;
    int open_files = 0;
    bool answers_cancels = true;

    void open(OpenOp& op) override {
        if (op.access != Access::create_new) problems.push_back("opened other than as a new file");
        begin(op, {What::open, op.tag.slot, 0, 0, op.path, kNoFile});
    }
    void read(ReadOp&) override { problems.push_back("read"); }
    void write(WriteOp& op) override {
        if (op.offset % alignment != 0 || op.buffer.size() % alignment != 0) problems.push_back("alignment");
        ++writes_of_[op.file];
        writes_out_max = std::max(writes_out_max, ++writes_out);
        begin(op, {What::write, op.tag.slot, op.offset, op.buffer.size(),
                   names_.at(static_cast<std::size_t>(op.file)), op.file, op.buffer.data()});
    }
    void sync(SyncOp& op) override {
        if (writes_of_[op.file] > 0) problems.push_back("synced with writes in flight");
        begin(op, {What::sync, op.tag.slot, 0, 0, names_.at(static_cast<std::size_t>(op.file)), op.file});
    }
    void perform(PathOp& op) override { begin(op, {What::make, op.tag.slot, 0, 0, op.path, kNoFile}); }
    void hint(FileId, std::uint64_t, std::uint64_t) override {}
    void close(FileId file) override {
        if (writes_of_[file] > 0) problems.push_back("closed with writes in flight");
        --open_files;
    }
    void cancel(Op& op) override {
        if (!answers_cancels) return;
        for (const auto& each : pending_) {
            if (each->op == &op) each->cancelled = true;
            if (each->op == &op && loop_.cancel(each->timer))
                loop_.defer(Callback::of<&Pending::done>(each.get()));
        }
    }
    StorageCapabilities capabilities() const override {
        StorageCapabilities out;
        out.writes = true;
        out.alignment = alignment;
        return out;
    }
    void use_memory(std::span<std::byte>) override {}
    void shutdown(Callback done) override { loop_.defer(done); }

    std::uint32_t alignment = 1;

private:
    struct Pending {
        FakeDisk* disk = nullptr;
        Op* op = nullptr;
        Asked asked;
        Instant at;  // of its end
        TimerId timer = 0;
        bool cancelled = false;
        void done() { disk->complete(*this); }
    };

    void begin(Op& op, Asked asked) {
        log.push_back(asked);
        op.submitted_at = loop_.now();
        loop_.hold();
        Instant at = loop_.now() + takes(asked);
        if (at >= gap_from && at < gap_to) at = gap_to;
        pending_.push_back(std::make_unique<Pending>(Pending{this, &op, std::move(asked), at}));
        pending_.back()->timer = loop_.at(at, Callback::of<&Pending::done>(pending_.back().get()));
    }

    void complete(Pending& pending) {
        loop_.release();
        Op& op = *pending.op;
        pending.op = nullptr;
        op.completed_at = pending.cancelled ? loop_.now() : pending.at;
        op.not_before = op.completed_at - nanoseconds(1);
        op.error = pending.cancelled ? ECANCELED : error(pending.asked);
        const Asked& asked = pending.asked;
        if (asked.what == What::open && op.error == 0) {
            auto& open = static_cast<OpenOp&>(op);
            open.file = static_cast<FileId>(names_.size());
            names_.push_back(asked.path);
            ++open_files;
            if (!bytes_of.emplace(asked.path, 0).second) problems.push_back("made twice: " + asked.path);
        }
        if (asked.what == What::write) {
            --writes_of_[asked.file];
            --writes_out;
            if (op.error == 0) {
                static_cast<WriteOp&>(op).bytes = asked.bytes;
                bytes_of[asked.path] = std::max(bytes_of[asked.path], asked.offset + asked.bytes);
            }
        }
        op.done();
    }

    EventLoop& loop_;
    std::vector<std::unique_ptr<Pending>> pending_;
    std::vector<std::string> names_;
    std::map<FileId, int> writes_of_;
};

}  // namespace streamsim::test
