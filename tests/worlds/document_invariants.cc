// Invariants of what is written about a run: results read back, cut journals, reports.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.h"
#include "report/csv/csv_report.h"
#include "report/html/html_report.h"
#include "report/junit/junit_report.h"
#include "report/text/text_report.h"
#include "result/json_report.h"
#include "result/merge.h"
#include "result/result_reader.h"
#include "seats/journal.h"
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

std::size_t times_in(std::string_view part, std::string_view text) {
    std::size_t times = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++times;
    return times;
}

/// Characters of UTF-8.
std::size_t columns_of(std::string_view line) {
    return static_cast<std::size_t>(std::ranges::count_if(
        line, [](char each) { return (static_cast<unsigned char>(each) & 0xc0) != 0x80; }));
}

void check_text(const Seen& seen, Findings& findings) {
    const std::string screen = report::text_report(seen.result, report::TextDetail::screen, false);
    const bool pass = seen.result.verdict.pass;
    if (!seen.result.interrupted)
        findings.expect(screen.find(pass ? "DOES NOT" : "PLAYS:") == std::string::npos,
                        "the text says another verdict: {}", {screen.substr(0, 100)});
    std::size_t lines = 0;
    for (std::size_t begin = 0; begin < screen.size(); ++lines) {
        const std::size_t end = std::min(screen.find('\n', begin), screen.size());
        const std::string_view line = std::string_view(screen).substr(begin, end - begin);
        findings.expect(columns_of(line) <= 80, "a line of a screen has {} columns: {}",
                        {columns_of(line), line});
        begin = end + 1;
    }
    findings.expect(lines <= 24, "a screen has {} lines", {lines});
}

void check_reports(const Seen& seen, Findings& findings) {
    if (seen.world.seed % 8 != 0) return;
    check_text(seen, findings);
    findings.expect(!report::text_report(seen.result, report::TextDetail::full, true).empty(), "an empty text");
    std::size_t rows = 0;
    report::csv_report(seen.result, [&](std::string_view text) { rows += times_in("\r\n", text); });
    findings.equal(rows, seen.result.frames.size() + 1, "rows of the CSV file, and frames with the header");
    const std::string html = report::html_report(seen.result);
    findings.expect(html.find(seen.result.digest) != std::string::npos, "the page lacks the digest");
    const std::string junit = report::junit_report(seen.result);
    findings.expect(times_in("<testcase", junit) >= seen.result.streams.size(), "{} test cases of {} streams",
                    {times_in("<testcase", junit), seen.result.streams.size()});
    findings.expect(seen.result.verdict.pass || times_in("<failure", junit) + times_in("<error", junit) > 0,
                    "it does not play, and no test case fails");
}

/// A disk on which files have at most so many bytes.
class SmallDisk {
public:
    explicit SmallDisk(std::uint64_t bytes) {
        signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before_);
        rlimit now = before_;
        now.rlim_cur = bytes;
        setrlimit(RLIMIT_FSIZE, &now);
    }
    ~SmallDisk() { setrlimit(RLIMIT_FSIZE, &before_); }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

private:
    rlimit before_{};
};

std::string text_of_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void check_journal_in(const std::filesystem::path& folder, const Seen& seen, Findings& findings) {
    const std::string path = (folder / "seat-0-world.json").string();
    RunResult result = seen.result;
    result::become_part("world", 1, SeatResult{.rank = 0, .seats = {0}}, result);
    auto journal = seats::Journal::open(path, result, [](const std::string&) {});
    if (!findings.expect(journal.has_value(), "a journal cannot be opened")) return;
    const std::string earlier = text_of_file(path);
    const std::string whole = result::json_report(result);
    Prng prng(seen.world.seed);
    const std::uint64_t room = prng.below(whole.size() + whole.size() / 4);
    std::vector<std::string> problems;
    {
        const SmallDisk disk(room);
        problems = (*journal)->finish(result);
    }
    const bool fits = room >= whole.size();
    findings.expect(problems.empty() == fits,
                    "a journal of {} bytes on a disk with room for {}: {} problems are told",
                    {whole.size(), room, problems.size()});
    findings.expect(
        text_of_file(path) == (fits ? whole : earlier),
        "a journal of {} bytes on a disk with room for {} is neither the earlier one nor the new one",
        {whole.size(), room});
    const auto files =
        std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
    findings.expect(files == 1, "{} files beside each other where one journal is",
                    {static_cast<std::int64_t>(files)});
}

void check_journal(const Seen& seen, Findings& findings) {
    if (seen.world.seed % 16 != 3) return;
    std::string folder = (std::filesystem::temp_directory_path() / "worlds-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) return;
    check_journal_in(folder, seen, findings);
    std::filesystem::remove_all(folder);
}

constexpr Invariant kInvariants[] = {
    {"result-reads-back", "a result that is written, read and written again is the same text",
     "result_reader.h", check_read_back},
    {"cut-is-not-whole", "a result that was cut at any byte is never read as whole", "results.md; journal.h",
     check_cut},
    {"reports-say-the-same",
     "text, page, CSV and JUnit say what the result says; a screen has 24 lines of 80 columns",
     "results.md; text_report.h", check_reports},
    {"journal-is-whole", "a journal on a disk that is full is the earlier one, whole, with nothing beside it",
     "journal.h; whole_file.h", check_journal},
};

}  // namespace

std::span<const Invariant> document_invariants() {
    return kInvariants;
}

}  // namespace streamsim::worlds
