// Calibration from outside, on a model: what is written, and what is never replaced.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Calibrate : public CliTest {
protected:
    const std::string model_ = dir_ / "nas.json";
    const std::string rows_ = dir_ / "nas.measured.json";

    Finished calibrate(std::vector<std::string> more = {}) const {
        std::vector<std::string> args = {"calibrate", "sim:nfs-generic", "-o", model_, "--duration", "1s"};
        args.insert(args.end(), more.begin(), more.end());
        return streamsim(args);
    }
};

TEST_F(Calibrate, WritesAModelThatPlaysAndItsRawRows) {
    const Finished done = calibrate({"--json", json_path(), "--html", dir_ / "page.html"});
    ASSERT_EQ(done.exit_code, 0) << done.text();
    EXPECT_THAT(done.out, HasSubstr("CALIBRATED sim:nfs-generic from 1 seat"));
    EXPECT_THAT(done.out, HasSubstr("held-back run: "));
    EXPECT_THAT(done.err, HasSubstr("ladder-64: "));
    const Json model = read_json(model_);
    EXPECT_EQ(model["schema"], "streamsim.storage-model");
    EXPECT_EQ(model["calibration"]["target"], "sim:nfs-generic");
    EXPECT_FALSE(model["node"]["front_end"]["bits_per_s"].contains("high")) << "one seat gives a lower bound";
    EXPECT_TRUE(read_json(rows_)["complete"]);
    const Json report = read_json(json_path());
    EXPECT_EQ(report["schema"], "streamsim.calibration");
    EXPECT_FALSE(report["residuals"].empty());
    EXPECT_THAT(read_text(dir_ / "page.html"), HasSubstr("The ladder, and the fit through it"));
    const Finished played = streamsim({"--prores-hd", "--duration", "2s", "sim:" + model_});
    EXPECT_EQ(played.exit_code, 0) << played.text();
}

TEST_F(Calibrate, ReplacesNothingThatIsThere) {
    ASSERT_EQ(calibrate().exit_code, 0);
    const std::string before = read_text(model_);
    const Finished again = calibrate();
    EXPECT_EQ(again.exit_code, 2);
    EXPECT_THAT(again.err, HasSubstr("--refit"));
    EXPECT_THAT(again.err, HasSubstr("--again"));
    EXPECT_EQ(read_text(model_), before);
    std::filesystem::remove(model_);
    const Finished complete = calibrate();
    EXPECT_EQ(complete.exit_code, 2) << "complete rows are not measured again unasked";
    EXPECT_THAT(complete.err, HasSubstr("is complete"));
    EXPECT_EQ(calibrate({"--again"}).exit_code, 0);
}

TEST_F(Calibrate, KeepsAModelThatAppearsWhileItMeasures) {
    Spawn spawn;
    spawn.args = {"calibrate", "sim:nfs-generic", "-o", model_, "--duration", "1s"};
    Process process(streamsim_binary(), spawn);
    while (process.running() && !std::filesystem::exists(rows_)) sleep_ms(1);
    const std::string mine = "{\n  \"schema\": \"streamsim.storage-model\", \"title\": \"mine\"}\n";
    write_text(model_, mine);
    const Finished done = process.wait();
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_EQ(read_text(model_), mine);
    EXPECT_THAT(done.err, HasSubstr("another file has appeared"));
    EXPECT_EQ(read_json(dir_ / "nas.2.json")["calibration"]["target"], "sim:nfs-generic");
}

TEST_F(Calibrate, KeepsRowsOfAnotherThatAppearWhileItMeasures) {
    Spawn spawn;
    spawn.args = {"calibrate", "sim:nfs-generic", "-o", model_, "--duration", "1s"};
    Process process(streamsim_binary(), spawn);
    while (process.running() && !std::filesystem::exists(rows_)) sleep_ms(1);
    const std::string others = "{\n  \"schema\": \"streamsim.measurement\", \"mine\": true}\n";
    write_text(rows_, others);
    const Finished done = process.wait();
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_EQ(read_text(rows_), others);
    EXPECT_THAT(done.err, HasSubstr("its raw rows in " + (dir_ / "nas.measured.2.json")));
    EXPECT_TRUE(read_json(dir_ / "nas.measured.2.json")["complete"]);
    EXPECT_FALSE(std::filesystem::exists(dir_ / "nas.measured.3.json"));
}

TEST_F(Calibrate, KeepsRowsThatAppearWhileItMeasuresAgain) {
    ASSERT_EQ(calibrate().exit_code, 0);
    Spawn spawn;
    spawn.args = {"calibrate", "sim:nfs-generic", "-o", model_, "--duration", "1s", "--again"};
    Process process(streamsim_binary(), spawn);
    while (process.running() && !std::filesystem::exists(dir_ / "nas.again.json")) sleep_ms(1);
    const std::string mine = R"({"mine": true})";
    write_text(rows_, mine);
    const Finished done = process.wait();
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_EQ(read_text(rows_), mine);
    EXPECT_THAT(done.err, HasSubstr("another file has appeared"));
    EXPECT_TRUE(read_json(dir_ / "nas.measured.2.json")["complete"]);
}

TEST_F(Calibrate, RowsThatMayNotBeReplacedAreBesideTheOldOnes) {
    if (!is_root()) GTEST_SKIP() << "needs root, to become another user";
    ASSERT_EQ(calibrate().exit_code, 0);
    std::filesystem::remove(model_);
    const std::string before = read_text(rows_);
    std::filesystem::permissions(dir_.path(), std::filesystem::perms::all | std::filesystem::perms::sticky_bit);
    Spawn spawn;
    spawn.args = {"calibrate", "sim:nfs-generic", "-o", model_, "--duration", "1s", "--again"};
    spawn.user = 65534;
    const Finished done = streamsim(spawn);
    EXPECT_EQ(done.exit_code, 3) << done.text();
    EXPECT_EQ(read_text(rows_), before);
    EXPECT_EQ(read_json(model_)["calibration"]["target"], "sim:nfs-generic");
    EXPECT_TRUE(read_json(dir_ / "nas.measured.2.json")["complete"]);
    EXPECT_THAT(done.err, HasSubstr("the result is in " + (dir_ / "nas.measured.2.json")));
}

TEST_F(Calibrate, ReplacesNoModelWhoseRowsAreGone) {
    ASSERT_EQ(calibrate().exit_code, 0);
    const std::string before = read_text(model_);
    std::filesystem::remove(rows_);
    const Finished done = calibrate();
    EXPECT_EQ(done.exit_code, 2) << done.text();
    EXPECT_THAT(done.err, HasSubstr("nas.json: is there already"));
    EXPECT_EQ(read_text(model_), before);
    EXPECT_FALSE(std::filesystem::exists(rows_)) << "nothing was measured";
}

TEST_F(Calibrate, TheModelIsThereAlsoWhereAReportCannotBeWritten) {
    const Finished done = calibrate({"--json", "/dev/full"});
    EXPECT_EQ(done.exit_code, 3) << done.text();
    EXPECT_THAT(done.err, HasSubstr("/dev/full: cannot be written"));
    EXPECT_THAT(done.out, HasSubstr("CALIBRATED sim:nfs-generic"));
    EXPECT_EQ(read_json(model_)["schema"], "streamsim.storage-model");
}

TEST_F(Calibrate, AgainReplacesNoRowsThatAreNoMeasurement) {
    const std::string mine = R"({"mine": true})";
    write_text(rows_, mine);
    const Finished done = calibrate({"--again"});
    EXPECT_EQ(done.exit_code, 2) << done.text();
    EXPECT_THAT(done.err, HasSubstr("nas.measured.json: the file exists and is not an earlier measurement"));
    EXPECT_EQ(read_text(rows_), mine);
    EXPECT_FALSE(std::filesystem::exists(dir_ / "nas.again.json")) << "nothing was measured";
}

TEST_F(Calibrate, FitsAgainFromTheRows) {
    ASSERT_EQ(calibrate().exit_code, 0);
    const Json before = read_json(model_);
    std::filesystem::remove(model_);
    const Finished done = calibrate({"--refit"});
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_THAT(done.err, Not(HasSubstr("ladder-64: "))) << "nothing is measured";
    EXPECT_EQ(read_json(model_), before);
}

TEST_F(Calibrate, GoesOnFromTheRowsThatAreThere) {
    ASSERT_EQ(calibrate().exit_code, 0);
    const Json model = read_json(model_);
    Json rows = read_json(rows_);
    rows["complete"] = false;
    rows["held_back"] = nullptr;
    for (int i = 0; i < 2; ++i) rows["rows"].erase(rows["rows"].size() - 1);
    rows["left_out"] = Json::array({"reference-3: may load the storage: left out (--yes does it)"});
    write_text(rows_, rows.dump());
    std::filesystem::remove(model_);
    const Finished other = calibrate({"--set-size", "64MiB"});
    EXPECT_EQ(other.exit_code, 2) << other.text();
    EXPECT_THAT(other.err, HasSubstr("nas.measured.json: was begun with files of "));
    const Finished done = calibrate();
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_THAT(done.err, HasSubstr("goes on from the "));
    EXPECT_THAT(done.err, Not(HasSubstr("ladder-64: ")));
    EXPECT_THAT(done.err, HasSubstr("reference-3: "));
    EXPECT_EQ(read_json(model_)["node"], model["node"]);
    EXPECT_THAT(done.out, Not(HasSubstr("left out"))) << "it was done now";
    EXPECT_TRUE(read_json(rows_)["left_out"].empty());
}

TEST_F(Calibrate, DoesNotGoOnWithOtherSeatsOnAStorage) {
    ASSERT_EQ(calibrate().exit_code, 0);
    Json rows = read_json(rows_);
    rows["complete"] = false;
    rows["held_back"] = nullptr;
    rows["target"] = target();
    rows["seats"] = 2;
    write_text(rows_, rows.dump());
    std::filesystem::remove(model_);
    const Finished done = streamsim({"calibrate", target(), "-o", model_, "--duration", "1s"});
    EXPECT_EQ(done.exit_code, 2) << done.text();
    EXPECT_THAT(done.err, HasSubstr("nas.measured.json: was begun with 2 seats, and 1 seat would go on"));
    EXPECT_EQ(read_text(rows_), rows.dump());
    EXPECT_FALSE(std::filesystem::exists(model_));
}

TEST_F(Calibrate, ChecksAModelAgainstANewRun) {
    ASSERT_EQ(calibrate().exit_code, 0);
    EXPECT_EQ(calibrate({"--check"}).exit_code, 0);
    // A model of a storage that was four times as fast; the title is the user's.
    Json model = read_json(model_);
    for (const char* key : {"value", "low"})
        model["node"]["front_end"]["bits_per_s"][key] =
            model["node"]["front_end"]["bits_per_s"][key].get<double>() * 4;
    for (const char* key : {"value", "low"})
        model["client"]["link"]["bits_per_s"][key] =
            model["client"]["link"]["bits_per_s"][key].get<double>() * 4;
    model["title"] = "Our NAS";
    write_text(model_, model.dump());
    const Finished done = calibrate({"--check"});
    EXPECT_EQ(done.exit_code, 1) << done.text();
    EXPECT_THAT(done.out, HasSubstr("REJECTED"));
    EXPECT_TRUE(read_json(model_)["calibration"]["held_back"]["rejected"]);
    EXPECT_EQ(read_json(model_)["title"], "Our NAS") << "the user's document stays as it is";
}

TEST_F(Calibrate, OnlyARunThatChecksTheModelReplacesThatOfItsRows) {
    ASSERT_EQ(calibrate().exit_code, 0);
    const std::string rows = read_text(rows_);
    const std::string text = read_text(model_);
    Json model = Json::parse(text);
    model.erase("calibration");
    write_text(model_, model.dump());
    const Finished none = calibrate({"--check", "--prores-hd"});
    EXPECT_EQ(none.exit_code, 2) << none.text();
    EXPECT_THAT(none.err, HasSubstr("it is no calibrated model"));
    EXPECT_EQ(read_text(rows_), rows);
    write_text(model_, text);
    EXPECT_LE(calibrate({"--check", "--prores-hd"}).exit_code, 1);
    EXPECT_EQ(read_json(rows_)["held_back"]["format"], "prores-hd");
}

TEST_F(Calibrate, LoadAboveTheGivenShareIsLeftOutWithoutAPerson) {
    const Finished done = calibrate({"--max-load", "50%"});
    EXPECT_THAT(done.err, HasSubstr("left out (--yes does it)")) << done.text();
    EXPECT_FALSE(read_json(rows_)["left_out"].empty());
}

TEST_F(Calibrate, ACheckWhoseRunMayNotPlayIsAnError) {
    ASSERT_EQ(calibrate().exit_code, 0);
    const std::string model = read_text(model_);
    Json with_run = read_json(rows_);
    Json without_run = with_run;
    without_run["held_back"] = nullptr;
    for (const Json& rows : {with_run, without_run}) {
        write_text(rows_, rows.dump());
        const Finished done = calibrate({"--check", "--max-load", "50%"});
        EXPECT_EQ(done.exit_code, 3) << done.text();
        EXPECT_THAT(done.err, HasSubstr("nothing is checked"));
        EXPECT_THAT(done.err, Not(HasSubstr("what was measured so far"))) << "a check measures no probes";
        EXPECT_EQ(read_text(model_), model);
        EXPECT_EQ(read_text(rows_), rows.dump());
    }
}

TEST_F(Calibrate, WrongRowsAreNamedByTheirPlace) {
    write_text(rows_, R"({"schema": "streamsim.measurement", "version": 1, "target": 7})");
    const Finished done = calibrate();
    EXPECT_EQ(done.exit_code, 2) << done.text();
    EXPECT_THAT(done.err, HasSubstr("nas.measured.json: /target: "));
    EXPECT_THAT(done.err, HasSubstr("nas.measured.json: /rows: missing"));
}

TEST_F(Calibrate, RowsWithMoreInFlightThanAnyProbeAreRefused) {
    ASSERT_EQ(calibrate().exit_code, 0);
    Json rows = read_json(rows_);
    Json& probe = rows["rows"][5]["probe"];
    probe["seats"] = 65536;
    probe["users"] = 1;
    probe["inflight"] = 65536;
    write_text(rows_, rows.dump());
    const Finished one = calibrate({"--refit"});
    EXPECT_EQ(one.exit_code, 2) << one.text();
    EXPECT_THAT(one.err,
                HasSubstr("nas.measured.json: /rows/5/probe/seats: expected 1, but for probes of seats"));
    probe["kind"] = "seats";
    write_text(rows_, rows.dump());
    const Finished many = calibrate({"--refit"});
    EXPECT_EQ(many.exit_code, 2) << many.text();
    EXPECT_THAT(many.err, HasSubstr("/rows/5/probe/inflight: expected at most 6400000 for all seats"));
}

TEST_F(Calibrate, WrongUsageIsRefused) {
    EXPECT_EQ(streamsim({"calibrate", "sim:nfs-generic"}).exit_code, 2);
    EXPECT_EQ(streamsim({"calibrate", "sim:null", "-o", model_}).exit_code, 2);
    EXPECT_EQ(streamsim({"calibrate", "sim:nfs-generic", "-o", "-"}).exit_code, 2);
    EXPECT_EQ(calibrate({"--refit", "--again"}).exit_code, 2);
    const Finished both = calibrate({"--json", dir_ / "./nas.json"});
    EXPECT_EQ(both.exit_code, 2);
    EXPECT_THAT(both.err, HasSubstr("nas.json' is where --output goes already: name another file"));
    EXPECT_FALSE(std::filesystem::exists(rows_)) << "nothing was measured before it was found";
    const Finished none = calibrate({"--refit"});
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_THAT(none.err, HasSubstr("there are no raw rows"));
    write_text(model_, "mine");
    EXPECT_EQ(calibrate({"--again"}).exit_code, 2) << "a file that is no model is not replaced";
    EXPECT_EQ(read_text(model_), "mine");
}

}  // namespace
}  // namespace streamsim::tests
