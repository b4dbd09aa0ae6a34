// Mount tables as texts: NFS and SMB clients are in few kernels that tests run on.
#include "host/mount.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "host/network_mount.h"

namespace streamsim::host {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::string_view kTable =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard\n"
    "61 27 0:45 / /mnt/isilon rw,relatime shared:7 master:2 - nfs4 isilon.post.example:/ifs/media "
    "rw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,proto=tcp,nconnect=8,timeo=600,retrans=2,sec=sys,"
    "clientaddr=10.0.0.2,local_lock=none,addr=10.0.0.1\n"
    "62 27 0:46 / /mnt/old rw,noatime - nfs [fe80::1]:/export "
    "rw,vers=3,rsize=65536,wsize=65536,namlen=255,soft,noac,proto=udp,timeo=11,retrans=3,sec=sys,mountaddr="
    "fe80::1,"
    "mountvers=3,mountport=635,mountproto=udp,local_lock=none,addr=fe80::1\n"
    "63 27 0:47 /cuts /mnt/two\\040words rw,relatime - cifs //nas/media\\040one "
    "rw,vers=3.1.1,cache=none,username=editor,uid=0,addr=10.0.0.3,soft,rsize=4194304,wsize=4194304,bsize="
    "1048576,"
    "echo_interval=60,actimeo=1\n"
    "64 27 0:48 / /mnt/many rw,relatime,sync - smb3 //nas/media "
    "rw,vers=3.1.1,cache=strict,multichannel,max_channels=4,rsize=4194304\n"
    "65 27 0:49 / /mnt/smb1 rw - cifs //nas/old rw,vers=1.0,rsize=61440\n"
    "66 61 254:1 / /mnt/isilon/local rw - xfs /dev/sdb1 rw\n";

MountFacts share(std::string_view path) {
    auto mount = mount_in(kTable, path);
    EXPECT_TRUE(mount);
    if (!mount) return {};
    describe_share(*mount);
    return *mount;
}

TEST(MountTable, TheDeepestPointThatHoldsThePathIsTheOne) {
    std::string device;
    const auto mount = mount_in(kTable, "/mnt/isilon/dpx/shot.0001.dpx", &device);
    ASSERT_TRUE(mount);
    EXPECT_EQ(mount->point, "/mnt/isilon");
    EXPECT_EQ(mount->source, "isilon.post.example:/ifs/media");
    EXPECT_EQ(mount->type, "nfs4");
    EXPECT_THAT(mount->options, StartsWith("rw,relatime,vers=4.2,rsize=1048576"));
    EXPECT_EQ(device, "0:45");
    EXPECT_EQ(mount_in(kTable, "/mnt/isilon/local/x")->type, "xfs");
    EXPECT_EQ(mount_in(kTable, "/mnt/isilons")->type, "ext4");
    EXPECT_EQ(mount_in(kTable, "/mnt/two words/x")->source, "//nas/media one");
    EXPECT_FALSE(mount_in("", "/x"));
    EXPECT_FALSE(mount_in("no table\n22 27 0:21 / / rw - \n", "/x"));
}

TEST(MountTable, OfTwoAtOnePlaceTheLaterCounts) {
    EXPECT_EQ(mount_in("1 0 8:1 / /m rw - ext4 /dev/a rw\n2 0 8:2 / /m rw - xfs /dev/b rw", "/m/x")->source,
              "/dev/b");
}

/// A disk with a share and a disk in the share's folder, which another disk covers; /proc is older than the
/// root.
constexpr std::string_view kCovered =
    "22 27 0:21 / /proc rw - proc proc rw\n"
    "1 1 0:2 / / rw - rootfs rootfs rw\n"
    "27 1 254:0 / / rw - ext4 /dev/vda rw\n"
    "61 27 0:45 / /mnt/share rw - nfs nas:/media rw\n"
    "62 61 8:1 / /mnt/share/disk rw - xfs /dev/sda rw\n"
    "63 27 8:2 / /mnt rw - ext4 /dev/sdb rw\n";

TEST(MountTable, WhatALaterMountCoversIsHidden) {
    EXPECT_EQ(mount_in(kCovered, "/mnt/share/x")->source, "/dev/sdb");
    EXPECT_EQ(mount_in(kCovered, "/mnt/share/disk/x")->source, "/dev/sdb");
    EXPECT_EQ(mount_in(kCovered, "/home")->source, "/dev/vda");
    EXPECT_EQ(mount_in(kCovered, "/proc/self")->source, "proc");
}

TEST(MountTable, TheNumberThatTheKernelTellsDecides) {
    EXPECT_EQ(mount_in(kCovered, "/mnt/share/disk/x", nullptr, 61)->source, "nas:/media");
    EXPECT_EQ(mount_in(kCovered, "/mnt/share/disk/x", nullptr, 99)->source, "/dev/sdb") << "it is not there";
}

TEST(MountTable, ASourceMayBeEmpty) {
    const auto mount =
        mount_in("27 1 254:0 / / rw - ext4 /dev/vda rw\n28 27 0:9 / /m rw - tmpfs  rw\n", "/m/x");
    ASSERT_TRUE(mount);
    EXPECT_EQ(mount->type, "tmpfs");
    EXPECT_EQ(mount->source, "");
}

TEST(Share, NfsSaysServerVersionConnectionsAndReadSize) {
    const MountFacts nfs = share("/mnt/isilon");
    EXPECT_EQ(nfs.server, "isilon.post.example");
    EXPECT_EQ(nfs.protocol, "NFSv4.2");
    EXPECT_EQ(nfs.connections, 8u);
    EXPECT_EQ(nfs.read_bytes, 1048576u);
    const MountFacts old = share("/mnt/old");
    EXPECT_EQ(old.server, "fe80::1");
    EXPECT_EQ(old.protocol, "NFSv3");
    EXPECT_EQ(old.connections, 1u);
    EXPECT_EQ(old.read_bytes, 65536u);
}

TEST(Share, SmbSaysServerDialectChannelsAndReadSize) {
    const MountFacts smb = share("/mnt/two words");
    EXPECT_EQ(smb.server, "nas");
    EXPECT_EQ(smb.protocol, "SMB 3.1.1");
    EXPECT_EQ(smb.connections, 1u);
    EXPECT_EQ(smb.read_bytes, 4194304u);
    EXPECT_EQ(share("/mnt/many").connections, 4u);
}

/// As macOS tells a mount: without the options of its file system.
MountFacts named(const char* type, const char* source) {
    MountFacts mount;
    mount.type = type;
    mount.source = source;
    mount.options = "rw,nodev,nosuid";
    name_share(mount);
    return mount;
}

TEST(Share, MacosSaysServerAndProtocolAndNothingOfConnections) {
    const MountFacts smb = named("smbfs", "//STUDIO;editor@isilon.local/media");
    EXPECT_EQ(smb.server, "isilon.local");
    EXPECT_EQ(smb.protocol, "SMB");
    EXPECT_EQ(smb.connections, std::nullopt);
    EXPECT_EQ(named("smbfs", "//isilon/media").server, "isilon");
    EXPECT_EQ(named("nfs", "isilon:/ifs/media").server, "isilon");
    EXPECT_EQ(named("nfs", "isilon:/ifs/media").protocol, "NFS");
    EXPECT_EQ(named("afpfs", "//editor@nas/media").server, "nas");
    EXPECT_EQ(named("afpfs", "afp_0aB1").protocol, "AFP");
    EXPECT_EQ(named("afpfs", "afp_0aB1").server, "");
    EXPECT_EQ(named("apfs", "/dev/disk3s5").protocol, "");
    EXPECT_EQ(named("apfs", "/dev/disk3s5").server, "");
}

TEST(ShareHints, NoneIsAboutConnectionsThatAreNotKnown) {
    MountFacts mount = named("smbfs", "//isilon/media");
    hint_at(mount, {.frame_bytes = 8 << 20, .bits_per_s = 40'000'000'000});
    EXPECT_THAT(mount.hints, IsEmpty());
}

TEST(Share, OfALocalDiskNothingIsSaid) {
    MountFacts disk = share("/home");
    hint_at(disk, {.frame_bytes = 1 << 25, .bits_per_s = 10'000'000'000, .direct = true});
    EXPECT_EQ(disk.protocol, "");
    EXPECT_EQ(disk.connections, std::nullopt);
    EXPECT_THAT(disk.hints, IsEmpty());
}

std::vector<std::string> hints(std::string_view path, const MountUse& use) {
    MountFacts mount = share(path);
    hint_at(mount, use);
    return mount.hints;
}

TEST(ShareHints, AGoodMountHasNone) {
    EXPECT_THAT(hints("/mnt/isilon", {.frame_bytes = 1 << 25, .bits_per_s = 25'000'000'000}), IsEmpty());
}

TEST(ShareHints, EachWeaknessHasItsSentence) {
    EXPECT_THAT(hints("/mnt/old", {.bits_per_s = 10'000'000'000}),
                ElementsAre(HasSubstr("rsize=65536"), HasSubstr("nconnect=1"), HasSubstr("noac"),
                            HasSubstr("soft"), HasSubstr("proto=udp")));
    EXPECT_THAT(hints("/mnt/two words", {.bits_per_s = 25'000'000'000}),
                ElementsAre(HasSubstr("cache=none"), HasSubstr("no multichannel")));
    EXPECT_THAT(hints("/mnt/many", {.bits_per_s = 25'000'000'000}), ElementsAre(HasSubstr("sync")));
    EXPECT_THAT(hints("/mnt/smb1", {}), ElementsAre(HasSubstr("rsize=61440"), HasSubstr("vers=1.0")));
}

TEST(ShareHints, OneConnectionIsEnoughForASlowLink) {
    EXPECT_THAT(hints("/mnt/two words", {.bits_per_s = 1'000'000'000}), ElementsAre(HasSubstr("cache=none")));
}

TEST(ShareHints, ReadAheadBelowAFrameAndDirectReads) {
    MountFacts mount = share("/mnt/isilon");
    mount.read_ahead_bytes = 128 << 10;
    hint_at(mount, {.frame_bytes = 50'000'000});
    EXPECT_THAT(mount.hints, ElementsAre(HasSubstr("reads 128 KiB ahead, and a frame is up to 50")));
    mount.read_ahead_bytes = 64 << 20;
    hint_at(mount, {.frame_bytes = 50'000'000, .direct = true});
    EXPECT_THAT(mount.hints, ElementsAre(HasSubstr("--buffered")));
}

TEST(MountOf, ThisComputersOwn) {
    const auto mount = mount_of("/proc/self/status");
    ASSERT_TRUE(mount);
    EXPECT_EQ(mount->point, "/proc");
    EXPECT_EQ(mount->type, "proc");
    EXPECT_FALSE(mount_of("/not/there"));
}

TEST(CachedBytes, OfAFileThatWasJustWritten) {
    const std::string path = testing::TempDir() + "streamsim-cached-" + std::to_string(getpid());
    const std::string text(3 * 65536 + 5, 'x');  // the last page is not whole
    std::ofstream(path) << text;
    EXPECT_EQ(cached_part(path.c_str())->cached, text.size());
    const CachedPart middle = *cached_part(path.c_str(), 100, 70'000);
    EXPECT_EQ(middle.cached, 70'000u);
    EXPECT_EQ(middle.bytes, 70'000u);
    EXPECT_EQ(cached_part(path.c_str(), 65536, UINT64_MAX)->cached, text.size() - 65536) << "to its end";
    EXPECT_FALSE(cached_part(path.c_str(), text.size(), 1)) << "behind its end";
    std::ofstream(path, std::ios::trunc).flush();
    EXPECT_FALSE(cached_part(path.c_str())) << "an empty file";
    std::remove(path.c_str());
    EXPECT_FALSE(cached_part(path.c_str())) << "no file";
}

/// mincore(2) would call all of it cached.
TEST(CachedBytes, AreUnknownOfAFileThatThisUserNeitherOwnsNorMayWrite) {
    const std::string path = testing::TempDir() + "streamsim-hidden-" + std::to_string(getpid());
    if (geteuid() != 0) {
        EXPECT_FALSE(cached_part("/bin/sh"));
        return;
    }
    std::ofstream(path) << "x";
    EXPECT_TRUE(cached_part(path.c_str()));
    const pid_t nobody = fork();
    if (nobody == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0) _exit(9);
        _exit(access(path.c_str(), R_OK) != 0 || cached_part(path.c_str()) ? 1 : 0);
    }
    int status = 0;
    waitpid(nobody, &status, 0);
    std::remove(path.c_str());
    EXPECT_EQ(status, 0);
}

/// As in rootless containers: all capabilities, and not for files of users who are not in there.
TEST(CachedBytes, AreUnknownOfAFileWhoseOwnerHasNoNumberInThisUserNamespace) {
    const std::string own = testing::TempDir() + "streamsim-unmapped-" + std::to_string(getpid());
    std::ofstream(own) << "x";
    const std::string path = geteuid() == 0 ? own : "/bin/sh";
    if (geteuid() == 0) ASSERT_EQ(chown(path.c_str(), 12'345, 12'345), 0);
    const std::string map = "0 " + std::to_string(geteuid()) + " 1";
    const pid_t inside = fork();
    if (inside == 0) {
        if (unshare(CLONE_NEWUSER) != 0 || !(std::ofstream("/proc/self/uid_map") << map << std::flush))
            _exit(2);
        _exit(access(path.c_str(), R_OK) != 0 || cached_part(path.c_str()) ? 1 : 0);
    }
    int status = 0;
    waitpid(inside, &status, 0);
    std::remove(own.c_str());
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) GTEST_SKIP() << "no user namespaces here";
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace streamsim::host
