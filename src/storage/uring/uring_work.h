// The io_uring backend, and what it keeps of each operation and file. uring_storage.cc opens with how it works.
#pragma once

#include <sys/stat.h>
#include <uv.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "storage/completion_poll_times.h"
#include "storage/local/local_options.h"
#include "storage/local/local_writes.h"
#include "storage/op_list.h"
#include "storage/uring/ring.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

class UringStorage;

enum class UringStep : std::uint8_t { open, check, reopen, transfer, sync, name, remove_directory, pool };

/// What an operation needs while the kernel, or libuv's pool, has it.
struct UringNode {
    UringStorage* storage = nullptr;
    Op* op = nullptr;
    UringNode* next = nullptr;  // free, or in the batch
    UringStep step = UringStep::transfer;
    bool direct = false;
    bool local = false;
    bool check = false;     // whether direct I/O is what it seems
    bool confined = false;  // opened below the directory of writes
    bool cancelled = false;
    int file = kNoFile;
    std::int32_t result = 0;
    std::size_t asked_bytes = 0;
    const char* objection = nullptr;  // to direct I/O
    open_how how{};                   // of an open that is confined
    struct statx answer {};
    PlannedOpen planned;  // by the pool
    uv_work_t work{};
};

/// A fixed number of nodes and the operations that wait for one.
struct UringLine {
    std::vector<UringNode> nodes;
    UringNode* free = nullptr;
    OpList waiting;

    UringLine(UringStorage& storage, std::uint32_t count) : nodes(std::max<std::uint32_t>(count, 1)) {
        for (UringNode& node : nodes) {
            node.storage = &storage;
            node.work.data = &node;
            give_back(node);
        }
    }
    UringNode* take(Op& op) {
        UringNode* node = free;
        if (node == nullptr) return nullptr;
        free = node->next;
        node->op = &op;
        node->cancelled = false;
        node->next = nullptr;
        op.backend = node;
        return node;
    }
    void give_back(UringNode& node) {
        node.op = nullptr;
        node.next = free;
        free = &node;
    }
};

struct UringFile {
    bool open = false;
    bool direct = false;
    bool local = false;
};

class UringStorage final : public Storage, public Reaper {
public:
    UringStorage(EventLoop& loop, const LocalOptions& options, std::unique_ptr<Ring> ring);
    ~UringStorage() override;

    Result<void> watch(uv_loop_t* uv);

    void open(OpenOp& op) override;
    void read(ReadOp& op) override;
    void write(WriteOp& op) override;
    void sync(SyncOp& op) override;
    void perform(PathOp& op) override;
    void hint(FileId file, std::uint64_t offset, std::uint64_t bytes) override;
    void close(FileId file) override;
    void cancel(Op& op) override;
    StorageCapabilities capabilities() const override;
    void use_memory(std::span<std::byte> memory) override;
    void shutdown(Callback done) override;
    void reap() override;

private:
    UringLine& line_of(const Op& op) {
        return op.operation == OpKind::read || op.operation == OpKind::write ? transfers_ : others_;
    }
    void accept(Op& op, OpKind kind);
    void start(UringNode& node);
    void request(UringNode& node);
    io_uring_sqe& entry();
    void request_read(UringNode& node);
    void request_write(UringNode& node);
    void request_sync(UringNode& node);
    void request_close(int file);
    UringFile file_of(FileId file) const;
    void flush();
    void take(void* data, std::int32_t result);
    void add_to_batch(UringNode& node);
    bool advance(UringNode& node);
    bool advance_read(UringNode& node);
    bool advance_write(UringNode& node);
    void settle(UringNode& node, Instant seen);
    void deliver(OpList ops);
    void deliver_cancelled();
    void advance_shutdown();
    void stop_watching();

    // uring_names.cc
    void start_open(UringNode& node);
    void request_open(UringNode& node);
    void request_check(UringNode& node);
    bool advance_open(UringNode& node);
    bool advance_check(UringNode& node);
    bool advance_pool_open(UringNode& node);
    bool open_again(UringNode& node, const char* why);
    bool opened(UringNode& node, int file);
    void start_name(UringNode& node);
    void request_name(UringNode& node);
    void request_of_pool(UringNode& node);
    bool advance_name(UringNode& node);
    bool ring_has(PathOp::Kind kind) const;

    EventLoop& loop_;
    uv_loop_t* uv_ = nullptr;
    std::unique_ptr<Ring> ring_;
    DirectPolicy policy_;
    const LocalWrites writes_;
    NoticeSink notice_;
    const std::uint32_t workers_;
    UringLine transfers_;
    UringLine others_;
    std::vector<UringFile> files_;  // by file descriptor, which is the FileId
    uv_poll_t* poll_ = nullptr;     // libuv frees it, by our callback
    CompletionPollTimes poll_times_;
    UringNode* batch_ = nullptr;  // completions taken in this look, in their order
    UringNode** batch_end_ = &batch_;
    OpList cancelled_;             // while they were waiting in line
    std::size_t outstanding_ = 0;  // operations whose callback has not run
    std::size_t nameless_ = 0;     // requests of ours that no operation waits for: close, hint, cancel
    bool flush_set_ = false;
    Callback shutdown_;
};

}  // namespace streamsim::storage
