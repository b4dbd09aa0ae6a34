// What TARGET names, by its form alone; nothing is looked at.
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
        local,         // files and directories of this machine, whatever is mounted there
        remote,        // of a file server, to which streamsim speaks itself
        null,          // completes at once, in real time
        null_virtual,  // completes at once, in virtual time
        model,         // a modelled cluster, in virtual time
    };
    Kind kind = Kind::local;
    std::string url;  // as typed
    std::string
        path;  // local: for open(2); remote: from the server's root; model: its name, or its document's file
    std::optional<RemotePlace> remote;  // of kind remote

    // What the URL of a model says besides.
    std::optional<std::uint32_t> nodes;    // over how many of them the seats are spread; nothing: over all
    std::optional<std::uint32_t> cluster;  // how many nodes there are; nothing: as the document says
    bool warm = false;                     // the caches

    std::shared_ptr<const ClusterModel> model;  // once open_model has read it

    /// Real files, with names, ages and bytes that fill buffers.
    /// What its directory or clip is called in every message and result, and what the stores and storages of
    /// backends.h take: a path of this machine, or "nfs://host/export/dir", without user and options.
    std::string name() const;
    bool has_files() const { return kind == Kind::local || kind == Kind::remote; }
    bool is_virtual_time() const { return kind == Kind::null_virtual || kind == Kind::model; }
    /// The node that a seat mounts from: round robin. REQUIRES: model.
    std::uint32_t node_of(std::uint32_t seat) const { return seat % nodes.value_or(model->nodes); }
};

/// A path, "file:PATH", "file:///PATH", "nfs://...", "smb://..." (remote_target.h), "null:", "sim:null", or a
/// model as "sim:NAME" or "sim:FILE", either with "?nodes=N&cluster=N&cache=cold|warm". A model's document is a
/// FILE where it has a '/' or ends with
/// ".json". Errors: bad input for another scheme, naming what there is, and for every option that is wrong.
Result<Target> parse_target(const std::string& text);

}  // namespace streamsim::target
