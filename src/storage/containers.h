// Containers for what a backend records of its operations and files. No container allocates for an operation.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "base/check.h"
#include "base/linked_queue.h"
#include "streamsim/storage.h"

namespace streamsim::storage {

using OpQueue = LinkedQueue<Op>;

/// In-flight slots: the records of operations, requests or pieces while they are under way. Slots stay at their
/// address. A free slot is linked through its member `next`, which its owner may use while the slot is taken.
template <typename Slot>
class SlotPool {
public:
    explicit SlotPool(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) give_back(slots_.emplace_back());
    }

    bool has_free() const { return free_ != nullptr; }

    /// A slot as its last user left it; allocates one more where none is free.
    Slot& take() {
        if (free_ == nullptr) return slots_.emplace_back();
        Slot& slot = *free_;
        free_ = slot.next;
        slot.next = nullptr;
        return slot;
    }

    void give_back(Slot& slot) {
        slot.next = free_;
        free_ = &slot;
    }

    /// All slots, free ones included.
    auto begin() { return slots_.begin(); }
    auto end() { return slots_.end(); }
    std::size_t size() const { return slots_.size(); }

private:
    std::deque<Slot> slots_;
    Slot* free_ = nullptr;
};

/// The open files of one storage, by FileId. `File` has a member `open`; it stays at its address. A table is
/// used in one of two ways: the backend's file descriptors are the ids (put), or the table assigns the ids
/// (add).
template <typename File>
class FileTable {
public:
    /// nullptr: no open file has this id.
    File* find(FileId id) {
        const auto index = static_cast<std::size_t>(id);
        return index < files_.size() && files_[index].open ? &files_[index] : nullptr;
    }

    /// REQUIRES: an open file has this id.
    File& get(FileId id) {
        File* const file = find(id);
        STREAMSIM_CHECK(file != nullptr, "a file that is closed was open");
        return *file;
    }

    /// The entry of a file descriptor, which the caller marks as open.
    File& put(FileId descriptor) {
        const auto index = static_cast<std::size_t>(descriptor);
        if (index >= files_.size()) files_.resize(index + 16);
        return files_[index];
    }

    /// An id that no file has, and its entry as its last user left it.
    FileId add() {
        if (free_.empty()) {
            files_.emplace_back();
            return static_cast<FileId>(files_.size() - 1);
        }
        const FileId id = free_.back();
        free_.pop_back();
        return id;
    }

    /// An id that add() gave may be given again.
    void give_back(FileId id) { free_.push_back(id); }

    /// The entry of an id that the table has given, open or not.
    File& operator[](FileId id) { return files_[static_cast<std::size_t>(id)]; }
    const File& operator[](FileId id) const { return files_[static_cast<std::size_t>(id)]; }

    auto begin() { return files_.begin(); }
    auto end() { return files_.end(); }
    FileId id_end() const { return static_cast<FileId>(files_.size()); }

private:
    std::deque<File> files_;
    std::vector<FileId> free_;
};

}  // namespace streamsim::storage
