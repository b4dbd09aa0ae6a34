// Fails each reply of a real file server in each way, one at a time, and holds what the storage says against
// what is on the server's disk: it may report an error, and may not be wrong.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conformance/storage_backends.h"
#include "real/failing_relay.h"
#include "streamsim/byte_store.h"
#include "streamsim/remote_place.h"

struct uv_loop_s;

namespace streamsim::tests {

/// A storage whose server is reached through a relay.
struct TrialTarget {
    FailingRelay* relay = nullptr;
    std::vector<ReplyFailure> failures;
    std::function<RemotePlace()> place;  // one that shares nothing with others
    std::function<std::string(const std::string& path)> on_server;
    std::function<std::unique_ptr<ByteStore>(const RemotePlace&)> make_store;
    std::function<Result<std::unique_ptr<Storage>>(EventLoop&, uv_loop_s*, const RemotePlace&)> make_storage;
    bool writes = false;  // the storage does
};

/// List, read, write, rename and remove, as prepare and the index do.
void try_store(const TrialTarget& target);
/// Open, read, write, sync and names, as players and recorders do.
void try_storage(const TrialTarget& target);

}  // namespace streamsim::tests
