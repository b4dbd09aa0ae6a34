// Workload: load that is not playback (ingest by copying, renders, office, builds, desktops, benchmarks), as
// plain data. A document in formats/workload/ says it; a Meter (src/load/) does it, on real storage in real
// time and on a model in virtual time.
//
// A meter has users. A user does one operation after the other, each drawn by weight. A read or a write is a
// *transfer*: a file, a place, a length and a block size are drawn, and the length is moved in blocks, one
// after the other; a remainder in the largest of the other block sizes that fit. All draws come from the run's
// seed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "streamsim/step_commands.h"

namespace streamsim {

enum class LoadOperation : std::uint8_t { read, write, open, stat, create, remove, rename, list };
constexpr std::size_t kLoadOperations = 8;
/// The largest file of a working set.
constexpr std::uint64_t kLoadFileBytesMax = 1ull << 50;
/// Operations a second of an open loop.
constexpr double kLoadRateMin = 0.001, kLoadRateMax = 1e8;
/// Operations of a user at once.
constexpr std::uint32_t kLoadInflightMax = 10'000;
/// Users of a meter over all seats, and their operations at once.
constexpr std::int64_t kWorkloadUsersMax = 1'000'000;

constexpr const char* to_string(LoadOperation operation) {
    switch (operation) {
        case LoadOperation::read: return "read";
        case LoadOperation::write: return "write";
        case LoadOperation::open: return "open";      // opens and closes a file of the working set
        case LoadOperation::stat: return "stat";      // asks for the attributes of a file of the working set
        case LoadOperation::create: return "create";  // a new empty file, closed again
        case LoadOperation::remove: return "remove";  // a file that was created
        case LoadOperation::rename: return "rename";  // a file that was created, within its directory
        case LoadOperation::list: return "list";      // a directory of the working set, all entries
    }
    return "?";
}

struct WeightedSize {
    std::uint64_t bytes = 0;
    double weight = 1;  // 0: for remainders alone
};

/// Sizes of writes, where they differ from those of reads.
struct WriteSizes {
    std::vector<WeightedSize> blocks;   // REQUIRES: one with weight
    std::vector<WeightedSize> lengths;  // empty: one block
};

/// The files of a meter, below TARGET/streamsim-media/.
struct WorkingSet {
    /// Whose files they are.
    enum class Of {
        user,    // each user has its own (N-N)
        client,  // the users of a client share those of the client
        all,     // all users of all clients share them (N-1)
    };
    std::uint32_t files = 1;        // files of each user, of each client, or of all together
    std::uint64_t file_bytes = 0;   // size of each file; all are written in full before the meter runs
    std::uint32_t directories = 1;  // directories that the files are spread over
    std::uint32_t spare_files = 0;  // empty files of each user, to be removed and renamed
    Of of = Of::user;

    bool shared() const { return of != Of::user; }
    /// How many times the files are there, with so many users on each of so many clients.
    std::uint64_t sets(std::uint32_t users, std::uint32_t clients) const {
        if (of == Of::all) return 1;
        return of == Of::client ? clients : std::uint64_t{users} * clients;
    }
};

/// The buffer of a user that consumes what it reads, or captures what it writes, at a constant rate
/// (src/load/buffer.h). It changes nothing that the user does.
struct BufferSpec {
    std::uint64_t bytes_per_s = 0;  // REQUIRES: above 0
    Duration length;                // what the buffer holds, at that rate
    Duration threshold;             // a level; REQUIRES: at most the length
};

struct MeterSpec {
    enum class Loop {
        closed,  // a user begins an operation when the last one is complete and its think time is over
        open,    // operations arrive at their intended times, whatever became of the last; latency counts from
                 // those
    };
    enum class Arrival { constant, poisson };
    enum class Sync {
        never,
        each_write,
        at_end
    };  // fsync: after each block written; of each user, once, at the end

    std::string name;
    std::uint32_t users = 1;  // users on each seat
    Loop loop = Loop::closed;
    Arrival arrival = Arrival::constant;  // open loop
    double operations_per_s = 0;  // rate of each user. Open loop: arrivals. Closed loop: upper limit; 0: none
    std::uint32_t inflight = 1;   // operations of one user at once; open loop: more wait in line
    std::array<double, kLoadOperations> weights{};  // REQUIRES: the sum is above 0
    double random_share = 0;                        // share of random transfers; the others are sequential
    bool sequential_from_anywhere = false;  // a sequential transfer begins at a drawn place; else where this
                                            // user's last one in this file ended, around the end of the file
    bool random_by_block = false;           // each block of a random transfer at a place of its own
    bool non_repeating = false;             // random places of a file come again only when all were visited
    std::vector<WeightedSize> blocks;       // REQUIRES: where there are reads or writes, one with weight
    /// Lengths of transfers; empty: one block. One entry or more: drawn by weight.
    std::vector<WeightedSize> lengths;
    std::optional<std::uint64_t> length_up_to;  // instead: uniform, in whole smallest blocks, at least one
    std::optional<WriteSizes> writes;           // empty: writes use `blocks` and `lengths` too
    /// A transfer opens its file, moves its length (lengths empty: all of the file) from the front, and closes
    /// it again. Files come one after the other, for reads and for writes by themselves; for random transfers
    /// as they are drawn.
    bool whole_files = false;
    /// A user reads each byte of its files once at most and ends when it has read all of them; the meter ends
    /// with its last user. REQUIRES: can_read_once().
    bool read_once = false;
    WorkingSet set;
    bool direct = true;
    Sync sync = Sync::never;
    Duration think_time;               // closed loop: after each operation
    Duration one_more_every;           // user i of the run begins so many times i later (login, ramp)
    Duration start;                    // from the start of play
    std::optional<Duration> end;       // empty: the meter ends with the run
    std::optional<BufferSpec> buffer;  // of each user; empty: none is watched
    std::uint32_t burst = 0;           // operations that a user does at once when it begins (boot, login),
                                       // closed loop without think time, before the rest
};

/// True when the reads of a meter can avoid reading a byte twice: all reads are sequential or all are random,
/// and nothing is written.
inline bool can_read_once(const MeterSpec& spec) {
    const auto weight = [&spec](LoadOperation of) { return spec.weights[static_cast<std::size_t>(of)]; };
    if (weight(LoadOperation::read) <= 0 || weight(LoadOperation::write) > 0) return false;
    if (spec.random_share <= 0)
        return !spec.sequential_from_anywhere && !(spec.whole_files && spec.set.shared());
    return spec.random_share >= 1 && !spec.random_by_block && !spec.whole_files;
}

/// A figure that somebody printed, for the report.
struct PrintedFigure {
    bool peak = false;  // the largest of all steps, whichever step that is; `at` means nothing
    double at = 0;      // the value of Sweep::values that the figure belongs to
    std::string model;  // compared only on this model, which stands for the storage; empty: on any storage
    /// read_bytes_per_s, write_bytes_per_s, bytes_per_s (both together), operations_per_s, latency_ms (mean of
    /// an operation); block_latency_ms, block_latency_max_ms: mean and largest of a block; peak_bytes_per_s,
    /// peak_operations_per_s, peak_latency_ms: the largest value of an interval of the meters' series (one
    /// second, longer in long runs), of the latency the largest mean.
    std::string quantity;
    double value = 0;
    std::string source;
};

/// One step for each value.
struct Sweep {
    enum class Over { none, clients, users, read_percent, operations_per_s, block_bytes, fill_percent, cache };
    Over over = Over::none;
    std::vector<double> values;
};

constexpr const char* to_string(Sweep::Over over) {
    switch (over) {
        case Sweep::Over::none: return "none";
        case Sweep::Over::clients: return "clients";
        case Sweep::Over::users: return "users";
        case Sweep::Over::read_percent: return "read_percent";
        case Sweep::Over::operations_per_s: return "operations_per_s";
        case Sweep::Over::block_bytes: return "block_bytes";
        case Sweep::Over::fill_percent: return "fill_percent";
        case Sweep::Over::cache: return "cache";
    }
    return "?";
}

/// A document: one or more meters at once, over one or more steps.
struct Workload {
    enum class Report {
        table,  // a row a step: operations, rates, latencies, by meter
        modes,  // seq_rd, rand_rd, seq_wr, rand_wr, All over block sizes: average rate, average and maximum
                // latency
        curve,  // latency against operations
    };
    std::string source;  // the file it was read from
    std::string name, title, description;
    std::string basis;                  // source of the numbers
    std::optional<std::string> target;  // default target, a model; empty: the user names a TARGET
    std::uint32_t clients = 1;          // seats
    Duration duration = seconds(10);    // length of each step
    std::vector<MeterSpec> meters;
    Sweep sweep;
    Report report = Report::table;
    std::vector<PrintedFigure> printed;
    StepCommands before_step;  // around each step
};

}  // namespace streamsim
