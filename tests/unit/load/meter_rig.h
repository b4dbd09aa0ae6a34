// A meter on a virtual loop and on a storage whose times are known: each operation takes `fixed` and its bytes
// at `bytes_per_s`, whatever else is in flight. Every operation is logged.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "load/meter.h"
#include "loop/virtual_loop.h"

namespace streamsim::test {

struct Asked {
    enum Kind { open, read, write, sync, stat, list, make_directory, remove, rename };
    Kind kind = open;
    std::string path;  // of the file
    std::string to;
    std::uint32_t user = 0;  // the tag's stream
    std::uint64_t number = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    Access access = Access::read;
    Instant at;
    std::uint64_t first_word = 0;  // of what is written
    bool in_play = false;
};

class FakeStorage final : public Storage {
public:
    explicit FakeStorage(EventLoop& loop) : loop_(loop) {}

    Duration fixed = milliseconds(10);
    double bytes_per_s = 0;  // 0: bytes take no time
    /// Operations that are submitted in between begin at the end of the stall.
    Instant stall_from = Instant::never(), stall_to;
    /// An errno value, or 0.
    std::function<int(const Asked&)> error = [](const Asked&) { return 0; };
    /// Bytes that a read finds.
    std::function<std::uint64_t(const Asked&)> found = [](const Asked& asked) { return asked.bytes; };
    bool fills = true;
    bool logs = true;

    std::vector<Asked> log;
    std::set<std::string> names;  // that exist
    std::uint64_t outstanding = 0, most_outstanding = 0;
    std::int64_t open_files = 0;
    bool playing = false;

    Duration time_of(std::uint64_t bytes) const {
        return fixed + Duration{bytes_per_s == 0 ? 0
                                                 : static_cast<std::int64_t>(static_cast<double>(bytes) * 1e9 /
                                                                             bytes_per_s)};
    }

    void open(OpenOp& op) override {
        submit(op, {Asked::open, op.path, "", 0, 0, 0, 0, op.access, {}, 0, false}, [this, &op] {
            const bool there = names.contains(op.path);
            if (op.access == Access::create_new ? there : !there && op.access != Access::create) {
                op.error = there ? EEXIST : ENOENT;
                return;
            }
            names.insert(op.path);
            op.file = static_cast<FileId>(paths_.size());
            paths_.emplace_back(op.path);
            ++open_files;
        });
    }
    void read(ReadOp& op) override {
        EXPECT_LE(op.offset + op.buffer.size(), file_bytes);
        Asked asked{Asked::read, path(op.file), "", 0, 0, op.offset, op.buffer.size(), {}, {}, 0, false};
        submit(op, asked, [this, &op, asked] { op.bytes = found(asked); });
    }
    void write(WriteOp& op) override {
        EXPECT_LE(op.offset + op.buffer.size(), file_bytes);
        std::uint64_t word = 0;
        if (fills) memcpy(&word, op.buffer.data(), std::min(sizeof word, op.buffer.size()));
        submit(op, {Asked::write, path(op.file), "", 0, 0, op.offset, op.buffer.size(), {}, {}, word, false},
               [&op] { op.bytes = op.buffer.size(); });
    }
    void sync(SyncOp& op) override {
        submit(op, {Asked::sync, path(op.file), "", 0, 0, 0, 0, {}, {}, 0, false}, [] {});
    }
    void perform(PathOp& op) override {
        const Asked::Kind kinds[] = {Asked::stat, Asked::list, Asked::make_directory, Asked::remove,
                                     Asked::rename};
        submit(op,
               {kinds[static_cast<int>(op.kind)],
                op.path,
                op.to != nullptr ? op.to : "",
                0,
                0,
                0,
                0,
                {},
                {},
                0,
                false},
               [this, &op] { by_name(op); });
    }
    void hint(FileId, std::uint64_t, std::uint64_t) override {}
    void close(FileId file) override {
        EXPECT_FALSE(path(file).empty());
        --open_files;
    }
    void cancel(Op& op) override {
        auto& pending = *static_cast<Pending*>(op.backend);
        EXPECT_EQ(pending.op, &op);
        if (!loop_.cancel(pending.timer)) return;
        pending.cancelled = true;
        loop_.defer(Callback::of<&Pending::complete>(&pending));
    }
    StorageCapabilities capabilities() const override { return {"fake", true, 1, fills, true}; }
    void use_memory(std::span<std::byte>) override {}
    void shutdown(Callback) override {}

    std::uint64_t file_bytes = 0;

private:
    struct Pending {
        FakeStorage* storage = nullptr;
        Op* op = nullptr;
        TimerId timer = 0;
        int error = 0;
        bool cancelled = false;
        std::function<void()> effect;
        void complete() { storage->complete(*this); }
    };

    const std::string& path(FileId file) {
        static const std::string none;
        return file < 0 ? none : paths_.at(static_cast<std::size_t>(file));
    }

    void by_name(PathOp& op) {
        const bool changes = op.kind == PathOp::Kind::remove || op.kind == PathOp::Kind::rename;
        if (op.kind == PathOp::Kind::list) return;
        if (!names.contains(op.path)) {
            op.error = ENOENT;
            return;
        }
        if (changes) names.erase(op.path);
        if (op.kind == PathOp::Kind::rename) {
            EXPECT_FALSE(names.contains(op.to)) << "the new name is nobody's";
            names.insert(op.to);
        }
    }

    void submit(Op& op, Asked asked, std::function<void()> effect) {
        asked.user = op.tag.stream;
        asked.number = op.tag.slot;
        asked.at = loop_.now();
        asked.in_play = playing;
        Pending* pending = nullptr;
        if (free_.empty()) {
            all_.push_back(std::make_unique<Pending>());
            pending = all_.back().get();
        } else {
            pending = free_.back();
            free_.pop_back();
        }
        *pending = {this, &op, 0, error(asked), false, std::move(effect)};
        op.backend = pending;
        op.submitted_at = loop_.now();
        Instant begin = loop_.now();
        if (begin >= stall_from && begin < stall_to) begin = stall_to;
        const Duration takes =
            asked.kind == Asked::read || asked.kind == Asked::write ? time_of(asked.bytes) : fixed;
        pending->timer = loop_.at(begin + takes, Callback::of<&Pending::complete>(pending));
        most_outstanding = std::max(most_outstanding, ++outstanding);
        if (logs) log.push_back(std::move(asked));
    }

    void complete(Pending& pending) {
        Op& op = *pending.op;
        --outstanding;
        op.error = pending.cancelled ? ECANCELED : pending.error;
        op.completed_at = op.not_before = loop_.now();
        if (op.error == 0) pending.effect();
        free_.push_back(&pending);
        op.done();
    }

    EventLoop& loop_;
    std::vector<std::string> paths_;
    std::vector<std::unique_ptr<Pending>> all_;
    std::vector<Pending*> free_;
};

inline std::size_t index(LoadOperation operation) {
    return static_cast<std::size_t>(operation);
}

/// One meter for a while.
class Rig {
public:
    Rig() {
        plan.seed = 1;
        plan.rows_kept = 10'000'000;
        plan.progress = std::make_shared<MeterProgress>();
        spec.name = "m";
        spec.set.file_bytes = 1 << 20;
        spec.blocks = {{4096, 1}};
    }
    void weigh(LoadOperation operation, double weight) { spec.weights[index(operation)] = weight; }

    /// Until `length` after the start of play, which is a second after the beginning.
    const MeterResult& run(Duration length, Duration interrupt_after = {}) {
        plan.names = load::working_set(spec, "root", plan.seat);
        storage.file_bytes = spec.set.file_bytes;
        for (const auto& name : plan.names.files) storage.names.insert(name);
        for (const auto& name : plan.names.spare) storage.names.insert(name);
        memory.resize(load::Meter::memory_bytes(plan));
        meter = std::make_unique<load::Meter>(loop, storage, plan, memory, Callback::of<&Rig::changed>(this));
        length_ = length;
        meter->prepare();
        if (interrupt_after.ns != 0) {
            loop.at(Instant{} + interrupt_after, Callback::of<&load::Meter::interrupt>(meter.get()));
        }
        loop.run();
        EXPECT_TRUE(meter->finished());
        EXPECT_EQ(storage.outstanding, 0u);
        EXPECT_EQ(storage.open_files, 0) << "each file is closed once";
        result = meter->result();
        // The last progress that a live view was given agrees with the result.
        EXPECT_EQ(plan.progress->done, result.all.done);
        EXPECT_EQ(plan.progress->failed, result.all.failed);
        EXPECT_EQ(plan.progress->bytes_read, of(LoadOperation::read).bytes);
        EXPECT_EQ(plan.progress->bytes_read + plan.progress->bytes_written, result.all.bytes);
        EXPECT_EQ(plan.progress->response_sum_ns, result.all.response_sum_ns);
        expect_nothing_lost();
        return result;
    }

    std::vector<Asked> asked(Asked::Kind kind) const {
        std::vector<Asked> out;
        for (const Asked& each : storage.log) {
            if (each.kind == kind && each.in_play) out.push_back(each);
        }
        return out;
    }
    const OperationResult& of(LoadOperation operation) const { return result.operations[index(operation)]; }
    Instant start() const { return Instant{} + seconds(1); }

    loop::VirtualLoop loop;
    FakeStorage storage{loop};
    load::MeterPlan plan;
    MeterSpec& spec = plan.spec;
    std::vector<std::byte> memory;
    std::unique_ptr<load::Meter> meter;
    MeterResult result;

private:
    void changed() {
        if (!meter->ready()) return;
        storage.playing = true;
        meter->play(start(), start() + length_);
    }

    void expect_nothing_lost() {
        EXPECT_EQ(result.arrived, result.all.done + result.all.failed + result.unfinished);
        std::uint64_t done = 0, failed = 0, bytes = 0;
        for (const OperationResult& each : result.operations) {
            done += each.done;
            failed += each.failed;
            bytes += each.bytes;
        }
        EXPECT_EQ(done, result.all.done);
        EXPECT_EQ(failed, result.all.failed);
        EXPECT_EQ(bytes, result.all.bytes);
        std::uint64_t failed_rows = 0;
        const std::int64_t end_ns = std::min(plan.spec.end.value_or(length_), length_).ns;
        for (const OperationRow& row : meter->rows()) {
            if (row.error != 0 && row.error != ECANCELED && row.completed_ns <= end_ns) ++failed_rows;
        }
        EXPECT_EQ(failed_rows, result.all.failed) << "each that failed has a row that says why";
        std::uint64_t in_series = 0, bytes_in_series = 0, in_cells = 0;
        for (const auto& point : result.series) {
            in_series += point.operations;
            bytes_in_series += point.bytes;
        }
        for (const auto& cell : result.cells) in_cells += cell.cell.transfers;
        EXPECT_EQ(in_series, result.all.done);
        EXPECT_EQ(bytes_in_series, result.all.bytes);
        EXPECT_EQ(in_cells, of(LoadOperation::read).done + of(LoadOperation::write).done);
    }

    Duration length_;
};

}  // namespace streamsim::test
