#include "profile/capture/pdml.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/ascii.h"
#include "profile/traffic/traffic_builder.h"

namespace streamsim::profile {
namespace {

/// The fields that the readers of messages ask for.
constexpr std::string_view kFields =
    "rpc.xid rpc.msgtyp rpc.program rpc.programversion rpc.procedure nfs.opcode nfs.nfsstat4 "
    "nfs.status3 nfs.fhandle nfs.name nfs.pathname.component nfs.offset3 nfs.count3 nfs.offset4 "
    "nfs.count4 nfs.cookie3 nfs.cookie4 nfs.fattr3.size nfs.fattr4.size nfs.read.data_length "
    "nfs.write.data_length nfs.open.opentype nfs.write.stable smb2.header_len smb2.cmd smb2.msg_id "
    "smb2.tid smb2.tree smb2.flags.response smb2.nt_status smb2.fid smb2.filename smb2.read_length "
    "smb2.olb.length smb2.write_length smb2.file_offset smb2.eof smb2.create.action "
    "smb2.file_info.infolevel smb2.disposition.delete_on_close";

bool is_kept(std::string_view field) {
    static const std::unordered_set<std::string_view> kept = [] {
        const auto names = split(kFields, ' ');
        return std::unordered_set<std::string_view>(names.begin(), names.end());
    }();
    return kept.contains(field);
}

/// The value of `name="..."` in a line; names are at the beginning of fields, so that data, which is long and
/// last, is not looked through.
std::string_view attribute(std::string_view line, std::string_view name) {
    const auto at = line.find(name);
    if (at == std::string_view::npos) return {};
    const auto begin = at + name.size();
    const auto end = line.find('"', begin);
    return end == std::string_view::npos ? std::string_view() : line.substr(begin, end - begin);
}

std::string without_entities(std::string_view text) {
    static constexpr std::pair<std::string_view, char> kEntities[] = {
        {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#x27;", '\''}, {"&apos;", '\''}};
    std::string out;
    while (!text.empty()) {
        const auto* const found =
            std::ranges::find_if(kEntities, [&](const auto& each) { return text.starts_with(each.first); });
        if (found != std::end(kEntities)) {
            out += found->second;
            text.remove_prefix(found->first.size());
        } else {
            out += text.front();
            text.remove_prefix(1);
        }
    }
    return out;
}

/// "1795321277.238367000"
std::int64_t nanoseconds_of(std::string_view text) {
    const auto whole = take_number(text);
    if (!whole || *whole > kSecondsMax) return 0;
    return static_cast<std::int64_t>(*whole) * 1'000'000'000 + take_fraction(text);
}

}  // namespace

std::string_view CapturedMessage::field(std::string_view name) const {
    for (const auto& [known, value] : fields)
        if (known == name) return value;
    return {};
}

std::optional<std::uint64_t> captured_number(std::string_view text) {
    return text.starts_with("0x") ? whole_number<std::uint64_t>(text.substr(2), 16)
                                  : whole_number<std::uint64_t>(text);
}

std::optional<std::uint64_t> CapturedMessage::number(std::string_view name) const {
    return captured_number(field(name));
}

void PdmlReader::protocol(std::string_view name) {
    inside_ = name == "rpc" || name == "nfs" || name == "smb2";
    smb2_ = name == "smb2";
    if (name == "rpc") messages_.push_back({CapturedMessage::Kind::rpc, time_ns_, from_, to_, stream_, {}});
    if (name == "nfs" && messages_.empty()) inside_ = false;
}

void PdmlReader::field(std::string_view name, std::string_view line) {
    if (name == "timestamp") {
        time_ns_ = nanoseconds_of(attribute(line, " value=\""));
    } else if (name == "ip.src" || name == "ipv6.src") {
        from_ = attribute(line, " show=\"");
    } else if (name == "ip.dst" || name == "ipv6.dst") {
        to_ = attribute(line, " show=\"");
    } else if (name == "tcp.stream" || name == "udp.stream") {
        stream_ = std::string(name) + std::string(attribute(line, " show=\""));
    } else if (inside_) {
        // Each message of a chain has a header of its own.
        if (smb2_ && name == "smb2.header_len")
            messages_.push_back({CapturedMessage::Kind::smb2, time_ns_, from_, to_, stream_, {}});
        if (smb2_ && name == "smb2.header.transform.signature")
            messages_.push_back({CapturedMessage::Kind::smb2_encrypted, time_ns_, from_, to_, stream_, {}});
        if (messages_.empty() || !is_kept(name)) return;
        messages_.back().fields.emplace_back(name, without_entities(attribute(line, " show=\"")));
    }
}

const std::vector<CapturedMessage>& PdmlReader::line(std::string_view line) {
    complete_.clear();
    const auto begin = line.find('<');
    if (begin == std::string_view::npos) return complete_;
    line.remove_prefix(begin);
    if (line.starts_with("<field name=\"")) {
        line.remove_prefix(13);
        field(line.substr(0, line.find('"')), line);
    } else if (line.starts_with("<proto name=\"")) {
        line.remove_prefix(13);
        protocol(line.substr(0, line.find('"')));
    } else if (line.starts_with("<packet")) {
        messages_.clear();
        from_.clear();
        to_.clear();
        stream_.clear();
    } else if (line.starts_with("</packet")) {
        std::swap(complete_, messages_);
        messages_.clear();
    }
    return complete_;
}

}  // namespace streamsim::profile
