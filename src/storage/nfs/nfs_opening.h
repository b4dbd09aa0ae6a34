// Opens one file on one node, or does there what is done by name: the path is walked from the root, or from its
// directory when that is known, through symbolic links; then version 3 asks whether the file may be read (and
// written), or makes it, version 4 opens it. What is to be written is no symbolic link itself (ELOOP), and has
// no second name (EMLINK).
//
// A connection that is lost with a change on its way leaves open whether it was done. It is asked for again,
// and then "it is there" answers a making, and "it is not there" a removal or a rename, as success.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "storage/nfs/nfs_node.h"

namespace streamsim::storage {

/// What is to be done. Version 4: opens for reading alone.
struct NfsWish {
    OpKind operation = OpKind::open;  // or path
    std::string path;
    Access access = Access::read;            // of an open
    PathOp::Kind kind = PathOp::Kind::stat;  // of a path
    std::string to;                          // of a rename
};

/// Stays in place while it is busy. May be used again afterwards.
class NfsOpening {
public:
    /// `done` runs once, never inside begin().
    void begin(NfsNode& node, NfsWish wish, void (*done)(void* owner, NfsOpening&), void* owner);
    /// Goes on where it waited for a connection, or for the server's patience. Often.
    void advance(Instant now);

    bool busy() const { return busy_; }
    int error() const { return error_; }
    /// Without an error.
    const NfsOpenFile& file() const { return file_; }
    /// Of a file, of a directory.
    std::uint64_t bytes() const { return bytes_; }
    std::uint64_t entries() const { return entries_; }
    NfsNode& node() const { return *node_; }

private:
    enum class Step : std::uint8_t {
        lookup,
        read_link,
        access,
        open,
        look_at_link,
        confirm,
        arrived,  // at the directory of what is to be made, removed or renamed
        create,
        make_directory,
        remove,
        remove_directory,
        rename,
        attributes,
        list,
    };

    bool wants(PathOp::Kind kind) const { return wish_.operation == OpKind::path && wish_.kind == kind; }
    bool wants_parent() const;
    bool creates() const { return wish_.access == Access::create || wish_.access == Access::create_new; }
    bool writes() const { return wish_.operation == OpKind::open && wish_.access != Access::read; }
    void walk(const std::string& path);
    void from_root(const std::string& path);
    bool find_root();
    void step();
    void arrive();
    bool ask(NfsLink& link);
    bool ask_change(NfsLink& link);
    bool take_failure(int error);
    void look();
    void take_list(const NfsReply& reply);
    void forget_below();
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
    NfsWish wish_;
    std::string path_;                // that is being walked
    std::string directory_;           // of path_, for the node's memory
    NfsHandle at_;                    // where it is
    std::vector<NfsHandle> parents_;  // of at_, as far as they were walked
    std::vector<std::string> rest_;   // of the path, last first
    NfsHandle link_;
    NfsHandle object_;  // to be looked at
    NfsHandle from_;    // of a rename
    std::string from_name_;
    std::uint64_t bytes_ = 0;
    std::uint64_t entries_ = 0;
    std::uint64_t cookie_ = 0;  // of the list so far
    std::array<char, 8> cookie_verifier_{};
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
    bool may_remember_ = true;
    bool used_memory_ = false;
    bool from_known_ = false;
    bool maybe_done_ = false;  // the connection was lost with a change on its way
    bool ended_ = false;       // and nobody has been told
};

}  // namespace streamsim::storage
