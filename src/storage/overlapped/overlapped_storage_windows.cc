// How the completion port backend works
// =====================================
//
// Direct reads are overlapped: the loop's thread begins them, and Windows reports their end at a completion
// port, one for each loop. libuv's pool performs everything else as in the thread pool backend, because Windows
// would perform it inside the call and block the loop: opens, buffered reads (a copy from the page cache),
// writes (which wait when they extend the file), syncs and operations by name.
//
// Stamps. A thread of this storage waits at the port. It takes all completions that are there, stamps them by
// the clock of the loop, puts them on a queue and wakes the loop, which takes the queue at the beginning of a
// turn. CompletionPollTimes (operation_intake.h) says when that stamp could be late.
//
// Cancelling asks Windows to cancel the read; a read that has reached the disk may complete all the same.
#include <fmt/format.h>
#include <uv.h>
#include <windows.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <span>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/system/mutex.h"
#include "storage/backends.h"
#include "storage/clock_now.h"
#include "storage/local/handles_windows.h"
#include "storage/threads/threads_storage.h"

namespace streamsim::storage {
namespace {

constexpr DWORD kCompletionsMax = 64;  // completions that the thread takes with one call

/// The in-flight slot of a read. Its member `place` comes first: the port returns its address.
struct Slot {
    OVERLAPPED place{};
    ReadOp* op = nullptr;
    Slot* next = nullptr;  // while the slot is free, or in the queue of completions
    HANDLE handle = nullptr;
    DWORD error = 0;
    DWORD bytes = 0;
    Instant completed_at;
    bool cancelled = false;
};

struct PortFile {
    bool open = false;
    HANDLE handle = nullptr;
};

class OverlappedStorage final : public ThreadsStorage {
public:
    OverlappedStorage(EventLoop& loop, uv_loop_t* uv, const LocalOptions& options, HANDLE port)
        : ThreadsStorage(loop, uv, options),
          port_(port),
          wake_(new uv_async_t{}),
          slots_(std::max(options.parallel_reads, 1u)) {
        const int result = uv_async_init(uv, wake_, [](uv_async_t*) {});  // the turn that follows calls reap()
        STREAMSIM_CHECK(result == 0, "libuv makes an async handle");
        // The thread is as urgent as the loop's own.
        thread_ = std::thread([this, priority = GetThreadPriority(GetCurrentThread())] {
            SetThreadPriority(GetCurrentThread(), priority);
            take_from_port();
        });
    }
    ~OverlappedStorage() override {
        STREAMSIM_CHECK(wake_ == nullptr, "shutdown() comes before destruction");
        CloseHandle(port_);
    }

    void close(FileId file) override {
        if (PortFile* const open = files_.find(file)) *open = {};
        ThreadsStorage::close(file);
    }

    void cancel(Op& op) override {
        if (op.backend == nullptr || !is_overlapped(op)) return ThreadsStorage::cancel(op);
        auto& slot = *static_cast<Slot*>(op.backend);
        if (!std::exchange(slot.cancelled, true)) CancelIoEx(slot.handle, &slot.place);
    }

    StorageCapabilities capabilities() const override {
        StorageCapabilities all = ThreadsStorage::capabilities();
        all.io = "iocp";
        return all;
    }

private:
    void opened(FileId file, bool direct) override {
        if (!direct) return;
        const HANDLE handle = handle_of(file);
        // Without the port, the pool reads the file.
        if (CreateIoCompletionPort(handle, port_, 0, 0) != nullptr) files_.put(file) = {true, handle};
    }

    bool is_overlapped(const Op& op) {
        return op.operation == OpKind::read && files_.find(static_cast<const ReadOp&>(op).file) != nullptr;
    }

    void start(Op& op) override {
        if (!is_overlapped(op)) return ThreadsStorage::start(op);
        auto& read = static_cast<ReadOp&>(op);
        Slot& slot = slots_.take();
        slot.op = &read;
        slot.handle = files_.get(read.file).handle;
        slot.cancelled = false;
        op.backend = &slot;
        request(slot);
    }

    /// Reads the rest of the slot's operation.
    void request(Slot& slot) {
        const ReadOp& op = *slot.op;
        const auto rest = op.buffer.subspan(op.bytes);
        slot.place = place_at(op.offset + op.bytes);
        const BOOL done =
            ReadFile(slot.handle, rest.data(), static_cast<DWORD>(std::min(rest.size(), kCallBytesMax)),
                     nullptr, &slot.place);
        const DWORD error = done ? ERROR_SUCCESS : GetLastError();
        if (error == ERROR_SUCCESS || error == ERROR_IO_PENDING) return;
        // The port does not report a read that fails at once.
        slot.error = error;
        slot.bytes = 0;
        slot.completed_at = now();
        const MutexLock lock(mutex_);
        done_.push(slot);
        uv_async_send(wake_);
    }

    // The thread. A completion without a place ends it.
    void take_from_port() {
        std::array<OVERLAPPED_ENTRY, kCompletionsMax> entries;
        for (bool ends = false; !ends;) {
            ULONG count = 0;
            const BOOL taken =
                GetQueuedCompletionStatusEx(port_, entries.data(), kCompletionsMax, &count, INFINITE, FALSE);
            STREAMSIM_CHECK(taken, "a completion port can be waited for");
            const Instant seen = clock_now();
            const MutexLock lock(mutex_);
            for (const OVERLAPPED_ENTRY& entry : std::span(entries).first(count)) {
                if (entry.lpOverlapped == nullptr) {
                    ends = true;
                } else {
                    report(*reinterpret_cast<Slot*>(entry.lpOverlapped), seen);
                }
            }
            if (!done_.empty()) uv_async_send(wake_);
        }
    }

    void report(Slot& slot, Instant seen) REQUIRES(mutex_) {
        const BOOL good = GetOverlappedResult(slot.handle, &slot.place, &slot.bytes, FALSE);
        slot.error = good ? ERROR_SUCCESS : GetLastError();
        if (!good) slot.bytes = 0;
        slot.completed_at = seen;
        done_.push(slot);
    }

    LinkedQueue<Slot> take_done() {
        const MutexLock lock(mutex_);
        return done_.take();
    }

    void take_completions() override {
        ThreadsStorage::take_completions();
        for (LinkedQueue<Slot> done = take_done(); !done.empty();) {
            Slot& slot = done.pop();
            if (advance(slot)) complete(slot);
        }
    }

    // True: the operation is complete; otherwise its next request is on the way.
    bool advance(Slot& slot) {
        ReadOp& op = *slot.op;
        op.bytes += slot.bytes;
        if (slot.error != ERROR_SUCCESS) {
            op.error = slot.error == ERROR_HANDLE_EOF ? 0 : errno_of_system(slot.error);
            return true;
        }
        if (op.bytes == op.buffer.size() || ends_file(slot.bytes, true)) return true;
        if (slot.cancelled) {
            op.error = ECANCELED;
            return true;
        }
        request(slot);
        return false;
    }

    void complete(Slot& slot) {
        ReadOp& op = *slot.op;
        const Instant completed_at = slot.completed_at;
        slots_.give_back(slot);
        settle_stamped(op, op.error, completed_at);
        leave(true);
    }

    bool close_all() override {
        if (!ThreadsStorage::close_all()) return false;
        if (wake_ == nullptr) return true;
        const BOOL ends = PostQueuedCompletionStatus(port_, 0, 0, nullptr);
        STREAMSIM_CHECK(ends, "a completion port takes a message");
        thread_.join();
        uv_close(reinterpret_cast<uv_handle_t*>(std::exchange(wake_, nullptr)),
                 [](uv_handle_t* closed) { delete reinterpret_cast<uv_async_t*>(closed); });
        return true;
    }

    const HANDLE port_;
    uv_async_t* wake_;           // libuv frees it, by our callback
    FileTable<PortFile> files_;  // those whose reads the port reports, by file descriptor
    SlotPool<Slot> slots_;
    Mutex mutex_;
    LinkedQueue<Slot> done_ GUARDED_BY(mutex_);
    std::thread thread_;
};

}  // namespace

bool iocp_is_built_in() {
    return true;
}

Result<std::unique_ptr<Storage>> make_iocp_storage(EventLoop& loop,
                                                   uv_loop_t* uv,
                                                   const LocalOptions& options) {
    raise_open_file_limit();
    const HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, nullptr, 0, 1);
    if (port == nullptr)
        return environment_error(fmt::format("the system gives no completion port (error {})", GetLastError()));
    return std::unique_ptr<Storage>(std::make_unique<OverlappedStorage>(loop, uv, options, port));
}

}  // namespace streamsim::storage
