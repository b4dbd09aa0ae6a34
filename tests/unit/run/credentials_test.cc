#include "target/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace streamsim::run {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class CredentialsTest : public testing::Test {
protected:
    ~CredentialsTest() override {
        for (const char* name : {"USER", "PASSWORD", "DOMAIN", "CREDENTIALS"})
            unsetenv(("STREAMSIM_SMB_" + std::string(name)).c_str());
        std::remove(file_.c_str());
    }
    static void set(const char* name, const char* value) {
        setenv(("STREAMSIM_SMB_" + std::string(name)).c_str(), value, 1);
    }
    void write(const std::string& text, mode_t mode = 0600) const {
        std::ofstream(file_) << text;
        chmod(file_.c_str(), mode);
    }
    static target::Target smb(const std::string& host) {
        return *target::parse_target("smb://" + host + "/share");
    }

    std::string file_ = testing::TempDir() + "streamsim-credentials-" + std::to_string(getpid());
};

TEST_F(CredentialsTest, NobodyIsAGuest) {
    const auto found = target::find_credentials(smb("nas"), "");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->user + found->password + found->domain, "");
}

TEST_F(CredentialsTest, TheUrlComesBeforeTheFileBeforeTheEnvironment) {
    set("USER", "from the environment");
    set("PASSWORD", "p1");
    set("DOMAIN", "D1");
    write("# for the edit room\n\nusername=from the file\r\npassword= sp ace=% #\xC3\xA4 \n");
    const auto found = target::find_credentials(smb("nas"), file_);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->user, "from the file");
    EXPECT_EQ(found->password, " sp ace=% #\xC3\xA4 ");
    EXPECT_EQ(found->domain, "D1");
    EXPECT_EQ(target::find_credentials(smb("editor@nas"), file_)->user, "editor");
    set("CREDENTIALS", file_.c_str());
    EXPECT_EQ(target::find_credentials(smb("nas"), "")->user, "from the file");
}

TEST_F(CredentialsTest, AFileThatOthersMayReadIsRefused) {
    for (const mode_t mode : {0640U, 0604U, 0644U}) {
        write("password=secret\n", mode);
        const auto found = target::find_credentials(smb("nas"), file_);
        ASSERT_FALSE(found) << mode;
        EXPECT_EQ(found.error().kind, ErrorKind::bad_input);
        EXPECT_THAT(found.error().problems, ElementsAre(HasSubstr("chmod 600 '" + file_ + "'")));
    }
    EXPECT_TRUE(target::find_credentials(*target::parse_target("/mnt/nas"), file_))
        << "it is not looked at for a directory";
}

TEST_F(CredentialsTest, AFileThatOthersMayWriteIsRefused) {
    for (const mode_t mode : {0620U, 0602U}) {
        write("password=secret\n", mode);
        const auto found = target::find_credentials(smb("nas"), file_);
        ASSERT_FALSE(found) << mode;
        EXPECT_EQ(found.error().kind, ErrorKind::bad_input);
        EXPECT_THAT(found.error().problems,
                    ElementsAre(AllOf(HasSubstr("may write"), HasSubstr("chmod 600 '" + file_ + "'"))));
    }
}

TEST_F(CredentialsTest, AFileOfAnotherUserIsRefusedAlsoBehindASymbolicLink) {
    write("password=secret\n");
    constexpr uid_t kNobody = 65534;
    if (chown(file_.c_str(), kNobody, kNobody) != 0) GTEST_SKIP() << "giving a file away needs root";
    const std::string link = file_ + "-link";
    ASSERT_EQ(symlink(file_.c_str(), link.c_str()), 0);
    for (const std::string& name : {file_, link}) {
        const auto found = target::find_credentials(smb("nas"), name);
        ASSERT_FALSE(found) << name;
        EXPECT_EQ(found.error().kind, ErrorKind::bad_input);
        EXPECT_THAT(found.error().problems, ElementsAre(AllOf(HasSubstr(name), HasSubstr("another user"))));
        EXPECT_THAT(found.error().problems.front(), Not(HasSubstr("secret")));
    }
    std::remove(link.c_str());
}

TEST_F(CredentialsTest, AProcessThatHoldsAPasswordLeavesNoCoreDump) {
    const auto dumps = [] {
        rlimit limit{};
        getrlimit(RLIMIT_CORE, &limit);
        return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0 || limit.rlim_cur > 0;
    };
    EXPECT_EXIT(
        {
            prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
            (void)target::find_credentials(smb("nas"), "");
            if (!dumps()) _exit(1);  // a guest has nothing to hide
            set("PASSWORD", "secret");
            (void)target::find_credentials(smb("nas"), "");
            _exit(dumps() ? 2 : 0);
        },
        testing::ExitedWithCode(0), "");
}

TEST_F(CredentialsTest, EveryUnknownLineIsNamedAndNotShown) {
    write("username=editor\npasswort=secret\npassword\n");
    const auto found = target::find_credentials(smb("nas"), file_);
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().problems, ElementsAre(HasSubstr(file_ + ":2: "), HasSubstr(file_ + ":3: ")));
    EXPECT_THAT(found.error().problems.front(), Not(HasSubstr("secret")));
    EXPECT_THAT(target::find_credentials(smb("nas"), file_ + "-none").error().problems,
                ElementsAre(HasSubstr("-none")));
}

}  // namespace
}  // namespace streamsim::run
