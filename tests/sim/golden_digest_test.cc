// The same scenario and seed give the same digests in every build: release, address and undefined-behaviour
// sanitizers, thread sanitizer. Each build runs these, and the values are written down here once for all.
//
// They change whenever a model's number, a format's frame sizes or the way of a read through the model changes,
// on purpose: then they are printed by the failing test, and are to be the same in all builds.
//
// The digests stay equal for these reasons. Times, sizes and rates are integers once a model is read. Floating
// point makes some of them on the way (chances, seeks, zones, costs): by +, -, *, / and sqrt, which IEEE 754
// rounds the same everywhere, without contraction to fused operations (the build forbids it), and never by exp,
// log or pow, whose last bit is the library's (exponential tails are drawn by comparisons of uniform numbers,
// base/prng.cc). Each random number is seeded by the request that it belongs to. No container whose
// order is the machine's is walked.
#include <gmock/gmock.h>

#include "unit/run/play_document.h"

namespace streamsim::test {
namespace {

std::string scenario(const std::string& seats, const std::string& more = "") {
    return R"({"schema": "streamsim.scenario", "version": 1, "duration": "6s", "seed": 5, "seats": [)" + seats +
           "]" + more + "}";
}

struct Golden {
    const char* name;
    std::string document;
    const char* digest;
    const char* timing_digest;
    bool plays;
};

void PrintTo(const Golden& golden, std::ostream* out) {
    *out << golden.name;
}

const Golden kGolden[] = {
    {"h500_prores",
     scenario(
         R"({"count": 3, "target": "sim:h500?nodes=2", "streams": [{"format": "prores-uhd", "count": 3}]})"),
     "8a5d4b4e62ad4fd5205a706ca89a7265", "7a7def2844409d2f1c7267cc0220ae11", true},
    {"h500_sequences_too_many", scenario(R"({"count": 2, "target": "sim:h500?nodes=1", "streams": [
         {"format": "dpx10", "count": 2}, {"format": "prores-hd", "order": "random"}]})"),
     "3e0b9445a911a4708af52c9426d1abe0", "4538a9950b40eac55c38c2b7e352cdf5", false},
    {"f800_sequences",
     scenario(R"({"count": 4, "target": "sim:f800?nodes=4", "streams": [{"format": "dpx12", "count": 2}]})"),
     "66c6c55c11253937bd08ce88fa609e13", "6e070fb08487a223d28703af0220a28a", true},
    {"f800_warm_hold", scenario(R"({"count": 2, "target": "sim:f800?cache=warm", "streams": [
         {"format": "dpx10", "count": 3, "on_miss": "hold"}]})"),
     "3b42c93fa23d44d4203211ccf480f4c2", "d00c03132885e052a4d26ce3955aed5a", false},
    {"own_document_with_every_fault",
     scenario(R"({"count": 4, "target": "sim:)" STREAMSIM_SOURCE_DIR R"(/tests/sim/user_cluster.json",
         "one_more_every": "200ms", "streams": [{"format": "prores-hd", "count": 4}, {"format": "dpx10"}]})",
              R"(, "faults": [
         {"kind": "drive-dies", "at": "1s", "node": 1, "drive": 2},
         {"kind": "cache-flush", "at": "1500ms"},
         {"kind": "link-slows", "at": "2s", "for": "400ms", "node": 0, "factor": 0.1},
         {"kind": "throughput-gap", "at": "3s", "for": "500ms"},
         {"kind": "delays", "at": "3600ms", "for": "200ms", "delay": "30ms", "probability": 0.5},
         {"kind": "node-lost", "at": "4s", "node": 2, "failover": "300ms"},
         {"kind": "errors", "at": "5s", "for": "100ms", "error": "EIO", "seat": 1}])"),
     "32fe3c79d9c8a305591218cc88f20861", "6ca5fc7c77a1bef0f03e3b06656c5943", false},
};

class GoldenDigest : public testing::TestWithParam<Golden> {};

TEST_P(GoldenDigest, IsTheSameInEveryBuildAndEveryRun) {
    const Golden& golden = GetParam();
    for (int i = 0; i < 2; ++i) {
        const RunResult result = play_document(golden.document);
        EXPECT_EQ(result.digest, golden.digest);
        EXPECT_EQ(result.timing_digest, golden.timing_digest);
        EXPECT_EQ(result.verdict.pass, golden.plays) << "so that there is something to differ";
    }
}

INSTANTIATE_TEST_SUITE_P(Runs, GoldenDigest, testing::ValuesIn(kGolden));

}  // namespace
}  // namespace streamsim::test
