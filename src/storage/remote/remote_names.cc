#include "storage/remote/remote_names.h"

#include <cstring>
#include <utility>

namespace streamsim::storage {
namespace {

class NamedByteStore final : public ByteStore {
public:
    explicit NamedByteStore(std::unique_ptr<ByteStore> inner) : inner_(std::move(inner)) {}

    Result<std::vector<DirectoryEntry>> list(const std::string& directory) override {
        return inner_->list(on_server(directory));
    }
    Result<std::optional<FileInfo>> stat(const std::string& path) override {
        return inner_->stat(on_server(path));
    }
    Result<std::unique_ptr<ByteSource>> open(const std::string& path) override {
        return inner_->open(on_server(path));
    }
    Result<std::unique_ptr<ByteSink>> create(const std::string& path) override {
        return inner_->create(on_server(path));
    }
    Result<void> make_directories(const std::string& path) override {
        return inner_->make_directories(on_server(path));
    }
    Result<void> rename(const std::string& from, const std::string& to) override {
        return inner_->rename(on_server(from), on_server(to));
    }
    Result<bool> set_aside(const std::string& from, const std::string& to) override {
        return inner_->set_aside(on_server(from), on_server(to));
    }
    Result<void> remove(const std::string& path) override { return inner_->remove(on_server(path)); }
    Result<std::uint64_t> free_bytes(const std::string& path) override {
        return inner_->free_bytes(on_server(path));
    }
    Result<void> evict(const std::string& path) override { return inner_->evict(on_server(path)); }

private:
    static std::string on_server(const std::string& name) { return path_on_server(name.c_str()); }

    std::unique_ptr<ByteStore> inner_;
};

}  // namespace

const char* path_on_server(const char* name) {
    const char* const scheme_end = std::strstr(name, "://");
    if (scheme_end == nullptr || std::strchr(name, '/') != scheme_end + 1) return name;
    const char* const path = std::strchr(scheme_end + 3, '/');
    return path != nullptr ? path : "/";
}

std::unique_ptr<ByteStore> by_whole_names(std::unique_ptr<ByteStore> inner) {
    return std::make_unique<NamedByteStore>(std::move(inner));
}

}  // namespace streamsim::storage
