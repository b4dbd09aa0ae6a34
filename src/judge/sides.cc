#include "judge/sides.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/ascii.h"
#include "base/system/errno_name.h"

namespace streamsim::judge {
namespace {

bool is_one_of(int error, std::initializer_list<std::string_view> names) {
    const char* const name = errno_name(error);  // not every system has all of them
    return name != nullptr && std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Limit limit_of(Cause cause) {
    switch (cause) {
        case Cause::none: return Limit::none;
        case Cause::slow_reads:
        case Cause::bandwidth:
        case Cause::slow_opens:
        case Cause::storage_stall:
        case Cause::storage_error:
        case Cause::storage_gone:
        case Cause::cold_start: return Limit::storage;
        case Cause::slow_file:
        case Cause::damaged_file: return Limit::media;
        case Cause::network:
        case Cause::network_loss:
        case Cause::network_down: return Limit::network;
        case Cause::client_cpu:
        case Cause::client_memory:
        case Cause::client_resources: return Limit::client_cpu;
        case Cause::client_scheduling:
        case Cause::too_little_in_flight:
        case Cause::too_small_reads: return Limit::client_scheduling;
        case Cause::model_part:
        case Cause::injected_fault:
        case Cause::unknown: return Limit::unknown;
    }
    return Limit::unknown;
}

int shortage_of(int error) {
    return is_one_of(error, {"EMFILE", "ENFILE", "ENOMEM", "ENOBUFS", "EADDRNOTAVAIL"}) ? error : 0;
}

bool is_connection_error(int error) {
    return is_one_of(error, {"ETIMEDOUT", "ECONNABORTED", "ECONNREFUSED", "ECONNRESET", "EHOSTDOWN",
                             "EHOSTUNREACH", "ENETDOWN", "ENETUNREACH", "ENOTCONN", "EPIPE"});
}

bool is_unreachable(int error) {
    return is_one_of(error, {"EHOSTDOWN", "EHOSTUNREACH", "ENETDOWN", "ENETUNREACH"});
}

bool is_refused(int error) {
    return is_one_of(error, {"ECONNREFUSED", "ECONNRESET"});
}

bool is_remote_file_system(std::string_view type) {
    constexpr std::array kTypes = {"nfs",    "nfs4",  "cifs",   "smb3",     "smbfs",  "ceph",
                                   "lustre", "gpfs",  "beegfs", "afs",      "9p",     "glusterfs",
                                   "gfs2",   "ocfs2", "acfs",   "stornext", "network"};
    return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

bool is_local_file_system(std::string_view type) {
    constexpr std::array kTypes = {"ext2",     "ext3",  "ext4",    "xfs",    "btrfs", "zfs",     "f2fs",
                                   "jfs",      "ntfs",  "ntfs3",   "refs",   "vfat",  "msdos",   "fat32",
                                   "exfat",    "hfs",   "hfsplus", "apfs",   "udf",   "iso9660", "reiserfs",
                                   "bcachefs", "tmpfs", "ramfs",   "overlay"};
    return std::find(kTypes.begin(), kTypes.end(), to_lower(type)) != kTypes.end();
}

Limit limit_of_error(int error, bool remote) {
    if (shortage_of(error) != 0) return Limit::client_cpu;
    if (is_unreachable(error)) return Limit::network;
    // A server that does not answer, and a path that is cut, look the same.
    return remote && is_connection_error(error) && !is_refused(error) ? Limit::unknown : Limit::storage;
}

}  // namespace streamsim::judge
