// Invariants of what is written about a run: results read back, cut journals, reports.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/prng.h"
#include "result/json_report.h"
#include "result/result_reader.h"
#include "worlds/invariants.h"

namespace streamsim::worlds {
namespace {

void check_read_back(const Seen& seen, Findings& findings) {
    const std::string text = result::json_report(seen.result);
    const auto again = result::read_result(text, "world.json");
    if (!findings.expect(again.has_value(), "a result is not read back: {}", {problem_of(again)})) return;
    const std::string written = result::json_report(*again);
    if (written == text) return;
    const auto differs = std::ranges::mismatch(text, written);
    const auto at = static_cast<std::size_t>(differs.in1 - text.begin());
    const std::size_t from = at - std::min<std::size_t>(at, 60);
    findings.add("a result that was read and written again differs at byte {}: '{}' and '{}'",
                 {at, text.substr(from, 120), written.substr(from, 120)});
}

void check_cut(const Seen& seen, Findings& findings) {
    if (seen.world.seed % 4 != 0) return;
    const std::string text = result::json_report(seen.result);
    Prng prng(seen.world.seed);
    for (int i = 0; i < 3; ++i) {
        const std::size_t end = i == 0 ? text.size() - 2 : prng.below(text.size() - 1);
        const auto cut = result::read_result(text.substr(0, end), "cut.json");
        findings.expect(!cut.has_value(), "a result of {} bytes that was cut at byte {} is read as whole",
                        {text.size(), end});
    }
}

constexpr Invariant kInvariants[] = {
    {"result-reads-back", "a result that is written, read and written again is the same text",
     "result_reader.h", check_read_back},
    {"cut-is-not-whole", "a result that was cut at any byte is never read as whole", "results.md; journal.h",
     check_cut},
};

}  // namespace

std::span<const Invariant> document_invariants() {
    return kInvariants;
}

}  // namespace streamsim::worlds
