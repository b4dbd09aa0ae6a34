// libnfs 4 asks for 8 KiB of entries at a time, some 50 files: far from a server, a folder of a thousand frames
// takes seconds. So version 3 sends its own requests, and leaves the rare cases (a symbolic link in the path, a
// server without READDIRPLUS) and all errors that the server replies to libnfs.
#include "storage/nfs/nfs_listing.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "storage/nfs/nfs_library.h"
#include "storage/nfs/nfs_reply.h"

namespace streamsim::storage {
namespace {

using Turn = NfsSession::Turn;

/// Some 700 entries; libnfs decodes them recursively.
constexpr std::uint32_t kReplyBytes = 128U << 10;
constexpr std::uint32_t kNamesBytes = 32U << 10;

bool is_entry(std::string_view name) {
    return !name.empty() && name != "." && name != "..";
}

/// The callback of a raw request, whose result has a status of its own.
void on_rpc(rpc_context*, int status, void* data, void* user) {
    const bool good = status == RPC_STATUS_SUCCESS && data != nullptr;
    NfsSession::on_answer(good ? 0 : -ENOTCONN, nullptr, data, user);
}

/// Returns zero or the errno of the call; `found`: the server has the name.
int look_up(Turn& turn, NfsHandle& at, const std::string& name, bool& found) {
    found = false;
    const auto begin = [&](nfs_context* nfs, void* user) {
        LOOKUP3args args{{handle3(at), const_cast<char*>(name.c_str())}};
        return rpc_nfs3_lookup_async(nfs_get_rpc_context(nfs), on_rpc, &args, user);
    };
    return -turn.run({begin, [&](nfs_context*, int, void* data) {
                          const auto& result = *static_cast<const LOOKUP3res*>(data);
                          if (enumeration_number(result.status) != NFS3_OK) return;
                          const auto& handle = result.LOOKUP3res_u.resok.object.data;
                          NfsReply reply;
                          found = set_handle(reply, handle.data_val, handle.data_len);
                          at = reply.handle;
                      }});
}

std::optional<FileInfo> info_of(const post_op_attr& told) {
    if (told.attributes_follow == 0) return std::nullopt;
    const fattr3& attributes = told.post_op_attr_u.attributes;
    const NfsKind kind = kind_of(enumeration_number(attributes.type));
    FileInfo info;
    info.directory = kind == NfsKind::directory;
    info.symbolic_link = kind == NfsKind::link;
    info.other = kind == NfsKind::other;
    info.bytes = attributes.size;
    info.modified_s = attributes.mtime.seconds;
    info.changed_s = attributes.ctime.seconds;
    info.links = attributes.nlink;
    info.file_id = attributes.fileid;
    return info;
}

/// Returns zero, or the errno of a request that got no reply; none: this function cannot list the directory.
std::optional<int> list_by_requests(Turn& turn, const std::string& path, std::vector<NfsListed>& entries) {
    const auto below = turn.below_root(path);
    if (!below) return std::nullopt;
    NfsHandle at = turn.root();
    for (std::size_t from = 0; from < below->size();) {
        const std::size_t end = std::min(below->find('/', from), below->size());
        const std::string name = below->substr(from, end - from);
        if (name == "..") return std::nullopt;
        from = end + 1;
        if (!is_entry(name)) continue;
        bool found = false;
        if (const int error = look_up(turn, at, name, found)) return error;
        if (!found) return std::nullopt;
    }
    READDIRPLUS3args args{};
    args.dir = handle3(at);
    args.dircount = kNamesBytes;
    args.maxcount = kReplyBytes;
    for (bool ended = false; !ended;) {
        bool good = false;
        const auto begin = [&](nfs_context* nfs, void* user) {
            return rpc_nfs3_readdirplus_async(nfs_get_rpc_context(nfs), on_rpc, &args, user);
        };
        const auto take = [&](nfs_context*, int, void* data) {
            const auto& result = *static_cast<const READDIRPLUS3res*>(data);
            if (enumeration_number(result.status) != NFS3_OK) return;
            const READDIRPLUS3resok& ok = result.READDIRPLUS3res_u.resok;
            for (const entryplus3* next = ok.reply.entries; next != nullptr;) {
                const entryplus3 each = aligned(next);
                next = each.nextentry;
                args.cookie = each.cookie;
                const char* const name = each.name == nullptr ? "" : each.name;
                if (is_entry(name)) entries.push_back({name, info_of(each.name_attributes)});
            }
            std::memcpy(args.cookieverf, ok.cookieverf, sizeof args.cookieverf);
            ended = ok.reply.eof != 0;
            good = ended || ok.reply.entries != nullptr;  // else the list would never end
        };
        if (const int error = -turn.run({begin, take}); error > 0) return error;
        if (!good) return std::nullopt;
    }
    return 0;
}

int list_by_libnfs(Turn& turn, const std::string& path, std::vector<NfsListed>& entries) {
    // The types of objects in libnfs's modes, as POSIX has them; not every system defines them all.
    constexpr std::uint32_t kTypeMask = 0170000, kRegular = 0100000, kDirectory = 0040000, kLink = 0120000;
    const std::string where = turn.path(path);
    const auto begin = [&](nfs_context* nfs, void* user) {
        return nfs_opendir_async(nfs, where.c_str(), &NfsSession::on_answer, user);
    };
    return -turn.run({begin, [&](nfs_context* nfs, int, void* data) {
                          auto* const open = static_cast<nfsdir*>(data);
                          while (const nfsdirent* entry = nfs_readdir(nfs, open)) {
                              if (!is_entry(entry->name)) continue;
                              const std::uint32_t type = entry->mode & kTypeMask;
                              FileInfo info;
                              info.directory = type == kDirectory;
                              info.symbolic_link = type == kLink;
                              info.other = type != kRegular && !info.directory && !info.symbolic_link;
                              info.bytes = entry->size;
                              info.modified_s = static_cast<std::int64_t>(entry->mtime.tv_sec);
                              info.changed_s = static_cast<std::int64_t>(entry->ctime.tv_sec);
                              info.links = entry->nlink;
                              // libnfs 4.0 does not initialize this member in lists of version 4.
                              if (turn.version() == 3) info.file_id = entry->inode;
                              entries.push_back({entry->name, info});
                          }
                          nfs_closedir(nfs, open);
                      }});
}

}  // namespace

int list_directory(Turn& turn, const std::string& path, std::vector<NfsListed>& entries) {
    if (turn.version() == 3) {
        if (const auto listed = list_by_requests(turn, path, entries)) return *listed;
    }
    entries.clear();
    return list_by_libnfs(turn, path, entries);
}

}  // namespace streamsim::storage
