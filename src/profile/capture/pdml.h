// The output of tshark -T pdml, line by line: the messages of NFS and SMB with the fields that count. Inside
// profile/ only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace streamsim::profile {

/// One RPC or one SMB2 message of a packet. Names of fields are tshark's.
struct CapturedMessage {
    enum class Kind { rpc, smb2, smb2_encrypted };
    Kind kind = Kind::rpc;
    std::int64_t time_ns = 0;                                 // since 1970
    std::string from, to;                                     // addresses
    std::string stream;                                       // connection
    std::vector<std::pair<std::string, std::string>> fields;  // in their order

    /// The first of this name; empty: there is none.
    std::string_view field(std::string_view name) const;
    /// The same as a number, decimal or hexadecimal.
    std::optional<std::uint64_t> number(std::string_view name) const;
};

/// "12", "0x1f".
std::optional<std::uint64_t> captured_number(std::string_view text);

class PdmlReader {
public:
    /// The messages that are complete with this line, which is valid until the next call.
    const std::vector<CapturedMessage>& line(std::string_view line);

private:
    void protocol(std::string_view name);
    void field(std::string_view name, std::string_view line);

    std::int64_t time_ns_ = 0;
    std::string from_, to_, stream_;
    bool inside_ = false;  // inside a message
    bool smb2_ = false;
    std::vector<CapturedMessage> messages_;
    std::vector<CapturedMessage> complete_;
};

}  // namespace streamsim::profile
