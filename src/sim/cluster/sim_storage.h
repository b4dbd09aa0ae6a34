// The storage of a modelled cluster. Each operation becomes a job that travels through the cluster (cluster.h
// draws its path).
//
// A path exists until it is removed (FileTable). Operations wait in the parts that are full, never here. A
// cancelled operation ends at once with ECANCELED; its job travels on and keeps the parts busy. Closing takes
// no time.
#pragma once

#include <algorithm>
#include <cerrno>

#include "base/check.h"
#include "sim/cluster/open_files.h"
#include "sim/cluster/parts.h"
#include "sim/cluster/request_path.h"
#include "streamsim/storage.h"

namespace streamsim::sim {

class SimStorage final : public Storage {
public:
    SimStorage(ClusterParts& parts, OpenFiles& open_files, RequestPath& path)
        : parts_(parts), open_files_(open_files), path_(path) {}
    /// REQUIRES: no operation outstanding.
    ~SimStorage() override { STREAMSIM_CHECK(outstanding_ == 0, "a storage outlives its operations"); }

    void open(OpenOp& op) override {
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

    void read(ReadOp& op) override {
        op.bytes = 0;
        Job& job = start_job(op, Job::Kind::read, kReadSeed);
        if (!attach(job, op.file)) return;
        job.offset = op.offset;
        const std::uint64_t end = parts_.files[job.file].bytes;
        job.bytes = op.offset < end ? std::min<std::uint64_t>(op.buffer.size(), end - op.offset) : 0;
        job.chance ^= mix64(op.offset);
        path_.start(job);
    }

    void write(WriteOp& op) override {
        op.bytes = 0;
        Job& job = start_job(op, Job::Kind::write, kWriteSeed);
        if (!attach(job, op.file)) return;
        job.offset = op.offset;
        job.bytes = op.buffer.size();
        job.chance ^= mix64(op.offset);
        OpenFile& handle = *open_files_.of(job);
        const bool in_order = is_near(job, handle.written_end, small_gap(job));
        job.paged = !in_order && job.bytes < parts_.model().block_bytes;
        handle.written_end = job.offset + job.bytes;
        job.end_before = parts_.files[job.file].bytes;
        parts_.files.extend(job.file, handle.written_end);
        path_.start(job);
    }

    void sync(SyncOp& op) override {
        Job& job = start_job(op, Job::Kind::sync, kWriteSeed);
        if (attach(job, op.file)) path_.start(job);
    }

    void perform(PathOp& op) override {
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

    void hint(FileId, std::uint64_t, std::uint64_t) override {}  // no such message goes to a server
    void close(FileId file) override { open_files_.close(file); }
    void cancel(Op& op) override {
        if (op.backend == nullptr) return;
        static_cast<Job*>(op.backend)->op = nullptr;
        Job& answer = parts_.jobs.take(path_, Job::Kind::give_back);
        answer.op = &op;
        answer.delivered = Callback::of<&SimStorage::delivered>(this);
        answer.error = ECANCELED;
        path_.finish(answer);
    }

    StorageCapabilities capabilities() const override {
        return {.io = "sim", .fills_buffers = false, .writes = true};
    }
    void use_memory(std::span<std::byte>) override {}
    void shutdown(Callback done) override {
        shutdown_ = done;
        if (outstanding_ == 0) finish_shutdown();
    }

private:
    void delivered() {
        if (--outstanding_ == 0 && shutdown_) finish_shutdown();
    }
    Job& start_job(Op& op, Job::Kind kind, std::uint64_t seed) {
        STREAMSIM_CHECK(op.tag.seat < parts_.seats.size(), "an operation is of a seat of the cluster");
        ++outstanding_;
        op.error = 0;
        op.submitted_at = parts_.calendar.now();
        Job& job = parts_.jobs.take(path_, kind);
        job.op = &op;
        job.delivered = Callback::of<&SimStorage::delivered>(this);
        job.seat = op.tag.seat;
        job.stream = op.tag.stream;
        job.chance = derive_seed(
            parts_.options.seed ^ seed ^ (std::uint64_t{op.tag.seat} << 40 | op.tag.stream), op.tag.slot);
        op.backend = &job;
        return job;
    }

    /// False: the file is not open, and the job has ended.
    bool attach(Job& job, FileId file) {
        if (open_files_.attach(job, file)) return true;
        job.error = EBADF;
        path_.finish(job);
        return false;
    }
    void finish_shutdown() {
        parts_.calendar.at(parts_.calendar.now(), shutdown_);
        shutdown_ = {};
    }

    ClusterParts& parts_;
    OpenFiles& open_files_;
    RequestPath& path_;
    std::uint64_t outstanding_ = 0;
    Callback shutdown_;
};

}  // namespace streamsim::sim
