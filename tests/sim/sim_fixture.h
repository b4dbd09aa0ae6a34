// A cluster in virtual time, reads that are known to the byte, and what became of them.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "loop/virtual_loop.h"
#include "sim/cluster/cluster.h"

namespace streamsim::test {

constexpr std::uint64_t kMiB = 1 << 20;
/// 1 MiB at 1 GB/s, rounded up.
constexpr std::int64_t kBlockNs = 1'048'576;

/// Frames of one size: a file each ("NAME/f.0000.dpx", counted from 1000), or back to back in "NAME.mov".
class PlainMedia final : public FrameIndex {
public:
    PlainMedia(std::string name, std::uint64_t frames, std::uint64_t frame_bytes, bool files)
        : name_(std::move(name)), frames_(frames), frame_bytes_(frame_bytes), files_(files) {}

    std::string path(std::uint64_t frame) const {
        return files_ ? name_ + "/f." + std::to_string(1000 + frame) + ".dpx" : name_ + ".mov";
    }
    std::uint64_t count() const override { return frames_; }
    FrameRate rate() const override { return {24, 1}; }
    bool file_per_frame() const override { return files_; }
    void write_path(std::uint64_t frame, char* into) const override {
        const std::string text = path(frame);
        text.copy(into, text.size());
        into[text.size()] = '\0';
    }
    std::size_t path_capacity() const override { return name_.size() + 40; }
    Extent extent(std::uint64_t frame) const override {
        return {files_ ? 0 : frame * frame_bytes_, frame_bytes_};
    }
    std::uint64_t largest_frame_bytes() const override { return frame_bytes_; }

private:
    std::string name_;
    std::uint64_t frames_;
    std::uint64_t frame_bytes_;
    bool files_;
};

/// Everything but the drives takes no time worth speaking of; flash of one channel a drive at 1 GB/s.
inline ClusterModel plain_model() {
    ClusterModel model;
    model.name = "plain";
    model.nodes = 1;
    model.block_bytes = kMiB;
    model.node.drives = 1;
    model.node.ram_bytes = 64 * kMiB;
    model.drive.kind = DriveModel::Kind::flash;
    model.drive.outer_bytes_per_s = 1e9;
    return model;
}

/// The lines of one PartStats.
inline const PartStats& part(const std::vector<PartStats>& stats, const std::string& name) {
    for (const PartStats& each : stats) {
        if (each.name == name) return each;
    }
    ADD_FAILURE() << "no part is called " << name;
    return stats.front();
}

/// A loop, a cluster and a storage on it; operations stay in place until the end.
class SimRun {
public:
    explicit SimRun(sim::ClusterOptions options)
        : cluster(loop, with_seat(std::move(options))), storage(cluster.make_storage()) {}

    FileId open(const std::string& path, std::uint32_t seat = 0) {
        OpenOp op;
        op.done = {[](void*) {}, nullptr};
        op.path = path.c_str();
        op.tag.seat = seat;
        storage->open(op);
        loop.run();
        EXPECT_EQ(op.error, 0);
        return op.file;
    }

    ReadOp& read(FileId file, std::uint64_t offset, std::uint64_t bytes, IoTag tag = {}) {
        ReadOp& op = reads.emplace_back();
        op.done = {[](void*) {}, nullptr};
        op.file = file;
        op.offset = offset;
        op.buffer = {static_cast<std::byte*>(nullptr), bytes};  // never touched
        op.tag = tag;
        storage->read(op);
        return op;
    }

    /// Reads it and gives the time it took.
    Duration time_of_read(FileId file, std::uint64_t offset, std::uint64_t bytes, IoTag tag = {}) {
        ReadOp& op = read(file, offset, bytes, tag);
        loop.run();
        EXPECT_EQ(op.error, 0);
        return op.completed_at - op.submitted_at;
    }

    std::vector<PartStats> stats() { return cluster.stats(Instant{}, loop.now() + nanoseconds(1)); }

    loop::VirtualLoop loop;
    sim::Cluster cluster;
    std::unique_ptr<Storage> storage;
    std::deque<ReadOp> reads;

private:
    static sim::ClusterOptions with_seat(sim::ClusterOptions options) {
        if (options.seats.empty()) options.seats.emplace_back();
        return options;
    }
};

}  // namespace streamsim::test
