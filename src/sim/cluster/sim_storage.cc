#include "sim/cluster/sim_storage.h"

#include <algorithm>
#include <cerrno>

#include "base/check.h"
#include "sim/cluster/seeds.h"

namespace streamsim::sim {
namespace {

/// Writes follow each other when they are at most so many of their lengths apart: several are in flight.
constexpr std::uint64_t kGapLengthsMax = 16;

}  // namespace

SimStorage::~SimStorage() {
    STREAMSIM_CHECK(outstanding_ == 0, "a storage outlives its operations");
}

Job& SimStorage::start_job(Op& op, Job::Kind kind, std::uint64_t seed) {
    STREAMSIM_CHECK(op.tag.seat < parts_.seats.size(), "an operation is of a seat of the cluster");
    ++outstanding_;
    op.error = 0;
    op.submitted_at = parts_.calendar.now();
    Job& job = parts_.jobs.take(path_, kind);
    job.op = &op;
    job.storage = this;
    job.seat = op.tag.seat;
    job.stream = op.tag.stream;
    job.chance = seed_of(parts_.options.seed, seed, op.tag);
    op.backend = &job;
    return job;
}

/// False: the file is not open, and the job has ended.
bool SimStorage::attach(Job& job, FileId file) {
    if (open_files_.attach(job, file)) return true;
    job.error = EBADF;
    path_.finish(job);
    return false;
}

void SimStorage::open(OpenOp& op) {
    op.file = kNoFile;
    Job& job = start_job(op, Job::Kind::open, kOpenSeed);
    if (op.access == Access::create || op.access == Access::create_new) {
        const FileTable::Created created = parts_.files.create(op.path);
        job.file = created.file;
        job.changes = created.is_new;
        if (op.access == Access::create_new && !created.is_new) job.error = EEXIST;
    } else {
        job.file = parts_.files.find(op.path);
        if (job.file == SimFile::kNone) job.error = ENOENT;
    }
    job.path_hash = FileTable::hash_of(op.path);
    job.chance ^= mix64(op.tag.clip_frame);
    path_.start(job);
}

void SimStorage::read(ReadOp& op) {
    op.bytes = 0;
    Job& job = start_job(op, Job::Kind::read, kReadSeed);
    if (!attach(job, op.file)) return;
    job.offset = op.offset;
    const std::uint64_t end = parts_.files[job.file].bytes;
    job.bytes = op.offset < end ? std::min<std::uint64_t>(op.buffer.size(), end - op.offset) : 0;
    job.chance ^= mix64(op.offset);
    path_.start(job);
}

void SimStorage::write(WriteOp& op) {
    op.bytes = 0;
    Job& job = start_job(op, Job::Kind::write, kWriteSeed);
    if (!attach(job, op.file)) return;
    job.offset = op.offset;
    job.bytes = op.buffer.size();
    job.chance ^= mix64(op.offset);
    OpenFile& handle = *open_files_.of(job);
    const std::uint64_t end = job.offset + job.bytes;
    const std::uint64_t gap_max = kGapLengthsMax * job.bytes;
    const bool in_order = job.offset <= handle.written_end + gap_max && handle.written_end <= end + gap_max;
    job.paged = !in_order && job.bytes < parts_.model().block_bytes;
    handle.written_end = end;
    parts_.files.extend(job.file, end);
    path_.start(job);
}

void SimStorage::sync(SyncOp& op) {
    Job& job = start_job(op, Job::Kind::sync, kWriteSeed);
    if (attach(job, op.file)) path_.start(job);
}

void SimStorage::perform(PathOp& op) {
    op.bytes = op.entries = 0;
    Job& job = start_job(op, Job::Kind::name, kNameSeed);
    FileTable& files = parts_.files;
    job.path_op = op.kind;
    switch (op.kind) {
        case PathOp::Kind::stat: job.error = files.stat(op.path, op.bytes); break;
        case PathOp::Kind::list: job.error = files.list(op.path, op.entries); break;
        case PathOp::Kind::make_directory: job.error = files.make_directory(op.path); break;
        case PathOp::Kind::remove: job.error = files.remove(op.path); break;
        case PathOp::Kind::rename: job.error = files.rename(op.path, op.to); break;
    }
    const bool reads = op.kind == PathOp::Kind::stat || op.kind == PathOp::Kind::list;
    job.changes = job.error == 0 && !reads;
    job.path_hash = FileTable::hash_of(op.path);
    path_.start(job);
}

void SimStorage::cancel(Op& op) {
    if (op.backend == nullptr) return;
    static_cast<Job*>(op.backend)->op = nullptr;
    Job& answer = parts_.jobs.take(path_, Job::Kind::give_back);
    answer.op = &op;
    answer.storage = this;
    answer.error = ECANCELED;
    path_.finish(answer);
}

StorageCapabilities SimStorage::capabilities() const {
    StorageCapabilities capabilities;
    capabilities.io = "sim";
    capabilities.fills_buffers = false;
    capabilities.writes = true;
    return capabilities;
}

void SimStorage::shutdown(Callback done) {
    shutdown_ = done;
    if (outstanding_ == 0) finish_shutdown();
}

void SimStorage::delivered() {
    if (--outstanding_ == 0 && shutdown_) finish_shutdown();
}

void SimStorage::finish_shutdown() {
    parts_.calendar.at(parts_.calendar.now(), shutdown_);
    shutdown_ = {};
}

}  // namespace streamsim::sim
