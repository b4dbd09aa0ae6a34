// The backends under test, each with its loop, and the helpers of the conformance suite. A new backend is one
// more line in storage_backends.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "storage/buffer_arena.h"
#include "streamsim/event_loop.h"
#include "streamsim/storage.h"

namespace streamsim {

/// The options that the suite varies.
struct HarnessOptions {
    std::uint32_t parallel_reads = 16;
    std::uint32_t parallel_opens = 4;
    std::string writes_below = {};  // local backends; empty: the directory of the test
};

/// A loop and a storage on it.
class StorageHarness {
public:
    virtual ~StorageHarness() = default;
    virtual EventLoop& loop() = 0;
    virtual Storage& storage() = 0;
    /// Shuts the storage down, waits for that and destroys it. `at_done` runs with the storage's callback.
    virtual void shut_down(Callback at_done = {}) = 0;
};

struct Backend {
    std::string name;
    bool has_files;  // false: every open succeeds, every read is full
    bool in_real_time;
    bool takes_back;  // an open that hangs can be cancelled
    bool direct;      // LocalOptions::direct
    bool injects;     // completions are injected at intended times
    /// Null, with the reason, when the backend is not available on this machine.
    std::unique_ptr<StorageHarness> (*make)(const Backend&, const HarnessOptions&, std::string& why_not);
    bool is_local = true;  // paths are this system's, as for open(2), and an open of a FIFO hangs
};

std::vector<Backend> all_backends();
/// The backends that write.
std::vector<Backend> writing_backends();
/// For GoogleTest's messages.
inline void PrintTo(const Backend& backend, std::ostream* out) {
    *out << backend.name;
}

/// A temporary directory, removed with everything in it.
class TemporaryDirectory {
public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    const std::string& path() const { return path_; }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

/// The byte at `offset` of every test file with this seed: no two blocks are equal.
std::byte test_byte(std::uint64_t seed, std::uint64_t offset);
void fill_with_test_bytes(std::span<std::byte> bytes, std::uint64_t seed, std::uint64_t offset);
/// Writes a file of test bytes to disk, and drops it from the page cache.
void write_test_file(const std::string& path, std::uint64_t seed, std::uint64_t bytes);
/// The number of bytes that equal the test file from `offset` on, up to the first difference.
std::uint64_t same_bytes(std::span<const std::byte> bytes, std::uint64_t seed, std::uint64_t offset);

/// The number of descriptors or handles that this process has open.
std::size_t open_descriptors();

/// An operation that counts its callbacks.
template <typename Base>
struct Counted : Base {
    Counted() { this->done = {&Counted::on_done, this}; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

    int callbacks = 0;
    Callback then;

private:
    static void on_done(void* self) {
        auto& op = *static_cast<Counted*>(self);
        ++op.callbacks;
        if (op.then) op.then();
    }
};
using TestOpen = Counted<OpenOp>;
using TestRead = Counted<ReadOp>;
using TestWrite = Counted<WriteOp>;
using TestSync = Counted<SyncOp>;
using TestPath = Counted<PathOp>;

}  // namespace streamsim
