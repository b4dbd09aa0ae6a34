#include "sim/parts/node.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace streamsim::sim {
namespace {

std::uint32_t whole_cores(const NodeModel& node) {
    STREAMSIM_CHECK(node.cores > 0, "a node has a processor");
    return static_cast<std::uint32_t>(std::max(1.0, std::floor(node.cores)));
}

/// The speed of each of the whole cores: a little more than one where the number is not whole, less below one.
double speed_of_core(const NodeModel& node) {
    return node.cores / whole_cores(node);
}

std::uint32_t pages_a_block(const ClusterModel& model) {
    return model.page_bytes > 0 ? static_cast<std::uint32_t>(model.block_bytes / model.page_bytes) : 1;
}

}  // namespace

void Arrivals::expect(std::uint64_t key) {
    index_.insert(key, take());
}

std::uint32_t Arrivals::take() {
    std::uint32_t link = free_;
    if (link == kNone) {
        link = static_cast<std::uint32_t>(links_.size());
        links_.emplace_back();
    } else {
        free_ = links_[link].next;
    }
    links_[link] = {};
    return link;
}

void Arrivals::wait(std::uint64_t key, Job& job) {
    const std::uint32_t head = index_.find(key);
    const std::uint32_t added = take();
    links_[added].job = &job;
    const std::uint32_t last = links_[head].last;
    links_[last != kNone ? last : head].next = added;
    links_[head].last = added;
}

std::uint32_t Arrivals::arrived(std::uint64_t key) {
    const std::uint32_t head = index_.find(key);
    index_.erase(key);
    const std::uint32_t first = links_[head].next;
    links_[head].next = free_;
    free_ = head;
    return first;
}

Job* Arrivals::next(std::uint32_t& waiter) {
    if (waiter == kNone) return nullptr;
    const std::uint32_t link = waiter;
    Job* const job = links_[link].job;
    waiter = links_[link].next;
    links_[link].next = free_;
    free_ = link;
    return job;
}

Node::Node(Calendar& calendar, const ClusterModel& model, bool warm, std::uint64_t seed)
    : cpu(calendar,
          {whole_cores(model.node), Rate::of_cost(speed_of_core(model.node), model.node.cpu_s_per_byte),
           false}),
      front_end(calendar, {1, Rate::of(model.node.front_end.bytes_per_s()), true}),
      front_end_in(calendar, {1, Rate::of(model.node.front_end.bytes_per_s()), true}),
      back_end(calendar, {1, Rate::of(model.node.back_end.bytes_per_s()), true}),
      ssd_reads(calendar, {1, Rate::of(model.node.ssd.bytes_per_s()), false}),
      // L1 soon drops the blocks that were read: the media of a warm cluster are at home.
      ram(model.node.ram_bytes / model.block_bytes, warm && model.node.l2_bytes == 0, pages_a_block(model)),
      l2(model.node.l2_bytes / model.block_bytes, warm, pages_a_block(model)),
      ssd(model.node.ssd_bytes / model.block_bytes, warm, pages_a_block(model)),
      journal(calendar, model.node.journal),
      open_time(ceil_ns(model.node.cpu_s_per_open / speed_of_core(model.node))),
      request_time(ceil_ns(model.node.cpu_s_per_request / speed_of_core(model.node))),
      frame_time(ceil_ns(model.node.cpu_s_per_frame / speed_of_core(model.node))),
      write_time(ceil_ns(model.node.cpu_s_per_write / speed_of_core(model.node))),
      ssd_time(ceil_ns(model.node.ssd_s_per_request)),
      core_speed(speed_of_core(model.node)),
      writing(Rate::of_cost(core_speed, model.node.write_cpu_s_per_byte)),
      streaming(Rate::of_cost(core_speed, model.strategy.streaming_cpu_s_per_byte)),
      filename(Rate::of_cost(core_speed, model.strategy.filename_cpu_s_per_byte)) {
    if (model.node.other_load.share > 0) {
        other_load.emplace(model.node.other_load, seed);
        front_end.share_with(&*other_load);
        front_end_in.share_with(&*other_load);
    }
    for (std::uint32_t i = 0; i < model.node.metadata.lines; ++i)
        metadata_lines.emplace_back(calendar, StationOptions{});
    const ReadLinesModel& lines = model.node.read_lines;
    for (std::uint32_t i = 0; i < lines.lines; ++i)
        read_lines.emplace_back(calendar, StationOptions{1, Rate::of(lines.bytes_per_s), false});
    for (std::uint32_t i = 0; i < model.node.drives; ++i) drives.push_back(make_drive(calendar, model.drive));
}

void OpenedFiles::add(std::uint32_t file, std::uint64_t bytes) {
    if (bytes == UINT64_MAX || files_.find(file) != FlatIndex::kNone) return;
    files_.insert(file, 0);
    bytes_ += bytes;
}

}  // namespace streamsim::sim
