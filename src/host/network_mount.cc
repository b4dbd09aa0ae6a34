#include "host/network_mount.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/ascii.h"
#include "base/units.h"

namespace streamsim::host {
namespace {

/// One request of this size costs a server little more than a small one.
constexpr std::uint64_t kGoodReadBytes = 1 << 20;
/// About the most that one TCP connection carries on today's computers; a faster link needs more of them.
constexpr std::uint64_t kOneConnectionBits = 10'000'000'000;

bool is_nfs(const MountFacts& mount) {
    return mount.type == "nfs" || mount.type == "nfs4";
}

bool is_smb(const MountFacts& mount) {
    return mount.type == "cifs" || mount.type == "smb3" || mount.type == "smbfs";
}

bool has_option(const MountFacts& mount, std::string_view name) {
    return mount_option(mount, name).has_value();
}

std::optional<std::uint64_t> number_option(const MountFacts& mount, std::string_view name) {
    const auto text = mount_option(mount, name);
    return text ? whole_number<std::uint64_t>(*text) : std::nullopt;
}

/// "isilon" of "isilon:/ifs/media", "fe80::1" of "[fe80::1]:/x", "isilon" of "//isilon/media" and of
/// "//DOMAIN;user@isilon/media". Empty: the source names no server.
std::string server_of(const std::string& source) {
    if (source.starts_with("//")) {
        const std::string server = source.substr(2, source.find('/', 2) - 2);
        return server.substr(server.rfind('@') + 1);  // npos + 1 is 0
    }
    if (source.starts_with('[')) return source.substr(1, source.find(']') - 1);
    const auto end = source.find(":/");
    return end == std::string::npos ? "" : source.substr(0, end);
}

void hint_at_nfs(const MountFacts& mount, const MountUse& use, std::vector<std::string>& hints) {
    if (mount.connections == 1 && use.bits_per_s.value_or(0) >= kOneConnectionBits) {
        hints.push_back(
            fmt::format("nconnect=1: one connection seldom fills a link of {:g} Gb/s; try {}, or more seats",
                        static_cast<double>(*use.bits_per_s) / 1e9, option_of_connections(mount)));
    }
    if (has_option(mount, "noac") || number_option(mount, "actimeo") == 0 ||
        number_option(mount, "acregmax") == 0)
        hints.emplace_back(
            "attributes are not cached (noac, actimeo=0): each open and each look at a file asks the server; "
            "image sequences suffer most");
    if (has_option(mount, "soft") || has_option(mount, "softerr"))
        hints.emplace_back(
            "soft: a server that is away for a moment becomes a read error in the application; hard waits");
    if (mount_option(mount, "proto").value_or("tcp").starts_with("udp"))
        hints.emplace_back("proto=udp: a lost packet costs a whole request; use tcp");
}

void hint_at_smb(const MountFacts& mount, const MountUse& use, std::vector<std::string>& hints) {
    const std::string_view version = mount_option(mount, "vers").value_or("");
    if (version.starts_with("1"))
        hints.emplace_back("vers=1.0: small requests, one after the other; use 3.0 or later");
    if (mount_option(mount, "cache") == "none")
        hints.emplace_back("cache=none: this computer reads nothing ahead and keeps nothing; use cache=strict");
    if (mount.connections == 1 && use.bits_per_s.value_or(0) >= kOneConnectionBits) {
        hints.push_back(fmt::format("no multichannel: one connection seldom fills a link of {:g} Gb/s; try {}",
                                    static_cast<double>(*use.bits_per_s) / 1e9, option_of_connections(mount)));
    }
}

}  // namespace

std::optional<std::string_view> mount_option(const MountFacts& mount, std::string_view name) {
    for (const std::string_view each : split(mount.options, ',')) {
        if (each == name) return std::string_view{};
        if (each.starts_with(name) && each.substr(name.size()).starts_with('='))
            return each.substr(name.size() + 1);
    }
    return std::nullopt;
}

void name_share(MountFacts& mount) {
    if (is_nfs(mount)) mount.protocol = "NFS";
    if (is_smb(mount)) mount.protocol = "SMB";
    if (mount.type == "afpfs") mount.protocol = "AFP";
    if (!mount.protocol.empty()) mount.server = server_of(mount.source);
}

void describe_share(MountFacts& mount) {
    name_share(mount);
    if (!is_nfs(mount) && !is_smb(mount)) return;
    mount.read_bytes = number_option(mount, "rsize");
    std::string version(mount_option(mount, "vers").value_or(""));
    if (is_nfs(mount)) {
        if (version.empty()) version = mount.type == "nfs4" ? "4" : "";
        if (!version.empty()) mount.protocol += "v" + version;
        mount.connections = number_option(mount, "nconnect").value_or(1);  // the table leaves out 1
        return;
    }
    const bool numbered = !version.empty() && version.find_first_not_of("0123456789.") == std::string::npos;
    if (numbered) mount.protocol += " " + version;
    mount.connections =
        has_option(mount, "multichannel") ? number_option(mount, "max_channels").value_or(2) : 1;
}

std::string_view option_of_connections(const MountFacts& mount) {
    if (is_nfs(mount)) return "nconnect=4 to 8";
    return is_smb(mount) ? "multichannel,max_channels=4" : "";
}

void hint_at(MountFacts& mount, const MountUse& use) {
    mount.hints.clear();
    if (mount.protocol.empty()) return;
    if (mount.read_bytes && *mount.read_bytes < kGoodReadBytes) {
        mount.hints.push_back(fmt::format("rsize={}: a request reads {} at most; 1 MiB or more is usual",
                                          *mount.read_bytes, show_io_size(*mount.read_bytes)));
    }
    if (is_nfs(mount)) hint_at_nfs(mount, use, mount.hints);
    if (is_smb(mount)) hint_at_smb(mount, use, mount.hints);
    if (has_option(mount, "sync"))
        mount.hints.emplace_back("sync: each write waits for the server; preparing is slow");
    // Direct reads bypass the kernel's read-ahead; an application's reads do not.
    if (mount.read_ahead_bytes && *mount.read_ahead_bytes < use.frame_bytes) {
        mount.hints.push_back(fmt::format(
            "the kernel reads {} ahead, and a frame is up to {}: raise read_ahead_kb of the mount's "
            "/sys/class/bdi/...",
            show_io_size(*mount.read_ahead_bytes), show_bytes(use.frame_bytes)));
    }
    if (use.direct) {
        mount.hints.emplace_back(
            "direct reads go past this client's read-ahead and cache: --buffered is what most applications do");
    }
}

}  // namespace streamsim::host
