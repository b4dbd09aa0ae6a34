// The EBU's profiles on a file system that logs each read and write: the draws by counting, the tables by the
// source's formulas from the rows, and how many threads a client has. Chi-square bounds are those that a right
// program exceeds with a chance of 1 in 10,000; the seed is fixed, and how far its draws go depends on the
// computer. And a sweep over fill levels whose files are slow to remove, and a load on storage that hangs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "cli/csv_rows.h"
#include "cli/harness.h"
#include "real/sink_mount.h"
#include "real/slow_mount.h"
#include "unit/load/chi_square.h"

namespace streamsim::tests {
namespace {

using test::chi_square;
using ::testing::HasSubstr;

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kLongest = 10'240 * kKiB;
/// Files of 47 MiB instead of 100 GB.
constexpr const char* kScale = "0.0005";
constexpr std::uint64_t kFileBytes = 47ull << 20;

/// One transfer, from the rows of --csv and the lines of the log that belong to them.
struct Transfer {
    std::string seat, user, mode;
    std::uint64_t block_bytes = 0;   // as drawn
    std::uint64_t length_bytes = 0;  // as drawn
    std::vector<SinkBlock> blocks;   // as the file system saw them
    bool whole() const {
        std::uint64_t bytes = 0;
        for (const SinkBlock& block : blocks) bytes += block.bytes;
        return bytes == length_bytes;
    }
    bool contiguous() const {
        for (std::size_t i = 1; i < blocks.size(); ++i) {
            if (blocks[i].offset != blocks[i - 1].offset + blocks[i - 1].bytes) return false;
        }
        return true;
    }
    bool random() const { return mode.starts_with("rand"); }
    bool writes() const { return mode.ends_with("wr"); }
};

class EbuLoad : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto reason = no_slowfs_because()) GTEST_SKIP() << *reason;
        mount_ = std::make_unique<SinkMount>("blocks 1\n");
    }

    /// Plays a workload at kScale, with its files made before, and keeps what the file system saw of it.
    void play(const std::string& name, const std::vector<std::string>& options, const std::string& duration) {
        std::vector<std::string> words = {"run",  name,     mount_->path(), "--scale",
                                          kScale, "--seed", "20",           "--yes"};
        words.insert(words.end(), options.begin(), options.end());
        auto made = words;
        made.insert(made.end(), {"--duration", "100ms", "--quiet"});
        const Finished prepared = streamsim(made);
        ASSERT_EQ(prepared.exit_code, 0) << prepared.text();
        const std::size_t before = mount_->blocks().size();
        words.insert(words.end(), {"-v", "--duration", duration, "--csv", results_ / "rows.csv", "--json",
                                   results_ / "r.json"});
        played_ = streamsim(words);
        ASSERT_EQ(played_.exit_code, 0) << played_.text();
        rows_ = read_csv_rows(results_ / "rows.csv");
        blocks_ = mount_->blocks();
        blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(before));
        // The records of the media set are no files of the load.
        std::erase_if(blocks_, [](const SinkBlock& block) { return !block.path.ends_with("/f0.load"); });
    }

    /// The blocks of the file of one client, in the order of their begins.
    std::vector<SinkBlock> blocks_of(const std::string& seat) const {
        std::vector<SinkBlock> out;
        for (const SinkBlock& block : blocks_) {
            if (block.path.find("/s" + seat + "/") != std::string::npos) out.push_back(block);
        }
        std::ranges::sort(out, {}, &SinkBlock::begun_ns);
        return out;
    }

    /// The transfers of clients with one thread each: row i of a client is line i of its file in the log.
    std::vector<Transfer> transfers() const {
        std::map<std::string, std::vector<SinkBlock>> seen;
        std::map<std::string, std::size_t> next;
        std::vector<Transfer> out;
        std::map<std::pair<std::string, std::string>, std::size_t> at;
        for (const CsvRow& row : rows_) {
            const std::string& seat = row.at("seat");
            if (!seen.contains(seat)) seen[seat] = blocks_of(seat);
            const std::size_t line = next[seat]++;
            if (line >= seen[seat].size()) {
                ADD_FAILURE() << "client " << seat << " has more rows than " << line << " lines of the log";
                return {};
            }
            const SinkBlock& block = seen[seat][line];
            EXPECT_EQ(block.verb, row.at("operation")) << "row " << line << " of client " << seat;
            EXPECT_EQ(block.offset, std::stoull(row.at("offset"))) << "row " << line << " of client " << seat;
            EXPECT_EQ(block.bytes, std::stoull(row.at("bytes"))) << "row " << line << " of client " << seat;
            if (::testing::Test::HasFailure()) return {};
            const auto [found, fresh] = at.emplace(std::pair(seat, row.at("transfer")), out.size());
            if (fresh)
                out.push_back({seat,
                               row.at("user"),
                               row.at("mode"),
                               std::stoull(row.at("block_bytes")),
                               std::stoull(row.at("length_bytes")),
                               {}});
            out[found->second].blocks.push_back(block);
        }
        for (const auto& [seat, lines] : seen) EXPECT_EQ(next[seat], lines.size()) << "each block has a row";
        return out;
    }

    TempDir results_;
    std::unique_ptr<SinkMount> mount_;
    std::vector<CsvRow> rows_;
    std::vector<SinkBlock> blocks_;
    Finished played_;
};

/// Writes a document that fills a volume in two steps; returns its path.
std::string filling(const TempDir& dir) {
    const Json meter = {{"name", "m"},
                        {"operations", {{"read", 1}}},
                        {"blocks", "4KiB"},
                        {"files", {{"bytes", "64KiB"}}},
                        {"direct", false}};
    const Json document = {{"schema", "streamsim.workload"},
                           {"version", 1},
                           {"name", "filling"},
                           {"title", "A volume that fills"},
                           {"duration", "1s"},
                           {"sweep", {{"over", "fill_percent"}, {"values", {0.0002, 0.0004}}}},
                           {"meters", Json::array({meter})}};
    std::string path = dir / "w.json";
    write_text(path, document.dump());
    return path;
}

TEST(FillLevel, TheResultIsWrittenBeforeTheFilesAreRemoved) {
    if (const auto reason = no_slowfs_because()) GTEST_SKIP() << *reason;
    const SinkMount mount("remove to-* delay=1500ms\n");
    const TempDir dir;
    Spawn spawn;
    spawn.args = {"run", filling(dir), mount.path(), "--yes", "--json", dir / "r.json"};
    Process process(streamsim_binary(), spawn);
    const auto is_whole = [file = dir / "r.json"] {
        return std::filesystem::exists(file) && !read_json(file)["interrupted"].get<bool>();
    };
    while (process.running() && !is_whole()) sleep_ms(5);
    const std::filesystem::path fill = mount.path() + "/streamsim-media/load/fill";
    EXPECT_TRUE(std::filesystem::exists(fill) && !std::filesystem::is_empty(fill)) << "they are gone already";
    const Finished finished = process.wait();
    EXPECT_EQ(finished.exit_code, 0) << finished.text();
}

TEST(FillLevel, AnInterruptedSweepKeepsItsStepsWhereTheFilesAreSlowToRemove) {
    if (const auto reason = no_slowfs_because()) GTEST_SKIP() << *reason;
    const SinkMount mount("remove to-* delay=2500ms\n");
    const TempDir dir;
    Spawn spawn;
    spawn.args = {"run", filling(dir), mount.path(), "--yes", "--json", dir / "r.json"};
    Process process(streamsim_binary(), spawn);
    const std::string second = mount.path() + "/streamsim-media/load/fill/to-0.0004.load";
    while (process.running() && !std::filesystem::exists(second)) sleep_ms(5);
    process.send(SIGINT);
    const Finished finished = process.wait();
    EXPECT_EQ(finished.exit_code, 130) << finished.text();
    EXPECT_THAT(finished.err, HasSubstr("streamsim clean removes them"));
    const Json result = read_json(dir / "r.json");
    ASSERT_GE(result["steps"].size(), 1U);
    EXPECT_GT(result["steps"][0]["result"]["meters"][0]["all"]["done"], 0);
}

TEST(HungLoad, KeepsAfterTwoSignalsWhatItHasDone) {
    if (const auto reason = no_slowfs_because()) GTEST_SKIP() << *reason;
    const SinkMount mount("blocks 1\n");
    const TempDir dir;
    const Json meter = {{"name", "m"},
                        {"operations", {{"read", 1}}},
                        {"operations_per_s", 100},
                        {"blocks", "4KiB"},
                        {"files", {{"bytes", "1MiB"}}}};
    const Json document = {{"schema", "streamsim.workload"},
                           {"version", 1},
                           {"name", "hung"},
                           {"duration", "60s"},
                           {"meters", Json::array({meter})}};
    write_text(dir / "w.json", document.dump());
    Process process(streamsim_binary(),
                    {.args = {"run", dir / "w.json", mount.path(), "--json", dir / "r.json"}});
    const auto reads = [&mount] {
        const auto blocks = mount.blocks();
        return std::ranges::count(blocks, "read", &SinkBlock::verb);
    };
    while (process.running() && reads() < 50) sleep_ms(20);
    mount.hang();
    sleep_ms(200);  // one under way is never answered
    process.send(SIGINT);
    sleep_ms(300);  // those that come sooner are one
    process.send(SIGINT);
    const Finished finished = process.wait();
    EXPECT_EQ(finished.exit_code, 130) << finished.text();
    EXPECT_THAT(finished.out, HasSubstr("INTERRUPTED: 1 step"));
    const Json result = read_json(dir / "r.json");
    ASSERT_EQ(result["steps"].size(), 1U);
    EXPECT_GT(result["steps"][0]["result"]["meters"][0]["all"]["done"], 0);
}

/// The tenth of [0, most) that a value lies in.
std::size_t tenth(std::uint64_t value, std::uint64_t most) {
    return static_cast<std::size_t>(std::min<std::uint64_t>(value * 10 / most, 9));
}

const std::vector<double> kTen(10, 1);

/// A transfer moves its length in blocks of the size that was drawn, then the remainder in the largest smaller
/// sizes that fit.
void expect_cut_into_blocks(const Transfer& transfer, const std::vector<std::uint64_t>& sizes) {
    std::uint64_t left = transfer.length_bytes;
    for (const SinkBlock& block : transfer.blocks) {
        std::uint64_t expected = transfer.block_bytes;
        while (expected > left) expected = *(std::lower_bound(sizes.begin(), sizes.end(), expected) - 1);
        ASSERT_EQ(block.bytes, expected) << left << " bytes are left of " << transfer.length_bytes;
        left -= block.bytes;
    }
}

TEST_F(EbuLoad, TheDrawsOfAProductionEditAreThoseOfTheProfile) {
    play("ebu-production-edit", {"--users", "1", "--clients", "3"}, "4s");
    const std::vector<Transfer> all = transfers();
    if (HasFailure()) return;
    ASSERT_GT(all.size(), 150u) << "the computer is too slow for this test";
    // The smallest blocks are for remainders; direct I/O may leave some of them out.
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t size = kKiB; size <= 1024 * kKiB; size *= 2) sizes.push_back(size);
    std::vector<std::uint64_t> writes(2), random(2), by_block(9), lengths(10), places(10), random_places(10);
    for (const Transfer& transfer : all) {
        ++writes[transfer.writes() ? 1 : 0];
        ++random[transfer.random() ? 1 : 0];
        ++lengths[tenth(transfer.length_bytes - 1, kLongest)];
        EXPECT_EQ(transfer.length_bytes % kKiB, 0u);
        EXPECT_LE(transfer.length_bytes, kLongest);
        if (transfer.whole()) expect_cut_into_blocks(transfer, sizes);
        for (const SinkBlock& block : transfer.blocks) EXPECT_EQ(block.verb == "write", transfer.writes());
        if (transfer.block_bytes * 2 <= transfer.length_bytes)  // short lengths count under what fits them
            ++by_block[static_cast<std::size_t>(std::countr_zero(transfer.block_bytes / (4 * kKiB)))];
        if (transfer.random()) {
            for (const SinkBlock& block : transfer.blocks)
                ++random_places[tenth(block.offset, kFileBytes - block.bytes + 1)];
            if (transfer.blocks.size() > 8) EXPECT_FALSE(transfer.contiguous());
        } else {
            EXPECT_TRUE(transfer.contiguous());
            // Places are multiples of the block, as far as the length fits behind them.
            ++places[tenth(transfer.blocks.front().offset, kFileBytes - transfer.length_bytes + 1)];
            EXPECT_EQ(transfer.blocks.front().offset % transfer.block_bytes, 0u);
        }
    }
    EXPECT_LT(chi_square(writes, {50, 50}), 15.14) << "1 degree of freedom";
    EXPECT_LT(chi_square(random, {90, 10}), 15.14) << "1 degree of freedom";
    EXPECT_LT(chi_square(lengths, kTen), 33.72) << "9 degrees of freedom";
    EXPECT_LT(chi_square(places, kTen), 33.72) << "9 degrees of freedom";
    EXPECT_LT(chi_square(random_places, kTen), 33.72) << "9 degrees of freedom";
    EXPECT_LT(chi_square(by_block, std::vector<double>(9, 1)), 31.83) << "8 degrees of freedom";
}

TEST_F(EbuLoad, SequentialReadsDrawTheirPlacesAndLengthsToo) {
    play("ebu-sequential-read", {"--clients", "2"}, "4s");
    const std::vector<Transfer> all = transfers();
    if (HasFailure()) return;
    ASSERT_GT(all.size(), 150u) << "the computer is too slow for this test";
    std::vector<std::uint64_t> lengths(10), places(10);
    for (const Transfer& transfer : all) {
        EXPECT_EQ(transfer.mode, "seq_rd");
        EXPECT_TRUE(transfer.contiguous());
        for (const SinkBlock& block : transfer.blocks) EXPECT_EQ(block.bytes, 1024 * kKiB);
        const std::uint64_t whole = transfer.length_bytes / (1024 * kKiB);
        ASSERT_GE(whole, 1u);
        ASSERT_LE(whole, 10u);
        ++lengths[whole - 1];
        const std::uint64_t positions = (kFileBytes >> 20) - whole + 1;
        // Positions are few: a tenth of them is not a whole number of them.
        if (positions >= 40) {
            const std::uint64_t place = transfer.blocks.front().offset >> 20;
            if (place < 40) ++places[place / 4];
        }
    }
    EXPECT_LT(chi_square(lengths, kTen), 33.72) << "9 degrees of freedom";
    EXPECT_LT(chi_square(places, kTen), 33.72) << "9 degrees of freedom";
}

/// The most blocks that were in flight at once.
std::size_t most_at_once(const std::vector<SinkBlock>& blocks) {
    std::vector<std::pair<std::int64_t, int>> changes;
    for (const SinkBlock& block : blocks) {
        changes.emplace_back(block.begun_ns, 1);
        changes.emplace_back(block.ended_ns, -1);
    }
    std::ranges::sort(changes);  // an end before a begin of the same time
    int now = 0, most = 0;
    for (const auto& [at, change] : changes) most = std::max(most, now += change);
    return static_cast<std::size_t>(most);
}

TEST_F(EbuLoad, AMeterIsOneThreadAndAComputerRunsAsManyAsItHasClients) {
    play("ebu-production-edit", {"--users", "1", "--clients", "3"}, "1s");
    std::set<std::string> files;
    for (const SinkBlock& block : blocks_) files.insert(block.path);
    EXPECT_EQ(files.size(), 3u) << "each client has its own file";
    for (const char* seat : {"0", "1", "2"}) {
        EXPECT_GT(blocks_of(seat).size(), 10u);
        EXPECT_EQ(most_at_once(blocks_of(seat)), 1u) << "client " << seat;
    }
    EXPECT_GT(most_at_once(blocks_), 1u) << "the meters work at once";
}

TEST_F(EbuLoad, AClientOfTheProfileHasFourThreadsOnItsFile) {
    play("ebu-production-edit", {"--clients", "2"}, "1s");
    std::set<std::string> files;
    for (const SinkBlock& block : blocks_) files.insert(block.path);
    EXPECT_EQ(files.size(), 2u);
    for (const char* seat : {"0", "1"}) {
        EXPECT_LE(most_at_once(blocks_of(seat)), 4u) << "client " << seat;
        EXPECT_GE(most_at_once(blocks_of(seat)), 3u) << "client " << seat;
    }
    std::map<std::pair<std::string, std::string>, double> free_at;
    for (const CsvRow& row : rows_) {
        double& free = free_at[{row.at("seat"), row.at("user")}];
        ASSERT_GE(number(row, "submitted_ns"), free) << "blocks of one thread follow each other";
        free = number(row, "completed_ns");
    }
    EXPECT_EQ(free_at.size(), 8u) << "four threads of each of two clients";
}

/// The sums of the source's formulas (section 5.1) over the transfers of one cell.
struct Sums {
    double transfers = 0, rates = 0, latencies = 0, latency_max = 0;
    double blocks = 0, block_ns = 0, block_max = 0;

    void add(const std::vector<const CsvRow*>& rows) {
        double bytes = 0, data_ns = 0, from = 1e300, to = 0;
        for (const CsvRow* row : rows) {
            const double submitted = number(*row, "submitted_ns"), completed = number(*row, "completed_ns");
            bytes += number(*row, "bytes");  // blocks x block size
            data_ns += completed - submitted;
            block_max = std::max(block_max, completed - submitted);
            from = std::min(from, submitted);
            to = std::max(to, completed);
        }
        EXPECT_EQ(number(*rows.back(), "total_ns"), to - from);
        ++transfers;
        rates += bytes * 1e3 / data_ns;  // MB/s
        latencies += to - from - data_ns;
        latency_max = std::max(latency_max, to - from - data_ns);
        blocks += static_cast<double>(rows.size());
        block_ns += data_ns;
    }
};

/// Mode, or "All"; block size, or 0 for all of them.
using Cells = std::map<std::pair<std::string, std::uint64_t>, Sums>;

Cells cells_of(const std::vector<CsvRow>& rows, const std::string& seat) {
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<const CsvRow*>> transfers;
    for (const CsvRow& row : rows) {
        if (seat.empty() || row.at("seat") == seat)
            transfers[{row.at("seat"), row.at("user"), row.at("transfer")}].push_back(&row);
    }
    Cells out;
    for (const auto& [name, all] : transfers) {
        if (all.back()->at("total_ns").empty()) continue;  // it was in flight at the end
        const std::uint64_t block = std::stoull(all.back()->at("block_bytes"));
        for (const std::string& mode : {all.back()->at("mode"), std::string("All")}) {
            out[{mode, block}].add(all);
            out[{mode, 0}].add(all);
        }
    }
    return out;
}

void expect_table(const Json& modes, const Cells& cells) {
    std::size_t compared = 0;
    for (const char* mode : {"seq_rd", "rand_rd", "seq_wr", "rand_wr", "All"}) {
        ASSERT_EQ(modes[mode].size(), 12u) << "1 KiB to 1 MiB, and All";
        std::uint64_t size = kKiB;
        for (const Json& cell : modes[mode]) {
            const bool is_all = cell["block_bytes"] == "All";
            if (!is_all)
                EXPECT_EQ(cell["block_bytes"], size) << "a column of each size, also without a transfer";
            const auto found = cells.find({mode, is_all ? 0 : size});
            size *= 2;
            if (found == cells.end()) {
                EXPECT_EQ(cell["transfers"], 0);
                continue;
            }
            const Sums& sums = found->second;
            EXPECT_EQ(cell["transfers"].get<double>(), sums.transfers);
            EXPECT_EQ(cell["blocks"].get<double>(), sums.blocks);
            const auto near = [&](const char* key, double expected) {
                EXPECT_NEAR(cell[key].get<double>(), expected, 1e-6 * std::abs(expected) + 1e-9)
                    << mode << " " << cell["block_bytes"] << " " << key;
            };
            near("rate_mb_per_s", sums.rates / sums.transfers);
            near("latency_mean_ms", sums.latencies / sums.transfers / 1e6);
            near("latency_max_s", sums.latency_max / 1e9);
            near("block_latency_mean_ms", sums.block_ns / sums.blocks / 1e6);
            near("block_latency_max_s", sums.block_max / 1e9);
            ++compared;
        }
    }
    EXPECT_EQ(compared, cells.size());
}

TEST_F(EbuLoad, EachCellOfTheTablesFollowsFromTheRowsByTheSourcesFormulas) {
    play("ebu-production-edit", {"--clients", "2"}, "2s");
    const Json step = read_json(results_ / "r.json")["steps"][0];
    const Cells all = cells_of(rows_, "");
    EXPECT_GT(all.size(), 15u);
    expect_table(step["modes"], all);
    for (const char* seat : {"0", "1"})
        expect_table(step["clients"][std::stoul(seat)]["modes"], cells_of(rows_, seat));
    EXPECT_THAT(played_.out, HasSubstr("files of 49.3 MB instead of 100.0 GB: --scale 0.0005"));
    EXPECT_THAT(played_.out, HasSubstr("2 KiB"));
}

}  // namespace
}  // namespace streamsim::tests
