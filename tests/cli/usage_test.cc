// The command line and its answers: options, messages, exit codes, documents.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Usage : public CliTest {};

TEST_F(Usage, Version) {
    const Finished done = streamsim({"--version"});
    EXPECT_EQ(done.exit_code, 0);
    EXPECT_THAT(done.out, HasSubstr("streamsim"));
    EXPECT_THAT(done.out, HasSubstr("null"));  // the storage backends that are compiled in
    // MPI is either there or missing.
    EXPECT_NE(done.out.find("\nMPI: ") != std::string::npos, done.out.ends_with("MPI\n"));
    EXPECT_EQ(done.err, "");
}

TEST_F(Usage, HelpNamesEveryOption) {
    const Finished done = streamsim({"--help"});
    EXPECT_EQ(done.exit_code, 0);
    for (const char* option :
         {"--dpx10",    "--dpx12",   "--prores-hd", "--prores-uhd",    "--format",         "--fps",
          "--streams",  "--media",   "--duration",  "--frames",        "--pattern",        "--readahead",
          "--inflight", "--io-size", "--io-depth",  "--clip-duration", "--faults",         "--on-miss",
          "--io",       "--direct",  "--buffered",  "--cold",          "--stagger",        "--seed",
          "--json",     "--csv",     "--quiet",     "--version",       "--preroll-timeout"}) {
        EXPECT_THAT(done.out, HasSubstr(option));
    }
    for (const char* command : {"prepare", "formats", "inspect", "clean"}) {
        EXPECT_THAT(done.out, HasSubstr(command));
        const Finished its_own = streamsim({command, "--help"});
        EXPECT_EQ(its_own.exit_code, 0) << command;
        EXPECT_NE(its_own.out, "") << command;
    }
}

TEST_F(Usage, OptionsWithoutEffectAreNamed) {
    const auto remarks = [](const std::string& where) {
        std::vector<std::string> line{"--prores-hd", "--duration", "300ms", "--fps", "30", "--readahead", "2"};
        for (const char* option : {"--direct", "--loops=1", "--io=threads", "--cold", "--yes", "--realtime"})
            line.emplace_back(option);
        line.push_back(where);
        return streamsim(line).err;
    };
    EXPECT_THAT(remarks("sim:h500"),
                HasSubstr("--io, --cold, --yes, --realtime, --direct, --loops have no effect "
                          "on sim:h500: a model has no files, and plays in virtual time"));
    EXPECT_THAT(remarks("sim:null"),
                HasSubstr("--direct, --loops have no effect on sim:null: it has no files, "));
    EXPECT_THAT(remarks("null:"),
                HasSubstr("--io, --cold, --yes, --direct have no effect on null:: it has no f"));
}

struct Mistake {
    const char* option;
    const char* value;
};

void PrintTo(const Mistake& mistake, std::ostream* os) {  // NOLINT: the name is GoogleTest's
    *os << mistake.option << " " << mistake.value;
}

class Mistakes : public CliTest, public ::testing::WithParamInterface<Mistake> {};

TEST_P(Mistakes, AreNamedAndEndWithTwo) {
    const auto [option, value] = GetParam();
    const Finished done = streamsim({"--format", small(), option, value, target()});
    EXPECT_EQ(done.exit_code, 2) << done.text();
    EXPECT_THAT(done.err, HasSubstr(option));
    EXPECT_EQ(done.out, "");
    EXPECT_TRUE(std::filesystem::is_empty(target())) << "something was written all the same";
}

INSTANTIATE_TEST_SUITE_P(Options,
                         Mistakes,
                         ::testing::Values(Mistake{"--duration", "10"},
                                           Mistake{"--duration", "10 parsecs"},
                                           Mistake{"--duration", "-3s"},
                                           Mistake{"--clip-duration", "5"},
                                           Mistake{"--preroll-timeout", "5"},
                                           Mistake{"--stagger", "5"},
                                           Mistake{"--stagger", "2562047h"},
                                           Mistake{"--preroll-timeout", "87601h"},
                                           Mistake{"--io-size", "1048576"},
                                           Mistake{"--io-size", "1XiB"},
                                           Mistake{"--streams", "0"},
                                           Mistake{"--streams", "many"},
                                           Mistake{"--frames", "0"},
                                           Mistake{"--readahead", "0"},
                                           Mistake{"--inflight", "0"},
                                           Mistake{"--io-depth", "0"},
                                           Mistake{"--fps", "0"},
                                           Mistake{"--fps", "24/0"},
                                           Mistake{"--fps", "fast"},
                                           Mistake{"--on-miss", "panic"},
                                           Mistake{"--pattern", "psychic"},
                                           Mistake{"--media", "borrowed"},
                                           Mistake{"--io", "smoke-signals"},
                                           Mistake{"--seed", "dice"},
                                           Mistake{"--format", "no-such-format"},
                                           Mistake{"--no-such-option", "1"}));

TEST_F(Usage, NothingToPlayIsAMistake) {
    const Finished done = streamsim(std::vector<std::string>{});
    EXPECT_EQ(done.exit_code, 2) << done.text();
    EXPECT_NE(done.err, "");
}

TEST_F(Usage, AFormatWithThreeMistakesHasThemAllNamed) {
    Json document = read_json(small());
    document["raster"]["width"] = -1;
    document["dpx"]["bits"] = "ten";
    document["colour"] = "blue";
    write_text(dir_ / "wrong.json", document.dump());
    const Finished done = streamsim({"--format", dir_ / "wrong.json", target()});
    EXPECT_EQ(done.exit_code, 2) << done.text();
    for (const char* pointer : {"/raster/width", "/dpx/bits", "/colour", "wrong.json"}) {
        EXPECT_THAT(done.err, HasSubstr(pointer));
    }
}

TEST_F(Usage, ADocumentThatIsNotJsonIsNamedWithThePlace) {
    for (const char* text : {"{", "", "[1,2]", "{\"schema\": \"streamsim.media-format\", \"schema\": 1}"}) {
        write_text(dir_ / "wrong.json", text);
        for (const char* option : {"--format", "--faults"}) {
            const Finished done = streamsim({option, dir_ / "wrong.json", target()});
            EXPECT_EQ(done.exit_code, 2) << option << " " << text << "\n" << done.text();
            EXPECT_THAT(done.err, HasSubstr("wrong.json"));
        }
    }
}

TEST_F(Usage, ATargetThatIsNotThere) {
    const Finished done = streamsim({"--quiet", target() + "/nowhere"});
    EXPECT_EQ(done.exit_code, 3) << done.text();
    EXPECT_THAT(done.err, HasSubstr("nowhere"));
}

TEST_F(Usage, TheResultAloneOnStandardOutput) {
    prepare(1);
    for (const bool quiet : {false, true}) {
        std::vector<std::string> args{"--format", small(), "--frames", "12", "--json", "-", target()};
        if (quiet) args.emplace_back("--quiet");
        const Finished done = streamsim(args);
        EXPECT_EQ(done.exit_code, 0) << done.text();
        const Json result = Json::parse(done.out, nullptr, false);
        ASSERT_FALSE(result.is_discarded()) << done.text();
        EXPECT_EQ(result["totals"]["frames_scheduled"], 12);
    }
}

TEST_F(Usage, TheVerdictIsInTheFirstLine) {
    prepare(1);
    const Finished good = streamsim({"--format", small(), "--frames", "24", target()});
    EXPECT_EQ(good.exit_code, 0) << good.text();
    EXPECT_THAT(good.out, Not(HasSubstr("\x1b"))) << "no terminal, no colours";
    const std::string first = good.out.substr(0, good.out.find('\n'));
    EXPECT_THAT(first, HasSubstr("24"));
    EXPECT_THAT(good.err, Not(HasSubstr("\r"))) << "no terminal, no live view";
    const std::string clip = clip_directories()[0];
    std::filesystem::remove(frames_in(clip)[7]);
    const Finished bad = streamsim({"--format", small(), "--frames", "24", target()});
    EXPECT_EQ(bad.exit_code, 1) << bad.text();
    EXPECT_NE(bad.out.substr(0, bad.out.find('\n')), first);
}

TEST_F(Usage, AFullStandardOutputIsSaid) {
    Spawn spawn;
    spawn.args = {"-c", streamsim_binary() + " formats > /dev/full"};
    const Finished done = run("/bin/sh", spawn);
    EXPECT_EQ(done.exit_code, 3) << done.text();
    EXPECT_THAT(done.err, HasSubstr("No space left on device"));
    EXPECT_THAT(done.err, Not(HasSubstr("internal error")));
}

TEST_F(Usage, EachSeatThatALauncherStartsJoins) {
    Spawn spawn;
    spawn.args = {"join", "127.0.0.1:9470", "--key", dir_ / "none.key", "--allow", target()};
    spawn.env = {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}};
    const Finished done = streamsim(spawn);
    EXPECT_EQ(done.exit_code, 2) << done.text();
    EXPECT_THAT(done.err, HasSubstr("none.key"));
}

TEST_F(Usage, ProcessesOfSlurmThatDoNotKnowEachOtherDoNotPlay) {
    Spawn spawn;
    spawn.args = {"--frames", "3", "--format", small(), "sim:null"};
    spawn.env = {{"SLURM_NTASKS", "2"}, {"SLURM_STEP_NUM_TASKS", "2"}};
    const Finished strangers = streamsim(spawn);
    EXPECT_EQ(strangers.exit_code, 3) << strangers.text();
    EXPECT_THAT(strangers.err, HasSubstr("srun started 2 processes that do not know each other"));
    spawn.env[1].second = "1";
    EXPECT_EQ(streamsim(spawn).exit_code, 0) << "a batch script plays alone";
    spawn.args = {"formats"};
    spawn.env = {{"PMIX_RANK", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}};
    EXPECT_THAT(streamsim(spawn).out, IsEmpty()) << "the first process has said it";
}

TEST_F(Usage, WhatFollowsAFormatIsTheTarget) {
    const Finished one = streamsim({"--frames", "3", "--format", small(), "sim:null"});
    EXPECT_EQ(one.exit_code, 0) << one.text();
    const Finished two =
        streamsim({"--frames", "3", "--format", small(), "--format", "dpx10", "--json", "-", "sim:null"});
    EXPECT_EQ(two.exit_code, 0) << two.text();
    EXPECT_EQ(Json::parse(two.out)["streams"].size(), 2U);
    const Finished prepared = streamsim({"prepare", "--clip-duration", "1s", "--format", small(), target()});
    EXPECT_EQ(prepared.exit_code, 0) << prepared.text();
}

TEST_F(Usage, FormatsAreListedAndShown) {
    const Finished list = streamsim({"formats"});
    EXPECT_EQ(list.exit_code, 0) << list.text();
    for (const char* name : {"dpx10", "dpx12", "prores-hd", "prores-uhd"}) {
        EXPECT_THAT(list.out, HasSubstr(name));
        EXPECT_EQ(streamsim({"formats", name}).exit_code, 0);
    }
    const Finished json = streamsim({"formats", "--json", "-"});
    EXPECT_EQ(json.exit_code, 0) << json.text();
    const Json document = Json::parse(json.out, nullptr, false);
    ASSERT_TRUE(document.is_object()) << json.out;
    EXPECT_EQ(document["schema"], "streamsim.formats");
    EXPECT_GT(document["formats"].size(), 100U);
    for (const Json& format : document["formats"]) {
        const std::string name = format["name"];
        EXPECT_THAT(list.out, HasSubstr("\n" + name + " ")) << "the table has a line for each";
        EXPECT_THAT(format["rates"][0]["rate"], format["rate"]) << name;
        for (const Json& at : format["rates"]) {
            const double bytes = at["mean_frame_bytes"];
            const double per_s = at["rate"][0].get<double>() / at["rate"][1].get<double>();
            EXPECT_NEAR(at["bytes_per_s"].get<double>(), bytes * per_s, per_s) << name;
            EXPECT_NEAR(at["bits_per_s"].get<double>(), 8 * bytes * per_s, 8 * per_s) << name;
        }
        EXPECT_FALSE(format["sources"].empty()) << name;
        EXPECT_EQ(format["prepared"].get<bool>(), !format.contains("not_prepared")) << name;
    }
    const Finished at = streamsim({"formats", "prores-422hq-uhd@29.97"});
    EXPECT_EQ(at.exit_code, 0) << at.text();
    EXPECT_THAT(at.out, HasSubstr("29.97"));
    const Finished no_rate = streamsim({"formats", "avci100-hd@24"});
    EXPECT_EQ(no_rate.exit_code, 2) << no_rate.text();
    EXPECT_THAT(no_rate.err, HasSubstr("has the rates"));
    const Finished unknown = streamsim({"formats", "dpx99"});
    EXPECT_EQ(unknown.exit_code, 2) << unknown.text();
    EXPECT_THAT(unknown.err, HasSubstr("dpx99"));
}

TEST_F(Usage, AClipIsInspected) {
    prepare(1);
    const std::string clip = clip_directories()[0];
    const Finished text = streamsim({"inspect", clip});
    EXPECT_EQ(text.exit_code, 0) << text.text();
    EXPECT_THAT(text.out, HasSubstr("24"));
    const Finished json = streamsim({"inspect", "--frames", "--json", "-", clip});
    EXPECT_EQ(json.exit_code, 0) << json.text();
    EXPECT_FALSE(Json::parse(json.out, nullptr, false).is_discarded()) << json.out;
    EXPECT_NE(streamsim({"inspect", dir_ / "nothing.mov"}).exit_code, 0);
}

TEST_F(Usage, PrepareSaysHowMuchItChecks) {
    prepare(1);
    const std::string last = frames_in(clip_directories()[0]).back();
    std::string bytes = read_text(last);
    bytes.back() = static_cast<char>(bytes.back() ^ 4);
    write_text(last, bytes);
    const Finished done = streamsim({"prepare", "--format", small(), "--clip-duration", "1s", target()});
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_THAT(done.err, HasSubstr("checking 1.8 MB of media and writing what is wrong: 1 clip of small, 24"));
}

TEST_F(Usage, PrepareMakesNothingThatPlayWithoutAFormatWouldNotUse) {
    copy_clip_of_others();
    const Finished refused = streamsim({"prepare", target()});
    EXPECT_EQ(refused.exit_code, 2) << refused.text();
    EXPECT_THAT(refused.err,
                HasSubstr(target() + ": holds files of its own, which play without a format looks"));
    EXPECT_FALSE(std::filesystem::exists(target() + "/streamsim-media"));
    EXPECT_EQ(streamsim({"prepare", "--record", "1", "--frames", "2", target()}).exit_code, 0)
        << "recorders need no clips";
    EXPECT_THAT(streamsim({"prepare", target() + "/away"}).err, HasSubstr("no such directory"));
    write_text(dir_ / "load.json",
               R"({"schema": "streamsim.workload", "version": 1, "name": "m", "duration": "1s",
        "meters": [{"name": "m", "operations": {"read": 1}, "blocks": "64KiB",
                    "files": {"count": 1, "bytes": "1MiB"}}]})");
    const Finished load = streamsim({"prepare", "--meter", dir_ / "load.json", target()});
    EXPECT_EQ(load.exit_code, 0) << load.text();
    EXPECT_TRUE(std::filesystem::exists(target() + "/streamsim-media/load"));
    EXPECT_EQ(clip_directories().size(), 1U) << "no clips";
    prepare(1);
    EXPECT_THAT(streamsim({"prepare", target()}).err,
                HasSubstr(target() + ": has prepared media of small: give"));
}

TEST_F(Usage, OneFormatOfThosePreparedIsNamed) {
    prepare(1);
    for (const char* command : {"", "prepare", "max"}) {
        std::vector<std::string> words = {target()};
        if (*command != '\0') words.insert(words.begin(), command);
        const Finished refused = streamsim(words);
        EXPECT_EQ(refused.exit_code, 2) << refused.text();
        EXPECT_THAT(
            refused.err,
            HasSubstr(target() + ": has prepared media of small: give --format FILE, your file of small "
                                 "(or --format dpx12 to have others made)"));
    }
    EXPECT_EQ(clip_directories().size(), 1U);
    EXPECT_EQ(streamsim({"prepare", "--record", "1", "--frames", "2", target()}).exit_code, 0)
        << "recorders need no clips";
    const Finished more =
        streamsim({"prepare", "--quiet", "--prores-hd", "--clip-duration", "100ms", target()});
    EXPECT_EQ(more.exit_code, 0) << more.text();
    EXPECT_THAT(streamsim({target()}).err,
                HasSubstr("of prores-hd, small: give --format prores-hd or --format FILE, your file of small"));
    write_text(target() + "/README.txt", "no clip");
    EXPECT_THAT(streamsim({target()}).err, HasSubstr("/streamsim-media, which has those of prores-hd, small"));
    std::filesystem::remove(target() + "/README.txt");
    Spawn both;
    both.env = {{"STREAMSIM_FORMATS", formats_with_small_default()}};
    both.args = {"prepare", "--dpx12", "--clip-duration", "1s", target()};
    EXPECT_EQ(streamsim(both).exit_code, 0);
    both.args = {"prepare", target()};
    const Finished standard = streamsim(both);
    EXPECT_THAT(standard.out, HasSubstr("1 clip of dpx12 ready")) << standard.text();
}

TEST_F(Usage, CleanRemovesItsOwnAndNothingElse) {
    prepare(2);
    write_text(target() + "/edit.prproj", "precious");
    const Finished done = streamsim({"clean", target()});
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_FALSE(std::filesystem::exists(target() + "/streamsim-media"));
    EXPECT_EQ(read_text(target() + "/edit.prproj"), "precious");
}

TEST_F(Usage, CleanLeavesWhatOthersPutThere) {
    prepare(1);
    const std::string foreign = clip_directories()[0] + "/notes.txt";
    write_text(foreign, "precious");
    std::filesystem::create_directory(dir_ / "outside");
    write_text(dir_ / "outside/frame.0000001.dpx", "precious");
    std::filesystem::create_directory_symlink(dir_ / "outside", target() + "/streamsim-media/link");
    streamsim({"clean", target()});
    EXPECT_EQ(read_text(dir_ / "outside/frame.0000001.dpx"), "precious");
    bool kept = false;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(target())) {
        kept = kept || entry.path().filename() == "notes.txt";
    }
    EXPECT_TRUE(kept);
}

TEST_F(Usage, CleanRefusesADirectoryWithoutItsMarker) {
    const std::string media = target() + "/streamsim-media";
    std::filesystem::create_directories(media + "/dpx12/240-frames/clip-0001");
    write_text(media + "/dpx12/240-frames/clip-0001/frame.0000001.dpx", "precious");
    for (const char* marker : {"", "{}", "{\"schema\": \"something.else\", \"version\": 1}"}) {
        if (*marker) write_text(media + "/streamsim-media.json", marker);
        const Finished done = streamsim({"clean", target()});
        EXPECT_TRUE(done.exit_code == 2 || done.exit_code == 3) << done.text();
        EXPECT_NE(done.err, "");
        EXPECT_EQ(read_text(media + "/dpx12/240-frames/clip-0001/frame.0000001.dpx"), "precious");
    }
}

TEST_F(Usage, TheInstalledProgramFindsItsFormats) {
    const std::string prefix = dir_ / "prefix";
    Spawn install;
    install.args = {"--install", STREAMSIM_BUILD_DIR, "--prefix", prefix};
    const Finished installed = run(CMAKE_PROGRAM, install);
    ASSERT_EQ(installed.exit_code, 0) << installed.text();
    EXPECT_TRUE(std::filesystem::exists(prefix + "/share/streamsim/formats/media/dpx12.json"));
    // Moved as a whole it works as well, and from any folder.
    std::filesystem::rename(prefix, dir_ / "moved");
    Spawn spawn;
    spawn.args = {"formats", "dpx12"};
    spawn.directory = "/";
    const Finished done = run(dir_ / "moved/bin/streamsim", spawn);
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_THAT(done.out, HasSubstr("3840"));
    spawn.args = {"--dpx12", "--frames", "24", "--quiet", "sim:null"};
    EXPECT_EQ(run(dir_ / "moved/bin/streamsim", spawn).exit_code, 0);
}

}  // namespace
}  // namespace streamsim::tests
