// Writes whose tests need calls that only Linux has: modes, limits of the process, file systems mounted for the
// test.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <deque>
#include <filesystem>
#include <memory>

#include "conformance/storage_write_fixture.h"

namespace streamsim {
namespace {

constexpr auto kMakeDirectory = PathOp::Kind::make_directory;

class LocalWriteConformance : public WriteConformance {};  // files of this system

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

/// Limits the size of this process's files to `bytes`: a write across the limit is short, and the next one
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

/// A file system in memory, mounted on a directory of its own; null when this user may not mount.
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

// ramfs has no direct I/O, and refuses it after it has created the file.
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

INSTANTIATE_TEST_SUITE_P(All,
                         LocalWriteConformance,
                         testing::ValuesIn(writing([](const Backend& each) {
                             return each.has_files && each.is_local;
                         })),
                         name_of);

// Some programs with this suite have no backend of this kind.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LocalWriteConformance);

}  // namespace
}  // namespace streamsim
