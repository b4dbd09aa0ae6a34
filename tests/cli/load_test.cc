// Loads that are not playback: what is typed, what is done, what comes back.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "cli/csv_rows.h"
#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using Row = CsvRow;

class LoadTest : public CliTest {
protected:
    /// Reads and writes of a file of 1 MiB.
    static Json workload() {
        return {{"schema", "streamsim.workload"},
                {"version", 1},
                {"name", "tested"},
                {"title", "A load"},
                {"duration", "300ms"},
                {"report", "modes"},
                {"meters",
                 {{{"name", "m"},
                   {"users", 2},
                   {"operations", {{"read", 3}, {"write", 1}}},
                   {"random_percent", 50},
                   {"blocks", {{{"bytes", "4KiB"}, {"weight", 1}}, {{"bytes", "16KiB"}, {"weight", 1}}}},
                   {"lengths", {{"up_to", "64KiB"}}},
                   {"files", {{"count", 1}, {"bytes", "1MiB"}}}}}}};
    }
    std::string write(const Json& document) const {
        const std::string path = dir_ / "workload.json";
        write_text(path, document.dump());
        return path;
    }
    Json load(const Json& document, const std::string& where, std::vector<std::string> options = {}) {
        options.insert(options.begin(), {"run", "-v", write(document), where, "--json", json_path()});
        finished_ = streamsim(options);
        EXPECT_EQ(finished_.exit_code, 0) << finished_.text();
        return finished_.exit_code == 0 ? read_json(json_path()) : Json();
    }

    Finished finished_;
};

TEST_F(LoadTest, ReadsEachPlaceOnceBeforeAnyComesAgain) {
    Json document = workload();
    Json& meter = document["meters"][0];
    meter["users"] = 1;
    meter["operations"] = {{"read", 1}};
    meter["random_percent"] = 100;
    meter["non_repeating"] = true;
    meter["blocks"] = "4KiB";
    meter.erase("lengths");
    const std::string csv = dir_ / "rows.csv";
    const Json result = load(document, target(), {"--csv", csv});
    const auto rows = read_csv_rows(csv);
    constexpr std::size_t kPlaces = 256;
    ASSERT_GT(rows.size(), kPlaces);
    for (std::size_t pass = 0; (pass + 1) * kPlaces <= rows.size(); ++pass) {
        std::set<std::string> places;
        for (std::size_t i = 0; i < kPlaces; ++i) places.insert(rows[pass * kPlaces + i].at("offset"));
        ASSERT_EQ(places.size(), kPlaces) << "pass " << pass;
    }
    const Json& all = result["steps"][0]["result"]["meters"][0]["all"];
    EXPECT_EQ(all["failed"], 0);
    EXPECT_LE(rows.size() - all["done"].get<std::size_t>(), 1u) << "one may have been under way at the end";
}

TEST_F(LoadTest, TablesAreWhatTheSourcesFormulasGiveForTheRows) {
    const std::string csv = dir_ / "rows.csv";
    const Json result = load(workload(), target(), {"--csv", csv});
    struct Transfer {
        double bytes = 0, blocks = 0, blocks_ns = 0, from_ns = 1e300, to_ns = 0;
        std::string mode;
    };
    std::map<std::string, Transfer> transfers;
    for (const Row& row : read_csv_rows(csv)) {
        Transfer& transfer = transfers[row.at("user") + "/" + row.at("transfer")];
        transfer.mode = row.at("mode");
        transfer.bytes += number(row, "bytes");
        ++transfer.blocks;
        transfer.blocks_ns += number(row, "completed_ns") - number(row, "submitted_ns");
        transfer.from_ns = std::min(transfer.from_ns, number(row, "submitted_ns"));
        transfer.to_ns = std::max(transfer.to_ns, number(row, "completed_ns"));
    }
    // Transfers that were under way at the end are in the rows as far as they came, and in no table.
    std::map<std::string, std::vector<Transfer>> by_mode;
    for (const auto& [name, transfer] : transfers) by_mode[transfer.mode].push_back(transfer);
    const Json& modes = result["steps"][0]["modes"];
    double counted = 0;
    Transfer sum;
    double all_latencies = 0;
    bool whole = true;
    for (const auto& [mode, all] : by_mode) {
        const Json& cell = modes[mode].back();
        const double count = cell["transfers"];
        counted += count;
        ASSERT_GE(static_cast<double>(all.size()), count) << mode;
        ASSERT_LE(static_cast<double>(all.size()), count + 2) << mode;
        whole &= static_cast<double>(all.size()) == count;
        if (static_cast<double>(all.size()) > count) continue;
        double rates = 0;
        double latencies = 0;
        Transfer of_mode;
        for (const Transfer& transfer : all) {
            rates += transfer.bytes / transfer.blocks_ns * 1e3;
            latencies += (transfer.to_ns - transfer.from_ns - transfer.blocks_ns) / 1e6;
            of_mode.blocks += transfer.blocks;
            of_mode.blocks_ns += transfer.blocks_ns;
        }
        EXPECT_EQ(cell["blocks"].get<double>(), of_mode.blocks) << mode;
        EXPECT_NEAR(cell["block_latency_mean_ms"].get<double>(), of_mode.blocks_ns / of_mode.blocks / 1e6, 1e-6)
            << mode;
        sum.blocks += of_mode.blocks;
        sum.blocks_ns += of_mode.blocks_ns;
        all_latencies += latencies;
        EXPECT_NEAR(cell["rate_mb_per_s"].get<double>(), rates / count, 1e-6 * rates) << mode;
        EXPECT_NEAR(cell["latency_mean_ms"].get<double>(), latencies / count, 1e-6) << mode;
    }
    EXPECT_EQ(modes["All"].back()["transfers"].get<double>(), counted);
    // The row above the tables says the same as the cell of everything.
    const Json& row = result["steps"][0]["all"];
    const Json& everything = modes["All"].back();
    EXPECT_NEAR(row["block_latency_mean_ns"].get<double>() / 1e6,
                everything["block_latency_mean_ms"].get<double>(), 1e-6);
    EXPECT_NEAR(row["transfer_latency_mean_ns"].get<double>() / 1e6,
                everything["latency_mean_ms"].get<double>(), 1e-6);
    if (whole) {
        EXPECT_NEAR(row["block_latency_mean_ns"].get<double>(), sum.blocks_ns / sum.blocks, 1);
        EXPECT_NEAR(row["transfer_latency_mean_ns"].get<double>(), 1e6 * all_latencies / counted, 1);
    }
    for (const char* text :
         {"average rate (MB/s)", "average block latency (ms)", "maximum transfer latency (s)",
          "block latency: from the submission of one block to its completion",
          "transfer latency: the total time of a transfer less the sum of its block latencies"})
        EXPECT_THAT(finished_.out, HasSubstr(text));
}

/// The bytes that each cold step read, and how often each place.
struct ColdReads {
    double bytes = 0;
    std::map<std::string, int> places;
};

ColdReads cold_reads(const std::string& csv) {
    ColdReads out;
    for (const Row& row : read_csv_rows(csv)) {
        if (row.at("step") != "cold") continue;
        out.bytes += number(row, "bytes");
        ++out.places[row.at("seat") + "/" + row.at("user") + "/" + row.at("file") + "/" + row.at("offset")];
    }
    return out;
}

TEST_F(LoadTest, AColdStepReadsEachByteOnce) {
    Json document = workload();
    document["sweep"] = {{"over", "cache"}, {"values", {"cold", "warm"}}};
    document["report"] = "table";
    Json& meter = document["meters"][0];
    meter["operations"] = {{"read", 1}};
    meter["direct"] = false;
    meter["inflight"] = 4;
    meter["files"] = {{"count", 3}, {"bytes", "1000KiB"}};
    const std::string csv = dir_ / "rows.csv";
    const std::string html = dir_ / "report.html";
    for (const double random : {0.0, 100.0}) {
        meter["random_percent"] = random;
        meter["lengths"] = Json{{"up_to", "64KiB"}};
        if (random > 0) meter.erase("lengths");
        const Json result = load(document, target(), {"--csv", csv, "--html", html});
        const ColdReads cold = cold_reads(csv);
        EXPECT_LE(cold.bytes, 2 * 3 * 1000 * 1024);
        // A small block at a random place reads only a part of that place.
        EXPECT_GT(cold.bytes, 2 * 3 * (random > 0 ? 500 : 1000) * 1024 - 1);
        for (const auto& [place, times] : cold.places) ASSERT_EQ(times, 1) << place;
        const Json& step = result["steps"][0];
        EXPECT_EQ(step["reads_each_byte_once"], true);
        EXPECT_EQ(step["files_bytes"], 2 * 3 * 1000 * 1024);
        EXPECT_LE(step["files_read_times"], 1.0);
        EXPECT_LT(step["result"]["meters"][0]["wall_ns"], 300'000'000) << "the end is when all is read";
        EXPECT_GT(result["steps"][1]["files_read_times"], 1.0);
        EXPECT_THAT(finished_.out, HasSubstr("cold: no byte was read twice"));
        EXPECT_THAT(read_text(html), HasSubstr("cold: no byte was read twice"));
    }
}

TEST_F(LoadTest, AColdStepThatReadsAgainSaysSo) {
    Json document = workload();
    document["sweep"] = {{"over", "cache"}, {"values", {"cold"}}};
    document["report"] = "table";
    Json& meter = document["meters"][0];
    meter["operations"] = {{"read", 1}};
    meter["direct"] = false;
    const std::string html = dir_ / "report.html";
    const Json result = load(document, target(), {"--html", html});
    const Json& step = result["steps"][0];
    EXPECT_EQ(step["reads_each_byte_once"], false);
    EXPECT_GT(step["files_read_times"], 1.0);
    EXPECT_THAT(finished_.out, HasSubstr("so that this step is not cold"));
    EXPECT_THAT(read_text(html), HasSubstr("so that this step is not cold"));
}

TEST_F(LoadTest, LeavesNothingButItsFilesWhichCleanRemoves) {
    write_text(target() + "/mine.txt", "mine");
    Json document = workload();
    Json& meter = document["meters"][0];
    meter["operations"] = {{"create", 2}, {"remove", 1}, {"rename", 1}, {"stat", 1}, {"list", 1}, {"open", 1}};
    meter["files"] = {{"count", 4}, {"bytes", "64KiB"}, {"directories", 2}, {"spare", 3}};
    for (const char* of_transfers : {"blocks", "lengths", "random_percent"}) meter.erase(of_transfers);
    document["report"] = "table";
    const Json result = load(document, target());
    const Json& operations = result["steps"][0]["result"]["meters"][0]["operations"];
    for (const char* name : {"create", "remove", "rename", "stat", "list", "open"})
        EXPECT_GT(operations[name]["done"], 0) << name;
    std::size_t created = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(target())) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("c") && name.ends_with(".load")) ++created;  // a record's name may begin so, too
    }
    EXPECT_EQ(created, 0u);
    const Finished clean = streamsim({"clean", target()});
    EXPECT_EQ(clean.exit_code, 0) << clean.text();
    EXPECT_FALSE(std::filesystem::exists(target() + "/streamsim-media")) << clean.text();
    EXPECT_TRUE(std::filesystem::exists(target() + "/mine.txt"));
}

TEST_F(LoadTest, RemovesTheFileThatAKilledRunWasWriting) {
    for (const bool writes : {true, false}) {
        Json document = workload();
        if (!writes) document["meters"][0]["operations"] = {{"read", 1}};
        load(document, target());
        std::string file;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(target()))
            if (entry.path().extension() == ".load") file = entry.path().string();
        ASSERT_NE(file, "");
        const std::string partial = file + ".0123456789abcdef.partial";
        std::filesystem::rename(file, partial);
        load(document, target());
        EXPECT_TRUE(std::filesystem::exists(file)) << writes;
        EXPECT_FALSE(std::filesystem::exists(partial)) << writes;
    }
}

TEST_F(LoadTest, StepsAreARowEachAndScaleSaysSo) {
    Json document = workload();
    document["sweep"] = {{"over", "clients"}, {"values", {1, 3}}};
    document["report"] = "table";
    const std::string html = dir_ / "report.html";
    const Json result = load(document, "sim:f800", {"--scale", "0.5", "--html", html});
    EXPECT_THAT(read_text(html), AllOf(HasSubstr(">clients</th>"), HasSubstr(">1</th>"), HasSubstr(">3</th>")));
    ASSERT_EQ(result["steps"].size(), 2u);
    EXPECT_EQ(result["steps"][1]["clients"].size(), 3u);
    EXPECT_GT(result["steps"][1]["all"]["operations_per_s"], result["steps"][0]["all"]["operations_per_s"]);
    EXPECT_EQ(result["scale"], 0.5);
    EXPECT_THAT(finished_.out, HasSubstr("scaled by 0.5"));
    ASSERT_EQ(result["scaled_files"].size(), 1u);
    EXPECT_EQ(result["scaled_files"][0]["file_bytes"], 512 << 10);
    EXPECT_EQ(result["scaled_files"][0]["source_file_bytes"], 1 << 20);
    const char* const files = "files of 524.3 kB instead of 1.0 MB: --scale 0.5";
    EXPECT_LT(finished_.out.find(files), finished_.out.find("meter")) << "before the tables";
    EXPECT_THAT(read_text(html), HasSubstr(files));
    EXPECT_THAT(finished_.out, HasSubstr("modelled"));
}

TEST_F(LoadTest, PrintedFiguresOfAModelAreComparedOnIt) {
    Json document = workload();
    document["sweep"] = {{"over", "clients"}, {"values", {1, 2}}};
    document["printed"] = Json::array();
    for (const char* model : {"f800", "h500"})
        document["printed"].push_back({{"at", "peak"},
                                       {"model", model},
                                       {"quantity", "bytes_per_s"},
                                       {"value", 1e9},
                                       {"source", std::string("paper of ") + model}});
    const Json result = load(document, "sim:f800", {"-v"});
    ASSERT_EQ(result["printed"].size(), 1u);
    EXPECT_EQ(result["printed"][0]["model"], "f800");
    EXPECT_EQ(result["printed"][0]["at"], 2);
    EXPECT_EQ(result["printed"][0]["peak"], true);
    const Json& all = result["steps"][1]["all"];
    EXPECT_DOUBLE_EQ(result["printed"][0]["measured"].get<double>(),
                     all["read_bytes_per_s"].get<double>() + all["write_bytes_per_s"].get<double>());
    EXPECT_THAT(finished_.out,
                AllOf(HasSubstr("2, peak"), HasSubstr("paper of f800"), Not(HasSubstr("paper of h500")),
                      HasSubstr("not compared: 1 figure of the source, of sim:h500")));
    document["printed"][1]["model"] = "f800";
    document["printed"][1]["at"] = 1;
    EXPECT_EQ(load(document, "sim:f800", {"--clients", "2"})["printed"].size(), 0u) << "it is of one client";
    EXPECT_EQ(load(document, "sim:f800", {"--clients", "1"})["printed"].size(), 1u)
        << "no peak without all steps";
}

TEST_F(LoadTest, PrintedFiguresAreOfTheDocumentsClients) {
    Json document = workload();
    document["clients"] = 2;
    document["printed"] = Json::array();
    document["printed"].push_back({{"quantity", "bytes_per_s"}, {"value", 1e9}, {"source", "a paper"}});
    EXPECT_EQ(load(document, "sim:f800")["printed"].size(), 1u);
    EXPECT_EQ(load(document, "sim:f800", {"--clients", "2"})["printed"].size(), 1u);
    EXPECT_EQ(load(document, "sim:f800", {"--clients", "3"})["printed"].size(), 0u);
}

TEST_F(LoadTest, UsersAndClientsAreAsManyAsTheCommandLineSays) {
    Json document = workload();
    document["sweep"] = {{"over", "clients"}, {"values", {1, 3}}};
    document["meters"][0]["files"]["shared"] = "client";
    document["printed"] = {{{"at", 3}, {"quantity", "read_bytes_per_s"}, {"value", 1e6}, {"source", "none"}}};
    const std::string csv = dir_ / "rows.csv";
    const Json result = load(document, target(), {"--users", "3", "--clients", "2", "--csv", csv});
    ASSERT_EQ(result["steps"].size(), 1u);
    const Json& meters = result["steps"][0]["result"]["meters"];
    ASSERT_EQ(meters.size(), 2u);
    for (const Json& meter : meters) EXPECT_EQ(meter["users"], 3);
    EXPECT_TRUE(result["printed"].empty()) << "the figure is of another load";
    // Each user is a thread: its blocks follow each other, whatever the others do in the same file.
    std::map<std::string, double> free_at;
    for (const Row& row : read_csv_rows(csv)) {
        double& free = free_at[row.at("seat") + "/" + row.at("user")];
        ASSERT_GE(number(row, "submitted_ns"), free);
        free = number(row, "completed_ns");
    }
    EXPECT_EQ(free_at.size(), 6u);
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(target()))
        files +=
            entry.path().extension() == ".load" && entry.path().filename().string().starts_with("f0") ? 1U : 0U;
    EXPECT_EQ(files, 2u) << "the users of a client share its file";
    const Finished wrong = streamsim({"run", write(document), target(), "--users", "1000000"});
    EXPECT_EQ(wrong.exit_code, 2) << wrong.text();
    EXPECT_THAT(wrong.err, HasSubstr("--users: meter m has"));
}

TEST_F(LoadTest, OptionsThatKeepUsersFromBeginningAreRefused) {
    Json document = workload();
    document["meters"][0]["users"] = 20;
    document["meters"][0]["one_more_every"] = "10ms";  // the last of 20 begins at 190 ms of 300
    using Options = std::vector<std::string>;
    for (const Options& options : {Options{"--duration", "150ms"}, Options{"--scale", "2"},
                                   Options{"--clients", "2"}, Options{"--users", "40"}}) {
        Options words = {"run", write(document), target()};
        words.insert(words.end(), options.begin(), options.end());
        const Finished refused = streamsim(words);
        EXPECT_EQ(refused.exit_code, 2) << refused.text();
        EXPECT_THAT(refused.err, HasSubstr(options.front() + ": meter m: the last of "));
        EXPECT_TRUE(std::filesystem::is_empty(target()));
    }
    const Finished beside =
        streamsim({"--meter", write(document), "--format", small(), "--duration", "150ms", target()});
    EXPECT_EQ(beside.exit_code, 2) << beside.text();
    EXPECT_THAT(beside.err, HasSubstr("meter tested-m: the last of 20 users would begin after all has ended"));
    EXPECT_TRUE(std::filesystem::is_empty(target())) << "no media are made";
    const Json result = load(document, "sim:f800", {"--users", "40", "--duration", "600ms"});
    EXPECT_EQ(result["steps"][0]["result"]["meters"][0]["users"], 40);
    document["meters"][0]["start"] = "100ms";
    const Finished never = streamsim({"run", write(document), target(), "--duration", "100ms"});
    EXPECT_EQ(never.exit_code, 2) << never.text();
    EXPECT_THAT(never.err, HasSubstr("--duration: meter m: never runs"));
}

TEST_F(LoadTest, ABufferIsWhatItsDefinitionGivesForTheRows) {
    Json document = workload();
    Json& meter = document["meters"][0];
    meter["buffer"] = {{"bytes_per_s", 40'000'000}, {"length", "2ms"}, {"threshold", "1500us"}};
    const std::string csv = dir_ / "rows.csv";
    const std::string html = dir_ / "report.html";
    const Json result = load(document, "sim:f800", {"--csv", csv, "--html", html});
    const Json& buffer = result["steps"][0]["result"]["meters"][0]["buffer"];
    const double end = 300e6;
    std::map<std::string, std::pair<double, double>> users;  // the deficit, and when it was
    double needed = 0, below = 0;
    const auto pass = [&](std::pair<double, double>& user, double to) {
        const double before = user.first;
        user.first += to - user.second;
        user.second = to;
        needed = std::max(needed, user.first);
        below += std::max(user.first - 0.5e6, 0.0) - std::max(before - 0.5e6, 0.0);
    };
    for (const Row& row : read_csv_rows(csv)) {
        if (number(row, "completed_ns") > end) continue;
        auto& user = users[row.at("user")];
        pass(user, number(row, "completed_ns"));
        EXPECT_NEAR(number(row, "deficit_ns"), user.first, 2);
        user.first = std::max(0.0, user.first - number(row, "bytes") * 1e9 / 40e6);
    }
    for (auto& [name, user] : users) pass(user, end);
    ASSERT_EQ(users.size(), 2u);
    EXPECT_GT(needed, 0.5e6) << "so that there is something to count";
    EXPECT_NEAR(buffer["needed_ns"].get<double>(), needed, 2);
    EXPECT_NEAR(buffer["below_ns"].get<double>(), below, 2000) << "of rounded deficits";
    EXPECT_GT(buffer["below_times"], 0);
    EXPECT_EQ(buffer["length_ns"], 2'000'000);
    EXPECT_EQ(buffer["threshold_ns"], 1'500'000);
    EXPECT_THAT(finished_.out,
                AllOf(HasSubstr("Buffers of the users"), HasSubstr("buffer needed at 40.0 MB/s")));
    EXPECT_THAT(read_text(html), HasSubstr("Buffers of the users"));
}

TEST_F(LoadTest, BesideStreamsSaysWhatEachCostsTheOther) {
    const Finished done = streamsim({"-v", "--meter", write(workload()), "--format", small(), "--duration",
                                     "500ms", "--clip-duration", "1s", "--json", json_path(), target()});
    EXPECT_EQ(done.exit_code, 0) << done.text();
    const Json result = read_json(json_path());
    EXPECT_THAT(result_problems(result), testing::IsEmpty());
    ASSERT_EQ(result["meters"].size(), 1u);
    EXPECT_GT(result["meters"][0]["all"]["done"], 0);
    EXPECT_EQ(result["alone"]["streams"]["frames_scheduled"], 12);
    EXPECT_GT(result["alone"]["meters"][0]["all"]["done"], 0);
    EXPECT_THAT(done.out, HasSubstr("Streams and meters alone, and together"));
}

TEST_F(LoadTest, RunsAloneAsLongAsBesideTheFramesOfStreams) {
    streamsim(
        {"--meter", write(workload()), "--prores-hd", "--frames", "60", "--json", json_path(), "sim:h500"});
    const Json result = read_json(json_path());
    EXPECT_EQ(result["meters"][0]["wall_ns"], 2'000'000'000);
    EXPECT_EQ(result["alone"]["meters"][0]["wall_ns"], result["meters"][0]["wall_ns"]);
}

TEST_F(LoadTest, AMeterThatBeginsWhenTheFramesOfStreamsAreOverIsRefusedBeforeTheyPlay) {
    Json document = workload();
    document["duration"] = "10s";
    document["meters"][0]["start"] = "3s";
    std::vector<std::string> words = {"--meter", write(document), "--prores-hd", "--frames", "60", "sim:h500"};
    for (int i = 0; i < 2; ++i, words.emplace_back("--not-alone")) {
        const Finished refused = streamsim(words);
        EXPECT_EQ(refused.exit_code, 2) << refused.text();
        EXPECT_THAT(refused.err, HasSubstr("meter tested-m: never runs"));
        EXPECT_THAT(refused.err, Not(HasSubstr("first the streams")));
    }
}

TEST_F(LoadTest, FindsItsFilesAsTheyWereInEachOfItsRuns) {
    Json document = workload();
    Json& meter = document["meters"][0];
    meter["operations"] = {{"create", 1}, {"remove", 1}};
    meter["files"] = {{"count", 1}, {"bytes", "64KiB"}, {"spare", 5}};
    for (const char* of_transfers : {"blocks", "lengths", "random_percent"}) meter.erase(of_transfers);
    const Finished done = streamsim({"--meter", write(document), "--format", small(), "--duration", "300ms",
                                     "--clip-duration", "1s", "--json", json_path(), target()});
    EXPECT_EQ(done.exit_code, 0) << done.text();
    const Json result = read_json(json_path());
    EXPECT_EQ(result["meters"][0]["all"]["failed"], 0);
    EXPECT_GT(result["meters"][0]["all"]["done"], 0);
}

TEST_F(LoadTest, IsAPartOfAScenario) {
    const Json document = {
        {"schema", "streamsim.scenario"},
        {"version", 1},
        {"duration", "2s"},
        {"seats",
         {{{"target", "sim:h500"},
           {"streams", {{{"format", "prores-hd"}}}},
           {"meters", {{{"workload", "ebu-sequential-read"}, {"start", "500ms"}, {"stop", "1s"}}}}}}}};
    const Finished done = streamsim({"run", write(document), "--not-alone", "--json", json_path()});
    EXPECT_EQ(done.exit_code, 0) << done.text();
    const Json result = read_json(json_path());
    EXPECT_EQ(result["meters"][0]["wall_ns"], 500'000'000);
    EXPECT_GT(result["meters"][0]["all"]["done"], 0);
    EXPECT_EQ(result["streams"][0]["frames_scheduled"], 60);
}

TEST_F(LoadTest, SaysInItsRowsWhichMeterTheyAreOf) {
    Json document = workload();
    document.erase("report");
    Json second = document["meters"][0];
    second["name"] = "other";
    second["operations"] = {{"stat", 1}};
    for (const char* of_transfers : {"blocks", "lengths", "random_percent"}) second.erase(of_transfers);
    document["meters"].push_back(second);
    const std::string csv = dir_ / "rows.csv";
    const Json result = load(document, target(), {"--csv", csv});
    std::map<std::string, std::set<std::string>> operations;
    for (const Row& row : read_csv_rows(csv)) operations[row.at("meter")].insert(row.at("operation"));
    const std::map<std::string, std::set<std::string>> expected{{"m", {"read", "write"}}, {"other", {"stat"}}};
    EXPECT_EQ(operations, expected);
    EXPECT_GT(result["steps"][0]["result"]["totals"]["wall_ns"], 250'000'000);
    EXPECT_GT(result["steps"][0]["result"]["client"]["cpu_percent"], 0.0);
}

TEST_F(LoadTest, SaysWhichMembersHaveNoEffect) {
    Json document = workload();
    Json& meter = document["meters"][0];
    meter["operations"] = {{"read", 1}};
    meter["random_percent"] = 0;
    meter["random_unit"] = "block";
    meter["sync"] = "each-write";
    load(document, target());
    EXPECT_THAT(finished_.err, HasSubstr("meter m: sync has no effect"));
    EXPECT_THAT(finished_.err, HasSubstr("meter m: random_unit has no effect"));
    EXPECT_EQ(finished_.out.rfind("DONE: tested: A load\n", 0), 0u) << finished_.out;
    document = workload();
    load(document, target());
    EXPECT_EQ(finished_.err.find("no effect"), std::string::npos) << finished_.err;
    load(document, "sim:f800", {"--io", "threads"});
    EXPECT_THAT(finished_.err, HasSubstr("--io has no effect on sim:f800"));
    const Finished recorded =
        streamsim({"--record", "1", "--order", "reverse", "--duration", "1s", "sim:h500"});
    EXPECT_THAT(recorded.err, HasSubstr("--order has no effect"));
}

TEST_F(LoadTest, RefusesWhatCannotBe) {
    const Finished unknown = streamsim({"run", "no-such-load", target()});
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("ebu-production-edit"));
    const Finished nowhere = streamsim({"run", write(workload())});
    EXPECT_EQ(nowhere.exit_code, 2);
    EXPECT_THAT(nowhere.err, HasSubstr("TARGET"));
    const Finished endless = streamsim({"run", write(workload()), "sim:null"});
    EXPECT_EQ(endless.exit_code, 2) << endless.text();
    EXPECT_THAT(endless.err, HasSubstr("never end"));
    Json crowd = workload();
    crowd["meters"][0]["inflight"] = 6;
    const Finished many = streamsim({"run", write(crowd), target(), "--clients", "100000"});
    EXPECT_EQ(many.exit_code, 2) << many.text();
    EXPECT_THAT(many.err, HasSubstr("--clients: meter m has"));
    const std::string stray = dir_ / "stray.json";
    write_text(stray, R"({"schema": "x", "version": 1})");
    const Finished strange = streamsim({"run", stray});
    EXPECT_EQ(strange.exit_code, 2);
    EXPECT_THAT(strange.err, HasSubstr("/schema: expected \"streamsim.workload\" or \"streamsim.scenario\""));
    const Finished scale = streamsim({"--meter", "eda", "--scale", "0", target()});
    EXPECT_EQ(scale.exit_code, 2);
    EXPECT_THAT(scale.err, HasSubstr("--scale"));
    Json wrong = workload();
    wrong["meters"][0]["loop"] = "round";
    wrong["meters"][0]["files"].erase("bytes");
    const Finished problems = streamsim({"run", write(wrong), target()});
    EXPECT_EQ(problems.exit_code, 2);
    EXPECT_THAT(problems.err, HasSubstr("/meters/0/loop"));
    EXPECT_THAT(problems.err, HasSubstr("/meters/0/files/bytes"));
}

TEST_F(LoadTest, AJournalHoldsTheMetersOfTheStep) {
    Json document = workload();
    document["sweep"] = {{"over", "clients"}, {"values", {1, 3}}};
    const std::string directory = dir_ / "journals";
    const Json result = load(document, target(), {"--journal", directory});
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) files.push_back(entry.path());
    ASSERT_EQ(files.size(), 1U);
    const Json journal = read_json(files.front());
    EXPECT_EQ(journal.value("meters", Json()), result["steps"][1]["result"]["meters"]);
    EXPECT_EQ(journal["seats"][0]["state"], "complete");
    const Finished report = streamsim({"report", "--merge", files.front()});
    EXPECT_EQ(report.exit_code, 0);
    EXPECT_THAT(report.out, AllOf(HasSubstr("DONE: 3 meters on "), Not(HasSubstr("frames"))));
}

}  // namespace
}  // namespace streamsim::tests
