#include "streamsim/byte_store.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/byte_order.h"

namespace streamsim {

struct DirectoryNames::Key {
    std::uint64_t bytes = 0;  // zeros behind the end of the name, which has no zeros
    std::size_t entry = 0;
};

void DirectoryNames::add(std::string_view name, bool directory, bool symbolic_link) {
    entries_.push_back({names_.size(), static_cast<std::uint32_t>(name.size()), directory, symbolic_link});
    names_ += name;
}

std::vector<DirectoryEntry> DirectoryNames::list() const {
    std::vector<DirectoryEntry> list;
    list.reserve(entries_.size());
    for (const Entry& entry : entries_) list.push_back(make(entry));
    return list;
}

// The names of a sequence have a long beginning in common. Compared is the number that the eight bytes behind
// it make, and the whole name only where two are equal.
std::vector<DirectoryEntry> DirectoryNames::sorted() const {
    const std::size_t common = common_beginning();
    std::vector<Key> keys(entries_.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        std::array<std::byte, sizeof(std::uint64_t)> bytes{};
        const std::string_view rest = name(entries_[i]).substr(common);
        std::memcpy(bytes.data(), rest.data(), std::min(bytes.size(), rest.size()));
        keys[i] = {load<std::uint64_t>(bytes, 0, true), i};
    }
    sort_by_bytes(keys);
    for (auto begin = keys.begin(); begin != keys.end();) {
        const auto end =
            std::find_if(begin, keys.end(), [&](const Key& key) { return key.bytes != begin->bytes; });
        if (end - begin > 1) {
            std::sort(begin, end, [this](const Key& a, const Key& b) {
                return name(entries_[a.entry]) < name(entries_[b.entry]);
            });
        }
        begin = end;
    }
    std::vector<DirectoryEntry> sorted;
    sorted.reserve(keys.size());
    for (const Key& key : keys) sorted.push_back(make(entries_[key.entry]));
    return sorted;
}

/// Bytes with which every name begins.
std::size_t DirectoryNames::common_beginning() const {
    if (entries_.empty()) return 0;
    std::string_view common = name(entries_.front());
    for (const Entry& entry : entries_) {
        const std::string_view other = name(entry);
        if (other.starts_with(common)) continue;
        const auto [end, ignored] = std::mismatch(common.begin(), common.end(), other.begin(), other.end());
        common = common.substr(0, static_cast<std::size_t>(end - common.begin()));
    }
    return common.size();
}

/// By the last byte first, then by the one before: each pass keeps the order of equals. Most bytes of the names
/// of a sequence are the same in all, and need no pass.
void DirectoryNames::sort_by_bytes(std::vector<Key>& keys) {
    std::vector<Key> from = std::move(keys);
    std::vector<Key> to(from.size());
    for (unsigned shift = 0; shift < 64; shift += 8) {
        std::array<std::size_t, 256> begin{};
        for (const Key& key : from) ++begin[key.bytes >> shift & 0xff];
        if (std::find(begin.begin(), begin.end(), from.size()) != begin.end()) continue;
        std::exclusive_scan(begin.begin(), begin.end(), begin.begin(), std::size_t{0});
        for (const Key& key : from) to[begin[key.bytes >> shift & 0xff]++] = key;
        std::swap(from, to);
    }
    keys = std::move(from);
}

ByteSource::~ByteSource() = default;
ByteSink::~ByteSink() = default;
ByteStore::~ByteStore() = default;

Result<void> ByteSource::read_each(std::span<Piece> pieces) {
    for (Piece& piece : pieces) {
        const auto got = read_at(piece.offset, piece.into);
        if (!got) return got.error();
        piece.got = *got;
    }
    return {};
}

Result<std::uint64_t> ByteSource::hole_bytes(std::uint64_t /*offset*/) {
    return std::uint64_t{0};
}

Result<std::vector<DirectoryEntry>> ByteStore::list_some(const std::string& directory, std::size_t /*count*/) {
    return list(directory);
}

Result<bool> ByteStore::set_aside(const std::string& /*from*/, const std::string& /*to*/) {
    return false;
}

Result<void> ByteStore::remove_directory(const std::string& path) {
    const auto info = stat(path);
    if (!info) return info.error();
    if (info->has_value() && (!(*info)->directory || (*info)->symbolic_link))
        return environment_error(path + ": not a directory, so it was not removed");
    return remove(path);
}

Result<std::uint64_t> ByteStore::total_bytes(const std::string& path) {
    return environment_error(path + ": the size of its file system is not available");
}

Result<LockAttempt> ByteStore::try_lock(const std::string& /*path*/,
                                        LockMode /*mode*/,
                                        const std::string& /*note*/) {
    return LockAttempt{};
}

namespace {

/// The default of ByteStore::beneath(): checks each component of a path before it is used.
class CheckedByteStore final : public ByteStore {
public:
    /// REQUIRES: `inner` outlives this store.
    CheckedByteStore(ByteStore& inner, std::string directory)
        : inner_(inner), directory_(std::move(directory)) {}

    Result<std::vector<DirectoryEntry>> list(const std::string& directory) override {
        if (auto safe = check(directory, true); !safe) return safe.error();
        auto entries = inner_.list(directory);
        if (!entries) return entries.error();
        for (DirectoryEntry& entry : *entries) entry.directory = entry.directory && !entry.symbolic_link;
        return entries;
    }
    Result<std::optional<FileInfo>> stat(const std::string& path) override {
        if (auto safe = check(path, false); !safe) return safe.error();
        auto info = inner_.stat(path);
        if (info && info->has_value() && (*info)->symbolic_link && path != directory_) {
            **info = FileInfo{};
            (*info)->symbolic_link = true;
        }
        return info;
    }
    Result<std::unique_ptr<ByteSource>> open(const std::string& path) override {
        if (auto safe = check(path, true); !safe) return safe.error();
        return inner_.open(path);
    }
    Result<std::unique_ptr<ByteSink>> create(const std::string& path) override {
        if (auto safe = check(path, false); !safe) return safe.error();
        return inner_.create(path);
    }
    Result<void> make_directories(const std::string& path) override {
        if (auto safe = check(path, true); !safe) return safe;
        return inner_.make_directories(path);
    }
    Result<void> rename(const std::string& from, const std::string& to) override {
        if (auto safe = check(from, false); !safe) return safe;
        if (auto safe = check(to, false); !safe) return safe;
        return inner_.rename(from, to);
    }
    Result<bool> set_aside(const std::string& from, const std::string& to) override {
        if (auto safe = check(from, false); !safe) return safe.error();
        return inner_.set_aside(from, to);
    }
    Result<void> remove(const std::string& path) override {
        if (auto safe = check(path, false); !safe) return safe;
        return inner_.remove(path);
    }
    Result<std::uint64_t> free_bytes(const std::string& path) override { return inner_.free_bytes(path); }
    Result<std::uint64_t> total_bytes(const std::string& path) override { return inner_.total_bytes(path); }
    Result<void> evict(const std::string& path) override {
        if (auto safe = check(path, true); !safe) return safe;
        return inner_.evict(path);
    }
    /// The store of a directory below does not check the path to that directory again.
    Result<std::unique_ptr<ByteStore>> beneath(const std::string& directory) override {
        if (auto safe = check(directory, true); !safe) return safe.error();
        return std::unique_ptr<ByteStore>(std::make_unique<CheckedByteStore>(inner_, directory));
    }

private:
    /// Checks that no component below the directory is a link; the last one only when `last_too`.
    Result<void> check(const std::string& path, bool last_too) {
        if (path == directory_) return {};
        if (!path.starts_with(directory_) || (!directory_.ends_with('/') && path[directory_.size()] != '/') ||
            (path + '/').find("/../") != std::string::npos)
            return environment_error(path + ": is not below " + directory_);
        for (std::size_t slash = path.find('/', directory_.size() + 1);; slash = path.find('/', slash + 1)) {
            if (slash == std::string::npos && !last_too) return {};
            const auto info = inner_.stat(path.substr(0, slash));
            if (!info) return info.error();
            if (!info->has_value()) return {};
            if ((*info)->symbolic_link)
                return environment_error(path.substr(0, slash) +
                                         ": found a symbolic link where streamsim made a file or directory; "
                                         "it is not followed");
            if (slash == std::string::npos) return {};
        }
    }

    ByteStore& inner_;
    std::string directory_;
};

}  // namespace

Result<std::unique_ptr<ByteStore>> ByteStore::beneath(const std::string& directory) {
    return std::unique_ptr<ByteStore>(std::make_unique<CheckedByteStore>(*this, directory));
}

}  // namespace streamsim
