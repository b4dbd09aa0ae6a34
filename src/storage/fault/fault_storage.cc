#include "storage/fault/fault_storage.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/prng.h"

namespace streamsim::storage {
namespace {

std::uint64_t stream_key(std::uint32_t seat, std::uint32_t stream) {
    return (std::uint64_t{seat} << 32) | stream;
}

/// The limit for one stream. Beyond it the last range grows, and then covers slots without a fault, too.
constexpr std::size_t kRangesMax = 100'000;

using Ranges = std::vector<InjectedFaults::Slots>;

/// The first range that does not end before `slot`.
template <typename AnyRanges>
auto range_of_slot(AnyRanges& ranges, std::uint64_t slot) {
    return std::lower_bound(
        ranges.begin(), ranges.end(), slot,
        [](const InjectedFaults::Slots& range, std::uint64_t at) { return range.last < at; });
}

void insert(Ranges& ranges, std::uint64_t slot) {
    // Slots come nearly in order: at the end, or near it.
    if (!ranges.empty() && slot == ranges.back().last + 1) {
        ++ranges.back().last;
        return;
    }
    const auto at = range_of_slot(ranges, slot);
    if (at != ranges.end() && at->first <= slot) return;
    if (ranges.size() < kRangesMax) {
        ranges.insert(at, {slot, slot});
    } else {
        ranges.back().first = std::min(ranges.back().first, slot);
        ranges.back().last = std::max(ranges.back().last, slot);
    }
}

/// Delays end nearly in order. Beyond the limit a delay is left out; its slots are still recorded.
void insert(std::vector<InjectedFaults::Interval>& intervals, InjectedFaults::Interval added) {
    while (!intervals.empty() && intervals.back().to >= added.from) {
        added.from = std::min(added.from, intervals.back().from);
        added.to = std::max(added.to, intervals.back().to);
        intervals.pop_back();
    }
    if (intervals.size() < kRangesMax) intervals.push_back(added);
}

}  // namespace

bool InjectedFaults::met(std::uint32_t seat, std::uint32_t stream, std::uint64_t slot) const {
    const auto found = slots.find({seat, stream});
    if (found == slots.end()) return false;
    const auto range = range_of_slot(found->second, slot);
    return range != found->second.end() && range->first <= slot;
}

void InjectedFaults::add(const InjectedFaults& other) {
    delayed += other.delayed;
    failed += other.failed;
    shortened += other.shortened;
    for (const auto& [stream, ranges] : other.slots) {
        auto& to = slots[stream];
        to.insert(to.end(), ranges.begin(), ranges.end());
        std::sort(to.begin(), to.end(), [](const Slots& a, const Slots& b) { return a.first < b.first; });
    }
    for (const auto& [stream, intervals] : other.delays) {
        auto& to = delays[stream];
        to.insert(to.end(), intervals.begin(), intervals.end());
        std::sort(to.begin(), to.end(), [](const Interval& a, const Interval& b) { return a.from < b.from; });
    }
}

FaultStorage::FaultStorage(
    EventLoop& loop, std::unique_ptr<Storage> inner, FaultPlan plan, std::uint64_t seed, std::size_t operations)
    : OperationIntake(loop),
      inner_(std::move(inner)),
      plan_(std::move(plan)),
      seed_(seed),
      inflight_(operations) {
    for (std::size_t i = 0; i < plan_.rules.size(); ++i) {
        const FaultRule& rule = plan_.rules[i];
        const bool of_one = rule.seat && rule.stream;
        (of_one ? rules_of_[stream_key(*rule.seat, *rule.stream)] : rules_of_all_).push_back(i);
        const auto known = std::find(names_.begin(), names_.end(), rule.file);
        name_of_rule_.push_back(static_cast<std::uint8_t>(known - names_.begin()));
        if (known == names_.end()) names_.push_back(rule.file);
    }
    STREAMSIM_CHECK(names_.size() <= FaultPlan::kMaxNames, "the names of a plan fit one word");
    waiting_.reserve(operations);
    loop.add_reaper(this);
}

FaultStorage::~FaultStorage() {
    loop().cancel(timer_);
    loop().remove_reaper(this);
}

void FaultStorage::close(FileId file) {
    inner_->close(file);
    const auto index = static_cast<std::size_t>(file);
    if (index < files_.size()) files_[index] = 0;
}

Op& FaultStorage::inner_of(Inflight& inflight) {
    return std::visit([](Op& op) -> Op& { return op; }, inflight.inner);
}

/// Makes the operation for the storage below. Returns the names of its file, as bits.
std::uint64_t FaultStorage::copy_below(Inflight& inflight) const {
    const Op& op = *inflight.outer;
    switch (op.operation) {
        case OpKind::open:
            return names_matching(inflight.inner.emplace<OpenOp>(static_cast<const OpenOp&>(op)).path);
        case OpKind::read: return names_of(inflight.inner.emplace<ReadOp>(static_cast<const ReadOp&>(op)).file);
        case OpKind::write:
            return names_of(inflight.inner.emplace<WriteOp>(static_cast<const WriteOp&>(op)).file);
        case OpKind::sync: return names_of(inflight.inner.emplace<SyncOp>(static_cast<const SyncOp&>(op)).file);
        case OpKind::path: inflight.inner.emplace<PathOp>(static_cast<const PathOp&>(op)); break;
    }
    return 0;  // no rule applies to operations by name
}

void FaultStorage::begin(Op& op) {
    Inflight& inflight = inflight_.take();
    inflight.storage = this;
    inflight.outer = &op;
    inflight.cancelled = false;
    inflight.names = copy_below(inflight);
    op.backend = &inflight;
    if (!origin_) origin_ = op.submitted_at;
    inflight.effects = effects_on(inflight);
    inflight.below = inflight.effects.error == 0;
    inflight.held_from = op.submitted_at;
    if (inflight.below) {
        inner_of(inflight).done = {&FaultStorage::inner_done, &inflight};
        pass_on(inflight);
        return;
    }
    op.error = inflight.effects.error;
    note_fault(&InjectedFaults::failed, inflight);
    complete_at(inflight, after_stall(op.submitted_at + inflight.effects.delay));
}

void FaultStorage::pass_on(Inflight& inflight) {
    switch (inflight.outer->operation) {
        case OpKind::open: return inner_->open(std::get<OpenOp>(inflight.inner));
        case OpKind::read: return inner_->read(std::get<ReadOp>(inflight.inner));
        case OpKind::write: return inner_->write(std::get<WriteOp>(inflight.inner));
        case OpKind::sync: return inner_->sync(std::get<SyncOp>(inflight.inner));
        case OpKind::path: return inner_->perform(std::get<PathOp>(inflight.inner));
    }
}

void FaultStorage::inner_done(void* inflight) {
    auto& self = *static_cast<Inflight*>(inflight);
    self.below = false;
    self.storage->complete(self);
}

void FaultStorage::note_open(FileId file, std::uint64_t names) {
    if (file < 0) return;
    const auto index = static_cast<std::size_t>(file);
    if (index >= files_.size()) files_.resize(index + 64);
    files_[index] = names;
}

void FaultStorage::note_fault(std::uint64_t InjectedFaults::*which, const Inflight& inflight) {
    ++(injected_.*which);
    if (std::holds_alternative<PathOp>(inflight.inner)) return;  // it belongs to no frame slot
    const IoTag& tag = inflight.outer->tag;
    insert(injected_.slots[{tag.seat, tag.stream}], tag.slot);
}

void FaultStorage::note_delay(const Inflight& inflight, Instant end, InjectedFaults& into) {
    if (std::holds_alternative<PathOp>(inflight.inner) || end <= inflight.held_from) return;
    const IoTag& tag = inflight.outer->tag;
    insert(into.delays[{tag.seat, tag.stream}], {inflight.held_from, end});
}

InjectedFaults FaultStorage::injected() const {
    InjectedFaults out = injected_;
    const Instant now = loop().now();
    for (const Inflight* const each : waiting_) note_delay(*each, std::min(each->due, now), out);
    return out;
}

void FaultStorage::copy_answer(Inflight& inflight) {
    Op& outer = *inflight.outer;
    if (const auto* open = std::get_if<OpenOp>(&inflight.inner)) {
        static_cast<OpenOp&>(outer).file = open->file;
        note_open(open->file, inflight.names);
    } else if (const auto* read = std::get_if<ReadOp>(&inflight.inner)) {
        const std::uint64_t left = inflight.effects.length - std::min(inflight.effects.length, read->offset);
        static_cast<ReadOp&>(outer).bytes = std::min(read->bytes, left);
        if (left < read->bytes) note_fault(&InjectedFaults::shortened, inflight);
    } else if (const auto* write = std::get_if<WriteOp>(&inflight.inner)) {
        static_cast<WriteOp&>(outer).bytes = write->bytes;
    } else if (const auto* path = std::get_if<PathOp>(&inflight.inner)) {
        static_cast<PathOp&>(outer).bytes = path->bytes;
        static_cast<PathOp&>(outer).entries = path->entries;
    }
}

// The storage below has completed the operation.
void FaultStorage::complete(Inflight& inflight) {
    const Op& inner = inner_of(inflight);
    Op& outer = *inflight.outer;
    outer.error = inner.error;
    outer.submitted_at = inner.submitted_at;
    outer.completed_at = inner.completed_at;
    outer.not_before = inner.not_before;
    inflight.held_from = inner.completed_at;
    copy_answer(inflight);
    const Instant due = after_stall(inner.completed_at + inflight.effects.delay);
    if (inflight.cancelled || due == inner.completed_at) {
        finish(inflight);
    } else {
        note_fault(&InjectedFaults::delayed, inflight);
        complete_at(inflight, due);
    }
}

// Completes the operation by reap(), outside of the call that submitted it.
void FaultStorage::complete_at(Inflight& inflight, Instant when) {
    inflight.due = when;
    inflight.order = order_++;
    inflight.outer->completed_at = inflight.outer->not_before = when;
    waiting_.push_back(&inflight);
    std::push_heap(waiting_.begin(), waiting_.end(), Later{});
    arm();
}

void FaultStorage::arm() {
    const Instant next = waiting_.empty() ? Instant::never() : waiting_.front()->due;
    if (next == armed_) return;
    loop().cancel(timer_);
    armed_ = next;
    timer_ = next == Instant::never() ? 0 : loop().at(next, Callback::of<&FaultStorage::reap>(this));
}

// The loop calls this at the beginning of a turn, before the timers of this instant; the storage's own timer
// calls it too, and makes sure that there is a turn.
void FaultStorage::reap() {
    if (waiting_.empty()) return;
    const Instant now = loop().now();
    if (waiting_.front()->due > now) return;  // the timer is set for it
    const std::uint64_t last = order_;        // operations that the callbacks submit wait for the next turn
    while (!waiting_.empty() && waiting_.front()->due <= now && waiting_.front()->order < last) {
        std::pop_heap(waiting_.begin(), waiting_.end(), Later{});
        Inflight& inflight = *waiting_.back();
        waiting_.pop_back();
        finish(inflight);
    }
    armed_ = Instant{INT64_MIN};  // forces arm() to set the timer anew
    arm();
}

void FaultStorage::finish(Inflight& inflight) {
    Op& outer = *inflight.outer;
    note_delay(inflight, outer.completed_at, injected_);  // one that was cut short ends at the cancellation
    outer.backend = nullptr;
    inflight_.give_back(inflight);
    run_callback(outer);
    advance_shutdown();
}

void FaultStorage::cancel(Op& op) {
    if (op.backend == nullptr) return;
    auto& inflight = *static_cast<Inflight*>(op.backend);
    if (inflight.cancelled) return;
    inflight.cancelled = true;
    if (inflight.below) {
        inner_->cancel(inner_of(inflight));
        return;
    }
    // The result is known and waits for its delay to end: it is delivered now.
    std::erase(waiting_, &inflight);
    std::make_heap(waiting_.begin(), waiting_.end(), Later{});
    complete_at(inflight, std::min(inflight.due, loop().now()));
}

bool FaultStorage::close_all() {
    if (!std::exchange(closing_, true)) inner_->shutdown(Callback::of<&FaultStorage::inner_closed>(this));
    return closed_;
}

void FaultStorage::inner_closed() {
    closed_ = true;
    advance_shutdown();
}

std::uint64_t FaultStorage::names_matching(const char* path) const {
    const std::string_view all(path);
    const std::string_view last = all.substr(all.rfind('/') + 1);  // npos + 1 is 0: all of it
    std::uint64_t names = 0;
    for (std::size_t i = 0; i < names_.size(); ++i) {
        const std::string& pattern = names_[i];
        const bool whole = pattern.find('/') != std::string::npos;
        if (glob_matches(pattern, whole ? all : last)) names |= std::uint64_t{1} << i;
    }
    return names;
}

std::uint64_t FaultStorage::names_of(FileId file) const {
    const auto index = static_cast<std::size_t>(file);
    return index < files_.size() ? files_[index] : 0;
}

bool FaultStorage::names_operation(FaultRule::Operation operation, const Inflight& inflight) {
    switch (operation) {
        case FaultRule::Operation::any: return true;
        case FaultRule::Operation::open: return std::holds_alternative<OpenOp>(inflight.inner);
        case FaultRule::Operation::read: return std::holds_alternative<ReadOp>(inflight.inner);
        case FaultRule::Operation::write: return std::holds_alternative<WriteOp>(inflight.inner);
        case FaultRule::Operation::sync: return std::holds_alternative<SyncOp>(inflight.inner);
    }
    return false;
}

bool FaultStorage::matches(const FaultRule& rule, std::size_t index, const Inflight& inflight) const {
    const IoTag& tag = inflight.outer->tag;
    if (!rule.slots.contains(tag.slot) || (inflight.names >> name_of_rule_[index] & 1) == 0) return false;
    if (!names_operation(rule.operation, inflight)) return false;
    if (rule.seat.value_or(tag.seat) != tag.seat || rule.stream.value_or(tag.stream) != tag.stream)
        return false;
    if (!rule.clip_frames.contains(tag.clip_frame)) return false;
    return rule.probability >= 1 || by_chance(rule, index, tag);
}

bool FaultStorage::by_chance(const FaultRule& rule, std::size_t index, const IoTag& tag) const {
    const std::uint64_t chances = rule.chances.value_or(index);
    const std::uint64_t for_stream = derive_seed(derive_seed(seed_, chances), stream_key(tag.seat, tag.stream));
    return Prng(derive_seed(for_stream, tag.slot)).unit() < rule.probability;
}

bool FaultStorage::first_of_slot(std::size_t rule, const IoTag& tag) {
    SlotsSeen& seen = seen_[{stream_key(tag.seat, tag.stream), rule}];
    const FaultSelection& slots = plan_.rules[rule].slots;
    if (seen.empty()) seen.resize(std::min<std::uint64_t>(slots.count(), kSlotsRemembered));
    const std::uint64_t turn = (tag.slot - slots.first) / slots.every;
    return std::exchange(seen[turn % seen.size()], tag.slot + 1) != tag.slot + 1;
}

FaultStorage::Effects FaultStorage::effects_on(const Inflight& inflight) {
    static const std::vector<std::size_t> none;
    Effects effects;
    const IoTag& tag = inflight.outer->tag;
    const auto found = rules_of_.find(stream_key(tag.seat, tag.stream));
    const std::vector<std::size_t>& own = found != rules_of_.end() ? found->second : none;
    auto next = own.begin();
    for (const std::size_t rule : rules_of_all_) {  // in the order of the plan
        for (; next != own.end() && *next < rule; ++next) add_effect(*next, inflight, effects);
        add_effect(rule, inflight, effects);
    }
    for (; next != own.end(); ++next) add_effect(*next, inflight, effects);
    return effects;
}

void FaultStorage::add_effect(std::size_t index, const Inflight& inflight, Effects& effects) {
    const FaultRule& rule = plan_.rules[index];
    if (!matches(rule, index, inflight)) return;
    if (rule.delay.ns > 0 && first_of_slot(index, inflight.outer->tag))
        effects.delay = std::min(effects.delay + rule.delay, FaultPlan::kMaxTime);
    if (effects.error == 0) effects.error = rule.missing ? ENOENT : rule.error;
    if (rule.short_bytes) effects.length = std::min(effects.length, *rule.short_bytes);
}

Instant FaultStorage::after_stall(Instant when) const {
    const Duration at = when - *origin_;
    // The last stall that begins at or before `when`; stalls are disjoint.
    const auto next = std::upper_bound(plan_.stalls.begin(), plan_.stalls.end(), at,
                                       [](Duration time, const FaultStall& stall) { return time < stall.at; });
    if (next == plan_.stalls.begin()) return when;
    const FaultStall& stall = *std::prev(next);
    return at < stall.at + stall.length ? *origin_ + stall.at + stall.length : when;
}

}  // namespace streamsim::storage
