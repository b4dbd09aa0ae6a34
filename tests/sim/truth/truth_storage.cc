#include "truth/truth_storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <deque>
#include <list>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "base/units.h"
#include "storage/operation_intake.h"

namespace streamsim::test {
namespace {

constexpr std::uint64_t kBlock = 1 << 20;
constexpr std::uint64_t kSmall = 256 << 10;

Duration seconds_of(double s) {
    return Duration{static_cast<std::int64_t>(s * 1e9)};
}

/// Other load, on and off. Asked with times that never go back.
class Bursts {
public:
    explicit Bursts(const TruthSpec& spec) : spec_(spec), prng_(derive_seed(spec.seed, 77)) {
        if (spec_.burst_share <= 0) return;
        const auto on = static_cast<double>(spec_.burst_length.ns);
        on_ = prng_.unit() * (on + static_cast<double>(spec_.burst_gap.ns)) < on;
        until_ = Instant{} + drawn(on_ ? spec_.burst_length : spec_.burst_gap);
    }
    /// The share of a rate that is left at `now`.
    double left(Instant now) {
        if (spec_.burst_share <= 0) return 1;
        while (until_ <= now) {
            on_ = !on_;
            until_ = until_ + drawn(on_ ? spec_.burst_length : spec_.burst_gap);
        }
        return on_ ? 1 - spec_.burst_share : 1;
    }

private:
    Duration drawn(Duration mean) {
        return Duration{static_cast<std::int64_t>(static_cast<double>(mean.ns) * draw_exponential(prng_)) + 1};
    }
    const TruthSpec& spec_;
    Prng prng_;
    bool on_ = false;
    Instant until_;
};

/// Blocks by their last use.
class Lru {
public:
    explicit Lru(std::uint64_t blocks) : room_(blocks) {}
    bool has(std::uint64_t key) {
        const auto found = at_.find(key);
        if (found == at_.end()) return false;
        order_.splice(order_.begin(), order_, found->second);
        return true;
    }
    void put(std::uint64_t key) {
        if (room_ == 0 || has(key)) return;
        order_.push_front(key);
        at_[key] = order_.begin();
        if (order_.size() <= room_) return;
        at_.erase(order_.back());
        order_.pop_back();
    }

private:
    std::uint64_t room_;
    std::list<std::uint64_t> order_;
    std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> at_;
};

class TruthStorage;

/// An operation on its way.
struct Travel {
    TruthStorage* storage = nullptr;
    Op* op = nullptr;
    std::uint64_t bytes = 0;
    std::uint64_t key = 0;  // of its block
    int stage = 0;
    class Part* part = nullptr;  // that serves it
    void next();
};

/// A few servers and a line before them; urgent travels are first in line.
class Part {
public:
    Part(EventLoop& loop, std::uint32_t servers) : loop_(loop), free_(servers) {}

    /// `service` says how long the travel is served, when that begins.
    void enter(Travel& travel, bool urgent, std::function<Duration()> service) {
        (urgent ? urgent_ : waiting_).push_back({&travel, std::move(service)});
        serve();
    }
    void leave() {
        ++free_;
        serve();
    }

private:
    struct Waiting {
        Travel* travel;
        std::function<Duration()> service;
    };
    void serve() {
        while (free_ > 0 && !(urgent_.empty() && waiting_.empty())) {
            std::deque<Waiting>& line = urgent_.empty() ? waiting_ : urgent_;
            const Waiting first = std::move(line.front());
            line.pop_front();
            --free_;
            first.travel->part = this;
            loop_.at(loop_.now() + first.service(), Callback::of<&Travel::next>(first.travel));
        }
    }
    EventLoop& loop_;
    std::uint32_t free_;
    std::deque<Waiting> urgent_, waiting_;
};

struct Channel {
    Channel(EventLoop& loop) : part(loop, 1) {}
    Part part;
    std::uint64_t bytes_until_garbage = 0;
};

class TruthStorage final : public storage::OperationIntake {
public:
    TruthStorage(EventLoop& loop, const TruthSpec& spec)
        : OperationIntake(loop),
          spec_(spec),
          bursts_(spec_),
          prng_(derive_seed(spec.seed, 5)),
          workers_(loop, spec.workers),
          flash_(loop, 1),
          uplink_(loop, 1),
          memory_blocks_(spec.memory_bytes / kBlock),
          flash_blocks_(spec.flash_bytes / kBlock) {
        for (std::uint32_t i = 0; i < spec.channels; ++i)
            channels_.emplace_back(loop).bytes_until_garbage =
                spec.garbage_every_bytes > 0 ? prng_.below(spec.garbage_every_bytes) : 0;
    }

    void close(FileId) override {}
    void cancel(Op&) override {}
    StorageCapabilities capabilities() const override { return {"sim", false, 1, false, true}; }

    void advance(Travel& travel) {
        if (travel.part != nullptr) std::exchange(travel.part, nullptr)->leave();
        switch (travel.stage++) {
            case 0: return work(travel);
            case 1: return fetch(travel);
            case 2: return go_up(travel);
            case 3: return go_to_seat(travel);
            case 4: return wait(travel, half_trip());
            default: return end(travel);
        }
    }

private:
    Duration half_trip() const { return Duration{spec_.round_trip.ns / 2}; }

    void begin(Op& op) override {
        Travel& travel = take();
        travel.op = &op;
        if (op.operation == OpKind::read) {
            auto& read = static_cast<ReadOp&>(op);
            travel.bytes = read.buffer.size();
            travel.key = mix64(static_cast<std::uint64_t>(files_[static_cast<std::size_t>(read.file)])) ^
                         (read.offset / kBlock);
        }
        if (op.operation == OpKind::write) travel.bytes = static_cast<WriteOp&>(op).buffer.size();
        loop().hold();
        wait(travel, half_trip());
    }
    Travel& take() {
        if (free_.empty()) {
            travels_.emplace_back();
            free_.push_back(&travels_.back());
        }
        Travel& travel = *free_.back();
        free_.pop_back();
        travel = {};
        travel.storage = this;
        return travel;
    }
    void wait(Travel& travel, Duration time) { loop().at(now() + time, Callback::of<&Travel::next>(&travel)); }

    void work(Travel& travel) {
        const bool open = travel.op->operation == OpKind::open;
        const double cost =
            open ? spec_.open_s
                 : spec_.worker_s_per_request + spec_.worker_s_per_byte * static_cast<double>(travel.bytes);
        const bool urgent = spec_.small_first && travel.bytes < kSmall;
        workers_.enter(travel, urgent, [this, cost] { return seconds_of(cost / bursts_.left(now())); });
    }

    void fetch(Travel& travel) {
        if (travel.op->operation != OpKind::read || memory_blocks_.has(travel.key)) return advance(travel);
        memory_blocks_.put(travel.key);
        const auto bytes = static_cast<double>(travel.bytes);
        if (flash_blocks_.has(travel.key))
            return flash_.enter(travel, false,
                                [this, bytes] { return seconds_of(bytes / spec_.flash_bytes_per_s); });
        flash_blocks_.put(travel.key);
        Channel& channel = channels_[mix64(travel.key) % channels_.size()];
        channel.part.enter(travel, false, [this, &channel, bytes] { return drive_time(channel, bytes); });
    }
    Duration drive_time(Channel& channel, double bytes) {
        const double access =
            static_cast<double>(spec_.access.ns) * std::exp(spec_.access_sigma * prng_.bell());
        Duration time =
            Duration{static_cast<std::int64_t>(access)} + seconds_of(bytes / spec_.channel_bytes_per_s);
        if (spec_.garbage_every_bytes == 0) return time;
        const auto moved = static_cast<std::uint64_t>(bytes);
        if (channel.bytes_until_garbage > moved) {
            channel.bytes_until_garbage -= moved;
            return time;
        }
        channel.bytes_until_garbage += spec_.garbage_every_bytes - moved;
        return time + spec_.garbage_pause;
    }

    void go_up(Travel& travel) {
        if (travel.bytes == 0) return advance(travel);
        const auto bytes = static_cast<double>(travel.bytes);
        uplink_.enter(travel, false, [this, bytes] {
            return seconds_of(bytes / (spec_.uplink_bytes_per_s * bursts_.left(now())));
        });
    }
    void go_to_seat(Travel& travel) {
        if (travel.bytes == 0) return advance(travel);
        const std::uint32_t seat = travel.op->tag.seat;
        while (links_.size() <= seat) links_.push_back(std::make_unique<Part>(loop(), 1));
        const auto bytes = static_cast<double>(travel.bytes);
        links_[seat]->enter(travel, false,
                            [this, bytes] { return seconds_of(bytes / spec_.seat_bytes_per_s); });
    }

    void end(Travel& travel) {
        Op& op = *travel.op;
        if (op.operation == OpKind::open) {
            auto& open = static_cast<OpenOp&>(op);
            open.file = static_cast<FileId>(files_.size());
            files_.push_back(file_of(open.path));
        } else if (op.operation == OpKind::read) {
            static_cast<ReadOp&>(op).bytes = travel.bytes;
        } else if (op.operation == OpKind::write) {
            static_cast<WriteOp&>(op).bytes = travel.bytes;
        }
        free_.push_back(&travel);
        loop().release();
        settle(op, 0, now(), now());
        deliver_later();
    }
    std::uint64_t file_of(const char* path) { return names_.emplace(path, names_.size()).first->second; }

    const TruthSpec spec_;
    Bursts bursts_;
    Prng prng_;
    Part workers_, flash_, uplink_;
    std::deque<Channel> channels_;
    std::vector<std::unique_ptr<Part>> links_;  // by seat
    Lru memory_blocks_, flash_blocks_;
    std::deque<Travel> travels_;
    std::vector<Travel*> free_;
    std::vector<std::uint64_t> files_;  // by FileId
    std::map<std::string, std::uint64_t> names_;
};

void Travel::next() {
    storage->advance(*this);
}

/// Evenly in the logarithm.
double between(Prng& prng, double low, double high) {
    return low * std::pow(high / low, prng.unit());
}

Duration time_between(Prng& prng, Duration low, Duration high) {
    return Duration{
        static_cast<std::int64_t>(between(prng, static_cast<double>(low.ns), static_cast<double>(high.ns)))};
}

}  // namespace

TruthSpec random_truth(TruthFamily family, std::uint64_t seed) {
    Prng prng(derive_seed(seed, static_cast<std::uint64_t>(family)));
    TruthSpec spec;
    spec.seed = prng.next();
    spec.seat_bytes_per_s = between(prng, 0.5e9, 3e9);
    spec.uplink_bytes_per_s = between(prng, 0.5e9, 6e9);
    spec.round_trip = time_between(prng, microseconds(100), milliseconds(2));
    spec.workers = 4 + static_cast<std::uint32_t>(prng.below(29));
    spec.worker_s_per_request = between(prng, 10e-6, 200e-6);
    spec.worker_s_per_byte = between(prng, 0.05e-9, 2e-9);
    spec.channels = 8 + static_cast<std::uint32_t>(prng.below(57));
    spec.channel_bytes_per_s = between(prng, 60e6, 500e6);
    spec.access = time_between(prng, microseconds(80), milliseconds(8));
    spec.access_sigma = 0.1 + 0.6 * prng.unit();
    spec.open_s = between(prng, 50e-6, 1e-3);
    switch (family) {
        case TruthFamily::priority: spec.small_first = true; break;
        case TruthFamily::caches:
            spec.memory_bytes = std::uint64_t{1} << (30 + prng.below(4));
            spec.flash_bytes = std::uint64_t{16} << (30 + prng.below(4));
            spec.flash_bytes_per_s = between(prng, 1e9, 6e9);
            break;
        case TruthFamily::uplink:
            spec.uplink_bytes_per_s = spec.seat_bytes_per_s * (0.5 + 2 * prng.unit());
            break;
        case TruthFamily::bursts:
            spec.burst_share = 0.2 + 0.4 * prng.unit();
            spec.burst_length = time_between(prng, milliseconds(200), seconds(5));
            spec.burst_gap = time_between(prng, seconds(2), seconds(15));
            break;
        case TruthFamily::garbage:
            spec.garbage_every_bytes = (std::uint64_t{32} << 20) << prng.below(5);
            spec.garbage_pause = time_between(prng, milliseconds(5), milliseconds(120));
            break;
    }
    return spec;
}

std::string describe(const TruthSpec& spec) {
    std::string out =
        fmt::format("seat {}, uplink {}, {} workers, {} channels of {}, access {}",
                    show_rate(spec.seat_bytes_per_s), show_rate(spec.uplink_bytes_per_s), spec.workers,
                    spec.channels, show_rate(spec.channel_bytes_per_s), show_duration(spec.access));
    if (spec.burst_share > 0)
        out += fmt::format(", bursts of {:.0f} % for {} after {}", 100 * spec.burst_share,
                           show_duration(spec.burst_length), show_duration(spec.burst_gap));
    if (spec.garbage_every_bytes > 0)
        out += fmt::format(", garbage {} every {}", show_duration(spec.garbage_pause),
                           show_bytes(spec.garbage_every_bytes));
    return out;
}

std::unique_ptr<Storage> make_truth_storage(EventLoop& loop, const TruthSpec& spec) {
    return std::make_unique<TruthStorage>(loop, spec);
}

}  // namespace streamsim::test
