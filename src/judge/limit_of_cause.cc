// The side that each cause belongs to.
#include "judge/causes.h"

namespace streamsim::judge {

Limit limit_of(Cause cause) {
    switch (cause) {
        case Cause::none: return Limit::none;
        case Cause::slow_reads:
        case Cause::bandwidth:
        case Cause::slow_opens:
        case Cause::storage_stall:
        case Cause::storage_error:
        case Cause::storage_gone:
        case Cause::cold_start: return Limit::storage;
        case Cause::slow_file:
        case Cause::damaged_file: return Limit::media;
        case Cause::network:
        case Cause::network_loss:
        case Cause::network_down: return Limit::network;
        case Cause::client_cpu:
        case Cause::client_memory:
        case Cause::client_resources: return Limit::client_cpu;
        case Cause::client_scheduling:
        case Cause::too_little_in_flight:
        case Cause::too_small_reads: return Limit::client_scheduling;
        case Cause::model_part:
        case Cause::injected_fault:
        case Cause::unknown: return Limit::unknown;
    }
    return Limit::unknown;
}

}  // namespace streamsim::judge
