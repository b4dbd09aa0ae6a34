// The readers of storage models, scenarios and workloads, and the JSON schemas that ship: what one refuses the
// other does. Documents that say everything are changed in one place at a time; the readers judge here, the
// schemas in schema_agreement.py, which knows JSON Schema.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "base/document/json.h"
#include "run/purchase/purchase_search.h"
#include "run/scenario_run.h"
#include "scenario/published_document.h"
#include "scenario/workload_document.h"
#include "sim/model/model_document.h"

namespace streamsim::test {
namespace {

const std::string kSource = STREAMSIM_SOURCE_DIR;

std::string text_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    EXPECT_FALSE(text.str().empty()) << path;
    return text.str();
}

/// The problems that a reader has with a text; none: it was read.
using Reader = std::vector<std::string> (*)(const std::string& text);

std::vector<std::string> problems_of_model(const std::string& text) {
    const auto model = sim::read_model_document(text, "m.json");
    return model ? std::vector<std::string>{} : model.error().problems;
}

std::vector<std::string> problems_of_scenario(const std::string& text) {
    static const auto catalogue = media::Catalogue::load(kSource + "/formats/media");
    static const scenario::ScenarioWords words = [] {
        scenario::ScenarioWords all = run::scenario_words(*catalogue, kSource + "/formats");
        all.target_of_command = "sim:null";
        return all;
    }();
    const auto scenario = scenario::read_scenario(text, "s.json", words);
    return scenario ? std::vector<std::string>{} : scenario.error().problems;
}

std::vector<std::string> problems_of_workload(const std::string& text) {
    const auto workload = scenario::read_workload(text, "w.json");
    return workload ? std::vector<std::string>{} : workload.error().problems;
}

std::vector<std::string> problems_of_published(const std::string& text) {
    const auto paper = scenario::read_published(text, "p.json");
    return paper ? std::vector<std::string>{} : paper.error().problems;
}

std::vector<std::string> problems_of_need(const std::string& text) {
    const auto need = run::read_purchase_need(text, "n.json", kSource + "/formats");
    return need ? std::vector<std::string>{} : need.error().problems;
}

/// The words between quotes in a reader's source that could be keys.
std::set<std::string> words_in(const std::string& path) {
    std::set<std::string> words;
    const std::string text = text_of(path);
    static const std::regex word("\"([a-z][a-z0-9_]*)\"");
    for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) words.insert((*at)[1]);
    return words;
}

class SchemaAgreement : public testing::Test {
protected:
    SchemaAgreement()
        : path_(testing::TempDir() + "schema_agreement." + std::to_string(getpid())), out_(path_) {}
    ~SchemaAgreement() override { std::filesystem::remove(path_); }

    void judge(const std::string& what, const Json& document) {
        const std::vector<std::string> problems = reader_(document.dump());
        out_ << Json{{"schema", schema_},
                     {"what", what},
                     {"document", document},
                     {"refused", !problems.empty()},
                     {"problems", problems}}
                    .dump()
             << '\n';
    }

    /// Each place below this one changed in each way, one at a time.
    void change_everywhere(const Json& document, const std::string& below = "") {
        const Json flat = document.flatten();
        std::set<std::string> inner;  // objects and lists
        for (const auto& [pointer, value] : flat.items()) {
            if (!pointer.starts_with(below)) continue;
            change_at(document, pointer);
            for (std::size_t at = pointer.rfind('/'); at != std::string::npos && at > 0;
                 at = pointer.rfind('/', at - 1)) {
                inner.insert(pointer.substr(0, at));
            }
        }
        for (const std::string& pointer : inner) change_at(document, pointer);
        if (below.empty()) inner.insert("");
        for (const std::string& pointer : inner) {
            const Json::json_pointer at(pointer);
            if (!document[at].is_object()) continue;
            Json more = document;
            more[at]["colour"] = 1;
            judge(pointer + "/colour added", more);
            say_known(document, pointer);
        }
    }

    void change_at(const Json& document, const std::string& pointer) {
        const Json::json_pointer at(pointer);
        Json less = document;
        Json& parent = less[at.parent_pointer()];
        if (parent.is_object()) {
            parent.erase(at.back());
            judge(pointer + " left out", less);
        }
        for (const Json& other : {Json(), Json(true), Json("x"), Json(""), Json("1 ms"), Json("1ms"),
                                  Json("1 MiB"), Json("1.5MiB"), Json("0"), Json(-1), Json(0), Json(2.5),
                                  Json(std::uint64_t{1} << 63), Json::array(), Json::object()}) {
            Json changed = document;
            changed[at] = other;
            judge(pointer + " is " + other.dump(), changed);
        }
    }

    /// Which of all words the reader takes for a key of this object.
    void say_known(const Json& document, const std::string& pointer) {
        const Json::json_pointer at(pointer);
        constexpr std::size_t kAtOnce = 5;  // readers tell the first problems of many
        std::set<std::string> known;
        for (const auto& [key, value] : document[at].items()) known.insert(key);
        Json some = document;
        std::set<std::string> tried;
        const auto try_them = [&] {
            known.insert(tried.begin(), tried.end());
            for (const std::string& problem : reader_(some.dump())) {
                static const std::regex unknown("^[a-z]\\.json: (.*)/([^/]*): unknown key");
                std::smatch match;
                if (std::regex_search(problem, match, unknown) && match[1] == pointer) known.erase(match[2]);
            }
            some = document;
            tried.clear();
        };
        for (const std::string& word : words_) {
            if (document[at].contains(word)) continue;
            some[at][word] = nullptr;
            tried.insert(word);
            if (tried.size() == kAtOnce) try_them();
        }
        try_them();
        out_ << Json{{"schema", schema_}, {"pointer", pointer}, {"document", document}, {"known", known}}.dump()
             << '\n';
    }

    void compare() {
        out_.close();
        const std::string command = fmt::format(
            "python3 '{0}/tests/unit/run/schema_agreement.py' "
            "'{0}/formats/schema' '{1}'",
            kSource, path_);
        FILE* const pipe = popen(command.c_str(), "r");
        ASSERT_NE(pipe, nullptr);
        std::string said;
        char buffer[4096];
        while (const std::size_t got = fread(buffer, 1, sizeof buffer, pipe)) said.append(buffer, got);
        const int status = pclose(pipe);
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        if (code == 77 || code == 127) GTEST_SKIP() << "needs python3 with jsonschema: " << said;
        EXPECT_EQ(code, 0) << said;
    }

    std::string schema_;
    Reader reader_ = nullptr;
    std::set<std::string> words_;

private:
    std::string path_;
    std::ofstream out_;
};

TEST_F(SchemaAgreement, OfStorageModels) {
    schema_ = "storage-model";
    reader_ = problems_of_model;
    for (const char* file :
         {"model_document.cc", "number_reader.h", "number_reader.cc", "calibration_facts.cc"})
        words_.merge(words_in(kSource + "/src/sim/model/" + file));
    for (const auto& entry : std::filesystem::directory_iterator(kSource + "/formats/storage")) {
        const Json document = Json::parse(text_of(entry.path()));
        EXPECT_TRUE(problems_of_model(document.dump()).empty());
        judge(entry.path().filename(), document);
    }
    change_everywhere(Json::parse(text_of(kSource + "/tests/sim/user_cluster.json")));
    change_everywhere(Json::parse(text_of(kSource + "/formats/storage/f800.json")), "/drive");
    const Json writes = Json::parse(text_of(kSource + "/formats/storage/cvs.json"));
    for (const char* below : {"/node/metadata", "/node/journal", "/page_bytes", "/protection_drives",
                              "/client/connection_write_bytes_per_s"})
        change_everywhere(writes, below);
    Json calibrated = Json::parse(text_of(kSource + "/tests/sim/calibrated.json"));
    calibrated["node"]["read_lines"] = Json::parse(R"({
        "lines": {"value": 12, "basis": "assumed: for the test"},
        "bytes_per_s": {"value": 9e7, "low": 8e7, "high": 1e8, "basis": "assumed: for the test"},
        "access": {"median": {"value": "1ms", "basis": "assumed: for the test"}}})");
    calibrated["calibration"]["held_back"]["at_least"] = "no more clips may be made";
    EXPECT_EQ(problems_of_model(calibrated.dump()), std::vector<std::string>{});
    for (const char* below : {"/node/response", "/node/other_load", "/node/read_lines", "/node/front_end",
                              "/client/link", "/client/cores", "/calibration"})
        change_everywhere(calibrated, below);
    compare();
}

/// Everything that a scenario on a model can say.
Json largest_scenario() {
    return Json::parse(R"({
        "schema": "streamsim.scenario", "version": 1, "description": "everything", "seed": 7, "duration": "60s",
        "before_step": {"command": "flush", "counters": "count", "timeout": "5s"},
        "seats": [
            {"count": 4, "target": "sim:h500", "node": [0, 1], "start": "1s",
             "one_more_every": "1s", "stop": "50s",
             "link": {"bits_per_s": 1e9, "efficiency": 0.9, "latency": "1ms"},
             "streams": [{"format": "dpx10", "count": 2, "media": "same", "clip_duration": "5s", "layers": 2,
                          "audio": false, "order": "random", "pattern": "on-demand", "on_miss": "hold",
                          "readahead": 4, "inflight": 3, "io_size": "2MiB", "io_depth": 4, "fps": "25",
                          "frames": 100, "start": "1s", "one_more_every": "500ms", "stop": "30s"}]},
            {"target": "sim:h500", "node": 2, "streams": [{"format": "prores-hd"}]}],
        "faults": [
            {"kind": "throughput-gap", "at": "4s", "for": "500ms"},
            {"kind": "silence", "at": "5s", "for": "500ms"},
            {"kind": "delays", "at": "6s", "for": "1s", "delay": "20ms", "seat": 0, "stream": 1,
             "probability": 0.5},
            {"kind": "errors", "at": "8s", "for": "1s", "error": "EIO"},
            {"kind": "drive-dies", "at": "10s", "node": 0, "drive": 3},
            {"kind": "link-slows", "at": "15s", "for": "2s", "node": 1, "factor": 0.5},
            {"kind": "cache-flush", "at": "18s", "node": 2},
            {"kind": "node-lost", "at": "20s", "node": 3, "failover": "2s"}],
        "expect": {"effect": "much", "plays": false, "limit": "storage", "dropped": [1, 100], "late": [0, 9],
                   "failed": [0, 9], "stalls": [0, 9]}})");
}

TEST_F(SchemaAgreement, OfScenarios) {
    schema_ = "scenario";
    reader_ = problems_of_scenario;
    for (const auto& entry : std::filesystem::directory_iterator(kSource + "/src/scenario")) {
        if (entry.path().extension() == ".cc") words_.merge(words_in(entry.path()));
    }
    for (const auto& entry : std::filesystem::directory_iterator(kSource + "/formats/scenario")) {
        const Json document = Json::parse(text_of(entry.path()));
        EXPECT_TRUE(problems_of_scenario(document.dump()).empty());
        judge(entry.path().filename(), document);
    }
    EXPECT_EQ(problems_of_scenario(largest_scenario().dump()), std::vector<std::string>{});
    change_everywhere(largest_scenario());
    compare();
}

/// Everything that a workload can say, but for what excludes each other.
Json largest_workload() {
    return Json::parse(R"({
        "schema": "streamsim.workload", "version": 1, "name": "all", "title": "All", "description": "much",
        "basis": "none", "target": "sim:f800", "clients": 3, "duration": "60s", "report": "curve",
        "before_step": {"command": "flush", "counters": "count", "timeout": "5s"},
        "sweep": {"over": "operations_per_s", "values": [100, 200]},
        "printed": [{"at": 100, "quantity": "latency_ms", "value": 0.8, "source": "nobody"},
                    {"at": "peak", "model": "h600", "quantity": "bytes_per_s", "value": 2, "source": "nobody"}],
        "meters": [
            {"name": "office", "users": 4, "loop": "open", "arrival": "poisson", "operations_per_s": 54,
             "inflight": 7, "operations": {"read": 1, "write": 2, "open": 3, "stat": 4, "create": 5,
             "remove": 6, "rename": 7, "list": 8}, "random_percent": 25, "sequential_from": "anywhere",
             "random_unit": "block", "non_repeating": true,
             "blocks": [{"bytes": "4KiB", "weight": 3}, {"bytes": "64kB"}],
             "lengths": [{"bytes": "2MiB", "weight": 2}, {"bytes": "1MB"}],
             "files": {"count": 9, "bytes": "4GiB", "directories": 3, "spare": 5, "shared": true},
             "direct": false, "sync": "each-write", "one_more_every": "500ms", "start": "1s", "end": "50s",
             "burst": 12},
            {"name": "copy", "loop": "closed", "operations_per_s": 10, "operations": {"write": 1},
             "blocks": "1MB", "lengths": {"up_to": "10MB"}, "files": {"bytes": "1GiB"}, "sync": "at-end",
             "think_time": "20ms"},
            {"name": "render", "operations": {"read": 1, "write": 1}, "random_percent": 5, "whole_files": true,
             "blocks": "1MiB", "lengths": "3MiB", "writes": {"blocks": [{"bytes": "64KiB"}, {"bytes": "4KiB",
             "weight": 0}], "lengths": "2MiB"}, "files": {"count": 48, "bytes": "4MiB"}}]})");
}

TEST_F(SchemaAgreement, OfNeeds) {
    schema_ = "need";
    reader_ = problems_of_need;
    words_ = words_in(kSource + "/src/scenario/need_document.cc");
    for (const auto& entry : std::filesystem::directory_iterator(kSource + "/formats/need")) {
        const Json document = Json::parse(text_of(entry.path()));
        EXPECT_EQ(problems_of_need(document.dump()), std::vector<std::string>{});
        judge(entry.path().filename(), document);
    }
    const Json all = Json::parse(R"({
        "schema": "streamsim.need", "version": 1, "description": "everything", "seed": 7, "verify": "60s",
        "preroll_timeout": "5s", "hours_together": 8, "headroom": 10, "claim": "1 drop/day", "currency": "EUR",
        "plans": 3, "limits": {"price": 1000, "watts": 10},
        "seats": [{"count": 2, "streams": [{"format": "dpx10"}]}],
        "offers": [{"name": "one", "model": "h500", "price": 1, "watts": 2, "choices": [
            {"what": "nodes", "pointer": "/nodes", "values": [4, 5], "price_each": 1, "watts_each": 2},
            {"what": "drives", "pointer": "/node/drives", "from": 10, "to": 15, "step": 5, "per": "nodes"},
            {"what": "link", "pointer": "/client/link/bits_per_s", "per": "seats", "alternatives": [
                {"name": "slow", "value": 1e9, "price": 3, "watts": 4}]},
            {"what": "drive", "alternatives": [
                {"name": "slow", "price": 3, "set": {"/drive/rotations_per_s": 90}}]}]}]})");
    EXPECT_EQ(problems_of_need(all.dump()), std::vector<std::string>{});
    // Seats are those of scenarios; the numbers of a set may have any pointer.
    for (const char* below : {"/schema", "/version", "/description", "/seed", "/verify", "/preroll_timeout",
                              "/hours_together", "/headroom", "/claim", "/currency", "/plans", "/limits",
                              "/offers/0/name", "/offers/0/model", "/offers/0/price", "/offers/0/watts",
                              "/offers/0/choices/0", "/offers/0/choices/1", "/offers/0/choices/2"})
        change_everywhere(all, below);
    compare();
}

TEST_F(SchemaAgreement, OfPublishedResults) {
    schema_ = "published";
    reader_ = problems_of_published;
    words_ = words_in(kSource + "/src/scenario/published_document.cc");
    for (const auto& entry : std::filesystem::directory_iterator(kSource + "/formats/published")) {
        const Json document = Json::parse(text_of(entry.path()));
        EXPECT_TRUE(problems_of_published(document.dump()).empty());
        judge(entry.path().filename(), document);
    }
    Json one = Json::parse(text_of(kSource + "/formats/published/video.json"));
    one["rows"] = Json::array({one["rows"][0], one["rows"][12]});
    one["figures"] = Json::array({one["figures"][0], one["figures"][4]});
    one["figures"][1]["row"] = one["rows"][0]["id"];
    Json& fit = one["fit"];
    fit["parameters"] = Json::array({fit["parameters"][0]});
    fit["parameters"][0]["rows"] = Json::array({one["rows"][0]["id"]});
    fit["numbers"] = Json::array({fit["numbers"][0]});
    fit["numbers"][0]["terms"] = {{fit["parameters"][0]["name"], 1}};
    one["loads"] = Json::parse(R"([{"workload": "eda", "target": "sim:cvs", "duration": "2s", "steps": [1]}])");
    one["others"] = Json::array({one["others"][0]});
    EXPECT_EQ(problems_of_published(one.dump()), std::vector<std::string>{});
    // The terms of a number may have any name.
    for (const char* below :
         {"/rows", "/figures", "/loads", "/fit/parameters", "/others", "/fit/numbers/0/model",
          "/fit/numbers/0/pointer", "/fit/numbers/0/constant", "/name", "/title"})
        change_everywhere(one, below);
    compare();
}

TEST_F(SchemaAgreement, OfWorkloads) {
    schema_ = "workload";
    reader_ = problems_of_workload;
    for (const auto& entry : std::filesystem::directory_iterator(kSource + "/src/scenario")) {
        if (entry.path().extension() == ".cc") words_.merge(words_in(entry.path()));
    }
    words_.merge(words_in(kSource + "/include/streamsim/workload.h"));  // of operations
    for (const auto& entry : std::filesystem::directory_iterator(kSource + "/formats/workload")) {
        const Json document = Json::parse(text_of(entry.path()));
        EXPECT_TRUE(problems_of_workload(document.dump()).empty());
        judge(entry.path().filename(), document);
    }
    EXPECT_EQ(problems_of_workload(largest_workload().dump()), std::vector<std::string>{});
    change_everywhere(largest_workload());
    compare();
}

}  // namespace
}  // namespace streamsim::test
