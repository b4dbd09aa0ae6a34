// The io_uring backend with its in-flight slots and files. uring_storage.cc begins with how the backend works.
#pragma once

#include <sys/stat.h>
#include <uv.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "storage/containers.h"
#include "storage/local/local_options.h"
#include "storage/local/local_writes.h"
#include "storage/operation_intake.h"
#include "storage/uring/ring.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

class UringStorage;

enum class UringStep : std::uint8_t { open, check, reopen, transfer, sync, name, remove_directory, pool };

/// The in-flight slot of an operation: the kernel has a request of it, or libuv's pool.
struct UringSlot {
    UringStorage* storage = nullptr;
    Op* op = nullptr;
    UringSlot* next = nullptr;  // while the slot is free, or in the batch
    UringStep step = UringStep::transfer;
    bool direct = false;
    bool local = false;
    bool check = false;     // statx checks after the open that direct I/O works
    bool confined = false;  // opened below the directory of writes
    bool cancelled = false;
    int file = kNoFile;
    std::int32_t result = 0;
    std::size_t asked_bytes = 0;
    const char* objection = nullptr;  // to direct I/O
    open_how how{};                   // of an open that is confined
    struct statx answer {};
    PlannedOpen planned;  // the result of an open by the pool
    uv_work_t work{};
};

struct UringFile {
    bool open = false;
    bool direct = false;
    bool local = false;
};

class UringStorage final : public LimitedIntake, public Waiter {
public:
    UringStorage(EventLoop& loop, uv_loop_t* uv, const LocalOptions& options, std::unique_ptr<Ring> ring);
    ~UringStorage() override;

    bool end_turn(bool wait) override;
    void hint(FileId file, std::uint64_t offset, std::uint64_t bytes) override;
    void close(FileId file) override;
    void cancel(Op& op) override;
    StorageCapabilities capabilities() const override;
    void use_memory(std::span<std::byte> memory) override;

private:
    void start(Op& op) override;
    void take_completions() override;
    bool close_all() override;
    void drain();
    void request(UringSlot& slot);
    io_uring_sqe& entry();
    void issue(io_uring_sqe& sqe, UringSlot* slot, bool async);
    void request_transfer(UringSlot& slot, FileId id, std::uint64_t offset, std::span<std::byte> rest);
    void request_read(UringSlot& slot);
    void request_write(UringSlot& slot);
    void request_sync(UringSlot& slot);
    void request_close(int file, bool local);
    bool advance(UringSlot& slot);
    bool advance_read(UringSlot& slot);
    bool advance_write(UringSlot& slot);
    void complete(UringSlot& slot, Instant seen);

    // uring_names.cc
    void start_open(UringSlot& slot);
    void request_open(UringSlot& slot);
    void request_check(UringSlot& slot);
    bool advance_open(UringSlot& slot);
    bool advance_check(UringSlot& slot);
    bool advance_pool_open(UringSlot& slot);
    bool open_again(UringSlot& slot, const char* why);
    bool opened(UringSlot& slot, int file);
    void start_name(UringSlot& slot);
    void request_name(UringSlot& slot);
    void request_of_pool(UringSlot& slot);
    bool advance_name(UringSlot& slot);
    bool ring_has(PathOp::Kind kind) const;

    uv_loop_t* const uv_;
    std::unique_ptr<Ring> ring_;
    DirectPolicy policy_;
    const LocalWrites writes_;
    NoticeSink notice_;
    const std::uint32_t workers_;
    const std::size_t hints_max_;
    SlotPool<UringSlot> slots_;
    FileTable<UringFile> files_;         // by file descriptor
    LinkedQueue<UringSlot> batch_;       // completions that were taken in this poll, in their order
    std::size_t without_operation_ = 0;  // requests that no operation waits for: close, hint, cancel
    std::uint32_t batch_max_ = 1;        // entries that wait for their submission
    bool polls_loop_ = false;            // a request of the ring waits for an event of the loop
    bool closed_ = false;
};

}  // namespace streamsim::storage
