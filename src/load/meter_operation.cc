#include "load/meter_operation.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace streamsim::load {
namespace {

/// The distance between the stamps in a written block: no two stamped pages are alike, so that no storage saves
/// one of them.
constexpr std::size_t kStampEvery = 4096;

/// A file that was written in full when the meter was prepared ended early.
constexpr int kShortRead = ENODATA;

}  // namespace

void write_created_path(const MeterContext& context,
                        std::uint32_t user,
                        const CreatedFile& file,
                        std::string& into) {
    into.clear();
    if (file.spare) {
        into = context.plan.names.spare[std::size_t{user} * context.plan.spec.set.spare_files + file.number];
        return;
    }
    into += context.files.directory(user, file.directory);
    into += "/c";
    for (const std::uint64_t number : {std::uint64_t{context.plan.seat}, std::uint64_t{user}}) {
        into += std::to_string(number);
        into += '-';
    }
    into += std::to_string(file.number);
    into += ".load";
}

MeterOperation::MeterOperation(MeterContext& context,
                               std::uint32_t user,
                               Prng& prng,
                               std::span<std::byte> read_into,
                               std::span<std::byte> write_from,
                               Callback ended)
    : context_(context),
      user_(user),
      prng_(prng),
      read_into_(read_into),
      write_from_(write_from),
      ended_(ended) {
    open_.done = Callback::of<&MeterOperation::on_opened>(this);
    read_.done = Callback::of<&MeterOperation::on_read>(this);
    write_.done = Callback::of<&MeterOperation::on_written>(this);
    sync_.done = Callback::of<&MeterOperation::on_synced>(this);
    path_op_.done = Callback::of<&MeterOperation::on_path>(this);
    read_.deadline = write_.deadline = Instant::never();
    if (!context.fills_buffers) return;
    Prng bytes(derive_seed(derive_seed(context.plan.seed, context.plan.seat), ++context.stamps));
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= write_from.size(); at += sizeof(std::uint64_t)) {
        const std::uint64_t word = bytes.next();
        std::memcpy(&write_from[at], &word, sizeof word);
    }
}

void MeterOperation::begin(const MeterTask& task) {
    STREAMSIM_CHECK(!busy_, "an in-flight slot does one operation at a time");
    busy_ = true;
    task_ = task;
    error_ = 0;
    file_ = kNoFile;
    own_file_ = closing_ = false;
    last_row_.reset();
    submitted_ = Instant::never();
    const IoTag tag{context_.plan.seat, context_.plan.first_stream + user_, task.number, 0};
    for (Op* op : {static_cast<Op*>(&open_), static_cast<Op*>(&read_), static_cast<Op*>(&write_),
                   static_cast<Op*>(&sync_), static_cast<Op*>(&path_op_)}) {
        op->tag = tag;
    }
    switch (task.operation) {
        case LoadOperation::read:
        case LoadOperation::write: return begin_transfer();
        case LoadOperation::open: return open(subject().c_str(), Access::read);
        case LoadOperation::create:
            write_created_path(context_, user_, task.after, path_);
            return open(path_.c_str(), Access::create_new);
        case LoadOperation::stat: path_op_.kind = PathOp::Kind::stat; break;
        case LoadOperation::list: path_op_.kind = PathOp::Kind::list; break;
        case LoadOperation::rename:
            write_created_path(context_, user_, task.after, to_);
            path_op_.to = to_.c_str();
            [[fallthrough]];
        case LoadOperation::remove:
            write_created_path(context_, user_, task.before, path_);
            path_op_.kind =
                task.operation == LoadOperation::remove ? PathOp::Kind::remove : PathOp::Kind::rename;
    }
    path_op_.path = subject().c_str();
    current_ = &path_op_;
    context_.storage.perform(path_op_);
}

TransferMode MeterOperation::mode() const {
    if (writes()) return task_.random ? TransferMode::random_write : TransferMode::sequential_write;
    return task_.random ? TransferMode::random_read : TransferMode::sequential_read;
}

void MeterOperation::begin_transfer() {
    left_ = task_.shape.length;
    offset_ = task_.offset;
    transfer_ = {};
    if (!context_.files.kept_open()) {
        own_file_ = true;
        open(subject().c_str(), writes() ? Access::write : Access::read);
        return;
    }
    const MeterFiles::Opened& opened = context_.files.opened(user_, task_.file);
    file_ = opened.file;
    if (file_ != kNoFile) {
        next_block();
        return;
    }
    error_ = opened.error;
    open_.submitted_at = open_.completed_at = completed_ = context_.loop.now();
    note_row(open_, open_, 0, 0, error_);
    context_.loop.defer(Callback::of<&MeterOperation::end_deferred>(this));
}

void MeterOperation::open(const char* path, Access access) {
    open_.path = path;
    open_.access = access;
    open_.through_cache = !context_.plan.spec.direct;
    open_.file = kNoFile;
    current_ = &open_;
    context_.storage.open(open_);
}

void MeterOperation::on_opened() {
    current_ = nullptr;
    if (!own_file_) {
        if (open_.error == 0) context_.storage.close(open_.file);
        metadata_ended(open_);
        return;
    }
    submitted_ = open_.submitted_at;
    completed_ = open_.completed_at;
    if (open_.error != 0) {
        note_row(open_, open_, 0, 0, open_.error);
        end(open_.error, true);
        return;
    }
    file_ = open_.file;
    if (context_.loop.now() >= context_.stats.end()) {
        end(0, false);
    } else {
        next_block();
    }
}

void MeterOperation::on_path() {
    current_ = nullptr;
    metadata_ended(path_op_);
}

void MeterOperation::metadata_ended(const Op& op) {
    submitted_ = op.submitted_at;
    completed_ = op.completed_at;
    note_row(op, op, 0, 0, op.error);
    end(op.error, true);
}

void MeterOperation::next_block() {
    piece_ = context_.draws.sizes().piece(left_, task_.shape.block);
    if (task_.random && context_.plan.spec.random_by_block) {
        offset_ = context_.files.random_offset(user_, task_.file, piece_, piece_, prng_);
        context_.files.ended(user_, task_.file, offset_ + piece_);
    } else {
        offset_ = context_.files.around(offset_, piece_);
    }
    if (writes()) {
        write_.file = file_;
        write_.offset = offset_;
        if (context_.fills_buffers) stamp(write_from_.first(piece_));
        write_.buffer = write_from_.first(piece_);
        write_.tag.clip_frame = transfer_.blocks;
        current_ = &write_;
        context_.storage.write(write_);
    } else {
        read_.file = file_;
        read_.offset = offset_;
        read_.buffer = read_into_.first(piece_);
        read_.tag.clip_frame = transfer_.blocks;
        current_ = &read_;
        context_.storage.read(read_);
    }
}

void MeterOperation::stamp(std::span<std::byte> block) {
    const std::uint64_t first = derive_seed(context_.plan.seed + context_.plan.seat, ++context_.stamps);
    for (std::size_t at = 0; at + sizeof first <= block.size(); at += kStampEvery) {
        const std::uint64_t word = mix64(first + at / kStampEvery);
        std::memcpy(&block[at], &word, sizeof word);
    }
}

void MeterOperation::on_read() {
    current_ = nullptr;
    const bool ended_early = read_.error == 0 && read_.bytes < piece_;
    block_ended(read_, read_, ended_early ? kShortRead : read_.error);
}

void MeterOperation::on_written() {
    current_ = nullptr;
    if (write_.error != 0 || context_.plan.spec.sync != MeterSpec::Sync::each_write) {
        block_ended(write_, write_, write_.error);
        return;
    }
    sync_.file = file_;
    current_ = &sync_;
    context_.storage.sync(sync_);
}

void MeterOperation::on_synced() {
    current_ = nullptr;
    if (!closing_) {
        block_ended(write_, sync_, sync_.error);
        return;
    }
    completed_ = sync_.completed_at;
    if (sync_.error != 0) note_row(sync_, sync_, 0, 0, sync_.error);
    end(sync_.error, true);
}

/// A block with its fsync, from the submission of one operation to the completion of another.
void MeterOperation::block_ended(const Op& first, const Op& last, int error) {
    if (submitted_ == Instant::never()) submitted_ = first.submitted_at;
    completed_ = last.completed_at;
    note_row(first, last, offset_, piece_, error);
    if (error != 0) {
        if (!(context_.interrupted && error == ECANCELED)) context_.stats.block_failed();
        end(error, true);
        return;
    }
    context_.stats.block(user_, task_.operation, piece_, completed_);
    if (writes() && !own_file_) context_.files.opened(user_, task_.file).written = true;
    ++transfer_.blocks;
    transfer_.bytes += piece_;
    const std::int64_t block_ns = (completed_ - first.submitted_at).ns;
    transfer_.block_ns += block_ns;
    transfer_.block_max_ns = std::max(transfer_.block_max_ns, block_ns);
    left_ -= piece_;
    offset_ += piece_;
    if (left_ == 0) {
        transfer_ended();
    } else if (context_.loop.now() >= context_.stats.end()) {
        end(0, false);
    } else {
        next_block();
    }
}

void MeterOperation::transfer_ended() {
    if (own_file_ && writes() && context_.plan.spec.sync == MeterSpec::Sync::at_end) {
        closing_ = true;
        sync_.file = file_;
        current_ = &sync_;
        context_.storage.sync(sync_);
        return;
    }
    end(0, true);
}

void MeterOperation::note_row(
    const Op& first, const Op& last, std::uint64_t offset, std::uint64_t bytes, int error) {
    MeterStats& stats = context_.stats;
    last_row_.reset();
    if (!stats.wants_row()) return;
    const Instant intended = transfers() && transfer_.blocks > 0 ? first.submitted_at : task_.intended;
    OperationRow row{context_.plan.seat,
                     context_.plan.number,
                     user_,
                     task_.number,
                     task_.operation,
                     transfers() ? mode() : TransferMode::sequential_read,
                     task_.file,
                     offset,
                     bytes,
                     stats.since_start(intended),
                     stats.since_start(first.submitted_at),
                     stats.since_start(last.completed_at),
                     error};
    if (transfers()) {
        row.block_bytes = context_.draws.sizes().bytes(task_.shape.block);
        row.length_bytes = task_.shape.length;
        row.deficit_ns = stats.deficit_ns(user_, last.completed_at);
    }
    last_row_ = stats.row(row);
}

/// The path of the operation.
const std::string& MeterOperation::subject() {
    switch (task_.operation) {
        case LoadOperation::create:
        case LoadOperation::remove:
        case LoadOperation::rename: return path_;
        case LoadOperation::list: return context_.files.directory(user_, task_.file);
        default: return context_.files.path(user_, task_.file);
    }
}

/// `complete`: the whole operation was done, or it failed.
void MeterOperation::end(int error, bool complete) {
    if (own_file_ && file_ != kNoFile) context_.storage.close(file_);
    busy_ = false;
    error_ = error;
    if (!complete || (error == ECANCELED && context_.interrupted)) {
        outcome_ = Outcome::unfinished;
        context_.stats.unfinished();
    } else if (error != 0) {
        outcome_ = Outcome::failed;
        context_.stats.failed(task_.operation, error, subject(), completed_);
    } else {
        outcome_ = Outcome::done;
        const OperationTimes times{task_.intended, submitted_, completed_};
        if (transfers()) {
            context_.stats.transfer_done(mode(), task_.shape.block, transfer_, times);
            if (last_row_) context_.stats.row_ends(*last_row_, times);
        } else {
            context_.stats.done(task_.operation, times);
        }
    }
    ended_();
}

}  // namespace streamsim::load
