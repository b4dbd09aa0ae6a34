// A few helper processes (smb_process.h), each behind a mutex and started when it is first used; a single
// thread uses the first one only. When a process is lost, calls that change nothing are made again with a new
// one until RemotePlace::timeout has passed; a call that changes something fails, because it may or may not
// have been done. A file that is being written is lost with the process; one that is being read is opened
// again.
#include "storage/smb/smb_byte_store.h"

#include <fmt/format.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "base/path.h"
#include "storage/errno_text.h"
#include "storage/smb/smb_process.h"

namespace streamsim::storage {
namespace {

constexpr unsigned kBackoffMs = 100;

/// A file that is open in one process, and closed when that ends.
struct RemoteFile {
    std::int32_t number = -1;
    std::uint64_t process = 0;
};

/// A helper process and its calls. Thread-safe.
class Channel {
public:
    Channel(const RemotePlace& place, const std::string& directory, const Credentials& credentials)
        : place_(place),
          login_(place, directory.substr(0, directory.find('/', 1)), credentials),
          address_(place.addresses.empty() ? place.host : place.addresses.front()) {}

    std::string show(const std::string& path) const { return fmt::format("smb://{}{}", place_.host, path); }

    using Texts = std::initializer_list<std::string_view>;

    /// A call that changes nothing. Errors: connecting failed; the server's error is in the answer.
    Result<SmbAnswer> look(const SmbRequest& request, Texts texts) {
        const Turn turn(*this);
        const std::int64_t deadline = deadline_from_now();
        auto answer = once(request, texts, deadline);
        while (answer && answer->lost && uv_hrtime() < static_cast<std::uint64_t>(deadline))
            answer = once(request, texts, deadline);
        return answer;
    }

    /// As look(); returns the names in a directory, as the helper sends them.
    Result<SmbAnswer> list(const std::string& path, std::string& names) {
        const Turn turn(*this);
        const std::int64_t deadline = deadline_from_now();
        SmbRequest request;
        request.call = SmbCall::list;
        std::string_view from = path;
        for (;;) {
            auto answer = once(request, {from}, deadline);
            if (!answer) return answer;
            if (answer->lost && uv_hrtime() < static_cast<std::uint64_t>(deadline)) {
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
        const Turn turn(*this);
        return once(request, texts, deadline_from_now());
    }

    /// A call for an open file. EBADF: the file was open in an earlier process.
    Result<SmbAnswer> with_file(const RemoteFile& file,
                                SmbRequest request,
                                std::span<const std::byte> to_write,
                                std::span<std::byte> to_read) {
        const Turn turn(*this);
        if (process_ == nullptr || file.process != number_) {
            SmbAnswer gone;
            gone.error = EBADF;
            gone.lost = true;
            return gone;
        }
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
        SmbRequest request;
        request.call = call;
        auto answer = look(request, {path});  // creating twice is the same as once
        if (!answer) return answer.error();
        if (answer->error != 0)
            return file_error(answer->error, call == SmbCall::open ? "open" : "create", show(path));
        const Turn turn(*this);
        return RemoteFile{answer->file, number_};
    }

    void close(const RemoteFile& file) noexcept {
        SmbRequest request;
        request.call = SmbCall::close;
        try {
            (void)with_file(file, request, {}, {});
        } catch (const std::exception&) {
            return;  // the server closes it with the connection
        }
    }

    /// A thread has a turn, or waits for one.
    bool busy() const { return turns_ > 0; }

private:
    class Turn {
    public:
        explicit Turn(Channel& channel) : channel_(channel) {
            ++channel_.turns_;
            lock_ = std::unique_lock(channel_.mutex_);
        }
        ~Turn() { --channel_.turns_; }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

    private:
        Channel& channel_;
        std::unique_lock<std::mutex> lock_;
    };

    std::int64_t deadline_from_now() const {
        return static_cast<std::int64_t>(uv_hrtime()) + place_.timeout.ns;
    }

    Result<void> ensure_connected(std::int64_t deadline) {
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
            if (number_ == 0 || static_cast<std::int64_t>(uv_hrtime()) + kBackoffMs * 1'000'000 >= deadline)
                return answer.error();
            uv_sleep(kBackoffMs);
        }
    }

    Result<SmbAnswer> once(const SmbRequest& request, Texts texts, std::int64_t deadline) {
        SmbAnswer answer;
        if (!SmbProcess::fits(texts)) {
            answer.error = ENAMETOOLONG;
            return answer;
        }
        if (auto up = ensure_connected(deadline); !up) return up.error();
        (void)process_->send(request, texts);
        auto received = SmbProcess::Received::nothing;
        bool in_time = true;
        while (received == SmbProcess::Received::nothing && in_time) {
            in_time = await_readable(*process_, deadline);
            received = process_->receive(answer);
        }
        if (received != SmbProcess::Received::answer) {
            answer = {};
            answer.error = in_time ? EIO : ETIMEDOUT;
            answer.lost = true;
        }
        if (answer.lost) process_.reset();
        return answer;
    }

    const RemotePlace place_;
    const SmbLogin login_;
    const std::string address_;
    std::atomic<std::uint32_t> turns_{0};
    std::mutex mutex_;
    std::unique_ptr<SmbProcess> process_;  // protected by mutex_
    std::uint64_t number_ = 0;             // of processes so far; protected by mutex_
};

class Channels {
public:
    Channels(const RemotePlace& place, std::string directory, Credentials credentials)
        : place_(place), directory_(std::move(directory)), credentials_(std::move(credentials)) {
        all_.push_back(std::make_shared<Channel>(place_, directory_, credentials_));
    }

    /// A channel that no thread uses; one of the others, in turn, when there are enough.
    std::shared_ptr<Channel> take() {
        const std::lock_guard lock(mutex_);
        for (const auto& channel : all_) {
            if (!channel->busy()) return channel;
        }
        if (all_.size() == kChannelsMax) return all_[next_++ % all_.size()];
        return all_.emplace_back(std::make_shared<Channel>(place_, directory_, credentials_));
    }
    std::string show(const std::string& path) const { return fmt::format("smb://{}{}", place_.host, path); }

private:
    static constexpr std::size_t kChannelsMax = 4;

    const RemotePlace place_;
    const std::string directory_;
    const Credentials credentials_;
    std::mutex mutex_;
    std::vector<std::shared_ptr<Channel>> all_;  // protected by mutex_
    std::size_t next_ = 0;                       // protected by mutex_
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
            SmbRequest request;
            request.call = SmbCall::read;
            request.offset = offset + done;
            request.bytes = rest.size();
            const auto answer = ask(request, rest);
            if (!answer) return answer.error();
            done += answer->bytes;
            if (answer->bytes < rest.size()) break;
        }
        return done;
    }

    Result<std::uint64_t> size() override {
        SmbRequest request;
        request.call = SmbCall::size;
        const auto answer = ask(request, {});
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
            SmbRequest request;
            request.call = SmbCall::write;
            request.offset = offset;
            request.bytes = part.size();
            if (auto done = ask(request, part); !done) return done;
            offset += part.size();
            bytes = bytes.subspan(part.size());
        }
        return {};
    }

    Result<void> close() override {
        open_ = false;
        SmbRequest request;
        request.call = SmbCall::close;
        return ask(request, {});
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
        : channels_(place, directory, credentials) {}

    Result<std::vector<DirectoryEntry>> list(const std::string& directory) override;
    Result<std::optional<FileInfo>> stat(const std::string& path) override;
    Result<std::unique_ptr<ByteSource>> open(const std::string& path) override;
    Result<std::unique_ptr<ByteSink>> create(const std::string& path) override;
    Result<void> make_directories(const std::string& path) override;
    Result<void> rename(const std::string& from, const std::string& to) override {
        return change(SmbCall::rename, "rename to", to, {from, to});
    }
    Result<void> remove(const std::string& path) override {
        return change(SmbCall::remove, "remove", path, {path});
    }
    Result<std::uint64_t> free_bytes(const std::string& path) override;
    Result<void> evict(const std::string&) override { return {}; }  // this computer caches nothing

private:
    Result<void> change(SmbCall call, std::string_view action, const std::string& shown, Channel::Texts texts) {
        SmbRequest request;
        request.call = call;
        const auto answer = channels_.take()->change(request, texts);
        if (!answer) return answer.error();
        if (answer->error != 0) return file_error(answer->error, action, channels_.show(shown));
        return {};
    }

    Channels channels_;
};

Result<std::vector<DirectoryEntry>> SmbByteStore::list(const std::string& directory) {
    std::string names;
    const auto answer = channels_.take()->list(directory, names);
    if (!answer) return answer.error();
    if (answer->error != 0) return file_error(answer->error, "list", channels_.show(directory));
    std::vector<DirectoryEntry> entries;
    for (std::size_t at = 0; at < names.size();) {
        const std::string entry(names.c_str() + at);
        if (entry.size() > 1) entries.push_back({entry.substr(1), entry.front() == 'd', false});
        at += entry.size() + 1;
    }
    std::sort(entries.begin(), entries.end(),
              [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; });
    return entries;
}

Result<std::optional<FileInfo>> SmbByteStore::stat(const std::string& path) {
    SmbRequest request;
    request.call = SmbCall::stat;
    const auto answer = channels_.take()->look(request, {path});
    if (!answer) return answer.error();
    if (answer->error == ENOENT || answer->error == ENOTDIR) return std::optional<FileInfo>();
    if (answer->error != 0) return file_error(answer->error, "look at", channels_.show(path));
    return std::optional(FileInfo{answer->directory, answer->bytes, answer->modified_s, false});
}

Result<std::unique_ptr<ByteSource>> SmbByteStore::open(const std::string& path) {
    const auto channel = channels_.take();
    const auto file = channel->open(SmbCall::open, path);
    if (!file) return file.error();
    return std::unique_ptr<ByteSource>(std::make_unique<SmbSource>(channel, *file, path));
}

Result<std::unique_ptr<ByteSink>> SmbByteStore::create(const std::string& path) {
    const auto channel = channels_.take();
    const auto file = channel->open(SmbCall::create, path);
    if (!file) return file.error();
    return std::unique_ptr<ByteSink>(std::make_unique<SmbSink>(channel, *file, path));
}

Result<void> SmbByteStore::make_directories(const std::string& path) {
    for (std::size_t slash = path.find('/', path.find('/', 1) + 1);; slash = path.find('/', slash + 1)) {
        const std::string part = path.substr(0, slash);
        const auto there = stat(part);
        if (!there) return there.error();
        if (*there && !(*there)->directory)
            return file_error(ENOTDIR, "make the directory", channels_.show(path));
        if (!*there) {
            if (auto made = change(SmbCall::make_directory, "make the directory", part, {part}); !made)
                return made;
        }
        if (slash == std::string::npos) return {};
    }
}

Result<std::uint64_t> SmbByteStore::free_bytes(const std::string& path) {
    // A path that does not exist yet will be on the file system of its nearest existing parent.
    SmbRequest request;
    request.call = SmbCall::free_space;
    for (std::string at = path;; at = parent_of(at)) {
        const auto answer = channels_.take()->look(request, {at});
        if (!answer) return answer.error();
        if (answer->error == 0) return answer->bytes;
        if (answer->error != ENOENT || at.size() <= 1)
            return file_error(answer->error, "look at", channels_.show(at));
    }
}

}  // namespace

std::unique_ptr<ByteStore> make_smb_byte_store(const RemotePlace& place,
                                               const std::string& directory,
                                               const Credentials& credentials) {
    return std::make_unique<SmbByteStore>(place, directory, credentials);
}

}  // namespace streamsim::storage
