#include "load/statistics.h"

#include <algorithm>

#include "metrics/distributions.h"

namespace streamsim::load {
namespace {

/// One thread writes, any thread reads.
template <typename T>
void add_to(std::atomic<T>& counter, T more) {
    counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace

MeterStats::MeterStats(const MeterPlan& plan, const BlockSizes& sizes)
    : plan_(plan), sizes_(sizes), rows_kept_(plan.rows_kept), cells_(kTransferModes * sizes.count()) {
    result_.seat = plan.seat;
    result_.name = plan.spec.name;
    result_.users = plan.spec.users;
    if (plan.spec.buffer) buffers_.resize(plan.spec.users);
}

void MeterStats::begin(Instant from) {
    from_ = from;
    begin_ = last_sync_ = last_block_ = from + plan_.spec.start;
}

void MeterStats::begin_user(std::uint32_t user, Instant at) {
    if (!buffers_.empty()) buffers_[user].emplace(*plan_.spec.buffer, at);
}

void MeterStats::user_read_all(std::uint32_t user, Instant at) {
    if (!buffers_.empty() && at <= end_) buffers_[user]->finish();
}

void MeterStats::block(std::uint32_t user, LoadOperation operation, std::uint64_t bytes, Instant completed) {
    ++result_.blocks_done;
    if (completed > end_) return;
    if (!buffers_.empty()) buffers_[user]->completed(completed, bytes);
    last_block_ = std::max(last_block_, completed);
    result_.operations[static_cast<std::size_t>(operation)].bytes += bytes;
    result_.all.bytes += bytes;
    series_.at(completed - begin_).bytes += bytes;
    if (plan_.progress == nullptr) return;
    MeterProgress& shown = *plan_.progress;
    add_to(operation == LoadOperation::read ? shown.bytes_read : shown.bytes_written, bytes);
    shown.at_ns.store(since_start(completed), std::memory_order_relaxed);
}

void MeterStats::count_done(OperationResult& result,
                            Times& times,
                            std::int64_t service,
                            std::int64_t response) {
    ++result.done;
    result.service_sum_ns += service;
    result.response_sum_ns += response;
    times.service.add(service);
    times.response.add(response);
}

void MeterStats::done(LoadOperation operation, const OperationTimes& times) {
    if (times.completed > end_) {
        unfinished();
        return;
    }
    const std::int64_t service = (times.completed - times.submitted).ns;
    const bool open = plan_.spec.loop == MeterSpec::Loop::open;
    const std::int64_t response = open ? (times.completed - times.intended).ns : service;
    const auto index = static_cast<std::size_t>(operation);
    count_done(result_.operations[index], times_[index], service, response);
    count_done(result_.all, all_times_, service, response);
    Interval& interval = series_.at(times.completed - begin_);
    ++interval.operations;
    if (plan_.progress != nullptr) {
        add_to(plan_.progress->done, std::uint64_t{1});
        add_to(plan_.progress->response_sum_ns, response);
        plan_.progress->at_ns.store(since_start(times.completed), std::memory_order_relaxed);
    }
    interval.response_sum_ns += response;
    interval.response_max_ns = std::max(interval.response_max_ns, response);
}

void MeterStats::transfer_done(TransferMode mode,
                               std::uint32_t block,
                               TransferCell blocks,
                               const OperationTimes& times) {
    const bool writes = mode == TransferMode::sequential_write || mode == TransferMode::random_write;
    done(writes ? LoadOperation::write : LoadOperation::read, times);
    if (times.completed > end_) return;
    blocks.transfers = 1;
    // A storage that takes no time has no rate.
    if (blocks.block_ns > 0)
        blocks.rate_sum = static_cast<double>(blocks.bytes) * 1e9 / static_cast<double>(blocks.block_ns);
    blocks.latency_ns = blocks.latency_max_ns = (times.completed - times.submitted).ns - blocks.block_ns;
    cells_[static_cast<std::size_t>(mode) * sizes_.count() + block] += blocks;
}

void MeterStats::failed(LoadOperation operation, int error, const std::string& path, Instant completed) {
    this->error(operation, error, path);
    if (completed > end_) {
        unfinished();
        ++result_.failed_after_end;
        return;
    }
    ++result_.operations[static_cast<std::size_t>(operation)].failed;
    ++result_.all.failed;
    if (plan_.progress != nullptr) add_to(plan_.progress->failed, std::uint64_t{1});
}

void MeterStats::error(LoadOperation operation, int error, const std::string& path) {
    for (MeterResult::Error& each : result_.errors) {
        if (each.operation != operation || each.error != error) continue;
        ++each.times;
        return;
    }
    result_.errors.push_back({operation, error, 1, path});
}

/// Users that have begun by that time.
std::uint64_t MeterStats::users_at(Duration since_begin) const {
    const std::int64_t every = plan_.spec.one_more_every.ns;
    if (every == 0) return plan_.spec.users;
    const std::int64_t begun = since_begin.ns / every + 1 - plan_.first_user;
    return static_cast<std::uint64_t>(std::clamp<std::int64_t>(begun, 0, plan_.spec.users));
}

std::optional<std::int64_t> MeterStats::deficit_ns(std::uint32_t user, Instant at) const {
    if (buffers_.empty()) return std::nullopt;
    return buffers_[user]->deficit_ns(at);
}

MeterBuffer MeterStats::buffer(Instant end) const {
    const BufferSpec& spec = *plan_.spec.buffer;
    MeterBuffer out{
        .bytes_per_s = spec.bytes_per_s, .length_ns = spec.length.ns, .threshold_ns = spec.threshold.ns};
    for (std::uint32_t user = 0; user < buffers_.size(); ++user) {
        if (!buffers_[user]) continue;  // the meter was interrupted before
        BufferLevel level = *buffers_[user];
        level.end(end);
        if (level.needed_ns() > out.needed_ns) {
            out.needed_ns = level.needed_ns();
            out.needed_user = user;
        }
        if (level.below_times() > 0) ++out.users_below;
        out.below_times += level.below_times();
        out.below_ns += level.below_ns();
        out.dry_times += level.dry_times();
        out.dry_ns += level.dry_ns();
    }
    return out;
}

MeterResult MeterStats::result_so_far(Instant now) const {
    MeterResult out = result_until(std::clamp(now, begin_, std::max(begin_, end_)));
    out.unfinished =
        std::max(out.unfinished, out.arrived - std::min(out.arrived, out.all.done + out.all.failed));
    return out;
}

MeterResult MeterStats::result_until(Instant end) const {
    MeterResult out = result_;
    out.wall_ns = std::max<std::int64_t>((std::max(end, last_sync_) - begin_).ns, 0);
    const auto summarise = [](OperationResult& result, const Times& times) {
        result.service_ns = metrics::latency_summary(times.service);
        result.response_ns = metrics::latency_summary(times.response);
    };
    for (std::size_t i = 0; i < kLoadOperations; ++i) summarise(out.operations[i], times_[i]);
    summarise(out.all, all_times_);
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        if (cells_[i].transfers == 0) continue;
        out.cells.push_back(
            {static_cast<TransferMode>(i / sizes_.count()), sizes_.bytes(i % sizes_.count()), cells_[i]});
    }
    if (plan_.spec.buffer) out.buffer = buffer(end);
    out.interval_ns = series_.interval().ns;
    out.series.assign(series_.intervals().begin(), series_.intervals().end());
    for (std::size_t i = 0; i < out.series.size(); ++i) {
        const auto next = static_cast<std::int64_t>(i + 1) * out.interval_ns;
        out.series[i].users = users_at(Duration{std::min(next, (end - begin_).ns) - 1});
    }
    return out;
}

}  // namespace streamsim::load
