// What every storage that writes promises (streamsim/storage.h), held against all of them. What is in a file
// afterwards is read by the system's own calls, not by the storage under test.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "conformance/storage_fixture.h"

namespace streamsim {
namespace {

constexpr auto kStat = PathOp::Kind::stat;
constexpr auto kList = PathOp::Kind::list;
constexpr auto kMakeDirectory = PathOp::Kind::make_directory;
constexpr auto kRemove = PathOp::Kind::remove;
constexpr auto kRename = PathOp::Kind::rename;

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    return {std::istreambuf_iterator<char>(file), {}};
}

/// How many bytes of the text are as in the test file, from its `offset` on.
std::uint64_t same_text(std::string_view text, std::uint64_t seed, std::uint64_t offset) {
    return same_bytes(std::as_bytes(std::span(text)), seed, offset);
}

class WriteConformance : public StorageConformance {
protected:
    /// A file that is there afterwards and open for writing.
    FileId create_now(const std::string& name) { return open_now(directory_ / name, Access::create); }

    void write_now(FileId file, std::uint64_t offset, std::span<const std::byte> from) {
        TestWrite op;
        begin_write(op, file, offset, from);
        EXPECT_EQ(op.callbacks, 0) << "not inside the call";
        wait();
        EXPECT_EQ(op.callbacks, 1);
        EXPECT_EQ(op.error, 0);
        EXPECT_EQ(op.bytes, from.size());
    }
};

// What only some of them promise.
class WrittenFileConformance : public WriteConformance {};     // files keep what is written
class LocalWriteConformance : public WriteConformance {};      // and are of this system
class UnalignedWriteConformance : public WriteConformance {};  // and of any size

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

// A recorder of one file a frame: each file is made, written in two pieces, synced, closed and named, all from
// callbacks, and the same operations serve for the next one.
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
        EXPECT_EQ(same_text(contents(entry.path()), 9, 0), 2 * kBlock) << entry.path();
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

TEST_P(LocalWriteConformance, NewFilesAndDirectoriesHaveTheModeThatTheUserWants) {
    const mode_t before = umask(027);
    EXPECT_EQ(try_open(directory_ / "clip", Access::create_new), 0);
    EXPECT_EQ(perform_now(kMakeDirectory, directory_ / "set"), 0);
    umask(before);
    struct stat info {};
    ASSERT_EQ(::stat((directory_ / "clip").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0640u);
    ASSERT_EQ(::stat((directory_ / "set").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0750u);
}

/// This process's files may not grow beyond `bytes`: a write that crosses the limit is short, the next one
/// fails.
class SizeLimit {
public:
    explicit SizeLimit(std::uint64_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    }
    ~SizeLimit() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, signal_);
    }
    SizeLimit(const SizeLimit&) = delete;
    SizeLimit& operator=(const SizeLimit&) = delete;

private:
    void (*signal_)(int);
    rlimit before_{};
};

TEST_P(LocalWriteConformance, AShortWriteIsRepeatedAndItsErrorTold) {
    const FileId file = create_now("clip");
    TestWrite across;
    TestWrite beyond;
    {
        const SizeLimit limit(2 * kBlock);
        begin_write(across, file, kBlock, filled(0, 2 * kBlock, 5, kBlock));
        wait();
        begin_write(beyond, file, 4 * kBlock, buffer(0, kBlock));
        wait();
    }
    EXPECT_EQ(across.error, EFBIG);
    EXPECT_EQ(across.bytes, kBlock);
    EXPECT_EQ(beyond.error, EFBIG);
    EXPECT_EQ(beyond.bytes, 0u);
    const std::string text = contents(directory_ / "clip");
    ASSERT_EQ(text.size(), 2 * kBlock);
    EXPECT_EQ(same_text(std::string_view(text).substr(kBlock), 5, kBlock), kBlock);
}

/// A file system in memory, mounted on a directory of its own; null where this user may not mount.
class Mounted {
public:
    static std::unique_ptr<Mounted> make(const char* type, std::string place, const char* options) {
        std::filesystem::create_directory(place);
        if (mount("streamsim-test", place.c_str(), type, 0, options) != 0) return nullptr;
        return std::unique_ptr<Mounted>(new Mounted(std::move(place)));
    }
    ~Mounted() { umount2(place_.c_str(), MNT_DETACH); }
    Mounted(const Mounted&) = delete;
    Mounted& operator=(const Mounted&) = delete;

private:
    explicit Mounted(std::string place) : place_(std::move(place)) {}
    std::string place_;
};

TEST_P(LocalWriteConformance, AFullFileSystemEndsInErrorsAndHarmsNothing) {
    const std::string place = directory_ / "tiny";
    const auto tiny = Mounted::make("tmpfs", place, "size=256k");
    if (tiny == nullptr) GTEST_SKIP() << "this user may not mount a file system";
    write_test_file(place + "/before", 1, kBlock);
    const FileId file = open_now(place + "/clip", Access::create);
    std::deque<TestWrite> writes(8);
    const auto all = filled(0, 8 * kBlock, 2, 0);
    for (std::size_t i = 0; i < writes.size(); ++i)
        begin_write(writes[i], file, i * kBlock, all.subspan(i * kBlock, kBlock));
    wait();
    std::uint64_t written = 0;
    std::size_t full = 0;
    for (const TestWrite& write : writes) {
        EXPECT_EQ(write.callbacks, 1);
        EXPECT_TRUE(write.error == ENOSPC || (write.error == 0 && write.bytes == kBlock)) << write.error;
        full += write.error == ENOSPC ? 1 : 0;
        written += write.bytes;
        const auto text = contents(place + "/clip");
        if (write.bytes > 0) {
            const auto part = std::string_view(text).substr(write.offset, write.bytes);
            EXPECT_EQ(same_text(part, 2, write.offset), write.bytes);
        }
    }
    EXPECT_EQ(written, 3 * kBlock);
    EXPECT_EQ(full, 5u);
    EXPECT_EQ(same_text(contents(place + "/before"), 1, 0), kBlock);
    storage().close(file);
    wait();
}

// ramfs has no direct I/O, and says so after it has made the file.
TEST_P(LocalWriteConformance, WhereDirectWritesAreRefusedTheyGoThroughThePageCache) {
    const std::string place = directory_ / "ramfs";
    const auto ramfs = Mounted::make("ramfs", place, nullptr);
    if (ramfs == nullptr) GTEST_SKIP() << "this user may not mount a file system";
    const FileId file = open_now(place + "/clip", Access::create_new);
    EXPECT_FALSE(storage().capabilities().direct);
    ASSERT_GE(file, 0);
    write_now(file, 0, filled(0, kBlock, 2, 0));
    EXPECT_EQ(same_text(contents(place + "/clip"), 2, 0), kBlock);
    EXPECT_EQ(try_open(place + "/clip", Access::create_new), EEXIST);
    storage().close(file);
    wait();
}

std::vector<Backend> writing(bool (*fit)(const Backend&)) {
    std::vector<Backend> fitting = writing_backends();
    std::erase_if(fitting, [fit](const Backend& each) { return !fit(each); });
    return fitting;
}

INSTANTIATE_TEST_SUITE_P(All, WriteConformance, testing::ValuesIn(writing_backends()), name_of);
INSTANTIATE_TEST_SUITE_P(All,
                         WrittenFileConformance,
                         testing::ValuesIn(writing([](const Backend& each) { return each.has_files; })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All,
                         LocalWriteConformance,
                         testing::ValuesIn(writing([](const Backend& each) {
                             return each.has_files && each.is_local;
                         })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All,
                         UnalignedWriteConformance,
                         testing::ValuesIn(writing([](const Backend& each) {
                             return each.has_files && !each.direct;
                         })),
                         name_of);

// Not every program that has this suite has backends of every kind.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WriteConformance);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WrittenFileConformance);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LocalWriteConformance);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(UnalignedWriteConformance);

}  // namespace
}  // namespace streamsim
