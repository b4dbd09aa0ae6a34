// The contract of streamsim/storage.h, tested against every storage.
#include <gtest/gtest.h>

#include <cerrno>
#include <deque>
#include <filesystem>

#include "conformance/storage_fixture.h"

namespace streamsim {
namespace {

// Promises that only some storages make.
class FileStorageConformance : public StorageConformance {};       // files
class UnalignedStorageConformance : public StorageConformance {};  // any offset and size

TEST_P(StorageConformance, CallsBackOnceAndNeverInsideTheCall) {
    const std::string path = make_file("clip", 1, kBlock);
    TestOpen open;
    begin_open(open, path);
    EXPECT_EQ(open.callbacks, 0);
    wait();
    EXPECT_EQ(open.callbacks, 1);
    ASSERT_EQ(open.error, 0);
    ASSERT_GE(open.file, 0);
    TestRead read;
    begin_read(read, open.file, 0, buffer(0, kBlock));
    EXPECT_EQ(read.callbacks, 0);
    wait();
    EXPECT_EQ(read.callbacks, 1);
    EXPECT_EQ(read.error, 0);
    EXPECT_EQ(read.bytes, kBlock);
}

TEST_P(StorageConformance, StampsAreInOrder) {
    const FileId file = open_now(make_file("clip", 1, 4 * kBlock));
    std::deque<TestRead> reads(64);
    const Instant before = loop().now();
    for (std::size_t i = 0; i < reads.size(); ++i) begin_read(reads[i], file, 0, buffer(i * kBlock, kBlock));
    const Instant submitted = loop().now();
    wait();
    for (const TestRead& read : reads) {
        EXPECT_LE(before, read.submitted_at);
        EXPECT_LE(read.submitted_at, submitted);
        EXPECT_LE(read.submitted_at, read.not_before);
        EXPECT_LE(read.not_before, read.completed_at);
        EXPECT_LE(read.completed_at, loop().now());
    }
}

TEST_P(FileStorageConformance, ReadsWhatTheFileHolds) {
    const FileId first = open_now(make_file("first", 1, 32 * kBlock));
    const FileId second = open_now(make_file("second", 2, 32 * kBlock));
    std::deque<TestRead> reads(64);
    for (std::uint64_t i = 0; i < reads.size(); ++i) {
        const std::uint64_t offset = (i * 7 % 32) * kBlock;  // not in order
        begin_read(reads[i], i % 2 == 0 ? first : second, offset, buffer(i * kBlock, kBlock));
    }
    wait();
    for (std::uint64_t i = 0; i < reads.size(); ++i) {
        EXPECT_EQ(reads[i].error, 0);
        ASSERT_EQ(reads[i].bytes, kBlock);
        EXPECT_EQ(same_bytes(reads[i].buffer, i % 2 == 0 ? 1 : 2, reads[i].offset), kBlock) << "read " << i;
    }
}

TEST_P(FileStorageConformance, MemoryThatWasNotAnnouncedWorksToo) {
    const auto other = storage::BufferArena::make(kBlock, {}).value();
    const FileId file = open_now(make_file("clip", 3, kBlock));
    TestRead read;
    begin_read(read, file, 0, other.memory());
    wait();
    EXPECT_EQ(read.error, 0);
    EXPECT_EQ(same_bytes(read.buffer, 3, 0), kBlock);
}

TEST_P(FileStorageConformance, AMissingFileIsAnErrorOfTheOpen) {
    TestOpen open;
    begin_open(open, directory_ / "nobody");
    wait();
    EXPECT_EQ(open.callbacks, 1);
    EXPECT_EQ(open.error, ENOENT);
    EXPECT_EQ(open.file, kNoFile);
    EXPECT_LE(open.submitted_at, open.not_before);
    EXPECT_LE(open.not_before, open.completed_at);
}

TEST_P(FileStorageConformance, AReadOfNoFileIsAnError) {
    TestRead read;
    begin_read(read, kNoFile, 0, buffer(0, kBlock));
    wait();
    EXPECT_EQ(read.callbacks, 1);
    EXPECT_EQ(read.error, EBADF);
}

TEST_P(FileStorageConformance, AReadPastTheEndIsShort) {
    const FileId file = open_now(make_file("clip", 1, kBlock + 100));
    TestRead across;
    TestRead beyond;
    begin_read(across, file, 0, buffer(0, 2 * kBlock));
    begin_read(beyond, file, 4 * kBlock, buffer(2 * kBlock, kBlock));
    wait();
    EXPECT_EQ(across.error, 0);
    EXPECT_EQ(across.bytes, kBlock + 100);
    EXPECT_EQ(same_bytes(across.buffer.first(across.bytes), 1, 0), kBlock + 100);
    EXPECT_EQ(beyond.error, 0);
    EXPECT_EQ(beyond.bytes, 0u);
}

TEST_P(FileStorageConformance, AFileThatIsCutWhileOpenIsShort) {
    const std::string path = make_file("clip", 1, 4 * kBlock);
    const FileId file = open_now(path);
    std::filesystem::resize_file(path, 4096);
    TestRead read;
    begin_read(read, file, 0, buffer(0, 4 * kBlock));
    wait();
    EXPECT_EQ(read.error, 0);
    EXPECT_EQ(read.bytes, 4096u);
}

TEST_P(UnalignedStorageConformance, OddOffsets) {
    const FileId file = open_now(make_file("clip", 1, kBlock));
    ASSERT_EQ(storage().capabilities().alignment, 1u);
    TestRead read;
    begin_read(read, file, 4099, buffer(3, 1001));
    wait();
    EXPECT_EQ(read.bytes, 1001u);
    EXPECT_EQ(same_bytes(read.buffer, 1, 4099), 1001u);
}

TEST_P(StorageConformance, TakesManyMoreReadsThanItHasInFlight) {
    const FileId file = open_now(make_file("clip", 1, 16 * kBlock));
    std::deque<TestRead> reads(5000);
    for (std::uint64_t i = 0; i < reads.size(); ++i) {
        begin_read(reads[i], file, i % 256 * 4096, buffer(i % 4096 * 4096, 4096));
    }
    wait();
    for (const TestRead& read : reads) {
        EXPECT_EQ(read.callbacks, 1);
        EXPECT_EQ(read.error, 0);
        EXPECT_EQ(read.bytes, 4096u);
    }
}

TEST_P(StorageConformance, TakesManyOpensAtOnce) {
    const std::string path = make_file("clip", 1, kBlock);
    std::deque<TestOpen> opens(100);
    for (TestOpen& open : opens) begin_open(open, path);
    wait();
    for (const TestOpen& open : opens) {
        EXPECT_EQ(open.callbacks, 1);
        ASSERT_EQ(open.error, 0);
        storage().close(open.file);
    }
    wait();
}

// Reads one block after the other, each from the callback of the one before, with one and the same operation.
struct Chain {
    Storage& storage;
    TestRead read;
    std::uint64_t left;

    void next() {
        if (left == 0) return;
        --left;
        read.offset += kBlock;
        storage.read(read);
    }
};

TEST_P(StorageConformance, AnOperationMayBeUsedAgainInItsCallback) {
    const FileId file = open_now(make_file("clip", 1, 20 * kBlock));
    Chain chain{storage(), {}, 19};
    chain.read.then = Callback::of<&Chain::next>(&chain);
    begin_read(chain.read, file, 0, buffer(0, kBlock));
    wait();
    EXPECT_EQ(chain.read.callbacks, 20);
    EXPECT_EQ(chain.read.bytes, kBlock);
    if (GetParam().has_files) {
        EXPECT_EQ(same_bytes(chain.read.buffer, 1, 19 * kBlock), kBlock);
    }
}

TEST_P(StorageConformance, CancelStillCallsBackOnce) {
    const FileId file = open_now(make_file("clip", 1, 8 * kBlock));
    std::deque<TestRead> reads(128);  // some are in flight, most wait in line
    for (std::size_t i = 0; i < reads.size(); ++i)
        begin_read(reads[i], file, 0, buffer(i * 2 * kBlock, 2 * kBlock));
    for (std::size_t i = 0; i < reads.size(); i += 2) {
        storage().cancel(reads[i]);
        storage().cancel(reads[i]);
        EXPECT_EQ(reads[i].callbacks, 0) << "not inside the call";
    }
    wait();
    std::size_t cancelled = 0;
    for (std::size_t i = 0; i < reads.size(); ++i) {
        EXPECT_EQ(reads[i].callbacks, 1);
        EXPECT_LE(reads[i].submitted_at, reads[i].completed_at);
        if (reads[i].error == ECANCELED) {
            EXPECT_EQ(i % 2, 0u) << "only those that were cancelled";
            ++cancelled;
        } else {
            EXPECT_EQ(reads[i].error, 0);
            EXPECT_EQ(reads[i].bytes, 2 * kBlock);
        }
    }
    if (GetParam().has_files) {
        EXPECT_GT(cancelled, 0u) << "those in line never reach the disk";
    }
    storage().cancel(reads[0]);  // completed long ago: no effect
    wait();
    EXPECT_EQ(reads[0].callbacks, 1);
}

TEST_P(StorageConformance, FilesMayBeClosedWhileOthersAreRead) {
    const std::string path = make_file("clip", 1, 16 * kBlock);
    const FileId kept = open_now(path);
    std::deque<TestOpen> others(50);
    for (TestOpen& other : others) begin_open(other, path);
    wait();
    std::deque<TestRead> reads(50);
    for (std::size_t i = 0; i < reads.size(); ++i) {
        begin_read(reads[i], kept, 0, buffer(i * 4 * kBlock, 4 * kBlock));
        storage().hint(others[i].file, 0, kBlock);
        storage().close(others[i].file);
    }
    wait();
    for (const TestRead& read : reads) {
        EXPECT_EQ(read.callbacks, 1);
        EXPECT_EQ(read.error, 0);
        EXPECT_EQ(read.bytes, 4 * kBlock);
    }
}

TEST_P(StorageConformance, ShutdownWaitsForAllAndClosesAll) {
    const std::string path = make_file("clip", 1, 16 * kBlock);
    open_now(path);  // opens the descriptors that the loop and the pool open on first use
    make({});
    const std::size_t before = open_descriptors();
    const FileId file = open_now(path);
    open_now(path);
    std::deque<TestRead> reads(100);
    TestOpen open;
    for (std::size_t i = 0; i < reads.size(); ++i)
        begin_read(reads[i], file, 0, buffer(i * 2 * kBlock, 2 * kBlock));
    begin_open(open, path);
    struct Check {
        std::deque<TestRead>& reads;
        TestOpen& open;
        bool done = false;
        void on_done() {
            done = true;
            EXPECT_EQ(open.error, 0);
            EXPECT_EQ(open.callbacks, 1);
            for (const TestRead& read : reads) EXPECT_EQ(read.callbacks, 1);
        }
    } check{reads, open};
    harness_->shut_down(Callback::of<&Check::on_done>(&check));
    EXPECT_TRUE(check.done);
    EXPECT_LE(open_descriptors(), before);
    harness_.reset();
}

TEST_P(StorageConformance, SaysWhatItIs) {
    const auto capabilities = storage().capabilities();
    EXPECT_TRUE(capabilities.io != nullptr && *capabilities.io != 0);
    EXPECT_GT(capabilities.alignment, 0u);
    EXPECT_EQ(capabilities.alignment & (capabilities.alignment - 1), 0u);
    EXPECT_EQ(capabilities.fills_buffers, GetParam().has_files);
}

INSTANTIATE_TEST_SUITE_P(All, StorageConformance, testing::ValuesIn(all_backends()), name_of);
INSTANTIATE_TEST_SUITE_P(All,
                         FileStorageConformance,
                         testing::ValuesIn(those([](const Backend& each) { return each.has_files; })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All,
                         UnalignedStorageConformance,
                         testing::ValuesIn(those([](const Backend& each) {
                             return each.has_files && !each.direct;
                         })),
                         name_of);

}  // namespace
}  // namespace streamsim
