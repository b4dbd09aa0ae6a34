// Any storage, with faults: delays, errors, short and missing files, stalls, on a schedule or by seed. The
// tests of verdicts use it, because in virtual time each fault is known to the nanosecond.
//
// Fault model. An operation that a rule gives an error never reaches the storage below and completes at its
// submission; the storage below performs all others. Then come the delays, counted from the completion below,
// and last the stalls: an operation that would complete within a stall completes at its end. Operations by name
// have no frame that a rule could name: only the stalls delay them. An injected completion is stamped with the
// intended instant, however late the loop runs it: completed_at and not_before are equal. A hash of seed, rule,
// seat, stream and slot decides by chance, so the order of operations does not change the decisions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "storage/containers.h"
#include "storage/fault/fault_plan.h"
#include "storage/operation_intake.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

/// The faults that a FaultStorage has injected so far. An operation counts once in each matching counter.
struct InjectedFaults {
    /// Slots of one stream, ascending and disjoint.
    struct Slots {
        std::uint64_t first = 0, last = 0;
    };
    /// A time in which operations of one stream were delayed after the storage below had completed them.
    struct Interval {
        Instant from, to;
    };
    std::uint64_t delayed = 0;    // completed later than the storage below completed them
    std::uint64_t failed = 0;     // never reached the storage below
    std::uint64_t shortened = 0;  // reads that ended before the end of the file
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Slots>> slots;      // by seat and stream
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Interval>> delays;  // by time, disjoint

    /// True when an operation of this slot was delayed, failed or shortened.
    bool met(std::uint32_t seat, std::uint32_t stream, std::uint64_t slot) const;
    void add(const InjectedFaults& other);
};

class FaultStorage final : public OperationIntake, public Reaper {
public:
    /// Owns `inner`. `seed` is the run's. `operations` is the number of in-flight slots; one more allocates.
    /// The first operation of a stream allocates too, the record of slots that had their delay. REQUIRES:
    /// `loop` outlives the storage; shutdown()'s callback ran before it is destroyed.
    FaultStorage(EventLoop& loop,
                 std::unique_ptr<Storage> inner,
                 FaultPlan plan,
                 std::uint64_t seed,
                 std::size_t operations);
    ~FaultStorage() override;

    /// Sets the origin of the stalls' times, for completions from now on. By default it is the submission of
    /// the first operation.
    void set_origin(Instant origin) { origin_ = origin; }

    void hint(FileId file, std::uint64_t offset, std::uint64_t bytes) override {
        inner_->hint(file, offset, bytes);
    }
    void close(FileId file) override;
    void cancel(Op& op) override;
    StorageCapabilities capabilities() const override { return inner_->capabilities(); }
    std::vector<ServerTraffic> traffic() const override { return inner_->traffic(); }
    void use_memory(std::span<std::byte> memory) override { inner_->use_memory(memory); }

    /// With the delays that go on, as far as they have gone.
    InjectedFaults injected() const;

    /// Runs the completions that are due.
    void reap() override;

private:
    /// The delays of this many slots are remembered: an operation of an older slot might be delayed twice.
    static constexpr std::size_t kSlotsRemembered = 1024;

    struct Effects {
        Duration delay;
        int error = 0;
        std::uint64_t length = UINT64_MAX;
    };
    struct Inflight {
        FaultStorage* storage = nullptr;
        Op* outer = nullptr;
        std::variant<OpenOp, ReadOp, WriteOp, SyncOp, PathOp>
            inner;           // the operation that the storage below sees
        bool below = false;  // the storage below has it
        bool cancelled = false;
        std::uint64_t names = 0;  // bit i: the file's name matches names_[i]
        Effects effects;
        Instant held_from;  // when the storage below completed it; never below: when it was submitted
        Instant due;
        std::uint64_t order = 0;
        Inflight* next = nullptr;
    };
    struct Later {
        bool operator()(const Inflight* a, const Inflight* b) const {
            return a->due != b->due ? a->due > b->due : a->order > b->order;
        }
    };
    using SlotsSeen = std::vector<std::uint64_t>;  // slot + 1, where the slot's turn in its rule says

    static void inner_done(void* node);
    static Op& inner_of(Inflight& inflight);

    void begin(Op& op) override;
    bool close_all() override;
    void inner_closed();
    std::uint64_t copy_below(Inflight& inflight) const;
    void pass_on(Inflight& inflight);
    void copy_answer(Inflight& inflight);
    void note_fault(std::uint64_t InjectedFaults::*which, const Inflight& inflight);
    static void note_delay(const Inflight& inflight, Instant end, InjectedFaults& into);
    void note_open(FileId file, std::uint64_t names);
    void complete(Inflight& inflight);
    void complete_at(Inflight& inflight, Instant when);
    void finish(Inflight& inflight);
    void arm();
    std::uint64_t names_matching(const char* path) const;
    std::uint64_t names_of(FileId file) const;
    static bool names_operation(FaultRule::Operation operation, const Inflight& inflight);
    bool matches(const FaultRule& rule, std::size_t index, const Inflight& inflight) const;
    bool by_chance(const FaultRule& rule, std::size_t index, const IoTag& tag) const;
    bool first_of_slot(std::size_t rule, const IoTag& tag);
    Effects effects_on(const Inflight& inflight);
    void add_effect(std::size_t rule, const Inflight& inflight, Effects& effects);
    Instant after_stall(Instant when) const;

    std::unique_ptr<Storage> inner_;
    const FaultPlan plan_;
    const std::uint64_t seed_;
    InjectedFaults injected_;
    std::vector<std::string> names_;          // the distinct patterns of the rules
    std::vector<std::uint8_t> name_of_rule_;  // an index into names_
    std::optional<Instant> origin_;
    std::vector<std::uint64_t> files_;  // by FileId: the result of names_matching() at its open
    SlotPool<Inflight> inflight_;
    std::vector<Inflight*> waiting_;  // a heap, the earliest first
    std::uint64_t order_ = 0;
    TimerId timer_ = 0;
    Instant armed_ = Instant::never();
    bool closing_ = false;  // the storage below is shutting down
    bool closed_ = false;
    std::vector<std::size_t> rules_of_all_;  // the rules that name no stream of a seat, in order
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> rules_of_;  // the others, by seat and stream
    std::map<std::pair<std::uint64_t, std::size_t>, SlotsSeen> seen_;       // by seat and stream, then rule
};

}  // namespace streamsim::storage
