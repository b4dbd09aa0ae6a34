// One run over the ranks of a real mpirun: on this computer, and over network namespaces that stand for
// computers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>

#include "real/lab.h"
#include "real/mpirun.h"

namespace streamsim::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kRanks = 4;
/// Starts agree within this (what was seen is below 0.1 ms; the instants are agreed, not raced for).
constexpr std::int64_t kStartsAgreeNs = 5'000'000;

Spawn over_all_ranks(const std::vector<std::string>& mpirun_options, const std::vector<std::string>& args) {
    return tests::over_ranks(kRanks, mpirun_options, args);
}

/// Journals hold something of play from their first second on.
bool has_played(const std::string& directory, int rank) {
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        if (!entry.path().filename().string().starts_with("seat-" + std::to_string(rank) + "-")) continue;
        if (entry.path().extension() != ".json") continue;
        const Json journal = Json::parse(text_of(entry.path()), nullptr, false);
        if (!journal.is_discarded() && journal["totals"]["frames_on_time"] > 0) return true;
    }
    return false;
}

void wait_until(const std::function<bool()>& holds) {
    for (int i = 0; i < 600 && !holds(); ++i) sleep_ms(50);
    EXPECT_TRUE(holds());
}

const std::vector<std::string> kMedia = {"--prores-hd", "--clip-duration", "1s", "--streams", "2"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

/// The rules for the result of a run over all ranks in which nothing was missed.
void expect_one_run(const Json& result, const Json& alone) {
    EXPECT_THAT(result_problems(result), IsEmpty());
    EXPECT_EQ(result["verdict"]["pass"], true) << result["verdict"];
    EXPECT_EQ(result["digest"], alone["digest"]);
    EXPECT_EQ(result["totals"]["frames_scheduled"], alone["totals"]["frames_scheduled"]);
    ASSERT_EQ(result["seats"].size(), static_cast<std::size_t>(kRanks));
    std::vector<std::int64_t> starts;
    for (const Json& seat : result["seats"]) {
        EXPECT_EQ(seat["state"], "complete");
        starts.push_back(seat["start_ns"]);
        EXPECT_LE(std::abs(starts.back()), kStartsAgreeNs);
        EXPECT_LT(seat["clock_bound_ns"], kStartsAgreeNs);
    }
    const auto [least, most] = std::minmax_element(starts.begin(), starts.end());
    EXPECT_LE(*most - *least, kStartsAgreeNs);
    // The samples of all are as many as frames were read.
    std::uint64_t samples = 0;
    for (const Json& times : result["totals"]["histograms"]["service_ns"]["times"])
        samples += times.get<std::uint64_t>();
    EXPECT_GE(samples, result["totals"]["frames_on_time"].get<std::uint64_t>());
}

TEST(Ranks, PlayWhatOneProcessPlays) {
    SKIP_WITHOUT_MPIRUN();
    const TempDir dir;
    const auto play = with(kMedia, {"--duration", "3s", "--quiet", dir / "media"});
    std::filesystem::create_directory(dir / "media");
    const Finished all =
        run("mpirun", over_all_ranks({}, with({"--json", dir / "all.json", "--csv", dir / "all.csv"}, play)));
    ASSERT_EQ(all.exit_code, 0) << all.text();
    EXPECT_EQ(all.err, "");
    const Finished one = streamsim(with({"--seats", "4", "--json", dir / "one.json"}, play));
    ASSERT_EQ(one.exit_code, 0) << one.text();
    const Json result = read_json(dir / "all.json");
    expect_one_run(result, read_json(dir / "one.json"));
    const std::string csv = read_text(dir / "all.csv");
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'),
              1 + result["totals"]["frames_scheduled"].get<std::int64_t>());  // and its header
}

/// A launcher gives a rank a terminal of its own, and what it carries on ends in a log.
TEST(Ranks, WriteNoColoursAndNoLiveViewIntoALog) {
    SKIP_WITHOUT_MPIRUN();
    const TempDir dir;
    Spawn spawn = over_all_ranks({}, with(kMedia, {"--duration", "1s", "--json", dir / "all.json", "null:"}));
    spawn.env.emplace_back("TERM", "xterm-256color");
    const Finished played = run("mpirun", spawn);
    EXPECT_EQ(played.exit_code, 0) << played.text();
    EXPECT_THAT(played.out, HasSubstr("8 streams of prores-hd"));
    EXPECT_EQ(played.text().find('\x1b'), std::string::npos) << played.text();
}

/// Rows travel in parts: more of them than one message of the seat channel may have.
TEST(Ranks, BringManyRowsOfCsvTogether) {
    SKIP_WITHOUT_MPIRUN();
    const TempDir dir;
    const Finished played = run(
        "mpirun",
        over_all_ranks({}, {"--prores-hd", "--streams", "40", "--frames", "1000", "--fps", "max", "--no-probes",
                            "--quiet", "--csv", dir / "all.csv", "--json", dir / "all.json", "null:"}));
    EXPECT_EQ(played.exit_code, 0) << played.text();
    EXPECT_EQ(played.err, "");
    const std::string csv = read_text(dir / "all.csv");
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + kRanks * 40 * 1000);
    for (const Json& seat : read_json(dir / "all.json")["seats"]) EXPECT_EQ(seat["state"], "complete");
}

/// Changes the last byte of a file.
void damage(const std::filesystem::path& path) {
    std::string bytes = text_of(path);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    write_text(path, bytes);
}

TEST(Ranks, BringRowsOfDamagedFramesTogether) {
    SKIP_WITHOUT_MPIRUN();
    const TempDir dir;
    std::filesystem::create_directory(dir / "media");
    Json format = read_json(STREAMSIM_SOURCE_DIR "/formats/media/dpx10.json");
    format["name"] = "small";
    format["raster"] = {{"width", 256}, {"height", 64}};
    write_text(dir / "small.json", format.dump());
    const std::vector<std::string> media = {"--format", dir / "small.json", "--clip-duration", "1s", "--quiet"};
    const Finished made = streamsim(with({"prepare", "--streams", "4"}, with(media, {dir / "media"})));
    ASSERT_EQ(made.exit_code, 0) << made.text();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir / "media")) {
        // The last frame stays as it is: it is looked at before play.
        const std::string frame = entry.path().filename().string();
        if (frame.starts_with("frame.") && frame <= "frame.0000012.dpx") damage(entry.path());
    }
    const Finished played =
        run("mpirun", over_all_ranks({}, with(media, {"--streams", "1", "--frames", "12", "--fps", "max",
                                                      "--verify", "--no-probes", "--csv", dir / "all.csv",
                                                      "--json", dir / "all.json", dir / "media"})));
    EXPECT_EQ(played.exit_code, 1) << played.text();
    const Json result = read_json(dir / "all.json");
    for (const Json& seat : result["seats"]) EXPECT_EQ(seat["state"], "complete") << seat;
    EXPECT_EQ(result["totals"]["reasons"]["corrupt"], kRanks * 12);
    const std::string csv = read_text(dir / "all.csv");
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + kRanks * 12);
    EXPECT_THAT(csv, HasSubstr(",failed,corrupt,"));
}

TEST(Ranks, FailWithTheCodeOfTheVerdictAndNameTheSeat) {
    SKIP_WITHOUT_MPIRUN();
    const TempDir dir;
    std::filesystem::create_directory(dir / "media");
    const auto play = with(kMedia, {"--duration", "1s", "--quiet", "--no-probes", "--json", dir / "r.json"});
    write_text(dir / "faults.json",
               R"({"schema": "streamsim.faults", "version": 1, "rules": [{"seat": 3, "stream": 1,)"
               R"( "operation": "read", "slots": {"first": 10, "last": 20}, "error": "EIO"}]})");
    const Finished failed =
        run("mpirun", over_all_ranks({}, with(play, {"--faults", dir / "faults.json", dir / "media"})));
    EXPECT_EQ(failed.exit_code, 1) << failed.text();
    const Json result = read_json(dir / "r.json");
    EXPECT_EQ(result["verdict"]["pass"], false);
    EXPECT_THAT(result["verdict"]["reason"].get<std::string>(), HasSubstr("seat 3"));
    EXPECT_GT(result["totals"]["frames_failed"], 0);
    const Finished one =
        streamsim(with(play, {"--seats", "4", "--faults", dir / "faults.json", dir / "media"}));
    EXPECT_EQ(one.exit_code, 1) << one.text();
    EXPECT_EQ(result["digest"], read_json(dir / "r.json")["digest"]);
    // A mistake is reported once, whichever rank finds it.
    const Finished bad = run("mpirun", over_all_ranks({}, {"--dpx13", dir / "media"}));
    EXPECT_EQ(bad.exit_code, 2);
    EXPECT_EQ(
        bad.err,
        "streamsim: --dpx13: there is no such option; did you mean \"--dpx10\" or \"--dpx12\"? (see --help)\n");
    const Finished missing = run("mpirun", over_all_ranks({}, {"--prores-hd", dir / "nowhere"}));
    EXPECT_EQ(missing.exit_code, 3);
    EXPECT_EQ(std::count(missing.err.begin(), missing.err.end(), '\n'), 1) << missing.err;
}

TEST(Ranks, PlayOnWithoutOneThatDied) {
    SKIP_WITHOUT_MPIRUN();
    const TempDir dir;
    std::filesystem::create_directory(dir / "media");
    const auto words = with(kMedia, {"--duration", "5s", "--quiet", "--json", dir / "r.json", dir / "media"});
    Process process("mpirun", over_all_ranks({"--enable-recovery"}, words));
    wait_until([&] { return has_played(dir.path(), 2); });
    kill(process_of(2, dir / "r.json"), SIGKILL);
    const Finished ended = process.wait();
    EXPECT_THAT(ended.err, HasSubstr("streamsim: seat 2 (host "));
    const Json result = read_json(dir / "r.json");
    EXPECT_EQ(result["verdict"]["pass"], false);
    EXPECT_THAT(result["verdict"]["reason"].get<std::string>(), HasSubstr("seat 2"));
    for (int rank = 0; rank < kRanks; ++rank) {
        const Json& seat = result["seats"][static_cast<std::size_t>(rank)];
        EXPECT_EQ(seat["state"], rank == 2 ? "partial" : "complete");
        const std::uint64_t scheduled = seat["totals"]["frames_scheduled"];
        if (rank == 2) {
            EXPECT_GT(scheduled, 0u);  // of its journal
            EXPECT_LT(scheduled, 300u);
        } else {
            EXPECT_EQ(scheduled, 300u);
        }
    }
}

TEST(Ranks, SayWhatTheyKnowWhenTheLauncherEndsThemForOneThatDied) {
    SKIP_WITHOUT_MPIRUN();
    const TempDir dir;
    std::filesystem::create_directory(dir / "media");
    const auto words = with(kMedia, {"--duration", "60s", "--quiet", "--json", dir / "r.json", dir / "media"});
    Process process("mpirun", over_all_ranks({}, words));
    wait_until([&] { return has_played(dir.path(), 3); });
    kill(process_of(2, dir / "r.json"), SIGKILL);
    EXPECT_NE(process.wait().exit_code, 0);
    const Json result = read_json(dir / "r.json");
    EXPECT_EQ(result["seats"].size(), static_cast<std::size_t>(kRanks));
    EXPECT_GT(result["seats"][1]["totals"]["frames_on_time"], 0);
    EXPECT_EQ(result["seats"][2]["state"], "partial");
}

TEST(Ranks, LeaveTheirJournalsWhenTheFirstDies) {
    SKIP_WITHOUT_MPIRUN();
    const TempDir dir;
    std::filesystem::create_directory(dir / "media");
    const auto words =
        with(kMedia, {"--duration", "5s", "--quiet", "--journal", dir / "journals", dir / "media"});
    Process process("mpirun", over_all_ranks({"--enable-recovery"}, words));
    wait_until([&] { return std::filesystem::exists(dir / "journals") && has_played(dir / "journals", 0); });
    kill(process_of(0, dir / "journals"), SIGKILL);
    EXPECT_THAT(process.wait().err, HasSubstr("`streamsim report --merge " + (dir / "journals") + "/seat-*-"));
    std::vector<std::string> report = {"report", "--merge", "--quiet", "--json", dir / "merged.json"};
    for (const auto& entry : std::filesystem::directory_iterator(dir / "journals")) {
        if (entry.path().extension() == ".json") report.push_back(entry.path());
    }
    const Finished merged = streamsim(report);
    const Json result = read_json(dir / "merged.json");
    ASSERT_EQ(result["seats"].size(), static_cast<std::size_t>(kRanks)) << merged.text();
    EXPECT_EQ(result["seats"][0]["state"], "partial");
    for (std::size_t rank = 1; rank < kRanks; ++rank) {
        EXPECT_EQ(result["seats"][rank]["state"], "complete");
        EXPECT_EQ(result["seats"][rank]["totals"]["frames_scheduled"], 300);
    }
    EXPECT_THAT(result["verdict"]["reason"].get<std::string>(), HasSubstr("seat 0"));
}

/// The command that they name is run as it was written.
TEST(Ranks, SayHowToMergeWhenTheLauncherEndsThemForTheFirst) {
    SKIP_WITHOUT_MPIRUN();
    const TempDir dir;
    Process process("mpirun", over_all_ranks({}, with(kMedia, {"--duration", "60s", "--quiet", "--journal",
                                                               dir / "journals", "null:"})));
    wait_until([&] { return std::filesystem::exists(dir / "journals") && has_played(dir / "journals", 3); });
    kill(process_of(0, dir / "journals"), SIGKILL);
    const Finished ended = process.wait();
    EXPECT_FALSE(ended.timed_out);
    const std::size_t begin = ended.err.find("`streamsim report --merge ");
    ASSERT_NE(begin, std::string::npos) << ended.text();
    const std::size_t words = begin + std::string("`streamsim").size();
    const std::string typed = ended.err.substr(words, ended.err.find('`', words) - words);
    Spawn merge;
    merge.args = {"-c", streamsim_binary() + typed + " --json " + (dir / "all.json")};
    run("/bin/sh", merge);
    const Json seats = read_json(dir / "all.json")["seats"];
    ASSERT_EQ(seats.size(), static_cast<std::size_t>(kRanks));
    EXPECT_EQ(seats[0]["state"], "partial");
    EXPECT_EQ(seats[1]["state"], "interrupted");
}

TEST(Ranks, SearchForTheMostStreamsOfASeatAndForTheMostSeats) {
    SKIP_WITHOUT_MPIRUN();
    const TempDir dir;
    const auto words = [&](const std::vector<std::string>& more) {
        return with({"max", "--prores-hd", "--duration", "1100ms", "--confirm", "0s", "--streams", "2",
                     "--quiet", "--json", dir / "max.json"},
                    more);
    };
    const Finished streams = run("mpirun", over_all_ranks({}, words({"null:"})));
    ASSERT_EQ(streams.exit_code, 0) << streams.text();
    Json found = read_json(dir / "max.json");
    EXPECT_EQ(found["counts"], "streams-per-seat");
    EXPECT_EQ(found["formats"][0]["streams"], 8);
    EXPECT_EQ(found["formats"][0]["streams_per_seat"], 2);
    const Finished seats = run("mpirun", over_all_ranks({}, words({"--find", "seats", "null:"})));
    ASSERT_EQ(seats.exit_code, 0) << seats.text();
    found = read_json(dir / "max.json");
    EXPECT_EQ(found["counts"], "seats");
    EXPECT_EQ(found["formats"][0]["seats"], 4);
    EXPECT_EQ(found["formats"][0]["streams"], 8);
}

/// Each of them would play alone, and say that it plays.
TEST(Ranks, OfALauncherOfAnotherMpiAreRefused) {
    SKIP_WITHOUT_MPIRUN();
    for (const char* const rank : {"0", "1"}) {
        Spawn spawn;
        spawn.args = with(kMedia, {"--duration", "1s", "--quiet", "null:"});
        spawn.env = {{"PMI_RANK", rank}, {"PMI_SIZE", "2"}};
        const Finished refused = streamsim(spawn);
        EXPECT_EQ(refused.exit_code, 3) << refused.text();
        EXPECT_THAT(refused.err, HasSubstr("the launcher started 2 processes, and Open MPI "));
        EXPECT_THAT(refused.err, HasSubstr(" knows of 1: use its own mpirun"));
    }
}

/// Four computers: namespaces with names of their own, and a server.
TEST(Ranks, PlayOverAsManyComputers) {
    SKIP_WITHOUT_MPIRUN();
    const Lab lab({"--seats", "4", "--nodes", "3", "--nfs"});
    if (lab.skipped_because()) GTEST_SKIP() << *lab.skipped_because();
    ASSERT_EQ(lab.problem(), "");
    const TempDir dir;
    std::string agent = "#!/bin/bash\nwhile [[ $1 == -* ]]; do shift; done\nhost=$1; shift\ncase $host in\n";
    std::string hosts;
    for (std::size_t i = 0; i < kRanks; ++i) {
        const Json& seat = lab.facts()["seats"][i];
        const std::string address = seat["address"];
        agent += address + ") exec ip netns exec " + seat["namespace"].get<std::string>() +
                 " unshare --uts /bin/sh -c \"hostname h" + std::to_string(i) + "; $*\" ;;\n";
        hosts += (i > 0 ? "," : "") + address;
    }
    write_text(dir / "agent", agent + "esac\nexit 1\n");
    std::filesystem::permissions(dir / "agent", std::filesystem::perms::owner_all);
    // `nas` is three nodes, which the seats use in turn.
    const auto play = with(kMedia, {"--duration", "3s", "--quiet", "nfs://nas/export"});
    Spawn spawn = over_all_ranks({"--mca", "plm_rsh_agent", dir / "agent", "--host", hosts},
                                 with({"--json", dir / "all.json"}, play));
    const Finished all = lab.begin("mpirun", spawn)->wait();
    ASSERT_EQ(all.exit_code, 0) << all.text();
    const Finished one = lab.play(with({"--seats", "4", "--json", dir / "one.json"}, play));
    ASSERT_EQ(one.exit_code, 0) << one.text();
    const Json result = read_json(dir / "all.json");
    expect_one_run(result, read_json(dir / "one.json"));
    for (std::size_t i = 0; i < kRanks; ++i) {
        // mpirun starts the ranks of its own computer itself.
        if (i > 0) {
            EXPECT_EQ(result["seats"][i]["host"]["name"], "h" + std::to_string(i));
        }
        EXPECT_EQ(result["seats"][i]["node"], lab.facts()["server"]["nodes"][i % 3]);
    }
    ASSERT_EQ(result["servers"].size(), 3u);
    EXPECT_EQ(result["servers"][0]["seats"], Json({0, 3}));
    // One connection of each seat: nobody connects to a node that it does not use.
    EXPECT_EQ(result["servers"][0]["connections"], 2);
    EXPECT_EQ(result["servers"][1]["connections"], 1);
}

}  // namespace
}  // namespace streamsim::tests
