#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/ascii.h"
#include "base/similar_names.h"
#include "base/units.h"
#include "target/target.h"

namespace streamsim::target {
namespace {

using Protocol = RemotePlace::Protocol;

constexpr std::uint32_t kConnectionsMax = 64;
constexpr std::uint32_t kPortMax = 65'535;
constexpr std::uint32_t kIdMax = 4'294'967'294;  // the next number means "none"
constexpr std::uint64_t kReadBytesMin = 512;
constexpr std::uint64_t kReadBytesMax = std::uint64_t{1} << 30;
constexpr Duration kTimeoutMin = milliseconds(100);
constexpr Duration kTimeoutMax = seconds(3600);
constexpr std::uint32_t kSmbConnections = 4;  // each reads one piece at a time

std::optional<std::uint32_t> number_within(std::string_view text, std::uint32_t least, std::uint32_t most) {
    const auto number = whole_number<std::uint32_t>(text);
    return number && *number >= least && *number <= most ? number : std::nullopt;
}

std::optional<unsigned char> hex_byte(std::string_view digits) {
    return digits.size() == 2 ? whole_number<unsigned char>(digits, 16) : std::nullopt;
}

/// Parses the URL of a file server from the left. Problems never quote the part before '@' beyond the user's
/// name, nor the value of an unknown option: both may hold a password.
class RemoteUrl {
public:
    explicit RemoteUrl(const std::string& text) : text_(text) {
        place_.protocol = text.starts_with("nfs://") ? Protocol::nfs : Protocol::smb;
        if (!is_nfs()) place_.connections = kSmbConnections;
    }

    Result<Target> parse() {
        const std::string_view all = std::string_view(text_).substr(kScheme);
        const std::size_t question = all.find('?');
        const std::string_view names = all.substr(0, question);
        const std::size_t slash = std::min(names.find('/'), names.size());
        shown_ = fmt::format("{}{}", text_.substr(0, kScheme), names);
        if (has_password(all)) {
            shown_ = fmt::format("a URL of {}", is_nfs() ? "nfs" : "smb");
            note(is_nfs() ? "it has a user and a password: NFS has neither; expected nfs://host/export/dir"
                          : "it has a password, which others would read in the process list: expected "
                            "smb://[domain;][user@]host/share/dir and the password from the environment or a "
                            "file (an '@' in a path behind a port is %40)");
            return Error{ErrorKind::bad_input, problems_};
        }
        read_authority(names.substr(0, slash));
        if (!place_.host.empty() || !names.empty()) read_path(names.substr(slash));
        if (question != std::string_view::npos) read_options(all.substr(question + 1));
        if (!problems_.empty()) return Error{ErrorKind::bad_input, problems_};
        return Target{.kind = Target::Kind::remote, .url = text_, .path = path_, .remote = place_};
    }

private:
    static constexpr std::size_t kScheme = 6;  // nfs://

    bool is_nfs() const { return place_.protocol == Protocol::nfs; }
    void note(const std::string& problem) { problems_.push_back(fmt::format("{}: {}", shown_, problem)); }

    /// "user:password@host"; a password may have a '/' or a '?', so it may end behind what looks like the host,
    /// or among the options, which have no '@'.
    bool has_password(std::string_view all) const {
        const std::size_t at = all.rfind('@');
        const std::size_t first = all.find('@');
        std::size_t host = first < all.find_first_of(":/?") ? first + 1 : 0;
        if (all.substr(host).starts_with('[')) host = std::min(all.find(']', host), all.size());
        const std::size_t colon = all.find(':', host);
        if (at == std::string_view::npos || colon > at || colon > all.find('/')) return false;
        const std::size_t end = all.find_first_of("/?", colon);
        if (at < end || !number_within(all.substr(colon + 1, end - colon - 1), 0, kPortMax)) return true;
        // The '@' belongs to the path: nfs://host:2049/a@b, smb://user@host:445/a@b. In smb://user:12/3@host
        // the number may be a password.
        return at > all.find('?') || (!is_nfs() && host == 0);
    }

    void read_authority(std::string_view authority) {
        const std::size_t at = authority.rfind('@');
        if (at != std::string_view::npos) {
            read_user(authority.substr(0, at));
            authority.remove_prefix(at + 1);
        }
        std::string_view port;
        bool has_port = false;
        if (authority.starts_with('[')) {
            const std::size_t end = authority.find(']');
            if (end == std::string_view::npos) return note("the ']' of an IPv6 address is missing");
            place_.host = authority.substr(1, end - 1);
            authority.remove_prefix(end + 1);
            has_port = authority.starts_with(':');
            if (has_port) port = authority.substr(1);
            if (!has_port && !authority.empty())
                return note("expected ':' or '/' after an address in [brackets]");
        } else {
            const std::size_t colon = authority.find(':');
            has_port = colon != std::string_view::npos;
            place_.host = authority.substr(0, colon);
            if (has_port) port = authority.substr(colon + 1);
            if (port.find(':') != std::string_view::npos)
                return note("an IPv6 address stands in brackets: nfs://[fe80::1]/export");
        }
        if (place_.host.empty()) note(fmt::format("it names no host: expected {}", form()));
        if (!has_port) return;
        seen_.insert(is_nfs() ? "nfsport" : "port");
        if (const auto number = number_within(port, 1, kPortMax)) {
            place_.port = static_cast<std::uint16_t>(*number);
        } else {
            note(fmt::format("the port '{}': expected a whole number from 1 to {}", port, kPortMax));
        }
    }

    const char* form() const {
        return is_nfs() ? "nfs://host[:port]/export/dir" : "smb://[domain;][user@]host[:port]/share/dir";
    }

    void read_user(std::string_view user) {
        if (is_nfs()) return note("NFS knows users by their number: expected ?uid=N&gid=N instead of user@");
        const std::size_t semicolon = user.find(';');
        if (semicolon != std::string_view::npos) {
            place_.domain = decode(user.substr(0, semicolon), "the domain");
            user.remove_prefix(semicolon + 1);
        }
        place_.user = decode(user, "the user");
        if (place_.user.empty()) note("it names no user before '@'");
    }

    void read_path(std::string_view coded) {
        const std::string all = decode(coded, "the path");
        for (const std::string_view part : split(all, '/')) {
            if (part == "." || part == "..") note(fmt::format("'{}' in a path from the server's root", part));
            if (!is_nfs() && part.find('\\') != std::string_view::npos)  // SMB's own separator
                note(fmt::format("'{}' in a path: expected '/' between names", part));
            if (!part.empty()) path_ += fmt::format("/{}", part);
        }
        if (!path_.empty()) return;
        path_ = "/";  // the root of an NFS server may be an export
        if (!is_nfs() || all.empty())
            note(fmt::format("it names no {}: expected {}", is_nfs() ? "export" : "share", form()));
    }

    /// The length of the frame number's pattern at the beginning: of "%07d" in "%07d.dpx", of "%d" in "%d.dpx";
    /// 0: there is none. "%d0" is a byte.
    static std::size_t frame_number(std::string_view text) {
        if (text.size() >= 4 && text[1] == '0' && text[2] >= '1' && text[2] <= '9' && text[3] == 'd') return 4;
        return text.starts_with("%d") && !hex_byte(text.substr(1, 2)) ? 2 : 0;
    }

    /// %XX as that byte, but for the number of a frame in the name of a sequence.
    std::string decode(std::string_view coded, const char* what) {
        std::string plain;
        for (std::size_t i = 0; i < coded.size(); ++i) {
            if (coded[i] != '%') {
                plain += coded[i];
                continue;
            }
            if (const std::size_t length = frame_number(coded.substr(i))) {
                plain += coded.substr(i, length);
                i += length - 1;
                continue;
            }
            const auto byte = hex_byte(coded.substr(i + 1, 2));
            if (!byte || *byte == 0) {
                note(
                    fmt::format("{} at '{}': expected % and two hexadecimal digits, not 00 (a % itself is %25)",
                                what, coded.substr(i, 3)));
                return plain;
            }
            plain += static_cast<char>(*byte);
            i += 2;
        }
        return plain;
    }

    void read_options(std::string_view text) {
        for (const std::string_view option : split(text, '&')) {
            const std::size_t equals = std::min(option.find('='), option.size());
            read_option(std::string(option.substr(0, equals)),
                        option.substr(std::min(equals + 1, option.size())));
        }
    }

    void read_option(const std::string& key, std::string_view value) {
        const bool known = is_nfs() ? read_nfs_option(key, value) : read_smb_option(key, value);
        if (known || read_any_option(key, value)) {
            if (!seen_.insert(key).second) note(fmt::format("the option {} is given twice", key));
            return;
        }
        std::vector<std::string> names{"connections", "addresses", "rsize", "timeout"};
        const std::vector<std::string> own =
            is_nfs() ? std::vector<std::string>{"version", "nfsport", "mountport", "uid", "gid"}
                     : std::vector<std::string>{"port"};
        names.insert(names.end(), own.begin(), own.end());
        // A key with an '@' may be the end of a password.
        const bool shows = key.find('@') == std::string::npos;
        note(fmt::format(
            "the option {} is not known: expected connections=, addresses=, rsize=, timeout=, {}{}",
            shows ? fmt::format("'{}'", key) : "with '@'",
            is_nfs() ? "version=, nfsport=, mountport=, uid= or gid=" : "or port=", did_you_mean(key, names)));
    }

    bool read_nfs_option(const std::string& key, std::string_view value) {
        if (key == "version") return read_number(key, value, 3, 4, place_.version);
        if (key == "nfsport") return read_number(key, value, 1, kPortMax, place_.port);
        if (key == "mountport") return read_number(key, value, 1, kPortMax, place_.mount_port);
        if (key == "uid") return read_number(key, value, 0, kIdMax, place_.uid);
        if (key == "gid") return read_number(key, value, 0, kIdMax, place_.gid);
        return false;
    }

    bool read_smb_option(const std::string& key, std::string_view value) {
        return key == "port" && read_number(key, value, 1, kPortMax, place_.port);
    }

    bool read_any_option(const std::string& key, std::string_view value) {
        if (key == "connections") {
            read_number(key, value, 1, kConnectionsMax, place_.connections);
        } else if (key == "addresses") {
            read_addresses(value);
        } else if (key == "rsize") {
            read_read_bytes(value);
        } else if (key == "timeout") {
            const auto time = parse_duration(value);
            if (time && *time >= kTimeoutMin && *time <= kTimeoutMax) {
                place_.timeout = *time;
            } else {
                note(fmt::format("timeout={}: expected a time with its unit from 100ms to 1h, as 10s", value));
            }
        } else {
            return false;
        }
        return true;
    }

    /// True: the option is known, whatever its value is.
    template <typename Number>
    bool read_number(
        const std::string& key, std::string_view value, std::uint32_t least, std::uint32_t most, Number& into) {
        const auto number = number_within(value, least, most);
        if (number) into = static_cast<Number>(*number);
        if (!number) note(fmt::format("{}={}: expected a whole number from {} to {}", key, value, least, most));
        return true;
    }

    void read_addresses(std::string_view value) {
        place_.addresses.clear();
        for (std::string_view address : split(value, ',')) {
            if (address.starts_with('[') && address.ends_with(']'))
                address = address.substr(1, address.size() - 2);
            if (address.empty()) note(fmt::format("addresses={}: expected names or numbers: A,B,C", value));
            place_.addresses.emplace_back(address);
        }
    }

    void read_read_bytes(std::string_view value) {
        std::optional<std::uint64_t> bytes = whole_number<std::uint64_t>(value);
        if (const auto size = parse_size(value)) bytes = *size;
        if (bytes && *bytes >= kReadBytesMin && *bytes <= kReadBytesMax) {
            place_.read_bytes = *bytes;
        } else {
            note(fmt::format("rsize={}: expected a size from {} B to 1 GiB, as 1MiB or plain bytes", value,
                             kReadBytesMin));
        }
    }

    const std::string& text_;
    std::string shown_;
    RemotePlace place_;
    std::string path_;
    std::set<std::string> seen_;
    std::vector<std::string> problems_;
};

}  // namespace

Result<Target> parse_remote_target(const std::string& text) {
    return RemoteUrl(text).parse();
}

}  // namespace streamsim::target
