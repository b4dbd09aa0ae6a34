// Files by libnfs's own file calls, over a few sessions (session_pool.h). There is no page cache: evict() has
// nothing to do. Data are on stable storage once close() has committed them; a connection that is lost before
// that may lose some of them, and makes the sink return an error.
//
// rename() replaces nothing: a file gets its second name by LINK, which is atomic and fails when the name
// exists, and then loses its first. For directories, and on servers without links, the store checks the new
// name first; another client that makes the same name in that moment goes unnoticed.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <utility>

#include "base/path.h"
#include "storage/backends.h"
#include "storage/listed_files.h"
#include "storage/nfs/nfs_library.h"
#include "storage/nfs/nfs_listing.h"
#include "storage/nfs/nfs_requests.h"
#include "storage/nfs/nfs_session.h"

namespace streamsim::storage {
namespace {

using Call = NfsSession::Call;
using Turn = NfsSession::Turn;

constexpr std::size_t kSessionsMax = 8;
constexpr std::size_t kInFlight = 4;
/// libnfs 4 encodes a request of version 4 in 4 KiB with all headers: writes are small, and many are in flight.
constexpr std::size_t kWrite4Bytes = 3072;
constexpr int kMode = 0666;
constexpr int kDirectoryMode = 0777;
constexpr int kOpenAttemptsMax = 2;

constexpr auto kAnswer = &NfsSession::on_answer;

/// The beginning of a Call: one of libnfs's functions with its arguments.
template <typename Function, typename... Arguments>
auto calling(Function function, Arguments... arguments) {
    return [=](nfs_context* nfs, void* user) { return function(nfs, arguments..., kAnswer, user); };
}

/// The types of objects in libnfs's modes, as POSIX has them; not every system defines them all.
constexpr std::uint64_t kTypeMask = 0170000, kRegular = 0100000, kDirectory = 0040000, kLink = 0120000;

struct NfsStat {
    nfs_stat_64 info{};
    int error = 0;  // 0: the object exists

    bool is(std::uint64_t type) const { return error == 0 && (info.nfs_mode & kTypeMask) == type; }
    /// The server, or libnfs, has said what is there, be it nothing that this user may see.
    bool is_known() const {
        constexpr int kOfTheName[] = {0, ENOENT, ENOTDIR, ELOOP, EACCES, EPERM, EINVAL, ENAMETOOLONG};
        return std::find(std::begin(kOfTheName), std::end(kOfTheName), error) != std::end(kOfTheName);
    }
    /// The server has not said what is there, and may say so another time.
    bool is_unanswered() const { return error == ENOTCONN || error == ETIMEDOUT || error == EAGAIN; }
};

/// `function` is one of libnfs's for the attributes of `object`, a path or an open file.
template <typename Function, typename Object>
NfsStat look_by(Turn& turn, Function function, Object object) {
    NfsStat out;
    out.error = -turn.run({calling(function, object), [&](nfs_context*, int, void* data) {
                               if (data != nullptr) out.info = *static_cast<const nfs_stat_64*>(data);
                           }});
    return out;
}

NfsStat look_at(Turn& turn, const std::string& path, bool through_links) {
    const std::string where = turn.path(path);
    return look_by(turn, through_links ? nfs_stat64_async : nfs_lstat64_async, where.c_str());
}

/// Looks at the target of a link. libnfs follows links of version 4 without an end: one that leads to itself
/// takes the time-out, while the server answers.
NfsStat look_through(Turn& turn, const std::string& link) {
    NfsStat found = look_at(turn, link, true);
    if (found.error == ETIMEDOUT && turn.version() == 4 && turn.heard_lately() && turn.connect_again())
        found.error = ELOOP;
    return found;
}

FileInfo file_info(const NfsStat& found) {
    FileInfo out;
    out.symbolic_link = found.is(kLink);
    out.directory = found.is(kDirectory);
    out.bytes = found.info.nfs_size;
    out.modified_s = static_cast<std::int64_t>(found.info.nfs_mtime);
    out.changed_s = static_cast<std::int64_t>(found.info.nfs_ctime);
    out.links = found.info.nfs_nlink;
    out.file_id = found.info.nfs_ino;
    out.other = !found.is(kRegular) && !out.directory && !out.symbolic_link;
    return out;
}

int space3(Turn& turn, const std::string& where, std::uint64_t& bytes) {
    return turn.run({calling(nfs_statvfs64_async, where.c_str()), [&](nfs_context*, int, void* data) {
                         const auto& info = *static_cast<const nfs_statvfs_64*>(data);
                         bytes = info.f_bavail * info.f_frsize;
                     }});
}

int space4(Turn& turn, const std::string& where, std::uint64_t& bytes) {
    struct Request {
        std::uint64_t& bytes;
        void* user;
    } request{bytes, nullptr};
    return turn.run({[&](nfs_context* nfs, void* user) {
        request.user = user;
        const auto take = [](void* of, int error, std::uint64_t free) {
            auto& answered = *static_cast<Request*>(of);
            answered.bytes = free;
            kAnswer(-error, nullptr, nullptr, answered.user);
        };
        return nfs4_ask_space(nfs_get_rpc_context(nfs), where, take, &request) ? 0 : -1;
    }});
}

/// An open file of one generation of the session.
struct OpenHandle {
    nfsfh* file = nullptr;
    std::uint64_t generation = 0;

    bool is_open_in(const Turn& turn) const { return file != nullptr && generation == turn.generation(); }
};

/// Opens or creates a file by one of libnfs's functions. Returns zero or an errno.
template <typename Function, typename... Arguments>
int open_by(Turn& turn, OpenHandle& into, Function function, Arguments... arguments) {
    const int result = turn.run({calling(function, arguments...), [&](nfs_context*, int, void* data) {
                                     into.file = static_cast<nfsfh*>(data);
                                 }});
    into.generation = turn.generation();
    return -result;
}

int open_in(Turn& turn, const std::string& path, int flags, OpenHandle& into) {
    const std::string where = turn.path(path);
    return open_by(turn, into, nfs_open_async, where.c_str(), flags);
}

void close_in(Turn& turn, OpenHandle& one) {
    if (!one.is_open_in(turn) || turn.nfs() == nullptr) return;
    turn.run({calling(nfs_close_async, std::exchange(one.file, nullptr))});
}

class NfsSource final : public ByteSource {
public:
    /// `bytes`: the size of the file when it was opened.
    NfsSource(std::shared_ptr<NfsSession> session, std::string path, OpenHandle file, std::uint64_t bytes)
        : session_(std::move(session)), path_(std::move(path)), file_(file), bytes_(bytes) {}
    ~NfsSource() override {
        Turn turn(session_, false);
        close_in(turn, file_);
    }

    Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
        std::size_t done = 0;
        int tries = kOpenAttemptsMax;
        while (done < into.size() && offset + done != bytes_) {
            Turn turn(session_);
            if (!turn.ready()) return turn.ready().error();
            if (!file_.is_open_in(turn)) {
                file_.file = nullptr;
                if (const int error = open_in(turn, path_, O_RDONLY, file_))
                    return session_->error(error, "open", path_);
            }
            std::size_t got = 0;
            bool ended = false;
            const int error = read_some(turn, offset + done, into.subspan(done), got, ended);
            if (error != 0 && (error != ENOTCONN || --tries == 0)) return session_->error(error, "read", path_);
            done += got;
            if (ended) break;
        }
        return done;
    }

    Result<void> read_each(std::span<Piece> pieces) override {
        {
            Turn turn(session_);
            if (!turn.ready()) return turn.ready().error();
            if (file_.is_open_in(turn)) {
                std::vector<Call> calls;
                for (Piece& piece : pieces) {
                    const std::size_t bytes = std::min<std::size_t>(piece.into.size(), turn.piece_bytes());
                    calls.push_back(read_call(piece.offset, piece.into.first(bytes), piece.got));
                }
                (void)turn.run_all(calls);
            }
        }
        // A piece that came short is read again, which returns the error.
        for (Piece& piece : pieces) {
            if (piece.got == piece.into.size()) continue;
            const auto got = read_at(piece.offset, piece.into);
            if (!got) return got.error();
            piece.got = *got;
        }
        return {};
    }

    Result<std::uint64_t> size() override {
        Turn turn(session_);
        if (!turn.ready()) return turn.ready().error();
        const NfsStat found =
            file_.is_open_in(turn) ? look_by(turn, nfs_fstat64_async, file_.file) : look_at(turn, path_, true);
        if (found.error != 0) return session_->error(found.error, "look at", path_);
        return std::uint64_t{found.info.nfs_size};
    }

private:
    /// `got` counts the bytes that came.
    Call read_call(std::uint64_t offset, std::span<std::byte> part, std::size_t& got) const {
        return {calling(nfs_pread_async, file_.file, offset, part.size()),
                [part, &got](nfs_context*, int result, void* data) {
                    got = std::min(static_cast<std::size_t>(result), part.size());
                    if (got > 0) std::memcpy(part.data(), data, got);
                }};
    }

    /// Sends several requests at once; `got` counts up to the first short reply.
    int read_some(Turn& turn, std::uint64_t offset, std::span<std::byte> into, std::size_t& got, bool& ended) {
        std::vector<Call> calls;
        std::vector<std::pair<std::size_t, std::size_t>> asked_and_got;
        asked_and_got.reserve(kInFlight);
        for (std::size_t at = 0; at < into.size() && calls.size() < kInFlight;) {
            const std::size_t bytes = std::min<std::size_t>(into.size() - at, turn.piece_bytes());
            auto& sizes = asked_and_got.emplace_back(bytes, 0);
            calls.push_back(read_call(offset + at, into.subspan(at, bytes), sizes.second));
            at += bytes;
        }
        const int result = turn.run_all(calls);
        for (const auto& [asked, came] : asked_and_got) {
            got += came;
            ended = came == 0 && result >= 0;
            if (came < asked) break;
        }
        return result < 0 ? -result : 0;
    }

    std::shared_ptr<NfsSession> session_;
    std::string path_;
    OpenHandle file_;
    std::uint64_t bytes_;
};

/// Up to kWindowBytes are on their way while the next data are made; an error is returned by a later call.
/// (libnfs has copied the data when a write begins.) That is only done with a server that writes all that a
/// request has: the rest of a short write is written again, which takes the data.
class NfsSink final : public ByteSink {
public:
    NfsSink(std::shared_ptr<NfsSession> session,
            std::shared_ptr<ListedFiles> listed,
            std::string path,
            OpenHandle file)
        : session_(std::move(session)), listed_(std::move(listed)), path_(std::move(path)), file_(file) {}
    ~NfsSink() override {
        listed_->forget(path_);
        Turn turn(session_, false);
        for (Piece& piece : outstanding_) turn.finish(piece.call);
        --turn.sinks();
        close_in(turn, file_);
    }

    Result<void> write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
        Turn turn(session_);
        if (auto same = check(turn); !same) return same;
        const std::size_t piece_bytes = turn.version() == 4 ? kWrite4Bytes : turn.piece_bytes();
        // The server may perform outstanding writes in any order: those to the same bytes must not meet there.
        if (offset != end_) {
            if (auto written = finish_all(turn); !written) return written;
        }
        while (!bytes.empty()) {
            const auto part = bytes.first(std::min(bytes.size(), piece_bytes));
            while (outstanding_bytes_ + part.size() > kWindowBytes || outstanding_.size() >= kWindowWrites) {
                if (auto written = finish_first(turn); !written) return written;
            }
            start(turn, offset, part);
            std::size_t put = part.size();
            if (!whole_writes_) {
                if (auto written = finish_checked(turn, put); !written) return written;
            }
            offset += put;
            bytes = bytes.subspan(put);
        }
        end_ = offset;
        turn.flush();
        return {};
    }

    Result<void> close() override {
        Turn turn(session_);
        if (auto same = check(turn); !same) return same;
        listed_->forget(path_);
        if (auto written = finish_all(turn); !written) return written;
        const int error = -turn.run({calling(nfs_fsync_async, file_.file)});
        if (error != 0) return session_->error(error, "write", path_);
        close_in(turn, file_);
        return {};
    }

private:
    struct Piece {
        std::size_t bytes = 0;
        Call call;
    };

    Result<void> check(Turn& turn) const {
        if (!turn.ready()) return turn.ready().error();
        if (file_.generation != turn.generation()) return session_->error(ENOTCONN, "write", path_);
        return {};
    }

    void start(Turn& turn, std::uint64_t offset, std::span<const std::byte> part) {
        // libnfs 4 takes the data as void*, and does not change them.
        auto* const data = const_cast<std::byte*>(part.data());
        Piece& piece = outstanding_.emplace_back();
        piece.bytes = part.size();
        piece.call.begin = calling(nfs_pwrite_async, file_.file, offset, part.size(), data);
        outstanding_bytes_ += piece.bytes;
        turn.start(piece.call);
    }

    /// Waits for the oldest write; `put` becomes the bytes that the server wrote.
    Result<void> finish_checked(Turn& turn, std::size_t& put) {
        Piece& piece = outstanding_.front();
        const int result = turn.finish(piece.call);
        const std::size_t asked = piece.bytes;
        outstanding_bytes_ -= asked;
        outstanding_.pop_front();
        if (result <= 0) return session_->error(result < 0 ? -result : EIO, "write", path_);
        put = std::min(static_cast<std::size_t>(result), asked);
        whole_writes_ = put == asked;
        return {};
    }

    Result<void> finish_first(Turn& turn) {
        std::size_t put = 0;
        if (auto written = finish_checked(turn, put); !written) return written;
        if (whole_writes_) return {};
        return environment_error(
            fmt::format("cannot write {}: the server wrote a part of the data only", session_->name_of(path_)));
    }

    Result<void> finish_all(Turn& turn) {
        while (!outstanding_.empty()) {
            if (auto written = finish_first(turn); !written) return written;
        }
        return {};
    }

    static constexpr std::size_t kWindowBytes = std::size_t{8} << 20;
    static constexpr std::size_t kWindowWrites = 256;

    std::shared_ptr<NfsSession> session_;
    std::shared_ptr<ListedFiles> listed_;
    std::string path_;
    OpenHandle file_;
    std::deque<Piece> outstanding_;
    std::size_t outstanding_bytes_ = 0;
    std::uint64_t end_ = 0;      // of the last write
    bool whole_writes_ = false;  // the server wrote all of the last write
};

class NfsByteStore final : public ByteStore {
public:
    NfsByteStore(const RemotePlace& place, const std::string& directory)
        : any_(place, directory),
          sessions_(kSessionsMax,
                    [place, directory] { return std::make_shared<NfsSession>(place, directory); }),
          listed_(std::make_shared<ListedFiles>()) {}

    Result<std::vector<DirectoryEntry>> list(const std::string& directory) override {
        if (const auto known = listed_->list(directory)) return *known;
        Turn turn(sessions_.take());
        if (!turn.ready()) return turn.ready().error();
        std::vector<NfsListed> listed;
        if (const int number = list_directory(turn, directory, listed)) return error(number, "list", directory);
        std::vector<DirectoryEntry> entries;
        ListedFiles::Files files;
        for (NfsListed& each : listed) {
            const std::string path = join_path(directory, each.name);
            if (!each.info) {
                const NfsStat found = look_at(turn, path, false);
                if (!found.is_known()) return error(found.error, "look at", path);
                each.info = file_info(found);
            }
            DirectoryEntry& entry =
                entries.emplace_back(DirectoryEntry{each.name, each.info->directory, each.info->symbolic_link});
            if (entry.symbolic_link) {
                const NfsStat target = look_through(turn, path);
                if (target.is_unanswered()) return error(target.error, "look at", path);
                entry.directory = target.is(kDirectory);
            }
            auto& file = files[each.name];
            if (each.info->directory || each.info->is_regular()) file = each.info;
        }
        std::sort(entries.begin(), entries.end());
        listed_->put(directory, entries, std::move(files));
        return entries;
    }

    Result<std::optional<FileInfo>> stat(const std::string& path) override {
        if (const auto known = listed_->find(path)) return *known;
        Turn turn(sessions_.take());
        if (!turn.ready()) return turn.ready().error();
        NfsStat found = look_at(turn, path, false);
        if (found.error == ENOENT || found.error == ENOTDIR) return std::optional<FileInfo>();
        if (found.error != 0) return error(found.error, "look at", path);
        FileInfo out = file_info(found);
        if (out.directory) listed_->put_directory(path, out);
        if (!out.symbolic_link) return std::optional(out);
        found = look_through(turn, path);
        if (found.error == ENOENT || found.error == ENOTDIR || found.error == ELOOP) {
            out.bytes = 0;
            out.modified_s = 0;
            out.changed_s = 0;
            return std::optional(out);
        }
        if (found.error != 0) return error(found.error, "look at", path);
        out = file_info(found);
        out.symbolic_link = true;
        return std::optional(out);
    }

    Result<std::unique_ptr<ByteSource>> open(const std::string& path) override {
        Turn turn(sessions_.take());
        if (!turn.ready()) return turn.ready().error();
        OpenHandle file;
        const int number = open_in(turn, path, O_RDONLY, file);
        const auto known = listed_->find(path);
        if (number == 0 && known && *known && (*known)->is_regular())
            return std::unique_ptr<ByteSource>(
                std::make_unique<NfsSource>(turn.session(), path, file, (*known)->bytes));
        const NfsStat found = number == 0 ? look_by(turn, nfs_fstat64_async, file.file) : NfsStat{{}, number};
        if (!found.is(kRegular)) {
            close_in(turn, file);
            if (auto is_file = expect_file(turn, path); !is_file) return is_file.error();
            return error(found.error != 0 ? found.error : EIO, "open", path);
        }
        return std::unique_ptr<ByteSource>(
            std::make_unique<NfsSource>(turn.session(), path, file, std::uint64_t{found.info.nfs_size}));
    }

    Result<std::unique_ptr<ByteSink>> create(const std::string& path) override {
        listed_->forget(path);
        Turn turn(sessions_.take());
        if (!turn.ready()) return turn.ready().error();
        // Not every server knows exclusive creation, and libnfs follows existing links.
        if (look_at(turn, path, false).error == 0) return error(EEXIST, "create", path);
        const std::string where = turn.path(path);
        const int mode = static_cast<int>(without_umask(kMode));
        OpenHandle file;
        constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL;
        if (const int number = open_by(turn, file, nfs_create_async, where.c_str(), kFlags, mode))
            return error(number, "create", path);
        close_in(turn, file);
        if (turn.version() == 4) {
            // libnfs 4 creates the file read-only, and with a mode of its own.
            if (const int number = -turn.run({calling(nfs_chmod_async, where.c_str(), mode)}))
                return error(number, "create", path);
        }
        if (const int number = open_in(turn, path, O_WRONLY | O_NOFOLLOW, file))
            return error(number, "create", path);
        if (const int number = -turn.run({calling(nfs_ftruncate_async, file.file, std::uint64_t{0})}))
            return error(number, "create", path);
        ++turn.sinks();
        return std::unique_ptr<ByteSink>(std::make_unique<NfsSink>(turn.session(), listed_, path, file));
    }

    Result<void> make_directories(const std::string& path) override {
        listed_->forget_all();  // directories above may be created, too
        Turn turn(sessions_.take());
        if (!turn.ready()) return turn.ready().error();
        // Begins at the first missing directory: above an export nothing can be created.
        std::vector<std::string> missing;
        for (std::string at = path; at.size() > 1; at = parent_of(at)) {
            const NfsStat found = look_at(turn, at, true);
            if (found.is(kDirectory)) break;
            if (found.error == 0) return error(ENOTDIR, "make the directory", path);
            if (found.error != ENOENT) return error(found.error, "make the directory", at);
            missing.push_back(at);
        }
        const int mode = static_cast<int>(without_umask(kDirectoryMode));
        for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
            const std::string where = turn.path(*at);
            const int number = -turn.run({calling(nfs_mkdir2_async, where.c_str(), mode)});
            // Another client has made it meanwhile, or something else with that name.
            const bool there = number == EEXIST && look_at(turn, *at, true).is(kDirectory);
            if (number != 0 && !there) return error(number, "make the directory", *at);
        }
        return {};
    }

    Result<void> rename(const std::string& from, const std::string& to) override {
        listed_->forget(from);
        listed_->forget(to);
        Turn turn(sessions_.take());
        if (!turn.ready()) return turn.ready().error();
        const NfsStat found = look_at(turn, from, false);
        if (found.error != 0) return error(found.error, "rename", from);
        const std::string old_path = turn.path(from), new_path = turn.path(to);
        if (found.is(kRegular)) {
            int number = -turn.run({calling(nfs_link_async, old_path.c_str(), new_path.c_str())});
            if (number == 0) {
                number = -turn.run({calling(nfs_unlink_async, old_path.c_str())});
                if (number == 0) return {};
                return error(number, "remove", from);
            }
            if (number != EOPNOTSUPP && number != EPERM && number != EMLINK && number != EIO &&
                number != EINVAL)
                return error(number, "rename to", to);
        }
        const NfsStat target = look_at(turn, to, false);
        if (target.error == 0) return error(EEXIST, "rename to", to);
        if (target.error != ENOENT) return error(target.error, "rename to", to);
        if (const int number = -turn.run({calling(nfs_rename_async, old_path.c_str(), new_path.c_str())}))
            return error(number, "rename to", to);
        return {};
    }

    /// Drops the cache: the next calls ask the server.
    Result<bool> set_aside(const std::string& from, const std::string& /*to*/) override {
        listed_->forget(from);
        return false;
    }
    Result<void> remove(const std::string& path) override {
        listed_->forget(path);
        Turn turn(sessions_.take());
        if (!turn.ready()) return turn.ready().error();
        const NfsStat found = look_at(turn, path, false);
        if (found.error != 0) return error(found.error, "remove", path);
        const std::string where = turn.path(path);
        const auto function = found.is(kDirectory) ? nfs_rmdir_async : nfs_unlink_async;
        if (const int number = -turn.run({calling(function, where.c_str())}))
            return error(number, "remove", path);
        return {};
    }

    Result<std::uint64_t> free_bytes(const std::string& path) override {
        Turn turn(sessions_.take());
        if (!turn.ready()) return turn.ready().error();
        // A path that does not exist yet will be on the file system of its nearest existing parent.
        for (std::string at = path;; at = parent_of(at)) {
            const std::string where = turn.path(at);
            std::uint64_t bytes = 0;
            const int result = turn.version() == 4 ? space4(turn, where, bytes) : space3(turn, where, bytes);
            if (result >= 0) return bytes;
            if (result != -ENOENT || at.size() <= 1) return error(-result, "look at", at);
        }
    }

    Result<void> evict(const std::string&) override { return {}; }

private:
    Error error(int number, const char* action, const std::string& path) const {
        return any_.error(number, action, path);
    }
    Result<void> expect_file(Turn& turn, const std::string& path) const {
        const NfsStat found = look_at(turn, path, true);
        if (found.error != 0) return error(found.error, "open", path);
        if (found.is(kDirectory)) return error(EISDIR, "open", path);
        if (found.is(kRegular)) return {};
        return bad_input(fmt::format("{}: expected a regular file", any_.name_of(path)));
    }

    const NfsSession any_;  // never connected: makes the error messages
    SessionPool<NfsSession> sessions_;
    std::shared_ptr<ListedFiles> listed_;
};

}  // namespace

std::unique_ptr<ByteStore> make_nfs_byte_store(const RemotePlace& place, const std::string& directory) {
    return std::make_unique<NfsByteStore>(place, directory);
}

}  // namespace streamsim::storage
