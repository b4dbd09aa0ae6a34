// What the readers of NFS and of SMB messages share. Inside profile/ only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "profile/capture/pdml.h"
#include "profile/traffic_stats.h"

namespace streamsim::profile {

/// Clients by their addresses.
class CapturedClients {
public:
    explicit CapturedClients(TrafficStats& book) : book_(book) {}
    std::uint32_t user(const std::string& address) {
        const auto [at, fresh] = users_.try_emplace(address, 0);
        if (fresh) at->second = book_.add_user(address);
        return at->second;
    }

private:
    TrafficStats& book_;
    std::unordered_map<std::string, std::uint32_t> users_;
};

class NfsCapture {
public:
    NfsCapture(TrafficStats& book, CapturedClients& clients) : book_(book), clients_(clients) {}
    void take(const CapturedMessage& message);
    std::uint64_t counted(std::uint64_t version) const { return version == 3 ? counted3_ : counted4_; }
    std::uint64_t unanswered() const { return calls_.size(); }

private:
    /// One operation of a call; a COMPOUND has several.
    struct Step {
        std::uint64_t code = 0;
        std::string handle, name;
        std::uint64_t offset = 0, bytes = 0, cookie = 0;
        bool creates = false, stable = false;
        // of the reply
        std::uint64_t status = 0;
        std::string handle_out;
        std::optional<std::uint64_t> size, moved;
    };
    struct Call {
        std::uint64_t version = 3;
        std::int64_t begin_ns = 0;
        std::uint32_t user = 0;
        std::vector<Step> steps;
    };
    /// What a client does with a file.
    struct Use {
        std::uint32_t session = kNoSession;
        std::uint64_t reads_at_begin = 0;
        std::optional<std::size_t> lookup;  // the operation that found it and has opened nothing so far
    };

    void reply(const CapturedMessage& message, Call& call);
    void done3(const Call& call, const Step& step, std::int64_t end_ns);
    void done4(const Call& call, std::int64_t end_ns);
    void moved(const Call& call, const Step& step, TrafficKind kind, std::int64_t end_ns);
    std::size_t add(const Call& call, TrafficKind kind, std::uint32_t file, bool failed, std::int64_t end_ns);
    std::uint32_t file_of(const std::string& handle);
    /// Of a name in a directory.
    std::uint32_t file_in(const std::string& directory, const std::string& name);
    void learn(const Step& step, std::uint32_t file);

    TrafficStats& book_;
    CapturedClients& clients_;
    std::map<std::pair<std::string, std::uint64_t>, Call> calls_;  // by client and server, and xid
    std::unordered_map<std::string, std::uint32_t> handles_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Use> uses_;  // by user and file
    std::uint64_t counted3_ = 0, counted4_ = 0;
};

class SmbCapture {
public:
    SmbCapture(TrafficStats& book, CapturedClients& clients) : book_(book), clients_(clients) {}
    void take(const CapturedMessage& message);
    void finish();
    std::uint64_t counted() const { return counted_; }
    std::uint64_t encrypted() const { return encrypted_; }
    std::uint64_t unanswered() const { return calls_.size(); }

private:
    struct Call {
        std::int64_t begin_ns = 0;
        std::uint32_t user = 0;
        std::uint64_t command = 0, offset = 0, bytes = 0;
        std::string fid, name;
        bool deletes = false, renames = false;
    };
    struct Opened {
        std::uint32_t file = 0, session = kNoSession;
        std::optional<std::size_t> open;  // the operation; nothing: before the capture
        bool data = false, listed = false;
        std::vector<TrafficOperation> questions;
    };

    void reply(const CapturedMessage& message, const Call& call);
    void opened(const CapturedMessage& message, const Call& call, bool failed);
    void close(Opened& opened);
    TrafficOperation operation(const CapturedMessage& message, const Call& call, TrafficKind kind) const;

    TrafficStats& book_;
    CapturedClients& clients_;
    std::map<std::pair<std::string, std::uint64_t>, Call> calls_;  // by connection and message
    std::map<std::string, Opened> opened_;                         // by the server's id of it
    std::unordered_map<std::string, std::string> last_fid_;        // of a connection
    std::uint64_t counted_ = 0, encrypted_ = 0;
};

}  // namespace streamsim::profile
