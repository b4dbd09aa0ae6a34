// Stands between a client and a file server of this computer, and fails one reply of the server on purpose.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <ostream>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"
#include "failures/storage_trials.h"
#include "streamsim/remote_place.h"

namespace streamsim::tests {

using RelayMessage = std::vector<std::uint8_t>;  // with the length before it

struct ReplyFailure {
    enum class How {
        status,  // the request was performed, and the reply says that it was not: with `number`, in the
                 // protocol's terms
        rpc,     // NFS: the service does not know the request; `number` is the accept_stat
        denied,  // NFS: the service does not know the user
        cut,     // the connection ends instead
        lose,    // the reply never comes
        half,    // it ends early
        noise,   // the right length, and bytes by chance
        twice,   // it comes two times
    };
    How how = How::status;
    std::uint32_t number = 0;
};

class FailingRelay final : public FailureSource {
public:
    /// Passes on to these ports of 127.0.0.1.
    FailingRelay(RemotePlace::Protocol protocol,
                 const std::vector<std::uint16_t>& server_ports,
                 std::vector<ReplyFailure> failures);
    ~FailingRelay() override;
    FailingRelay(const FailingRelay&) = delete;
    FailingRelay& operator=(const FailingRelay&) = delete;

    /// The ports that stand for those of the server, in their order.
    const std::vector<std::uint16_t>& ports() const { return ports_; }
    /// How long a client has to wait: short where something fails, else as long as a busy computer needs.
    Duration timeout() const;

    // Connections end where a trial begins. It never pauses: others do not ask the server.
    std::size_t ways() const override { return failures_.size(); }
    void begin(std::uint64_t at, std::size_t way) override;
    void pause() override {}
    void resume() override {}
    std::uint64_t calls() const override;
    std::string told(std::size_t way) const override;

private:
    struct Pair;

    void run();
    void accept_from(std::size_t port);
    bool pass(Pair& pair, bool reply);
    bool pass_reply(Pair& pair, RelayMessage message);
    void note_request(Pair& pair, const RelayMessage& message) const;

    const RemotePlace::Protocol protocol_;
    std::vector<std::uint16_t> server_ports_, ports_;
    const std::vector<ReplyFailure> failures_;
    std::vector<int> listeners_;
    int wake_ = -1;
    std::vector<std::unique_ptr<Pair>> pairs_;
    mutable std::mutex mutex_;  // for what follows
    std::uint64_t replies_ = 0;
    std::uint64_t at_ = UINT64_MAX;
    ReplyFailure failure_;
    std::string failed_;
    bool cut_all_ = false;
    std::atomic<bool> ended_{false};
    std::thread thread_;
};

}  // namespace streamsim::tests
