#include "storage/nfs/system/tcp_facts.h"

namespace streamsim::storage {

std::optional<TcpFacts> tcp_facts(int) {
    return std::nullopt;
}

}  // namespace streamsim::storage
