#include "storage/remote/remote_names.h"

#include <cstring>
#include <deque>

namespace streamsim::storage {
namespace {

/// Operations belong to their callers, their paths too: the storage behind is given some of our own.
class NamedStorage final : public StorageDecorator {
public:
    using StorageDecorator::StorageDecorator;

    void open(OpenOp& op) override {
        OpenOp& inner = opens_.take(op);
        inner.path = path_on_server(op.path);
        inner.access = op.access;
        StorageDecorator::open(inner);
    }

    void perform(PathOp& op) override {
        PathOp& inner = names_.take(op);
        inner.kind = op.kind;
        inner.path = path_on_server(op.path);
        if (op.to != nullptr) inner.to = path_on_server(op.to);
        StorageDecorator::perform(inner);
    }

    void cancel(Op& op) override {
        Op* inner = opens_.find(op);
        if (inner == nullptr) inner = names_.find(op);
        StorageDecorator::cancel(inner != nullptr ? *inner : op);
    }

private:
    static void copy_answer(const OpenOp& from, OpenOp& to) { to.file = from.file; }
    static void copy_answer(const PathOp& from, PathOp& to) {
        to.bytes = from.bytes;
        to.entries = from.entries;
    }

    /// Our own operations of one kind, as many as were ever outstanding at once; they stay where they are.
    template <typename Operation>
    class Doubles {
    public:
        Operation& take(Operation& op) {
            if (free_ == nullptr) {
                free_ = &all_.emplace_back();
                free_->owner = this;
            }
            Double& one = *free_;
            free_ = one.next_free;
            one.outer = &op;
            one.inner = Operation{};
            one.inner.tag = op.tag;
            one.inner.done = Callback::of<&Double::finished>(&one);
            return one.inner;
        }

        Operation* find(const Op& outer) {
            for (Double& one : all_) {
                if (one.outer == &outer) return &one.inner;
            }
            return nullptr;
        }

    private:
        struct Double {
            Operation inner;
            Operation* outer = nullptr;  // null: it is free
            Doubles* owner = nullptr;
            Double* next_free = nullptr;

            void finished() {
                Operation& op = *outer;
                copy_answer(inner, op);
                op.error = inner.error;
                op.submitted_at = inner.submitted_at;
                op.completed_at = inner.completed_at;
                op.not_before = inner.not_before;
                outer = nullptr;
                next_free = owner->free_;
                owner->free_ = this;
                op.done();
            }
        };

        std::deque<Double> all_;
        Double* free_ = nullptr;
    };

    Doubles<OpenOp> opens_;
    Doubles<PathOp> names_;
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

}  // namespace streamsim::storage
