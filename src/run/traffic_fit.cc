#include "run/traffic_fit.h"

#include <algorithm>
#include <map>
#include <memory>

#include "load/meter.h"
#include "loop/virtual_loop.h"
#include "sim/sampled_storage.h"

namespace streamsim {
namespace {

constexpr double kOperations = 20'000;
constexpr std::uint64_t kRowsMost = 400'000;
constexpr std::uint64_t kSeed = 1;

SampledTimes times_of(const std::vector<TrafficOperation>& operations) {
    SampledTimes times;
    for (const TrafficOperation& at : operations) {
        switch (at.kind) {
            case TrafficKind::read: times.reads[at.bytes].push_back(at.duration_ns); break;
            case TrafficKind::write: times.writes[at.bytes].push_back(at.duration_ns); break;
            case TrafficKind::open:
            case TrafficKind::create: times.opens.push_back(at.duration_ns); break;
            case TrafficKind::sync: times.syncs.push_back(at.duration_ns); break;
            case TrafficKind::stat: times.stats.push_back(at.duration_ns); break;
            case TrafficKind::list: times.lists.push_back(at.duration_ns); break;
            case TrafficKind::remove: times.removes.push_back(at.duration_ns); break;
            case TrafficKind::rename: times.renames.push_back(at.duration_ns); break;
            case TrafficKind::other: break;
        }
    }
    return times;
}

TrafficKind kind_of(LoadOperation operation) {
    switch (operation) {
        case LoadOperation::read: return TrafficKind::read;
        case LoadOperation::write: return TrafficKind::write;
        case LoadOperation::open: return TrafficKind::open;
        case LoadOperation::stat: return TrafficKind::stat;
        case LoadOperation::create: return TrafficKind::create;
        case LoadOperation::remove: return TrafficKind::remove;
        case LoadOperation::rename: return TrafficKind::rename;
        case LoadOperation::list: return TrafficKind::list;
    }
    return TrafficKind::other;
}

/// Rows of blocks and operations as a trace would show them: a file that is moved whole is opened before.
std::vector<TrafficOperation> traffic_of(const std::vector<OperationRow>& rows, bool whole_files) {
    std::vector<TrafficOperation> out;
    std::map<std::pair<std::uint32_t, std::uint64_t>, bool> opened;
    for (const OperationRow& row : rows) {
        TrafficOperation at;
        at.begin_ns = row.submitted_ns;
        at.duration_ns = row.completed_ns - row.submitted_ns;
        at.user = row.user;
        at.file = row.file;
        at.kind = kind_of(row.operation);
        at.failed = row.error != 0;
        at.offset = row.offset;
        at.bytes = row.bytes;
        const bool transfer = at.kind == TrafficKind::read || at.kind == TrafficKind::write;
        if (whole_files && transfer && opened.try_emplace({row.user, row.transfer}, true).second) {
            TrafficOperation open = at;
            open.kind = TrafficKind::open;
            open.duration_ns = 0;
            out.push_back(open);
        }
        out.push_back(at);
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
    return out;
}

/// Plays one meter from beginning to end.
class MeterPlay {
public:
    MeterPlay(const MeterPlan& plan, const SampledTimes& times, Duration duration)
        : memory_(std::make_unique_for_overwrite<std::byte[]>(Meter::memory_bytes(plan))),
          storage_(loop_, times, kSeed),
          meter_(loop_,
                 storage_,
                 plan,
                 {memory_.get(), Meter::memory_bytes(plan)},
                 Callback::of<&MeterPlay::changed>(this)),
          duration_(duration) {}

    std::vector<OperationRow> rows() {
        meter_.prepare();
        loop_.run();
        return meter_.rows();
    }

private:
    void changed() {
        if (meter_.finished()) {
            storage_.shutdown(Callback::of<&MeterPlay::closed>(this));
        } else if (meter_.ready()) {
            meter_.play(loop_.now(), loop_.now() + duration_);
        }
    }
    void closed() { loop_.stop(); }

    const std::unique_ptr<std::byte[]> memory_;  // nothing touches it, as the storage fills no buffers
    VirtualLoop loop_;
    SampledStorage storage_;
    Meter meter_;
    const Duration duration_;
};

}  // namespace

Behaviour played_behaviour(const LearntMeter& meter, Duration duration) {
    MeterPlan plan;
    plan.spec = meter.spec;
    plan.spec.start = {};
    plan.spec.end.reset();
    plan.seed = kSeed;
    plan.rows_kept = kRowsMost;
    plan.names = working_set(plan.spec, "", 0);
    const double per_s = std::max(meter.behaviour.per_s(static_cast<double>(meter.behaviour.all())), 1e-3);
    const auto enough = Duration{static_cast<std::int64_t>(std::min(kOperations / per_s, 1e9) * 1e9)};
    const SampledTimes times = times_of(meter.operations);
    MeterPlay play(plan, times, std::min(enough, std::max(duration, Duration{meter.behaviour.span_ns})));
    return behaviour_of(traffic_of(play.rows(), plan.spec.whole_files));
}

}  // namespace streamsim
