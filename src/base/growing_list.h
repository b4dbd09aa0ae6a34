// A list that grows while others read it: elements stay where they are, and size() counts only those that are
// complete.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace streamsim {

/// One thread at a time adds; any thread may read below a size() that it has seen. Pinned.
template <typename T>
class GrowingList {
public:
    GrowingList() = default;
    GrowingList(const GrowingList&) = delete;
    GrowingList& operator=(const GrowingList&) = delete;

    std::size_t size() const { return size_.load(std::memory_order_acquire); }
    bool empty() const { return size() == 0; }
    /// REQUIRES: index < size().
    T& operator[](std::size_t index) { return *slot(index); }
    const T& operator[](std::size_t index) const { return *const_cast<GrowingList*>(this)->slot(index); }
    const T& front() const { return (*this)[0]; }
    const T& back() const { return (*this)[size() - 1]; }

    /// The new element is visible to others when this returns.
    template <typename... Args>
    T& emplace_back(Args&&... args) {
        const std::size_t index = size_.load(std::memory_order_relaxed);
        auto& chunk = chunks_[chunk_of(index)];
        if (chunk == nullptr) chunk = std::make_unique<std::optional<T>[]>(kFirst << chunk_of(index));
        T& added = slot(index).emplace(std::forward<Args>(args)...);
        size_.store(index + 1, std::memory_order_release);
        return added;
    }

    class Iterator {
    public:
        Iterator(const GrowingList& list, std::size_t index) : list_(&list), index_(index) {}
        const T& operator*() const { return (*list_)[index_]; }
        Iterator& operator++() {
            ++index_;
            return *this;
        }
        bool operator!=(const Iterator& other) const { return index_ != other.index_; }

    private:
        const GrowingList* list_;
        std::size_t index_;
    };
    /// A loop visits the elements that were complete when it began.
    Iterator begin() const { return {*this, 0}; }
    Iterator end() const { return {*this, size()}; }

private:
    // Chunk k holds kFirst << k elements, from index kFirst * (2^k - 1) on.
    static constexpr std::size_t kFirst = 64;
    static std::size_t chunk_of(std::size_t index) {
        return static_cast<std::size_t>(std::bit_width(index / kFirst + 1)) - 1;
    }
    std::optional<T>& slot(std::size_t index) {
        const std::size_t chunk = chunk_of(index);
        return chunks_[chunk][index - kFirst * ((std::size_t{1} << chunk) - 1)];
    }

    std::array<std::unique_ptr<std::optional<T>[]>, 40> chunks_;
    std::atomic<std::size_t> size_{0};
};

}  // namespace streamsim
