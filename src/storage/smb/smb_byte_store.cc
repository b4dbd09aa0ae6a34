// A few helper processes (smb_process.h, session_pool.h), each started when it is first used; a single
// thread uses the first one only. When a process is lost, calls that change nothing are made again with a new
// one until RemotePlace::timeout has passed; a call that changes something fails, because it may or may not
// have been done. A file that is being written is lost with the process; one that is being read is opened
// again.
#include <fmt/format.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>
#include <vector>

#include "base/path.h"
#include "storage/backends.h"
#include "storage/clock_now.h"
#include "storage/errno_text.h"
#include "storage/remote/session_pool.h"
#include "storage/smb/smb_process.h"

namespace streamsim::storage {
namespace {

constexpr Duration kBackoff = milliseconds(100);
constexpr std::size_t kChannelsMax = 4;

/// A file that is open in one process, and closed when that ends.
struct RemoteFile {
    std::int32_t number = -1;
    std::uint64_t process = 0;
};

std::string show_smb(const RemotePlace& place, const std::string& path) {
    return fmt::format("smb://{}{}", place.host, path);
}

/// A helper process and its calls. Thread-safe.
class Channel {
public:
    Channel(const RemotePlace& place, const std::string& directory, const Credentials& credentials)
        : place_(place),
          login_(place, directory.substr(0, directory.find('/', 1)), credentials),
          address_(place.addresses.empty() ? place.host : place.addresses.front()) {}

    std::string show(const std::string& path) const { return show_smb(place_, path); }

    using Texts = std::initializer_list<std::string_view>;

    /// A call that changes nothing. Errors: connecting failed; the server's error is in the answer.
    Result<SmbAnswer> look(const SmbRequest& request, Texts texts) {
        const TurnLock turn(mutex_);
        const Instant deadline = deadline_from_now();
        auto answer = once(request, texts, deadline);
        while (answer && answer->lost && clock_now() < deadline) answer = once(request, texts, deadline);
        return answer;
    }

    /// As look(); returns the names in a directory, as the helper sends them.
    Result<SmbAnswer> list(const std::string& path, std::string& names) {
        const TurnLock turn(mutex_);
        const Instant deadline = deadline_from_now();
        std::string_view from = path;
        for (;;) {
            auto answer = once({.call = SmbCall::list}, {from}, deadline);
            if (!answer) return answer;
            if (answer->lost && clock_now() < deadline) {
                names.clear();  // the new process lists from the beginning
                from = path;
                continue;
            }
            if (answer->error != 0) return answer;
            const auto got = process_->slot(0).first(std::min<std::uint64_t>(answer->bytes, kSmbSlotBytes));
            names.append(reinterpret_cast<const char*>(got.data()), got.size());
            if (!answer->more) return answer;
            from = {};
        }
    }

    Result<SmbAnswer> change(const SmbRequest& request, Texts texts) {
        const TurnLock turn(mutex_);
        return once(request, texts, deadline_from_now());
    }

    /// A call for an open file. EBADF: the file was open in an earlier process.
    Result<SmbAnswer> with_file(const RemoteFile& file,
                                SmbRequest request,
                                std::span<const std::byte> to_write,
                                std::span<std::byte> to_read) {
        const TurnLock turn(mutex_);
        if (process_ == nullptr || file.process != number_) return SmbAnswer{.error = EBADF, .lost = true};
        request.file = file.number;
        const auto slot = process_->slot(0);
        if (!to_write.empty()) std::memcpy(slot.data(), to_write.data(), to_write.size());
        auto answer = once(request, {}, deadline_from_now());
        if (answer && answer->error == 0 && !to_read.empty()) {
            answer->bytes = std::min<std::uint64_t>(answer->bytes, to_read.size());
            std::memcpy(to_read.data(), slot.data(), answer->bytes);
        }
        return answer;
    }

    Result<RemoteFile> open(SmbCall call, const std::string& path) {
        auto answer = look({.call = call}, {path});  // creating twice is the same as once
        if (!answer) return answer.error();
        if (answer->error != 0)
            return file_error(answer->error, call == SmbCall::open ? "open" : "create", show(path));
        const TurnLock turn(mutex_);
        return RemoteFile{answer->file, number_};
    }

    void close(const RemoteFile& file) noexcept {
        try {
            (void)with_file(file, {.call = SmbCall::close}, {}, {});
        } catch (const std::exception&) {
            return;  // the server closes it with the connection
        }
    }

    /// A thread has a turn, or waits for one.
    bool busy() const { return mutex_.busy(); }

private:
    Instant deadline_from_now() const { return clock_now() + place_.timeout; }

    Result<void> ensure_connected(Instant deadline) REQUIRES(mutex_) {
        if (process_ != nullptr) return {};
        for (;;) {
            auto process = SmbProcess::start(1);
            if (!process) return process.error();
            (void)login_.ask(**process, address_, 0);
            const auto answer = await_connected(**process, login_, address_, deadline);
            if (answer) {
                process_ = std::move(*process);
                ++number_;
                return {};
            }
            // A server that answered before may come back; one that never did is an error at once.
            if (number_ == 0 || clock_now() + kBackoff >= deadline) return answer.error();
            uv_sleep(static_cast<unsigned>(kBackoff.ns / 1'000'000));
        }
    }

    Result<SmbAnswer> once(const SmbRequest& request, Texts texts, Instant deadline) REQUIRES(mutex_) {
        if (!SmbProcess::fits(texts)) return SmbAnswer{.error = ENAMETOOLONG};
        if (auto up = ensure_connected(deadline); !up) return up.error();
        (void)process_->send(request, texts);
        SmbAnswer answer;
        auto received = SmbProcess::Received::nothing;
        bool in_time = true;
        while (received == SmbProcess::Received::nothing && in_time) {
            in_time = await_readable(*process_, deadline);
            received = process_->receive(answer);
        }
        if (received != SmbProcess::Received::answer)
            answer = {.error = in_time ? EIO : ETIMEDOUT, .lost = true};
        if (answer.lost) process_.reset();
        return answer;
    }

    const RemotePlace place_;
    const SmbLogin login_;
    const std::string address_;
    TurnMutex mutex_;
    std::unique_ptr<SmbProcess> process_ GUARDED_BY(mutex_);
    std::uint64_t number_ GUARDED_BY(mutex_) = 0;  // of processes so far
};

class SmbSource final : public ByteSource {
public:
    SmbSource(std::shared_ptr<Channel> channel, RemoteFile file, std::string path)
        : channel_(std::move(channel)), file_(file), path_(std::move(path)) {}
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
        const auto answer = ask({.call = SmbCall::size}, {});
        if (!answer) return answer.error();
        return answer->bytes;
    }

private:
    /// Opens the file once more after a lost connection.
    Result<SmbAnswer> ask(const SmbRequest& request, std::span<std::byte> into) {
        auto answer = channel_->with_file(file_, request, {}, into);
        if (answer && answer->lost) {
            auto again = channel_->open(SmbCall::open, path_);
            if (!again) return again.error();
            file_ = *again;
            answer = channel_->with_file(file_, request, {}, into);
        }
        if (answer && answer->error != 0) return file_error(answer->error, "read", channel_->show(path_));
        return answer;
    }

    std::shared_ptr<Channel> channel_;
    RemoteFile file_;
    std::string path_;
};

class SmbSink final : public ByteSink {
public:
    SmbSink(std::shared_ptr<Channel> channel, RemoteFile file, std::string path)
        : channel_(std::move(channel)), file_(file), path_(std::move(path)) {}
    ~SmbSink() override {
        if (open_) channel_->close(file_);
    }

    Result<void> write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
        while (!bytes.empty()) {
            const auto part = bytes.first(std::min(bytes.size(), kSmbSlotBytes));
            const SmbRequest request{.call = SmbCall::write, .offset = offset, .bytes = part.size()};
            if (auto done = ask(request, part); !done) return done;
            offset += part.size();
            bytes = bytes.subspan(part.size());
        }
        return {};
    }

    Result<void> close() override {
        open_ = false;
        return ask({.call = SmbCall::close}, {});
    }

private:
    Result<void> ask(const SmbRequest& request, std::span<const std::byte> bytes) {
        const auto answer = channel_->with_file(file_, request, bytes, {});
        if (!answer) return answer.error();
        if (answer->lost)
            return environment_error(
                fmt::format("cannot write {}: the connection was lost", channel_->show(path_)));
        if (answer->error != 0) return file_error(answer->error, "write", channel_->show(path_));
        return {};
    }

    std::shared_ptr<Channel> channel_;
    RemoteFile file_;
    std::string path_;
    bool open_ = true;
};

class SmbByteStore final : public ByteStore {
public:
    SmbByteStore(const RemotePlace& place, const std::string& directory, const Credentials& credentials)
        : place_(place),
          channels_(kChannelsMax, [=] { return std::make_shared<Channel>(place, directory, credentials); }) {}

    Result<std::vector<DirectoryEntry>> list(const std::string& directory) override {
        std::string names;
        const auto answer = channels_.take()->list(directory, names);
        if (!answer) return answer.error();
        if (answer->error != 0) return file_error(answer->error, "list", show(directory));
        std::vector<DirectoryEntry> entries;
        for (std::size_t at = 0; at < names.size();) {
            const std::string entry(names.c_str() + at);
            if (entry.size() > 1) entries.push_back({entry.substr(1), entry.front() == 'd', false});
            at += entry.size() + 1;
        }
        std::sort(entries.begin(), entries.end());
        return entries;
    }

    Result<std::optional<FileInfo>> stat(const std::string& path) override {
        const auto answer = channels_.take()->look({.call = SmbCall::stat}, {path});
        if (!answer) return answer.error();
        if (answer->error == ENOENT || answer->error == ENOTDIR) return std::optional<FileInfo>();
        if (answer->error != 0) return file_error(answer->error, "look at", show(path));
        return std::optional(FileInfo{answer->directory, answer->bytes, answer->modified_s, false});
    }

    Result<std::unique_ptr<ByteSource>> open(const std::string& path) override {
        const auto channel = channels_.take();
        const auto file = channel->open(SmbCall::open, path);
        if (!file) return file.error();
        return std::unique_ptr<ByteSource>(std::make_unique<SmbSource>(channel, *file, path));
    }

    Result<std::unique_ptr<ByteSink>> create(const std::string& path) override {
        const auto channel = channels_.take();
        const auto file = channel->open(SmbCall::create, path);
        if (!file) return file.error();
        return std::unique_ptr<ByteSink>(std::make_unique<SmbSink>(channel, *file, path));
    }

    Result<void> make_directories(const std::string& path) override {
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
        return change(SmbCall::rename, "rename to", to, {from, to});
    }
    Result<void> remove(const std::string& path) override {
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

    std::string show(const std::string& path) const { return show_smb(place_, path); }

    const RemotePlace place_;
    SessionPool<Channel> channels_;
};

}  // namespace

std::unique_ptr<ByteStore> make_smb_byte_store(const RemotePlace& place,
                                               const std::string& directory,
                                               const Credentials& credentials) {
    return std::make_unique<SmbByteStore>(place, directory, credentials);
}

}  // namespace streamsim::storage
