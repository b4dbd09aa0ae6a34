// The NFS backend with its operations, pieces, files and nodes. nfs_storage.cc opens with how it works.
#pragma once

#include <uv.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "storage/containers.h"
#include "storage/nfs/nfs_path_walk.h"
#include "storage/nfs/nfs_server.h"
#include "storage/operation_intake.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

class NfsStorage;
struct NfsPiece;
struct NfsTransfer;

/// A node with the work that waits for one of its connections.
struct NfsNodeQueue {
    NfsNode* node = nullptr;
    LinkedQueue<NfsPiece> pending;   // to be sent again, or for the first time because no connection was up
    LinkedQueue<NfsTransfer> uncut;  // transfers of which not every piece has been cut
};

struct NfsFile {
    bool open = false;
    bool opening_again = false;
    FileId id = kNoFile;
    std::uint32_t generation = 0;
    NfsNodeQueue* queue = nullptr;
    std::string path;
    NfsOpenFile file;
    std::unique_ptr<NfsPathWalk> again;
    NfsStorage* storage = nullptr;
    bool unstable = false;           // something was written that no sync has made sure of
    bool lost = false;               // and the server that had it in memory has forgotten it
    std::array<char, 8> verifier{};  // of that server's memory
};

/// The in-flight slot of a read or a write.
struct NfsTransfer {
    Op* op = nullptr;
    NfsTransfer* next = nullptr;  // free, or in NfsNodeQueue::uncut
    NfsNodeQueue* queue = nullptr;
    bool writes = false;
    FileId file = kNoFile;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::byte* memory = nullptr;
    std::uint64_t cut = 0;  // bytes, from the beginning
    std::uint64_t end = 0;  // of the file, as far as is known
    std::uint32_t pieces = 0;
    bool queued = false;  // in NfsNodeQueue::uncut
};

struct NfsPiece {
    NfsStorage* storage = nullptr;
    NfsPiece* next = nullptr;         // free, or in NfsNodeQueue::pending
    NfsTransfer* transfer = nullptr;  // null: its operation has ended
    NfsNodeQueue* queue = nullptr;
    std::uint64_t offset = 0;  // in the file
    std::uint32_t bytes = 0;
    std::uint32_t generation = 0;  // of the file
    std::uint32_t stale = 0;       // answers
    Instant not_before;
    NfsCall call;
};

/// The in-flight slot of an open, a sync or an operation by name.
struct NfsOperation {
    NfsStorage* storage = nullptr;
    Op* op = nullptr;  // null: the operation has ended, its requests have not
    NfsOperation* next = nullptr;
    NfsNodeQueue* queue = nullptr;
    NfsPathWalk walk;
    bool syncs = false;
    bool asked = false;  // sync: the request is on its way
    Instant not_before;  // sync
    NfsCall call;        // sync
};

class NfsStorage final : public LimitedIntake {
public:
    NfsStorage(EventLoop& loop, std::unique_ptr<NfsServer> server, const RemoteOptions& options);
    ~NfsStorage() override;

    void watch(uv_loop_t* uv);

    void close(FileId file) override;
    void cancel(Op& op) override;
    /// No page cache lies between: reads come from the server, and writes reach it. libnfs cannot send more
    /// than some 3 KiB in a request of version 4, which is no way to write.
    StorageCapabilities capabilities() const override { return {"nfs", true, 1, true, writes_}; }
    std::vector<ServerTraffic> traffic() const override;

private:
    NfsNodeQueue& queue_of(std::uint32_t seat) { return *queue_by_address_[seat % queue_by_address_.size()]; }

    void begin(Op& op) override;
    void start(Op& op) override;
    void take_completions() override;
    void before_delivery() override;
    bool close_all() override;

    void start_operation(Op& op);
    void start_sync(NfsOperation& operation);
    void start_walk(NfsOperation& operation);
    static void on_walked(void* operation, NfsPathWalk& walk);
    void free_operation(NfsOperation& operation);
    void end_operation(NfsOperation& operation, int error);
    void ask_sync(NfsOperation& operation);
    static void on_synced(void* operation, NfsCall& call, const NfsReply& reply);
    FileId add_file(NfsNodeQueue& queue, std::string path, const NfsOpenFile& file);
    void close_on_server(NfsNodeQueue& queue, const NfsOpenFile& file);
    static void on_closed(void* self, NfsCall& call, const NfsReply& reply);

    // nfs_transfers.cc
    void start_transfer(Op& op);
    void pump(NfsNodeQueue& queue);
    void cut(NfsNodeQueue& queue);
    bool send(NfsPiece& piece);
    static void on_piece(void* piece, NfsCall& call, const NfsReply& reply);
    void take_data(NfsPiece& piece, const NfsReply& reply);
    void take_written(NfsPiece& piece, const NfsReply& reply);
    void wait_again(NfsPiece& piece, Duration pause);
    void open_again(NfsPiece& piece, int error);
    static void on_opened_again(void* file, NfsPathWalk& walk);
    void piece_done(NfsPiece& piece);
    void end_transfer(NfsTransfer& transfer, int error);

    void tick();
    void go_on();

    std::unique_ptr<NfsServer> server_;
    const Duration timeout_;
    const bool writes_;
    std::deque<NfsNodeQueue> queues_;  // one a node
    std::vector<NfsNodeQueue*> queue_by_address_;
    FileTable<NfsFile> files_;
    SlotPool<NfsTransfer> transfers_;
    SlotPool<NfsOperation> operations_;
    SlotPool<NfsPiece> pieces_;
    SlotPool<NfsCall> closes_;
    uv_timer_t* timer_ = nullptr;  // libuv frees it, by our callback
    bool tick_due_ = false;
    Instant closing_until_ = Instant::never();
};

}  // namespace streamsim::storage
