#include "storage/remote_names.h"

#include <cstring>
#include <deque>

namespace streamsim {
namespace {

/// An open operation belongs to its caller, its path too: the storage behind is given one of our own.
class NamedStorage final : public StorageDecorator {
public:
    using StorageDecorator::StorageDecorator;

    void open(OpenOp& op) override {
        if (free_ == nullptr) {
            free_ = &opens_.emplace_back();
            free_->storage = this;
        }
        Open& open = *free_;
        free_ = open.next_free;
        open.outer = &op;
        open.inner = OpenOp{};
        open.inner.tag = op.tag;
        open.inner.path = path_on_server(op.path);
        open.inner.done = Callback::of<&Open::finished>(&open);
        StorageDecorator::open(open.inner);
    }

    void cancel(Op& op) override {
        for (Open& open : opens_) {
            if (open.outer == &op) return StorageDecorator::cancel(open.inner);
        }
        StorageDecorator::cancel(op);
    }

private:
    struct Open {
        OpenOp inner;
        OpenOp* outer = nullptr;  // null: it is free
        NamedStorage* storage = nullptr;
        Open* next_free = nullptr;

        void finished() {
            OpenOp& op = *outer;
            op.file = inner.file;
            op.error = inner.error;
            op.submitted_at = inner.submitted_at;
            op.completed_at = inner.completed_at;
            op.not_before = inner.not_before;
            outer = nullptr;
            next_free = storage->free_;
            storage->free_ = this;
            op.done();
        }
    };

    std::deque<Open> opens_;  // as many as were ever outstanding at once; they stay where they are
    Open* free_ = nullptr;
};

class NamedByteStore final : public ByteStore {
public:
    explicit NamedByteStore(std::unique_ptr<ByteStore> inner) : inner_(std::move(inner)) {}

    Result<std::vector<DirectoryEntry>> list(const std::string& directory) override {
        return inner_->list(path_on_server(directory.c_str()));
    }
    Result<std::optional<FileInfo>> stat(const std::string& path) override {
        return inner_->stat(path_on_server(path.c_str()));
    }
    Result<std::unique_ptr<ByteSource>> open(const std::string& path) override {
        return inner_->open(path_on_server(path.c_str()));
    }
    Result<std::unique_ptr<ByteSink>> create(const std::string& path) override {
        return inner_->create(path_on_server(path.c_str()));
    }
    Result<void> make_directories(const std::string& path) override {
        return inner_->make_directories(path_on_server(path.c_str()));
    }
    Result<void> rename(const std::string& from, const std::string& to) override {
        return inner_->rename(path_on_server(from.c_str()), path_on_server(to.c_str()));
    }
    Result<void> remove(const std::string& path) override {
        return inner_->remove(path_on_server(path.c_str()));
    }
    Result<std::uint64_t> free_bytes(const std::string& path) override {
        return inner_->free_bytes(path_on_server(path.c_str()));
    }
    Result<void> evict(const std::string& path) override { return inner_->evict(path_on_server(path.c_str())); }

private:
    std::unique_ptr<ByteStore> inner_;
};

}  // namespace

const char* path_on_server(const char* name) {
    const char* const scheme_end = std::strstr(name, "://");
    if (scheme_end == nullptr || std::strchr(name, '/') != scheme_end + 1) return name;
    const char* const path = std::strchr(scheme_end + 3, '/');
    return path != nullptr ? path : "/";
}

std::unique_ptr<Storage> by_whole_names(std::unique_ptr<Storage> inner) {
    return std::make_unique<NamedStorage>(std::move(inner));
}

std::unique_ptr<ByteStore> by_whole_names(std::unique_ptr<ByteStore> inner) {
    return std::make_unique<NamedByteStore>(std::move(inner));
}

}  // namespace streamsim
