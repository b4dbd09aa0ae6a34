#include "run/traffic_fit.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "load/meter.h"
#include "loop/virtual_loop.h"
#include "sim/sampled_storage.h"

namespace streamsim::run {
namespace {

constexpr double kOperations = 20'000;
constexpr std::uint64_t kRowsMost = 400'000;
constexpr std::uint64_t kSeed = 1;

sim::SampledTimes times_of(const std::vector<profile::TrafficOperation>& operations) {
    sim::SampledTimes times;
    for (const profile::TrafficOperation& at : operations) {
        switch (at.kind) {
            case profile::TrafficKind::read: times.reads[at.bytes].push_back(at.duration_ns); break;
            case profile::TrafficKind::write: times.writes[at.bytes].push_back(at.duration_ns); break;
            case profile::TrafficKind::open:
            case profile::TrafficKind::create: times.opens.push_back(at.duration_ns); break;
            case profile::TrafficKind::sync: times.syncs.push_back(at.duration_ns); break;
            case profile::TrafficKind::stat: times.stats.push_back(at.duration_ns); break;
            case profile::TrafficKind::list: times.lists.push_back(at.duration_ns); break;
            case profile::TrafficKind::remove: times.removes.push_back(at.duration_ns); break;
            case profile::TrafficKind::rename: times.renames.push_back(at.duration_ns); break;
            case profile::TrafficKind::other: break;
        }
    }
    return times;
}

/// The share of the transfers that the traffic shows an open of: of whole files; NFSv3 may show none.
double opened_share(const profile::LearntMeter& meter) {
    if (!meter.spec.whole_files || meter.transfers == 0) return 0;
    const double others = meter.spec.weights[static_cast<std::size_t>(LoadOperation::open)];
    const auto all = static_cast<double>(meter.behaviour.of(profile::TrafficKind::open));
    return (all - others) / static_cast<double>(meter.transfers);
}

/// Rows of blocks and operations as a trace would show them: this share of the transfers with an open before.
std::vector<profile::TrafficOperation> traffic_of(const std::vector<OperationRow>& rows, double share) {
    std::vector<profile::TrafficOperation> out;
    double owed = 0;  // opens
    std::map<std::pair<std::uint32_t, std::uint64_t>, bool> opened;
    for (const OperationRow& row : rows) {
        profile::TrafficOperation at;
        at.begin_ns = row.submitted_ns;
        at.duration_ns = row.completed_ns - row.submitted_ns;
        at.user = row.user;
        at.file = row.file;
        at.kind = profile::traffic_kind(row.operation);
        at.failed = row.error != 0;
        at.offset = row.offset;
        at.bytes = row.bytes;
        if (share > 0 && at.moves_data() && opened.try_emplace({row.user, row.transfer}, true).second)
            owed += share;
        if (owed >= 1) {
            owed -= 1;
            profile::TrafficOperation open = at;
            open.kind = profile::TrafficKind::open;
            open.duration_ns = 0;
            out.push_back(open);
        }
        out.push_back(at);
    }
    std::ranges::stable_sort(out, {}, &profile::TrafficOperation::begin_ns);
    return out;
}

/// Plays one meter from beginning to end.
class MeterPlay {
public:
    MeterPlay(const load::MeterPlan& plan, const sim::SampledTimes& times, Duration duration)
        : memory_(std::make_unique_for_overwrite<std::byte[]>(load::Meter::memory_bytes(plan))),
          storage_(loop_, times, kSeed),
          meter_(loop_,
                 storage_,
                 plan,
                 {memory_.get(), load::Meter::memory_bytes(plan)},
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
    loop::VirtualLoop loop_;
    sim::SampledStorage storage_;
    load::Meter meter_;
    const Duration duration_;
};

}  // namespace

profile::Behaviour played_behaviour(const profile::LearntMeter& meter, Duration duration) {
    load::MeterPlan plan;
    plan.spec = meter.spec;
    plan.spec.start = {};
    plan.spec.end.reset();
    plan.seed = kSeed;
    plan.rows_kept = kRowsMost;
    plan.names = load::working_set(plan.spec, "", 0);
    const double per_s = std::max(meter.behaviour.per_s(static_cast<double>(meter.behaviour.all())), 1e-3);
    const auto enough = Duration{static_cast<std::int64_t>(std::min(kOperations / per_s, 1e9) * 1e9)};
    const sim::SampledTimes times = times_of(meter.operations);
    MeterPlay play(plan, times, std::min(enough, std::max(duration, Duration{meter.behaviour.span_ns})));
    return profile::behaviour_of(traffic_of(play.rows(), opened_share(meter)));
}

}  // namespace streamsim::run
