// The thread pool backend, which a backend that has some operations elsewhere extends. threads_storage.cc
// begins with how the backend works.
#pragma once

#include <uv.h>

#include <cstddef>
#include <cstdint>

#include "base/system/mutex.h"
#include "storage/containers.h"
#include "storage/local/local_file.h"
#include "storage/local/local_options.h"
#include "storage/local/local_writes.h"
#include "storage/operation_intake.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

class ThreadsStorage : public LimitedIntake {
public:
    ThreadsStorage(EventLoop& loop, uv_loop_t* uv, const LocalOptions& options);
    ~ThreadsStorage() override;

    void hint(FileId file, std::uint64_t offset, std::uint64_t bytes) override;
    void close(FileId file) override;
    void cancel(Op& op) override;
    StorageCapabilities capabilities() const override;

protected:
    void start(Op& op) override;
    void take_completions() override;
    bool close_all() override;
    /// A file was opened, for direct I/O or not.
    virtual void opened(FileId /*file*/, bool /*direct*/) {}

    uv_loop_t* uv() const { return uv_; }
    /// A read of `bytes` has reached the end of the file: a direct one that stops between two blocks, too.
    bool ends_file(std::size_t bytes, bool direct) const {
        return bytes == 0 || (direct && bytes % policy_.alignment() != 0);
    }

private:
    enum class Work : std::uint8_t { operation, hint, close };

    struct Node {
        uv_work_t work{};
        ThreadsStorage* storage = nullptr;
        Node* next = nullptr;  // while the node is free, or completed
        Work kind = Work::operation;
        Op* op = nullptr;
        int file = kNoFile;
        bool direct = false;
        bool check = false;
        std::uint64_t offset = 0;  // hint
        std::uint64_t bytes = 0;   // hint
        PlannedOpen planned;       // open: the result of the pool's thread
    };

    struct OpenFile {
        bool open = false;
        bool direct = false;
    };

    static void in_pool(uv_work_t* work);
    static void after_pool(uv_work_t* work, int status);
    LinkedQueue<Node> take_done();
    Node& take_node(Work kind);
    void queue(Node& node);
    void start_open(Node& node);
    void start_on_file(Node& node, FileId file);
    void do_operation(Node& node);
    void do_open(Node& node) const;
    void do_read(Node& node) const;
    void do_write(Node& node) const;
    void note_open(const Node& node, const OpenOp& op);
    void complete(Node& node);

    uv_loop_t* const uv_;
    DirectPolicy policy_;
    const LocalWrites writes_;
    FileTable<OpenFile> files_;  // by file descriptor
    SlotPool<Node> nodes_;       // grows when closes and hints pile up
    const std::size_t hints_max_;
    std::size_t busy_ = 0;  // nodes that libuv has
    Mutex mutex_;
    LinkedQueue<Node> done_ GUARDED_BY(mutex_);
};

}  // namespace streamsim::storage
