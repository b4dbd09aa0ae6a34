#include "storage/remote/remote_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace streamsim::storage {
namespace {

TEST(PathOnServer, IsWhatComesBehindTheHost) {
    EXPECT_STREQ(path_on_server("nfs://host/export/clip.mov"), "/export/clip.mov");
    EXPECT_STREQ(path_on_server("smb://[fe80::1]/share/a b"), "/share/a b");
    EXPECT_STREQ(path_on_server("nfs://host"), "/");
    EXPECT_STREQ(path_on_server("/export/with://in it"), "/export/with://in it");
    EXPECT_STREQ(path_on_server(""), "");
}

/// Keeps its operations until it is told to complete them.
class HeldStorage final : public Storage {
public:
    HeldStorage(std::vector<OpenOp*>& opens, std::vector<PathOp*>& names, Op*& cancelled)
        : opens_(opens), names_(names), cancelled_(cancelled) {}
    void open(OpenOp& op) override { opens_.push_back(&op); }
    void perform(PathOp& op) override { names_.push_back(&op); }
    void read(ReadOp&) override {}
    void hint(FileId, std::uint64_t, std::uint64_t) override {}
    void close(FileId) override {}
    void cancel(Op& op) override { cancelled_ = &op; }
    StorageCapabilities capabilities() const override { return {}; }
    void use_memory(std::span<std::byte>) override {}
    void shutdown(Callback) override {}

private:
    std::vector<OpenOp*>& opens_;
    std::vector<PathOp*>& names_;
    Op*& cancelled_;
};

struct Caller {
    OpenOp op;
    int finished = 0;
    void done() { ++finished; }
};

TEST(ByWholeNames, OpensByThePathAndGivesEachCallerItsOwnResult) {
    std::vector<OpenOp*> inner;
    std::vector<PathOp*> names_inside;
    Op* cancelled = nullptr;
    const auto storage = by_whole_names(std::make_unique<HeldStorage>(inner, names_inside, cancelled));
    Caller callers[2];
    const char* const names[] = {"nfs://h/e/a", "nfs://h/e/b"};
    for (int i = 0; i < 2; ++i) {
        callers[i].op.path = names[i];
        callers[i].op.access = Access::create_new;
        callers[i].op.tag.slot = static_cast<std::uint64_t>(i);
        callers[i].op.done = Callback::of<&Caller::done>(&callers[i]);
        storage->open(callers[i].op);
    }
    ASSERT_EQ(inner.size(), 2U);
    EXPECT_STREQ(inner[0]->path, "/e/a");
    EXPECT_EQ(inner[1]->tag.slot, 1U);
    EXPECT_EQ(inner[1]->access, Access::create_new);
    storage->cancel(callers[1].op);
    EXPECT_EQ(cancelled, inner[1]);
    inner[1]->error = 125;
    inner[1]->done();
    inner[0]->file = 7;
    inner[0]->completed_at = Instant{42};
    inner[0]->done();
    EXPECT_EQ(callers[0].finished, 1);
    EXPECT_EQ(callers[0].op.file, 7);
    EXPECT_EQ(callers[0].op.error, 0);
    EXPECT_EQ(callers[0].op.completed_at, Instant{42});
    EXPECT_STREQ(callers[0].op.path, names[0]) << "it is the caller's";
    EXPECT_EQ(callers[1].op.error, 125);
    storage->open(callers[1].op);  // again, with what it had
    ASSERT_EQ(inner.size(), 3U);
    EXPECT_STREQ(inner[2]->path, "/e/b");
    EXPECT_EQ(inner[2]->error, 0);
    inner[2]->done();
    EXPECT_EQ(callers[1].finished, 2);
    ReadOp read;
    storage->cancel(read);
    EXPECT_EQ(cancelled, &read);
}

TEST(ByWholeNames, BothNamesOfARename) {
    std::vector<OpenOp*> opens;
    std::vector<PathOp*> inner;
    Op* cancelled = nullptr;
    const auto storage = by_whole_names(std::make_unique<HeldStorage>(opens, inner, cancelled));
    int finished = 0;
    PathOp op;
    op.kind = PathOp::Kind::rename;
    op.path = "nfs://h/e/a";
    op.to = "nfs://h/e/b";
    op.done = {[](void* count) { ++*static_cast<int*>(count); }, &finished};
    storage->perform(op);
    ASSERT_EQ(inner.size(), 1U);
    EXPECT_EQ(inner[0]->kind, PathOp::Kind::rename);
    EXPECT_STREQ(inner[0]->path, "/e/a");
    EXPECT_STREQ(inner[0]->to, "/e/b");
    storage->cancel(op);
    EXPECT_EQ(cancelled, inner[0]);
    inner[0]->error = 2;
    inner[0]->entries = 3;
    inner[0]->bytes = 4;
    inner[0]->done();
    EXPECT_EQ(finished, 1);
    EXPECT_EQ(op.error, 2);
    EXPECT_EQ(op.entries, 3U);
    EXPECT_EQ(op.bytes, 4U);
    EXPECT_STREQ(op.to, "nfs://h/e/b") << "it is the caller's";
}

}  // namespace
}  // namespace streamsim::storage
