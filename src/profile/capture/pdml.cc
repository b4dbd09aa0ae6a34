#include "profile/capture/pdml.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace streamsim::profile {
namespace {

constexpr std::array kFields = {
    std::string_view("rpc.xid"),
    std::string_view("rpc.msgtyp"),
    std::string_view("rpc.program"),
    std::string_view("rpc.programversion"),
    std::string_view("rpc.procedure"),
    std::string_view("nfs.procedure_v3"),
    std::string_view("nfs.procedure_v4"),
    std::string_view("nfs.opcode"),
    std::string_view("nfs.nfsstat4"),
    std::string_view("nfs.status3"),
    std::string_view("nfs.fhandle"),
    std::string_view("nfs.name"),
    std::string_view("nfs.pathname.component"),
    std::string_view("nfs.offset3"),
    std::string_view("nfs.count3"),
    std::string_view("nfs.offset4"),
    std::string_view("nfs.count4"),
    std::string_view("nfs.cookie3"),
    std::string_view("nfs.cookie4"),
    std::string_view("nfs.fattr3.size"),
    std::string_view("nfs.fattr4.size"),
    std::string_view("nfs.read.data_length"),
    std::string_view("nfs.write.data_length"),
    std::string_view("nfs.open.opentype"),
    std::string_view("nfs.write.stable"),
    std::string_view("nfs.data"),
    std::string_view("smb2.header_len"),
    std::string_view("smb2.cmd"),
    std::string_view("smb2.msg_id"),
    std::string_view("smb2.flags.response"),
    std::string_view("smb2.nt_status"),
    std::string_view("smb2.fid"),
    std::string_view("smb2.filename"),
    std::string_view("smb2.read_length"),
    std::string_view("smb2.write_length"),
    std::string_view("smb2.file_offset"),
    std::string_view("smb2.create.disposition"),
    std::string_view("smb2.eof"),
    std::string_view("smb2.create.action"),
    std::string_view("smb2.file_info.infolevel"),
    std::string_view("smb2.disposition.delete_on_close"),
};

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
        const auto* const found = std::find_if(std::begin(kEntities), std::end(kEntities),
                                               [&](const auto& each) { return text.starts_with(each.first); });
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
    std::int64_t whole = 0, ns = 0, unit = 100'000'000;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (error != std::errc() || whole < 0 || whole > (std::int64_t{1} << 33)) return 0;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.starts_with('.')) return whole * 1'000'000'000;
    for (text.remove_prefix(1); !text.empty() && text.front() >= '0' && text.front() <= '9';
         text.remove_prefix(1)) {
        ns += (text.front() - '0') * unit;
        unit /= 10;
    }
    return whole * 1'000'000'000 + ns;
}

}  // namespace

std::string_view CapturedMessage::field(std::string_view name) const {
    for (const auto& [known, value] : fields)
        if (known == name) return value;
    return {};
}

std::optional<std::uint64_t> captured_number(std::string_view text) {
    const bool hexadecimal = text.starts_with("0x");
    if (hexadecimal) text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
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
        if (messages_.empty() || std::find(kFields.begin(), kFields.end(), name) == kFields.end()) return;
        const bool data = name == "nfs.data";  // only that there is some
        messages_.back().fields.emplace_back(name, data ? "" : without_entities(attribute(line, " show=\"")));
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
