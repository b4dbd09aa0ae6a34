// A few helper processes (smb_process.h, session_pool.h), one for each thread that is at work. A process
// without an open file is idle, and goes to whoever needs one next: another thread, or the storage that plays
// (smb_sessions.h). The first login starts RemotePlace::connections processes. When a process is lost, calls
// that change nothing are made again with a new one until RemotePlace::timeout has passed; a call that changes
// something fails, because it may or may not have been done. A file that is being written is lost with the
// process; one that is being read is opened again.
#include <fmt/format.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/path.h"
#include "storage/backends.h"
#include "storage/clock_now.h"
#include "storage/errno_text.h"
#include "storage/listed_files.h"
#include "storage/remote/session_pool.h"
#include "storage/smb/smb_process.h"
#include "storage/smb/smb_sessions.h"

namespace streamsim::storage {
namespace {

constexpr Duration kBackoff = milliseconds(100);
constexpr std::size_t kChannelsMax = 4;

/// A file that is open in one process, and closed when that ends.
struct RemoteFile {
    std::int32_t number = -1;
    std::uint64_t process = 0;
};

/// The text before the next space, which is taken away with the space.
std::string_view take_word(std::string_view& text) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    return word;
}

/// An entry of SmbCall::list, "f 520448 1700000000 1700000060 NAME".
std::pair<std::string, FileInfo> listed_entry(std::string_view text) {
    FileInfo info;
    info.directory = take_word(text) == "d";
    info.bytes = whole_number<std::uint64_t>(take_word(text)).value_or(0);
    info.modified_s = whole_number<std::int64_t>(take_word(text)).value_or(0);
    info.changed_s = whole_number<std::int64_t>(take_word(text)).value_or(0);
    return {std::string(text), info};
}

FileInfo info_of(const SmbAnswer& answer) {
    FileInfo info;
    info.directory = answer.directory;
    info.bytes = answer.bytes;
    info.modified_s = answer.modified_s;
    info.changed_s = answer.changed_s;
    return info;
}

/// A helper process and its calls. Thread-safe.
class Channel {
public:
    Channel(const RemotePlace& place,
            const std::string& directory,
            const Credentials& credentials,
            std::shared_ptr<ListedFiles> listed)
        : place_(place),
          login_(place, directory, credentials),
          directory_(directory),
          listed_(std::move(listed)),
          address_(place.addresses.empty() ? place.host : place.addresses.front()),
          sessions_(place.sharing->of<SmbSessions>()) {}

    std::string show(const std::string& path) const { return place_.name_of(path); }

    using Texts = std::initializer_list<std::string_view>;

    /// Logs in, unless a connection is up.
    Result<void> connect() {
        const TurnLock turn(mutex_);
        auto up = ensure_connected(deadline_from_now());
        leave_session();
        return up;
    }

    /// A call that changes nothing. Errors: connecting failed; the server's error is in the answer.
    Result<SmbAnswer> look(const SmbRequest& request, Texts texts) {
        const TurnLock turn(mutex_);
        auto answer = look_in_turn(request, texts);
        leave_session();
        return answer;
    }

    /// As look(); returns the names in a directory, as the helper sends them.
    Result<SmbAnswer> list(const std::string& path, std::string& names) {
        const TurnLock turn(mutex_);
        auto answer = list_in_turn(path, names);
        leave_session();
        return answer;
    }

    Result<SmbAnswer> change(const SmbRequest& request, Texts texts) {
        const TurnLock turn(mutex_);
        auto answer = once(request, texts, deadline_from_now());
        leave_session();
        return answer;
    }

    /// A call for an open file. EBADF: the file was open in an earlier process.
    Result<SmbAnswer> with_file(const RemoteFile& file, SmbRequest request, std::span<std::byte> to_read) {
        const TurnLock turn(mutex_);
        if (!is_open(file)) return SmbAnswer{.error = EBADF, .lost = true};
        request.file = file.number;
        const auto slot = session_.process->slot(0);
        auto answer = once(request, {}, deadline_from_now());
        if (answer && answer->error == 0 && !to_read.empty()) {
            answer->bytes = std::min<std::uint64_t>(answer->bytes, to_read.size());
            std::memcpy(to_read.data(), slot.data(), answer->bytes);
        }
        if (request.call == SmbCall::close && open_files_ > 0) {
            --open_files_;
            failed_writes_.erase(file.number);
            if (writer_.file == file.number) writer_ = {};  // unsent data are dropped
        }
        leave_session();
        return answer;
    }

    /// Collects data to requests of a slot; one request is on its way while the next slot is filled. The error
    /// may be that of an earlier write.
    SmbAnswer write(const RemoteFile& file, std::uint64_t offset, std::span<const std::byte> bytes) {
        const TurnLock turn(mutex_);
        SmbAnswer answer = become_writer(file);
        while (answer.error == 0 && !bytes.empty()) {
            const bool follows = offset == writer_.offset + writer_.bytes;
            if (writer_.bytes > 0 && (!follows || writer_.bytes == kSmbSlotBytes)) {
                answer = send_collected();
                continue;
            }
            if (writer_.bytes == 0) writer_.offset = offset;
            const auto part = bytes.first(std::min(bytes.size(), kSmbSlotBytes - writer_.bytes));
            std::memcpy(session_.process->slot(writer_.slot).data() + writer_.bytes, part.data(), part.size());
            writer_.bytes += part.size();
            offset += part.size();
            bytes = bytes.subspan(part.size());
        }
        return answer;
    }

    /// The server has all that write() collected, or one of the writes failed.
    SmbAnswer finish_writes(const RemoteFile& file) {
        const TurnLock turn(mutex_);
        const SmbAnswer answer = become_writer(file);
        return answer.error != 0 ? answer : send_all();
    }

    Result<RemoteFile> open(SmbCall call, const std::string& path) {
        const TurnLock turn(mutex_);
        auto answer = look_in_turn({.call = call}, {path});  // creating twice is the same as once
        if (answer && answer->error == 0) {
            ++open_files_;
            return RemoteFile{answer->file, number_};
        }
        leave_session();
        if (!answer) return answer.error();
        return file_error(answer->error, call == SmbCall::open ? "open" : "create", show(path));
    }

    void close(const RemoteFile& file) noexcept {
        try {
            (void)with_file(file, {.call = SmbCall::close}, {});
        } catch (const std::exception&) {
            return;  // the server closes it with the connection
        }
    }

    /// A thread has a turn, or waits for one.
    bool busy() const { return mutex_.busy(); }

private:
    Instant deadline_from_now() const { return clock_now() + place_.timeout; }

    bool is_open(const RemoteFile& file) const REQUIRES(mutex_) {
        return session_.process != nullptr && file.process == number_;
    }

    /// Another file that was written in this process is finished first; its error waits for its next call.
    SmbAnswer become_writer(const RemoteFile& file) REQUIRES(mutex_) {
        if (!is_open(file)) return {.error = EBADF, .lost = true};
        if (writer_.file != file.number) {
            const SmbAnswer other = send_all();
            if (other.error != 0) failed_writes_[writer_.file] = other;
            if (other.lost) return other;
            writer_ = {.file = file.number};
        }
        const auto failed = failed_writes_.find(file.number);
        return failed == failed_writes_.end() ? SmbAnswer{} : failed->second;
    }

    /// Sends the collected data, and then waits for the answer to the request before.
    SmbAnswer send_collected() REQUIRES(mutex_) {
        if (writer_.bytes == 0) return {};
        const SmbRequest request{.call = SmbCall::write,
                                 .file = writer_.file,
                                 .slot = writer_.slot,
                                 .offset = writer_.offset,
                                 .bytes = std::exchange(writer_.bytes, 0)};
        writer_.slot = writer_.slot == 1 ? 2 : 1;
        (void)session_.process->send(request);
        if (!std::exchange(writer_.waits, true)) return {};
        const SmbAnswer answer = receive(deadline_from_now());
        if (answer.error != 0 && !answer.lost) (void)take_written();
        return answer;
    }

    /// The answer to the last request of the writer, if it has not been received.
    SmbAnswer take_written() REQUIRES(mutex_) {
        return std::exchange(writer_.waits, false) ? receive(deadline_from_now()) : SmbAnswer{};
    }

    SmbAnswer send_all() REQUIRES(mutex_) {
        const SmbAnswer sent = send_collected();
        return sent.error != 0 ? sent : take_written();
    }

    /// The next answer; `lost`: there is none, and the process is ended.
    SmbAnswer receive(Instant deadline) REQUIRES(mutex_) {
        SmbAnswer answer;
        auto received = SmbProcess::Received::nothing;
        bool in_time = true;
        while (received == SmbProcess::Received::nothing && in_time) {
            in_time = await_readable(*session_.process, deadline);
            received = session_.process->receive(answer);
        }
        if (received != SmbProcess::Received::answer)
            answer = {.error = in_time ? EIO : ETIMEDOUT, .lost = true};
        if (!answer.lost) return answer;
        session_ = {};
        writer_ = {};
        failed_writes_.clear();
        if (answer.error == 0) answer.error = EIO;
        return answer;
    }

    Result<void> ensure_connected(Instant deadline) REQUIRES(mutex_) {
        if (session_.process != nullptr) return {};
        for (;;) {
            auto session = sessions_->take(login_.identity(address_));
            const bool is_new = !session;
            if (is_new) {
                auto started = start_smb_session(login_, address_);
                if (!started) return started.error();
                session = std::move(*started);
            }
            const auto answer = session->connected
                                    ? Result<SmbAnswer>(*session->connected)
                                    : await_connected(*session->process, login_, address_, deadline);
            if (answer) {
                if (is_new && answer->directory) listed_->put_directory(directory_, info_of(*answer));
                session_ = std::move(*session);
                session_.connected = *answer;
                ++number_;
                open_files_ = 0;
                if (sessions_->is_first()) start_others(*answer);
                return {};
            }
            // A server that answered before may come back; one that never did is an error at once.
            if (number_ == 0 || clock_now() + kBackoff >= deadline) return answer.error();
            uv_sleep(static_cast<unsigned>(kBackoff.ns / 1'000'000));
        }
    }

    /// Other threads and playing will want them. Not before the server has accepted the password once: it may
    /// lock out a user after several wrong ones.
    void start_others(const SmbAnswer& known) {
        for (std::uint32_t i = 1; i < place_.connections; ++i) {
            auto started = start_smb_session(login_, address_, known);
            if (!started) return;  // whoever needs another one will hear why
            sessions_->leave(std::move(*started));
        }
    }

    /// Lets others use the connection, unless a file is open in it.
    void leave_session() REQUIRES(mutex_) {
        if (session_.process != nullptr && open_files_ == 0) sessions_->leave(std::exchange(session_, {}));
    }

    Result<SmbAnswer> look_in_turn(const SmbRequest& request, Texts texts) REQUIRES(mutex_) {
        const Instant deadline = deadline_from_now();
        auto answer = once(request, texts, deadline);
        while (answer && answer->lost && clock_now() < deadline) answer = once(request, texts, deadline);
        return answer;
    }

    Result<SmbAnswer> list_in_turn(const std::string& path, std::string& names) REQUIRES(mutex_) {
        Instant deadline = deadline_from_now();
        std::string_view from = path;
        for (bool was_lost = false;;) {
            auto answer = once({.call = SmbCall::list}, {from}, deadline);
            if (!answer) return answer;
            if (answer->lost && clock_now() < deadline) {
                names.clear();  // the new process lists from the beginning
                from = path;
                was_lost = true;
                continue;
            }
            if (answer->error != 0) return answer;
            const auto got =
                session_.process->slot(0).first(std::min<std::uint64_t>(answer->bytes, kSmbSlotBytes));
            names.append(reinterpret_cast<const char*>(got.data()), got.size());
            if (!answer->more) return answer;
            from = {};
            if (!was_lost) deadline = deadline_from_now();
        }
    }

    Result<SmbAnswer> once(const SmbRequest& request, Texts texts, Instant deadline) REQUIRES(mutex_) {
        if (!SmbProcess::fits(texts)) return SmbAnswer{.error = ENAMETOOLONG};
        if (auto up = ensure_connected(deadline); !up) return up.error();
        if (writer_.waits) {
            const SmbAnswer written = take_written();
            if (written.lost) return written;
            if (written.error != 0) failed_writes_[writer_.file] = written;
        }
        (void)session_.process->send(request, texts);
        return receive(deadline);
    }

    /// The file that is being written, and its data that have not been sent.
    struct Writer {
        std::int32_t file = -1;
        std::uint32_t slot = 1;  // 1 or 2; slot 0 is for all other requests
        std::uint64_t offset = 0;
        std::size_t bytes = 0;
        bool waits = false;  // for the answer to its last request
    };

    const RemotePlace place_;
    const SmbLogin login_;
    const std::string directory_;
    const std::shared_ptr<ListedFiles> listed_;
    const std::string address_;
    const std::shared_ptr<SmbSessions> sessions_;
    TurnMutex mutex_;
    SmbSession session_ GUARDED_BY(mutex_);            // without a process: none
    std::uint64_t number_ GUARDED_BY(mutex_) = 0;      // of processes so far
    std::uint32_t open_files_ GUARDED_BY(mutex_) = 0;  // in this process
    Writer writer_ GUARDED_BY(mutex_);
    std::map<std::int32_t, SmbAnswer> failed_writes_ GUARDED_BY(mutex_);  // by file
};

class SmbSource final : public ByteSource {
public:
    /// `bytes`: the size, where a list has just told it.
    SmbSource(std::shared_ptr<Channel> channel,
              RemoteFile file,
              std::string path,
              std::optional<std::uint64_t> bytes)
        : channel_(std::move(channel)), file_(file), path_(std::move(path)), bytes_(bytes) {}
    ~SmbSource() override { channel_->close(file_); }

    Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
        std::size_t done = 0;
        while (done < into.size()) {
            const auto rest = into.subspan(done, std::min(into.size() - done, kSmbSlotBytes));
            const auto answer =
                ask({.call = SmbCall::read, .offset = offset + done, .bytes = rest.size()}, rest);
            if (!answer) return answer.error();
            done += answer->bytes;
            if (answer->bytes < rest.size()) break;
        }
        return done;
    }

    Result<std::uint64_t> size() override {
        if (bytes_) return *bytes_;
        const auto answer = ask({.call = SmbCall::size}, {});
        if (!answer) return answer.error();
        return answer->bytes;
    }

private:
    /// Opens the file once more after a lost connection.
    Result<SmbAnswer> ask(const SmbRequest& request, std::span<std::byte> into) {
        auto answer = channel_->with_file(file_, request, into);
        if (answer && answer->lost) {
            auto again = channel_->open(SmbCall::open, path_);
            if (!again) return again.error();
            file_ = *again;
            answer = channel_->with_file(file_, request, into);
        }
        if (answer && answer->error != 0) return file_error(answer->error, "read", channel_->show(path_));
        return answer;
    }

    std::shared_ptr<Channel> channel_;
    RemoteFile file_;
    std::string path_;
    std::optional<std::uint64_t> bytes_;
};

class SmbSink final : public ByteSink {
public:
    SmbSink(std::shared_ptr<Channel> channel,
            std::shared_ptr<ListedFiles> listed,
            RemoteFile file,
            std::string path)
        : channel_(std::move(channel)), listed_(std::move(listed)), file_(file), path_(std::move(path)) {}
    ~SmbSink() override {
        listed_->forget(path_);
        if (open_) channel_->close(file_);
    }

    Result<void> write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
        return result(channel_->write(file_, offset, bytes));
    }

    Result<void> close() override {
        listed_->forget(path_);
        if (auto written = result(channel_->finish_writes(file_)); !written) return written;
        open_ = false;
        const auto closed = channel_->with_file(file_, {.call = SmbCall::close}, {});
        return closed ? result(*closed) : closed.error();
    }

private:
    Result<void> result(const SmbAnswer& answer) const {
        if (answer.lost)
            return environment_error(
                fmt::format("cannot write {}: the connection was lost", channel_->show(path_)));
        if (answer.error != 0) return file_error(answer.error, "write", channel_->show(path_));
        return {};
    }

    std::shared_ptr<Channel> channel_;
    std::shared_ptr<ListedFiles> listed_;
    RemoteFile file_;
    std::string path_;
    bool open_ = true;
};

class SmbByteStore final : public ByteStore {
public:
    SmbByteStore(const RemotePlace& place, const std::string& directory, const Credentials& credentials)
        : place_(place), channels_(kChannelsMax, [=, listed = listed_] {
              return std::make_shared<Channel>(place, directory, credentials, listed);
          }) {}

    Result<std::vector<DirectoryEntry>> list(const std::string& directory) override {
        if (const auto known = listed_->list(directory)) return *known;
        std::string names;
        const auto answer = channels_.take()->list(directory, names);
        if (!answer) return answer.error();
        if (answer->error != 0) return file_error(answer->error, "list", show(directory));
        std::vector<DirectoryEntry> entries;
        ListedFiles::Files files;
        for (std::size_t at = 0; at < names.size();) {
            const std::string_view text(names.c_str() + at);
            auto [name, info] = listed_entry(text);
            if (!name.empty()) entries.push_back({name, info.directory, false});
            files.insert_or_assign(std::move(name), info);
            at += text.size() + 1;
        }
        std::sort(entries.begin(), entries.end());
        listed_->put(directory, entries, std::move(files));
        return entries;
    }

    Result<std::optional<FileInfo>> stat(const std::string& path) override {
        if (const auto known = listed_->find(path)) return *known;
        const auto channel = channels_.take();
        // Logging in looks at the directory of this store, which is often what is asked for first.
        if (auto up = channel->connect(); !up) return up.error();
        if (const auto known = listed_->find(path)) return *known;
        const auto answer = channel->look({.call = SmbCall::stat}, {path});
        if (!answer) return answer.error();
        if (answer->error == ENOENT || answer->error == ENOTDIR) return std::optional<FileInfo>();
        if (answer->error != 0) return file_error(answer->error, "look at", show(path));
        const FileInfo info = info_of(*answer);
        if (info.directory) listed_->put_directory(path, info);
        return std::optional(info);
    }

    Result<std::unique_ptr<ByteSource>> open(const std::string& path) override {
        const auto channel = channels_.take();
        const auto file = channel->open(SmbCall::open, path);
        if (!file) return file.error();
        std::optional<std::uint64_t> bytes;
        if (const auto known = listed_->find(path); known && *known) bytes = (*known)->bytes;
        return std::unique_ptr<ByteSource>(std::make_unique<SmbSource>(channel, *file, path, bytes));
    }

    Result<std::unique_ptr<ByteSink>> create(const std::string& path) override {
        listed_->forget(path);
        const auto channel = channels_.take();
        const auto file = channel->open(SmbCall::create, path);
        if (!file) return file.error();
        return std::unique_ptr<ByteSink>(std::make_unique<SmbSink>(channel, listed_, *file, path));
    }

    Result<void> make_directories(const std::string& path) override {
        listed_->forget_all();  // directories above may be created, too
        for (std::size_t slash = path.find('/', path.find('/', 1) + 1);; slash = path.find('/', slash + 1)) {
            const std::string part = path.substr(0, slash);
            const auto there = stat(part);
            if (!there) return there.error();
            if (*there && !(*there)->directory) return file_error(ENOTDIR, "make the directory", show(path));
            if (!*there) {
                if (auto made = change(SmbCall::make_directory, "make the directory", part, {part}); !made)
                    return made;
            }
            if (slash == std::string::npos) return {};
        }
    }

    Result<void> rename(const std::string& from, const std::string& to) override {
        listed_->forget(from);
        listed_->forget(to);
        return change(SmbCall::rename, "rename to", to, {from, to});
    }
    /// Drops the cache: the next calls ask the server.
    Result<bool> set_aside(const std::string& from, const std::string& /*to*/) override {
        listed_->forget(from);
        return false;
    }
    Result<void> remove(const std::string& path) override {
        listed_->forget(path);
        return change(SmbCall::remove, "remove", path, {path});
    }
    Result<std::uint64_t> free_bytes(const std::string& path) override {
        // A path that does not exist yet will be on the file system of its nearest existing parent.
        for (std::string at = path;; at = parent_of(at)) {
            const auto answer = channels_.take()->look({.call = SmbCall::free_space}, {at});
            if (!answer) return answer.error();
            if (answer->error == 0) return answer->bytes;
            if (answer->error != ENOENT || at.size() <= 1)
                return file_error(answer->error, "look at", show(at));
        }
    }

    Result<void> evict(const std::string&) override { return {}; }  // this computer caches nothing

private:
    Result<void> change(SmbCall call, std::string_view action, const std::string& shown, Channel::Texts texts) {
        const auto answer = channels_.take()->change({.call = call}, texts);
        if (!answer) return answer.error();
        if (answer->error != 0) return file_error(answer->error, action, show(shown));
        return {};
    }

    std::string show(const std::string& path) const { return place_.name_of(path); }

    const RemotePlace place_;
    const std::shared_ptr<ListedFiles> listed_ = std::make_shared<ListedFiles>();
    SessionPool<Channel> channels_;
};

}  // namespace

std::unique_ptr<ByteStore> make_smb_byte_store(const RemotePlace& place,
                                               const std::string& directory,
                                               const Credentials& credentials) {
    return std::make_unique<SmbByteStore>(place, directory, credentials);
}

}  // namespace streamsim::storage
