// Local storages and stores when a call into the C library fails: each, in each way.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <string>

#include "conformance/storage_harness.h"
#include "failures/failing_calls.h"
#include "failures/storage_trials.h"
#include "loop/uv_loop.h"
#include "storage/backends.h"
#include "storage/local/local_byte_store.h"
#include "storage/local/local_options.h"

namespace streamsim::storage {
namespace {

class FailingCalls final : public tests::FailureSource {
public:
    std::size_t ways() const override { return std::size(kHow) + std::size(kErrors); }
    void begin(std::uint64_t at, std::size_t way) override {
        failing_calls_begin("files", at, how(way), way < std::size(kHow) ? 0 : kErrors[way - std::size(kHow)]);
    }
    void pause() override { failing_calls_pause(true); }
    void resume() override { failing_calls_pause(false); }
    std::uint64_t calls() const override { return failing_calls_count(); }
    std::string told(std::size_t way) const override {
        const char* const error = way < std::size(kHow) ? "" : strerrorname_np(kErrors[way - std::size(kHow)]);
        return std::string(how(way)) + " " + error + ": " + failing_calls_failed();
    }

private:
    static const char* how(std::size_t way) { return way < std::size(kHow) ? kHow[way] : "error"; }

    static constexpr const char* kHow[] = {"error", "broken", "short"};
    // No EINVAL: of an open, it says that the file system made the file and does not read it directly.
    static constexpr int kErrors[] = {EPERM,  ENOENT, EINTR,   EBADF,  EAGAIN,     ENOMEM, EACCES,
                                      EEXIST, EXDEV,  ENOTDIR, EISDIR, EMFILE,     ENOSPC, EROFS,
                                      EMLINK, ENOLCK, ENOSYS,  ELOOP,  EOPNOTSUPP, EDQUOT, ESTALE};
};

class LocalFailures : public ::testing::Test {
protected:
    tests::TrialTarget target() {
        tests::TrialTarget out;
        out.source = &source_;
        out.sample = std::chrono::milliseconds(2000);
        out.error_says = "/";  // of the file, or of a directory above it
        return out;
    }

private:
    FailingCalls source_;
};

TEST_F(LocalFailures, OfACallOfTheStore) {
    tests::TrialTarget local = target();
    local.make_store = [](const std::string&) { return make_local_byte_store(); };
    tests::try_store(local);
}

TEST_F(LocalFailures, OfACallOfTheStoreBeneathADirectory) {
    tests::TrialTarget beneath = target();
    beneath.make_store = [](const std::string& directory) {
        failing_calls_pause(true);
        static LocalByteStore outer;
        auto made = outer.beneath(directory);
        failing_calls_pause(false);
        EXPECT_TRUE(made);
        return std::move(*made);
    };
    tests::try_store(beneath);
}

/// A lock that is told to be held keeps others out, and nothing is left locked.
TEST_F(LocalFailures, OfACallOfALock) {
    FailingCalls calls;
    LocalByteStore store;
    for (const bool exists : {false, true}) {
        for (std::size_t way = 0; way < calls.ways(); ++way) {
            bool reached = true;
            // Each call for both kinds of lock.
            for (std::uint64_t trial = 0; reached && !HasFailure(); ++trial) {
                const std::uint64_t at = trial / 2;
                const TemporaryDirectory directory;
                const std::string path = directory / "lock";
                if (exists) ASSERT_TRUE(store.try_lock(path, LockMode::shared, "before"));
                calls.begin(at, way);
                calls.resume();
                auto mine =
                    store.try_lock(path, trial % 2 == 0 ? LockMode::exclusive : LockMode::shared, "mine");
                const bool held = mine && mine->outcome == LockAttempt::Outcome::held;
                const auto alone = held ? mine->lock->change(LockMode::exclusive) : Result<bool>(false);
                calls.pause();
                reached = calls.calls() > at;
                SCOPED_TRACE(calls.told(way));
                if (!mine) EXPECT_THAT(mine.error().problems.front(), ::testing::HasSubstr(directory.path()));
                const auto other = store.try_lock(path, LockMode::exclusive, "other");
                ASSERT_TRUE(other) << other.error().problems.front();
                EXPECT_EQ(other->outcome == LockAttempt::Outcome::refused, held);
                if (other->outcome == LockAttempt::Outcome::unsupported) GTEST_SKIP() << "no locks in /tmp";
                if (alone && *alone) {
                    const auto reader = store.try_lock(path, LockMode::shared, "reader");
                    EXPECT_TRUE(reader && reader->outcome == LockAttempt::Outcome::refused);
                }
            }
        }
    }
}

/// A kernel that gives no io_uring: the message says what to do about it.
TEST_F(LocalFailures, OfAnIoUring) {
    loop::UvLoop loop;
    const std::pair<int, const char*> refusals[] = {{ENOSYS, "this kernel has no io_uring"},
                                                    {EPERM, "io_uring is forbidden here"},
                                                    {EACCES, "io_uring is forbidden here"},
                                                    {ENOMEM, "ulimit -l"},
                                                    {EMFILE, "ulimit -n"},
                                                    {ENFILE, "ulimit -n"},
                                                    {EINVAL, "the kernel refused an io_uring: "}};
    for (const auto& [error, text] : refusals) {
        failing_calls_begin("files", 0, "broken", error);
        failing_calls_pause(false);
        const auto storage = make_uring_storage(loop, loop.uv(), {});
        failing_calls_pause(true);
        ASSERT_FALSE(storage) << error;
        EXPECT_THAT(storage.error().problems.front(), ::testing::HasSubstr(text));
    }
}

class LocalStorageFailures : public LocalFailures,
                             public ::testing::WithParamInterface<std::tuple<std::string, bool, bool>> {};

TEST_P(LocalStorageFailures, OfACall) {
    const std::string& name = std::get<0>(GetParam());
    const bool direct = std::get<1>(GetParam());
    const bool beneath = std::get<2>(GetParam());
    tests::TrialTarget local = target();
    local.make_storage = [direct, beneath, make = name == "uring" ? make_uring_storage : make_threads_storage](
                             EventLoop& loop, uv_loop_s* uv, const std::string& directory) {
        LocalOptions options;
        options.direct = direct;
        if (beneath) options.writes_below = directory;
        return make(loop, uv, options);
    };
    local.writes = true;
    Harness<loop::UvLoop> harness;
    auto made = local.make_storage(harness.loop(), harness.own_loop().uv(), "/");
    if (!made) GTEST_SKIP() << made.error().problems.front();
    harness.use(std::move(*made));
    harness.shut_down({});
    tests::try_storage(local);
}

INSTANTIATE_TEST_SUITE_P(All,
                         LocalStorageFailures,
                         ::testing::Combine(::testing::Values("uring", "threads"),
                                            ::testing::Bool(),
                                            ::testing::Bool()));

}  // namespace
}  // namespace streamsim::storage
