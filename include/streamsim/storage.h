// Storage: asynchronous reading and writing on an event loop. The operation objects belong to the caller, who
// keeps them and what they point at in place, untouched, until the callback ran; a backend allocates nothing
// for each of them beyond what it made at start-up.
//
// Threading: every call on the loop's thread. Callbacks run on the loop's thread, once for each operation,
// never inside the call that submitted it, also after cancel().
//
// Stamps: completed_at is when the backend saw the completion. Where that may be later than the truth (the
// process was stopped, the loop was busy), not_before is the last time the backend looked and it was not there
// yet; otherwise the two are equal. Errors are errno values; 0 is success.
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

/// Names an open file of one storage; negative names none.
using FileId = std::int32_t;
constexpr FileId kNoFile = -1;

/// For whom an operation is. Decorators, models and traces look at it, and a backend whose seats use different
/// nodes of one server (at the seat).
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
    // for the backend that has the operation now
    Op* next = nullptr;
    void* backend = nullptr;
    OpKind operation = OpKind::read;
};

enum class Access : std::uint8_t {
    read,        // a file that is there
    write,       // the same, to be read as well
    create,      // to be written and read; made if it is not there; what it holds stays
    create_new,  // the same; EEXIST where it is there
};

/// Opens `path`. The directory of a file to be created is there.
struct OpenOp : Op {
    const char* path = nullptr;    // in
    Access access = Access::read;  // in
    bool through_cache = false;    // in: never direct, whatever else is
    FileId file = kNoFile;         // out
};

/// Reads buffer.size() bytes at `offset`. Fewer `bytes` without an error means that the file ends there; a
/// backend repeats short reads itself. REQUIRES: offset, buffer address and size are multiples of
/// capabilities().alignment.
struct ReadOp : Op {
    FileId file = kNoFile;        // in
    std::uint64_t offset = 0;     // in
    std::span<std::byte> buffer;  // in
    Instant deadline;             // in; a hint, nothing is cancelled by it
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

/// What was complete before this was submitted is on stable storage, and can be found again; of writes that are
/// outstanding nothing is said.
struct SyncOp : Op {
    FileId file = kNoFile;  // in
};

/// What is done by name.
struct PathOp : Op {
    enum class Kind : std::uint8_t {
        stat,
        list,            // a directory: every entry is asked for
        make_directory,  // its parent is there; EEXIST where it is there
        remove,          // a file, or an empty directory
        rename,          // to `to`, atomic; what was there is replaced
    };
    Kind kind = Kind::stat;      // in
    const char* path = nullptr;  // in
    const char* to = nullptr;    // in
    std::uint64_t bytes = 0;     // out: the size of a file
    std::uint64_t entries = 0;   // out: of a list, without "." and ".."
};

struct StorageCapabilities {
    const char* io = "null";      // "uring" | "threads" | "null" | ... as in the result
    bool direct = false;          // what it really is so far: every open since the start was direct
    std::uint32_t alignment = 1;  // of offsets, sizes and addresses; enough for every file here
    bool fills_buffers = true;    // false: buffers are never touched and may have no memory behind them
    bool writes = false;          // write(), sync(), perform() and opens other than for reading are possible
};

/// What was exchanged with one node of a file server, by a backend that speaks to it itself. Counters only
/// grow.
struct ServerTraffic {
    std::string address;                       // of the node
    std::string protocol;                      // as negotiated: "NFSv3", "NFSv4.0", "SMB 3.1.1"
    std::vector<std::uint32_t> seats;          // whose files are read from it
    std::uint32_t connections = 0;             // that were ever up at once
    std::uint64_t read_bytes = 0;              // the most that one request may read, as negotiated
    std::uint64_t requests = 0;                // RPCs, or SMB requests, opens and closes included
    std::uint64_t received_bytes = 0;          // of files
    std::uint64_t reconnects = 0;              // connections that came back
    std::uint64_t retransmitted_segments = 0;  // by this side, of TCP
    std::optional<std::int64_t> rtt_ns;        // of TCP, smoothed; nothing: cannot be known
};

class Storage {
public:
    virtual ~Storage() = default;

    /// Both always accept; what is over the backend's own limit waits in it, in order, and that waiting is part
    /// of the service latency.
    virtual void open(OpenOp& op) = 0;
    virtual void read(ReadOp& op) = 0;

    /// As open() and read(). REQUIRES: capabilities().writes.
    virtual void write(WriteOp&) { STREAMSIM_CHECK(false, "this storage writes"); }
    virtual void sync(SyncOp&) { STREAMSIM_CHECK(false, "this storage writes"); }
    virtual void perform(PathOp&) { STREAMSIM_CHECK(false, "this storage writes"); }

    /// This range of this file will be read next. May do nothing.
    virtual void hint(FileId file, std::uint64_t offset, std::uint64_t bytes) = 0;

    /// Closes a file with nothing outstanding. No callback; nothing waits for it.
    virtual void close(FileId file) = 0;

    /// Asks for the operation to end early; its callback runs in any case, with ECANCELED or with its result.
    virtual void cancel(Op& op) = 0;

    virtual StorageCapabilities capabilities() const = 0;

    /// One entry a node, in the order of their addresses; empty where there is no server that this storage
    /// knows of.
    virtual std::vector<ServerTraffic> traffic() const { return {}; }

    /// Memory that reads will use, so that it may be registered with the kernel. Once, before the first read.
    virtual void use_memory(std::span<std::byte> memory) = 0;

    /// `done` runs when nothing is outstanding any more and everything is closed. No other call afterwards.
    virtual void shutdown(Callback done) = 0;
};

/// A storage that stands before another one and passes everything on; what it changes, a class of it overrides.
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

/// Says once what could not be had ("direct I/O refused by ...: reading through the page cache"). Callable from
/// any thread.
using NoticeSink = std::function<void(const std::string&)>;

}  // namespace streamsim
