#include "failures/failing_store.h"

#include <utility>

namespace streamsim::testing {

const char* name_of(Failure failure) {
    switch (failure) {
        case Failure::error: return "error";
        case Failure::unanswered: return "unanswered";
        case Failure::broken: return "broken";
        case Failure::crash: return "crash";
        case Failure::crash_behind: return "crash_behind";
        case Failure::cut: return "cut";
    }
    return "";
}

struct FailingStore::State {
    MemoryDisk& disk;
    FailurePlan plan;
    std::mutex mutex;
    std::uint64_t calls = 0;
    bool failed = false;
    bool dead = false;
    std::string failed_call;

    State(MemoryDisk& on, const FailurePlan& by) : disk(on), plan(by) {}

    static Error error_of(const std::string& call) { return environment_error(call + ": injected failure"); }

    void die() {
        if (!std::exchange(dead, true)) disk.crash(plan.seed);
    }

    /// One call. `work` does it; `unsynced` does it too, without making anything durable.
    template <typename T, typename Work, typename Unsynced>
    Result<T> call(const std::string& what, const Work& work, const Unsynced& unsynced) {
        const std::lock_guard lock(mutex);
        const bool now = calls++ == plan.at;
        if (now) {
            failed = true;
            failed_call = what;
        }
        if (dead) return error_of(what);
        if (!now) {
            if (failed && plan.failure == Failure::broken) return error_of(what);
            return work(false);
        }
        switch (plan.failure) {
            case Failure::error:
            case Failure::broken: return error_of(what);
            case Failure::unanswered: (void)work(false); return error_of(what);
            case Failure::crash: die(); return error_of(what);
            case Failure::crash_behind:
                (void)unsynced(false);
                die();
                return error_of(what);
            case Failure::cut: return work(true);
        }
        return error_of(what);
    }
    template <typename T, typename Work>
    Result<T> call(const std::string& what, const Work& work) {
        return call<T>(what, work, work);
    }
};

namespace {

using State = FailingStore::State;

class FailingSource final : public ByteSource {
public:
    FailingSource(std::shared_ptr<State> state, std::unique_ptr<ByteSource> file, std::string path)
        : state_(std::move(state)), file_(std::move(file)), path_(std::move(path)) {}
    Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
        return state_->call<std::size_t>("read_at " + path_, [&](bool cut) {
            auto got = file_->read_at(offset, into);
            if (got && cut) *got /= 2;
            return got;
        });
    }
    Result<std::uint64_t> size() override {
        return state_->call<std::uint64_t>("size " + path_, [&](bool) { return file_->size(); });
    }
    Result<std::uint64_t> hole_bytes(std::uint64_t offset) override {
        return state_->call<std::uint64_t>("hole_bytes " + path_,
                                           [&](bool) { return file_->hole_bytes(offset); });
    }

private:
    std::shared_ptr<State> state_;
    std::unique_ptr<ByteSource> file_;
    std::string path_;
};

class FailingSink final : public ByteSink {
public:
    FailingSink(std::shared_ptr<State> state, std::unique_ptr<ByteSink> file, std::string path)
        : state_(std::move(state)), file_(std::move(file)), path_(std::move(path)) {}
    Result<void> write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
        const std::string what = "write_at " + path_;
        return state_->call<void>(what, [&](bool cut) -> Result<void> {
            auto written = file_->write_at(offset, cut ? bytes.first(bytes.size() / 2) : bytes);
            return cut ? Result<void>(State::error_of(what)) : written;
        });
    }
    Result<void> close() override {
        return state_->call<void>(
            "close " + path_, [&](bool) { return file_->close(); }, [](bool) { return Result<void>{}; });
    }

private:
    std::shared_ptr<State> state_;
    std::unique_ptr<ByteSink> file_;
    std::string path_;
};

}  // namespace

Result<std::vector<DirectoryEntry>> FailingStore::list(const std::string& directory) {
    return state_->call<std::vector<DirectoryEntry>>("list " + directory,
                                                     [&](bool) { return state_->disk.list(directory); });
}
Result<std::optional<FileInfo>> FailingStore::stat(const std::string& path) {
    return state_->call<std::optional<FileInfo>>("stat " + path, [&](bool) { return state_->disk.stat(path); });
}
Result<std::unique_ptr<ByteSource>> FailingStore::open(const std::string& path) {
    return state_->call<std::unique_ptr<ByteSource>>(
        "open " + path, [&](bool) -> Result<std::unique_ptr<ByteSource>> {
            auto file = state_->disk.open(path);
            if (!file) return file;
            return std::unique_ptr<ByteSource>(std::make_unique<FailingSource>(state_, std::move(*file), path));
        });
}
Result<std::unique_ptr<ByteSink>> FailingStore::create(const std::string& path) {
    return state_->call<std::unique_ptr<ByteSink>>(
        "create " + path, [&](bool) -> Result<std::unique_ptr<ByteSink>> {
            auto file = state_->disk.create(path);
            if (!file) return file;
            return std::unique_ptr<ByteSink>(std::make_unique<FailingSink>(state_, std::move(*file), path));
        });
}
Result<void> FailingStore::make_directories(const std::string& path) {
    return state_->call<void>("make_directories " + path,
                              [&](bool) { return state_->disk.make_directories(path); });
}
Result<void> FailingStore::rename(const std::string& from, const std::string& to) {
    return state_->call<void>(
        "rename " + from, [&](bool) { return state_->disk.rename(from, to); },
        [&](bool) { return state_->disk.rename_unsynced(from, to); });
}
Result<bool> FailingStore::set_aside(const std::string& from, const std::string& to) {
    return state_->call<bool>("set_aside " + from, [&](bool) { return state_->disk.set_aside(from, to); });
}
Result<void> FailingStore::remove(const std::string& path) {
    return state_->call<void>("remove " + path, [&](bool) { return state_->disk.remove(path); });
}
Result<std::uint64_t> FailingStore::free_bytes(const std::string& path) {
    return state_->call<std::uint64_t>("free_bytes " + path,
                                       [&](bool) { return state_->disk.free_bytes(path); });
}
Result<void> FailingStore::evict(const std::string& path) {
    return state_->call<void>("evict " + path, [&](bool) { return state_->disk.evict(path); });
}
Result<std::unique_ptr<ByteStore>> FailingStore::beneath(const std::string& directory) {
    return state_->call<std::unique_ptr<ByteStore>>(
        "beneath " + directory, [&](bool) -> Result<std::unique_ptr<ByteStore>> {
            const auto there = state_->disk.beneath(directory);
            if (!there) return there.error();
            return std::unique_ptr<ByteStore>(std::make_unique<FailingStore>(state_));
        });
}

FailingStore::FailingStore(MemoryDisk& disk, const FailurePlan& plan)
    : state_(std::make_shared<State>(disk, plan)) {}
FailingStore::FailingStore(std::shared_ptr<State> state) : state_(std::move(state)) {}
FailingStore::~FailingStore() = default;

bool FailingStore::has_failed() const {
    const std::lock_guard lock(state_->mutex);
    return state_->failed;
}

std::string FailingStore::failed_call() const {
    const std::lock_guard lock(state_->mutex);
    return state_->failed_call;
}

std::uint64_t FailingStore::calls() const {
    const std::lock_guard lock(state_->mutex);
    return state_->calls;
}

void FailingStore::end() {
    const std::lock_guard lock(state_->mutex);
    state_->die();
}

}  // namespace streamsim::testing
