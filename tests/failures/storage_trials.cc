#include "failures/storage_trials.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <utility>

#include "base/system/errno_values.h"
#include "conformance/storage_harness.h"
#include "loop/uv_loop.h"
#include "storage/buffer_arena.h"

namespace streamsim::tests {
namespace {

namespace fs = std::filesystem;
using Problems = std::vector<std::string>;

constexpr std::uint64_t kFilmBytes = 300'000, kNewBytes = 2 * 98'304;
constexpr std::uint64_t kFilmSeed = 5, kNewSeed = 9;
/// Longer than a name may be.
const char* const kLongName = [] {
    static const std::string name(300, 'x');
    return name.c_str();
}();
constexpr std::size_t kPieceBytes = 98'304;  // of whole pages

/// Nothing fails meanwhile.
class Pause {
public:
    explicit Pause(FailureSource& source) : source_(source) { source_.pause(); }
    ~Pause() { source_.resume(); }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

private:
    FailureSource& source_;
};

/// The files of one trial, on the server's disk.
class Files {
public:
    explicit Files(FailureSource& source) : source_(source) {
        fs::create_directory(directory_ / "folder");
        write_test_file(directory_ / "film", kFilmSeed, kFilmBytes);
        write_test_file(directory_ / "folder/inside", kFilmSeed, kFilmBytes);
        write_test_file(directory_ / "old", kNewSeed, kNewBytes);
        fs::create_symlink("folder", directory_ / "link");
        fs::create_symlink("nowhere", directory_ / "lost");
        for (const char* each : {"", "folder"}) chmod((directory_ / each).c_str(), 0777);
        for (const char* each : {"film", "folder/inside", "old"}) chmod((directory_ / each).c_str(), 0666);
        source_.resume();
    }
    ~Files() { source_.pause(); }
    std::string at(const std::string& name) const { return directory_ / name; }
    const std::string& root() const { return directory_.path(); }
    bool exists(const std::string& name) const {
        const Pause pause(source_);
        return fs::exists(fs::symlink_status(at(name)));
    }

    /// Soon, for connections that end.
    bool is_gone(const std::string& name) const {
        for (int tries = 0; tries < 300 && exists(name); ++tries) usleep(10'000);
        return !exists(name);
    }

    /// The file is what was written.
    bool holds(const std::string& name, std::uint64_t seed, std::uint64_t bytes) const {
        const Pause pause(source_);
        std::ifstream file(at(name), std::ios::binary);
        std::vector<char> found(bytes + 1);
        file.read(found.data(), static_cast<std::streamsize>(found.size()));
        if (static_cast<std::uint64_t>(file.gcount()) != bytes) return false;
        return same_bytes(std::as_bytes(std::span(found).first(bytes)), seed, 0) == bytes;
    }

private:
    FailureSource& source_;
    TemporaryDirectory directory_;
};

std::vector<std::byte> new_bytes() {
    std::vector<std::byte> bytes(kNewBytes);
    fill_with_test_bytes(bytes, kNewSeed, 0);
    return bytes;
}

// ---- the store

/// Takes results; keeps those that are wrong.
class Verdict {
public:
    Verdict(bool healthy, std::string error_says) : healthy_(healthy), error_says_(std::move(error_says)) {}
    void expect(bool right, const std::string& otherwise) {
        if (!right) problems_.push_back(otherwise);
    }
    /// True: it was done. An error has to say where and why.
    template <typename T>
    bool done(const Result<T>& result, const char* what) {
        if (result) return true;
        const std::string said = result.error().problems.empty() ? "" : result.error().problems.front();
        expect(said.find(error_says_) != std::string::npos && said.find(": ") != std::string::npos,
               fmt::format("{}: the error is {:?}", what, said));
        expect(!healthy_, fmt::format("{} failed: {}", what, said));
        return false;
    }
    Problems take() { return std::move(problems_); }

private:
    bool healthy_;
    std::string error_says_;
    Problems problems_;
};

std::string error_says(const TrialTarget& target, const Files& files) {
    return target.error_says.empty() ? files.root() : target.error_says;
}

void read_back(ByteStore& store, const std::string& path, Verdict& verdict) {
    const auto source = store.open(path);
    if (!verdict.done(source, "open")) return;
    if (const auto bytes = (*source)->size(); verdict.done(bytes, "size"))
        verdict.expect(*bytes == kFilmBytes, "the size is wrong");
    std::vector<std::byte> into(kFilmBytes + 100);
    if (const auto got = (*source)->read_at(0, into); verdict.done(got, "read"))
        verdict.expect(
            *got == kFilmBytes && same_bytes(std::span(into).first(*got), kFilmSeed, 0) == kFilmBytes,
            "other bytes were read");
    ByteSource::Piece pieces[] = {{0, std::span(into).first(1000), 0},
                                  {kFilmBytes - 10, std::span(into).subspan(1000, 1000), 0}};
    if (verdict.done((*source)->read_each(pieces), "read pieces")) {
        verdict.expect(pieces[0].got == 1000 && pieces[1].got == 10, "pieces have other lengths");
        verdict.expect(same_bytes(pieces[0].into, kFilmSeed, 0) == 1000 &&
                           same_bytes(pieces[1].into.first(10), kFilmSeed, kFilmBytes - 10) == 10,
                       "other bytes were read in pieces");
    }
}

void write_new(ByteStore& store, const std::string& path, const Files& files, Verdict& verdict) {
    auto sink = store.create(path);
    if (!verdict.done(sink, "create")) return;
    const auto bytes = new_bytes();
    const std::span<const std::byte> all(bytes);
    bool written = verdict.done((*sink)->write_at(kPieceBytes, all.subspan(kPieceBytes)), "write");
    written = verdict.done((*sink)->write_at(0, all.first(kPieceBytes)), "write") && written;
    if (verdict.done((*sink)->close(), "close") && written)
        verdict.expect(files.holds("new", kNewSeed, kNewBytes), "a file that was told written is not");
}

Problems use_store(const TrialTarget& target) {
    const Files files(*target.source);
    const auto on_server = [&](const std::string& name) { return target.on_server(files.at(name)); };
    auto store = target.make_store(files.root());
    Verdict verdict(target.healthy, error_says(target, files));
    if (const auto names = store->list(target.on_server(files.root())); verdict.done(names, "list")) {
        std::string found;
        for (const DirectoryEntry& each : *names) found += each.name + " ";
        verdict.expect(found.find("film ") == 0 && found.find("folder ") != std::string::npos &&
                           found.find("old ") != std::string::npos,
                       "the list is " + found);
    }
    verdict.done(store->list_some(target.on_server(files.root()), 2), "list some");
    verdict.done(store->try_lock(on_server("lock"), LockMode::exclusive, "a note"), "lock");
    for (const char* name : {"film", "folder", "none"}) verdict.done(store->stat(on_server(name)), "stat");
    read_back(*store, on_server("film"), verdict);
    read_back(*store, on_server("folder/inside"), verdict);
    for (const char* name : {"folder", "link", "lost", "none", "film/none", kLongName})
        verdict.expect(!store->open(on_server(name)), std::string(name) + " was opened");
    for (const char* name : {"film", "none", kLongName})
        verdict.expect(!store->list(on_server(name)), std::string(name) + " was listed");
    for (const char* name : {"link", "lost", "folder/inside/none"})
        verdict.done(store->stat(on_server(name)), "stat");
    (void)store->stat(on_server(kLongName));  // nothing, or an error
    for (const char* name : {"film", "folder/none/new", "folder"})
        verdict.expect(!store->create(on_server(name)), std::string(name) + " was created");
    verdict.expect(!store->make_directories(on_server("film/x")), "a directory was made in a file");
    verdict.expect(!store->rename(on_server("none"), on_server("some")), "nothing was renamed");
    if (!target.replaces || target.healthy)
        verdict.expect(!store->rename(on_server("old"), on_server("film")), "a file was replaced");
    for (const char* name : {"none", "folder", kLongName})
        verdict.expect(!store->remove(on_server(name)), std::string(name) + " was removed");
    verdict.done(store->evict(on_server("film")), "evict");
    (void)store->total_bytes(on_server("not/yet"));  // not every store knows
    verdict.done(store->try_lock(on_server("lock"), LockMode::shared, ""), "lock");
    if (verdict.done(store->make_directories(on_server("a/b")), "make directories"))
        verdict.expect(files.exists("a/b"), "a directory is not there");
    write_new(*store, on_server("new"), files, verdict);
    if (verdict.done(store->rename(on_server("old"), on_server("folder/older")), "rename"))
        verdict.expect(files.holds("folder/older", kNewSeed, kNewBytes) && !files.exists("old"),
                       "a file was not renamed");
    verdict.expect(files.holds("old", kNewSeed, kNewBytes) || files.holds("folder/older", kNewSeed, kNewBytes),
                   "a file is lost");
    std::vector<std::string> removed;
    for (const char* name : {"film", "a/b"}) {
        if (verdict.done(store->remove(on_server(name)), "remove")) removed.emplace_back(name);
    }
    if (const auto bytes = store->free_bytes(on_server("not/yet")); verdict.done(bytes, "free bytes"))
        verdict.expect(*bytes > 0, "nothing is free");
    // A server of SMB removes what it told removed when nobody has it open: a failed reply may leave it open.
    store.reset();
    for (const std::string& name : removed) verdict.expect(files.is_gone(name), name + " is still there");
    verdict.expect(files.holds("folder/inside", kFilmSeed, kFilmBytes), "another file was changed");
    return verdict.take();
}

// ---- the storage

/// Runs operations to their end, one after the other.
class User {
public:
    User(const TrialTarget& target, const Files& files)
        : target_(target), files_(files), verdict_(target.healthy, error_says(target, files)) {}

    /// False: there was none.
    bool begin() {
        auto made = target_.make_storage(harness_.loop(), harness_.own_loop().uv(), files_.root());
        if (!made) {
            expect(!made.error().problems.empty(), "there is no reason");
            return must(false, "connecting");
        }
        harness_.use(std::move(*made));
        harness_.storage().use_memory(memory_.memory());
        return true;
    }
    Problems end() {
        harness_.shut_down({});
        return verdict_.take();
    }

    bool open(const std::string& name, Access access, FileId& file) {
        TestOpen op;
        op.path = keep(name);
        op.access = access;
        harness_.storage().open(op);
        const bool opened = run(op);
        file = op.file;
        return opened;
    }
    void read_film(const std::string& name) {
        FileId file = kNoFile;
        if (!must(open(name, Access::read, file), "opening " + name)) return;
        std::deque<TestRead> reads;
        for (std::size_t at = 0; at < kFilmBytes + kPieceBytes; at += kPieceBytes) {
            TestRead& read = reads.emplace_back();
            read.file = file;
            read.offset = at;
            read.buffer = memory_.memory().subspan(at, kPieceBytes);
            harness_.storage().read(read);
        }
        harness_.loop().run();
        for (TestRead& read : reads) {
            const bool is_read = must(run(read), "reading");
            const std::uint64_t left = kFilmBytes - std::min(kFilmBytes, read.offset);
            const std::uint64_t wanted = std::min<std::uint64_t>(kPieceBytes, left);
            expect(!is_read || (read.bytes == wanted &&
                                same_bytes(read.buffer.first(wanted), kFilmSeed, read.offset) == wanted),
                   "other bytes were read at " + std::to_string(read.offset));
        }
        harness_.storage().close(file);
    }
    void write_new() {
        FileId file = kNoFile;
        if (!must(open("new", Access::create_new, file), "creating")) return;
        const auto bytes = memory_.memory().first(kNewBytes);
        fill_with_test_bytes(bytes, kNewSeed, 0);
        std::deque<TestWrite> writes;
        for (std::size_t at = 0; at < kNewBytes; at += kPieceBytes) {
            TestWrite& write = writes.emplace_back();
            write.file = file;
            write.offset = at;
            write.buffer = bytes.subspan(at, kPieceBytes);
            harness_.storage().write(write);
        }
        harness_.loop().run();
        bool written = true;
        for (TestWrite& write : writes)
            written = must(run(write), "writing") && write.bytes == kPieceBytes && written;
        TestSync sync;
        sync.file = file;
        harness_.storage().sync(sync);
        if (must(run(sync), "syncing") && written)
            expect(files_.holds("new", kNewSeed, kNewBytes), "a file that was told written is not");
        harness_.storage().close(file);
    }
    bool perform(PathOp::Kind kind, const std::string& name, const std::string& to = "") {
        TestPath op;
        op.kind = kind;
        op.path = keep(name);
        if (!to.empty()) op.to = keep(to);
        harness_.storage().perform(op);
        if (!run(op)) return false;
        if (kind == PathOp::Kind::stat) expect(op.bytes == kFilmBytes, "the size is wrong");
        if (kind == PathOp::Kind::list) expect(op.entries == 1, "the list is wrong");
        return true;
    }
    void expect(bool right, const std::string& otherwise) { verdict_.expect(right, otherwise); }
    /// Returns `done`, which has to be true where nothing fails.
    bool must(bool done, const std::string& what) {
        expect(done || !target_.healthy, what + " failed");
        return done;
    }

private:
    const char* keep(const std::string& name) {
        return names_.emplace_back(target_.on_server(files_.at(name))).c_str();
    }
    /// True: the operation was done.
    template <typename TestOp>
    bool run(TestOp& op) {
        harness_.loop().run();
        expect(op.callbacks == 1, "an operation has not ended once");
        return op.callbacks == 1 && op.error == 0;
    }

    const TrialTarget& target_;
    const Files& files_;
    Harness<loop::UvLoop> harness_;
    storage::BufferArena memory_ = storage::BufferArena::make(kFilmBytes + 2 * kPieceBytes, {}).value();
    std::deque<std::string> names_;
    Verdict verdict_;
};

Problems use_storage(const TrialTarget& target) {
    using Kind = PathOp::Kind;
    const Files files(*target.source);
    std::optional<User> of;
    {
        const Pause pause(*target.source);
        of.emplace(target, files);
    }
    User& user = *of;
    if (!user.begin()) return {};
    user.read_film("film");
    user.read_film(target.links ? "link/../folder/./inside" : "folder/inside");
    FileId file = kNoFile;
    for (const char* none : {"none", "film/none", "lost", "none/none", kLongName, "../../../../../../none"})
        user.expect(!user.open(none, Access::read, file), std::string(none) + " was opened");
    if (target.writes) {
        user.must(user.perform(Kind::stat, "film"), "looking");
        user.must(user.perform(Kind::list, "link"), "listing");
        user.write_new();
        for (const char* name : {"none", "folder/none", "lost", kLongName})
            user.expect(!user.perform(Kind::stat, name), std::string(name) + " is there");
        for (const char* name : {"none", "film"})
            user.expect(!user.perform(Kind::list, name), std::string(name) + " was listed");
        // Asked for again after a loss, what is so already counts as done.
        if (target.healthy) {
            user.expect(!user.perform(Kind::make_directory, "folder"), "folder was made");
            user.expect(!user.perform(Kind::remove, "none"), "none was removed");
        }
        for (const char* name : {"film", "none/made", "film/made", kLongName})
            user.expect(!user.perform(Kind::make_directory, name), std::string(name) + " was made");
        for (const char* name : {"folder", "none/none", kLongName})
            user.expect(!user.perform(Kind::remove, name), std::string(name) + " was removed");
        for (const char* name : {"none", "film/none"})
            user.expect(!user.perform(Kind::rename, name, "some"), std::string(name) + " was renamed");
        user.expect(!user.open("film", Access::create_new, file), "a file was created anew");
        user.expect(!user.open("folder", Access::write, file), "a directory was opened to write");
        if (user.must(user.perform(Kind::make_directory, "made"), "a change"))
            user.expect(files.exists("made"), "it was not made");
        if (user.must(user.perform(Kind::rename, "old", "folder/older"), "a change"))
            user.expect(files.holds("folder/older", kNewSeed, kNewBytes) && !files.exists("old"),
                        "it was not renamed");
        if (user.must(user.perform(Kind::remove, "made"), "a change"))
            user.expect(!files.exists("made"), "it was not removed");
        if (user.must(user.perform(Kind::remove, "film"), "a change"))
            user.expect(!files.exists("film"), "it was not removed");
        for (const char* access : {"film", "again"}) {
            if (user.must(user.open(access, Access::create, file), "creating"))
                user.expect(files.exists(access), "it was not created");
        }
    }
    user.expect(files.holds("folder/inside", kFilmSeed, kFilmBytes), "another file was changed");
    return user.end();
}

// ---- the trials

/// A sample by chance, of this length or STREAMSIM_SAMPLE times that.
std::chrono::milliseconds sample_length(const TrialTarget& target) {
    const char* const times = std::getenv("STREAMSIM_SAMPLE");
    return target.sample * (times == nullptr ? 1 : std::atoi(times));
}

/// A trial takes milliseconds. One that hangs ends the program, and says where it and its threads are.
class HangWatch {
public:
    HangWatch() { signal(SIGALRM, tell); }
    ~HangWatch() {
        alarm(0);
        signal(SIGALRM, SIG_DFL);
    }
    HangWatch(const HangWatch&) = delete;
    HangWatch& operator=(const HangWatch&) = delete;
    void watch(std::string trial) {
        trial_ = std::move(trial);
        alarm(120);
    }

private:
    static void tell(int /*signal*/) {
        std::fprintf(stderr, "%s hangs; system calls of its threads:\n", trial_.c_str());
        for (const auto& thread : fs::directory_iterator("/proc/self/task")) {
            std::ifstream file(thread.path() / "syscall");
            std::string line;
            std::getline(file, line);
            std::fprintf(stderr, "  %s: %s\n", thread.path().filename().c_str(), line.c_str());
        }
        std::abort();
    }

    static inline std::string trial_;
};

/// STREAMSIM_EVERY_FAILURE=1: all of them, which takes minutes.
void try_each(const TrialTarget& target, Problems (*use)(const TrialTarget&)) {
    FailureSource& source = *target.source;
    TrialTarget healthy = target;
    healthy.healthy = true;
    HangWatch hangs;
    hangs.watch("the first one, without a failure,");
    source.begin(UINT64_MAX, 0);
    ASSERT_THAT(use(healthy), ::testing::IsEmpty()) << "without a failure";
    const std::uint64_t calls = source.calls();
    ASSERT_GT(calls, 0u);
    std::vector<std::pair<std::uint64_t, std::size_t>> trials;
    for (std::uint64_t at = 0; at < calls; ++at) {
        for (std::size_t way = 0; way < source.ways(); ++way) trials.emplace_back(at, way);
    }
    const bool every = std::getenv("STREAMSIM_EVERY_FAILURE") != nullptr;
    std::shuffle(trials.begin(), trials.end(), std::mt19937(1));
    const auto until = std::chrono::steady_clock::now() + sample_length(target);
    std::size_t tried = 0;
    for (const auto& [at, way] : trials) {
        if (!every && std::chrono::steady_clock::now() > until) break;
        hangs.watch(fmt::format("call {} in way {}", at, way));
        source.begin(at, way);
        const Problems problems = use(target);
        EXPECT_THAT(problems, ::testing::IsEmpty()) << "call " << at << ": " << source.told(way);
        ++tried;
    }
    hangs.watch("the last one, without a failure,");
    source.begin(UINT64_MAX, 0);
    EXPECT_THAT(use(healthy), ::testing::IsEmpty()) << "without a failure, afterwards";
    EXPECT_GT(tried, 0u);
    std::printf("%zu of %zu failures of %llu calls\n", tried, trials.size(),
                static_cast<unsigned long long>(calls));
}

}  // namespace

void try_store(const TrialTarget& target) {
    try_each(target, use_store);
}

void try_storage(const TrialTarget& target) {
    try_each(target, use_storage);
}

}  // namespace streamsim::tests
