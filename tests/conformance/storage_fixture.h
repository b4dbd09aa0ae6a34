// What the conformance suite's files have in common: the fixture, with a backend to itself, and its verbs.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "conformance/storage_backends.h"

namespace streamsim {

constexpr std::uint64_t kBlock = 64 * 1024;

class StorageConformance : public testing::TestWithParam<Backend> {
protected:
    void SetUp() override { make({}); }

    void TearDown() override {
        if (harness_ != nullptr) harness_->shut_down();
    }

    void make(HarnessOptions options) {
        if (options.writes_below.empty()) options.writes_below = directory_.path();
        if (harness_ != nullptr) harness_->shut_down();
        std::string why_not;
        harness_ = GetParam().make(GetParam(), options, why_not);
        if (harness_ == nullptr) GTEST_SKIP() << "not on this machine: " << why_not;
        if (arena_.memory().empty()) arena_ = storage::BufferArena::make(std::uint64_t{16} << 20, {}).value();
        storage().use_memory(arena_.memory());
    }

    Storage& storage() { return harness_->storage(); }
    EventLoop& loop() { return harness_->loop(); }
    /// Until nothing is outstanding.
    void wait() { loop().run(); }

    std::span<std::byte> buffer(std::uint64_t offset, std::uint64_t bytes) {
        return arena_.memory().subspan(offset, bytes);
    }

    void begin_open(TestOpen& op, const std::string& path, Access access = Access::read) {
        op.path = names_.emplace_back(path).c_str();
        op.access = access;
        storage().open(op);
    }
    void begin_read(TestRead& op, FileId file, std::uint64_t offset, std::span<std::byte> into) {
        op.file = file;
        op.offset = offset;
        op.buffer = into;
        storage().read(op);
    }

    void begin_write(TestWrite& op, FileId file, std::uint64_t offset, std::span<const std::byte> from) {
        op.file = file;
        op.offset = offset;
        op.buffer = from;
        storage().write(op);
    }
    void begin_sync(TestSync& op, FileId file) {
        op.file = file;
        storage().sync(op);
    }
    void begin(TestPath& op, PathOp::Kind kind, const std::string& path, const std::string& to = {}) {
        op.kind = kind;
        op.path = names_.emplace_back(path).c_str();
        op.to = names_.emplace_back(to).c_str();
        storage().perform(op);
    }

    FileId open_now(const std::string& path, Access access = Access::read) {
        TestOpen op;
        begin_open(op, path, access);
        wait();
        EXPECT_EQ(op.error, 0) << path;
        EXPECT_EQ(op.callbacks, 1);
        return op.file;
    }

    /// Its error.
    int try_open(const std::string& path, Access access) {
        TestOpen op;
        begin_open(op, path, access);
        wait();
        EXPECT_EQ(op.callbacks, 1);
        if (op.error == 0) storage().close(op.file);
        wait();
        return op.error;
    }
    /// The same.
    int perform_now(PathOp::Kind kind, const std::string& path, const std::string& to = {}) {
        TestPath op;
        begin(op, kind, path, to);
        wait();
        EXPECT_EQ(op.callbacks, 1);
        return op.error;
    }

    /// Test bytes from `seed` and `offset` on, in the buffer at `at`.
    std::span<const std::byte> filled(std::uint64_t at,
                                      std::uint64_t bytes,
                                      std::uint64_t seed,
                                      std::uint64_t offset) {
        const auto out = buffer(at, bytes);
        fill_with_test_bytes(out, seed, offset);
        return out;
    }

    std::string make_file(const std::string& name, std::uint64_t seed, std::uint64_t bytes) {
        std::string path = directory_ / name;
        write_test_file(path, seed, bytes);
        return path;
    }

    TemporaryDirectory directory_;
    std::deque<std::string> names_;  // what operations point to
    storage::BufferArena arena_ = storage::BufferArena::make(0, {}).value();
    std::unique_ptr<StorageHarness> harness_;
};

inline std::vector<Backend> those(bool (*fit)(const Backend&)) {
    std::vector<Backend> fitting;
    for (const Backend& each : all_backends()) {
        if (fit(each)) fitting.push_back(each);
    }
    return fitting;
}

inline std::string name_of(const testing::TestParamInfo<Backend>& instance) {
    return instance.param.name;
}

}  // namespace streamsim
