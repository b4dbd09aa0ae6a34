// Opens one file on one node: its path is walked from the root, or from its directory when that is known,
// through symbolic links; then version 3 asks whether it may be read, version 4 opens it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "storage/nfs_node.h"

namespace streamsim {

/// Stays in place while it is busy. May be used again afterwards.
class NfsOpening {
public:
    /// `done` runs once, never inside begin().
    void begin(NfsNode& node, const std::string& path, void (*done)(void* owner, NfsOpening&), void* owner);
    /// Goes on where it waited for a connection, or for the server's patience. Often.
    void advance(Instant now);

    bool busy() const { return busy_; }
    int error() const { return error_; }
    /// Without an error.
    const NfsOpenFile& file() const { return file_; }
    NfsNode& node() const { return *node_; }

private:
    enum class Step : std::uint8_t { lookup, read_link, access, open, look_at_link, confirm };

    void from_root(const std::string& path);
    void step();
    void next();
    void finish(int error);
    static void on_reply(void* self, NfsCall& call, const NfsReply& reply);
    void take(const NfsReply& reply);
    void take_lookup(const NfsReply& reply);
    void take_link(std::string_view text);
    void take_open(const NfsReply& reply);
    void go_stale();
    void forget();
    void tell();

    NfsNode* node_ = nullptr;
    void (*done_)(void* owner, NfsOpening&) = nullptr;
    void* owner_ = nullptr;
    std::string path_;
    std::string directory_;           // of path_, for the node's memory
    NfsHandle at_;                    // where it is
    std::vector<NfsHandle> parents_;  // of at_, as far as they were walked
    std::vector<std::string> rest_;   // of the path, last first
    NfsHandle link_;
    std::uint64_t client_ = 0;
    NfsOpenFile file_;
    NfsCall call_;
    Instant not_before_;
    Instant now_;
    Step step_ = Step::lookup;
    int error_ = 0;
    std::uint32_t links_ = 0;
    bool busy_ = false;
    bool asked_ = false;      // a call is on its way
    bool remembers_ = true;   // begins at a directory that is known
    bool first_walk_ = true;  // no symbolic link at the end so far
    bool went_stale_ = false;
    bool ended_ = false;  // and nobody has been told
};

}  // namespace streamsim
