// Runs on a storage that a test brings along, in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/operation_intake.h"
#include "unit/run/sessions.h"
#include "unit/run/workload_ranks.h"

namespace streamsim::run {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// Reads one after the other at a constant rate; nothing else takes time.
class OneLine final : public storage::OperationIntake {
public:
    /// `read`: bytes that were read, by their offset in any file.
    OneLine(EventLoop& loop, double bytes_per_s, std::map<std::uint64_t, std::uint64_t>& read)
        : OperationIntake(loop), bytes_per_s_(bytes_per_s), read_(read) {}
    void close(FileId) override {}
    void cancel(Op&) override {}
    StorageCapabilities capabilities() const override { return {"sim", false, 1, false, true}; }

private:
    void begin(Op& op) override {
        if (op.operation == OpKind::open) static_cast<OpenOp&>(op).file = next_file_++;
        if (op.operation != OpKind::read) return settle_now(op, 0);
        auto& read = static_cast<ReadOp&>(op);
        read.bytes = read.buffer.size();
        ++read_[read.offset];
        free_at_ = std::max(free_at_, now()) +
                   Duration{static_cast<std::int64_t>(static_cast<double>(read.bytes) / bytes_per_s_ * 1e9)};
        line_.push(op);
        loop().at(free_at_, Callback::of<&OneLine::end>(this));
    }
    void end() { settle_now(line_.pop(), 0); }

    const double bytes_per_s_;
    std::map<std::uint64_t, std::uint64_t>& read_;
    Instant free_at_;
    storage::OpQueue line_;
    FileId next_file_ = 0;
};

/// The storage, and the reads that it was asked for.
struct Line {
    StorageMaker at(double bytes_per_s) {
        return
            [this, bytes_per_s](EventLoop& loop) { return std::make_unique<OneLine>(loop, bytes_per_s, read); };
    }
    std::map<std::uint64_t, std::uint64_t> read;
};

/// Never completes an operation, not even a cancelled one.
class DeadStorage final : public storage::OperationIntake {
public:
    explicit DeadStorage(EventLoop& loop) : OperationIntake(loop) {}
    void close(FileId) override {}
    void cancel(Op&) override {}
    StorageCapabilities capabilities() const override { return {"sim", false, 1, false, true}; }

private:
    void begin(Op&) override {}
};

TEST(AStorageOfATest, PlaysAsManyStreamsAsItsRateAllows) {
    Line line;
    PlayRequest request = test::request_on("sim:null", {"dpx10"});  // 796 MB/s a stream
    request.virtual_storage = line.at(3.4e9);
    request.find_cause = false;
    request.streams = 4;
    const RunResult fits = test::result_of(request);
    EXPECT_EQ(fits.totals.on_time, fits.totals.scheduled);
    EXPECT_EQ(fits.timing_digest, test::result_of(request).timing_digest);
    request.streams = 5;
    const RunResult too_many = test::result_of(request);
    EXPECT_LT(too_many.totals.on_time, too_many.totals.scheduled);
}

TEST(AStorageOfATest, MeetsClosedLoopsWhereSimNullRefusesThem) {
    Workload workload = test::two_meters(1);
    workload.meters.resize(1);
    MeterSpec& meter = workload.meters.front();
    meter.think_time = {};
    meter.weights = {};
    meter.weights[static_cast<std::size_t>(LoadOperation::read)] = 1;
    PlayRequest base;
    base.target = *target::parse_target("sim:null");
    Line line;
    base.virtual_storage = line.at(100e6);
    const RunResult result = test::result_of_meters(load_request(workload, base));
    ASSERT_EQ(result.meters.size(), 1U);
    const MeterResult& read = result.meters.front();
    const double rate = static_cast<double>(read.all.bytes) / (static_cast<double>(read.wall_ns) * 1e-9);
    EXPECT_NEAR(rate, 100e6, 1e6);

    base.virtual_storage = {};
    Session refused(load_request(workload, base), FoundMedia{}, {}, [](const std::string&) {});
    const auto none = refused.execute();
    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().problems.front(), HasSubstr("a closed loop would never end"));
}

/// It hangs between the plan, which makes the directory of the recordings, and the end of preroll.
TEST(AStorageOfATest, ThatHangsInPrerollLeavesTheRecordingsWithANotice) {
    char name[] = "/tmp/streamsim-recordings-XXXXXX";
    const std::string path = mkdtemp(name);
    PlayRequest request = test::request_on(path, {"prores-hd"});
    std::swap(request.formats, request.record.formats);
    request.streams = 0;
    request.record.streams = 1;
    request.virtual_storage = [](EventLoop& loop) { return std::make_unique<DeadStorage>(loop); };
    static std::vector<std::string> notices;
    // A process of streamsim ends without destroying it: the storage keeps its operations.
    static Session* const session =
        new Session(request, FoundMedia{}, {}, [](const std::string& text) { notices.push_back(text); });
    const auto result = session->execute();
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().problems.front(), HasSubstr("preroll did not end within 10.0 s"));
    EXPECT_TRUE(session->stuck());
    const std::string left = path + "/streamsim-media/recordings/run-";
    EXPECT_THAT(notices, Contains(HasSubstr("recordings are left in " + left)));
    EXPECT_FALSE(std::filesystem::is_empty(path + "/streamsim-media/recordings"));
    std::filesystem::remove_all(path);
}

/// Its caches would hold a clip that loops.
TEST(AStorageOfATest, IsGivenClipsAsLongAsPlay) {
    Line line;
    PlayRequest request = test::request_on("sim:null", {"prores-hd"});
    request.virtual_storage = line.at(1e9);
    request.duration = seconds(120);
    test::result_of(request);
    EXPECT_GE(line.read.size(), 120U * 30);
    for (const auto& [offset, times] : line.read) ASSERT_LE(times, 1U) << offset;
}

}  // namespace
}  // namespace streamsim::run
