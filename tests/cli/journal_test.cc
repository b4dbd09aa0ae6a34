// A journal outlives its run, and `streamsim report --merge` puts together what is left of several.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::int64_t kSecond = 1'000'000'000;

class Journals : public CliTest {
protected:
    std::string directory() const { return dir_ / "journals"; }

    /// The only journal there; a null document: there is none.
    Json journal(const std::string& directory) const {
        std::error_code none;
        for (const auto& entry : std::filesystem::directory_iterator(directory, none)) {
            if (entry.path().extension() == ".json") return read_json(entry.path());
        }
        return {};
    }

    /// Plays for long, and kills the program when its journal has `seconds` of play. Returns the journal that
    /// is left.
    Json killed(const std::string& directory, int seconds) {
        Process process(streamsim_binary(), {.args = {"--quiet", "--prores-hd", "--duration", "60s", "--faults",
                                                      faults(), "--journal", directory, "null:"}});
        const std::int64_t give_up = monotonic_ns() + 60 * kSecond;
        while (monotonic_ns() < give_up) {
            const Json seen = journal(directory);
            if (!seen.is_null() && seen["totals"]["frames_scheduled"] >= 30 * seconds) break;
            sleep_ms(20);
        }
        const Json before = journal(directory);
        process.send(SIGKILL);
        EXPECT_EQ(process.wait().signal, SIGKILL);
        const Json after = journal(directory);
        EXPECT_GE(after["totals"]["frames_scheduled"], before["totals"]["frames_scheduled"]);
        return after;
    }
    /// The journal of a run that ended.
    Json journal_of_a_run() {
        return play({"--prores-hd", "--duration", "300ms", "--journal", directory()}, "null:");
    }
    std::string faults() const {
        const Json rule{{"slots", {{"first", 0}, {"last", 100000}, {"every", 10}}},
                        {"operation", "read"},
                        {"error", "EIO"}};
        return write_faults(Json::array({rule}));
    }

    /// As if rank `rank` of two had written it.
    std::string as_rank(Json result, int rank) {
        result["run_id"] = "0123";
        result["ranks"] = 2;
        result["seats"][0]["rank"] = rank;
        result["seats"][0]["seats"] = {rank};
        result["seats"][0]["host"]["name"] = "h" + std::to_string(rank);
        result["host"]["name"] = "h" + std::to_string(rank);
        for (Json& stream : result["streams"]) stream["seat"] = rank;
        for (Json& drop : result["drops"]) drop["seat"] = rank;
        const std::string path = dir_ / ("rank-" + std::to_string(rank) + ".json");
        write_text(path, result.dump());
        return path;
    }
};

TEST_F(Journals, AKilledRunLeavesAWholeOneThatObeysTheLaw) {
    const Json left = killed(directory(), 2);
    ASSERT_FALSE(left.is_null());
    const Json& totals = left["totals"];
    EXPECT_GE(totals["frames_scheduled"], 60);
    EXPECT_EQ(totals["frames_scheduled"],
              totals["frames_on_time"].get<int>() + totals["frames_failed"].get<int>());
    EXPECT_EQ(totals["frames_failed"], left["drops"].size());
    EXPECT_EQ(left["seats"][0]["state"], "partial");
    EXPECT_EQ(left["ranks"], 1);
    const std::string path = left["seats"][0]["journal"];
    EXPECT_THAT(path, StartsWith(directory() + "/seat-0-"));
    const Finished shown = streamsim({"report", path});
    EXPECT_EQ(shown.exit_code, 0) << shown.text();
    EXPECT_THAT(shown.out, HasSubstr("INTERRUPTED"));
}

TEST_F(Journals, OfARunThatEndedIsItsResult) {
    const Json result = journal_of_a_run();
    EXPECT_EQ(journal(directory()), result);
    EXPECT_EQ(result["seats"][0]["state"], "complete");
    EXPECT_EQ(result["seats"][0]["totals"]["frames_scheduled"], result["totals"]["frames_scheduled"]);
    std::uint64_t counted = 0;
    for (const Json& times : result["totals"]["histograms"]["service_ns"]["times"])
        counted += times.get<std::uint64_t>();
    EXPECT_EQ(counted, result["totals"]["frames_scheduled"]);
}

TEST_F(Journals, AnInterruptedRunSaysSoInItsJournal) {
    Process process(streamsim_binary(), {.args = {"--quiet", "--prores-hd", "--duration", "60s", "--journal",
                                                  directory(), "null:"}});
    process.wait_until_it_hears(SIGINT);
    for (int i = 0; i < 3000 && journal(directory()).is_null(); ++i) sleep_ms(10);
    process.send(SIGINT);
    EXPECT_EQ(process.wait().exit_code, 130);
    EXPECT_EQ(journal(directory())["seats"][0]["state"], "interrupted");
}

TEST_F(Journals, WhereTheyCannotBeIsSaidBeforeMediaAreWritten) {
    write_text(dir_ / "file", "x");
    for (const std::string& place : {dir_ / "file", dir_ / "file/deeper", std::string("/proc/journals")}) {
        const Finished early = streamsim({"--quiet", "--format", small(), "--journal", place, target()});
        EXPECT_EQ(early.exit_code, 3) << early.text();
        EXPECT_THAT(early.err, HasSubstr("streamsim: " + place + ": "));
        EXPECT_TRUE(std::filesystem::is_empty(target())) << place;
    }
    const Finished none =
        streamsim({"--quiet", "--journal", directory() + "/a/b", "--web", "1.2.3.4:1", "null:"});
    EXPECT_EQ(none.exit_code, 3) << none.text();
    EXPECT_FALSE(std::filesystem::exists(directory())) << "the run did not begin";
    const Finished refused = streamsim({"--quiet", "--prores-hd", "--journal", dir_ / "file", "null:"});
    EXPECT_EQ(refused.exit_code, 3) << refused.text();
    EXPECT_THAT(refused.err, HasSubstr(dir_ / "file"));
}

TEST_F(Journals, ThatCannotBeWrittenAnyMoreAreSaidAlsoQuietlyAndInTheResult) {
    Process process(streamsim_binary(), {.args = {"--quiet", "--prores-hd", "--duration", "4s", "--journal",
                                                  directory(), "--json", json_path(), "null:"}});
    for (int i = 0; i < 3000 && journal(directory()).is_null(); ++i) sleep_ms(10);
    std::filesystem::remove_all(directory());
    const Finished done = process.wait();
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_THAT(done.err, HasSubstr("the journal cannot be written"));
    EXPECT_THAT(read_json(json_path())["notices"].dump(), HasSubstr("the journal cannot be written"));
}

TEST_F(Journals, AreMerged) {
    const std::string first = as_rank(journal_of_a_run(), 0);
    const std::string second = as_rank(killed(dir_ / "second", 1), 1);
    const Json left = read_json(second);
    const Json whole = read_json(first);
    const Finished done = streamsim({"report", "-v", "--merge", "--json", json_path(), second, first});
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_THAT(done.out,
                AllOf(StartsWith("FAULTS INJECTED: DOES NOT PLAY"), HasSubstr("seat 1 (host h1): it vanished"),
                      HasSubstr("\nSeats\n"), HasSubstr("partial")));
    const Json merged = read_json(json_path());
    EXPECT_THAT(result_problems(merged), IsEmpty());
    EXPECT_EQ(merged["totals"]["frames_scheduled"],
              left["totals"]["frames_scheduled"].get<int>() + whole["totals"]["frames_scheduled"].get<int>());
    EXPECT_EQ(merged["drops"].size(), left["drops"].size() + whole["drops"].size());
    EXPECT_EQ(merged["verdict"]["pass"], false);
    EXPECT_EQ(merged["host"]["name"], "h0");
    const Finished again =
        streamsim({"report", "--merge", "--quiet", "--html", dir_ / "merged.html", json_path()});
    EXPECT_EQ(again.exit_code, 0) << again.text();
    EXPECT_THAT(read_text(dir_ / "merged.html"), HasSubstr("<span>Seats</span>"));
}

TEST_F(Journals, AreMergedOnlyWhereTheyAreWholeAndOfOneRun) {
    const std::string first = as_rank(journal_of_a_run(), 0);
    Json other = read_json(first);
    other["run_id"] = "4567";
    other["seats"][0]["rank"] = 1;
    write_text(dir_ / "other.json", other.dump());
    const Finished foreign = streamsim({"report", "--merge", first, dir_ / "other.json"});
    EXPECT_EQ(foreign.exit_code, 2) << foreign.text();
    EXPECT_THAT(foreign.err, AllOf(HasSubstr("other.json: is of the run 4567"), HasSubstr("0123")));
    other["streams"][0]["histograms"]["service_ns"]["times"] = {1, 2, 3};
    write_text(dir_ / "other.json", other.dump());
    write_text(dir_ / "torn.json", read_text(first).substr(0, 2000));
    const Finished broken = streamsim({"report", "--merge", first, dir_ / "other.json", dir_ / "torn.json"});
    EXPECT_EQ(broken.exit_code, 2) << broken.text();
    EXPECT_THAT(broken.err,
                AllOf(HasSubstr("other.json: /streams/0/histograms/service_ns"), HasSubstr("torn.json")));
}

}  // namespace
}  // namespace streamsim::tests
