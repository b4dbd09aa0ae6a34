// The contract of streamsim/storage.h for writes, tested against every storage that writes. The tests check the
// contents of files by the system's own calls, not by the storage under test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <filesystem>
#include <fstream>

#include "conformance/storage_write_fixture.h"

namespace streamsim {
namespace {

constexpr auto kStat = PathOp::Kind::stat;
constexpr auto kList = PathOp::Kind::list;
constexpr auto kMakeDirectory = PathOp::Kind::make_directory;
constexpr auto kRemove = PathOp::Kind::remove;
constexpr auto kRename = PathOp::Kind::rename;

// Promises that only some storages make.
class WrittenFileConformance : public WriteConformance {};     // files keep their contents
class UnalignedWriteConformance : public WriteConformance {};  // any offset and size

void expect_in_order(const Op& op, Instant before, Instant submitted) {
    EXPECT_LE(before, op.submitted_at);
    EXPECT_LE(op.submitted_at, submitted);
    EXPECT_LE(op.submitted_at, op.not_before);
    EXPECT_LE(op.not_before, op.completed_at);
}

TEST_P(WriteConformance, CallsBackOnceAndNeverInsideTheCallAndStampsInOrder) {
    ASSERT_TRUE(storage().capabilities().writes);
    std::filesystem::create_directory(directory_ / "full");
    write_test_file(directory_ / "full/old", 1, 100);
    write_test_file(directory_ / "loose", 1, 100);
    const FileId file = create_now("clip");
    const FileId other = create_now("other");
    std::deque<TestPath> names(5);
    TestOpen open;
    TestWrite write;
    TestSync sync;
    const Instant before = loop().now();
    begin_open(open, directory_ / "made", Access::create_new);
    begin_write(write, file, 0, buffer(0, kBlock));
    begin_sync(sync, other);
    begin(names[0], kStat, directory_ / "clip");
    begin(names[1], kList, directory_ / "full");
    begin(names[2], kMakeDirectory, directory_ / "directory");
    begin(names[3], kRename, directory_ / "loose", directory_ / "renamed");
    begin(names[4], kRemove, directory_ / "full/old");
    const Instant submitted = loop().now();
    EXPECT_EQ(open.callbacks + write.callbacks + sync.callbacks, 0);
    for (const TestPath& name : names) EXPECT_EQ(name.callbacks, 0);
    wait();
    expect_in_order(open, before, submitted);
    expect_in_order(write, before, submitted);
    expect_in_order(sync, before, submitted);
    EXPECT_EQ(open.error, 0);
    EXPECT_EQ(write.error, 0);
    EXPECT_EQ(write.bytes, kBlock);
    EXPECT_EQ(sync.error, 0);
    EXPECT_EQ(open.callbacks + write.callbacks + sync.callbacks, 3);
    for (const TestPath& name : names) {
        expect_in_order(name, before, submitted);
        EXPECT_EQ(name.callbacks, 1);
        EXPECT_EQ(name.error, 0);
    }
}

TEST_P(WriteConformance, TakesManyMoreWritesThanItHasInFlight) {
    const FileId file = create_now("clip");
    const auto all = filled(0, 600 * 4096, 7, 0);
    std::deque<TestWrite> writes(600);
    for (std::uint64_t i = 0; i < writes.size(); ++i) {
        const std::uint64_t at = i * 7 % 600 * 4096;  // not in order
        begin_write(writes[i], file, at, all.subspan(at, 4096));
    }
    wait();
    for (const TestWrite& write : writes) {
        EXPECT_EQ(write.callbacks, 1);
        EXPECT_EQ(write.error, 0);
        EXPECT_EQ(write.bytes, 4096u);
    }
    if (!GetParam().has_files) return;
    const std::string text = contents(directory_ / "clip");
    EXPECT_EQ(text.size(), all.size());
    EXPECT_EQ(same_text(text, 7, 0), all.size());
}

TEST_P(WriteConformance, CancelStillCallsBackOnce) {
    make({4, 2});
    const FileId file = create_now("clip");
    std::deque<TestWrite> writes(64);  // some are in flight, most wait in line
    std::deque<TestPath> lists(16);
    const std::string here = directory_.path();
    for (std::size_t i = 0; i < writes.size(); ++i)
        begin_write(writes[i], file, i * 2 * kBlock, buffer(i * 2 * kBlock, 2 * kBlock));
    for (TestPath& list : lists) begin(list, kList, here);
    const auto cancel = [this](Op& op, const int& callbacks) {
        storage().cancel(op);
        storage().cancel(op);
        EXPECT_EQ(callbacks, 0) << "not inside the call";
    };
    for (std::size_t i = 0; i < writes.size(); i += 2) cancel(writes[i], writes[i].callbacks);
    for (std::size_t i = 0; i < lists.size(); i += 2) cancel(lists[i], lists[i].callbacks);
    wait();
    std::size_t cancelled = 0;
    for (std::size_t i = 0; i < writes.size(); ++i) {
        EXPECT_EQ(writes[i].callbacks, 1);
        if (writes[i].error == ECANCELED) {
            EXPECT_EQ(i % 2, 0u) << "only those that were cancelled";
            EXPECT_LT(writes[i].bytes, 2 * kBlock);
            ++cancelled;
        } else {
            EXPECT_EQ(writes[i].error, 0);
            EXPECT_EQ(writes[i].bytes, 2 * kBlock);
        }
    }
    for (std::size_t i = 0; i < lists.size(); ++i) {
        EXPECT_EQ(lists[i].callbacks, 1);
        EXPECT_TRUE(lists[i].error == 0 || (lists[i].error == ECANCELED && i % 2 == 0));
    }
    if (GetParam().has_files) {
        EXPECT_GT(cancelled, 0u) << "those in line never reach the disk";
    }
    TestWrite again;
    begin_write(again, file, 0, buffer(0, kBlock));
    wait();
    EXPECT_EQ(again.error, 0);
}

TEST_P(WriteConformance, ShutdownLosesNothing) {
    const FileId file = create_now("clip");
    std::deque<TestWrite> writes(40);
    const auto all = filled(0, writes.size() * kBlock, 3, 0);
    for (std::size_t i = 0; i < writes.size(); ++i)
        begin_write(writes[i], file, i * kBlock, all.subspan(i * kBlock, kBlock));
    TestPath list;
    const std::string here = directory_.path();
    begin(list, kList, here);
    struct Check {
        std::deque<TestWrite>& writes;
        TestPath& list;
        void on_done() {
            EXPECT_EQ(list.callbacks, 1);
            for (const TestWrite& write : writes) EXPECT_EQ(write.callbacks, 1);
        }
    } check{writes, list};
    harness_->shut_down(Callback::of<&Check::on_done>(&check));
    harness_.reset();
    for (const TestWrite& write : writes) EXPECT_EQ(write.bytes, kBlock);
    if (!GetParam().has_files) return;
    EXPECT_EQ(same_text(contents(directory_ / "clip"), 3, 0), all.size());
}

// A recorder of one file for each frame: it creates, writes in two pieces, syncs, closes and renames each file
// from callbacks, and uses the same operations for the next file.
class FrameWriter {
public:
    FrameWriter(Storage& storage, std::string base, std::span<const std::byte> frame, int files)
        : storage_(storage), base_(std::move(base)), frame_(frame), left_(files) {
        open_.then = Callback::of<&FrameWriter::write>(this);
        for (TestWrite& write : writes_) write.then = Callback::of<&FrameWriter::sync>(this);
        sync_.then = Callback::of<&FrameWriter::name>(this);
        rename_.then = Callback::of<&FrameWriter::next>(this);
    }

    void next() {
        EXPECT_EQ(rename_.error, 0);
        if (left_ == 0) return;
        --left_;
        under_way_ = base_ + ".part";
        named_ = base_ + std::to_string(left_);
        open_.path = under_way_.c_str();
        open_.access = Access::create_new;
        storage_.open(open_);
    }

private:
    void write() {
        ASSERT_EQ(open_.error, 0);
        for (std::size_t i = 0; i < 2; ++i) {
            writes_[i].file = open_.file;
            writes_[i].offset = i * frame_.size() / 2;
            writes_[i].buffer = frame_.subspan(writes_[i].offset, frame_.size() / 2);
            storage_.write(writes_[i]);
        }
    }
    void sync() {
        if (++written_ % 2 != 0) return;
        sync_.file = open_.file;
        storage_.sync(sync_);
    }
    void name() {
        EXPECT_EQ(sync_.error, 0);
        storage_.close(open_.file);
        rename_.kind = PathOp::Kind::rename;
        rename_.path = under_way_.c_str();
        rename_.to = named_.c_str();
        storage_.perform(rename_);
    }

    Storage& storage_;
    std::string base_;
    std::string under_way_;
    std::string named_;
    std::span<const std::byte> frame_;
    int left_;
    int written_ = 0;
    TestOpen open_;
    TestWrite writes_[2];
    TestSync sync_;
    TestPath rename_;
};

TEST_P(WriteConformance, ManyFilesAreMadeWrittenAndSyncedAtOnce) {
    constexpr int kWriters = 12;
    constexpr int kFiles = 3;
    const auto frame = filled(0, 2 * kBlock, 9, 0);
    std::deque<FrameWriter> writers;
    for (int i = 0; i < kWriters; ++i) {
        writers.emplace_back(storage(), directory_ / ("frame-" + std::to_string(i) + "-"), frame, kFiles);
        writers.back().next();
    }
    wait();
    if (!GetParam().has_files) return;
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
        EXPECT_EQ(same_text(contents(entry.path().string()), 9, 0), 2 * kBlock) << entry.path();
        ++files;
    }
    EXPECT_EQ(files, kWriters * kFiles);
}

TEST_P(WrittenFileConformance, WhatWasWrittenCanBeReadThroughTheSameFile) {
    const FileId file = create_now("clip");
    write_now(file, 0, filled(0, 4 * kBlock, 5, 0));
    TestRead read;
    begin_read(read, file, kBlock, buffer(8 * kBlock, 4 * kBlock));
    wait();
    EXPECT_EQ(read.error, 0);
    ASSERT_EQ(read.bytes, 3 * kBlock);
    EXPECT_EQ(same_bytes(read.buffer.first(read.bytes), 5, kBlock), 3 * kBlock);
}

TEST_P(WrittenFileConformance, MemoryThatWasNotAnnouncedWorksToo) {
    const auto other = storage::BufferArena::make(kBlock, {}).value();
    for (std::uint64_t i = 0; i < kBlock; ++i) other.memory()[i] = test_byte(2, i);
    write_now(create_now("clip"), 0, other.memory());
    EXPECT_EQ(same_text(contents(directory_ / "clip"), 2, 0), kBlock);
}

TEST_P(WrittenFileConformance, BeyondTheEndLeavesZeroesBetween) {
    const FileId file = create_now("clip");
    write_now(file, 3 * kBlock, filled(0, kBlock, 5, 3 * kBlock));
    const std::string text = contents(directory_ / "clip");
    ASSERT_EQ(text.size(), 4 * kBlock);
    EXPECT_TRUE(std::all_of(text.begin(), text.begin() + 3 * kBlock, [](char each) { return each == 0; }));
    EXPECT_EQ(same_text(std::string_view(text).substr(3 * kBlock), 5, 3 * kBlock), kBlock);
}

TEST_P(WrittenFileConformance, WhatAFileHoldsStays) {
    const std::string path = make_file("clip", 1, 4 * kBlock + 100);
    for (const Access access : {Access::write, Access::create}) {
        const FileId file = open_now(path, access);
        write_now(file, kBlock, filled(0, kBlock, 2, kBlock));
        storage().close(file);
        wait();
        const std::string text = contents(path);
        ASSERT_EQ(text.size(), 4 * kBlock + 100);
        const std::string_view view = text;
        EXPECT_EQ(same_text(view.substr(0, kBlock), 1, 0), kBlock);
        EXPECT_EQ(same_text(view.substr(kBlock, kBlock), 2, kBlock), kBlock);
        EXPECT_EQ(same_text(view.substr(2 * kBlock), 1, 2 * kBlock), 2 * kBlock + 100);
    }
}

TEST_P(WrittenFileConformance, FilesAreMadeOnlyAsAsked) {
    const std::string path = directory_ / "clip";
    EXPECT_EQ(try_open(path, Access::read), ENOENT);
    EXPECT_EQ(try_open(path, Access::write), ENOENT);
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(try_open(directory_ / "nobody/clip", Access::create), ENOENT);
    EXPECT_EQ(try_open(path, Access::create_new), 0);
    EXPECT_EQ(std::filesystem::file_size(path), 0u);
    EXPECT_EQ(try_open(path, Access::create_new), EEXIST);
    EXPECT_EQ(try_open(path, Access::create), 0);
    EXPECT_EQ(try_open(path, Access::write), 0);
    EXPECT_EQ(try_open(path + "/below", Access::create), ENOTDIR);
    EXPECT_EQ(try_open(directory_.path(), Access::write), EISDIR);
}

TEST_P(WrittenFileConformance, AWriteAndASyncOfNoFileAreErrors) {
    TestWrite write;
    TestSync sync;
    begin_write(write, kNoFile, 0, buffer(0, kBlock));
    begin_sync(sync, kNoFile);
    wait();
    EXPECT_EQ(write.error, EBADF);
    EXPECT_EQ(write.bytes, 0u);
    EXPECT_EQ(sync.error, EBADF);
}

TEST_P(WrittenFileConformance, ARenameReplaces) {
    const std::string from = make_file("new", 1, kBlock);
    const std::string to = make_file("old", 2, 2 * kBlock);
    EXPECT_EQ(perform_now(kRename, from, to), 0);
    EXPECT_FALSE(std::filesystem::exists(from));
    const std::string text = contents(to);
    EXPECT_EQ(text.size(), kBlock);
    EXPECT_EQ(same_text(text, 1, 0), kBlock);
    EXPECT_EQ(perform_now(kRename, from, to), ENOENT);
    EXPECT_EQ(std::filesystem::file_size(to), kBlock);
}

TEST_P(WrittenFileConformance, RemovesFilesAndEmptyDirectories) {
    EXPECT_EQ(perform_now(kMakeDirectory, directory_ / "set"), 0);
    EXPECT_EQ(perform_now(kMakeDirectory, directory_ / "set"), EEXIST);
    EXPECT_EQ(perform_now(kMakeDirectory, directory_ / "nobody/set"), ENOENT);
    EXPECT_TRUE(std::filesystem::is_directory(directory_ / "set"));
    const std::string file = directory_ / "set/clip";
    EXPECT_EQ(try_open(file, Access::create), 0);
    EXPECT_EQ(perform_now(kRemove, directory_ / "set"), ENOTEMPTY);
    EXPECT_EQ(perform_now(kRemove, file + "/below"), ENOTDIR);
    EXPECT_TRUE(std::filesystem::exists(file));
    EXPECT_EQ(perform_now(kRemove, file), 0);
    EXPECT_EQ(perform_now(kRemove, file), ENOENT);
    EXPECT_EQ(perform_now(kRemove, directory_ / "set"), 0);
    EXPECT_FALSE(std::filesystem::exists(directory_ / "set"));
}

TEST_P(WrittenFileConformance, ListsEveryEntry) {
    const std::string directory = directory_ / "many";
    std::filesystem::create_directory(directory);
    TestPath list;
    begin(list, kList, directory);
    wait();
    EXPECT_EQ(list.error, 0);
    EXPECT_EQ(list.entries, 0u);
    for (int i = 0; i < 700; ++i)
        std::ofstream(directory + "/a-name-as-long-as-a-frame-has-it." + std::to_string(i));
    begin(list, kList, directory);
    wait();
    EXPECT_EQ(list.error, 0);
    EXPECT_EQ(list.entries, 700u);
    EXPECT_EQ(perform_now(kList, directory_ / "nobody"), ENOENT);
    EXPECT_EQ(perform_now(kList, directory + "/a-name-as-long-as-a-frame-has-it.0"), ENOTDIR);
}

TEST_P(WrittenFileConformance, TellsSizes) {
    const std::string path = make_file("clip", 1, kBlock + 13);
    TestPath stat;
    begin(stat, kStat, path);
    wait();
    EXPECT_EQ(stat.error, 0);
    EXPECT_EQ(stat.bytes, kBlock + 13);
    begin(stat, kStat, directory_.path());
    wait();
    EXPECT_EQ(stat.error, 0);
    EXPECT_EQ(stat.bytes, 0u) << "of files alone";
    EXPECT_EQ(perform_now(kStat, directory_ / "nobody"), ENOENT);
}

TEST_P(WrittenFileConformance, AFileIsSyncedAfterItsWrites) {
    const FileId file = create_now("clip");
    for (std::uint64_t i = 0; i < 3; ++i) {
        write_now(file, i * kBlock, filled(0, kBlock, 4, i * kBlock));
        TestSync sync;
        begin_sync(sync, file);
        wait();
        EXPECT_EQ(sync.callbacks, 1);
        EXPECT_EQ(sync.error, 0);
    }
    EXPECT_EQ(same_text(contents(directory_ / "clip"), 4, 0), 3 * kBlock);
}

TEST_P(UnalignedWriteConformance, OddOffsets) {
    const FileId file = open_now(make_file("clip", 1, kBlock), Access::write);
    ASSERT_EQ(storage().capabilities().alignment, 1u);
    write_now(file, 4099, filled(3, 1001, 2, 4099));
    const std::string text = contents(directory_ / "clip");
    ASSERT_EQ(text.size(), kBlock);
    EXPECT_EQ(same_text(std::string_view(text).substr(0, 4099), 1, 0), 4099u);
    EXPECT_EQ(same_text(std::string_view(text).substr(4099, 1001), 2, 4099), 1001u);
    EXPECT_EQ(same_text(std::string_view(text).substr(5100), 1, 5100), kBlock - 5100);
}

INSTANTIATE_TEST_SUITE_P(All, WriteConformance, testing::ValuesIn(writing_backends()), name_of);
INSTANTIATE_TEST_SUITE_P(All,
                         WrittenFileConformance,
                         testing::ValuesIn(writing([](const Backend& each) { return each.has_files; })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All,
                         UnalignedWriteConformance,
                         testing::ValuesIn(writing([](const Backend& each) {
                             return each.has_files && !each.direct;
                         })),
                         name_of);

// Some programs with this suite have no backend of some kind.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WriteConformance);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WrittenFileConformance);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(UnalignedWriteConformance);

}  // namespace
}  // namespace streamsim
