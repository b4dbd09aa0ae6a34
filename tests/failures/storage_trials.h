// Fails each call of a storage in each way, one at a time, and holds what the storage says against what is on
// the disk: it may report an error, and may not be wrong.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "conformance/storage_backends.h"
#include "streamsim/byte_store.h"

struct uv_loop_s;

namespace streamsim::tests {

/// Fails a call below the storage: a reply of its server, or a call into the C library.
class FailureSource {
public:
    virtual ~FailureSource() = default;
    /// In which a call can fail.
    virtual std::size_t ways() const = 0;
    /// Calls count from zero, and call `at` fails; none yet, for it begins paused.
    virtual void begin(std::uint64_t at, std::size_t way) = 0;
    virtual void pause() = 0;
    virtual void resume() = 0;
    virtual std::uint64_t calls() const = 0;
    /// The way, and the call that failed.
    virtual std::string told(std::size_t way) const = 0;
};

struct TrialTarget {
    FailureSource* source = nullptr;
    std::function<std::string(const std::string& path)> on_server = [](const std::string& path) {
        return path;
    };
    std::string error_says;  // each error, or the directory if this is empty
    std::function<std::unique_ptr<ByteStore>(const std::string& directory)> make_store;
    std::function<Result<std::unique_ptr<Storage>>(EventLoop&, uv_loop_s*, const std::string& directory)>
        make_storage;
    bool writes = false;    // the storage does
    bool links = true;      // it follows symbolic links, and ".."
    bool replaces = false;  // a rename replaces what a wrong "not found" hides
    bool healthy = false;   // nothing fails: whatever can be done has to be done
    std::chrono::milliseconds sample{6000};
};

/// List, read, write, rename and remove, as prepare and the index do.
void try_store(const TrialTarget& target);
/// Open, read, write, sync and names, as players and recorders do.
void try_storage(const TrialTarget& target);

}  // namespace streamsim::tests
