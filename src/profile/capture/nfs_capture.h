// NFSv3 and NFSv4 calls of a capture and their replies. Inside profile/ only.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profile/capture/pdml.h"
#include "profile/traffic/traffic_builder.h"

namespace streamsim::profile {

class NfsCapture {
public:
    explicit NfsCapture(TrafficBuilder& traffic) : traffic_(traffic) {}
    void take(const CapturedMessage& message);
    /// REQUIRES: version 3 or 4.
    std::uint64_t counted(std::size_t version) const { return counted_[version]; }
    std::uint64_t unanswered() const { return calls_.size(); }

private:
    /// One operation of a call; a COMPOUND has several.
    struct Step {
        std::uint64_t code = 0;
        std::string handle, name;
        std::uint64_t offset = 0, bytes = 0, cookie = 0;
        bool creates = false, stable = false;
        // Results, from the reply:
        bool failed = false;
        std::string handle_out;
        std::optional<std::uint64_t> size, moved;

        void take_argument(std::string_view field, const std::string& value);
        void take_result(std::string_view field, const std::string& value);
    };
    struct Call {
        std::size_t version = 3;
        std::int64_t begin_ns = 0, end_ns = 0;
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
    void take_step(const Call& call, const Step& step, Compound& compound);
    void ask(const Call& call, const Step& step, Compound& compound);
    void open(const Call& call, const Step& step, Compound& compound);
    void moved(const Call& call, const Step& step, TrafficKind kind);
    static TrafficOperation operation(const Call& call, const Step& step, TrafficKind kind, std::uint32_t file);
    std::uint32_t file_of(const std::string& handle);
    std::uint32_t file_in(const std::string& directory, const std::string& name);
    void learn(const Step& step, std::uint32_t file);

    TrafficBuilder& traffic_;
    std::map<std::pair<std::string, std::uint64_t>, Call> calls_;  // by client and server, and xid
    std::unordered_map<std::string, std::uint32_t> handles_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Use> uses_;  // by user and file
    std::array<std::uint64_t, 5> counted_{};                       // by version
};

}  // namespace streamsim::profile
