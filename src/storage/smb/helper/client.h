// One connection to a share by libsmbclient, which performs the calls of smb_wire.h. client.cc lists the
// settings of this computer that are ignored.
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

/// REQUIRES: one object in a process, used on one thread.
class SmbClient {
public:
    SmbClient() = default;
    SmbClient(const SmbClient&) = delete;
    SmbClient& operator=(const SmbClient&) = delete;

    /// Blocks. `texts` as smb_wire.h says for this call; `slot`: the memory of request.slot; `answer` has its
    /// id already.
    void perform(const SmbRequest& request,
                 const std::vector<std::string>& texts,
                 std::span<std::byte> slot,
                 SmbAnswer& answer);

private:
    struct Open {
        _SMBCFILE* file = nullptr;
        std::uint64_t at = 0;  // the file position
    };

    void connect(const SmbRequest& request, const std::vector<std::string>& texts, SmbAnswer& answer);
    bool make_context(const SmbRequest& request);
    bool enter(const std::string& directory, SmbAnswer& answer);
    bool enter_again(const std::string& directory);
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
    void check_connection(SmbAnswer& answer);

    _SMBCCTX* context_ = nullptr;
    std::string host_;  // in the form for a URL
    std::uint32_t read_bytes_ = 0;
    std::vector<Open> files_;
    _SMBCFILE* listing_ = nullptr;  // a directory whose list has not ended
    std::string unlisted_;          // an entry that did not fit into the last slot
    std::uint32_t port_ = 0;        // the local port of the connection; 0: none so far
};

}  // namespace streamsim::storage
