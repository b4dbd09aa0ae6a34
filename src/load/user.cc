#include "load/user.h"

#include <algorithm>

#include "base/memory.h"

namespace streamsim::load {
namespace {

/// The pause after a failure: an operation that fails at once is not repeated at once, for ever.
constexpr Duration kRetryPause = milliseconds(10);

/// The parts of a user's seed.
enum Chance : std::uint64_t { kOperations, kArrivals };

bool asks_for(const MeterSpec& spec, LoadOperation operation) {
    return spec.weights[static_cast<std::size_t>(operation)] > 0;
}

std::uint64_t block_memory(const MeterSpec& spec) {
    std::uint64_t largest = 0;
    for (const WeightedSize& each : spec.blocks) largest = std::max(largest, each.bytes);
    if (spec.writes) {
        for (const WeightedSize& each : spec.writes->blocks) largest = std::max(largest, each.bytes);
    }
    return align_up(largest, kPageBytes);
}

}  // namespace

std::uint64_t user_memory_bytes(const MeterSpec& spec) {
    const std::uint64_t kinds = std::uint64_t{asks_for(spec, LoadOperation::read)} +
                                std::uint64_t{asks_for(spec, LoadOperation::write)};
    return block_memory(spec) * kinds * spec.inflight;
}

MeterUser::MeterUser(MeterContext& context, std::uint32_t user, std::span<std::byte> memory)
    : context_(context),
      user_(user),
      number_(std::uint64_t{context.plan.first_user} + user),
      prng_(derive_seed(derive_seed(context.plan.seed, number_), kOperations)),
      burst_left_(spec().burst) {
    const std::uint64_t block = block_memory(spec());
    const auto take = [&](LoadOperation operation) {
        if (!asks_for(spec(), operation)) return std::span<std::byte>{};
        const auto taken = memory.first(block);
        memory = memory.subspan(block);
        return taken;
    };
    for (std::uint32_t i = 0; i < spec().inflight; ++i) {
        const auto read_into = take(LoadOperation::read);
        slots_.emplace_back(*this, read_into, take(LoadOperation::write));
    }
    for (std::uint32_t k = 0; k < spec().set.spare_files; ++k)
        created_.push_back({k, k % spec().set.directories, true});
    if (spec().operations_per_s > 0) {
        const double all = spec().operations_per_s * static_cast<double>(context.plan.seats) * spec().users;
        phase_ = constant_time(number_, all);
    }
    sync_.done = Callback::of<&MeterUser::on_synced>(this);
    sync_.tag = {context.plan.seat, context.plan.first_stream + user, 0, 0};
}

void MeterUser::begin(Instant at) {
    bursting_ = burst_left_ > 0;
    if (!bursting_) begin_rest(at);
    for (Slot& each : slots_) ready(each.operation, bursting_ ? at : origin_);
    start_due();
}

/// Begins the time after the burst.
void MeterUser::begin_rest(Instant at) {
    bursting_ = false;
    const bool even = spec().loop == MeterSpec::Loop::closed || spec().arrival == MeterSpec::Arrival::constant;
    origin_ = even ? at + phase_ : at;
    tick_ = 0;
    if (spec().loop == MeterSpec::Loop::closed) return;
    if (!even)
        poisson_.emplace(derive_seed(derive_seed(context_.plan.seed, number_), kArrivals),
                         spec().operations_per_s);
    next_arrival();
}

void MeterUser::next_arrival() {
    arrival_ = origin_ + (poisson_ ? poisson_->next() : constant_time(tick_++, spec().operations_per_s));
}

/// The next operation of an idle slot may begin at `at`, or when the rate limit allows it.
void MeterUser::ready(MeterOperation& idle, Instant at) {
    idle.due = at;
    if (!bursting_ && spec().loop == MeterSpec::Loop::closed && spec().operations_per_s > 0) {
        const Instant allowed = origin_ + constant_time(tick_, spec().operations_per_s);
        if (at > allowed) {
            origin_ = at;
            tick_ = 0;
        }
        idle.due = std::max(at, allowed);
        ++tick_;
    }
    MeterOperation** behind = &idle_;
    while (*behind != nullptr && (*behind)->due <= idle.due) behind = &(*behind)->next;
    idle.next = *behind;
    *behind = &idle;
}

/// Starts all operations that are due, and sets the timer for the next one.
void MeterUser::start_due() {
    if (stopped_) return;
    const Instant now = context_.loop.now();
    const Instant end = context_.stats.end();
    while (now < end && idle_ != nullptr) {
        if (has_read_all()) {
            arrival_ = Instant::never();
            end_here();
            return;
        }
        const Instant due = closed() ? idle_->due : arrival_;
        if (due >= end || (bursting_ && burst_left_ == 0)) return;
        if (due > now) {
            arm(due);
            return;
        }
        start(due);
    }
}

/// Each byte is to be read once, and all of them were read or are in flight.
bool MeterUser::has_read_all() {
    if (!spec().read_once) return false;
    if (spec().whole_files) return next_files_[0] >= context_.files.count();
    return context_.files.all_read(user_);
}

/// Begins no more operations.
void MeterUser::end_here() {
    stopped_ = true;
    context_.loop.cancel(timer_);
    timer_ = 0;
    if (busy_ == 0) operations_over(context_.loop.now());
}

/// No operation is in flight, and none will begin; the last one ended by `at`.
void MeterUser::operations_over(Instant at) {
    if (has_read_all()) context_.stats.user_read_all(user_, at);
    sync_next();
}

void MeterUser::arm(Instant when) {
    if (timer_ != 0 && timer_at_ <= when) return;
    context_.loop.cancel(timer_);
    timer_at_ = when;
    timer_ = context_.loop.at(when, Callback::of<&MeterUser::on_timer>(this));
}

void MeterUser::on_timer() {
    timer_ = 0;
    start_due();
}

void MeterUser::start(Instant intended) {
    MeterOperation& idle = *idle_;
    idle_ = idle.next;
    if (bursting_) {
        --burst_left_;
    } else if (!closed()) {
        next_arrival();
    }
    ++busy_;
    context_.stats.arrived();
    idle.begin(draw(intended));
}

MeterTask MeterUser::draw(Instant intended) {
    MeterTask task;
    task.operation = context_.draws.operation(prng_);
    task.number = operations_++;
    task.intended = intended;
    switch (task.operation) {
        case LoadOperation::read:
        case LoadOperation::write: draw_transfer(task); break;
        case LoadOperation::open:
        case LoadOperation::stat:
            task.file = static_cast<std::uint32_t>(prng_.below(context_.files.count()));
            break;
        case LoadOperation::list:
            task.file = static_cast<std::uint32_t>(prng_.below(spec().set.directories));
            break;
        case LoadOperation::create:
        case LoadOperation::remove:
        case LoadOperation::rename: draw_created(task); break;
    }
    return task;
}

void MeterUser::draw_transfer(MeterTask& task) {
    task.file =
        context_.files.count() == 1 ? 0 : static_cast<std::uint32_t>(prng_.below(context_.files.count()));
    task.random = context_.draws.random(prng_);
    const bool writes = task.operation == LoadOperation::write;
    task.shape = context_.draws.shape(prng_, writes);
    MeterFiles& files = context_.files;
    if (spec().read_once && !spec().whole_files) {
        task.file = files.file_with_unread(user_, task.file);
        task.shape.length = files.fitting_unread(user_, task.file, task.shape.length);
        task.shape.block = context_.draws.sizes().fitting(task.shape.length, task.shape.block);
    }
    if (spec().whole_files) {
        if (!task.random) task.file = next_files_[writes]++ % files.count();
        return;
    }
    if (!task.random) {
        task.offset = files.sequential_offset(user_, task.file, task.shape, prng_);
    } else if (!spec().random_by_block) {
        task.offset = files.random_offset(user_, task.file, task.shape.length,
                                          context_.draws.sizes().bytes(task.shape.block), prng_);
        files.ended(user_, task.file, task.offset + task.shape.length);
    }
}

CreatedFile MeterUser::take_created() {
    const CreatedFile file = created_[created_first_++];
    if (created_first_ * 2 > created_.size()) {
        created_.erase(created_.begin(), created_.begin() + static_cast<std::ptrdiff_t>(created_first_));
        created_first_ = 0;
    }
    return file;
}

void MeterUser::draw_created(MeterTask& task) {
    if (task.operation != LoadOperation::create) {
        if (created_first_ == created_.size()) {
            task.operation = LoadOperation::create;
            context_.stats.substituted();
        } else {
            task.before = take_created();
        }
    }
    task.after.number = created_names_++;
    task.after.directory = task.operation == LoadOperation::rename
                               ? task.before.directory
                               : static_cast<std::uint32_t>(task.after.number % spec().set.directories);
}

void MeterUser::operation_ended(MeterOperation& ended) {
    --busy_;
    settle_created(ended);
    if (stopped_) {
        if (busy_ == 0) operations_over(ended.completed());
        return;
    }
    const bool failed = ended.outcome() == MeterOperation::Outcome::failed;
    if (bursting_ && burst_left_ == 0 && busy_ == 0) {
        begin_rest(ended.completed());
        // Slots that got no operation of the burst.
        MeterOperation* waiting = idle_;
        idle_ = nullptr;
        while (waiting != nullptr) {
            MeterOperation& each = *waiting;
            waiting = each.next;
            ready(each, std::max(each.due, origin_));
        }
    }
    Instant at = ended.completed();
    if (failed) at = at + kRetryPause;
    if (!bursting_) at = std::max(at + spec().think_time, origin_);
    ready(ended, at);
    start_due();
}

/// Keeps track of the created files that exist, or may exist.
void MeterUser::settle_created(const MeterOperation& ended) {
    const MeterTask& task = ended.task();
    const bool done = ended.error() == 0;
    const bool unknown = ended.outcome() == MeterOperation::Outcome::unfinished && !done;
    switch (task.operation) {
        case LoadOperation::create:
            if (done || unknown) created_.push_back(task.after);
            break;
        case LoadOperation::remove:
            if (!done) created_.push_back(task.before);
            break;
        case LoadOperation::rename:
            if (!done) created_.push_back(task.before);
            if (done || unknown) created_.push_back(task.after);
            break;
        default: break;
    }
}

void MeterUser::stop() {
    if (!stopped_) end_here();
}

bool MeterUser::count_waiting(std::uint64_t& draws) {
    const Instant end = context_.stats.end();
    if (arrival_ >= end) return true;
    std::uint64_t waiting = 0;
    if (poisson_) {
        for (; arrival_ < end && draws > 0; --draws, ++waiting) next_arrival();
    } else {
        const std::uint64_t before = constant_times_before(end - origin_, spec().operations_per_s);
        waiting = before - (tick_ - 1);
        tick_ = before;
        next_arrival();
    }
    context_.stats.arrived(waiting);
    context_.stats.unfinished(waiting);
    return arrival_ >= end;
}

void MeterUser::cancel() {
    for (Slot& each : slots_) each.operation.cancel();
    if (syncing_) context_.storage.cancel(sync_);
}

/// Syncs the written files, one after the other; then the user is finished.
void MeterUser::sync_next() {
    MeterFiles& files = context_.files;
    const bool wanted = spec().sync == MeterSpec::Sync::at_end && files.kept_open() && !context_.interrupted;
    for (; wanted && sync_file_ < files.count(); ++sync_file_) {
        if (!files.opened(user_, sync_file_).written) continue;
        sync_.file = files.opened(user_, sync_file_).file;
        syncing_ = true;
        context_.storage.sync(sync_);
        return;
    }
    finished_ = true;
    context_.user_finished();
}

void MeterUser::on_synced() {
    syncing_ = false;
    const bool cancelled = sync_.error != 0 && context_.interrupted;
    if (!cancelled) context_.stats.synced(sync_.completed_at);
    if (sync_.error != 0 && !cancelled)
        context_.stats.error(LoadOperation::write, sync_.error, context_.files.path(user_, sync_file_));
    ++sync_file_;
    sync_next();
}

void MeterUser::list_created(std::vector<std::string>& into) const {
    for (const CreatedFile& file : std::span(created_).subspan(created_first_)) {
        if (!file.spare) write_created_path(context_, user_, file, into.emplace_back());
    }
}

}  // namespace streamsim::load
