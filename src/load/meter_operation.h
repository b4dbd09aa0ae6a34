// MeterOperation: one in-flight slot of a meter's user, which does one operation at a time, from its first
// submission to its end. The user decides when the next operation begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "load/files.h"
#include "load/statistics.h"
#include "streamsim/event_loop.h"

namespace streamsim::load {

/// A file of a user that may be removed and renamed, in one of the user's directories.
struct CreatedFile {
    std::uint64_t number = 0;  // among the created files, or among the spare ones
    std::uint32_t directory = 0;
    bool spare = false;
};

/// Shared by all users of a meter; pinned.
struct MeterContext {
    EventLoop& loop;
    Storage& storage;
    const MeterPlan& plan;
    const Callback user_finished;
    const Draws draws{plan.spec, plan.alignment};
    MeterFiles files{plan, draws};
    MeterStats stats{plan, draws.sizes()};
    const bool fills_buffers = storage.capabilities().fills_buffers;  // it reads and writes memory
    std::uint64_t stamps = 0;                                         // blocks that were stamped
    bool interrupted = false;
};

/// An operation that was drawn.
struct MeterTask {
    LoadOperation operation = LoadOperation::read;
    std::uint64_t number = 0;  // of the user
    Instant intended;
    std::uint32_t file = 0;  // of the user; of a list: the directory
    bool random = false;     // this and the next two: of a transfer
    TransferShape shape;
    std::uint64_t offset = 0;  // of its first block, where the others follow each other
    CreatedFile before;        // the file to remove or rename
    CreatedFile after;         // the file to create, or the new name
};

class MeterOperation {
public:
    enum class Outcome : std::uint8_t { done, failed, unfinished };

    /// `read_into`, `write_from`: one largest block each, where the meter reads, and writes; the constructor
    /// fills the second. `ended` runs once for each begin(), never inside it.
    MeterOperation(MeterContext& context,
                   std::uint32_t user,
                   Prng& prng,
                   std::span<std::byte> read_into,
                   std::span<std::byte> write_from,
                   Callback ended);
    MeterOperation(const MeterOperation&) = delete;
    MeterOperation& operator=(const MeterOperation&) = delete;

    /// REQUIRES: !busy().
    void begin(const MeterTask& task);
    /// Ends the operation in flight early.
    void cancel() {
        if (current_ != nullptr) context_.storage.cancel(*current_);
    }

    bool busy() const { return busy_; }
    // The last operation.
    const MeterTask& task() const { return task_; }
    Outcome outcome() const { return outcome_; }
    int error() const { return error_; }
    Instant completed() const { return completed_; }

    // The user's: when the next operation may begin, and the slot behind this one in line.
    Instant due;
    MeterOperation* next = nullptr;

private:
    bool writes() const { return task_.operation == LoadOperation::write; }
    bool transfers() const { return writes() || task_.operation == LoadOperation::read; }
    TransferMode mode() const;
    void begin_transfer();
    void open(const char* path, Access access);
    void on_opened();
    void on_path();
    void next_block();
    void on_read();
    void on_written();
    void on_synced();
    void block_ended(const Op& first, const Op& last, int error);
    void note_row(const Op& first, const Op& last, std::uint64_t offset, std::uint64_t bytes, int error);
    void transfer_ended();
    void metadata_ended(const Op& op);
    void stamp(std::span<std::byte> block);
    void end(int error, bool complete);
    void end_deferred() { end(error_, true); }
    const std::string& subject();

    MeterContext& context_;
    const std::uint32_t user_;
    Prng& prng_;
    const std::span<std::byte> read_into_;
    const std::span<std::byte> write_from_;
    const Callback ended_;

    bool busy_ = false;
    bool own_file_ = false;  // opened by the transfer itself
    bool closing_ = false;   // the sync in flight is the last operation of a transfer
    Outcome outcome_ = Outcome::done;
    int error_ = 0;
    MeterTask task_;
    Op* current_ = nullptr;
    FileId file_ = kNoFile;
    std::uint64_t left_ = 0;
    std::uint64_t offset_ = 0;
    std::uint64_t piece_ = 0;
    TransferCell transfer_;                // the blocks so far
    std::optional<std::size_t> last_row_;  // of the transfer
    Instant submitted_;
    Instant completed_;

    OpenOp open_;
    ReadOp read_;
    WriteOp write_;
    SyncOp sync_;
    PathOp path_op_;
    std::string path_, to_;
};

/// Writes the path of a created or a spare file.
void write_created_path(const MeterContext& context,
                        std::uint32_t user,
                        const CreatedFile& file,
                        std::string& into);

}  // namespace streamsim::load
