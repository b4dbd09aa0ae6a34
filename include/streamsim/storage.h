// Storage: asynchronous reading and writing on an event loop. The operation objects belong to the caller, who
// keeps them and the memory they point at in place, untouched, until the callback ran. A backend makes its own
// records at start-up and allocates nothing for an operation.
//
// Threading: every call on the loop's thread. Callbacks run on the loop's thread, once for each operation,
// outside of the call that submitted it, also after cancel().
//
// Stamps: completed_at is when the backend saw the completion. The operation may have completed earlier when
// the process was stopped or the loop was busy: then not_before is the backend's last poll that did not find
// the completion yet. Otherwise the two are equal. Errors are errno values; 0 is success.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/callback.h"
#include "base/check.h"
#include "base/time.h"

namespace streamsim {

/// An open file of one storage; negative: none.
using FileId = std::int32_t;
constexpr FileId kNoFile = -1;

/// The seat, stream and frame of an operation. Decorators, models and traces use the tag, and so does a backend
/// whose seats use different nodes of one server.
struct IoTag {
    std::uint32_t seat = 0;
    std::uint32_t stream = 0;
    std::uint64_t slot = 0;        // frame slot, counted on over passes
    std::uint64_t clip_frame = 0;  // frame within the clip, from 0
};

enum class OpKind : std::uint8_t { open, read, write, sync, path };

struct Op {
    // in
    Callback done;
    IoTag tag;
    // out; valid when `done` runs
    int error = 0;
    Instant submitted_at;
    Instant completed_at;
    Instant not_before;
    // for the backend that performs the operation
    Op* next = nullptr;
    void* backend = nullptr;
    OpKind operation = OpKind::read;
};

enum class Access : std::uint8_t {
    read,        // an existing file
    write,       // an existing file, for reading too
    create,      // for writing and reading; a missing file is created, and an existing one keeps its contents
    create_new,  // for writing and reading; EEXIST if the file exists
};

/// Opens `path`. REQUIRES: the directory of a file to be created exists.
struct OpenOp : Op {
    const char* path = nullptr;    // in
    Access access = Access::read;  // in
    bool through_cache = false;    // in: never use direct I/O for this file
    FileId file = kNoFile;         // out
};

/// Reads buffer.size() bytes at `offset`. Fewer `bytes` without an error means that the file ends there; a
/// backend repeats short reads itself. REQUIRES: offset, buffer address and size are multiples of
/// capabilities().alignment.
struct ReadOp : Op {
    FileId file = kNoFile;        // in
    std::uint64_t offset = 0;     // in
    std::span<std::byte> buffer;  // in
    Instant deadline;             // in; a hint: cancels nothing
    std::uint64_t bytes = 0;      // out
};

/// Writes the whole buffer at `offset`, beyond the end of the file as well. Fewer `bytes` only with an error; a
/// backend repeats short writes itself. REQUIRES: as for ReadOp; the file was not opened with Access::read.
struct WriteOp : Op {
    FileId file = kNoFile;              // in
    std::uint64_t offset = 0;           // in
    std::span<const std::byte> buffer;  // in
    Instant deadline;                   // in; a hint
    std::uint64_t bytes = 0;            // out
};

/// Puts all data and names whose operations had completed before this submission on stable storage; may or may
/// not include outstanding writes.
struct SyncOp : Op {
    FileId file = kNoFile;  // in
};

/// An operation by name.
struct PathOp : Op {
    enum class Kind : std::uint8_t {
        stat,
        list,            // reads every entry of a directory
        make_directory,  // REQUIRES: its parent exists; EEXIST if the name exists
        remove,          // a file, or an empty directory
        rename,          // to `to`, atomic; replaces an existing file
    };
    Kind kind = Kind::stat;      // in
    const char* path = nullptr;  // in
    const char* to = nullptr;    // in
    std::uint64_t bytes = 0;     // out: the size of a file
    std::uint64_t entries = 0;   // out: list: the number of entries without "." and ".."
};

struct StorageCapabilities {
    const char* io = "null";      // "uring" | "iocp" | "threads" | "null" | ... as in the result
    bool direct = false;          // every open so far was direct
    std::uint32_t alignment = 1;  // for offsets, sizes and addresses; enough for every file of this storage
    bool fills_buffers = true;    // false: buffers are never touched and may have no memory behind them
    bool writes = false;          // write(), sync(), perform() and opens other than for reading are possible
};

/// The traffic with one node of a file server, from a backend that speaks the server's protocol. Counters only
/// grow.
struct ServerTraffic {
    std::string address;                       // of the node
    std::string protocol;                      // as negotiated: "NFSv3", "NFSv4.0", "SMB 3.1.1"
    std::vector<std::uint32_t> seats;          // that use the node
    std::uint32_t connections = 0;             // most that were up at once
    std::uint64_t read_bytes = 0;              // largest read of one request, as negotiated
    std::uint64_t requests = 0;                // RPCs, or SMB requests, opens and closes included
    std::uint64_t received_bytes = 0;          // file data
    std::uint64_t reconnects = 0;              // connections that were made again after a loss
    std::uint64_t retransmitted_segments = 0;  // TCP segments that this side sent again
    std::optional<std::int64_t> rtt_ns;        // TCP's smoothed round-trip time; none: unknown
};

class Storage {
public:
    virtual ~Storage() = default;

    /// Both always accept; operations above the backend's own limit wait in order, and that wait is part of the
    /// service latency.
    virtual void open(OpenOp& op) = 0;
    virtual void read(ReadOp& op) = 0;

    /// As open() and read(). REQUIRES: capabilities().writes.
    virtual void write(WriteOp&) { STREAMSIM_CHECK(false, "this storage writes"); }
    virtual void sync(SyncOp&) { STREAMSIM_CHECK(false, "this storage writes"); }
    virtual void perform(PathOp&) { STREAMSIM_CHECK(false, "this storage writes"); }

    /// Announces that this range of this file will be read next. May do nothing.
    virtual void hint(FileId file, std::uint64_t offset, std::uint64_t bytes) = 0;

    /// Closes a file with nothing outstanding. No callback; nothing waits for it.
    virtual void close(FileId file) = 0;

    /// Asks for the operation to end early; its callback runs in any case, with ECANCELED or with its result.
    virtual void cancel(Op& op) = 0;

    virtual StorageCapabilities capabilities() const = 0;

    /// One entry for each node, in the order of their addresses; empty for a storage without a server of its
    /// own.
    virtual std::vector<ServerTraffic> traffic() const { return {}; }

    /// Names the memory that reads will use, so that a backend may register it with the kernel. Once, before
    /// the first read.
    virtual void use_memory(std::span<std::byte> memory) = 0;

    /// `done` runs when no operation is outstanding and every file is closed. No other call may follow.
    virtual void shutdown(Callback done) = 0;
};

/// Passes every call on to another storage; derived classes override the calls that they change.
class StorageDecorator : public Storage {
public:
    explicit StorageDecorator(std::unique_ptr<Storage> inner) : inner_(std::move(inner)) {}

    void open(OpenOp& op) override { inner_->open(op); }
    void read(ReadOp& op) override { inner_->read(op); }
    void write(WriteOp& op) override { inner_->write(op); }
    void sync(SyncOp& op) override { inner_->sync(op); }
    void perform(PathOp& op) override { inner_->perform(op); }
    void hint(FileId file, std::uint64_t offset, std::uint64_t bytes) override {
        inner_->hint(file, offset, bytes);
    }
    void close(FileId file) override { inner_->close(file); }
    void cancel(Op& op) override { inner_->cancel(op); }
    StorageCapabilities capabilities() const override { return inner_->capabilities(); }
    std::vector<ServerTraffic> traffic() const override { return inner_->traffic(); }
    void use_memory(std::span<std::byte> memory) override { inner_->use_memory(memory); }
    void shutdown(Callback done) override { inner_->shutdown(done); }

private:
    std::unique_ptr<Storage> inner_;
};

/// Reports each unavailable capability once ("direct I/O refused by ...: reading through the page cache").
/// Callable from any thread.
using NoticeSink = std::function<void(const std::string&)>;

}  // namespace streamsim
