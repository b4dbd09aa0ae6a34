// The intake of operations, which all backends share: it stamps and counts each operation that is submitted,
// runs its callback outside of the call that submitted it, and ends the storage when nothing is outstanding any
// more.
//
// A backend derives from the class that fits and performs operations: OperationIntake (no completion queue),
// PolledIntake (completions are looked for at the beginning of each turn), LimitedIntake (and only so many
// operations are in flight at once).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "storage/containers.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

class OperationIntake : public Storage {
public:
    /// REQUIRES: no operation is outstanding.
    ~OperationIntake() override;
    OperationIntake(const OperationIntake&) = delete;
    OperationIntake& operator=(const OperationIntake&) = delete;

    void open(OpenOp& op) final;
    void read(ReadOp& op) final;
    void write(WriteOp& op) final;
    void sync(SyncOp& op) final;
    void perform(PathOp& op) final;
    void hint(FileId, std::uint64_t, std::uint64_t) override {}
    void use_memory(std::span<std::byte>) override {}
    void shutdown(Callback done) final;

protected:
    explicit OperationIntake(EventLoop& loop) : loop_(loop) {}

    EventLoop& loop() const { return loop_; }
    Instant now() const { return loop_.now(); }
    std::size_t outstanding() const { return outstanding_; }

    /// Performs an operation that was accepted. Its outputs are cleared, and submitted_at is set.
    virtual void begin(Op& op) = 0;
    /// Closes all that is open, after shutdown() and the last callback. False: not closed yet; it is called
    /// again by each delivery and by advance_shutdown().
    virtual bool close_all() { return true; }
    virtual void before_delivery() {}
    /// Called when callbacks were run.
    virtual void after_delivery() {}

    /// Ends an operation: its callback runs with the next delivery.
    void settle(Op& op, int error, Instant completed_at, Instant not_before);
    /// Ends an operation here and now, outside of any completion queue.
    void settle_now(Op& op, int error);
    /// Runs the callback of an operation that has ended. The operation may be gone or submitted again
    /// afterwards.
    void run_callback(Op& op);
    /// Runs the callbacks of all that has been settled.
    void deliver();
    /// Calls deliver() at the end of this turn.
    void deliver_later();
    /// The same, behind the timer that runs.
    void deliver_soon();
    void advance_shutdown();

private:
    void accept(Op& op, OpKind kind, bool writes);
    void deliver_deferred();

    EventLoop& loop_;
    OpQueue settled_;
    std::size_t outstanding_ = 0;  // operations whose callback has not run
    bool delivery_set_ = false;
    bool shutting_down_ = false;
    Callback shutdown_;
};

/// The last conclusive poll of a backend for completions: operations that it did not find had not completed
/// yet.
///
/// After a time in which the process could not run (a SIGSTOP, a busy machine) the loop may poll before the
/// threads of the pool or the kernel have delivered the completions of that time. So a poll shortly after such
/// a stall is not conclusive, and the last one before the stall counts.
class CompletionPollTimes {
public:
    explicit CompletionPollTimes(EventLoop& loop) : loop_(loop), last_(loop.now()) {}

    Instant last() const { return last_; }

    /// The not_before of a completion that a thread of this process stamped. The stamp can only be late when
    /// the thread could not run: then the loop could not run either, and has noted a stall.
    Instant not_before(Instant submitted_at, Instant completed_at) const {
        const Instant poll = std::clamp(last_, submitted_at, completed_at);
        return loop_.stalled_within(poll, completed_at) > Duration{} ? poll : completed_at;
    }

    /// Notes a poll. `polled_at` was read before it, and its completions have been settled already.
    void note(Instant polled_at) {
        constexpr Duration kThreadsRunAgain = milliseconds(10);
        if (loop_.stalled_within(polled_at - kThreadsRunAgain, polled_at) == Duration{}) last_ = polled_at;
    }

private:
    EventLoop& loop_;
    Instant last_;
};

class PolledIntake : public OperationIntake, public Reaper {
public:
    ~PolledIntake() override { loop().remove_reaper(this); }
    void reap() final;

protected:
    explicit PolledIntake(EventLoop& loop) : OperationIntake(loop), poll_times_(loop) { loop.add_reaper(this); }

    /// Settles the operations that have completed.
    virtual void take_completions() = 0;

    /// Settles an operation whose completion this loop has just seen: it may be as old as the poll before.
    void settle_seen(Op& op, int error, Instant seen);
    /// Settles an operation whose completion was stamped where it happened, by a thread or another process.
    void settle_stamped(Op& op, int error, Instant completed_at);

private:
    CompletionPollTimes poll_times_;
};

/// There are two lines: for what moves data (reads, writes), and for everything else (opens, syncs, operations
/// by name), so that a directory that hangs delays no file that is open already. Operations above the limit
/// of their line wait in it, in order.
class LimitedIntake : public PolledIntake {
protected:
    LimitedIntake(EventLoop& loop, std::uint32_t transfers_max, std::uint32_t others_max);

    static bool is_transfer(const Op& op) {
        return op.operation == OpKind::read || op.operation == OpKind::write;
    }

    /// Performs an operation, which has an in-flight slot until leave().
    virtual void start(Op& op) = 0;
    void begin(Op& op) override { start_or_wait(op); }
    /// False: the operation waits.
    bool start_or_wait(Op& op);
    /// An operation of this line gives back its in-flight slot: the first in line starts.
    void leave(bool transfer);
    /// Settles an operation that waits, with ECANCELED. False: it does not wait.
    bool cancel_waiting(Op& op);
    /// Takes the first operations out of their lines, as long as `expired` is true of them.
    template <typename Expired>
    OpQueue take_waiting(Expired expired) {
        OpQueue taken;
        for (OpQueue* waiting : {&transfers_.waiting, &others_.waiting}) {
            while (!waiting->empty() && expired(*waiting->first())) taken.push(waiting->pop());
        }
        return taken;
    }

private:
    struct Line {
        std::uint32_t inflight_max;
        std::uint32_t inflight = 0;
        OpQueue waiting = {};
    };
    Line& line_of(bool transfer) { return transfer ? transfers_ : others_; }

    Line transfers_;
    Line others_;
};

}  // namespace streamsim::storage
