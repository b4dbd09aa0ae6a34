// The idle connections to the SMB servers of one place, which its storages and byte stores share: logging in
// takes some 15 round trips, and is done once for finding media and for playing it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/system/mutex.h"
#include "base/time.h"
#include "storage/clock_now.h"
#include "storage/smb/smb_process.h"

namespace streamsim::storage {

/// A process that has been asked to connect.
struct SmbSession {
    std::string identity;  // SmbLogin::identity
    std::unique_ptr<SmbProcess> process;
    std::optional<SmbAnswer> connected;  // none: the answer has not been received yet
    Instant left_at = {};                // idle since then
};

/// Starts a process, and asks it to connect. `known`: as SmbLogin::ask. Errors: environment.
inline Result<SmbSession> start_smb_session(const SmbLogin& login,
                                            const std::string& address,
                                            const SmbAnswer& known = {}) {
    if (auto fits = login.check_length(address); !fits) return fits.error();
    auto process = SmbProcess::start();
    if (!process) return process.error();
    (void)login.ask(**process, address, known);
    return SmbSession{login.identity(address), std::move(*process), std::nullopt, {}};
}

/// Sessions without an open file and without an outstanding request. One that was idle for longer than kIdleMax
/// is ended: servers and firewalls close idle connections, and that must not be found out by playing.
/// Thread-safe.
class SmbSessions {
public:
    /// A session of this identity, a connected one first; none: the caller starts a process.
    std::optional<SmbSession> take(const std::string& identity) {
        const MutexLock lock(mutex_);
        std::erase_if(idle_,
                      [now = clock_now()](const SmbSession& each) { return now - each.left_at > kIdleMax; });
        auto best = idle_.end();
        for (auto each = idle_.begin(); each != idle_.end(); ++each) {
            if (each->identity == identity && (best == idle_.end() || each->connected)) best = each;
        }
        if (best == idle_.end()) return std::nullopt;
        SmbSession session = std::move(*best);
        idle_.erase(best);
        return session;
    }
    void leave(SmbSession session) {
        const MutexLock lock(mutex_);
        session.left_at = clock_now();
        idle_.push_back(std::move(session));
    }
    /// True for the first caller, which may start more processes than it needs for itself.
    bool is_first() {
        const MutexLock lock(mutex_);
        return std::exchange(first_, false);
    }

private:
    static constexpr Duration kIdleMax = seconds(60);

    Mutex mutex_;
    std::vector<SmbSession> idle_ GUARDED_BY(mutex_);
    bool first_ GUARDED_BY(mutex_) = true;
};

}  // namespace streamsim::storage
