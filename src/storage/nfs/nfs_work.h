// The NFS backend, and what it keeps of each operation, piece, file and node. nfs_storage.cc opens with how it
// works.
#pragma once

#include <uv.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/completion_poll_times.h"
#include "storage/nfs/nfs_opening.h"
#include "storage/nfs/nfs_server.h"
#include "storage/op_list.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

class NfsStorage;
struct NfsPiece;
struct NfsTransfer;

/// First in, first out, linked through `next`.
template <typename T>
class NfsFifo {
public:
    T* first() const { return first_; }
    void push(T& item) {
        item.next = nullptr;
        (last_ != nullptr ? last_->next : first_) = &item;
        last_ = &item;
    }
    T* pop() {
        T* const item = first_;
        if (item == nullptr) return nullptr;
        first_ = item->next;
        if (first_ == nullptr) last_ = nullptr;
        item->next = nullptr;
        return item;
    }
    NfsFifo take() { return std::exchange(*this, {}); }

private:
    T* first_ = nullptr;
    T* last_ = nullptr;
};

/// A node and what waits for it.
struct NfsDesk {
    NfsNode* node = nullptr;
    NfsFifo<NfsPiece> pending;  // to be sent, again or because the connections were away
    NfsFifo<NfsTransfer> uncut;
};

struct NfsFile {
    bool open = false;
    bool opening_again = false;
    std::uint32_t generation = 0;
    NfsDesk* desk = nullptr;
    std::string path;
    NfsOpenFile file;
    std::unique_ptr<NfsOpening> again;
    NfsStorage* storage = nullptr;
    bool unstable = false;           // something was written that no sync has made sure of
    bool lost = false;               // and the server that had it in memory has forgotten it
    std::array<char, 8> verifier{};  // of that server's memory
};

/// A read or a write.
struct NfsTransfer {
    Op* op = nullptr;
    NfsTransfer* next = nullptr;  // free, or uncut
    NfsDesk* desk = nullptr;
    bool writes = false;
    FileId file = kNoFile;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::byte* memory = nullptr;
    std::uint64_t cut = 0;  // bytes, from the beginning
    std::uint64_t end = 0;  // of the file, as far as is known
    std::uint32_t pieces = 0;
    bool in_line = false;  // of the uncut
};

struct NfsPiece {
    NfsStorage* storage = nullptr;
    NfsPiece* next = nullptr;         // free, or pending
    NfsTransfer* transfer = nullptr;  // null: nobody waits for it
    NfsDesk* desk = nullptr;
    std::uint64_t offset = 0;  // in the file
    std::uint32_t bytes = 0;
    std::uint32_t generation = 0;  // of the file
    std::uint32_t stale = 0;       // answers
    Instant not_before;
    NfsCall call;
};

/// An open, a sync, or what is done by name.
struct NfsErrand {
    NfsStorage* storage = nullptr;
    Op* op = nullptr;  // null: nobody waits for it
    NfsErrand* next = nullptr;
    NfsDesk* desk = nullptr;
    NfsOpening opening;
    // of a sync
    bool syncs = false;
    bool asked = false;
    Instant not_before;
    NfsCall call;
};

class NfsStorage final : public Storage, public Reaper {
public:
    NfsStorage(EventLoop& loop, std::unique_ptr<NfsServer> server, const RemoteOptions& options);
    ~NfsStorage() override;

    void watch(uv_loop_t* uv);

    void open(OpenOp& op) override;
    void read(ReadOp& op) override;
    void write(WriteOp& op) override;
    void sync(SyncOp& op) override;
    void perform(PathOp& op) override;
    void hint(FileId, std::uint64_t, std::uint64_t) override {}
    void close(FileId file) override;
    void cancel(Op& op) override;
    /// There is no page cache between: what is read comes from the server, what is written is there. libnfs
    /// cannot send more than some 3 KiB in a request of version 4, which is no way to write.
    StorageCapabilities capabilities() const override { return {"nfs", true, 1, true, writes_}; }
    std::vector<ServerTraffic> traffic() const override;
    void use_memory(std::span<std::byte>) override {}
    void shutdown(Callback done) override;
    void reap() override;

private:
    NfsDesk& desk_of(std::uint32_t seat) { return *desk_by_address_[seat % desk_by_address_.size()]; }

    void accept(Op& op, OpKind kind);
    NfsFile* file_of(FileId file);
    bool is_transfer(const Op& op) const {
        return op.operation == OpKind::read || op.operation == OpKind::write;
    }

    void start_errand(Op& op);
    static void on_opened(void* errand, NfsOpening& opening);
    void free_errand(NfsErrand& errand);
    void end_errand(NfsErrand& errand, int error);
    void ask_sync(NfsErrand& errand);
    static void on_synced(void* errand, NfsCall& call, const NfsReply& reply);
    FileId keep(NfsDesk& desk, std::string path, const NfsOpenFile& file);
    void close_on_server(NfsDesk& desk, const NfsOpenFile& file);
    static void on_closed(void* self, NfsCall& call, const NfsReply& reply);

    // nfs_transfers.cc
    void start_transfer(Op& op);
    void pump(NfsDesk& desk);
    bool send(NfsPiece& piece);
    static void on_piece(void* piece, NfsCall& call, const NfsReply& reply);
    void take_data(NfsPiece& piece, const NfsReply& reply);
    void take_written(NfsPiece& piece, const NfsReply& reply);
    void wait_again(NfsPiece& piece, Duration pause);
    void open_again(NfsPiece& piece, int error);
    static void on_opened_again(void* file, NfsOpening& opening);
    void piece_done(NfsPiece& piece);
    void end_transfer(NfsTransfer& work, int error);

    void settle(Op& op, int error);
    void tick();
    void expire(OpList& waiting);
    void go_on();
    void deliver();
    void deliver_later();
    void advance_shutdown();
    void stop_watching();

    EventLoop& loop_;
    std::unique_ptr<NfsServer> server_;
    const Duration timeout_;
    const bool writes_;
    std::deque<NfsDesk> desks_;  // one a node
    std::vector<NfsDesk*> desk_by_address_;
    std::deque<NfsFile> files_;
    std::vector<FileId> free_files_;
    std::vector<NfsTransfer> transfers_;
    std::vector<NfsErrand> errands_;
    std::deque<NfsPiece> pieces_;
    NfsTransfer* free_transfers_ = nullptr;
    NfsErrand* free_errands_ = nullptr;
    NfsPiece* free_pieces_ = nullptr;
    OpList waiting_transfers_;
    OpList waiting_errands_;
    std::deque<NfsCall> closes_;
    NfsCall* free_closes_ = nullptr;
    CompletionPollTimes poll_times_;
    OpList done_;
    bool deliver_set_ = false;
    std::size_t outstanding_ = 0;
    uv_poll_t* poll_ = nullptr;  // libuv frees them, by our callbacks
    uv_timer_t* timer_ = nullptr;
    Callback shutdown_;
    Instant closing_until_ = Instant::never();
};

}  // namespace streamsim::storage
