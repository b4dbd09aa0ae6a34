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
    std::uint64_t file = 0;
    std::uint64_t flash_bytes = 0, drive_bytes = 0;  // that no faster level holds
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
    Instant next_pause, pause_end;
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
        for (std::uint32_t i = 0; i < spec.channels; ++i) {
            Channel& channel = channels_.emplace_back(loop);
            if (spec.garbage_every_bytes > 0)
                channel.bytes_until_garbage = prng_.below(spec.garbage_every_bytes);
            if (spec.garbage_gap > Duration{}) plan_pause(channel, Instant{});
        }
    }

    void close(FileId) override {}
    void cancel(Op&) override {}
    StorageCapabilities capabilities() const override { return {"sim", false, 1, false, true}; }

    void advance(Travel& travel) {
        if (travel.part != nullptr) std::exchange(travel.part, nullptr)->leave();
        switch (travel.stage++) {
            case 0: return work(travel);
            case 1: return go_through_file(travel);
            case 2: return fetch(travel);
            case 3: return read_flash(travel);
            case 4: return go_up(travel);
            case 5: return go_to_seat(travel);
            case 6: return wait(travel, half_trip());
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
            travel.file = files_[static_cast<std::size_t>(read.file)];
        }
        if (op.operation == OpKind::write) {
            auto& write = static_cast<WriteOp&>(op);
            travel.bytes = write.buffer.size();
            travel.file = files_[static_cast<std::size_t>(write.file)];
        }
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
        double cost = spec_.worker_s_per_request + spec_.worker_s_per_byte * static_cast<double>(travel.bytes);
        if (travel.op->operation == OpKind::open) cost = spec_.open_s;
        if (travel.op->operation == OpKind::sync) cost = spec_.sync_s;
        const bool urgent =
            (spec_.small_first && travel.bytes < kSmall) || travel.op->tag.seat < spec_.first_seats;
        workers_.enter(travel, urgent, [this, cost] {
            return seconds_of(cost / (spec_.burst_on_workers ? bursts_.left(now()) : 1));
        });
    }

    void go_through_file(Travel& travel) {
        if (travel.op->operation != OpKind::read || spec_.file_bytes_per_s <= 0) return advance(travel);
        std::unique_ptr<Part>& line = file_lines_[travel.file];
        if (line == nullptr) line = std::make_unique<Part>(loop(), 1);
        const auto bytes = static_cast<double>(travel.bytes);
        line->enter(travel, false, [this, bytes] { return seconds_of(bytes / spec_.file_bytes_per_s); });
    }

    std::uint64_t key_of(const Travel& travel, std::uint64_t block) const {
        return mix64(travel.file ^ mix64(block));
    }
    Channel& channel_of(const Travel& travel, std::uint64_t offset) {
        return channels_[key_of(travel, offset / kBlock) % channels_.size()];
    }

    void fetch(Travel& travel) {
        if (travel.op->operation == OpKind::write) {
            Channel& channel = channel_of(travel, static_cast<WriteOp&>(*travel.op).offset);
            channel.bytes_until_garbage -= std::min(channel.bytes_until_garbage, travel.bytes);
        }
        if (travel.op->operation != OpKind::read) return advance(travel);
        const std::uint64_t offset = static_cast<ReadOp&>(*travel.op).offset;
        find_levels(travel, offset);
        if (travel.drive_bytes == 0) return advance(travel);
        Channel& channel = channel_of(travel, offset);
        channel.part.enter(travel, false,
                           [this, &channel, &travel] { return drive_time(channel, travel.drive_bytes); });
    }
    /// Finds the level of each block, and puts it into the faster ones.
    void find_levels(Travel& travel, std::uint64_t offset) {
        if (spec_.memory_bytes == 0 && spec_.flash_bytes == 0) {
            travel.drive_bytes = travel.bytes;
            return;
        }
        const std::uint64_t end = offset + travel.bytes;
        for (std::uint64_t block = offset / kBlock; block * kBlock < end; ++block) {
            const std::uint64_t key = key_of(travel, block);
            if (memory_blocks_.has(key)) continue;
            memory_blocks_.put(key);
            if (flash_blocks_.has(key)) {
                travel.flash_bytes += std::min(end, (block + 1) * kBlock) - std::max(offset, block * kBlock);
            } else {
                flash_blocks_.put(key);
                travel.drive_bytes += kBlock;
            }
        }
    }
    void read_flash(Travel& travel) {
        if (travel.flash_bytes == 0) return advance(travel);
        flash_.enter(travel, false, [this, &travel] {
            return seconds_of(static_cast<double>(travel.flash_bytes) / spec_.flash_bytes_per_s);
        });
    }

    Duration drive_time(Channel& channel, std::uint64_t bytes) {
        const double access =
            static_cast<double>(spec_.access.ns) * std::exp(spec_.access_sigma * prng_.bell());
        const Duration time = Duration{static_cast<std::int64_t>(access)} +
                              seconds_of(static_cast<double>(bytes) / spec_.channel_bytes_per_s);
        return time + pause_left(channel) + garbage_of(channel, bytes);
    }
    /// Garbage that so many bytes more have collected.
    Duration garbage_of(Channel& channel, std::uint64_t bytes) {
        if (spec_.garbage_every_bytes == 0) return {};
        Duration pauses;
        for (; channel.bytes_until_garbage <= bytes; channel.bytes_until_garbage += spec_.garbage_every_bytes)
            pauses += spec_.garbage_pause;
        channel.bytes_until_garbage -= bytes;
        return pauses;
    }
    /// The rest of a pause that came at a random time.
    Duration pause_left(Channel& channel) {
        if (spec_.garbage_gap <= Duration{}) return {};
        while (channel.pause_end <= now()) plan_pause(channel, channel.pause_end);
        return channel.next_pause <= now() ? channel.pause_end - now() : Duration{};
    }
    void plan_pause(Channel& channel, Instant after) {
        const double gap = static_cast<double>(spec_.garbage_gap.ns) * draw_exponential(prng_);
        channel.next_pause = after + Duration{static_cast<std::int64_t>(gap) + 1};
        channel.pause_end = channel.next_pause + spec_.garbage_pause;
    }

    void go_up(Travel& travel) {
        if (travel.bytes == 0) return advance(travel);
        const auto bytes = static_cast<double>(travel.bytes);
        uplink_.enter(travel, false, [this, bytes] {
            const double left = spec_.burst_on_uplink ? bursts_.left(now()) : 1;
            return seconds_of(bytes / (spec_.uplink_bytes_per_s * left));
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
    std::unordered_map<std::uint64_t, std::unique_ptr<Part>> file_lines_;
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

/// Gives a storage the features of a family.
void add_family(TruthFamily family, Prng& prng, TruthSpec& spec) {
    switch (family) {
        case TruthFamily::priority:
            if (prng.below(2) == 0) {
                spec.small_first = true;
            } else {
                spec.first_seats = 1;
            }
            break;
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
            spec.burst_on_workers = prng.below(2) == 0;
            spec.burst_on_uplink = !spec.burst_on_workers || prng.below(2) == 0;
            break;
        case TruthFamily::garbage:
            spec.garbage_pause = time_between(prng, milliseconds(5), milliseconds(120));
            if (prng.below(2) == 0) {
                spec.garbage_every_bytes = (std::uint64_t{32} << 20) << prng.below(5);
            } else {
                spec.garbage_gap = time_between(prng, milliseconds(500), seconds(10));
            }
            break;
        case TruthFamily::mixed: {
            const std::uint64_t left_out = prng.below(kTruthFamilies.size() - 1);
            const std::uint64_t also_left_out = prng.below(kTruthFamilies.size() - 1);
            const std::uint64_t once_more = prng.below(kTruthFamilies.size() - 1);
            for (std::uint64_t i = 0; i + 1 < kTruthFamilies.size(); ++i) {
                if (i != left_out && i != also_left_out && i != once_more)
                    add_family(kTruthFamilies[i], prng, spec);
            }
            break;
        }
    }
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
    add_family(family, prng, spec);
    spec.sync_s = between(prng, 0.2e-3, 5e-3);
    if (prng.below(4) == 0) spec.file_bytes_per_s = between(prng, 0.3e9, 2e9);
    return spec;
}

std::string describe(const TruthSpec& spec) {
    std::string out =
        fmt::format("seat {}, uplink {}, {} workers, {} channels of {}, access {}",
                    show_rate(spec.seat_bytes_per_s), show_rate(spec.uplink_bytes_per_s), spec.workers,
                    spec.channels, show_rate(spec.channel_bytes_per_s), show_duration(spec.access));
    if (spec.file_bytes_per_s > 0) out += fmt::format(", a file {}", show_rate(spec.file_bytes_per_s));
    if (spec.small_first) out += ", small reads first";
    if (spec.first_seats > 0) out += fmt::format(", the first {} seats first", spec.first_seats);
    if (spec.memory_bytes > 0)
        out += fmt::format(", {} of memory, {} of flash with {}", show_bytes(spec.memory_bytes),
                           show_bytes(spec.flash_bytes), show_rate(spec.flash_bytes_per_s));
    if (spec.burst_share > 0)
        out += fmt::format(", bursts of {:.0f} % for {} after {}", 100 * spec.burst_share,
                           show_duration(spec.burst_length), show_duration(spec.burst_gap));
    if (spec.garbage_every_bytes > 0)
        out += fmt::format(", garbage {} every {}", show_duration(spec.garbage_pause),
                           show_bytes(spec.garbage_every_bytes));
    if (spec.garbage_gap > Duration{})
        out += fmt::format(", garbage {} after {}", show_duration(spec.garbage_pause),
                           show_duration(spec.garbage_gap));
    return out;
}

std::unique_ptr<Storage> make_truth_storage(EventLoop& loop, const TruthSpec& spec) {
    return std::make_unique<TruthStorage>(loop, spec);
}

}  // namespace streamsim::test
