// One blocking connection to an NFS server: a libnfs context, made when it is first used and again when it was
// lost. Threads that share a session take turns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "storage/nfs/nfs_call.h"
#include "storage/remote/session_pool.h"
#include "streamsim/remote_place.h"

struct nfs_context;

namespace streamsim::storage {

struct NfsFacts;

class NfsSession {
public:
    NfsSession(RemotePlace place, std::string directory)
        : place_(std::move(place)), directory_(std::move(directory)) {}
    ~NfsSession() { disconnect(); }
    NfsSession(const NfsSession&) = delete;
    NfsSession& operator=(const NfsSession&) = delete;

    /// One call of libnfs: `begin` starts the call and returns libnfs's return value; `end` takes the result,
    /// zero or more or a negative errno, with its data, which are valid within `end` only.
    struct Call {
        std::function<int(nfs_context* nfs, void* user)> begin;
        std::function<void(nfs_context* nfs, int result, void* data)> end = {};
        int result = 0;
        bool done = false;
    };
    /// The callback that `begin` gives to libnfs.
    static void on_answer(int result, nfs_context* nfs, void* data, void* user);

    class Turn;

    /// A thread has a turn, or waits for one.
    bool busy() const { return mutex_.busy(); }

    /// nfs://host/path, for messages.
    std::string name_of(const std::string& path) const { return place_.name_of(path); }
    /// An errno as a message about a path, with advice.
    Error error(int number, const std::string& action, const std::string& path) const;

private:
    Result<void> connect();
    Result<void> mount(const NfsFacts& facts, const std::string& address, Instant until);
    void disconnect();
    int wait(Call& call, Instant until);

    RemotePlace place_;
    const std::string directory_;
    TurnMutex mutex_;
    // Only used in a Turn. Not GUARDED_BY: clang cannot see that a Turn holds the mutex of its session.
    nfs_context* nfs_ = nullptr;
    std::string mounted_;
    NfsHandle root_;                // of mounted_
    std::uint64_t generation_ = 0;  // of nfs_; a file is open in the generation that opened it only
    std::uint32_t version_ = 3;
    std::uint32_t piece_bytes_ = 0;
    Instant used_;
    Instant heard_;  // when data of the server came
    std::uint32_t sinks_ = 0;
};

/// Exclusive use of the session by one thread.
class NfsSession::Turn {
public:
    /// `connects`: the turn connects when there is no connection.
    explicit Turn(std::shared_ptr<NfsSession> session, bool connects = true);

    const std::shared_ptr<NfsSession>& session() const { return session_; }
    /// The error with which connecting failed, if it did.
    const Result<void>& ready() const { return ready_; }
    /// Changes when all open files have been lost.
    std::uint64_t generation() const { return session_->generation_; }
    /// A path of the server, relative to the mounted export as libnfs wants it.
    std::string path(const std::string& whole) const;
    /// The data limit of one request.
    std::uint32_t piece_bytes() const { return session_->piece_bytes_; }
    /// The part of a path below root(); none: it is not below.
    std::optional<std::string> below_root(const std::string& whole) const;
    const NfsHandle& root() const { return session_->root_; }
    nfs_context* nfs() const { return session_->nfs_; }
    std::uint32_t version() const { return session_->version_; }
    std::uint32_t& sinks() { return session_->sinks_; }

    /// Returns zero or more, or a negative errno. ENOTCONN: the connection is lost, and the next turn connects
    /// again. ETIMEDOUT: the same, because the server did not answer within the place's timeout.
    int run(Call call);
    /// Connects again within this turn, where a call has lost the connection.
    bool connect_again();
    /// Data of the server came within the last half of the time-out.
    bool heard_lately() const;
    /// Runs several calls at once. Returns the first error, or zero.
    int run_all(std::vector<Call>& calls);
    /// Begins a call, which stays at its address until it is done; finish() waits for it, in this turn or a
    /// later one, and returns as run().
    void start(Call& call);
    int finish(Call& call);
    /// Sends what the network takes of the calls that were begun, without waiting.
    void flush();

private:
    const std::shared_ptr<NfsSession> session_;
    const TurnLock lock_;
    Result<void> ready_;
};

}  // namespace streamsim::storage
