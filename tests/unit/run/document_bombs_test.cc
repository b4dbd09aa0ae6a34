// Every kind of document, and 64 kB of what is meant to cost a reader more than that: what comes back is
// bounded. The bounds are of problems and bytes, not of time; a reader that is not linear is here for minutes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "address_sanitizer.h"
#include "base/document/problems.h"
#include "media/catalogue/format_document.h"
#include "media/cuts/cut_list.h"
#include "result/result_reader.h"
#include "run/scenario_run.h"
#include "scenario/workload_document.h"
#include "seats/seat_channel.h"
#include "sim/model/model_document.h"
#include "storage/fault/fault_plan.h"
#include "target/credentials.h"

namespace streamsim::run {
namespace {

constexpr std::size_t kBombBytes = 64'000;

std::string repeated(const std::string& text, std::size_t bytes = kBombBytes) {
    std::string out;
    out.reserve(bytes + text.size());
    while (out.size() < bytes) out += text;
    return out;
}

std::string array_of(const std::string& element) {
    return "[" + repeated(element + ",") + element + "]";
}

struct Kind {
    const char* name;
    std::string begins;                // an object of this kind, up to its first free member
    std::vector<std::string> members;  // that are lists or objects
    std::function<std::vector<std::string>(const std::string&)> problems;
};

template <typename T>
std::vector<std::string> problems_of(const Result<T>& read) {
    return read ? std::vector<std::string>() : read.error().problems;
}

std::vector<std::string> problems_of_scenario(const std::string& text) {
    static const auto catalogue = media::Catalogue::load(STREAMSIM_SOURCE_DIR "/formats/media");
    static const scenario::ScenarioWords words = scenario_words(*catalogue, STREAMSIM_SOURCE_DIR "/formats");
    return problems_of(scenario::read_scenario(text, "d.json", words));
}

std::vector<std::string> problems_of_credentials(const std::string& text) {
    const std::string path = testing::TempDir() + "streamsim-bomb-" + std::to_string(getpid());
    std::ofstream(path) << text;
    chmod(path.c_str(), 0600);
    auto problems = problems_of(target::find_credentials(*target::parse_target("smb://h/s"), path));
    std::remove(path.c_str());
    return problems;
}

std::vector<Kind> kinds() {
    const auto begins = [](const char* schema) {
        return fmt::format(R"({{"schema":"{}","version":1,)", schema);
    };
    return {
        {"format",
         begins("streamsim.media-format"),
         {"frame", "name", "rate", "layout"},
         [](const std::string& text) { return problems_of(media::read_format_document(text, "d.json")); }},
        {"family",
         begins("streamsim.media-family"),
         {"entries", "rates"},
         [](const std::string& text) { return problems_of(media::read_format_document(text, "d.json")); }},
        {"model",
         begins("streamsim.storage-model"),
         {"node", "nodes", "drive", "client"},
         [](const std::string& text) { return problems_of(sim::read_model_document(text, "d.json")); }},
        {"workload",
         begins("streamsim.workload"),
         {"meters", "sweep", "printed"},
         [](const std::string& text) { return problems_of(scenario::read_workload(text, "d.json")); }},
        {"scenario", begins("streamsim.scenario"), {"seats", "faults", "expect"}, problems_of_scenario},
        {"faults",
         begins("streamsim.faults"),
         {"rules", "stalls"},
         [](const std::string& text) { return problems_of(storage::read_fault_plan(text, "d.json")); }},
        {"result",
         begins("streamsim.result"),
         {"streams", "drops", "timeline", "seats", "host"},
         [](const std::string& text) { return problems_of(result::read_result(text, "d.json")); }},
        {"otio",
         R"({"OTIO_SCHEMA":"Timeline.1",)",
         {"tracks", "metadata", "global_start_time"},
         [](const std::string& text) { return problems_of(media::parse_cut_list(text, "d.otio")); }},
        {"edl",
         "",
         {},
         [](const std::string& text) { return problems_of(media::parse_cut_list(text, "d.edl")); }},
        {"credentials", "", {}, problems_of_credentials},
        {"invitation",
         "{",
         {"run", "addresses"},
         [](const std::string& text) { return problems_of(seats::JoinToken::parse(text)); }},
    };
}

/// Values; each takes the place of a member, and of a whole document.
std::vector<std::string> bombs() {
    std::string deep_twice = repeated("[", 900);  // long pointers
    deep_twice += "{" + repeated(R"("a":1,)") + R"("a":1})" + repeated("]", 900);
    std::string keys = "{";
    for (int i = 0; keys.size() < kBombBytes; ++i) keys += fmt::format(R"("k{}":0,)", i);
    return {
        "{" + repeated(R"("a":1,)") + R"("a":1})",
        deep_twice,
        keys + R"("k":0})",
        array_of("{}"),
        array_of("[]"),
        array_of("0"),
        array_of(R"({"a":1,"a":2})"),
        array_of(R"({"type":"x","name":"","count":-1})"),
        array_of("null"),
        repeated("[") + repeated("]"),
        repeated("["),
        repeated(R"({"a":)"),
        "\"" + repeated("x") + "\"",
        "\"" + repeated("x"),
        "\"" + repeated("\xc3\xa4") + "\"",
        repeated("9"),
        "1e" + repeated("9"),
        "0." + repeated("1"),
        R"({")" + repeated("k") + R"(":1,")" + repeated("k") + R"(":1})",
        std::string(kBombBytes, '\0'),
        repeated("\xff"),
    };
}

std::vector<std::string> line_bombs() {
    return {repeated("1\n"),
            repeated("001  AX V C\n"),
            repeated("001  AX V C 00:00:00:00 00:00:00:01 00:00:00:00 00:00:00:01\n"),
            repeated("001  AX V C 99:99:99:99 00:00:00:01 00:00:00:00 00:00:00:01\n"),
            repeated("M2 AX 025.0 00:00:00:00\n"),
            "001  " + repeated("A") + " V C 00:00:00:00 00:00:00:01 00:00:00:00 00:00:00:01\n",
            repeated("username\n"),
            repeated("x=")};
}

void expect_bounded(const Kind& kind, const std::string& text) {
    const auto problems = kind.problems(text);
    std::size_t bytes = 0;
    for (const std::string& problem : problems) bytes += problem.size();
    EXPECT_LE(problems.size(), kProblemsMax + 1) << kind.name << ": " << text.substr(0, 100);
    EXPECT_LE(bytes, (kProblemsMax + 1) * (kProblemBytesMax + 100)) << kind.name << ": " << text.substr(0, 100);
}

/// The most memory that this process has had.
std::int64_t memory_peak_kb() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

TEST(DocumentBombs, WhatAnyReaderSaysIsBounded) {
    const std::int64_t before_kb = memory_peak_kb();
    for (const Kind& kind : kinds()) {
        for (const std::string& bomb : bombs()) {
            expect_bounded(kind, bomb);
            for (const std::string& member : kind.members)
                expect_bounded(kind, fmt::format("{}\"{}\":{}}}", kind.begins, member, bomb));
        }
        for (const std::string& bomb : line_bombs()) expect_bounded(kind, bomb);
    }
    if (!kAddressSanitizer) EXPECT_LT(memory_peak_kb() - before_kb, 64'000);
}

TEST(DocumentBombs, TheFirstProblemsAreNamedAndTheOthersCounted) {
    const auto plan = storage::read_fault_plan(
        "{\"schema\":\"streamsim.faults\",\"version\":1,\"rules\":" + array_of(R"({"a":1})") + "}", "d.json");
    ASSERT_FALSE(plan);
    EXPECT_THAT(plan.error().problems.front(), testing::HasSubstr("d.json: /rules"));
    const auto twice = parse_json("{" + repeated(R"("a":1,)") + R"("a":1})", "d.json");
    ASSERT_FALSE(twice);
    ASSERT_EQ(twice.error().problems.size(), kProblemsMax + 1);
    EXPECT_EQ(twice.error().problems.front(), "d.json: /a: this key is given twice");
    EXPECT_THAT(twice.error().problems.back(),
                testing::MatchesRegex("d.json: and at least [0-9]+ more problems"));
}

}  // namespace
}  // namespace streamsim::run
