// --verify: the bytes of frames are compared with those that were written.
#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Flips the lowest bit of one byte of a file.
void damage(const std::string& path, std::uint64_t offset) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const int byte = file.get();
    ASSERT_NE(byte, std::char_traits<char>::eof()) << path << " ends before " << offset;
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(static_cast<char>(byte ^ 1));
}

class Verify : public CliTest {
protected:
    /// Expects exactly one frame to differ, at this offset of its file. Others may be late on a busy machine.
    void expect_damage(const Json& result,
                       std::uint64_t clip_frame,
                       const std::string& file,
                       std::uint64_t offset) {
        EXPECT_FALSE(result["verdict"]["pass"]);
        EXPECT_EQ(result["totals"]["frames_failed"], 1) << result["totals"];
        EXPECT_EQ(result["totals"]["reasons"]["corrupt"], 1) << result["totals"];
        Json drop;
        for (const Json& each : result["drops"]) {
            if (each["kind"] == "failed") drop = each;
        }
        ASSERT_FALSE(drop.is_null());
        EXPECT_EQ(drop["cause"], "damaged-file") << result["causes"];
        EXPECT_EQ(drop["reason"], "corrupt");
        EXPECT_EQ(drop["clip_frame"], clip_frame);
        EXPECT_EQ(drop["file"], file);
        EXPECT_EQ(drop["offset"], offset);
        EXPECT_EQ(drop["completed_ns"], nullptr) << "a corrupt frame never came";
    }

    /// "file", "offset" and "bytes" of a frame.
    Json extent_of(const std::string& clip, std::size_t frame) const {
        const std::string path = dir_ / "inspect.json";
        std::filesystem::remove(path);
        const Finished done = streamsim({"inspect", clip, "--frames", "--json", path});
        EXPECT_EQ(done.exit_code, 0) << done.text();
        return read_json(path)["extents"][frame];
    }
};

TEST_F(Verify, WholeMediaPlay) {
    prepare(2);
    const Json result = play_small({"--streams", "2", "--frames", "36", "--verify"});
    EXPECT_EQ(result["totals"]["frames_failed"], 0) << result["verdict"];
    EXPECT_GE(result["content"]["frames"], result["totals"]["frames_on_time"]);
    EXPECT_EQ(result["content"]["frames_corrupt"], 0);
    EXPECT_GT(result["content"]["cpu_ns"], 0);
}

/// The same bytes count as played where nobody looks.
TEST_F(Verify, OneBitOfASequenceIsFoundAndOnlyThere) {
    prepare(1);
    const std::string frame = frames_in(clip_directories().front())[7];
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{40'000}, file_bytes(frame) - 1}) {
        damage(frame, offset);
        EXPECT_TRUE(play_small({"--frames", "20", "--fps", "max"})["verdict"]["pass"]) << "nobody looks";
        const Json result = play_small({"--frames", "20", "--fps", "max", "--verify"});
        expect_damage(result, 7, frame, offset);
        EXPECT_EQ(result["verdict"]["limit"], "media") << result["verdict"];
        EXPECT_THAT(result["verdict"]["reason"].get<std::string>(), HasSubstr("not those that were written"));
        if (offset == 40'000) {
            EXPECT_THAT(result["verdict"]["detail"].get<std::string>(),
                        HasSubstr("at byte 40,000 of its file"));
        }
        for (const char* option : {"--buffered", "--io-size=4KiB"})
            expect_damage(play_small({"--frames", "20", "--fps", "max", "--verify", option}), 7, frame, offset);
        damage(frame, offset);  // mended
    }
    damage(frame, 100);
    for (const char* option : {"--on-miss=stall", "--on-miss=hold", "--on-miss=skip", "--decode-cpu=1ms"})
        expect_damage(play_small({"--frames", "12", "--verify", option}), 7, frame, 100);
}

/// A container is read in pieces that hold the end of one frame and the beginning of the next.
TEST_F(Verify, EveryByteOfAFrameInAContainerCounts) {
    for (const char* format : {"prores-proxy-hd", "h264-proxy-hd", "dnxhr-lb-hd"}) {
        const std::vector<std::string> usual = {"--format",        format, "--yes",    "--frames", "12",
                                                "--clip-duration", "1s",   "--fps=max"};
        const auto with = [&](std::vector<std::string> more) {
            more.insert(more.begin(), usual.begin(), usual.end());
            return play(more, target());
        };
        EXPECT_TRUE(with({"--verify"})["verdict"]["pass"]) << format;
        std::string clip;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(target())) {
            if (entry.path().filename().string().starts_with("clip-0001.") &&
                entry.path().string().find(format) != std::string::npos)
                clip = entry.path().string();
        }
        const Json extent = extent_of(clip, 7);
        const std::string file = extent["file"];
        const std::uint64_t first = extent["offset"];
        const std::uint64_t bytes = extent["bytes"];
        // In MXF a key and a length lie before each frame; a frame without its key is none for any reader.
        const std::uint64_t begin = clip.ends_with(".mxf") ? first + 20 : first;
        for (const std::uint64_t offset : {begin, first + bytes / 2, first + bytes - 1}) {
            damage(file, offset);
            for (const char* option : {"--pattern=streaming", "--io-size=frame", "--io-size=64KiB"})
                expect_damage(with({"--verify", option}), 7, file, offset);
            damage(file, offset);
        }
    }
}

/// A jump into a long group of pictures reads all of the group, and each frame of it is looked at.
TEST_F(Verify, FramesThatAJumpNeedsAreCheckedToo) {
    const std::vector<std::string> options = {"--format", "h264-proxy-hd",   "--yes", "--frames",
                                              "20",       "--clip-duration", "3s",    "--order",
                                              "random",   "--fps",           "max",   "--verify"};
    const Json result = play(options, target());
    EXPECT_TRUE(result["verdict"]["pass"]) << result["verdict"];
    EXPECT_GT(result["content"]["frames"], result["totals"]["frames_on_time"]) << "groups were read";
}

TEST_F(Verify, OtherMediaHaveChecksumsOrAreRefused) {
    prepare(1);
    const std::string clip = dir_ / "camera";
    std::filesystem::create_directories(clip);
    for (const std::string& frame : frames_in(clip_directories().front()))
        std::filesystem::copy_file(frame, clip + "/" + std::filesystem::path(frame).filename().string());
    const Finished refused = streamsim({"--verify", "--frames", "20", clip});
    EXPECT_EQ(refused.exit_code, 2) << refused.text();
    EXPECT_THAT(refused.err, AllOf(HasSubstr("prepare did not make it"), HasSubstr("--keep-checksums")));

    write_text(json_path(), "mine");
    const Finished early = streamsim({"inspect", clip, "--keep-checksums", "--json", json_path()});
    EXPECT_EQ(early.exit_code, 2) << early.text();
    EXPECT_FALSE(std::filesystem::exists(frames_in(clip).front() + ".streamsim-checksums"))
        << "all was read for nothing";

    const Finished kept = streamsim({"inspect", clip, "--keep-checksums"});
    ASSERT_EQ(kept.exit_code, 0) << kept.text();
    EXPECT_TRUE(play({"--verify", "--frames", "20", "--fps", "max"}, clip)["verdict"]["pass"]);
    const std::string frame = frames_in(clip)[3];
    damage(frame, 50'000);
    expect_damage(play({"--verify", "--frames", "20", "--fps", "max"}, clip), 3, frame, 0);
    damage(frame, 50'000);

    const Finished again = streamsim({"inspect", clip, "--keep-checksums"});
    EXPECT_EQ(again.exit_code, 3) << again.text();
    EXPECT_THAT(again.err, HasSubstr("nothing is replaced"));
    damage(frames_in(clip).front() + ".streamsim-checksums", 60);
    const Finished damaged = streamsim({"--verify", "--frames", "20", clip});
    EXPECT_EQ(damaged.exit_code, 2) << damaged.text();
    EXPECT_THAT(damaged.err, HasSubstr("streamsim-checksums is damaged"));
}

/// The bytes of prepared clips depend on their set: those of another set are no damage.
TEST_F(Verify, AClipThatWasCopiedFromAnotherSetIsNoClipOfThisOne) {
    prepare(1);
    const std::filesystem::path clip = clip_directories().front();
    const std::filesystem::path length = clip.parent_path();
    const std::string kept = dir_ / "kept";
    std::filesystem::copy(length, kept, std::filesystem::copy_options::recursive);
    ASSERT_EQ(streamsim({"clean", target()}).exit_code, 0);
    prepare(1);
    std::filesystem::remove_all(length);
    std::filesystem::copy(kept, length, std::filesystem::copy_options::recursive);
    const Finished refused = streamsim({"--verify", "--frames", "20", clip.string()});
    EXPECT_EQ(refused.exit_code, 2) << refused.text();
    EXPECT_THAT(refused.err, HasSubstr("prepare did not make it"));
}

TEST_F(Verify, APreparedClipMayBeNamedByARelativePathOrThroughALink) {
    prepare(1);
    const std::filesystem::path clip = clip_directories().front();
    const std::string link = dir_ / "link";
    std::filesystem::create_directory_symlink(clip, link);
    const std::string relative = std::filesystem::relative(clip).string();
    for (const std::string& path : {link, relative, relative + "/../" + clip.filename().string()}) {
        const Json result = play({"--verify", "--frames", "20", "--fps", "max"}, path);
        EXPECT_TRUE(result["verdict"]["pass"]) << path << result["verdict"];
        EXPECT_GT(result["content"]["frames"], 0) << path;
    }
    Spawn inside;
    inside.directory = clip.parent_path().string();
    inside.args = {"--verify", "--frames", "20", "--fps", "max", clip.filename().string()};
    const Finished done = streamsim(inside);
    EXPECT_EQ(done.exit_code, 0) << done.text();
}

TEST_F(Verify, AModelHasNoBytes) {
    for (const char* where : {"null:", "sim:null", "sim:h500"}) {
        const Finished refused = streamsim({"--dpx10", "--verify", where});
        EXPECT_EQ(refused.exit_code, 2) << refused.text();
        EXPECT_THAT(refused.err, HasSubstr("--verify: TARGET has no bytes that could be compared"));
    }
}

}  // namespace
}  // namespace streamsim::tests
