// Settings of this computer are ignored: there is no HOME, so no ~/.smb; a text below replaces
// /etc/samba/smb.conf; streamsim sets the environment. There is no Kerberos, no NetBIOS and no SMB 1.
// libsmbclient's log is discarded.
#include "storage/smb/helper/client.h"

#include <fcntl.h>
#include <libsmbclient.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string_view>

#include "storage/smb/helper/negotiate.h"

namespace streamsim::storage {
namespace {

constexpr std::string_view kConfiguration =
    "[global]\n"
    "name resolve order = host\n"
    "disable netbios = yes\n"
    "client min protocol = SMB2_02\n"
    "client max protocol = SMB3_11\n"
    "client ipc min protocol = SMB2_02\n"
    "client ipc max protocol = SMB3_11\n"
    "client use kerberos = off\n";
constexpr std::uint32_t kPort = 445;
constexpr std::uint32_t kReadBytesMax = std::uint32_t{8} << 20;  // libsmbclient's limit for one request
constexpr unsigned kAttributeDirectory = 0x10;
constexpr int kDescriptorsLooked = 256;

struct User {
    std::string name, domain, password;
};
/// The user of this process: libsmbclient's callback has no argument for it.
User user;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void copy_text(const std::string& text, char* into, int bytes) {
    const std::size_t length = std::min(text.size(), static_cast<std::size_t>(bytes) - 1);
    std::memcpy(into, text.data(), length);
    into[length] = 0;
}

void say_user(SMBCCTX*,
              const char*,
              const char*,
              char* domain,
              int domain_bytes,
              char* name,
              int name_bytes,
              char* password,
              int password_bytes) {
    if (!user.domain.empty()) copy_text(user.domain, domain, domain_bytes);
    copy_text(user.name, name, name_bytes);
    copy_text(user.password, password, password_bytes);
}

void ignore_log(void*, int, const char*) {}

/// The errno of a call that returned -1, else zero.
bool succeeded(std::int64_t result, SmbAnswer& answer) {
    if (result < 0) answer.error = errno != 0 ? errno : EIO;
    return result >= 0;
}

bool is_of_connection(int error) {
    constexpr int kErrors[] = {ECONNABORTED, ECONNRESET, ECONNREFUSED, EPIPE,        ENOTCONN,
                               ETIMEDOUT,    ENETDOWN,   ENETUNREACH,  EHOSTUNREACH, EHOSTDOWN};
    return std::find(std::begin(kErrors), std::end(kErrors), error) != std::end(kErrors);
}

/// A URL allows no colons in a host; this is Windows's name for an IPv6 address.
std::string host_in_url(std::string address) {
    if (address.find(':') == std::string::npos) return address;
    std::replace(address.begin(), address.end(), ':', '-');
    std::replace(address.begin(), address.end(), '%', 's');
    return address + ".ipv6-literal.net";
}

/// The socket of this process's only TCP connection.
int find_tcp_socket() {
    for (int descriptor = kSmbMemory + 1; descriptor < kDescriptorsLooked; ++descriptor) {
        sockaddr_storage peer{};
        socklen_t size = sizeof(peer);
        if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
        if (peer.ss_family == AF_INET || peer.ss_family == AF_INET6) return descriptor;
    }
    return -1;
}

/// Returns 0 without a port.
std::uint32_t local_port(int socket) {
    sockaddr_storage own{};
    socklen_t size = sizeof(own);
    if (getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0) return 0;
    // The port has the same offset in both address families.
    return reinterpret_cast<const sockaddr_in&>(own).sin_port;
}

}  // namespace

void SmbClient::perform(const SmbRequest& request,
                        const std::vector<std::string>& texts,
                        std::span<std::byte> slot,
                        SmbAnswer& answer) {
    const auto text = [&texts](std::size_t i) { return i < texts.size() ? texts[i] : std::string(); };
    errno = 0;
    answer.requests = 1;
    if ((request.call == SmbCall::connect) != (context_ == nullptr)) {
        answer.error = EPROTO;
        return;
    }
    switch (request.call) {
        case SmbCall::connect: connect(request, texts, answer); break;
        case SmbCall::open: open(text(0), O_RDONLY, answer); break;
        case SmbCall::create: open(text(0), O_WRONLY | O_CREAT | O_EXCL, answer); break;
        case SmbCall::read:
            if (Open* file = find(request, answer)) read(*file, request, slot, answer);
            break;
        case SmbCall::write:
            if (Open* file = find(request, answer)) write(*file, request, slot, answer);
            break;
        case SmbCall::close:
            if (Open* file = find(request, answer)) close(*file, answer);
            break;
        case SmbCall::size:
            if (Open* file = find(request, answer)) size(*file, answer);
            break;
        case SmbCall::stat: stat(text(0), answer); break;
        case SmbCall::list: list(text(0), slot, answer); break;
        case SmbCall::make_directory:
            succeeded(smbc_getFunctionMkdir(context_)(context_, url(text(0)).c_str(), 0777), answer);
            break;
        case SmbCall::rename: rename(text(0), text(1), answer); break;
        case SmbCall::remove: remove(text(0), answer); break;
        case SmbCall::free_space: free_space(text(0), answer); break;
    }
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    answer.completed_ns = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    check_connection(answer);
}

std::string SmbClient::url(const std::string& path) const {
    constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-._~";
    constexpr const char* kDigits = "0123456789ABCDEF";
    std::string out = "smb://" + host_;
    for (const char each : path) {
        if (kPlain.find(each) != std::string_view::npos) {
            out += each;
        } else {
            const auto byte = static_cast<unsigned char>(each);
            out += '%';
            out += kDigits[byte >> 4];
            out += kDigits[byte & 15];
        }
    }
    return out;
}

bool SmbClient::make_context(const SmbRequest& request) {
    SMBCCTX* const context = smbc_new_context();
    if (context == nullptr) return false;
    const int file = memfd_create("smb.conf", 0);
    const bool written = file >= 0 && ::write(file, kConfiguration.data(), kConfiguration.size()) ==
                                          static_cast<ssize_t>(kConfiguration.size());
    smbc_setLogCallback(context, nullptr, ignore_log);
    smbc_setDebug(context, 0);
    const std::string name = "/proc/self/fd/" + std::to_string(file);
    const bool configured = written && smbc_setConfiguration(context, name.c_str()) == 0;
    if (file >= 0) ::close(file);
    smbc_setFunctionAuthDataWithContext(context, say_user);
    smbc_setOptionNoAutoAnonymousLogin(context, 1);
    smbc_setOptionUseKerberos(context, 0);
    smbc_setOptionUseCCache(context, 0);
    smbc_setPort(context, static_cast<std::uint16_t>(request.port));
    smbc_setTimeout(context, static_cast<int>(request.timeout_ms));
    if (!configured || smbc_init_context(context) == nullptr) {
        smbc_free_context(context, 1);
        return false;
    }
    context_ = context;
    return true;
}

void SmbClient::connect(const SmbRequest& asked, const std::vector<std::string>& texts, SmbAnswer& answer) {
    SmbRequest request = asked;
    if (request.port == 0) request.port = kPort;
    if (texts.size() != 5) {
        answer.error = EPROTO;
        return;
    }
    Negotiated found;
    found.address = texts[0];
    found.dialect = request.dialect;
    found.read_bytes = request.read_bytes;
    if (request.dialect == 0) found = negotiate(texts[0], request.port, request.timeout_ms);
    answer.step = found.step;
    answer.error = found.error;
    answer.dialect = found.dialect;
    if (found.error != 0) return;
    host_ = host_in_url(found.address);
    read_bytes_ = answer.read_bytes = std::clamp<std::uint32_t>(found.read_bytes, 1, kReadBytesMax);
    user = {texts[2], texts[3], texts[4]};
    if (!make_context(request)) {
        answer.error = errno != 0 ? errno : ENOMEM;
        return;
    }
    answer.requests = 0;
    if ((request.dialect != 0 && enter_again(texts[1])) || enter(texts[1], answer))
        answer.step = SmbStep::connected;
}

/// Logs in by opening the directory, which fails, but takes one request instead of the three of enter(). False:
/// this connection does not get as far as the earlier one.
bool SmbClient::enter_again(const std::string& directory) {
    errno = 0;
    _SMBCFILE* const file = smbc_getFunctionOpen(context_)(context_, url(directory).c_str(), O_RDONLY, 0);
    if (file == nullptr) return errno == EISDIR;
    smbc_getFunctionClose(context_)(context_, file);
    return true;
}

/// Logs in by looking at the directory. After an error answer.step is the step that failed.
bool SmbClient::enter(const std::string& directory, SmbAnswer& answer) {
    const auto look_at = [&](const std::string& path) {
        errno = 0;
        answer.error = 0;
        stat(path, answer);
        return answer.error == 0;
    };
    if (look_at(directory)) return true;
    const std::string share = directory.substr(0, directory.find('/', 1));
    const int directory_error = answer.error;
    if (directory != share && look_at(share)) {
        answer.directory_error = directory_error;
        answer.directory = false;
        return true;
    }
    const int error = answer.error;
    answer.step = error == EACCES || error == EPERM ? SmbStep::may_enter : SmbStep::enter_share;
    // Every user who can log in may use IPC$: that tells a refused user from a refused share.
    if (answer.step == SmbStep::may_enter && !look_at("/IPC$") &&
        (answer.error == EACCES || answer.error == EPERM)) {
        answer.step = SmbStep::log_in;
    }
    if (is_of_connection(error)) answer.step = SmbStep::log_in;
    answer.error = error;
    return false;
}

SmbClient::Open* SmbClient::find(const SmbRequest& request, SmbAnswer& answer) {
    const auto index = static_cast<std::size_t>(request.file);
    if (request.file >= 0 && index < files_.size() && files_[index].file != nullptr) return &files_[index];
    answer.error = EBADF;
    return nullptr;
}

void SmbClient::open(const std::string& path, int flags, SmbAnswer& answer) {
    _SMBCFILE* const file = smbc_getFunctionOpen(context_)(context_, url(path).c_str(), flags, 0666);
    if (!succeeded(file == nullptr ? -1 : 0, answer)) return;
    auto place =
        std::find_if(files_.begin(), files_.end(), [](const Open& each) { return each.file == nullptr; });
    if (place == files_.end()) place = files_.insert(files_.end(), Open{});
    *place = {file, 0};
    answer.file = static_cast<std::int32_t>(place - files_.begin());
}

void SmbClient::close(Open& open, SmbAnswer& answer) {
    _SMBCFILE* const file = open.file;
    open = {};
    succeeded(smbc_getFunctionClose(context_)(context_, file), answer);
}

bool SmbClient::seek(Open& open, std::uint64_t offset, SmbAnswer& answer) {
    if (open.at == offset) return true;
    const auto to = static_cast<off_t>(offset);
    if (!succeeded(smbc_getFunctionLseek(context_)(context_, open.file, to, SEEK_SET), answer)) return false;
    open.at = offset;
    return true;
}

void SmbClient::read(Open& open, const SmbRequest& request, std::span<std::byte> slot, SmbAnswer& answer) {
    const std::size_t wanted = std::min<std::uint64_t>(request.bytes, slot.size());
    answer.requests = static_cast<std::uint32_t>((wanted + read_bytes_ - 1) / read_bytes_);
    if (!seek(open, request.offset, answer)) return;
    const ssize_t got = smbc_getFunctionRead(context_)(context_, open.file, slot.data(), wanted);
    if (!succeeded(got, answer)) return;
    // A short read was repeated for the rest: the file ends there.
    if (static_cast<std::size_t>(got) < wanted) ++answer.requests;
    open.at += static_cast<std::uint64_t>(got);
    answer.bytes = static_cast<std::uint64_t>(got);
}

void SmbClient::write(Open& open, const SmbRequest& request, std::span<std::byte> slot, SmbAnswer& answer) {
    const std::size_t wanted = std::min<std::uint64_t>(request.bytes, slot.size());
    if (!seek(open, request.offset, answer)) return;
    while (answer.bytes < wanted) {
        const ssize_t put = smbc_getFunctionWrite(context_)(context_, open.file, slot.data() + answer.bytes,
                                                            wanted - answer.bytes);
        if (put == 0) errno = EIO;
        if (!succeeded(put > 0 ? put : -1, answer)) return;
        open.at += static_cast<std::uint64_t>(put);
        answer.bytes += static_cast<std::uint64_t>(put);
    }
}

void SmbClient::stat(const std::string& path, SmbAnswer& answer) {
    struct ::stat info {};
    if (!succeeded(smbc_getFunctionStat(context_)(context_, url(path).c_str(), &info), answer)) return;
    answer.directory = S_ISDIR(info.st_mode);
    answer.bytes = answer.directory ? 0 : static_cast<std::uint64_t>(info.st_size);
    answer.modified_s = info.st_mtim.tv_sec;
    answer.changed_s = info.st_ctim.tv_sec;
}

void SmbClient::size(Open& open, SmbAnswer& answer) {
    struct ::stat info {};
    if (!succeeded(smbc_getFunctionFstat(context_)(context_, open.file, &info), answer)) return;
    answer.bytes = static_cast<std::uint64_t>(info.st_size);
}

/// Entries are texts, "f 520448 1700000000 1700000060 NAME": "d" or "f", bytes, modified_s, changed_s and the
/// name.
void SmbClient::list(const std::string& path, std::span<std::byte> slot, SmbAnswer& answer) {
    if (!path.empty()) {
        if (listing_ != nullptr) smbc_getFunctionClosedir(context_)(context_, listing_);
        unlisted_.clear();
        listing_ = smbc_getFunctionOpendir(context_)(context_, url(path).c_str());
        if (!succeeded(listing_ == nullptr ? -1 : 0, answer)) return;
    } else if (listing_ == nullptr) {
        return;
    }
    const auto fits = [&](const std::string& entry) {
        if (answer.bytes + entry.size() + 1 > slot.size()) return false;
        std::memcpy(slot.data() + answer.bytes, entry.c_str(), entry.size() + 1);
        answer.bytes += entry.size() + 1;
        return true;
    };
    if (!unlisted_.empty() && fits(unlisted_)) unlisted_.clear();
    while (const libsmb_file_info* entry = smbc_getFunctionReaddirPlus(context_)(context_, listing_)) {
        const std::string_view name(entry->name);
        if (name == "." || name == "..") continue;
        const bool directory = (entry->attrs & kAttributeDirectory) != 0;
        unlisted_ = (directory ? "d 0 " : "f " + std::to_string(entry->size) + " ") +
                    std::to_string(entry->mtime_ts.tv_sec) + " " + std::to_string(entry->ctime_ts.tv_sec) +
                    " " + std::string(name);
        if (!fits(unlisted_)) {
            answer.more = true;
            return;
        }
        unlisted_.clear();
    }
    smbc_getFunctionClosedir(context_)(context_, listing_);
    listing_ = nullptr;
}

/// libsmbclient replaces an existing file, so the new name is checked first. Not atomic against other clients.
void SmbClient::rename(const std::string& from, const std::string& to, SmbAnswer& answer) {
    struct ::stat info {};
    errno = 0;
    if (smbc_getFunctionStat(context_)(context_, url(to).c_str(), &info) == 0) {
        answer.error = EEXIST;
        return;
    }
    if (errno != ENOENT) {  // something may have that name
        answer.error = errno != 0 ? errno : EIO;
        return;
    }
    errno = 0;
    succeeded(smbc_getFunctionRename(context_)(context_, url(from).c_str(), context_, url(to).c_str()), answer);
}

void SmbClient::remove(const std::string& path, SmbAnswer& answer) {
    const std::string name = url(path);
    struct ::stat info {};
    if (!succeeded(smbc_getFunctionStat(context_)(context_, name.c_str(), &info), answer)) return;
    const auto call =
        S_ISDIR(info.st_mode) ? smbc_getFunctionRmdir(context_) : smbc_getFunctionUnlink(context_);
    succeeded(call(context_, name.c_str()), answer);
}

void SmbClient::free_space(const std::string& path, SmbAnswer& answer) {
    struct ::statvfs info {};
    std::string name = url(path);
    if (!succeeded(smbc_getFunctionStatVFS(context_)(context_, name.data(), &info), answer)) return;
    // libsmbclient takes no notice of an error in the reply.
    if (info.f_bsize == 0 || info.f_frsize == 0) {
        answer.error = EIO;
        return;
    }
    // Without the POSIX extensions of SMB, f_bsize is the size of a sector, and f_frsize the sectors of a
    // block.
    answer.bytes = std::uint64_t{info.f_bavail} * info.f_bsize * info.f_frsize;
}

/// When libsmbclient has reconnected by itself, the files of the earlier connection are closed: the answer
/// reports that as a loss.
void SmbClient::check_connection(SmbAnswer& answer) {
    answer.lost = answer.error != 0 && is_of_connection(answer.error);
    if (context_ == nullptr) return;
    const int socket = find_tcp_socket();
    const std::uint32_t port = local_port(socket);
    if (port_ == 0) port_ = port;
    tcp_info info{};
    socklen_t size = sizeof(info);
    if (port != port_ || getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
        info.tcpi_state != TCP_ESTABLISHED) {
        answer.lost = true;
        return;
    }
    answer.retransmitted_segments = info.tcpi_total_retrans;
    answer.rtt_ns = std::int64_t{info.tcpi_rtt} * 1000;
}

}  // namespace streamsim::storage
