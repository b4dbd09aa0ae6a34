// Damaged scenarios: by chance, seeded. Whatever is in the file, it is read or refused, and never read as
// something that cannot be played.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/document/json.h"
#include "base/prng.h"
#include "unit/scenario/words.h"

namespace streamsim::scenario {
namespace {

std::vector<std::string> documents() {
    std::vector<std::string> out;
    for (const char* name : {"morning", "fault-node-lost", "fault-link-slows", "errors-null", "f800-ior-n-1"}) {
        std::ifstream in(std::string(STREAMSIM_SOURCE_DIR "/formats/scenario/") + name + ".json");
        out.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
        EXPECT_FALSE(out.back().empty()) << name;
    }
    return out;
}

/// The rules that hold for every scenario that was read without a mistake.
void expect_playable(const Scenario& scenario) {
    EXPECT_GT(scenario.duration.ns, 0);
    EXPECT_FALSE(scenario.seats.empty());
    for (const ScenarioSeats& seats : scenario.seats) {
        EXPECT_FALSE(seats.streams.empty());
        EXPECT_LE(seats.end, scenario.duration);
        for (const ScenarioStreams& streams : seats.streams) {
            const std::uint32_t seat = seats.count - 1;
            EXPECT_GE(seats.start_of(0, streams, 0).ns, 0);
            EXPECT_LT(seats.start_of(seat, streams, streams.count - 1), seats.end_of(seat, streams));
        }
    }
    for (const ScenarioFault& fault : scenario.faults) EXPECT_LT(fault.at, scenario.duration);
}

/// Another value at a place by chance.
void mutate(Json& value, Prng& prng) {
    static const char* const kValues[] = {"null",
                                          "true",
                                          "0",
                                          "-1",
                                          "1",
                                          "2.5",
                                          "1e300",
                                          "18446744073709551615",
                                          "\"\"",
                                          "[]",
                                          "{}",
                                          "[1,2,3]",
                                          "\"1s\"",
                                          "\"0s\"",
                                          "\"10000h\"",
                                          "\"9223372036s\"",
                                          "100000",
                                          "\"x\"",
                                          "\"sim:null\"",
                                          "\"/mnt\"",
                                          "\"max\""};
    if (value.is_structured() && !value.empty() && prng.below(5) != 0) {
        auto at = value.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(prng.below(value.size())));
        mutate(*at, prng);
    } else {
        value = Json::parse(kValues[prng.below(std::size(kValues))]);
    }
}

TEST(DamagedScenario, ValuesThatAreWrongAreRefused) {
    Prng prng(20'260'801);
    std::size_t read = 0;
    for (const std::string& text : documents()) {
        for (int i = 0; i < 3000; ++i) {
            Json document = Json::parse(text);
            for (std::uint64_t times = 1 + prng.below(3); times > 0; --times) mutate(document, prng);
            const auto scenario = read_scenario(document.dump(), "x", test::words());
            if (!scenario) {
                EXPECT_FALSE(scenario.error().problems.empty());
                continue;
            }
            expect_playable(*scenario);
            ++read;
        }
    }
    EXPECT_GT(read, 100u) << "not all damage makes a document wrong";
}

TEST(DamagedScenario, BytesThatAreWrongAreRefused) {
    Prng prng(7);
    for (const std::string& text : documents()) {
        for (int i = 0; i < 1000; ++i) {
            std::string damaged = text;
            for (std::uint64_t times = 1 + prng.below(4); times > 0; --times) {
                damaged[prng.below(damaged.size())] = static_cast<char>(prng.below(256));
            }
            if (prng.below(4) == 0) damaged.resize(prng.below(damaged.size()));
            const auto scenario = read_scenario(damaged, "x", test::words());
            if (scenario) expect_playable(*scenario);
        }
    }
}

}  // namespace
}  // namespace streamsim::scenario
