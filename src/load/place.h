// One operation at a time, from its first submission to its end. It is told what to do and says what became of
// it; when the next one begins is its user's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "load/created_files.h"
#include "load/files.h"
#include "load/statistics.h"

namespace streamsim::load {

/// What all users of a meter have in common.
struct MeterRoom {
    MeterRoom(EventLoop& loop, Storage& storage, const MeterPlan& plan, Callback user_finished);

    EventLoop& loop;
    Storage& storage;
    const MeterPlan& plan;
    const Draws draws;
    MeterFiles files;
    MeterStats stats;
    const Callback user_finished;
    const bool fills_buffers;  // there is memory behind them
    std::uint64_t stamps = 0;  // of what was made to be written
    bool interrupted = false;
};

/// An operation that was drawn.
struct MeterTask {
    LoadOperation operation = LoadOperation::read;
    std::uint64_t number = 0;  // of the user
    Instant intended;
    std::uint32_t file = 0;  // of the user; of a list: the directory
    bool random = false;     // from here on: of a transfer
    TransferShape shape;
    std::uint64_t offset = 0;  // of its first block, where the others follow each other
    CreatedFile before;        // that is removed or renamed
    CreatedFile after;         // that is created, or what the other one is renamed to
};

class Place {
public:
    enum class Outcome : std::uint8_t { done, failed, unfinished };

    /// `read_into`, `write_from`: of the largest block, where there are reads, and writes; the second is filled
    /// here. `ended` runs once for each begin(), never inside it.
    Place(MeterRoom& room,
          std::uint32_t user,
          Prng& prng,
          std::span<std::byte> read_into,
          std::span<std::byte> write_from,
          Callback ended);
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// REQUIRES: it is not busy.
    void begin(const MeterTask& task);
    /// What is under way ends early.
    void cancel();

    bool busy() const { return busy_; }
    // Of the last operation.
    const MeterTask& task() const { return task_; }
    Outcome outcome() const { return outcome_; }
    int error() const { return error_; }
    Instant completed() const { return completed_; }

    // For its user: when its next operation may begin, and who is behind it in line.
    Instant due;
    Place* next = nullptr;

private:
    bool writes() const { return task_.operation == LoadOperation::write; }
    void begin_transfer();
    void begin_path();
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

    MeterRoom& room_;
    const std::uint32_t user_;
    Prng& prng_;
    const std::span<std::byte> read_into_;
    const std::span<std::byte> write_from_;
    const Callback ended_;

    bool busy_ = false;
    bool own_file_ = false;  // opened by the transfer itself
    bool closing_ = false;   // the sync that is under way is the last of a transfer
    Outcome outcome_ = Outcome::done;
    int error_ = 0;
    MeterTask task_;
    Op* current_ = nullptr;
    FileId file_ = kNoFile;
    std::uint64_t left_ = 0;
    std::uint64_t offset_ = 0;
    std::uint64_t piece_ = 0;
    TransferStats transfer_;
    Instant submitted_;
    Instant completed_;

    OpenOp open_;
    ReadOp read_;
    WriteOp write_;
    SyncOp sync_;
    PathOp path_op_;
    std::string path_, to_;
};

/// The path of a file that was created, or of a spare one.
void write_created_path(const MeterRoom& room, std::uint32_t user, const CreatedFile& file, std::string& into);

}  // namespace streamsim::load
