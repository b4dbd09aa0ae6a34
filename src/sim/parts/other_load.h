// Other load on a link: it comes and goes, for exponential times, and takes a share of the rate while it is
// there. The state is computed when it is asked for, so that it sets no events: a run ends when its own events
// end.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/prng.h"
#include "base/time.h"
#include "streamsim/cluster_model.h"

namespace streamsim::sim {

class OtherLoad {
public:
    /// Begins as after a long time. REQUIRES: mean times above 0.
    OtherLoad(const OtherLoadModel& model, std::uint64_t seed) : model_(model), prng_(seed) {
        const double both = static_cast<double>(model.mean_length.ns) + static_cast<double>(model.mean_gap.ns);
        on_ = prng_.unit() * both < static_cast<double>(model.mean_length.ns);
        draw_end();
    }

    /// The share of the rate that is left. REQUIRES: no earlier than at the last call.
    double left_at(Instant now) {
        while (now >= ends_) {
            on_ = !on_;
            draw_end();
        }
        return on_ ? 1 - model_.share : 1;
    }

private:
    void draw_end() {
        const auto mean = static_cast<double>((on_ ? model_.mean_length : model_.mean_gap).ns);
        ends_ = ends_ + nanoseconds(std::max<std::int64_t>(
                            1, static_cast<std::int64_t>(mean * draw_exponential(prng_))));
    }

    OtherLoadModel model_;
    Prng prng_;
    bool on_ = false;
    Instant ends_;
};

}  // namespace streamsim::sim
