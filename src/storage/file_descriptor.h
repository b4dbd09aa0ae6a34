// A file descriptor of this process, closed with its owner. Inside storage/ only.
#pragma once

#include <unistd.h>

#include <utility>

namespace streamsim::storage {

class FileDescriptor {
public:
    /// Negative: none.
    explicit FileDescriptor(int number = -1) : number_(number) {}
    ~FileDescriptor() {
        if (number_ >= 0) ::close(number_);
    }
    FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    explicit operator bool() const { return number_ >= 0; }
    int get() const { return number_; }
    int release() { return std::exchange(number_, -1); }
    /// As close(2). REQUIRES: there is one.
    int close() { return ::close(release()); }

private:
    int number_;
};

}  // namespace streamsim::storage
