#include "cli/fixture.h"

#include <algorithm>
#include <fstream>

namespace streamsim::tests {

using ::testing::IsEmpty;

CliTest::CliTest() : target_(dir_ / "storage") {
    std::filesystem::create_directory(target_);
    std::filesystem::permissions(target_, std::filesystem::perms::all);
    small_ = write_format("small", kSmallWidth, kSmallHeight);
}

std::string CliTest::write_format(const std::string& name, int width, int height) const {
    Json document = read_json(STREAMSIM_SOURCE_DIR "/formats/media/dpx10.json");
    document["name"] = name;
    document["raster"] = {{"width", width}, {"height", height}};
    std::string path = dir_ / (name + ".json");
    write_text(path, document.dump(2));
    return path;
}

std::string CliTest::formats_with_small_default() const {
    std::string folder = dir_ / "formats";
    std::filesystem::copy(STREAMSIM_SOURCE_DIR "/formats", folder, std::filesystem::copy_options::recursive);
    const std::string path = folder + "/media/dpx12.json";
    Json document = read_json(path);
    document["raster"] = {{"width", kSmallWidth}, {"height", kSmallHeight}};
    write_text(path, document.dump(2));
    return folder;
}

void CliTest::prepare(int clips, const std::string& clip_duration) {
    const Finished done = streamsim({"prepare", "--quiet", "--format", small(), "--streams",
                                     std::to_string(clips), "--clip-duration", clip_duration, target()});
    ASSERT_EQ(done.exit_code, 0) << done.text();
}

void CliTest::copy_clip_of_others() {
    prepare(1);
    std::filesystem::copy(clip_directories().front(), target() + "/shot",
                          std::filesystem::copy_options::recursive);
    const Finished cleaned = streamsim({"clean", target()});
    ASSERT_EQ(cleaned.exit_code, 0) << cleaned.text();
}

std::vector<std::string> CliTest::clip_directories() const {
    std::vector<std::string> result;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(target())) {
        const std::filesystem::path folder = entry.path().parent_path();
        if (entry.path().extension() != ".dpx") continue;
        if (std::find(result.begin(), result.end(), folder) == result.end()) result.push_back(folder);
    }
    std::sort(result.begin(), result.end());
    return result;
}

std::vector<std::string> CliTest::frames_in(const std::string& clip) {
    std::vector<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator(clip)) {
        if (entry.path().extension() == ".dpx") result.push_back(entry.path());
    }
    std::sort(result.begin(), result.end());
    return result;
}

std::uint64_t CliTest::file_bytes(const std::string& path) {
    return std::filesystem::file_size(path);
}

Json CliTest::play(std::vector<std::string> options, const std::string& where) {
    options.emplace_back("--quiet");
    return play_with_text(std::move(options), where);
}

Json CliTest::play_with_text(std::vector<std::string> options, const std::string& where) {
    options.insert(options.end(), {"--json", json_path(), where});
    std::filesystem::remove(json_path());
    finished_ = streamsim(options);
    EXPECT_TRUE(finished_.exit_code == 0 || finished_.exit_code == 1) << finished_.text();
    Json result = read_json(json_path());
    EXPECT_THAT(result_problems(result), IsEmpty());
    EXPECT_EQ(finished_.exit_code, exit_code_of(result)) << finished_.text();
    return result;
}

Json CliTest::play_small(std::vector<std::string> options) {
    options.insert(options.end(), {"--format", small()});
    return play(std::move(options), target());
}

std::string CliTest::write_faults(const Json& rules) const {
    const Json document{{"schema", "streamsim.faults"}, {"version", 1}, {"rules", rules}};
    std::string path = dir_ / "faults.json";
    write_text(path, document.dump(2));
    return path;
}

Json expect_interrupted(const Finished& finished, const std::string& json_path) {
    EXPECT_EQ(finished.exit_code, 130) << finished.text();
    if (!std::filesystem::exists(json_path)) {
        ADD_FAILURE() << "no result was written\n" << finished.text();
        return {};
    }
    Json result = read_json(json_path);
    EXPECT_THAT(result_problems(result), IsEmpty());
    EXPECT_EQ(result["interrupted"], true);
    if (result["totals"]["frames_on_time"] == 0) {
        EXPECT_EQ(result["verdict"]["pass"], false) << "nothing was played, nothing has passed";
    }
    return result;
}

}  // namespace streamsim::tests
