// One connection to a share by libsmbclient: what each call of smb_wire.h does. client.cc says what of this
// computer it does not look at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/smb/smb_wire.h"

// NOLINTBEGIN(bugprone-reserved-identifier): libsmbclient's names
struct _SMBCCTX;
struct _SMBCFILE;
// NOLINTEND(bugprone-reserved-identifier)

namespace streamsim::storage {

/// One of them in a process, on one thread.
class SmbClient {
public:
    SmbClient() = default;
    SmbClient(const SmbClient&) = delete;
    SmbClient& operator=(const SmbClient&) = delete;

    /// `texts` as smb_wire.h has them for this call; `slot`: the memory of request.slot. Blocks. `answer` comes
    /// with its id.
    void perform(const SmbRequest& request,
                 const std::vector<std::string>& texts,
                 std::span<std::byte> slot,
                 SmbAnswer& answer);

private:
    struct Open {
        _SMBCFILE* file = nullptr;
        std::uint64_t at = 0;  // where the next read or write would be
    };

    void connect(const SmbRequest& request, const std::vector<std::string>& texts, SmbAnswer& answer);
    bool make_context(const SmbRequest& request);
    bool enter(const std::string& directory, SmbAnswer& answer);
    void open(const std::string& path, int flags, SmbAnswer& answer);
    void close(Open& open, SmbAnswer& answer);
    void read(Open& open, const SmbRequest& request, std::span<std::byte> slot, SmbAnswer& answer);
    void write(Open& open, const SmbRequest& request, std::span<std::byte> slot, SmbAnswer& answer);
    void stat(const std::string& path, SmbAnswer& answer);
    void size(Open& open, SmbAnswer& answer);
    void list(const std::string& path, std::span<std::byte> slot, SmbAnswer& answer);
    void rename(const std::string& from, const std::string& to, SmbAnswer& answer);
    void remove(const std::string& path, SmbAnswer& answer);
    void free_space(const std::string& path, SmbAnswer& answer);
    bool seek(Open& open, std::uint64_t offset, SmbAnswer& answer);
    Open* find(const SmbRequest& request, SmbAnswer& answer);
    std::string url(const std::string& path) const;
    void look_at_connection(SmbAnswer& answer);

    _SMBCCTX* context_ = nullptr;
    std::string host_;  // as a URL has it
    std::uint32_t read_bytes_ = 0;
    std::vector<Open> files_;
    _SMBCFILE* listing_ = nullptr;  // of a directory, not at its end
    std::string unlisted_;          // an entry that the last slot had no room for
    std::uint32_t port_ = 0;        // of our end of the connection; 0: there was none yet
};

}  // namespace streamsim::storage
