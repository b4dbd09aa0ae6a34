// Local files on every system: the byte store, and the thread pool on its loop. Names have characters beyond
// ASCII, and paths more than 260 characters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/prng.h"
#include "loop/uv_loop.h"
#include "storage/backends.h"
#include "storage/buffer_arena.h"
#include "storage/local/local_byte_store.h"
#include "storage/local/local_options.h"

namespace streamsim::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kName = "Aufl\xc3\xb6sung \xe2\x82\xac.dpx";

class LocalFilesTest : public testing::Test {
protected:
    LocalFilesTest() { EXPECT_TRUE(store_->make_directories(root_)); }
    ~LocalFilesTest() override {
        std::error_code ignored;
        std::filesystem::remove_all(root_, ignored);
    }

    std::string at(const std::string& name) const { return root_ + "/" + name; }

    void put(const std::string& name, std::span<const std::byte> bytes) {
        auto sink = store_->create(at(name));
        ASSERT_TRUE(sink) << sink.error().problems.front();
        // The second half first: write_at() takes an offset.
        const std::size_t half = bytes.size() / 2;
        ASSERT_TRUE((*sink)->write_at(half, bytes.subspan(half)));
        ASSERT_TRUE((*sink)->write_at(0, bytes.first(half)));
        ASSERT_TRUE((*sink)->close());
    }

    std::string get(const std::string& name) {
        auto source = store_->open(at(name));
        EXPECT_TRUE(source) << source.error().problems.front();
        const auto size = (*source)->size();
        EXPECT_TRUE(size);
        std::string text(*size + 10, '?');
        const auto got = (*source)->read_at(0, std::as_writable_bytes(std::span(text)));
        EXPECT_TRUE(got);
        text.resize(*got);
        return text;
    }

    const std::unique_ptr<ByteStore> store_ = make_local_byte_store();
    const std::string root_ = std::filesystem::temp_directory_path().generic_string() + "/streamsim-files-" +
                              std::to_string(entropy64());
};

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

TEST_F(LocalFilesTest, AreWrittenReadListedAndRemoved) {
    put(kName, bytes_of("line\nline\r\n\x1a end"));
    EXPECT_EQ(get(kName), "line\nline\r\n\x1a end") << "bytes are not text";
    ASSERT_TRUE(store_->make_directories(at("b/c")));
    ASSERT_TRUE(store_->make_directories(at("b/c"))) << "again";
    const auto entries = store_->list(root_);
    ASSERT_TRUE(entries);
    ASSERT_EQ(entries->size(), 2u);
    EXPECT_EQ((*entries)[0].name, kName);
    EXPECT_FALSE((*entries)[0].directory);
    EXPECT_TRUE((*entries)[1].directory);
    const auto info = store_->stat(at(kName));
    ASSERT_TRUE(info && *info);
    EXPECT_EQ((*info)->bytes, 16u);
    EXPECT_FALSE((*info)->directory);
    EXPECT_GT((*info)->modified_s, 1'600'000'000);
    EXPECT_TRUE(store_->remove(at(kName)));
    EXPECT_FALSE(store_->remove(at("b"))) << "it is not empty";
    EXPECT_TRUE(store_->remove(at("b/c")));
    EXPECT_TRUE(store_->remove(at("b")));
    EXPECT_TRUE(store_->stat(at("b")));
    EXPECT_FALSE(*store_->stat(at("b"))) << "there is nothing";
}

TEST_F(LocalFilesTest, AreRenamedAndReplaceNothing) {
    put("a", bytes_of("old"));
    put("b", bytes_of("new"));
    const auto refused = store_->rename(at("b"), at("a"));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().problems, ElementsAre(HasSubstr("EEXIST")));
    EXPECT_EQ(get("a"), "old");
    ASSERT_TRUE(store_->rename(at("b"), at("c")));
    EXPECT_EQ(get("c"), "new");
}

TEST_F(LocalFilesTest, LieDeep) {
    std::string deep;
    for (int i = 0; i < 12; ++i)
        deep += (deep.empty() ? "" : "/") + std::string(30, static_cast<char>('a' + i));
    ASSERT_TRUE(store_->make_directories(at(deep)));
    put(deep + "/" + kName, bytes_of("down there"));
    EXPECT_EQ(get(deep + "/" + kName), "down there");
    EXPECT_EQ(store_->list(at(deep))->size(), 1u);
    for (std::string path = deep + "/" + kName; !path.empty();
         path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'))) {
        EXPECT_TRUE(store_->remove(at(path))) << path;
    }
}

TEST_F(LocalFilesTest, SayWhatIsWrong) {
    for (const auto& problem : {store_->open(at("nobody")).error(), store_->list(at("nobody")).error(),
                                store_->remove(at("nobody")).error()}) {
        EXPECT_EQ(problem.kind, ErrorKind::environment);
        EXPECT_THAT(problem.problems, ElementsAre(AllOf(HasSubstr("nobody"), HasSubstr("(ENOENT)"))));
        EXPECT_TRUE(problem.inaccessible);
    }
    EXPECT_THAT(store_->open(root_).error().problems, ElementsAre(HasSubstr("EISDIR")));
    EXPECT_GT(*store_->free_bytes(at("not/there/yet")), 0u);
}

/// Opens, reads `wanted` bytes and closes, on a loop of its own.
class PoolRead {
public:
    PoolRead(std::string path, bool past_the_cache) : path_(std::move(path)) {
        LocalOptions options;
        options.direct = past_the_cache;
        options.notice = [this](const std::string& text) { notice = text; };
        auto storage = make_threads_storage(loop_, loop_.uv(), options);
        storage_ = std::move(*storage);
    }

    void run(std::uint64_t offset, std::size_t bytes) {
        open_.path = path_.c_str();
        open_.done = Callback::of<&PoolRead::opened>(this);
        for (std::size_t i = 0; i < reads.size(); ++i) {
            reads[i].offset = offset + i * bytes;
            reads[i].buffer = arena_->memory().subspan(i * bytes, bytes);
            reads[i].done = Callback::of<&PoolRead::was_read>(this);
        }
        storage_->open(open_);
        loop_.run();
        direct = storage_->capabilities().direct;
        storage_.reset();
    }

    std::array<ReadOp, 4> reads;
    int open_error = 0;
    bool direct = false;
    std::string notice;

private:
    void opened() {
        open_error = open_.error;
        if (open_error != 0) return end();
        for (ReadOp& read : reads) {
            read.file = open_.file;
            storage_->read(read);
        }
    }
    void was_read() {
        if (++done_ < reads.size()) return;
        storage_->close(open_.file);
        end();
    }
    void end() { storage_->shutdown(Callback::of<&EventLoop::stop>(&loop_)); }

    std::string path_;
    loop::UvLoop loop_;
    std::unique_ptr<Storage> storage_;
    Result<BufferArena> arena_ = BufferArena::make(std::uint64_t{4} << 20, {});
    OpenOp open_;
    std::size_t done_ = 0;
};

TEST_F(LocalFilesTest, AreReadByThePoolAtTheirPlaces) {
    constexpr std::size_t kPiece = 65536;
    std::vector<std::byte> bytes(3 * kPiece + 8192 + 1000);
    Prng random(7);
    for (std::byte& each : bytes) each = static_cast<std::byte>(random.next());
    put(kName, bytes);
    for (const bool direct : {false, true}) {
        PoolRead reader(at(kName), direct);
        reader.run(8192, kPiece);
        ASSERT_EQ(reader.open_error, 0);
        for (std::size_t i = 0; i < 4; ++i) {
            const ReadOp& read = reader.reads[i];
            EXPECT_EQ(read.error, 0);
            ASSERT_EQ(read.bytes, i < 3 ? kPiece : 1000) << "the last one meets the end of the file";
            EXPECT_TRUE(std::equal(read.buffer.begin(),
                                   read.buffer.begin() + static_cast<std::ptrdiff_t>(read.bytes),
                                   bytes.begin() + static_cast<std::ptrdiff_t>(read.offset)));
            EXPECT_LE(read.submitted_at, read.completed_at);
        }
        EXPECT_EQ(reader.direct, direct && reader.notice.empty()) << "what it was is told";
    }
}

TEST_F(LocalFilesTest, ThePoolSaysThatNothingIsThere) {
    PoolRead reader(at("nobody"), true);
    reader.run(0, 4096);
    EXPECT_EQ(reader.open_error, ENOENT);
}

/// Performs one operation after the other.
class PoolNames {
public:
    PoolNames() {
        LocalOptions options;
        options.direct = false;
        auto storage = make_threads_storage(loop_, loop_.uv(), options);
        storage_ = std::move(*storage);
    }
    ~PoolNames() {
        storage_->shutdown(Callback::of<&EventLoop::stop>(&loop_));
        loop_.run();
    }

    FileId open(const std::string& path, Access access, int& error) {
        OpenOp op;
        op.path = path.c_str();
        op.access = access;
        wait(op, &Storage::open);
        error = op.error;
        return op.file;
    }
    std::pair<int, std::uint64_t> write(FileId file, std::uint64_t offset, std::span<const std::byte> from) {
        WriteOp op;
        op.file = file;
        op.offset = offset;
        op.buffer = from;
        wait(op, &Storage::write);
        return {op.error, op.bytes};
    }
    int sync(FileId file) {
        SyncOp op;
        op.file = file;
        wait(op, &Storage::sync);
        return op.error;
    }
    PathOp perform(PathOp::Kind kind, const std::string& path, const std::string& to = {}) {
        PathOp op;
        op.kind = kind;
        op.path = path.c_str();
        op.to = to.c_str();
        wait(op, &Storage::perform);
        return op;
    }
    void close(FileId file) { storage_->close(file); }

private:
    template <typename Operation>
    void wait(Operation& op, void (Storage::*begin)(Operation&)) {
        op.done = Callback::of<&EventLoop::stop>(&loop_);
        (storage_.get()->*begin)(op);
        loop_.run();
    }

    loop::UvLoop loop_;
    std::unique_ptr<Storage> storage_;
};

TEST_F(LocalFilesTest, AreWrittenByThePool) {
    PoolNames pool;
    int error = 0;
    EXPECT_LT(pool.open(at(kName), Access::write, error), 0);
    EXPECT_EQ(error, ENOENT);
    FileId file = pool.open(at(kName), Access::create_new, error);
    ASSERT_EQ(error, 0);
    EXPECT_EQ(pool.write(file, 4, bytes_of("beyond the end")), std::pair(0, std::uint64_t{14}));
    EXPECT_EQ(pool.write(file, 0, bytes_of("line")), std::pair(0, std::uint64_t{4}));
    EXPECT_EQ(pool.sync(file), 0);
    pool.close(file);
    EXPECT_EQ(get(kName), "linebeyond the end");
    pool.open(at(kName), Access::create_new, error);
    EXPECT_EQ(error, EEXIST);
    file = pool.open(at(kName), Access::create, error);
    ASSERT_EQ(error, 0);
    EXPECT_EQ(pool.write(file, 2, bytes_of("--")), std::pair(0, std::uint64_t{2}));
    pool.close(file);
    EXPECT_EQ(get(kName), "li--beyond the end") << "what it holds stays";
}

TEST_F(LocalFilesTest, AreNamedAndCountedByThePool) {
    PoolNames pool;
    put("a", bytes_of("new"));
    put("b", bytes_of("older"));
    EXPECT_EQ(pool.perform(PathOp::Kind::make_directory, at("set")).error, 0);
    EXPECT_EQ(pool.perform(PathOp::Kind::make_directory, at("set")).error, EEXIST);
    EXPECT_EQ(pool.perform(PathOp::Kind::list, root_).entries, 3u);
    EXPECT_EQ(pool.perform(PathOp::Kind::stat, at("b")).bytes, 5u);
    EXPECT_EQ(pool.perform(PathOp::Kind::rename, at("a"), at("b")).error, 0);
    EXPECT_EQ(get("b"), "new");
    EXPECT_EQ(pool.perform(PathOp::Kind::rename, at("b"), at("set/b")).error, 0);
    EXPECT_EQ(pool.perform(PathOp::Kind::remove, at("set")).error, ENOTEMPTY);
    EXPECT_EQ(pool.perform(PathOp::Kind::remove, at("set/b")).error, 0);
    EXPECT_EQ(pool.perform(PathOp::Kind::remove, at("set")).error, 0);
    EXPECT_EQ(pool.perform(PathOp::Kind::remove, at("set")).error, ENOENT);
    EXPECT_EQ(pool.perform(PathOp::Kind::stat, at("nobody")).error, ENOENT);
    EXPECT_EQ(pool.perform(PathOp::Kind::list, root_).entries, 0u);
}

}  // namespace
}  // namespace streamsim::storage
