// Helper processes that do not behave, and the words for a server's refusal.
#include "storage/smb/smb_process.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "conformance/storage_harness.h"
#include "loop/uv_loop.h"
#include "storage/backends.h"
#include "storage/clock_now.h"
#include "storage/smb/smb_sessions.h"

namespace streamsim::storage {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class SmbHelper : public testing::Test {
protected:
    SmbHelper() {
        if (!smb_is_built_in()) skipped_ = true;
        if (const char* const helper = std::getenv("STREAMSIM_SMB_HELPER")) before_ = helper;
        place_.protocol = RemotePlace::Protocol::smb;
        place_.host = "nas";
        place_.timeout = seconds(20);
    }
    ~SmbHelper() override {
        unsetenv("STREAMSIM_SMB_HELPER");
        if (before_) setenv("STREAMSIM_SMB_HELPER", before_->c_str(), 1);
        std::filesystem::remove(script_);
    }
    void SetUp() override {
        if (skipped_) GTEST_SKIP() << "this build has no SMB";
    }

    /// A helper that is a script of the shell; its socket is descriptor 3.
    Result<std::unique_ptr<SmbProcess>> start(const std::string& commands) {
        std::ofstream(script_) << "#!/bin/sh\n" << commands << "\n";
        chmod(script_.c_str(), 0755);
        setenv("STREAMSIM_SMB_HELPER", script_.c_str(), 1);
        return SmbProcess::start();
    }
    std::optional<bool> end_of(SmbProcess& process) const {
        SmbAnswer answer;
        while (process.receive(answer) != SmbProcess::Received::gone)
            if (!await_readable(process, clock_now() + seconds(20))) return std::nullopt;
        for (const Instant until = clock_now() + seconds(20); clock_now() < until; usleep(1000)) {
            if (const auto crashed = process.crashed()) return crashed;
        }
        return std::nullopt;
    }
    std::string connecting(SmbProcess& process) const {
        const SmbLogin login(place_, "/media", {});
        const auto answer = await_connected(process, login, "10.0.0.1", clock_now() + place_.timeout);
        return answer ? "" : answer.error().problems.front();
    }

    bool skipped_ = false;
    std::optional<std::string> before_;  // the caller's helper
    RemotePlace place_;
    std::string script_ = fmt::format("{}/streamsim-helper-{}", testing::TempDir(), getpid());
};

TEST_F(SmbHelper, ThatEndsByItselfHasNotCrashed) {
    auto process = start("exit 3");
    ASSERT_TRUE(process);
    EXPECT_THAT(connecting(**process), "smb://nas/media: the process that speaks SMB has ended unexpectedly");
    EXPECT_EQ(end_of(**process), false);
    EXPECT_FALSE((*process)->send({}));
    process = start("kill -KILL $$");
    ASSERT_TRUE(process);
    EXPECT_EQ(end_of(**process), true);
}

TEST_F(SmbHelper, ThatSaysNothingIsNotWaitedForForever) {
    // A packet of another size is no answer.
    auto process = start("echo no answer >&3; exec sleep 1000");
    ASSERT_TRUE(process);
    EXPECT_THAT(connecting(**process), HasSubstr("has ended unexpectedly"));
    place_.timeout = milliseconds(300);
    process = start("exec sleep 1000");
    ASSERT_TRUE(process);
    EXPECT_FALSE((*process)->crashed());
    EXPECT_THAT(connecting(**process),
                StartsWith("smb://nas/media: nas (10.0.0.1), port 445 does not answer within 0.3 s"));
}

/// The helper opens a file after 600 ms; this process does not run for 400 ms of them.
TEST_F(SmbHelper, TimeInWhichThisProcessCouldNotRunIsNoTimeOut) {
    struct Busy {
        EventLoop& loop;
        void run() {
            for (const Instant until = loop.now() + milliseconds(400); loop.now() < until;) {
            }
        }
        void settled() {}
    };
    const auto keep = [this](const char* name, const SmbAnswer& answer) {
        std::ofstream(script_ + name, std::ios::binary)
            .write(reinterpret_cast<const char*>(&answer), sizeof answer);
    };
    keep(".connected", {.id = kSmbConnectId, .directory = true});
    keep(".opened", {.file = 1});
    ASSERT_TRUE(
        start(fmt::format("cat {0}.connected >&3; sleep 0.6; cat {0}.opened >&3; exec sleep 1000", script_)));
    place_.timeout = milliseconds(500);
    Harness<loop::UvLoop> harness;
    auto storage = make_smb_storage(harness.loop(), harness.own_loop().uv(), place_, "/media", {});
    ASSERT_TRUE(storage) << storage.error().problems.front();
    harness.use(std::move(*storage));
    Busy busy{harness.loop()};
    OpenOp open;
    open.path = "/media/clip";
    open.done = Callback::of<&Busy::settled>(&busy);
    harness.storage().open(open);
    harness.loop().at(harness.loop().now() + milliseconds(20), Callback::of<&Busy::run>(&busy));
    harness.loop().run();
    EXPECT_EQ(open.error, 0);
    harness.shut_down({});
    for (const char* const name : {".connected", ".opened"}) std::filesystem::remove(script_ + name);
}

TEST_F(SmbHelper, ThatTakesNothingFillsItsSocket) {
    auto process = start("exec sleep 1000");
    ASSERT_TRUE(process);
    int sent = 0;
    while ((*process)->send({}, {std::string(1000, 'n')}) && sent < 100'000) ++sent;
    EXPECT_GT(sent, 0);
    EXPECT_LT(sent, 100'000);
    EXPECT_TRUE(SmbProcess::fits({std::string(kSmbTextBytesMax - 1, 'n')}));
    EXPECT_FALSE(SmbProcess::fits({std::string(kSmbTextBytesMax, 'n')}));
    EXPECT_FALSE(
        SmbProcess::fits({std::string(kSmbTextBytesMax / 2, 'n'), std::string(kSmbTextBytesMax / 2, 'n')}));
}

TEST_F(SmbHelper, IsNotAskedWithMoreTextThanAPacketHolds) {
    ASSERT_TRUE(start("exec sleep 1000"));
    const auto start_session = [this](std::size_t path_bytes) {
        return start_smb_session(SmbLogin(place_, "/" + std::string(path_bytes - 1, 'n'), {}), "10.0.0.1");
    };
    const std::size_t others_bytes = sizeof("10.0.0.1") + 3 + 1;
    EXPECT_TRUE(start_session(kSmbTextBytesMax - others_bytes));
    for (const std::size_t path_bytes : {kSmbTextBytesMax - others_bytes + 1, 8 * kSmbTextBytesMax}) {
        const auto session = start_session(path_bytes);
        ASSERT_FALSE(session);
        EXPECT_EQ(session.error().kind, ErrorKind::environment);
        EXPECT_THAT(session.error().problems.front(), AllOf(StartsWith("smb://nas: "), HasSubstr("too long")));
    }
}

TEST_F(SmbHelper, ThatCannotBeStartedIsNamed) {
    setenv("STREAMSIM_SMB_HELPER", "/nonexistent/helper", 1);
    const auto process = SmbProcess::start();
    ASSERT_FALSE(process);
    EXPECT_EQ(process.error().kind, ErrorKind::environment);
    EXPECT_THAT(process.error().problems.front(), HasSubstr("/nonexistent/helper cannot be started"));
    unsetenv("STREAMSIM_SMB_HELPER");
    if (const auto found = SmbProcess::start(); !found) {
        EXPECT_THAT(found.error().problems.front(), HasSubstr("install it beside streamsim"));
    }
}

struct Refusal {
    SmbStep step;
    int error;
    const char* text;
};

TEST_F(SmbHelper, ARefusalSaysWhatToDo) {
    place_.port = 4445;
    const Refusal refusals[] = {
        {SmbStep::log_in, ETIMEDOUT, "nas (10.0.0.1), port 4445 does not answer within 20 s"},
        {SmbStep::find_host, ENOENT, "the host 10.0.0.1 is not known"},
        {SmbStep::reach_port, ECONNREFUSED,
         "nas (10.0.0.1), port 4445 cannot be reached: Connection refused (ECONNREFUSED)"},
        {SmbStep::get_answer, EPROTO, "does not speak SMB 2 or 3"},
        {SmbStep::get_answer, ECONNRESET, "does not speak SMB 2 or 3"},
        {SmbStep::get_answer, EIO, "port 4445: "},
        {SmbStep::log_in, EACCES, "the server refuses guests: "},
        {SmbStep::enter_share, ENOENT, "nas has no share of this name"},
        {SmbStep::enter_share, ENODEV, "nas has no share of this name"},
        {SmbStep::enter_share, EIO, "the share is not available"},
        {SmbStep::may_enter, EACCES, "the server refuses guests this share"},
        {SmbStep::connected, EIO, "(EIO)"},
        {SmbStep::log_in, 12345, "(unknown)"},
    };
    const SmbLogin guest(place_, "/media/dir", {});
    for (const Refusal& each : refusals) {
        SmbAnswer answer;
        answer.step = each.step;
        answer.error = each.error;
        const Error error = guest.refused(answer, "10.0.0.1");
        EXPECT_EQ(error.kind, ErrorKind::environment);
        EXPECT_THAT(error.problems.front(), AllOf(StartsWith("smb://nas/media: "), HasSubstr(each.text)));
    }
    SmbAnswer answer;
    answer.step = SmbStep::log_in;
    answer.error = EACCES;
    EXPECT_THAT(guest.refused(answer, "nas").problems.front(), HasSubstr("STREAMSIM_SMB_PASSWORD"));
    place_.user = "editor";
    const SmbLogin known(place_, "/media/dir", {"other", "secret", "post"});
    EXPECT_THAT(known.refused(answer, "nas").problems.front(),
                AllOf(HasSubstr("the user 'editor'"), HasSubstr("check user, password and domain"),
                      Not(HasSubstr("secret"))));
    EXPECT_NE(known.identity("nas"), guest.identity("nas"));
    answer.directory_error = 0;
    EXPECT_TRUE(guest.check_directory(answer));
    answer.directory_error = ENOENT;
    EXPECT_EQ(guest.check_directory(answer).error().problems.front(),
              "smb://nas/media/dir: there is no such file or directory (ENOENT)");
    answer.directory_error = EACCES;
    EXPECT_THAT(guest.check_directory(answer).error().problems.front(), EndsWith("(EACCES)"));
    place_.host = "fe80::1";
    EXPECT_EQ(SmbLogin(place_, "/media/dir", {}).share(), "smb://[fe80::1]/media") << "as it is typed";
    answer.directory_error = 12345;
    EXPECT_THAT(guest.check_directory(answer).error().problems.front(), EndsWith("(unknown)"));
}

}  // namespace
}  // namespace streamsim::storage
