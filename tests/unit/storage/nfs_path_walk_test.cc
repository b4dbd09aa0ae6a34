// Walks to files by their names, whatever the server replies on the way.
#include "storage/nfs/nfs_path_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "unit/storage/scripted_node.h"

namespace streamsim::storage {
namespace {

using namespace tests;
using How = ScriptedReply::How;
using Kind = PathOp::Kind;

constexpr std::uint32_t kFile = 1, kDirectory = 2, kDevice = 3, kLink = 5;
constexpr std::uint32_t kReads = 1, kChanges = 1 | 4 | 8;
constexpr std::uint32_t kNoEntry = 2, kExists = 17, kIsDirectory = 21, kStale = 70, kLater = 10008,
                        kExpired = 10011;

/// The export is mounted at "/export", with the handle 'r'.
class NfsPathWalkTest : public ScriptedNode {
protected:
    ~NfsPathWalkTest() override { node_.reset(); }  // before the walk that it may answer
    void boot(std::uint32_t version) {
        begin(version, "/export");
        ASSERT_TRUE(boots());
        on(access3, {access_reply3(kChanges)});
    }

    void on(std::uint32_t procedure, const std::vector<XdrWords>& words) {
        std::vector<ScriptedReply> replies;
        for (const XdrWords& each : words) replies.push_back({How::comes, each});
        server_.script(ScriptedNfs::nfs, procedure, std::move(replies));
    }
    int calls(std::uint32_t procedure) const { return server_.calls(ScriptedNfs::nfs, procedure); }

    void start(NfsPathRequest request) {
        done_ = false;
        walk_.begin(
            *node_, std::move(request), [](void* flag, NfsPathWalk&) { *static_cast<bool*>(flag) = true; },
            &done_);
    }
    /// The walk's error; -1: it does not end.
    int end() {
        const auto ended = comes([&] {
            walk_.advance(now_);
            node_->flush(now_);
            return done_;
        });
        EXPECT_EQ(walk_.busy(), !done_);
        return ended ? walk_.error() : -1;
    }
    int walk(NfsPathRequest request) {
        start(std::move(request));
        return end();
    }
    int open(const std::string& path, Access access = Access::read) {
        return walk({.path = path, .access = access});
    }
    int path(Kind kind, const std::string& path, const std::string& to = "") {
        return walk({.operation = OpKind::path, .path = path, .kind = kind, .to = to});
    }
    /// As path() or open(), but the reply to `procedure` is lost with the connection.
    int lost_once(std::uint32_t procedure, NfsPathRequest request, const std::vector<XdrWords>& then) {
        server_.script(ScriptedNfs::nfs, procedure, {{How::never, {}}});
        const int before = calls(procedure);
        start(std::move(request));
        EXPECT_TRUE(comes([&] {
            walk_.advance(now_);
            node_->flush(now_);
            return calls(procedure) > before;
        }));
        on(procedure, then);
        server_.hang_up();
        return end();
    }
    char opened() const { return walk_.file().handle.bytes[3]; }

    NfsPathWalk walk_;
    bool done_ = false;
};

// ---- to an existing file

TEST_F(NfsPathWalkTest, AKnownDirectoryIsNotWalkedAgain) {
    ASSERT_NO_FATAL_FAILURE(boot(3));
    on(lookup3, {lookup_reply3('a', kDirectory), lookup_reply3('f', kFile)});
    EXPECT_EQ(open("/export/a/f"), 0);
    EXPECT_EQ(opened(), 'f');
    EXPECT_EQ(calls(lookup3), 2);
    EXPECT_EQ(open("/export/a/g"), 0);
    EXPECT_EQ(calls(lookup3), 3);
    // The name may be another directory's by now.
    on(lookup3, {refused3(kNoEntry), lookup_reply3('b', kDirectory), lookup_reply3('h', kFile)});
    EXPECT_EQ(open("/export/a/h"), 0);
    EXPECT_EQ(opened(), 'h');
    on(lookup3, {refused3(kNoEntry)});
    EXPECT_EQ(open("/export/a/h"), ENOENT);
    // A path below the known one, and one through it.
    on(lookup3, {lookup_reply3('a', kDirectory), lookup_reply3('f', kFile)});
    EXPECT_EQ(open("/export/a/f"), 0);
    on(lookup3, {lookup_reply3('b', kDirectory), lookup_reply3('g', kFile)});
    EXPECT_EQ(open("/export/a/b/g"), 0);
    on(lookup3, {lookup_reply3('a', kDirectory), lookup_reply3('k', kFile)});
    EXPECT_EQ(open("/export/a/../k"), 0);
}

TEST_F(NfsPathWalkTest, ObjectsOfTheWrongKindAreErrors) {
    ASSERT_NO_FATAL_FAILURE(boot(3));
    const auto opening = [&](const XdrWords& found, Access access) {
        on(lookup3, {found});
        return open("/export/f", access);
    };
    EXPECT_EQ(opening(lookup_reply3('f', kDirectory), Access::read), EISDIR);
    EXPECT_EQ(opening(lookup_reply3('f', kDevice), Access::read), EINVAL);
    EXPECT_EQ(opening(lookup_reply3('f', kLink), Access::write), ELOOP);
    EXPECT_EQ(opening(lookup_reply3('f', kFile, 2), Access::write), EMLINK);
    EXPECT_EQ(opening(lookup_reply3('f', kFile, 2), Access::read), 0);
    EXPECT_EQ(opening({0, 0, 0, 0}, Access::read), EPROTO) << "without a handle";
    on(lookup3, {lookup_reply3('a', kFile)});
    EXPECT_EQ(open("/export/a/f"), ENOTDIR);
    on(lookup3, {lookup_reply3('f', kFile)});
    on(access3, {access_reply3(kReads)});
    EXPECT_EQ(open("/export/f"), 0);
    EXPECT_EQ(open("/export/f", Access::write), EACCES);
    on(access3, {access_reply3(0)});
    EXPECT_EQ(open("/export/f"), EACCES);
    EXPECT_EQ(open("/export/" + std::string(256, 'n')), ENAMETOOLONG);
    EXPECT_EQ(open("/export/../f"), ENOENT) << "above the export";
    EXPECT_EQ(open("/exported/f"), ENOENT) << "another export";
    for (const auto& [status, error] :
         {std::pair{63U, ENAMETOOLONG}, std::pair{66U, ENOTEMPTY}, std::pair{69U, EDQUOT},
          std::pair{10004U, EOPNOTSUPP}, std::pair{10006U, EIO}, std::pair{28U, ENOSPC}}) {
        on(lookup3, {refused3(status)});
        EXPECT_EQ(open("/export/f"), error) << status;
    }
}

TEST_F(NfsPathWalkTest, AttributesThatALookupLacksAreAskedFor) {
    ASSERT_NO_FATAL_FAILURE(boot(3));
    const XdrWords bare{0, 4, 'd', 0, 0};
    on(lookup3, {bare, lookup_reply3('f', kFile)});
    on(get_attributes3, {attributes_reply3(kDirectory, 4096)});
    EXPECT_EQ(open("/export/a/f"), 0);
    EXPECT_EQ(opened(), 'f');
    on(lookup3, {bare});
    on(get_attributes3, {attributes_reply3(kFile, 5)});
    EXPECT_EQ(open("/export/f", Access::write), 0);
    EXPECT_EQ(opened(), 'd');
    on(get_attributes3, {refused3(kNoEntry)});
    EXPECT_EQ(open("/export/f"), ENOENT);
}

TEST_F(NfsPathWalkTest, TheExportItself) {
    ASSERT_NO_FATAL_FAILURE(boot(3));
    on(get_attributes3, {attributes_reply3(kDirectory, 4096)});
    on(list3, {list_reply3({".", "..", "a"}, 1, true)});
    EXPECT_EQ(open("/export"), EISDIR);
    EXPECT_EQ(open("/export", Access::create_new), EEXIST);
    EXPECT_EQ(path(Kind::stat, "/export"), 0);
    EXPECT_EQ(walk_.bytes(), 0U) << "no file";
    EXPECT_EQ(path(Kind::list, "/export"), 0);
    EXPECT_EQ(walk_.entries(), 1U);
    EXPECT_EQ(path(Kind::make_directory, "/export"), EEXIST);
    EXPECT_EQ(path(Kind::remove, "/export"), EBUSY);
}

TEST_F(NfsPathWalkTest, LinksAreFollowed) {
    ASSERT_NO_FATAL_FAILURE(boot(3));
    on(read_link3, {link_reply3("b//./g")});
    on(lookup3, {lookup_reply3('l', kLink), lookup_reply3('b', kDirectory), lookup_reply3('g', kFile)});
    EXPECT_EQ(open("/export/l"), 0);
    EXPECT_EQ(opened(), 'g');
    on(read_link3, {link_reply3("/export/f")});
    on(lookup3, {lookup_reply3('l', kLink), lookup_reply3('f', kFile)});
    EXPECT_EQ(open("/export/l"), 0);
    on(read_link3, {link_reply3("/elsewhere/f")});
    on(lookup3, {lookup_reply3('l', kLink)});
    EXPECT_EQ(open("/export/l"), ENOENT) << "on another export";
    on(read_link3, {link_reply3("l")});
    EXPECT_EQ(open("/export/l"), ELOOP);
    on(read_link3, {link_reply3("../f")});
    on(lookup3, {lookup_reply3('a', kDirectory), lookup_reply3('l', kLink), lookup_reply3('f', kFile)});
    EXPECT_EQ(open("/export/a/l"), 0);
    EXPECT_EQ(opened(), 'f');
    on(read_link3, {link_reply3(".")});
    on(lookup3, {lookup_reply3('l', kLink)});
    EXPECT_EQ(open("/export/l"), EISDIR);
    on(read_link3, {refused3(kNoEntry)});
    EXPECT_EQ(open("/export/l"), ENOENT);
}

TEST_F(NfsPathWalkTest, ABusyServerIsAskedAgain) {
    ASSERT_NO_FATAL_FAILURE(boot(3));
    on(lookup3, {refused3(kLater), refused3(kLater), lookup_reply3('f', kFile)});
    const Instant before = now_;
    EXPECT_EQ(open("/export/f"), 0);
    EXPECT_GE((now_ - before).ns, (kRetryPause + kRetryPause).ns);
    EXPECT_EQ(lost_once(lookup3, {.path = "/export/f"}, {lookup_reply3('f', kFile)}), 0);
}

TEST_F(NfsPathWalkTest, StaleDirectoriesAreWalkedToOnceMore) {
    ASSERT_NO_FATAL_FAILURE(boot(3));
    on(lookup3, {lookup_reply3('a', kDirectory), lookup_reply3('f', kFile)});
    EXPECT_EQ(open("/export/a/f"), 0);
    on(lookup3, {refused3(kStale), lookup_reply3('b', kDirectory), lookup_reply3('g', kFile)});
    EXPECT_EQ(open("/export/a/g"), 0);
    EXPECT_EQ(opened(), 'g');
    on(lookup3, {refused3(kStale), lookup_reply3('b', kDirectory), refused3(10001)});
    EXPECT_EQ(open("/export/a/g"), ESTALE);
    // The export's own handle is mounted anew.
    const int mounts = server_.calls(ScriptedNfs::mount, kMount);
    on(lookup3, {refused3(kStale), lookup_reply3('f', kFile)});
    EXPECT_EQ(open("/export/f"), 0);
    EXPECT_EQ(server_.calls(ScriptedNfs::mount, kMount), mounts + 1);
}

// ---- changes

TEST_F(NfsPathWalkTest, CreatesAFile) {
    ASSERT_NO_FATAL_FAILURE(boot(3));
    on(lookup3, {refused3(kNoEntry)});
    on(create3, {create_reply3('n')});
    EXPECT_EQ(open("/export/f", Access::create), 0);
    EXPECT_EQ(opened(), 'n');
    // The server may not give its handle.
    on(create3, {create_reply3()});
    on(lookup3, {refused3(kNoEntry), lookup_reply3('m', kFile)});
    EXPECT_EQ(open("/export/f", Access::create), 0);
    EXPECT_EQ(opened(), 'm');
    // Another client was faster.
    on(create3, {refused3(kExists)});
    on(lookup3, {refused3(kNoEntry), lookup_reply3('o', kFile)});
    EXPECT_EQ(open("/export/f", Access::create), 0);
    EXPECT_EQ(opened(), 'o');
    EXPECT_EQ(open("/export/f", Access::create_new), EEXIST);
    on(create3, {create_reply3('n')});
    const int looked = calls(lookup3);
    EXPECT_EQ(open("/export/f", Access::create_new), 0);
    EXPECT_EQ(calls(lookup3), looked);
    EXPECT_EQ(open("/export/a/..", Access::create_new), ENOTDIR);
    on(lookup3, {lookup_reply3('a', kDirectory)});
    EXPECT_EQ(open("/export/a/..", Access::create_new), EINVAL);
    on(lookup3, {refused3(kNoEntry)});
    EXPECT_EQ(open("/export/f", Access::write), ENOENT);
}

TEST_F(NfsPathWalkTest, MakesRemovesAndRenames) {
    ASSERT_NO_FATAL_FAILURE(boot(3));
    on(make_directory3, {create_reply3('d')});
    EXPECT_EQ(path(Kind::make_directory, "/export/d"), 0);
    on(make_directory3, {refused3(kExists)});
    EXPECT_EQ(path(Kind::make_directory, "/export/d"), EEXIST);
    on(remove3, {done3()});
    EXPECT_EQ(path(Kind::remove, "/export/f"), 0);
    for (const std::uint32_t status : {kIsDirectory, 1U}) {
        on(remove3, {refused3(status)});
        on(remove_directory3, {done3()});
        EXPECT_EQ(path(Kind::remove, "/export/d"), 0) << "directories have a procedure of their own";
    }
    on(rename3, {done3()});
    on(lookup3, {lookup_reply3('a', kDirectory), lookup_reply3('b', kDirectory)});
    EXPECT_EQ(path(Kind::rename, "/export/a/f", "/export/b/g"), 0);
    EXPECT_EQ(calls(lookup3), 2);
    // Both directories are known. When one of them is another by now, all is walked again.
    on(rename3, {refused3(kNoEntry), done3()});
    on(lookup3, {lookup_reply3('a', kDirectory), lookup_reply3('b', kDirectory)});
    EXPECT_EQ(path(Kind::rename, "/export/a/f", "/export/b/g"), 0);
    EXPECT_EQ(calls(lookup3), 4);
    on(rename3, {refused3(kNoEntry)});
    EXPECT_EQ(path(Kind::rename, "/export/f", "/export/g"), ENOENT);
    // A directory that has another name now is forgotten, and those below it.
    on(lookup3, {lookup_reply3('c', kDirectory), lookup_reply3('f', kFile)});
    EXPECT_EQ(open("/export/a/c/f"), 0);
    on(rename3, {done3()});
    EXPECT_EQ(path(Kind::rename, "/export/a", "/export/z"), 0);
    on(lookup3, {refused3(kNoEntry)});
    EXPECT_EQ(open("/export/a/c/f"), ENOENT);
    EXPECT_TRUE(node_->directories().empty() || !node_->directories().contains("/export/a/c"));
}

TEST_F(NfsPathWalkTest, ListsInPages) {
    ASSERT_NO_FATAL_FAILURE(boot(3));
    on(lookup3, {lookup_reply3('d', kDirectory)});
    on(list3, {list_reply3({".", "..", "a", "b"}, 1, false), list_reply3({"c"}, 5, true)});
    EXPECT_EQ(path(Kind::list, "/export/d"), 0);
    EXPECT_EQ(walk_.entries(), 3U);
    on(list3, {list_reply3({}, 1, false)});
    EXPECT_EQ(path(Kind::list, "/export/d"), EPROTO) << "it would never end";
    on(get_attributes3, {attributes_reply3(kFile, 77)});
    EXPECT_EQ(path(Kind::stat, "/export/d"), 0);
    EXPECT_EQ(walk_.bytes(), 77U);
}

// ---- a change whose reply is lost: was it made?

TEST_F(NfsPathWalkTest, AFileWhoseCreationIsLost) {
    ASSERT_NO_FATAL_FAILURE(boot(3));
    const NfsPathRequest creating{.path = "/export/f", .access = Access::create_new};
    EXPECT_EQ(lost_once(create3, creating, {create_reply3('n')}), 0);
    const auto there_already = [&](const XdrWords& found) {
        on(lookup3, {found});
        return lost_once(create3, creating, {refused3(kExists)});
    };
    EXPECT_EQ(there_already(lookup_reply3('n', kFile)), 0) << "an empty file: it is that one";
    EXPECT_EQ(opened(), 'n');
    EXPECT_EQ(there_already(lookup_reply3('n', kFile, 1, 5)), EEXIST) << "somebody wrote to it";
    EXPECT_EQ(there_already(lookup_reply3('n', kFile, 2)), EEXIST);
    EXPECT_EQ(there_already(lookup_reply3('n', kDirectory)), EEXIST);
    on(get_attributes3, {attributes_reply3(kFile, 5)});
    EXPECT_EQ(there_already({0, 4, 'n', 0, 0}), EEXIST) << "the server says later what it is";
    EXPECT_EQ(there_already(refused3(kNoEntry)), EEXIST) << "gone, and there again";
}

TEST_F(NfsPathWalkTest, OtherChangesThatAreLost) {
    ASSERT_NO_FATAL_FAILURE(boot(3));
    const auto request = [](Kind kind) {
        return NfsPathRequest{.operation = OpKind::path, .path = "/export/f", .kind = kind, .to = "/export/g"};
    };
    on(lookup3, {lookup_reply3('f', kDirectory)});
    EXPECT_EQ(lost_once(make_directory3, request(Kind::make_directory), {refused3(kExists)}), 0);
    on(lookup3, {lookup_reply3('f', kFile)});
    EXPECT_EQ(lost_once(make_directory3, request(Kind::make_directory), {refused3(kExists)}), EEXIST);
    EXPECT_EQ(lost_once(rename3, request(Kind::rename), {refused3(kNoEntry)}), 0);
    on(lookup3, {refused3(kNoEntry)});
    EXPECT_EQ(lost_once(rename3, request(Kind::rename), {refused3(kNoEntry)}), ENOENT);
    EXPECT_EQ(lost_once(remove3, request(Kind::remove), {refused3(kNoEntry)}), 0);
    on(remove3, {refused3(kIsDirectory)});
    EXPECT_EQ(lost_once(remove_directory3, request(Kind::remove), {refused3(kNoEntry)}), 0);
}

TEST_F(NfsPathWalkTest, AChangeThatNobodyWaitsForIsNotAskedForAgain) {
    ASSERT_NO_FATAL_FAILURE(boot(3));
    const auto making = [&](const std::string& name, std::uint32_t until) {
        const int before = calls(until);
        ASSERT_TRUE(boots());
        start({.operation = OpKind::path, .path = name, .kind = Kind::make_directory});
        walk_.advance(now_);
        node_->flush(now_);
        EXPECT_TRUE(comes([&] { return calls(until) > before; }));
        walk_.give_up();
    };
    server_.script(ScriptedNfs::nfs, make_directory3, {{How::never, {}}});
    making("/export/d", make_directory3);
    on(make_directory3, {create_reply3('d')});
    server_.hang_up();
    EXPECT_EQ(end(), ETIMEDOUT) << "its reply is lost";
    on(lookup3, {lookup_reply3('a', kDirectory)});
    making("/export/a/d", lookup3);
    EXPECT_EQ(end(), ETIMEDOUT) << "its directory is still looked for";
    EXPECT_EQ(calls(make_directory3), 1);
}

// ---- version 4

TEST_F(NfsPathWalkTest, Version4OpensAndConfirms) {
    ASSERT_NO_FATAL_FAILURE(boot(4));
    on(lookup4, {lookup_reply4('e', kDirectory)});
    on(confirm_open4, {confirm_reply4()});
    for (const bool confirms : {false, true}) {
        on(open4, {open_reply4('f', confirms)});
        EXPECT_EQ(open("/export/f"), 0);
        EXPECT_EQ(opened(), 'f');
        EXPECT_EQ(walk_.file().state_sequence, confirms ? 2U : 1U);
        EXPECT_EQ(calls(confirm_open4), confirms ? 1 : 0);
    }
    on(open4, {refused4(open4, kIsDirectory)});
    EXPECT_EQ(open("/export/f"), EISDIR);
    // A link cannot be opened.
    on(open4, {refused4(open4, 10029), open_reply4('t', false)});
    on(lookup4, {lookup_reply4('l', kLink)});
    on(read_link4, {link_reply4("t")});
    EXPECT_EQ(open("/export/l"), 0);
    EXPECT_EQ(opened(), 't');
    on(lookup4, {lookup_reply4('x', kFile)});
    EXPECT_EQ(open("/other/x"), ENOTDIR);
}

TEST_F(NfsPathWalkTest, Version4BeginsAgainWithAClientThatExpired) {
    ASSERT_NO_FATAL_FAILURE(boot(4));
    on(lookup4, {lookup_reply4('e', kDirectory)});
    on(open4, {refused4(open4, kExpired), open_reply4('f', false)});
    server_.script(ScriptedNfs::nfs, set_client4, client_reply4(9));
    EXPECT_EQ(open("/export/f"), 0);
    EXPECT_EQ(node_->client(), 9U);
    on(open4, {open_reply4('f', true)});
    on(confirm_open4, {refused4(confirm_open4, kExpired), confirm_reply4()});
    int opens = calls(open4);
    EXPECT_EQ(open("/export/f"), 0);
    EXPECT_EQ(calls(open4), opens + 2) << "its state is gone: it is opened again";
    opens = calls(open4);
    EXPECT_EQ(lost_once(confirm_open4, {.path = "/export/f"}, {confirm_reply4()}), 0);
    EXPECT_EQ(calls(open4), opens + 2);
}

TEST_F(NfsPathWalkTest, RepliesThatLackAPartAreErrors) {
    ASSERT_NO_FATAL_FAILURE(boot(4));
    const XdrWords attributes{get_attributes4, 0, 1, 2, 4, kDirectory};
    const XdrWords handle{get_handle4, 0, 4, 'f'};
    const auto looking = [&](std::vector<XdrWords> results) {
        on(lookup4, {compound4(std::move(results))});
        on(open4, {open_reply4('f', false)});
        return open("/export/f");
    };
    EXPECT_EQ(looking({{put_handle4, 0}, {lookup4, 0}}), EPROTO) << "no handle";
    EXPECT_EQ(looking({{put_handle4, 0}, {lookup4, 0}, {get_handle4, 0, 0}, attributes}), EPROTO);
    EXPECT_EQ(looking({{put_handle4, 0}, {lookup4, 0}, handle}), EPROTO) << "no attributes";
    EXPECT_EQ(looking({{put_handle4, 0}, {lookup4, 0}, handle, {get_attributes4, 0, 1, 1, 4, 1}}), ENOTDIR)
        << "others than those that were asked for";
    on(lookup4, {lookup_reply4('e', kDirectory)});
    on(open4, {compound4({{put_handle4, 0}, {open4, 10036}})});
    EXPECT_EQ(open("/export/f"), EIO);
    on(open4, {compound4({{put_handle4, 0}, handle})});
    EXPECT_EQ(open("/export/f"), EPROTO);
    on(open4, {open_reply4('f', true)});
    on(confirm_open4, {compound4({{put_handle4, 0}})});
    EXPECT_EQ(open("/export/f"), EPROTO);
    on(open4, {refused4(open4, 10029)});
    on(lookup4, {lookup_reply4('l', kLink)});
    on(read_link4, {compound4({{put_handle4, 0}})});
    EXPECT_EQ(open("/l"), EPROTO);
}

TEST_F(NfsPathWalkTest, AStaleRootOfVersion4IsAskedForAnew) {
    boot(4);
    const int asked = calls(get_handle4);
    const XdrWords stale = compound4({{put_handle4, kStale}});
    on(lookup4, {stale, stale, lookup_reply4('d', kDirectory)});
    on(open4, {open_reply4('f', false)});
    const Instant begun = now_;
    EXPECT_EQ(open("/export/f"), 0);
    EXPECT_EQ(calls(get_handle4), asked + 2);
    EXPECT_GE(now_ - begun, milliseconds(200)) << "no more than ten times a second";
}

TEST_F(NfsPathWalkTest, EndsForAServerThatOnlyPutsItOffWhenNobodyWaits) {
    for (const std::uint32_t version : {3U, 4U}) {
        boot(version);
        const std::uint32_t lookup = version == 3 ? std::uint32_t{lookup3} : std::uint32_t{lookup4};
        for (const std::uint32_t status : {kLater, kStale}) {
            on(lookup, {version == 3 ? refused3(status) : compound4({{put_handle4, status}})});
            const int before = calls(lookup);
            start({.path = "/export/a/f"});
            const Instant until = now_ + seconds(2);
            EXPECT_FALSE(comes(
                [&] {
                    walk_.advance(now_);
                    node_->flush(now_);
                    return done_ || now_ > until;
                },
                seconds(1)));
            EXPECT_LE(calls(lookup), before + 25) << "at intervals";
            walk_.give_up();
            EXPECT_EQ(end(), ETIMEDOUT) << version << " " << status;
        }
    }
}

}  // namespace
}  // namespace streamsim::storage
