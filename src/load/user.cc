#include "load/user.h"

#include <algorithm>

#include "base/check.h"

namespace streamsim::load {
namespace {

/// What fails at once would otherwise be asked for again at once, for ever.
constexpr Duration kAfterFailure = milliseconds(10);
constexpr std::uint64_t kPage = 4096;

/// Which numbers of a user's seed are whose.
enum Chance : std::uint64_t { kOperations, kArrivals };

bool asks_for(const MeterSpec& spec, LoadOperation operation) {
    return spec.weights[static_cast<std::size_t>(operation)] > 0;
}

std::uint64_t block_memory(const MeterSpec& spec) {
    std::uint64_t largest = 0;
    for (const WeightedSize& each : spec.blocks) largest = std::max(largest, each.bytes);
    if (!spec.writes) return (largest + kPage - 1) / kPage * kPage;
    for (const WeightedSize& each : spec.writes->blocks) largest = std::max(largest, each.bytes);
    return (largest + kPage - 1) / kPage * kPage;
}

}  // namespace

std::uint64_t user_memory_bytes(const MeterSpec& spec) {
    const std::uint64_t kinds = std::uint64_t{asks_for(spec, LoadOperation::read)} +
                                std::uint64_t{asks_for(spec, LoadOperation::write)};
    return block_memory(spec) * kinds * spec.inflight;
}

MeterUser::MeterUser(MeterRoom& room, std::uint32_t user, std::span<std::byte> memory)
    : room_(room),
      user_(user),
      number_(std::uint64_t{room.plan.first_user} + user),
      prng_(derive_seed(derive_seed(room.plan.seed, number_), kOperations)),
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
        places_.emplace_back(*this, read_into, take(LoadOperation::write));
    }
    for (std::uint32_t k = 0; k < spec().set.spare_files; ++k)
        created_.push({k, k % spec().set.directories, true});
    if (spec().operations_per_s > 0) {
        const double all = spec().operations_per_s * static_cast<double>(room.plan.seats) * spec().users;
        phase_ = constant_time(number_, all);
    }
    sync_.done = Callback::of<&MeterUser::on_synced>(this);
    sync_.tag = {room.plan.seat, room.plan.first_stream + user, 0, 0};
}

void MeterUser::begin(Instant at) {
    bursting_ = burst_left_ > 0;
    if (!bursting_) {
        begin_rest(at);
        for (Seat& each : places_) ready(each.place, origin_);
    } else {
        for (Seat& each : places_) ready(each.place, at);
    }
    pump();
}

/// What is not the burst.
void MeterUser::begin_rest(Instant at) {
    bursting_ = false;
    const bool even = spec().loop == MeterSpec::Loop::closed || spec().arrival == MeterSpec::Arrival::constant;
    origin_ = even ? at + phase_ : at;
    slot_ = 0;
    if (spec().loop == MeterSpec::Loop::closed) return;
    if (!even)
        poisson_.emplace(derive_seed(derive_seed(room_.plan.seed, number_), kArrivals),
                         spec().operations_per_s);
    next_arrival();
}

void MeterUser::next_arrival() {
    arrival_ = origin_ + (poisson_ ? poisson_->next() : constant_time(slot_++, spec().operations_per_s));
}

/// An idle place's turn comes at `at`, or when the rate limit lets it.
void MeterUser::ready(Place& place, Instant at) {
    place.due = at;
    if (!bursting_ && spec().loop == MeterSpec::Loop::closed && spec().operations_per_s > 0) {
        const Instant allowed = origin_ + constant_time(slot_, spec().operations_per_s);
        if (at > allowed) {
            origin_ = at;
            slot_ = 0;
        }
        place.due = std::max(at, allowed);
        ++slot_;
    }
    Place** behind = &idle_;
    while (*behind != nullptr && (*behind)->due <= place.due) behind = &(*behind)->next;
    place.next = *behind;
    *behind = &place;
}

/// Begins what may begin now, and sets the timer for what comes next.
void MeterUser::pump() {
    if (stopped_) return;
    const Instant now = room_.loop.now();
    const Instant end = room_.stats.end();
    while (now < end && idle_ != nullptr) {
        if (has_read_all()) {
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

/// Each byte is to be read once, and that has happened, or is under way.
bool MeterUser::has_read_all() {
    if (!spec().read_once) return false;
    if (spec().whole_files) return next_files_[0] >= room_.files.count();
    return room_.files.nothing_left(user_);
}

/// Begins nothing more before its time is over.
void MeterUser::end_here() {
    stopped_ = true;
    room_.loop.cancel(timer_);
    timer_ = 0;
    if (busy_ == 0) sync_next();
}

void MeterUser::arm(Instant when) {
    if (timer_ != 0 && timer_at_ <= when) return;
    room_.loop.cancel(timer_);
    timer_at_ = when;
    timer_ = room_.loop.at(when, Callback::of<&MeterUser::on_timer>(this));
}

void MeterUser::on_timer() {
    timer_ = 0;
    pump();
}

void MeterUser::start(Instant intended) {
    Place& place = *idle_;
    idle_ = place.next;
    if (bursting_) {
        --burst_left_;
    } else if (!closed()) {
        next_arrival();
    }
    ++busy_;
    room_.stats.arrived();
    place.begin(draw(intended));
}

MeterTask MeterUser::draw(Instant intended) {
    MeterTask task;
    task.operation = room_.draws.operation(prng_);
    task.number = operations_++;
    task.intended = intended;
    switch (task.operation) {
        case LoadOperation::read:
        case LoadOperation::write: draw_transfer(task); break;
        case LoadOperation::open:
        case LoadOperation::stat:
            task.file = static_cast<std::uint32_t>(prng_.below(room_.files.count()));
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
    task.file = room_.files.count() == 1 ? 0 : static_cast<std::uint32_t>(prng_.below(room_.files.count()));
    task.random = room_.draws.random(prng_);
    const bool writes = task.operation == LoadOperation::write;
    task.shape = room_.draws.shape(prng_, writes);
    MeterFiles& files = room_.files;
    if (spec().read_once && !spec().whole_files) {
        task.file = files.file_with_rest(user_, task.file);
        task.shape.length = files.fitting_rest(user_, task.file, task.shape.length);
        task.shape.block = room_.draws.sizes().fitting(task.shape.length, task.shape.block);
    }
    if (spec().whole_files) {
        if (!task.random) task.file = next_files_[writes]++ % files.count();
        return;
    }
    if (!task.random) {
        task.offset = files.sequential_place(user_, task.file, task.shape, prng_);
    } else if (!spec().random_by_block) {
        task.offset = files.random_place(user_, task.file, task.shape.length,
                                         room_.draws.sizes().bytes(task.shape.block), prng_);
        files.ended(user_, task.file, task.offset + task.shape.length);
    }
}

void MeterUser::draw_created(MeterTask& task) {
    if (task.operation != LoadOperation::create) {
        if (created_.size() == 0) {
            task.operation = LoadOperation::create;
            room_.stats.substituted();
        } else {
            task.before = created_.pop();
        }
    }
    task.after.number = created_names_++;
    task.after.directory = task.operation == LoadOperation::rename
                               ? task.before.directory
                               : static_cast<std::uint32_t>(task.after.number % spec().set.directories);
}

void MeterUser::place_ended(Place& place) {
    --busy_;
    settle_created(place);
    if (stopped_) {
        if (busy_ == 0) sync_next();
        return;
    }
    const bool failed = place.outcome() == Place::Outcome::failed;
    if (bursting_ && burst_left_ == 0 && busy_ == 0) {
        begin_rest(place.completed());
        // Those that found nothing left of the burst.
        Place* waiting = idle_;
        idle_ = nullptr;
        while (waiting != nullptr) {
            Place& each = *waiting;
            waiting = each.next;
            ready(each, std::max(each.due, origin_));
        }
    }
    Instant at = place.completed();
    if (failed) at = at + kAfterFailure;
    if (!bursting_) at = std::max(at + spec().think_time, origin_);
    ready(place, at);
    pump();
}

/// What is there of the files that were created, as far as is known.
void MeterUser::settle_created(const Place& place) {
    const MeterTask& task = place.task();
    const bool done = place.error() == 0;
    const bool unknown = place.outcome() == Place::Outcome::unfinished && !done;
    switch (task.operation) {
        case LoadOperation::create:
            if (done || unknown) created_.push(task.after);
            break;
        case LoadOperation::remove:
            if (!done) created_.push(task.before);
            break;
        case LoadOperation::rename:
            if (!done) created_.push(task.before);
            if (done || unknown) created_.push(task.after);
            break;
        default: break;
    }
}

void MeterUser::stop() {
    if (stopped_) return;
    stopped_ = true;
    room_.loop.cancel(timer_);
    timer_ = 0;
    while (!closed() && arrival_ < room_.stats.end()) {
        room_.stats.arrived();
        room_.stats.unfinished();
        next_arrival();
    }
    if (busy_ == 0) sync_next();
}

void MeterUser::cancel() {
    for (Seat& each : places_) each.place.cancel();
    if (syncing_) room_.storage.cancel(sync_);
}

/// One file that was written after the other; then the user is finished.
void MeterUser::sync_next() {
    MeterFiles& files = room_.files;
    const bool wanted = spec().sync == MeterSpec::Sync::at_end && files.kept_open() && !room_.interrupted;
    for (; wanted && sync_file_ < files.count(); ++sync_file_) {
        if (!files.opened(user_, sync_file_).written) continue;
        sync_.file = files.opened(user_, sync_file_).file;
        syncing_ = true;
        room_.storage.sync(sync_);
        return;
    }
    finished_ = true;
    room_.user_finished();
}

void MeterUser::on_synced() {
    syncing_ = false;
    if (sync_.error == 0) {
        room_.stats.synced(sync_.completed_at);
    } else if (!room_.interrupted) {
        room_.stats.error(LoadOperation::write, sync_.error, room_.files.path(user_, sync_file_));
    }
    ++sync_file_;
    sync_next();
}

void MeterUser::list_created(std::vector<std::string>& into) const {
    for (std::size_t i = 0; i < created_.size(); ++i) {
        if (created_[i].spare) continue;
        into.emplace_back();
        write_created_path(room_, user_, created_[i], into.back());
    }
}

}  // namespace streamsim::load
