// The program that speaks SMB, asked directly: requests in any order, and those that make no sense.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/storage_backends.h"
#include "real/smb_lab.h"
#include "storage/clock_now.h"
#include "storage/file_descriptor.h"
#include "storage/smb/smb_process.h"

namespace streamsim::storage {
namespace {

using testing::HasSubstr;

class SmbHelperRequests : public testing::Test {
protected:
    void SetUp() override { start(); }

    void start() {
        auto started = SmbProcess::start();
        ASSERT_TRUE(started) << started.error().problems.front();
        process_ = std::move(*started);
    }

    /// The answer; EPIPE: none came.
    SmbAnswer ask(const SmbRequest& request, std::initializer_list<std::string_view> texts = {}) {
        SmbAnswer answer;
        answer.error = EPIPE;
        if (!process_->send(request, texts)) return answer;
        while (await_readable(*process_, clock_now() + seconds(20))) {
            const auto received = process_->receive(answer);
            if (received == SmbProcess::Received::nothing) continue;
            if (received == SmbProcess::Received::gone) answer.error = EPIPE;
            break;
        }
        return answer;
    }
    SmbAnswer connect(const std::string& directory, std::uint32_t dialect = 0, std::uint32_t read_bytes = 0) {
        const Credentials user = tests::smb_user();
        SmbRequest request{.call = SmbCall::connect, .id = kSmbConnectId, .port = tests::smb_port()};
        request.timeout_ms = 10'000;
        request.dialect = dialect;
        request.read_bytes = read_bytes;
        return ask(request, {"127.0.0.1", directory, user.user, user.domain, user.password});
    }
    std::string path(const std::string& name) const { return tests::shared(directory_ / name); }
    std::string text_in(std::uint32_t slot, const SmbAnswer& answer) const {
        return {reinterpret_cast<const char*>(process_->slot(slot).data()), answer.bytes};
    }

    TemporaryDirectory directory_;
    std::unique_ptr<SmbProcess> process_;
};

TEST_F(SmbHelperRequests, BeginWithOneConnect) {
    EXPECT_EQ(ask({.call = SmbCall::open}, {"/media/x"}).error, EPROTO);
    EXPECT_EQ(ask({.call = SmbCall::connect}, {"127.0.0.1"}).error, EPROTO) << "texts are missing";
    const SmbAnswer there = connect("/media");
    EXPECT_EQ(there.error, 0);
    EXPECT_TRUE(there.directory);
    EXPECT_EQ(there.step, SmbStep::connected);
    EXPECT_GE(there.dialect, 0x0200U);
    EXPECT_GT(there.read_bytes, 0U);
    EXPECT_EQ(connect("/media").error, EPROTO) << "once";
    // With what an earlier connection has found.
    for (const char* const directory : {"/media", "/media/none"}) {
        start();
        const SmbAnswer again = connect(directory, there.dialect, there.read_bytes);
        EXPECT_EQ(again.error, 0);
        EXPECT_EQ(again.directory_error, directory == std::string("/media") ? 0 : ENOENT);
        EXPECT_EQ(again.step, SmbStep::connected);
    }
    write_test_file(directory_ / "file", 1, 10);
    start();
    EXPECT_EQ(connect(path("file"), there.dialect, there.read_bytes).error, 0) << "a file as the place";
}

TEST_F(SmbHelperRequests, NameFilesThatAreOpen) {
    write_test_file(directory_ / "clip", 1, 1000);
    ASSERT_EQ(connect("/media").error, 0);
    for (const SmbCall call : {SmbCall::read, SmbCall::write, SmbCall::close, SmbCall::size}) {
        for (const std::int32_t file : {-1, 0, 1000}) EXPECT_EQ(ask({.call = call, .file = file}).error, EBADF);
    }
    const SmbAnswer open = ask({.call = SmbCall::open}, {path("clip")});
    ASSERT_EQ(open.error, 0);
    EXPECT_EQ(ask({.call = SmbCall::size, .file = open.file}).bytes, 1000U);
    EXPECT_EQ(ask({.call = SmbCall::read, .file = open.file, .offset = 900, .bytes = 500}).bytes, 100U);
    EXPECT_EQ(ask({.call = SmbCall::read, .file = open.file, .offset = 0, .bytes = 500}).bytes, 500U);
    EXPECT_EQ(ask({.call = SmbCall::read, .file = open.file, .offset = 2000, .bytes = 500}).bytes, 0U);
    EXPECT_EQ(ask({.call = SmbCall::read, .file = open.file, .slot = 99, .bytes = 500}).bytes, 0U)
        << "there is no such slot";
    EXPECT_NE(ask({.call = SmbCall::write, .file = open.file, .bytes = 5}).error, 0) << "opened for reading";
    const SmbAnswer second = ask({.call = SmbCall::open}, {path("clip")});
    EXPECT_NE(second.file, open.file);
    EXPECT_EQ(ask({.call = SmbCall::close, .file = open.file}).error, 0);
    EXPECT_EQ(ask({.call = SmbCall::close, .file = open.file}).error, EBADF);
    EXPECT_EQ(ask({.call = SmbCall::open}, {path("clip")}).file, open.file) << "its number is used again";
    EXPECT_EQ(ask({.call = SmbCall::open}, {path("none")}).error, ENOENT);
    EXPECT_NE(ask({.call = SmbCall::open}).error, 0) << "no name";
}

TEST_F(SmbHelperRequests, WriteWhereTheyAreAsked) {
    ASSERT_EQ(connect("/media").error, 0);
    const std::string name = path("new # 100% \xc3\xa4");
    const SmbAnswer made = ask({.call = SmbCall::create}, {name});
    ASSERT_EQ(made.error, 0);
    EXPECT_EQ(ask({.call = SmbCall::create}, {name}).error, EEXIST);
    std::memcpy(process_->slot(1).data(), "abcdef", 6);
    EXPECT_EQ(ask({.call = SmbCall::write, .file = made.file, .slot = 1, .offset = 10, .bytes = 6}).bytes, 6U);
    EXPECT_EQ(ask({.call = SmbCall::write, .file = made.file, .slot = 1, .offset = 0, .bytes = 3}).bytes, 3U);
    EXPECT_EQ(ask({.call = SmbCall::write, .file = made.file, .slot = 1}).bytes, 0U) << "nothing";
    EXPECT_EQ(ask({.call = SmbCall::close, .file = made.file}).error, 0);
    const SmbAnswer open = ask({.call = SmbCall::open}, {name});
    const SmbAnswer read = ask({.call = SmbCall::read, .file = open.file, .slot = 2, .bytes = 100});
    EXPECT_EQ(text_in(2, read), std::string("abc\0\0\0\0\0\0\0abcdef", 16));
    EXPECT_EQ(ask({.call = SmbCall::make_directory}, {path("dir")}).error, 0);
    EXPECT_EQ(ask({.call = SmbCall::make_directory}, {path("dir")}).error, EEXIST);
    EXPECT_EQ(ask({.call = SmbCall::rename}, {path("dir"), name}).error, EEXIST);
    EXPECT_EQ(ask({.call = SmbCall::rename}, {path("dir"), path("there")}).error, 0);
    EXPECT_EQ(ask({.call = SmbCall::rename}, {path("dir"), path("again")}).error, ENOENT);
    EXPECT_NE(ask({.call = SmbCall::rename}, {path("there"), path("none/x")}).error, 0);
    EXPECT_EQ(ask({.call = SmbCall::remove}, {path("there")}).error, 0);
    EXPECT_EQ(ask({.call = SmbCall::remove}, {path("there")}).error, ENOENT);
    EXPECT_GT(ask({.call = SmbCall::free_space}, {"/media"}).bytes, 0U);
    EXPECT_NE(ask({.call = SmbCall::free_space}, {"/nowhere"}).error, 0);
    EXPECT_EQ(ask({.call = SmbCall::stat}, {path("none")}).error, ENOENT);
}

TEST_F(SmbHelperRequests, ListADirectoryInParts) {
    ASSERT_EQ(connect("/media").error, 0);
    EXPECT_EQ(ask({.call = SmbCall::list}, {""}).bytes, 0U) << "nothing is being listed";
    EXPECT_EQ(ask({.call = SmbCall::list}, {path("none")}).error, ENOENT);
    // Without a slot nothing fits: the first entry waits for the next part, whatever that is.
    write_test_file(directory_ / "clip", 1, 1000);
    std::filesystem::create_directory(directory_ / "dir");
    const std::string here = std::filesystem::path(path("clip")).parent_path();
    const SmbAnswer none = ask({.call = SmbCall::list, .slot = 99}, {here});
    EXPECT_TRUE(none.more);
    EXPECT_EQ(none.bytes, 0U);
    const SmbAnswer all = ask({.call = SmbCall::list, .slot = 1}, {""});
    EXPECT_FALSE(all.more);
    EXPECT_THAT(text_in(1, all), HasSubstr("f 1000 "));
    EXPECT_THAT(text_in(1, all), HasSubstr("d 0 "));
    // Another listing begins while one is under way.
    EXPECT_TRUE(ask({.call = SmbCall::list, .slot = 99}, {here}).more);
    EXPECT_EQ(ask({.call = SmbCall::list, .slot = 1}, {here}).bytes, all.bytes);
}

TEST_F(SmbHelperRequests, EndWithTheServer) {
    write_test_file(directory_ / "clip", 1, 1000);
    ASSERT_EQ(connect("/media").error, 0);
    ASSERT_EQ(ask({.call = SmbCall::open}, {path("clip")}).error, 0);
    tests::smb_lab().kill("smb");
    const SmbAnswer lost = ask({.call = SmbCall::stat}, {path("clip")});
    EXPECT_TRUE(lost.lost || lost.error == EPIPE);
    tests::smb_lab().start("smb");
    EXPECT_EQ(ask({.call = SmbCall::stat}, {path("clip")}).error, EPIPE) << "the program has ended";
}

/// The exit code of the program when it is given memory of this size.
int exit_code_with_memory(std::size_t bytes) {
    int pair[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    FileDescriptor ours(pair[0]);
    FileDescriptor theirs(pair[1]);
    const FileDescriptor memory(memfd_create("smb-helper-test", MFD_CLOEXEC));
    EXPECT_EQ(ftruncate(memory.get(), static_cast<off_t>(bytes)), 0);
    const pid_t program = fork();
    if (program == 0) {
        constexpr int kAboveInherited = 10;
        const int socket = fcntl(theirs.get(), F_DUPFD, kAboveInherited);
        const int shared = fcntl(memory.get(), F_DUPFD, kAboveInherited);
        if (dup2(socket, kSmbSocket) >= 0 && dup2(shared, kSmbMemory) >= 0)
            execl(STREAMSIM_SMB_BINARY, STREAMSIM_SMB_BINARY, nullptr);
        _exit(127);
    }
    theirs = FileDescriptor();
    pollfd end{ours.get(), POLLIN, 0};
    EXPECT_EQ(poll(&end, 1, 20'000), 1) << "the program goes on";
    ours = FileDescriptor();  // ends a program that goes on
    int status = 0;
    EXPECT_EQ(waitpid(program, &status, 0), program);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Reads into no slot would look like the ends of files.
TEST(SmbHelperMemory, OfAnotherSizeEndsTheProgram) {
    for (const std::size_t bytes : {std::size_t{0}, kSmbSlotBytes, (kSmbSlots + 1) * kSmbSlotBytes})
        EXPECT_EQ(exit_code_with_memory(bytes), 3) << bytes;
}

}  // namespace
}  // namespace streamsim::storage
