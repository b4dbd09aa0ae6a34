// Facts about a Windows computer. Windows keeps no counter of the time that threads wait for a processor, of
// bytes from block devices, or of a file's part in the page cache.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <uv.h>
#include <windows.h>
#include <winnetwk.h>
#include <wnnc.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <string>
#include <system_error>

#include "base/system/errno_name.h"
#include "base/system/utf8_path.h"
#include "host/host.h"
#include "host/mount.h"

namespace streamsim::host {
namespace {

std::string narrow(const wchar_t* text) {
    return utf8_text(std::filesystem::path(text));
}

std::int64_t to_ns(const FILETIME& time) {
    return ((std::int64_t{time.dwHighDateTime} << 32) | time.dwLowDateTime) * 100;
}

/// "fixed,rw": the kind of the drive, and how it is mounted.
std::string options_of(UINT kind, DWORD flags) {
    std::string out = "unknown";
    switch (kind) {
        case DRIVE_FIXED: out = "fixed"; break;
        case DRIVE_REMOVABLE: out = "removable"; break;
        case DRIVE_REMOTE: out = "remote"; break;
        case DRIVE_CDROM: out = "cdrom"; break;
        case DRIVE_RAMDISK: out = "ramdisk"; break;
        default: break;
    }
    out += (flags & FILE_READ_ONLY_VOLUME) != 0 ? ",ro" : ",rw";
    if ((flags & FILE_VOLUME_IS_COMPRESSED) != 0) out += ",compressed";
    return out;
}

/// "\\server\share" of a drive or of a path on a share, which begins with it; empty: neither.
std::string share_of(const std::wstring& root) {
    constexpr std::wstring_view kUncPrefix = LR"(\\?\UNC\)";
    std::wstring share = root;
    while (share.ends_with(L'\\')) share.pop_back();
    if (share.starts_with(kUncPrefix)) share = LR"(\\)" + share.substr(kUncPrefix.size());
    if (share.size() != 2 || share[1] != L':') return share.starts_with(LR"(\\)") ? narrow(share.c_str()) : "";
    std::array<wchar_t, 1024> name{};
    auto size = static_cast<DWORD>(name.size());
    if (WNetGetConnectionW(share.c_str(), name.data(), &size) != NO_ERROR) return {};
    return narrow(name.data());
}

/// Fills in the protocol, as the client of the share tells it.
void describe_protocol(const std::wstring& path, MountFacts& mount) {
    const HANDLE file =
        CreateFileW(path.c_str(), FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                    nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
    if (file == INVALID_HANDLE_VALUE) return;
    FILE_REMOTE_PROTOCOL_INFO info{};
    const BOOL told = GetFileInformationByHandleEx(file, FileRemoteProtocolInfo, &info, sizeof info);
    CloseHandle(file);
    if (told && info.Protocol == WNNC_NET_SMB) {
        mount.type = "smbfs";
        mount.protocol = fmt::format("SMB {}.{}.{}", info.ProtocolMajorVersion, info.ProtocolMinorVersion,
                                     info.ProtocolRevision);
    } else if (told && info.Protocol == WNNC_NET_MS_NFS) {
        mount.type = "nfs";
        mount.protocol = fmt::format("NFSv{}", info.ProtocolMajorVersion);
    }
}

void describe_share(const std::wstring& path, const std::wstring& root, MountFacts& mount) {
    mount.type = mount.type == "NFS" ? "nfs" : "network";  // where the share's client does not tell
    mount.source = share_of(root);
    const std::size_t end = mount.source.find('\\', 2);
    if (mount.source.starts_with("\\\\"))
        mount.server = mount.source.substr(2, end == std::string::npos ? end : end - 2);
    describe_protocol(path, mount);
}

std::string error_text(DWORD error) {
    return std::system_category().message(static_cast<int>(error));
}

}  // namespace

HostFacts read_host_facts() {
    HostFacts facts;
    std::array<char, UV_MAXHOSTNAMESIZE> name{};
    std::size_t size = name.size();
    if (uv_os_gethostname(name.data(), &size) == 0) facts.name = name.data();
    uv_utsname_t names{};
    if (uv_os_uname(&names) == 0) {
        facts.os = std::string(names.sysname) + " " + names.release + " " + names.machine;
        if (names.version[0] != '\0') facts.os = std::string(names.version) + ", " + facts.os;
    }
    facts.cpus = std::max(uv_available_parallelism(), 1u);
    facts.memory_bytes = uv_get_total_memory();
    return facts;
}

ProcessUsage read_process_usage() {
    ProcessUsage usage;
    FILETIME created{}, ended{}, kernel{}, user{};
    if (GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user))
        usage.cpu_ns = to_ns(kernel) + to_ns(user);
    return usage;
}

bool block_device_behind(const std::string& /*path*/) {
    return false;
}

std::optional<std::uint64_t> threads_allowed() {
    return std::nullopt;
}

bool request_realtime(std::string& why_not) {
    // Above ordinary programs and below the threads of the system; the real-time class needs a privilege.
    if (SetPriorityClass(GetCurrentProcess(), HIGH_PRIORITY_CLASS) &&
        GetPriorityClass(GetCurrentProcess()) == HIGH_PRIORITY_CLASS &&
        SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_TIME_CRITICAL))
        return true;
    why_not = "real-time scheduling refused: " + error_text(GetLastError());
    return false;
}

std::string now_rfc3339() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::optional<MountFacts> mount_of(const std::string& path) {
    const std::wstring native = system_path(path).make_preferred().native();
    if (GetFileAttributesW(native.c_str()) == INVALID_FILE_ATTRIBUTES) return std::nullopt;
    std::wstring root(native.size() + MAX_PATH, L'\0');
    if (!GetVolumePathNameW(native.c_str(), root.data(), static_cast<DWORD>(root.size()))) return std::nullopt;
    root.resize(root.find(L'\0'));
    std::array<wchar_t, MAX_PATH + 1> label{}, type{};
    DWORD flags = 0;
    const bool told =
        GetVolumeInformationW(root.c_str(), label.data(), static_cast<DWORD>(label.size()), nullptr, nullptr,
                              &flags, type.data(), static_cast<DWORD>(type.size())) != 0;
    const UINT kind = GetDriveTypeW(root.c_str());
    MountFacts mount;
    mount.point = narrow(root.c_str());
    mount.source = told ? narrow(label.data()) : "";
    mount.type = told ? narrow(type.data()) : "";
    mount.options = options_of(kind, flags);
    if (kind == DRIVE_REMOTE) describe_share(native, root, mount);
    if (mount.source.empty()) mount.source = mount.point;
    return mount;
}

std::optional<int> fuse_server_of(const std::string& /*path*/) {
    return std::nullopt;
}

std::vector<std::optional<CachedPart>> cached_parts(const char* /*path*/, std::span<const FileRange> ranges) {
    return std::vector<std::optional<CachedPart>>(ranges.size());
}

PlaceAnswer place_identity_of(const std::string& path) {
    uv_fs_t request{};
    const int result = uv_fs_stat(nullptr, &request, utf8_text(system_path(path)).c_str(), nullptr);
    PlaceAnswer out;
    if (result == 0) {
        out.identity = PlaceIdentity{request.statbuf.st_dev, request.statbuf.st_ino, 0, false};
    } else {
        out.error = errno_from_name(uv_err_name(result)).value_or(EIO);
    }
    uv_fs_req_cleanup(&request);
    return out;
}

}  // namespace streamsim::host
