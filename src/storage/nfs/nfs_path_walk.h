// Opens one file on one node, or performs one operation by name. The path is walked from the root, or from its
// directory when the handle of that is known, through symbolic links. Then version 3 checks the access to the
// file, or creates the file; version 4 opens it. A file to be written is no symbolic link itself (ELOOP), and
// has no second name (EMLINK).
//
// A connection that is lost with a change on its way leaves open whether the server made the change. The
// request is sent again, and then the reply "does not exist" to a removal counts as success. "Exists" to a
// creation counts as success if it is an empty file, or a directory, and "does not exist" to a rename if the
// new name is there.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "storage/nfs/nfs_node.h"

namespace streamsim::storage {

/// The task of a walk. Version 4: only opens for reading.
struct NfsPathRequest {
    OpKind operation = OpKind::open;  // open or path
    std::string path;
    Access access = Access::read;            // open
    PathOp::Kind kind = PathOp::Kind::stat;  // path
    std::string to;                          // rename
};

/// Stays at its address while it is busy, and may be used again afterwards.
class NfsPathWalk {
public:
    /// `done` runs once, outside of begin().
    void begin(NfsNode& node, NfsPathRequest request, void (*done)(void* owner, NfsPathWalk&), void* owner);
    /// Goes on after a wait for a connection, or for the server. Call often.
    void advance(Instant now);

    /// Nobody waits any more: ends once the request that is on its way is answered or lost.
    void give_up() { given_up_ = true; }

    bool busy() const { return busy_; }
    int error() const { return error_; }
    /// The opened file. REQUIRES: error() == 0.
    const NfsOpenFile& file() const { return file_; }
    /// stat: the size of the file; list: the entries of the directory.
    std::uint64_t bytes() const { return bytes_; }
    std::uint64_t entries() const { return entries_; }
    NfsNode& node() const { return *node_; }

private:
    enum class Step : std::uint8_t {
        lookup,
        read_link,
        access,
        open,
        lookup_link,
        kind,  // of an object that was found without its attributes
        confirm,
        arrived,  // at the directory in which a name is created, removed or renamed
        create,
        make_directory,
        remove,
        remove_directory,
        rename,
        attributes,
        list,
    };

    bool wants(PathOp::Kind kind) const { return request_.operation == OpKind::path && request_.kind == kind; }
    bool wants_parent() const;
    bool creates() const { return request_.access == Access::create || request_.access == Access::create_new; }
    bool writes() const { return request_.operation == OpKind::open && request_.access != Access::read; }
    void walk(const std::string& path);
    void from_root(const std::string& path);
    bool find_root();
    void step();
    void arrive();
    bool ask();
    bool handle_outcome(const NfsReply& reply);
    bool take_failure(int error);
    void inspect();
    void take_list(const NfsReply& reply);
    void forget_below();
    void next();
    void finish(int error);
    static void on_reply(void* self, NfsCall& call, const NfsReply& reply);
    void take(const NfsReply& reply);
    void take_lookup(const NfsReply& reply);
    void take_kind(const NfsReply& reply);
    void take_look_back(const NfsReply& reply);
    void take_link(std::string_view text);
    void take_open(const NfsReply& reply);
    void ask_later(Instant now);
    void go_stale();
    void forget();
    void run_callback();

    NfsNode* node_ = nullptr;
    void (*done_)(void* owner, NfsPathWalk&) = nullptr;
    void* owner_ = nullptr;
    NfsPathRequest request_;
    std::string path_;
    std::string directory_;           // of path_; the key of NfsNode::directories()
    NfsHandle at_;                    // the directory that the walk has reached
    std::vector<NfsHandle> parents_;  // of at_, as far as they were walked
    std::vector<std::string> rest_;   // the names still to walk, last first
    NfsHandle link_;
    NfsHandle object_;  // kind, stat, list
    NfsHandle from_;    // rename: the directory of the old name
    std::string from_name_;
    std::uint64_t bytes_ = 0;
    std::uint64_t entries_ = 0;
    std::uint64_t cookie_ = 0;  // list: position after the entries so far
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
    bool asked_ = false;  // a call is on its way
    bool given_up_ = false;
    bool from_cached_ = true;  // the walk begins at a directory of NfsNode::directories()
    bool first_walk_ = true;   // the last name was no symbolic link so far
    bool went_stale_ = false;
    bool may_use_cache_ = true;  // NfsNode::directories() may be used
    bool used_cache_ = false;    // and was used
    bool from_found_ = false;    // from_ is set
    bool maybe_done_ = false;    // the connection was lost with a change on its way
    bool looks_back_ = false;    // whether it was made is looked up
    bool ended_ = false;         // the callback has not run yet
};

}  // namespace streamsim::storage
