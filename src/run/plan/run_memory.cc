#include "run/plan/run_memory.h"

#include <new>
#include <utility>

#include "base/check.h"
#include "base/system/pages.h"

namespace streamsim::run {

class RunMemory::AddressRange {
public:
    explicit AddressRange(std::uint64_t bytes) : bytes_(bytes), base_(map_addresses(bytes)) {
        if (base_ == nullptr) throw std::bad_alloc();
    }
    ~AddressRange() { unmap_pages(base_, bytes_); }
    AddressRange(const AddressRange&) = delete;
    AddressRange& operator=(const AddressRange&) = delete;
    std::span<std::byte> span() const { return {static_cast<std::byte*>(base_), bytes_}; }

private:
    std::uint64_t bytes_;
    void* base_;
};

RunMemory::RunMemory() = default;
RunMemory::~RunMemory() = default;

Result<void> RunMemory::reserve_pages(std::uint64_t bytes, const NoticeSink& notice) {
    auto arena = storage::BufferArena::make(bytes, notice);
    if (!arena) return arena.error();
    arena_.emplace(std::move(*arena));
    all_ = arena_->memory();
    return {};
}

void RunMemory::reserve_addresses(std::uint64_t bytes) {
    addresses_ = std::make_unique<AddressRange>(bytes);
    all_ = addresses_->span();
}

Result<std::span<std::byte>> RunMemory::add(std::uint64_t bytes, const NoticeSink& notice) {
    if (is_shared()) {
        STREAMSIM_CHECK(bytes <= all_.size(), "an added stream needs no more memory than a planned one");
        return all_.first(bytes);
    }
    auto arena = storage::BufferArena::make(bytes, notice);
    if (!arena) return arena.error();
    const std::lock_guard lock(mutex_);
    added_.push_back(std::move(*arena));
    return added_.back().memory();
}

std::uint64_t RunMemory::page_bytes() const {
    std::uint64_t bytes = arena_ ? all_.size() : 0;
    const std::lock_guard lock(mutex_);
    for (const storage::BufferArena& arena : added_) bytes += arena.memory().size();
    return bytes;
}

}  // namespace streamsim::run
