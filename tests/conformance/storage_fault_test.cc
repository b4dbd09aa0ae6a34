// The faults with their exact instants, in virtual time over the null storage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "base/system/errno_values.h"
#include "conformance/storage_backends.h"
#include "loop/virtual_loop.h"
#include "storage/fault/fault_storage.h"
#include "storage/null_storage.h"

namespace streamsim {
namespace {

using testing::ElementsAre;

class FaultStorageTest : public testing::Test {
protected:
    ~FaultStorageTest() override {
        if (storage_ == nullptr) return;
        bool done = false;
        storage_->shutdown({[](void* flag) { *static_cast<bool*>(flag) = true; }, &done});
        loop_.run();
        EXPECT_TRUE(done);
    }

    /// Parses the faults of a document without its head.
    void faults(const std::string& members, std::uint64_t seed = 1) {
        const auto plan = storage::read_fault_plan(
            R"({"schema": "streamsim.faults", "version": 1, )" + members + "}", "test");
        ASSERT_TRUE(plan) << plan.error().problems.front();
        storage_ = std::make_unique<storage::FaultStorage>(
            loop_, std::make_unique<storage::NullStorage>(loop_, "sim"), *plan, seed, 8);
    }

    FileId open(const std::string& path) {
        TestOpen op;
        op.path = path.c_str();
        storage_->open(op);
        loop_.run();
        EXPECT_EQ(op.error, 0);
        return op.file;
    }

    TestRead& read(FileId file, std::uint64_t slot, std::uint64_t offset = 0, std::uint32_t stream = 0) {
        TestRead& op = reads_.emplace_back();
        op.file = file;
        op.offset = offset;
        op.buffer = {memory_, sizeof memory_};
        op.tag.stream = stream;
        op.tag.slot = slot;
        op.tag.clip_frame = slot % 100;
        storage_->read(op);
        return op;
    }

    TestRead& read_now(FileId file, std::uint64_t slot, std::uint64_t offset = 0, std::uint32_t stream = 0) {
        TestRead& op = read(file, slot, offset, stream);
        loop_.run();
        EXPECT_EQ(op.callbacks, 1);
        return op;
    }

    /// Runs the loop until `when`.
    void advance_to(Instant when) {
        loop_.at(when, {[](void*) {}, nullptr});
        loop_.run();
    }

    loop::VirtualLoop loop_;
    std::unique_ptr<storage::FaultStorage> storage_;
    std::deque<TestRead> reads_;
    std::byte memory_[1000];
};

TEST_F(FaultStorageTest, KnowsWhichSlotsItMet) {
    faults(R"("rules": [{"operation": "read", "slots": {"first": 10, "last": 12}, "delay": "60ms"},
        {"operation": "read", "slots": {"first": 20, "every": 2, "last": 24}, "error": "EIO"},
        {"operation": "read", "slots": {"first": 30, "last": 30}, "short": 10}],
        "stalls": [{"at": "10s", "for": "1s"}])");
    const FileId file = open("clip");
    for (std::uint64_t slot = 0; slot < 40; ++slot) read_now(file, slot);
    storage::InjectedFaults injected = storage_->injected();
    EXPECT_EQ(injected.delayed, 3u);
    EXPECT_EQ(injected.failed, 3u);
    EXPECT_EQ(injected.shortened, 1u);
    for (std::uint64_t slot = 0; slot < 40; ++slot) {
        const bool met = (slot >= 10 && slot <= 12) || slot == 20 || slot == 22 || slot == 24 || slot == 30;
        EXPECT_EQ(injected.met(0, 0, slot), met) << slot;
        EXPECT_FALSE(injected.met(0, 1, slot));
    }
    advance_to(Instant{} + milliseconds(10'500));
    read_now(file, 40, 0, 1);
    injected = storage_->injected();
    EXPECT_EQ(injected.delayed, 4u) << "held back by a stall";
    EXPECT_TRUE(injected.met(0, 1, 40));
    EXPECT_FALSE(injected.met(0, 0, 40));
}

TEST_F(FaultStorageTest, KnowsWhenItHeldAStreamBack) {
    faults(R"("rules": [{"operation": "read", "slots": {"first": 10, "last": 12}, "delay": "60ms"},
        {"operation": "read", "slots": {"first": 20, "last": 20}, "error": "EIO"}],
        "stalls": [{"at": "10s", "for": "1s"}])");
    const FileId file = open("clip");
    advance_to(Instant{} + seconds(1));
    for (const std::uint64_t slot : {9u, 10u, 20u}) read(file, slot);
    loop_.run();
    read_now(file, 11);  // adjacent to slot 10: one interval with it
    advance_to(Instant{} + milliseconds(1200));
    read_now(file, 12);
    advance_to(Instant{} + milliseconds(10'500));
    std::pair<storage::FaultStorage*, TestRead*> stalled(storage_.get(), &read(file, 30, 0, 1));
    const auto cancel = [](void* pair) {
        const auto& [storage, op] = *static_cast<decltype(stalled)*>(pair);
        storage->cancel(*op);
    };
    loop_.at(Instant{} + milliseconds(10'700), {cancel, &stalled});
    loop_.run();
    const auto of = [this](std::uint32_t stream) {
        std::vector<std::pair<std::int64_t, std::int64_t>> times;  // ms
        const auto& delays = storage_->injected().delays;
        const auto found = delays.find({0, stream});
        if (found == delays.end()) return times;
        for (const auto& [from, to] : found->second) times.emplace_back(from.ns / 1'000'000, to.ns / 1'000'000);
        return times;
    };
    EXPECT_THAT(of(0), ElementsAre(std::pair(1000, 1120), std::pair(1200, 1260)))
        << "an error holds nothing back";
    EXPECT_THAT(of(1), ElementsAre(std::pair(10'500, 10'700))) << "a cancelled operation is no longer held";
}

TEST_F(FaultStorageTest, KnowsTheDelaysThatGoOn) {
    faults(R"("rules": [{"operation": "read", "slots": {"first": 10, "last": 10}, "delay": "60ms"},
        {"operation": "read", "slots": {"first": 11, "last": 11}, "delay": "10ms"}])");
    const FileId file = open("clip");
    advance_to(Instant{} + seconds(1));
    for (const std::uint64_t slot : {9u, 10u, 11u}) read(file, slot);
    storage::InjectedFaults meanwhile;
    std::pair<const storage::FaultStorage*, storage::InjectedFaults*> look(storage_.get(), &meanwhile);
    const auto keep = [](void* pair) {
        const auto& [storage, into] = *static_cast<decltype(look)*>(pair);
        *into = storage->injected();
    };
    loop_.at(Instant{} + milliseconds(1030), {keep, &look});
    loop_.run();
    for (const auto& [injected, end] : {std::pair(meanwhile, 1030), std::pair(storage_->injected(), 1060)}) {
        ASSERT_EQ(injected.delays.size(), 1u);
        const auto& delays = injected.delays.at({0, 0});
        ASSERT_EQ(delays.size(), 1u);
        EXPECT_EQ(delays.front().from, Instant{} + seconds(1));
        EXPECT_EQ(delays.front().to, Instant{} + milliseconds(end));
    }
}

TEST_F(FaultStorageTest, ADelayCountsFromTheCompletionAndIsExact) {
    faults(R"("rules": [{"operation": "read", "delay": "60ms"}])");
    const FileId file = open("clip");
    advance_to(Instant{} + seconds(1));
    const TestRead& op = read_now(file, 3);
    EXPECT_EQ(op.submitted_at, Instant{} + seconds(1));
    EXPECT_EQ(op.completed_at, Instant{} + milliseconds(1060));
    EXPECT_EQ(op.not_before, op.completed_at);
    EXPECT_EQ(op.bytes, 1000u);
    EXPECT_EQ(loop_.now(), op.completed_at);
}

TEST_F(FaultStorageTest, WritesAndSyncsOfAFrameSufferAsReadsDo) {
    faults(R"("rules": [{"operation": "write", "slots": {"first": 3, "last": 3}, "delay": "60ms"},
                        {"operation": "sync", "error": "EDQUOT"}, {"file": "bad*", "error": "EIO"},
                        {"operation": "read", "short": 100}])");
    const FileId file = open("clip");
    TestWrite write;
    write.file = file;
    write.buffer = memory_;
    write.tag.slot = 3;
    storage_->write(write);
    loop_.run();
    EXPECT_EQ(write.error, 0);
    EXPECT_EQ(write.bytes, 1000u) << "a file that ends early does so for who reads it";
    EXPECT_EQ(write.completed_at, Instant{} + milliseconds(60));
    EXPECT_EQ(read_now(file, 3).completed_at, Instant{} + milliseconds(60)) << "at once: the rule is of writes";
    TestSync sync;
    sync.file = file;
    storage_->sync(sync);
    loop_.run();
    EXPECT_EQ(sync.error, EDQUOT);
    TestOpen bad;
    bad.path = "bad.mov";
    bad.access = Access::create;
    storage_->open(bad);
    loop_.run();
    EXPECT_EQ(bad.error, EIO);
    TestPath name;
    name.path = "bad.mov";
    storage_->perform(name);
    loop_.run();
    EXPECT_EQ(name.callbacks, 1);
    EXPECT_EQ(name.error, 0) << "no frame";
}

TEST_F(FaultStorageTest, AStallHoldsBackWhatIsDoneByName) {
    faults(R"("stalls": [{"at": "0s", "for": "500ms"}])");
    TestPath name;
    name.kind = PathOp::Kind::remove;
    name.path = "clip";
    storage_->perform(name);
    loop_.run();
    EXPECT_EQ(name.completed_at, Instant{} + milliseconds(500));
}

TEST_F(FaultStorageTest, ADelayIsGivenOnceASlot) {
    faults(R"("rules": [{"operation": "read", "delay": "60ms"}])");
    const FileId file = open("clip");
    const TestRead& first = read(file, 3);
    const TestRead& second = read(file, 3, 1000);
    const TestRead& other_stream = read(file, 3, 0, 1);
    const TestRead& other_slot = read(file, 4);
    const TestRead& again = read(file, 3, 2000);
    loop_.run();
    EXPECT_EQ(first.completed_at, Instant{} + milliseconds(60));
    EXPECT_EQ(second.completed_at, Instant{});
    EXPECT_EQ(other_stream.completed_at, Instant{} + milliseconds(60));
    EXPECT_EQ(other_slot.completed_at, Instant{} + milliseconds(60));
    EXPECT_EQ(again.completed_at, Instant{});
}

TEST_F(FaultStorageTest, ACompletionIsSettledBeforeATimerOfTheSameInstant) {
    faults(R"("rules": [{"operation": "read", "delay": "60ms"}])");
    const FileId file = open("clip");
    struct Slot {
        TestRead* op = nullptr;
        int callbacks_at_deadline = -1;
        void judge() { callbacks_at_deadline = op->callbacks; }
    } slot;
    loop_.at(Instant{} + milliseconds(60),
             Callback::of<&Slot::judge>(&slot));  // set long before the timer of the completion
    slot.op = &read(file, 0);
    loop_.run();
    EXPECT_EQ(slot.callbacks_at_deadline, 1) << "complete at its deadline is on time";
}

TEST_F(FaultStorageTest, DelaysOfSeveralRulesAddUp) {
    faults(R"("rules": [{"delay": "60ms"}, {"delay": "5us", "slots": {"first": 1}}])");
    const FileId file = open("clip");  // slot 0
    EXPECT_EQ(loop_.now(), Instant{} + milliseconds(60));
    EXPECT_EQ(read_now(file, 1).completed_at, Instant{} + milliseconds(120) + microseconds(5));
}

TEST_F(FaultStorageTest, DelaysOfManyRulesAddUpToAYearAtMost) {
    std::string rules = R"({"operation": "read", "delay": "8760h"})";
    for (int i = 1; i < 300; ++i) rules += R"(, {"operation": "read", "delay": "8760h"})";
    faults("\"rules\": [" + rules + "]");
    EXPECT_EQ(read_now(open("clip"), 1).completed_at, Instant{} + storage::FaultPlan::kMaxTime);
}

TEST_F(FaultStorageTest, RemembersNoMoreFilesThanAreOpen) {
    faults(R"("rules": [])");
    const FileId first = open("clip");
    const FileId second = open("clip");
    EXPECT_NE(first, second);
    storage_->close(first);
    EXPECT_EQ(open("clip"), first) << "what it has by file does not grow";
}

TEST_F(FaultStorageTest, RulesSelectSlotsFramesStreamsFilesAndOperations) {
    faults(R"("rules": [
        {"slots": {"first": 20, "last": 26, "every": 3}, "error": "EIO"},
        {"clip_frames": {"first": 50, "last": 50}, "error": "ESTALE"},
        {"stream": 7, "slots": {"first": 1, "last": 1}, "error": "EACCES"},
        {"file": "*.0??.dpx", "operation": "read", "error": "ETIMEDOUT"},
        {"file": "/a/*", "operation": "open", "missing": true}])");
    const FileId file = open("/b/clip.mov");
    std::set<std::uint64_t> failed;
    for (std::uint64_t slot = 0; slot < 40; ++slot) {
        const TestRead& op = read_now(file, slot);
        if (op.error != 0) failed.insert(slot);
        EXPECT_TRUE(op.error == 0 || op.error == EIO);
        EXPECT_EQ(op.bytes, op.error == 0 ? 1000u : 0u);
    }
    EXPECT_THAT(failed, ElementsAre(20, 23, 26));
    EXPECT_EQ(read_now(file, 150).error, ESTALE) << "the second pass over frame 50";
    EXPECT_EQ(read_now(file, 1, 0, 7).error, EACCES);
    EXPECT_EQ(read_now(open("/b/shot.012.dpx"), 0).error, ETIMEDOUT);
    EXPECT_EQ(read_now(open("/b/shot.112.dpx"), 0).error, 0);
    TestOpen missing;
    missing.path = "/a/b/clip.mov";
    storage_->open(missing);
    EXPECT_EQ(missing.callbacks, 0) << "not inside the call";
    loop_.run();
    EXPECT_EQ(missing.error, ENOENT);
    EXPECT_EQ(missing.file, kNoFile);
    EXPECT_EQ(missing.completed_at, missing.submitted_at);
}

TEST_F(FaultStorageTest, AShortFileEndsAtThatByte) {
    faults(R"("rules": [{"file": "short", "short": "1500B"}, {"file": "empty", "short": 0}])");
    const FileId file = open("short");
    EXPECT_EQ(read_now(file, 0, 0).bytes, 1000u);
    EXPECT_EQ(read_now(file, 0, 1000).bytes, 500u);
    EXPECT_EQ(read_now(file, 0, 2000).bytes, 0u);
    EXPECT_EQ(read_now(file, 0, 2000).error, 0);
    EXPECT_EQ(read_now(open("empty"), 0).bytes, 0u);
    EXPECT_EQ(read_now(open("other"), 0, 5000).bytes, 1000u);
}

TEST_F(FaultStorageTest, WhatIsMissingIsMissingInAnOpenContainerToo) {
    faults(R"("rules": [{"slots": {"first": 5, "last": 5}, "missing": true}])");
    const FileId file = open("clip.mov");
    EXPECT_EQ(read_now(file, 4).error, 0);
    EXPECT_EQ(read_now(file, 5).error, ENOENT);
}

TEST_F(FaultStorageTest, AStallHoldsBackWhatWouldCompleteInside) {
    faults(R"("stalls": [{"at": "2s", "for": "300ms"}, {"at": "2200ms", "for": "300ms"}])");
    const FileId file = open("clip");  // the origin: 0
    const auto completes = [&](Duration at) {
        advance_to(Instant{} + at);
        return read_now(file, 0).completed_at - Instant{};
    };
    EXPECT_EQ(completes(seconds(2) - nanoseconds(1)), seconds(2) - nanoseconds(1));
    EXPECT_EQ(completes(seconds(2)), milliseconds(2500)) << "overlapping stalls are one";
    EXPECT_EQ(completes(milliseconds(2500)), milliseconds(2500)) << "the end is outside";
}

TEST_F(FaultStorageTest, StallsCountFromTheOriginThatIsSet) {
    faults(R"("stalls": [{"at": "2s", "for": "500ms"}], "rules": [{"operation": "read", "delay": "1ms"}])");
    const FileId file = open("clip");
    storage_->set_origin(Instant{} + seconds(10));
    advance_to(Instant{} + milliseconds(2100));
    EXPECT_EQ(read_now(file, 0).completed_at, Instant{} + milliseconds(2101));
    advance_to(Instant{} + milliseconds(11'999));
    const TestRead& op = read_now(file, 1);
    EXPECT_EQ(op.completed_at, Instant{} + milliseconds(12'500)) << "delayed into the stall";
    EXPECT_EQ(op.not_before, op.completed_at);
}

TEST_F(FaultStorageTest, ChanceDependsOnTheSeedAndNotOnTheOrder) {
    const auto unlucky = [this](std::uint64_t seed, bool backwards) {
        faults(R"("rules": [{"probability": 0.25, "error": "EIO", "operation": "read"}])", seed);
        const FileId file = open("clip");
        std::set<std::uint64_t> out;
        for (std::uint64_t i = 0; i < 2000; ++i) {
            const std::uint64_t slot = backwards ? 1999 - i : i;
            if (read_now(file, slot).error != 0) out.insert(slot);
            EXPECT_EQ(read_now(file, slot).error != 0, out.contains(slot)) << "one decision for one slot";
        }
        bool done = false;
        storage_->shutdown({[](void* flag) { *static_cast<bool*>(flag) = true; }, &done});
        loop_.run();
        storage_.reset();
        return out;
    };
    const auto forwards = unlucky(1, false);
    EXPECT_EQ(forwards, unlucky(1, true));
    EXPECT_NE(forwards, unlucky(2, false));
    EXPECT_NEAR(static_cast<double>(forwards.size()), 500, 80);
}

TEST_F(FaultStorageTest, ADelayedOperationCanBeCancelled) {
    faults(R"("rules": [{"operation": "read", "delay": "60ms"}])");
    const FileId file = open("clip");
    TestRead& waiting = read(file, 1);
    TestRead& fresh = read(file, 2);
    storage_->cancel(fresh);  // still with the storage below
    struct Later {
        storage::FaultStorage& storage;
        TestRead& op;
        void cancel() {
            storage.cancel(op);
            storage.cancel(op);
            EXPECT_EQ(op.callbacks, 0);
        }
    } later{*storage_, waiting};
    loop_.at(Instant{} + milliseconds(10), Callback::of<&Later::cancel>(&later));
    loop_.run();
    EXPECT_EQ(waiting.callbacks, 1);
    EXPECT_EQ(waiting.completed_at, Instant{} + milliseconds(10));
    EXPECT_EQ(fresh.callbacks, 1);
    EXPECT_EQ(fresh.completed_at, Instant{});
}

TEST_F(FaultStorageTest, OneStreamPlaysOnWhileAnothersFramesAreDelayed) {
    faults(R"("rules": [{"stream": 0, "delay": "1s"}])");
    const FileId file = open("clip");  // slot 0 of stream 0: a second
    std::vector<Instant> other;
    read(file, 1, 0, 0);
    for (std::uint64_t slot = 0; slot < 10; ++slot) other.push_back(read_now(file, slot, 0, 1).completed_at);
    EXPECT_EQ(other.front(), Instant{} + seconds(1));
    EXPECT_EQ(reads_.front().completed_at, Instant{} + seconds(2));
}

}  // namespace
}  // namespace streamsim
