// One helper process (storage/smb_wire.h) as its parent sees it. It never blocks; who uses it polls socket().
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "storage/smb/smb_wire.h"
#include "streamsim/remote_place.h"

namespace streamsim::storage {

/// Whether streamsim-smb is built with this program.
bool smb_is_built();

class SmbProcess {
public:
    /// The program is the one that the environment's STREAMSIM_SMB_HELPER names, else streamsim-smb beside this
    /// program, else the one in ../libexec/streamsim. Errors: environment.
    static Result<std::unique_ptr<SmbProcess>> start(std::uint32_t slots);
    /// Ends the process and does not wait for its end, which a system call that hangs may delay.
    ~SmbProcess();
    SmbProcess(const SmbProcess&) = delete;
    SmbProcess& operator=(const SmbProcess&) = delete;

    int socket() const { return socket_; }
    std::span<std::byte> slot(std::uint32_t index) const {
        return memory_.subspan(index * kSmbSlotBytes, kSmbSlotBytes);
    }

    /// False: the process is gone, or was asked too much at once. ENAMETOOLONG is for the caller to prevent:
    /// fits().
    bool send(const SmbRequest& request, std::initializer_list<std::string_view> texts = {});
    static bool fits(std::initializer_list<std::string_view> texts);

    enum class Received { answer, nothing, gone };
    Received receive(SmbAnswer& answer);

    /// After `gone`: whether it did not end of itself, as it does where the connection is lost. Nothing: it is
    /// still ending.
    std::optional<bool> crashed();

private:
    SmbProcess() = default;
    Result<void> spawn(const std::string& program, int memory);

    int pid_ = -1;
    int socket_ = -1;
    std::span<std::byte> memory_;
};

/// Where to and who: what `connect` is asked with.
class SmbLogin {
public:
    /// `directory`: as make_smb_storage.
    SmbLogin(const RemotePlace& place, std::string directory, Credentials credentials);

    /// "smb://nas/media"
    const std::string& share() const { return share_; }
    bool ask(SmbProcess& process, const std::string& address, std::uint32_t id) const;
    /// What the answer to it means, and what to do. REQUIRES: answer.error != 0.
    Error refused(const SmbAnswer& answer, const std::string& address) const;
    /// A process that says nothing, or is gone.
    Error silent(const std::string& address) const;

private:
    std::string at(const std::string& address) const;

    RemotePlace place_;
    std::string directory_;
    Credentials credentials_;
    std::string share_;
};

/// A process that was asked to connect. Waits until `deadline_ns` of CLOCK_MONOTONIC. Errors: environment.
Result<SmbAnswer> await_connected(SmbProcess& process,
                                  const SmbLogin& login,
                                  const std::string& address,
                                  std::int64_t deadline_ns);

/// Waits for something to receive. False: the deadline has passed.
bool await_readable(const SmbProcess& process, std::int64_t deadline_ns);

}  // namespace streamsim::storage
