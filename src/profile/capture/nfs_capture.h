// NFSv3 and NFSv4 calls of a capture and their replies. Inside profile/ only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/capture/captured_clients.h"
#include "profile/capture/pdml.h"
#include "profile/traffic/traffic_builder.h"

namespace streamsim::profile {

class NfsCapture {
public:
    NfsCapture(TrafficBuilder& traffic, CapturedClients& clients) : traffic_(traffic), clients_(clients) {}
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
        // Results, from the reply:
        std::uint64_t status = 0;
        std::string handle_out;
        std::optional<std::uint64_t> size, moved;

        void take_argument(std::string_view field, const std::string& value);
        void take_result(std::string_view field, const std::string& value);
    };
    struct Call {
        std::uint64_t version = 3;
        std::int64_t begin_ns = 0;
        std::uint32_t user = 0;
        std::vector<Step> steps;
    };
    /// State of a COMPOUND while its operations are read in order.
    struct Compound {
        std::string handle;                  // current file handle
        std::optional<std::uint32_t> asked;  // a file whose attributes were asked for
        std::optional<std::uint32_t> found;  // the file that a LOOKUP or OPEN found, whose handle comes next
        bool asked_failed = false;
        bool acted = false;  // an operation other than a question was counted
    };
    /// The use that one client makes of one file.
    struct Use {
        std::uint32_t session = kNoSession;
        std::uint64_t reads_at_begin = 0;
        std::optional<std::size_t> lookup;  // the LOOKUP that found the file, until a read makes it an open
    };

    void reply(const CapturedMessage& message, Call& call);
    void done3(const Call& call, const Step& step, std::int64_t end_ns);
    void done4(const Call& call, std::int64_t end_ns);
    void done_step4(const Call& call, const Step& step, Compound& compound, std::int64_t end_ns);
    void open4(const Call& call, const Step& step, Compound& compound, std::int64_t end_ns);
    void ask4(const Step& step, Compound& compound);
    void open(const Call& call, TrafficKind kind, std::uint32_t file, bool failed, std::int64_t end_ns);
    void moved(const Call& call, const Step& step, TrafficKind kind, std::int64_t end_ns);
    std::size_t add(const Call& call, TrafficKind kind, std::uint32_t file, bool failed, std::int64_t end_ns);
    std::uint32_t file_of(const std::string& handle);
    std::uint32_t file_in(const std::string& directory, const std::string& name);
    void learn(const Step& step, std::uint32_t file);

    TrafficBuilder& traffic_;
    CapturedClients& clients_;
    std::map<std::pair<std::string, std::uint64_t>, Call> calls_;  // by client and server, and xid
    std::unordered_map<std::string, std::uint32_t> handles_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Use> uses_;  // by user and file
    std::uint64_t counted3_ = 0, counted4_ = 0;
};

}  // namespace streamsim::profile
