// Workloads and meters over the ranks of a real mpirun, on this computer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "real/mpirun.h"

namespace streamsim::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kRanks = 4;

Finished over_four(const std::vector<std::string>& args) {
    return run("mpirun", over_ranks(kRanks, {}, args));
}

/// Reads and writes that take no time, on sim:null: they are the same in every run.
Json thinking() {
    return {{"schema", "streamsim.workload"},
            {"version", 1},
            {"name", "thinking"},
            {"duration", "5s"},
            {"clients", 5},
            {"report", "modes"},
            {"meters",
             {{{"name", "edit"},
               {"users", 2},
               {"operations", {{"read", 3}, {"write", 1}}},
               {"random_percent", 50},
               {"think_time", "5ms"},
               {"blocks", {{{"bytes", "4KiB"}, {"weight", 1}}, {{"bytes", "16KiB"}, {"weight", 1}}}},
               {"lengths", {{"up_to", "64KiB"}}},
               {"files", {{"count", 1}, {"bytes", "1MiB"}}}}}},
            {"printed", {{{"quantity", "operations_per_s"}, {"value", 1000}, {"source", "a paper"}}}}};
}

/// Every byte of a client's file is read once, and all clients share another file.
Json reading_once() {
    return {{"schema", "streamsim.workload"},
            {"version", 1},
            {"name", "once"},
            {"duration", "30s"},
            {"clients", 5},
            {"meters",
             {{{"name", "own"},
               {"operations", {{"read", 1}}},
               {"blocks", "64KiB"},
               {"direct", false},
               {"files", {{"count", 2}, {"bytes", "1MiB"}}}},
              {{"name", "shared"},
               {"operations", {{"read", 1}}},
               {"random_percent", 100},
               {"non_repeating", true},
               {"blocks", "64KiB"},
               {"direct", false},
               {"files", {{"count", 1}, {"bytes", "2MiB"}, {"shared", true}}}}}},
            {"sweep", {{"over", "cache"}, {"values", {"cold"}}}}};
}

/// Reads for some seconds in each of two steps.
Json two_steps() {
    return {{"schema", "streamsim.workload"},
            {"version", 1},
            {"name", "steps"},
            {"duration", "4s"},
            {"meters",
             {{{"name", "m"},
               {"operations", {{"read", 1}}},
               {"blocks", "64KiB"},
               {"direct", false},
               {"operations_per_s", 200},
               {"files", {{"count", 1}, {"bytes", "1MiB"}}}}}},
            {"sweep", {{"over", "clients"}, {"values", {4, 8}}}}};
}

class RanksLoad : public ::testing::Test {
protected:
    void SetUp() override {
        SKIP_WITHOUT_MPIRUN();
        std::filesystem::create_directory(dir_ / "media");
    }
    std::string write(const Json& document) const {
        write_text(dir_ / "workload.json", document.dump());
        return dir_ / "workload.json";
    }
    /// The document with all results, and the rows, of one process or of four.
    Json load(const char* name, bool ranks, std::vector<std::string> args, std::string* csv = nullptr) {
        const std::string json = dir_ / (std::string(name) + ".json");
        args.insert(args.end(), {"--json", json});
        if (csv != nullptr) args.insert(args.end(), {"--csv", dir_ / (std::string(name) + ".csv")});
        const Finished finished = ranks ? over_four(args) : streamsim(args);
        EXPECT_EQ(finished.exit_code, 0) << finished.text();
        said_ = finished.text();
        if (csv != nullptr) *csv = read_text(dir_ / (std::string(name) + ".csv"));
        return read_json(json);
    }
    std::set<std::string> files() const {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_ / "media")) {
            if (entry.path().extension() == ".load") names.insert(entry.path().string());
        }
        return names;
    }
    /// The rank has done operations in this step, by its journal.
    bool has_worked(int rank, const std::string& step) const {
        for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
            if (!entry.path().filename().string().starts_with("seat-" + std::to_string(rank) + "-")) continue;
            if (entry.path().extension() != ".json") continue;
            const Json journal = Json::parse(text_of(entry.path()), nullptr, false);
            if (journal.is_discarded() || !journal["run_id"].get<std::string>().ends_with(step)) continue;
            if (journal.contains("meters") && journal["meters"][0]["all"]["done"] > 0) return true;
        }
        return false;
    }
    void wait_until_it_has_worked(int rank, const std::string& step) const {
        for (int i = 0; i < 600 && !has_worked(rank, step); ++i) sleep_ms(50);
        ASSERT_TRUE(has_worked(rank, step));
    }

    TempDir dir_;
    std::string said_;
};

/// The figures of a step, without the words of its verdict and the facts of each computer.
Json figures_of(Json step) {
    step["result"] = step["result"]["meters"];
    return step;
}

/// A disk of this computer plays too many streams for the held-back run: the probes are enough.
TEST_F(RanksLoad, CalibrateFromAllSeats) {
    Spawn spawn = over_ranks(2, {},
                             {"calibrate", dir_ / "media", "-o", dir_ / "model.json", "--prores-hd",
                              "--duration", "200ms", "--set-size", "64MiB", "--yes"});
    const std::vector<std::string> ended = {"-s", "INT", "-k", "20", "25", "mpirun"};
    spawn.args.insert(spawn.args.begin(), ended.begin(), ended.end());
    const Finished done = run("timeout", spawn);
    const Json rows = read_json(dir_ / "model.measured.json");
    EXPECT_EQ(rows["seats"], 2) << done.text();
    EXPECT_GE(rows["rows"].size(), 10u) << "every rank did the probes that rank 0 named";
}

TEST_F(RanksLoad, GiveTheTablesOfOneProcess) {
    std::string csv_of_one;
    std::string csv_of_all;
    const std::vector<std::string> words = {"run", write(thinking()), "--quiet", "sim:null"};
    const Json one = load("one", false, words, &csv_of_one);
    const Json all = load("all", true, words, &csv_of_all);
    ASSERT_EQ(one["steps"].size(), 1U);
    ASSERT_EQ(one["steps"][0]["clients"].size(), 5U);
    EXPECT_EQ(figures_of(all["steps"][0]), figures_of(one["steps"][0]));
    EXPECT_EQ(all["printed"], one["printed"]);
    EXPECT_TRUE(csv_of_all == csv_of_one);
    EXPECT_GT(std::count(csv_of_one.begin(), csv_of_one.end(), '\n'), 9000);
    const Json& result = all["steps"][0]["result"];
    ASSERT_EQ(result["seats"].size(), 4U);
    EXPECT_EQ(result["seats"][0]["seats"], Json({0, 4}));
    EXPECT_EQ(result["seats"][3]["seats"], Json({3}));
}

TEST_F(RanksLoad, WaitInStepsThatHaveNoClientForThem) {
    Json document = thinking();
    document.erase("printed");
    document["sweep"] = {{"over", "clients"}, {"values", {1, 2, 6}}};
    const std::vector<std::string> words = {"run", write(document), "--quiet", "sim:null"};
    const Json one = load("one", false, words);
    const Json all = load("all", true, words);
    ASSERT_EQ(all["steps"].size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(figures_of(all["steps"][i]), figures_of(one["steps"][i]));
    EXPECT_EQ(all["steps"][1]["result"]["seats"][2]["seats"], Json::array());
    EXPECT_EQ(all["steps"][1]["result"]["seats"][2]["state"], "complete");
}

TEST_F(RanksLoad, ReadTheFilesThatOneProcessReads) {
    const std::vector<std::string> words = {"run", write(reading_once()), "-v", "--yes", dir_ / "media"};
    const Json all = load("all", true, words);
    EXPECT_THAT(said_, AllOf(HasSubstr(", from 4 computers\n"), HasSubstr("Computers in the last step\n")));
    EXPECT_THAT(said_, HasSubstr("writing 12.6 MB for meters: 11 files"));
    const auto made = files();
    EXPECT_EQ(made.size(), 11U);
    const Json one = load("one", false, words);
    EXPECT_THAT(said_, Not(HasSubstr("writing")));
    EXPECT_EQ(files(), made);
    const Json& of_all = all["steps"][0]["result"]["meters"];
    const Json& of_one = one["steps"][0]["result"]["meters"];
    ASSERT_EQ(of_all.size(), 10U);
    ASSERT_EQ(of_one.size(), 10U);
    for (std::size_t i = 0; i < 10; ++i) {
        for (const char* key : {"seat", "name", "users", "blocks_done", "blocks_failed"})
            EXPECT_EQ(of_all[i][key], of_one[i][key]) << key;
        for (const char* key : {"done", "failed", "bytes"})
            EXPECT_EQ(of_all[i]["all"][key], of_one[i]["all"][key]) << key;
    }
    EXPECT_EQ(all["steps"][0]["files_bytes"], one["steps"][0]["files_bytes"]);
    EXPECT_EQ(all["steps"][0]["files_read_times"], one["steps"][0]["files_read_times"]);
    constexpr std::int64_t kStartsAgreeNs = 5'000'000;
    for (const Json& seat : all["steps"][0]["result"]["seats"])
        EXPECT_LE(std::abs(seat["start_ns"].get<std::int64_t>()), kStartsAgreeNs);
}

TEST_F(RanksLoad, EndAfterTheStepInWhichARankDiedAndNameIt) {
    Process process("mpirun", over_ranks(kRanks, {"--enable-recovery"},
                                         {"run", write(two_steps()), "--quiet", "--json", dir_ / "r.json",
                                          dir_ / "media"}));
    ASSERT_NO_FATAL_FAILURE(wait_until_it_has_worked(2, "-step-1"));
    const pid_t rank_2 = process_of(2, dir_ / "r.json");
    ASSERT_GT(rank_2, 0);
    kill(rank_2, SIGKILL);
    const Finished ended = process.wait();
    EXPECT_THAT(ended.err,
                AllOf(HasSubstr("seat 2 (host "), HasSubstr("the workload ends after 1 of 2 steps")));
    const Json result = read_json(dir_ / "r.json");
    EXPECT_EQ(result["interrupted"], true) << "a step is missing";
    ASSERT_EQ(result["steps"].size(), 1U);
    const Json& step = result["steps"][0];
    EXPECT_EQ(step["pass"], false);
    EXPECT_THAT(step["reason"].get<std::string>(), HasSubstr("seat 2 (host "));
    ASSERT_EQ(step["result"]["meters"].size(), 4U);
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
        EXPECT_EQ(step["result"]["seats"][rank]["state"], rank == 2 ? "partial" : "complete");
        const std::uint64_t done = step["result"]["meters"][rank]["all"]["done"];
        EXPECT_GT(done, 0U);
        EXPECT_EQ(rank == 2, done < 700U) << done;  // of 800
    }
}

TEST_F(RanksLoad, EndWithinTwoSecondsWithWhatTheyKnow) {
    Process process("mpirun", over_ranks(kRanks, {},
                                         {"run", write(two_steps()), "--duration", "60s", "--json",
                                          dir_ / "r.json", dir_ / "media"}));
    ASSERT_NO_FATAL_FAILURE(wait_until_it_has_worked(3, "-step-1"));
    const auto begin = std::chrono::steady_clock::now();
    const pid_t ranks[] = {process_of(0, dir_ / "r.json"), process_of(1, dir_ / "r.json"),
                           process_of(2, dir_ / "r.json"), process_of(3, dir_ / "r.json")};
    for (const pid_t rank : ranks) ASSERT_GT(rank, 0);
    kill(ranks[1], SIGINT);  // one that hears it tells the others
    for (const pid_t rank : ranks) {
        while (kill(rank, 0) == 0 && std::chrono::steady_clock::now() - begin < std::chrono::seconds(10))
            sleep_ms(10);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
    process.wait();
    const Json result = read_json(dir_ / "r.json");
    EXPECT_EQ(result["interrupted"], true);
    ASSERT_EQ(result["steps"].size(), 1U);
    EXPECT_EQ(result["steps"][0]["result"]["meters"].size(), 4U);
    for (const Json& meter : result["steps"][0]["result"]["meters"]) EXPECT_GT(meter["all"]["done"], 0);
}

TEST_F(RanksLoad, SayAMistakeOnce) {
    const Finished model = over_four({"run", "eda"});
    EXPECT_EQ(model.exit_code, 2);
    EXPECT_THAT(model.err, HasSubstr("a model is played by one process"));
    EXPECT_EQ(std::count(model.err.begin(), model.err.end(), '\n'), 1) << model.err;
    const Finished missing = over_four({"run", dir_ / "nowhere.json", dir_ / "media"});
    EXPECT_EQ(missing.exit_code, 2) << missing.text();
    EXPECT_EQ(std::count(missing.err.begin(), missing.err.end(), '\n'), 1) << missing.err;
    Json wrong = two_steps();
    wrong["durations"] = "1s";
    const Finished key = over_four({"run", write(wrong), dir_ / "media"});
    EXPECT_EQ(key.exit_code, 2);
    EXPECT_EQ(std::count(key.err.begin(), key.err.end(), '\n'), 1) << key.err;
}

TEST_F(RanksLoad, RunMetersBesideStreamsOnEverySeat) {
    const std::vector<std::string> play = {"--prores-hd", "--clip-duration", "1s",     "--duration", "1s",
                                           "--meter",     write(thinking()), "--quiet"};
    auto words = play;
    words.insert(words.end(), {"--json", dir_ / "all.json", "--not-alone", "sim:null"});
    Finished played = over_four(words);
    ASSERT_EQ(played.exit_code, 0) << played.text();
    words = play;
    words.insert(words.end(), {"--seats", "4", "--json", dir_ / "one.json", "--not-alone", "sim:null"});
    ASSERT_EQ(streamsim(words).exit_code, 0);
    const Json all = read_json(dir_ / "all.json");
    const Json one = read_json(dir_ / "one.json");
    EXPECT_EQ(all["digest"], one["digest"]);
    ASSERT_EQ(all["meters"].size(), 4U);
    EXPECT_EQ(all["meters"], one["meters"]);
    // Streams and meters are measured alone first, over all ranks, on real files.
    words = play;
    words.insert(words.end(), {"--json", dir_ / "real.json", dir_ / "media"});
    played = over_four(words);
    ASSERT_EQ(played.exit_code, 0) << played.text();
    const Json real = read_json(dir_ / "real.json");
    EXPECT_EQ(real["meters"].size(), 4U);
    EXPECT_EQ(real["alone"]["meters"].size(), 4U);
    EXPECT_EQ(real["alone"]["streams"]["frames_scheduled"], 120);
}

}  // namespace
}  // namespace streamsim::tests
