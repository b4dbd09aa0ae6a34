#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "target/target.h"

namespace streamsim::run {
namespace {

using testing::HasSubstr;
using testing::Not;
using Protocol = RemotePlace::Protocol;

std::vector<std::string> problems_of_url(const std::string& url) {
    const auto target = target::parse_target(url);
    if (target.has_value()) return {};
    EXPECT_EQ(target.error().kind, ErrorKind::bad_input);
    return target.error().problems;
}

TEST(RemoteTarget, AnExportOfNfs) {
    const auto target = target::parse_target("nfs://isilon/ifs/dpx");
    ASSERT_TRUE(target.has_value());
    EXPECT_EQ(target->kind, target::Target::Kind::remote);
    EXPECT_EQ(target->url, "nfs://isilon/ifs/dpx");
    EXPECT_EQ(target->path, "/ifs/dpx");
    const RemotePlace& place = *target->remote;
    EXPECT_EQ(place.protocol, Protocol::nfs);
    EXPECT_EQ(place.host, "isilon");
    EXPECT_TRUE(place.addresses.empty());
    EXPECT_EQ(place.port, 0);
    EXPECT_EQ(place.mount_port, 0);
    EXPECT_EQ(place.connections, 1U);
    EXPECT_EQ(place.read_bytes, 0U);
    EXPECT_EQ(place.timeout, seconds(10));
    EXPECT_FALSE(place.version || place.uid || place.gid);
}

TEST(RemoteTarget, TheNumberOfAFrameIsNoByte) {
    EXPECT_EQ(target::parse_target("nfs://h/e/shot.%07d.dpx")->path, "/e/shot.%07d.dpx");
    EXPECT_EQ(target::parse_target("smb://h/e/shot%20a.%d.dpx")->path, "/e/shot a.%d.dpx");
    EXPECT_EQ(target::parse_target("nfs://h/e/%d0%9a")->path, "/e/\xd0\x9a");
}

TEST(RemoteTarget, IsNamedWithoutUserAndOptions) {
    EXPECT_EQ(target::parse_target("smb://S;ed@h:99/e/a%20b/?connections=2")->name(), "smb://h/e/a b");
    EXPECT_EQ(target::parse_target("nfs://[fe80::1]/e")->name(), "nfs://[fe80::1]/e");
    EXPECT_EQ(target::parse_target("file:/x/y")->name(), "/x/y");
}

TEST(RemoteTarget, AShareOfSmb) {
    const auto target = target::parse_target("smb://STUDIO;edit%201@files:14450/media/dpx?connections=2");
    ASSERT_TRUE(target.has_value());
    EXPECT_EQ(target->path, "/media/dpx");
    EXPECT_EQ(target->remote->protocol, Protocol::smb);
    EXPECT_EQ(target->remote->domain, "STUDIO");
    EXPECT_EQ(target->remote->user, "edit 1");
    EXPECT_EQ(target->remote->host, "files");
    EXPECT_EQ(target->remote->port, 14450);
    EXPECT_EQ(target->remote->connections, 2U);
    EXPECT_EQ(target::parse_target("smb://h/s")->remote->connections, 4U) << "each reads one piece at a time";
    EXPECT_EQ(target::parse_target("smb://h/s?port=445")->remote->port, 445);
}

TEST(RemoteTarget, AllOptions) {
    const auto target = target::parse_target(
        "nfs://h:12049/e?connections=64&version=4&mountport=12048&rsize=512KiB&timeout=2s&addresses=a,10.0.0.2,"
        "[fe80::1],fe80::2&uid=0&gid=1000");
    ASSERT_TRUE(target.has_value());
    const RemotePlace& place = *target->remote;
    EXPECT_EQ(place.port, 12049);
    EXPECT_EQ(place.mount_port, 12048);
    EXPECT_EQ(place.connections, 64U);
    EXPECT_EQ(place.version, 4U);
    EXPECT_EQ(place.read_bytes, 512U << 10);
    EXPECT_EQ(place.timeout, seconds(2));
    EXPECT_THAT(place.addresses, testing::ElementsAre("a", "10.0.0.2", "fe80::1", "fe80::2"));
    EXPECT_EQ(place.address_of(5), "10.0.0.2");
    EXPECT_EQ(place.uid, 0U);
    EXPECT_EQ(place.gid, 1000U);
    EXPECT_EQ(target::parse_target("nfs://h/e?nfsport=2050&rsize=65536")->remote->port, 2050);
    EXPECT_EQ(target::parse_target("nfs://h/e?rsize=65536")->remote->read_bytes, 65536U);
}

TEST(RemoteTarget, PathsAndHosts) {
    EXPECT_EQ(target::parse_target("nfs://h/")->path, "/") << "the root may be an export";
    EXPECT_EQ(target::parse_target("nfs://h//a///b/")->path, "/a/b");
    EXPECT_EQ(target::parse_target("nfs://h/my%20clips/100%25%3f/a@b:c#d?version=3")->path,
              "/my clips/100%?/a@b:c#d");
    EXPECT_EQ(target::parse_target("nfs://h/shot.%2507d.dpx")->path, "/shot.%07d.dpx");
    EXPECT_EQ(target::parse_target("nfs://[fe80::1%eth0]/e")->remote->host, "fe80::1%eth0");
    EXPECT_EQ(target::parse_target("nfs://[::1]:2050/e")->remote->port, 2050);
    EXPECT_EQ(target::parse_target("nfs://[::1]:2050/a@b")->path, "/a@b");
    EXPECT_EQ(target::parse_target("nfs://h:2049/a@b")->path, "/a@b");
    EXPECT_EQ(target::parse_target("smb://ed@h:445/a@b")->path, "/a@b");
    EXPECT_EQ(target::parse_target("smb://ed@[::1]/media/a@b")->path, "/media/a@b");
    EXPECT_EQ(target::parse_target("smb://ed@[::1]:445/a@b")->path, "/a@b");
    EXPECT_EQ(target::parse_target("smb://h:445/a%40b")->path, "/a@b");
    EXPECT_EQ(target::parse_target("smb://h/a@b?timeout=2s")->path, "/a@b");
    EXPECT_EQ(target::parse_target("nfs://h/a%5Cb")->path, "/a\\b") << "a name of NFS may have any byte";
}

TEST(RemoteTarget, EveryMistake) {
    for (const char* wrong : {"nfs://",
                              "nfs:///e",
                              "nfs://h",
                              "smb://h/",
                              "smb://h",
                              "nfs://h:0/e",
                              "nfs://h:x/e",
                              "nfs://h:70000/e",
                              "nfs://::1/e",
                              "nfs://[::1/e",
                              "nfs://[::1]x/e",
                              "nfs://u@h/e",
                              "nfs://h/a/../b",
                              "nfs://h/.",
                              "nfs://h/a%",
                              "nfs://h/a%2",
                              "nfs://h/a%zz",
                              "nfs://h/a%00",
                              "nfs://h/e?",
                              "nfs://h/e?version=2",
                              "nfs://h/e?uid=-1",
                              "nfs://h/e?rsize=1",
                              "nfs://h/e?rsize=9GB",
                              "nfs://h/e?timeout=10",
                              "nfs://h/e?timeout=0s",
                              "nfs://h/e?port=1",
                              "nfs://h:1/e?nfsport=2",
                              "smb://h/s?version=3",
                              "smb://h:1/s?port=1",
                              "smb://@h/s",
                              "smb://h/s/a%5Cb",
                              "smb://h/s/..\\..\\b",
                              "nfs://h/e?connections=0",
                              "nfs://h/e?connections=65",
                              "nfs://h/e?connections=1&connections=1",
                              "nfs://h/e?addresses=",
                              "nfs://h/e?addresses=a,,b"}) {
        EXPECT_EQ(problems_of_url(wrong).size(), 1U) << wrong;
    }
    const auto all = problems_of_url("nfs://h:x/a/%zz?version=5&colour=blue&rsize=x&uid=me");
    ASSERT_EQ(all.size(), 6U);
    EXPECT_THAT(all[3], HasSubstr("expected connections=, addresses="));
}

TEST(RemoteTarget, APasswordIsRefusedAndNotRepeated) {
    for (const char* wrong :
         {"smb://joe:s3cret@files/media", "smb://DOM;joe:s3cret@files/media?connections=0",
          "smb://joe:s3c/ret@files/media", "smb://joe:s3cr@et@files/media", "nfs://joe:s3cret@h/e",
          "smb://joe:s3c?ret@files/media", "smb://joe:s3c?ret=1@files/media", "smb://joe:12/s3cret@files/media",
          "smb://joe:12?s3cret@files/media", "smb://joe?s3c:ret@files/media", "nfs://joe:12?s3cret@h/e",
          "smb://joe@corp:s3c/ret@files/media"}) {
        const auto problems = problems_of_url(wrong);
        ASSERT_EQ(problems.size(), 1U) << wrong;
        EXPECT_THAT(problems[0], HasSubstr("password"));
        for (const char* part : {"s3c", "ret", "cr"}) EXPECT_THAT(problems[0], Not(HasSubstr(part))) << wrong;
    }
    for (const auto& problem : problems_of_url("smb://joe/media?s3cret@files/media"))
        EXPECT_THAT(problem, Not(HasSubstr("s3cret"))) << "the key of an option";
    for (const auto& problem : problems_of_url("smb://files/media?password=s3cret&connections=0"))
        EXPECT_THAT(problem, Not(HasSubstr("s3cret")));
}

}  // namespace
}  // namespace streamsim::run
