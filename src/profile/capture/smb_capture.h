// SMB2 and SMB3 commands of a capture and their replies. Inside profile/ only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/capture/pdml.h"
#include "profile/traffic/traffic_builder.h"

namespace streamsim::profile {

class SmbCapture {
public:
    explicit SmbCapture(TrafficBuilder& traffic) : traffic_(traffic) {}
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
        std::string fid, name, tree;
        bool deletes = false, renames = false;
    };
    struct Opened {
        std::uint32_t file = 0, session = kNoSession;
        std::optional<std::size_t> open;  // index of the open; empty: before the capture
        std::uint64_t bytes = 0;          // size of the file at its open; 0: not known
        bool data = false, listed = false;
        std::vector<TrafficOperation> questions;
    };

    void reply(const CapturedMessage& message, const Call& call);
    std::string tree_of(const CapturedMessage& message, std::uint32_t user);
    std::uint32_t file_of(const Call& call);
    void opened(const CapturedMessage& message, const Call& call, bool failed);
    void close(Opened& opened);
    TrafficOperation operation(const CapturedMessage& message, const Call& call, TrafficKind kind) const;

    TrafficBuilder& traffic_;
    std::map<std::pair<std::string, std::uint64_t>, Call> calls_;        // by connection and message
    std::map<std::string, Opened> opened_;                               // by the server's id of it
    std::unordered_map<std::string, std::string> last_fid_;              // last file id of each connection
    std::map<std::uint32_t, std::map<std::string, std::size_t>> trees_;  // by user and id: their numbers
    std::set<std::string> used_trees_;
    std::map<std::uint32_t, std::string> names_in_tree_;  // by file: what is shown where there is one tree
    std::uint64_t counted_ = 0, encrypted_ = 0;
};

}  // namespace streamsim::profile
