// What the NFS backend keeps of each operation, piece, file and node.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "storage/nfs_node.h"
#include "storage/nfs_opening.h"
#include "streamsim/storage.h"

namespace streamsim {

class NfsStorage;
struct NfsPiece;
struct NfsRead;

/// First in, first out, linked through `next`.
template <typename T>
class NfsFifo {
public:
    T* first() const { return first_; }
    void push(T& item) {
        item.next = nullptr;
        (last_ != nullptr ? last_->next : first_) = &item;
        last_ = &item;
    }
    T* pop() {
        T* const item = first_;
        if (item == nullptr) return nullptr;
        first_ = item->next;
        if (first_ == nullptr) last_ = nullptr;
        item->next = nullptr;
        return item;
    }
    NfsFifo take() { return std::exchange(*this, {}); }

private:
    T* first_ = nullptr;
    T* last_ = nullptr;
};

/// A node and what waits for it.
struct NfsDesk {
    NfsNode* node = nullptr;
    NfsFifo<NfsPiece> pending;  // to be sent, again or because the connections were away
    NfsFifo<NfsRead> uncut;
};

struct NfsFile {
    bool open = false;
    bool opening_again = false;
    std::uint32_t generation = 0;
    NfsDesk* desk = nullptr;
    std::string path;
    NfsOpenFile file;
    std::unique_ptr<NfsOpening> again;
    NfsStorage* storage = nullptr;
};

struct NfsRead {
    ReadOp* op = nullptr;
    NfsRead* next = nullptr;  // free, or uncut
    NfsDesk* desk = nullptr;
    std::uint64_t cut = 0;  // bytes, from the beginning
    std::uint64_t end = 0;  // of the file, as far as is known
    std::uint32_t pieces = 0;
    bool in_line = false;  // of the uncut
};

struct NfsPiece {
    NfsStorage* storage = nullptr;
    NfsPiece* next = nullptr;  // free, or pending
    NfsRead* read = nullptr;   // null: nobody waits for it
    NfsDesk* desk = nullptr;
    std::uint64_t offset = 0;  // in the file
    std::uint32_t bytes = 0;
    std::uint32_t generation = 0;  // of the file
    std::uint32_t stale = 0;       // answers
    Instant not_before;
    NfsCall call;
};

struct NfsOpen {
    NfsStorage* storage = nullptr;
    OpenOp* op = nullptr;  // null: nobody waits for it
    NfsOpen* next = nullptr;
    NfsDesk* desk = nullptr;
    NfsOpening opening;
};

}  // namespace streamsim
