// The part of the storage contract whose tests need calls that only Linux has: opens that hang, a process that
// is stopped, a file system without direct I/O.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <deque>
#include <filesystem>

#include "conformance/storage_fixture.h"

namespace streamsim {
namespace {

// Promises that only some storages make.
class FifoStorageConformance : public StorageConformance {};    // files and FIFOs
class OwnStampsConformance : public StorageConformance {};      // files, with stamps of its own
class DirectStorageConformance : public StorageConformance {};  // direct I/O

// Opening a FIFO hangs until its other end is opened, as an open on a server that does not answer.
TEST_P(FifoStorageConformance, OpensThatHangHoldUpNoRead) {
    make({4, 12});
    const FileId file = open_now(make_file("clip", 1, 4 * kBlock));
    // In a directory of its own, which is not known to be on a local disk.
    std::filesystem::create_directory(directory_ / "server");
    const std::string fifo = directory_ / "server/fifo";
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    std::deque<TestOpen> hanging(12);
    for (TestOpen& open : hanging) begin_open(open, fifo);
    struct Reader {
        Storage& storage;
        EventLoop& loop;
        TestRead read;
        int left = 50;
        void next() {
            if (--left > 0) {
                storage.read(read);
            } else {
                loop.stop();
            }
        }
    } reader{storage(), loop(), {}};
    reader.read.then = Callback::of<&Reader::next>(&reader);
    begin_read(reader.read, file, 0, buffer(0, 4 * kBlock));
    loop().run();
    EXPECT_EQ(reader.read.callbacks, 50);
    for (const TestOpen& open : hanging) EXPECT_EQ(open.callbacks, 0);
    if (GetParam().takes_back) {
        storage().cancel(hanging[0]);
        hanging[0].then = Callback::of<&EventLoop::stop>(&loop());
        loop().run();
        EXPECT_EQ(hanging[0].error, ECANCELED);
    }
    const int writer = ::open(fifo.c_str(), O_WRONLY);
    ASSERT_GE(writer, 0);
    wait();
    ::close(writer);
    for (std::size_t i = GetParam().takes_back ? 1 : 0; i < hanging.size(); ++i) EXPECT_EQ(hanging[i].error, 0);
}

// The process is stopped with a read under way, which completes meanwhile: the stamps must enclose the stop.
TEST_P(OwnStampsConformance, ACompletionDuringAStopOfTheProcessIsUncertain) {
    const FileId file = open_now(make_file("clip", 1, 16 * kBlock));
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) {
        while (getppid() == parent) {
            usleep(200'000);  // the parent is stopped: only this process can wait
            kill(parent, SIGCONT);
        }
        _exit(0);
    }
    struct Stop {
        EventLoop& loop;
        Instant at;
        void stop_process() {
            at = loop.now();
            raise(SIGSTOP);
        }
    } stop{loop(), {}};
    std::deque<TestRead> reads;
    const bool by_threads = GetParam().name.starts_with("threads");
    do {  // again when the read completed before the stop, or a thread of the pool began it only after that
        begin_read(reads.emplace_back(), file, 0, buffer(0, 16 * kBlock));
        loop().defer(
            Callback::of<&Stop::stop_process>(&stop));  // after the backend has handed it to the kernel
        wait();
    } while ((reads.back().completed_at < stop.at || (by_threads && reads.back().not_before > stop.at)) &&
             reads.size() < 20);
    kill(child, SIGKILL);
    const TestRead& read = reads.back();
    EXPECT_EQ(read.callbacks, 1);
    EXPECT_EQ(read.bytes, 16 * kBlock);
    EXPECT_GE(read.completed_at, stop.at + milliseconds(1));
    EXPECT_LE(read.not_before, stop.at) << "it may have come long before it was seen";
}

// procfs refuses O_DIRECT at open.
TEST_P(DirectStorageConformance, AFileThatRefusesDirectReadsIsReadThroughThePageCache) {
    open_now(make_file("clip", 1, kBlock));
    const auto before = storage().capabilities();
    if (!before.direct) GTEST_SKIP() << "the file system of " << directory_.path() << " has no direct reads";
    const FileId file = open_now("/proc/meminfo");
    EXPECT_FALSE(storage().capabilities().direct) << "not every open since the start was direct";
    EXPECT_EQ(storage().capabilities().alignment, before.alignment) << "what was planned with stays";
    TestRead read;
    begin_read(read, file, 0, buffer(0, kBlock));
    wait();
    EXPECT_EQ(read.error, 0);
    EXPECT_GT(read.bytes, 100u);
}

INSTANTIATE_TEST_SUITE_P(All,
                         FifoStorageConformance,
                         testing::ValuesIn(those([](const Backend& each) {
                             return each.has_files && each.is_local;
                         })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All,
                         OwnStampsConformance,
                         testing::ValuesIn(those([](const Backend& each) {
                             return each.has_files && !each.injects;
                         })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All,
                         DirectStorageConformance,
                         testing::ValuesIn(those([](const Backend& each) { return each.direct; })),
                         name_of);

// Some programs with this suite have no backend of some kind.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FifoStorageConformance);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DirectStorageConformance);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OwnStampsConformance);

}  // namespace
}  // namespace streamsim
