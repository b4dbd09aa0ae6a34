#include "storage/fault/fault_storage.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/prng.h"

namespace streamsim::storage {
namespace {

std::uint64_t stream_key(std::uint32_t seat, std::uint32_t stream) {
    return (std::uint64_t{seat} << 32) | stream;
}

/// Of one stream. Beyond them the last range grows: it then names slots between those that were met, too.
constexpr std::size_t kRangesMost = 100'000;

using Ranges = std::vector<InjectedFaults::Slots>;

/// The first range that does not end before `slot`.
auto range_at(Ranges& ranges, std::uint64_t slot) {
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
    const auto at = range_at(ranges, slot);
    if (at != ranges.end() && at->first <= slot) return;
    if (ranges.size() < kRangesMost) {
        ranges.insert(at, {slot, slot});
    } else {
        ranges.back().first = std::min(ranges.back().first, slot);
        ranges.back().last = std::max(ranges.back().last, slot);
    }
}

/// Delays end nearly in order. Beyond the limit a delay is left out: its own slots are still known.
void insert(std::vector<InjectedFaults::Interval>& intervals, InjectedFaults::Interval added) {
    while (!intervals.empty() && intervals.back().to >= added.from) {
        added.from = std::min(added.from, intervals.back().from);
        added.to = std::max(added.to, intervals.back().to);
        intervals.pop_back();
    }
    if (intervals.size() < kRangesMost) intervals.push_back(added);
}

}  // namespace

bool InjectedFaults::met(std::uint32_t seat, std::uint32_t stream, std::uint64_t slot) const {
    const auto found = slots.find({seat, stream});
    if (found == slots.end()) return false;
    const auto range = std::lower_bound(found->second.begin(), found->second.end(), slot,
                                        [](const Slots& each, std::uint64_t at) { return each.last < at; });
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
    : loop_(loop), inner_(std::move(inner)), plan_(std::move(plan)), seed_(seed), nodes_(operations) {
    for (std::size_t i = 0; i < plan_.rules.size(); ++i) {
        const FaultRule& rule = plan_.rules[i];
        const bool of_one = rule.seat && rule.stream;
        (of_one ? rules_of_[stream_key(*rule.seat, *rule.stream)] : rules_of_all_).push_back(i);
        const auto known = std::find(names_.begin(), names_.end(), rule.file);
        name_of_rule_.push_back(static_cast<std::uint8_t>(known - names_.begin()));
        if (known == names_.end()) names_.push_back(rule.file);
    }
    STREAMSIM_CHECK(names_.size() <= FaultPlan::kMaxNames, "the names of a plan fit one word");
    for (Node& node : nodes_) {
        node.next_free = free_;
        free_ = &node;
    }
    waiting_.reserve(operations);
    loop_.add_reaper(this);
}

FaultStorage::~FaultStorage() {
    STREAMSIM_CHECK(outstanding_ == 0, "shutdown() comes before destruction");
    loop_.cancel(timer_);
    loop_.remove_reaper(this);
}

void FaultStorage::open(OpenOp& op) {
    op.file = kNoFile;
    Node& node = take_node(op, names_matching(op.path));
    auto& inner = node.inner.emplace<OpenOp>();
    inner.path = op.path;
    inner.access = op.access;
    submit(node);
}

void FaultStorage::read(ReadOp& op) {
    op.bytes = 0;
    Node& node = take_node(op, names_of(op.file));
    auto& inner = node.inner.emplace<ReadOp>();
    inner.file = op.file;
    inner.offset = op.offset;
    inner.buffer = op.buffer;
    inner.deadline = op.deadline;
    submit(node);
}

void FaultStorage::write(WriteOp& op) {
    op.bytes = 0;
    Node& node = take_node(op, names_of(op.file));
    auto& inner = node.inner.emplace<WriteOp>();
    inner.file = op.file;
    inner.offset = op.offset;
    inner.buffer = op.buffer;
    inner.deadline = op.deadline;
    submit(node);
}

void FaultStorage::sync(SyncOp& op) {
    Node& node = take_node(op, names_of(op.file));
    node.inner.emplace<SyncOp>().file = op.file;
    submit(node);
}

void FaultStorage::perform(PathOp& op) {
    op.bytes = 0;
    op.entries = 0;
    Node& node = take_node(op, 0);  // its name is none that a rule looks for
    auto& inner = node.inner.emplace<PathOp>();
    inner.kind = op.kind;
    inner.path = op.path;
    inner.to = op.to;
    submit(node);
}

void FaultStorage::hint(FileId file, std::uint64_t offset, std::uint64_t bytes) {
    inner_->hint(file, offset, bytes);
}

void FaultStorage::close(FileId file) {
    inner_->close(file);
    const auto index = static_cast<std::size_t>(file);
    if (index < files_.size()) files_[index] = 0;
}

FaultStorage::Node& FaultStorage::take_node(Op& outer, std::uint64_t names) {
    STREAMSIM_CHECK(!shutdown_, "no operation comes after shutdown()");
    if (free_ == nullptr) free_ = &nodes_.emplace_back();
    Node& node = *free_;
    free_ = node.next_free;
    node.storage = this;
    node.outer = &outer;
    node.cancelled = false;
    node.names = names;
    outer.backend = &node;
    outer.error = 0;
    ++outstanding_;
    return node;
}

Op& FaultStorage::inner_of(Node& node) {
    return std::visit([](Op& op) -> Op& { return op; }, node.inner);
}

void FaultStorage::submit(Node& node) {
    Op& outer = *node.outer;
    outer.submitted_at = loop_.now();
    if (!origin_) origin_ = outer.submitted_at;
    node.effects = effects_on(node);
    node.below = node.effects.error == 0;
    node.held_from = outer.submitted_at;
    if (!node.below) {
        outer.error = node.effects.error;
        note_fault(&InjectedFaults::failed, node);
        complete_at(node, after_stall(outer.submitted_at + node.effects.delay));
        return;
    }
    Op& inner = inner_of(node);
    inner.done = {&FaultStorage::inner_done, &node};
    inner.tag = outer.tag;
    pass_on(node);
}

void FaultStorage::pass_on(Node& node) {
    if (auto* open = std::get_if<OpenOp>(&node.inner)) {
        inner_->open(*open);
    } else if (auto* read = std::get_if<ReadOp>(&node.inner)) {
        inner_->read(*read);
    } else if (auto* write = std::get_if<WriteOp>(&node.inner)) {
        inner_->write(*write);
    } else if (auto* sync = std::get_if<SyncOp>(&node.inner)) {
        inner_->sync(*sync);
    } else {
        inner_->perform(std::get<PathOp>(node.inner));
    }
}

void FaultStorage::inner_done(void* node) {
    auto& self = *static_cast<Node*>(node);
    self.below = false;
    self.storage->complete(self);
}

void FaultStorage::note_open(FileId file, std::uint64_t names) {
    if (file < 0) return;
    const auto index = static_cast<std::size_t>(file);
    if (index >= files_.size()) files_.resize(index + 64);
    files_[index] = names;
}

void FaultStorage::note_fault(std::uint64_t InjectedFaults::*which, const Node& node) {
    ++(injected_.*which);
    if (std::holds_alternative<PathOp>(node.inner)) return;  // it is of no slot
    const IoTag& tag = node.outer->tag;
    insert(injected_.slots[{tag.seat, tag.stream}], tag.slot);
}

// A delay that a cancellation cut short ended then.
void FaultStorage::note_delay(const Node& node) {
    if (std::holds_alternative<PathOp>(node.inner) || node.outer->completed_at <= node.held_from) return;
    const IoTag& tag = node.outer->tag;
    insert(injected_.delays[{tag.seat, tag.stream}], {node.held_from, node.outer->completed_at});
}

void FaultStorage::copy_answer(Node& node) {
    Op& outer = *node.outer;
    if (const auto* open = std::get_if<OpenOp>(&node.inner)) {
        static_cast<OpenOp&>(outer).file = open->file;
        note_open(open->file, node.names);
    } else if (const auto* read = std::get_if<ReadOp>(&node.inner)) {
        const std::uint64_t left = node.effects.length - std::min(node.effects.length, read->offset);
        static_cast<ReadOp&>(outer).bytes = std::min(read->bytes, left);
        if (left < read->bytes) note_fault(&InjectedFaults::shortened, node);
    } else if (const auto* write = std::get_if<WriteOp>(&node.inner)) {
        static_cast<WriteOp&>(outer).bytes = write->bytes;
    } else if (const auto* path = std::get_if<PathOp>(&node.inner)) {
        static_cast<PathOp&>(outer).bytes = path->bytes;
        static_cast<PathOp&>(outer).entries = path->entries;
    }
}

// The storage below is done with it.
void FaultStorage::complete(Node& node) {
    const Op& inner = inner_of(node);
    Op& outer = *node.outer;
    outer.error = inner.error;
    outer.submitted_at = inner.submitted_at;
    outer.completed_at = inner.completed_at;
    outer.not_before = inner.not_before;
    node.held_from = inner.completed_at;
    copy_answer(node);
    const Instant due = after_stall(inner.completed_at + node.effects.delay);
    if (node.cancelled || due == inner.completed_at) {
        finish(node);
    } else {
        note_fault(&InjectedFaults::delayed, node);
        complete_at(node, due);
    }
}

// Later, and never inside the call that submitted it.
void FaultStorage::complete_at(Node& node, Instant when) {
    node.due = when;
    node.order = order_++;
    node.outer->completed_at = node.outer->not_before = when;
    waiting_.push_back(&node);
    std::push_heap(waiting_.begin(), waiting_.end(), Later{});
    arm();
}

void FaultStorage::arm() {
    const Instant next = waiting_.empty() ? Instant::never() : waiting_.front()->due;
    if (next == armed_) return;
    loop_.cancel(timer_);
    armed_ = next;
    timer_ = next == Instant::never() ? 0 : loop_.at(next, Callback::of<&FaultStorage::reap>(this));
}

// By the loop at the beginning of a turn, so that what is due now is settled before timers of this instant; and
// by our own timer, which makes sure that there is a turn.
void FaultStorage::reap() {
    if (waiting_.empty()) return;
    const Instant now = loop_.now();
    if (waiting_.front()->due > now) return;  // the timer is set for it
    const std::uint64_t last = order_;        // what the callbacks submit waits for the next turn
    while (!waiting_.empty() && waiting_.front()->due <= now && waiting_.front()->order < last) {
        std::pop_heap(waiting_.begin(), waiting_.end(), Later{});
        Node& node = *waiting_.back();
        waiting_.pop_back();
        finish(node);
    }
    armed_ = Instant{INT64_MIN};  // whether the timer ran or not, set it anew
    arm();
}

void FaultStorage::finish(Node& node) {
    Op& outer = *node.outer;
    note_delay(node);
    outer.backend = nullptr;
    node.next_free = free_;
    free_ = &node;
    --outstanding_;
    outer.done();  // the operation may be gone or submitted again afterwards
    if (shutdown_ && outstanding_ == 0) drain();
}

void FaultStorage::cancel(Op& op) {
    if (op.backend == nullptr) return;
    auto& node = *static_cast<Node*>(op.backend);
    if (node.cancelled) return;
    node.cancelled = true;
    if (node.below) {
        inner_->cancel(inner_of(node));
        return;
    }
    // It has its result already and waits out its delay: it keeps the result, which comes now.
    std::erase(waiting_, &node);
    std::make_heap(waiting_.begin(), waiting_.end(), Later{});
    complete_at(node, std::min(node.due, loop_.now()));
}

void FaultStorage::shutdown(Callback done) {
    shutdown_ = done;
    if (outstanding_ == 0) drain();
}

void FaultStorage::drain() {
    if (!std::exchange(draining_, true)) inner_->shutdown(shutdown_);
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

bool FaultStorage::names_operation(FaultRule::Operation operation, const Node& node) {
    switch (operation) {
        case FaultRule::Operation::any: return true;
        case FaultRule::Operation::open: return std::holds_alternative<OpenOp>(node.inner);
        case FaultRule::Operation::read: return std::holds_alternative<ReadOp>(node.inner);
        case FaultRule::Operation::write: return std::holds_alternative<WriteOp>(node.inner);
        case FaultRule::Operation::sync: return std::holds_alternative<SyncOp>(node.inner);
    }
    return false;
}

bool FaultStorage::matches(const FaultRule& rule, std::size_t index, const Node& node) const {
    const IoTag& tag = node.outer->tag;
    if (!rule.slots.contains(tag.slot) || (node.names >> name_of_rule_[index] & 1) == 0) return false;
    if (!names_operation(rule.operation, node)) return false;
    if (rule.seat.value_or(tag.seat) != tag.seat || rule.stream.value_or(tag.stream) != tag.stream)
        return false;
    if (!rule.clip_frames.contains(tag.clip_frame)) return false;
    return rule.probability >= 1 || by_chance(rule, index, tag);
}

bool FaultStorage::by_chance(const FaultRule& rule, std::size_t index, const IoTag& tag) const {
    const std::uint64_t for_stream = derive_seed(derive_seed(seed_, index), stream_key(tag.seat, tag.stream));
    return Prng(derive_seed(for_stream, tag.slot)).unit() < rule.probability;
}

bool FaultStorage::first_of_slot(std::size_t rule, const IoTag& tag) {
    SlotsSeen& seen = seen_[{stream_key(tag.seat, tag.stream), rule}];
    const FaultSelection& slots = plan_.rules[rule].slots;
    if (seen.empty()) seen.resize(std::min<std::uint64_t>(slots.count(), kSlotsRemembered));
    const std::uint64_t turn = (tag.slot - slots.first) / slots.every;
    return std::exchange(seen[turn % seen.size()], tag.slot + 1) != tag.slot + 1;
}

FaultStorage::Effects FaultStorage::effects_on(const Node& node) {
    static const std::vector<std::size_t> none;
    Effects effects;
    const IoTag& tag = node.outer->tag;
    const auto found = rules_of_.find(stream_key(tag.seat, tag.stream));
    const std::vector<std::size_t>& own = found != rules_of_.end() ? found->second : none;
    auto next = own.begin();
    for (const std::size_t rule : rules_of_all_) {  // in the order of the plan
        for (; next != own.end() && *next < rule; ++next) add_effect(*next, node, effects);
        add_effect(rule, node, effects);
    }
    for (; next != own.end(); ++next) add_effect(*next, node, effects);
    return effects;
}

void FaultStorage::add_effect(std::size_t index, const Node& node, Effects& effects) {
    const FaultRule& rule = plan_.rules[index];
    if (!matches(rule, index, node)) return;
    if (rule.delay.ns > 0 && first_of_slot(index, node.outer->tag)) effects.delay += rule.delay;
    if (effects.error == 0) effects.error = rule.missing ? ENOENT : rule.error;
    if (rule.short_bytes) effects.length = std::min(effects.length, *rule.short_bytes);
}

Instant FaultStorage::after_stall(Instant when) const {
    const Duration at = when - *origin_;
    // The last stall that begins at or before it; they are apart from one another.
    const auto next = std::upper_bound(plan_.stalls.begin(), plan_.stalls.end(), at,
                                       [](Duration time, const FaultStall& stall) { return time < stall.at; });
    if (next == plan_.stalls.begin()) return when;
    const FaultStall& stall = *std::prev(next);
    return at < stall.at + stall.length ? *origin_ + stall.at + stall.length : when;
}

}  // namespace streamsim::storage
