// Any storage, with faults: delays, errors, short and missing files, stalls, on a schedule or by seed. The
// tool's own judgement is tested with it, since its truth is known to the nanosecond in virtual time.
//
// Fault model. An operation that a rule gives an error never reaches the storage below and completes at its
// submission; every other one is performed below. Then come the delays, counted from the completion below, and
// last the stalls, which hold back to their end whatever would complete inside them. What is done by name has
// no frame that a rule could name: it suffers the stalls alone. An injected completion is
// stamped with the instant that was intended, however late the loop runs it: completed_at and not_before are
// equal. Chance is decided by a hash of seed, rule, seat, stream and slot, so the order of operations does not
// change it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "storage/fault/fault_plan.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

/// What a FaultStorage has done to operations so far. Each operation counts once in each line that fits.
struct InjectedFaults {
    /// Slots of one stream, ascending, apart from one another.
    struct Slots {
        std::uint64_t first = 0, last = 0;
    };
    /// A time in which operations of one stream, which the storage below had completed, were held back.
    struct Interval {
        Instant from, to;
    };
    std::uint64_t delayed = 0;    // completed later than the storage below completed them
    std::uint64_t failed = 0;     // never reached the storage below
    std::uint64_t shortened = 0;  // reads that ended before the end of the file
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Slots>> slots;      // by seat and stream
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Interval>> delays;  // by time, apart

    /// An operation of this slot was delayed, failed or shortened.
    bool met(std::uint32_t seat, std::uint32_t stream, std::uint64_t slot) const;
    void add(const InjectedFaults& other);
};

class FaultStorage final : public Storage, public Reaper {
public:
    /// Owns `inner`. `seed` is the run's. `operations` is how many may be outstanding before anything is
    /// allocated for one more; besides, the first operation of a stream allocates (kept: which slots have had
    /// their delay). REQUIRES: `loop` outlives it; shutdown()'s callback ran before it is destroyed.
    FaultStorage(EventLoop& loop,
                 std::unique_ptr<Storage> inner,
                 FaultPlan plan,
                 std::uint64_t seed,
                 std::size_t operations);
    ~FaultStorage() override;
    FaultStorage(const FaultStorage&) = delete;
    FaultStorage& operator=(const FaultStorage&) = delete;

    /// The zero of the stalls' times, for completions that come from now on. Until it is set: the submission of
    /// the first operation.
    void set_origin(Instant origin) { origin_ = origin; }

    void open(OpenOp& op) override;
    void read(ReadOp& op) override;
    void write(WriteOp& op) override;
    void sync(SyncOp& op) override;
    void perform(PathOp& op) override;
    void hint(FileId file, std::uint64_t offset, std::uint64_t bytes) override;
    void close(FileId file) override;
    void cancel(Op& op) override;
    StorageCapabilities capabilities() const override { return inner_->capabilities(); }
    std::vector<ServerTraffic> traffic() const override { return inner_->traffic(); }
    void use_memory(std::span<std::byte> memory) override { inner_->use_memory(memory); }
    void shutdown(Callback done) override;

    const InjectedFaults& injected() const { return injected_; }

    /// Completions that are due: for the loop.
    void reap() override;

private:
    /// Operations of one slot may be as many slots apart as this; then a delay would be given twice.
    static constexpr std::size_t kSlotsRemembered = 1024;

    struct Effects {
        Duration delay;
        int error = 0;
        std::uint64_t length = UINT64_MAX;
    };
    struct Node {
        FaultStorage* storage = nullptr;
        Op* outer = nullptr;
        std::variant<OpenOp, ReadOp, WriteOp, SyncOp, PathOp> inner;  // what the storage below sees
        bool below = false;                                           // the storage below has it
        bool cancelled = false;
        std::uint64_t names = 0;  // bit i: the file's name matches names_[i]
        Effects effects;
        Instant held_from;  // the storage below had completed it, or it never reached that
        Instant due;
        std::uint64_t order = 0;
        Node* next_free = nullptr;
    };
    struct Later {
        bool operator()(const Node* a, const Node* b) const {
            return a->due != b->due ? a->due > b->due : a->order > b->order;
        }
    };
    using SlotsSeen = std::vector<std::uint64_t>;  // slot + 1, where the slot's turn in its rule says

    static void inner_done(void* node);
    static Op& inner_of(Node& node);

    Node& take_node(Op& outer, std::uint64_t names);
    void submit(Node& node);
    void pass_on(Node& node);
    void copy_answer(Node& node);
    void note_fault(std::uint64_t InjectedFaults::*which, const Node& node);
    void note_delay(const Node& node);
    void note_open(FileId file, std::uint64_t names);
    void complete(Node& node);
    void complete_at(Node& node, Instant when);
    void finish(Node& node);
    void arm();
    void drain();
    std::uint64_t names_matching(const char* path) const;
    std::uint64_t names_of(FileId file) const;
    static bool names_operation(FaultRule::Operation operation, const Node& node);
    bool matches(const FaultRule& rule, std::size_t index, const Node& node) const;
    bool by_chance(const FaultRule& rule, std::size_t index, const IoTag& tag) const;
    bool first_of_slot(std::size_t rule, const IoTag& tag);
    Effects effects_on(const Node& node);
    void add_effect(std::size_t rule, const Node& node, Effects& effects);
    Instant after_stall(Instant when) const;

    EventLoop& loop_;
    std::unique_ptr<Storage> inner_;
    const FaultPlan plan_;
    const std::uint64_t seed_;
    InjectedFaults injected_;
    std::vector<std::string> names_;          // the different patterns of the rules
    std::vector<std::uint8_t> name_of_rule_;  // an index into names_
    std::optional<Instant> origin_;
    std::vector<std::uint64_t> files_;  // by FileId: what names_matching() said when it was opened
    std::deque<Node> nodes_;
    Node* free_ = nullptr;
    std::vector<Node*> waiting_;  // a heap, the earliest first
    std::uint64_t order_ = 0;
    TimerId timer_ = 0;
    Instant armed_ = Instant::never();
    std::size_t outstanding_ = 0;
    Callback shutdown_;
    bool draining_ = false;
    std::vector<std::size_t> rules_of_all_;  // those that name no stream of a seat; in order
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> rules_of_;  // the others, by seat and stream
    std::map<std::pair<std::uint64_t, std::size_t>, SlotsSeen> seen_;       // by seat and stream, and rule
};

}  // namespace streamsim::storage
