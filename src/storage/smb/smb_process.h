// One helper process (smb_wire.h), as its parent sees it. Nothing here blocks; the caller polls socket().
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
#include "base/time.h"
#include "storage/file_descriptor.h"
#include "storage/smb/smb_wire.h"
#include "streamsim/remote_place.h"

namespace streamsim::storage {

class SmbProcess {
public:
    /// Starts the program that the environment variable STREAMSIM_SMB_HELPER names, else streamsim-smb beside
    /// this program, else the one in ../libexec/streamsim. Errors: environment.
    static Result<std::unique_ptr<SmbProcess>> start();
    /// Kills the process and does not wait for its end, which a hanging system call may delay.
    ~SmbProcess();
    SmbProcess(const SmbProcess&) = delete;
    SmbProcess& operator=(const SmbProcess&) = delete;

    int socket() const { return socket_.get(); }
    std::span<std::byte> slot(std::uint32_t index) const {
        return memory_.subspan(index * kSmbSlotBytes, kSmbSlotBytes);
    }

    /// False: the process is gone, or the socket is full. REQUIRES: fits(texts).
    bool send(const SmbRequest& request, std::initializer_list<std::string_view> texts = {});
    static bool fits(std::initializer_list<std::string_view> texts);

    enum class Received { answer, nothing, gone };
    Received receive(SmbAnswer& answer);

    /// After `gone`. False: the process has ended by itself, as it does when its connection is lost. None: it
    /// is still ending.
    std::optional<bool> crashed();

private:
    SmbProcess() = default;
    Result<void> spawn(const std::string& program, int memory);

    int pid_ = -1;
    FileDescriptor socket_;
    std::span<std::byte> memory_;
};

/// The server, share and user of SmbCall::connect.
class SmbLogin {
public:
    /// `directory`: as make_smb_storage.
    SmbLogin(const RemotePlace& place, std::string directory, Credentials credentials);

    /// "smb://nas/media"
    const std::string& share() const { return share_; }
    /// Equal for connections to one server and port, as one user, for one share. Contains the password.
    std::string identity(const std::string& address) const;
    /// An error when the texts of `ask` do not fit into a packet.
    Result<void> check_length(const std::string& address) const;
    /// `known`: the answer to an earlier connection to this address, if there was one.
    /// REQUIRES: check_length() is no error.
    bool ask(SmbProcess& process, const std::string& address, const SmbAnswer& known) const;
    /// The meaning of an answer to `connect`, with advice. REQUIRES: answer.error != 0.
    Error refused(const SmbAnswer& answer, const std::string& address) const;
    /// An error when the directory was not accessible.
    Result<void> check_directory(const SmbAnswer& answer) const;
    /// The error of a process that did not answer, or that is gone.
    Error no_answer(const std::string& address) const;

private:
    std::string at(const std::string& address) const;

    RemotePlace place_;
    std::string directory_;
    Credentials credentials_;
    std::string share_;
};

/// Waits for the answer to `connect` until `deadline` (clock_now.h). Errors: environment.
Result<SmbAnswer> await_connected(SmbProcess& process,
                                  const SmbLogin& login,
                                  const std::string& address,
                                  Instant deadline);

/// Waits for an answer to receive. False: the deadline has passed.
bool await_readable(const SmbProcess& process, Instant deadline);

}  // namespace streamsim::storage
