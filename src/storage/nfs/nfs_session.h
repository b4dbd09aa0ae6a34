// A connection of the blocking side to an NFS server: one libnfs context at a time, made when it is first
// needed and again when it was lost. Calls of several threads take turns; NfsSessions has a session for each of
// a few.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "streamsim/remote_place.h"

struct nfs_context;

namespace streamsim::storage {

class NfsSession {
public:
    NfsSession(RemotePlace place, std::string directory)
        : place_(std::move(place)), directory_(std::move(directory)) {}
    ~NfsSession();
    NfsSession(const NfsSession&) = delete;
    NfsSession& operator=(const NfsSession&) = delete;

    /// One call of libnfs: `begin` starts it and returns libnfs's answer; `end` is given its result, which is
    /// a negative errno or not, and its data, before they are gone.
    struct Call {
        std::function<int(nfs_context* nfs, void* user)> begin;
        std::function<void(nfs_context* nfs, int result, void* data)> end = {};
        int result = 0;
        bool done = false;
    };
    /// What `begin` is to give to libnfs as its callback.
    static void on_answer(int result, nfs_context* nfs, void* data, void* user);

    class Turn;

    /// Somebody has a turn, or waits for one.
    bool busy() const { return turns_ > 0; }

    /// nfs://host/path, for people.
    std::string name_of(const std::string& path) const { return "nfs://" + place_.host + path; }
    /// An errno of a path as a sentence, with what may be done.
    Error error(int number, const std::string& action, const std::string& path) const;

private:
    Result<void> connect();
    void disconnect();
    int wait(Call& call, Instant until);

    RemotePlace place_;
    const std::string directory_;
    std::atomic<std::uint32_t> turns_{0};
    std::mutex mutex_;
    // Protected by mutex_:
    nfs_context* nfs_ = nullptr;
    std::string mounted_;
    std::uint64_t generation_ = 0;  // of nfs_; what it opened is open in no other
    std::uint32_t version_ = 3;
    std::uint32_t piece_bytes_ = 0;
    Instant used_;
    std::uint32_t sinks_ = 0;
};

/// The session, for as long as nobody else may have it.
class NfsSession::Turn {
public:
    /// `connects`: where there is no connection, one is made.
    explicit Turn(NfsSession& session, bool connects = true);
    ~Turn() { --session_.turns_; }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    /// Connected, or why not.
    const Result<void>& ready() const { return ready_; }
    /// Changes when everything that was open is not any more.
    std::uint64_t generation() const { return session_.generation_; }
    /// As libnfs wants a path of the server.
    std::string path(const std::string& whole) const;
    /// Of one request.
    std::uint32_t piece_bytes() const { return session_.piece_bytes_; }
    nfs_context* nfs() const { return session_.nfs_; }
    std::uint32_t version() const { return session_.version_; }
    std::uint32_t& sinks() { return session_.sinks_; }

    /// Zero or more, or a negative errno. ENOTCONN: the connection is lost, the next turn has a new one.
    /// ETIMEDOUT: lost as well, it did not answer.
    int run(Call call);
    /// Several calls at once; the worst result.
    int run_all(std::vector<Call>& calls);

private:
    NfsSession& session_;
    std::unique_lock<std::mutex> lock_;
    Instant until_;
    Result<void> ready_;
};

}  // namespace streamsim::storage
