// Target: the storage that TARGET names, by its form alone. Parsing reads no file and asks no server.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "streamsim/cluster_model.h"
#include "streamsim/remote_place.h"

namespace streamsim::target {

struct Target {
    enum class Kind {
        local,         // files and directories of this machine, also on mounts
        remote,        // a file server that streamsim speaks to itself
        null,          // completes every operation at once, in real time
        null_virtual,  // completes every operation at once, in virtual time
        model,         // a modelled cluster, in virtual time
    };
    Kind kind = Kind::local;
    std::string url;   // as typed
    std::string path;  // local: for open(2); remote: from the server's root; model: its name, or its file
    std::optional<RemotePlace> remote;  // kind remote

    // Options of a model's URL.
    std::optional<std::uint32_t> nodes;                  // that the seats are spread over; nothing: all
    std::optional<std::uint32_t> cluster;                // number of nodes; nothing: as in the document
    bool warm = false;                                   // caches
    AccessStrategy strategy = AccessStrategy::as_media;  // that the folders of the media are set to

    std::shared_ptr<const ClusterModel> model;  // from open_model

    /// The name of the directory or clip in messages and results, and for the stores and storages of
    /// backends.h: a path of this machine, or "nfs://host/export/dir", without user and options.
    std::string name() const;
    /// True: real files, with names, ages and bytes that fill buffers.
    bool has_files() const { return kind == Kind::local || kind == Kind::remote; }
    bool is_virtual_time() const { return kind == Kind::null_virtual || kind == Kind::model; }
    /// The node that a seat is connected to: round robin. REQUIRES: model.
    std::uint32_t node_of(std::uint32_t seat) const { return seat % nodes.value_or(model->nodes); }
};

/// A path, "file:PATH", "file:///PATH", "nfs://...", "smb://...", "null:", "sim:null", or a model as "sim:NAME"
/// or "sim:FILE", either with "?nodes=N&cluster=N&cache=cold|warm&strategy=S". Errors: bad input for an unknown
/// scheme, with the known ones, and for each wrong option.
Result<Target> parse_target(const std::string& text);

/// "nfs://host[:port]/export/dir[?OPTIONS]" or "smb://[domain;][user@]host[:port]/share/dir[?OPTIONS]", with
/// the options of docs/reference/targets.md; an IPv6 host is written in [brackets], and %XX in a path is one
/// byte. Resolves no name. Errors: bad input, each problem once; a password is a problem, and is not repeated.
Result<Target> parse_remote_target(const std::string& text);

}  // namespace streamsim::target
