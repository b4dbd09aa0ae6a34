// Processors as /proc/stat tells them, as a file.
#include "host/processors.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace streamsim::host {
namespace {

class ProcessorsTest : public testing::Test {
protected:
    ~ProcessorsTest() override { std::filesystem::remove_all(root_); }

    /// The sample a second later: in it the two processors were idle for so many of 100 ticks. `nice`: of those
    /// in which the first one was not.
    SystemSample after(std::uint64_t idle, std::uint64_t waiting, std::uint64_t nice = 0) {
        ++seconds_;
        softirq_ += 100 - idle - nice;
        nice_ += nice;
        idle_ += idle;
        waiting_ += waiting;
        user_ += 100 - waiting;
        std::filesystem::create_directories(root_ + "/proc");
        std::ofstream(root_ + "/proc/stat")
            << "cpu  " << user_ << " " << nice_ << " 0 " << idle_ << " " << waiting_ << " 0 " << softirq_
            << " 7 0 0\n"
            << "cpu0 0 " << nice_ << " 0 " << idle_ << " 0 0 " << softirq_ << " 0 0 0\n"
            << "cpu11 " << user_ << " 0 0 0 " << waiting_ << " 0 0 7 0 0\n"
            << "intr 1 2 3\n";
        SystemSample sample;
        processors_.read(seconds_ * 1'000'000'000, sample);
        return sample;
    }

private:
    static std::string new_directory() {
        std::string path = testing::TempDir() + "streamsim-processors-XXXXXX";
        EXPECT_NE(mkdtemp(path.data()), nullptr);
        return path;
    }

    const std::string root_ = new_directory();
    Processors processors_{root_};
    std::int64_t seconds_ = 0;
    std::uint64_t user_ = 0, nice_ = 0, idle_ = 0, waiting_ = 0, softirq_ = 0;
};

TEST_F(ProcessorsTest, AreCountedTogetherAndTheFullOneAlone) {
    EXPECT_EQ(after(0, 100).full_processor_ns, 0) << "nothing is known before the first sample";
    EXPECT_EQ(after(6, 100).full_processor_ns, 0);
    EXPECT_EQ(after(5, 100).full_processor_ns, 1'000'000'000);
    EXPECT_EQ(after(100, 0).full_processor_ns, 2'000'000'000) << "the other one";
    EXPECT_EQ(after(50, 50).full_processor_ns, 2'000'000'000);
    EXPECT_EQ(after(0, 50, 6).full_processor_ns, 2'000'000'000) << "what is nice makes way";
    const SystemSample last = after(100, 100);
    EXPECT_EQ(last.cpu_ticks, 1'407U);
    EXPECT_EQ(last.idle_ticks, 261U + 500);
    EXPECT_EQ(last.stolen_ticks, 7U);
}

}  // namespace
}  // namespace streamsim::host
