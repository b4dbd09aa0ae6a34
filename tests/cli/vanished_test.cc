// Targets that vanish during play: a parent that is renamed, a directory that is removed, a mount that is taken
// away. The verdict must not call that damage of the media. And a client that has no file descriptor left is no
// storage that fails.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <functional>
#include <map>
#include <set>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

#if defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Vanished : public CliTest {
protected:
    /// A folder with a clip of three seconds that others made, below one that can be renamed.
    void make_clip() {
        std::filesystem::create_directories(clip());
        prepare(1, "3s");
        for (const std::string& frame : frames_in(clip_directories().front()))
            std::filesystem::copy_file(frame, clip() + "/" + std::filesystem::path(frame).filename().string());
    }
    std::string parent() const { return dir_ / "parent"; }
    std::string clip() const { return dir_ / "parent/clip"; }

    /// Plays, and after a second does it.
    Json play_while(const std::function<void(const Process&)>& it, const std::vector<std::string>& what) {
        Spawn spawn;
        spawn.args = {"--quiet", "--buffered", "--readahead", "4", "--duration", "4s", "--json", json_path()};
        spawn.args.insert(spawn.args.end(), what.begin(), what.end());
        std::filesystem::remove(json_path());
        Process process(streamsim_binary(), spawn);
        process.wait_until_it_hears(SIGTERM);
        sleep_ms(1'500);
        it(process);
        const Finished finished = process.wait();
        EXPECT_EQ(finished.exit_code, 1) << finished.text();
        Json result = read_json(json_path());
        EXPECT_THAT(result_problems(result), IsEmpty());
        return result;
    }

    Json play_while(const std::function<void(const Process&)>& it) { return play_while(it, {clip()}); }

    void expect_gone(const Json& result, const std::string& what) {
        const Json& verdict = result["verdict"];
        EXPECT_EQ(verdict["limit"], "storage") << verdict;
        EXPECT_THAT(verdict["reason"].get<std::string>(),
                    AllOf(HasSubstr(what + " vanished "), HasSubstr(" into play")));
        EXPECT_THAT(verdict["reason"].get<std::string>(), Not(HasSubstr("on any storage")));
        ASSERT_THAT(result["causes"], Not(IsEmpty()));
        EXPECT_EQ(result["causes"][0]["cause"], "storage-gone") << result["causes"];
        for (const Json& cause : result["causes"])
            EXPECT_NE(cause["cause"], "damaged-file") << result["causes"];
    }
};

TEST_F(Vanished, AParentThatIsRenamedIsTheStorages) {
    make_clip();
    for (int i = 0; i < 3; ++i) {
        const std::string away = dir_ / "away";
        expect_gone(play_while([&](const Process&) { std::filesystem::rename(parent(), away); }), parent());
        std::filesystem::rename(away, parent());
    }
}

/// It is back when play ends, and was seen while it was away.
TEST_F(Vanished, AParentThatIsAwayForASecondIsTheStorages) {
    make_clip();
    const std::string away = dir_ / "away";
    expect_gone(play_while([&](const Process&) {
                    std::filesystem::rename(parent(), away);
                    sleep_ms(1'000);
                    std::filesystem::rename(away, parent());
                }),
                parent());
}

TEST_F(Vanished, ADirectoryThatIsRemovedIsTheStorages) {
    make_clip();
    expect_gone(play_while([&](const Process&) { std::filesystem::remove_all(clip()); }), clip());
}

TEST_F(Vanished, AMountThatIsTakenAwayIsTheStorages) {
    if (!is_root()) GTEST_SKIP() << "mounting needs root";
    std::filesystem::create_directories(parent());
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(mount("tmpfs", parent().c_str(), "tmpfs", 0, nullptr), 0);
        make_clip();
        expect_gone(play_while([&](const Process&) { umount2(parent().c_str(), MNT_DETACH); }), parent());
    }
}

/// The directory stays: that is the media's.
TEST_F(Vanished, AFrameThatIsRemovedIsDamage) {
    make_clip();
    const Json result = play_while([&](const Process&) { std::filesystem::remove(frames_in(clip()).at(60)); });
    EXPECT_EQ(result["verdict"]["limit"], "media") << result["verdict"];
    EXPECT_EQ(result["causes"][0]["cause"], "damaged-file") << result["causes"];
}

/// One of two streams plays from a directory that loses a frame and then vanishes; the other misses a frame.
TEST_F(Vanished, AFrameThatIsRemovedBeforeOrFromAnotherDirectoryIsDamage) {
    prepare(2, "3s");
    const auto clips = clip_directories();
    ASSERT_EQ(clips.size(), 2u);
    const Json result = play_while(
        [&](const Process&) {
            std::filesystem::remove(frames_in(clips.at(1)).at(71));
            std::filesystem::remove(frames_in(clips.at(0)).at(50));
            sleep_ms(1'200);
            std::filesystem::remove_all(clips.at(0));
        },
        {"--format", small(), "--clip-duration", "3s", "--streams", "2", target()});
    std::map<std::string, std::set<std::string>> files;  // by cause
    for (const Json& drop : result["drops"])
        files[drop["cause"]].insert(
            std::filesystem::path(drop["file"].get<std::string>()).parent_path().string());
    EXPECT_THAT(files["storage-gone"], ::testing::ElementsAre(clips.at(0))) << result["causes"];
    EXPECT_THAT(files["damaged-file"], ::testing::ElementsAre(clips.at(0), clips.at(1))) << result["causes"];
}

TEST_F(Vanished, ASearchForTheMostSaysThatTheAnswerIsNotKnownAndKeepsItsSteps) {
    make_clip();
    Spawn spawn;
    spawn.args = {"max",       "--media", "same",   "--duration", "2s",
                  "--confirm", "2s",      "--json", json_path(),  clip()};
    Process process(streamsim_binary(), spawn);
    while (process.running() && process.err_so_far().find("1 play") == std::string::npos) sleep_ms(10);
    std::filesystem::rename(parent(), dir_ / "away");
    const Finished finished = process.wait();
    EXPECT_EQ(finished.exit_code, 3) << finished.text();
    EXPECT_THAT(finished.err, HasSubstr(parent() + " vanished"));
    const Json format = read_json(json_path())["formats"].at(0);
    EXPECT_THAT(format["at_least_because"].get<std::string>(), HasSubstr(parent() + " vanished"));
    EXPECT_TRUE(format["interrupted"]) << format;
    EXPECT_EQ(format["steps"].at(0)["streams"], 1) << format;
}

TEST_F(Vanished, ADescriptorThatThisComputerLacksIsNotTheStorages) {
    if (kSanitized) GTEST_SKIP() << "sanitizers need descriptors of their own: the release build runs this";
    make_clip();
    const Json result = play_while([](const Process& process) {
        const rlimit few{6, 4096};
        ASSERT_EQ(prlimit(process.pid(), RLIMIT_NOFILE, &few, nullptr), 0);
        sleep_ms(1'000);
        const rlimit enough{4096, 4096};  // the result needs one
        ASSERT_EQ(prlimit(process.pid(), RLIMIT_NOFILE, &enough, nullptr), 0);
    });
    EXPECT_EQ(result["verdict"]["limit"], "client-cpu") << result["verdict"];
    EXPECT_EQ(result["causes"][0]["cause"], "client-resources") << result["causes"];
    EXPECT_THAT(result["verdict"]["detail"].get<std::string>(), HasSubstr("EMFILE"));
    EXPECT_THAT(result["verdict"]["next"].get<std::string>(), HasSubstr("ulimit -n"));
}

}  // namespace
}  // namespace streamsim::tests
