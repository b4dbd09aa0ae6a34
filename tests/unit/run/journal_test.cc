// A journal on a disk that is slow, or that does not answer any more.
#include "seats/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <thread>

#include "result/json_report.h"
#include "result/merge.h"
#include "unit/run/sessions.h"

namespace streamsim::run {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class JournalDisk : public testing::Test {
protected:
    JournalDisk() { fs::remove_all(folder_); }
    ~JournalDisk() override { fs::remove_all(folder_); }

    static RunResult result() {
        RunResult out = not_played(test::request_on("null:", {"prores-hd"}), {});
        result::become_part("0123", 1, {}, out);
        return out;
    }
    std::unique_ptr<seats::Journal> open(seats::Journal::Write write) {
        auto journal = seats::Journal::open(
            path(), result(), [this](const std::string& text) { notices_.push_back(text); }, std::move(write));
        return std::move(journal).value();
    }
    std::string path() const { return (folder_ / "journal.json").string(); }
    std::string text() const {
        std::ifstream in(path());
        return {std::istreambuf_iterator<char>(in), {}};
    }

    fs::path folder_ =
        fs::path(testing::TempDir()) /
        (std::string("streamsim-journal-") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::vector<std::string> notices_;
};

TEST_F(JournalDisk, HoldsTheResultInTheEnd) {
    const auto journal = open(write_whole);
    EXPECT_THAT(text(), HasSubstr("it had not begun to play"));
    RunResult last = result();
    last.interrupted = true;
    EXPECT_THAT(journal->finish(last), IsEmpty());
    EXPECT_FALSE(journal->left_behind());
    EXPECT_EQ(text(), result::json_report(last));
}

TEST_F(JournalDisk, ThatDoesNotAnswerIsLeftBehind) {
    struct Disk {
        std::atomic<bool> hangs{false};
        std::promise<void> answer;
        std::shared_future<void> answered = answer.get_future().share();
    };
    auto disk = std::make_shared<Disk>();
    auto journal = open([disk](const std::string& temporary, const std::string& to, const TextSource& source) {
        if (disk->hangs) disk->answered.wait();
        return write_whole(temporary, to, source);
    });
    const std::string before = text();
    disk->hangs = true;
    EXPECT_THAT(journal->finish(result(), milliseconds(100)),
                ElementsAre(path() + ": the journal cannot be written: its disk does not answer"));
    EXPECT_EQ(notices_.size(), 1u);
    EXPECT_TRUE(journal->left_behind());
    EXPECT_EQ(text(), before);
    journal.reset();
    // The thread that was left needs nothing of the journal, and reports nothing.
    const std::weak_ptr<Disk> in_use = disk;
    disk->answer.set_value();
    disk.reset();
    while (!in_use.expired()) std::this_thread::yield();
    EXPECT_EQ(notices_.size(), 1u);
}

TEST_F(JournalDisk, ThatGoesOnSlowlyIsWaitedFor) {
    const auto slow = std::make_shared<std::atomic<bool>>(false);
    const auto journal =
        open([slow](const std::string& temporary, const std::string& to, const TextSource& source) {
            return write_whole(temporary, to, [&](const auto& out) {
                source([&](std::string_view piece) {
                    if (*slow) std::this_thread::sleep_for(std::chrono::milliseconds(100));
                    out(piece);
                });
            });
        });
    *slow = true;
    RunResult large = result();
    large.notices.assign(8, std::string(1 << 20, 'x'));
    EXPECT_THAT(journal->finish(large, milliseconds(500)), IsEmpty()) << "it takes 0.8 s, a piece each 0.1 s";
    EXPECT_FALSE(journal->left_behind());
    EXPECT_GT(fs::file_size(path()), 8u << 20);
}

}  // namespace
}  // namespace streamsim::run
