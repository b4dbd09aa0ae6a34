#include "storage/nfs/nfs_server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/system/errno_name.h"
#include "base/units.h"
#include "storage/clock_now.h"
#include "storage/nfs/nfs_path_walk.h"

namespace streamsim::storage {
namespace {

constexpr Duration kWaitStep = milliseconds(10);

/// A server that lies in what its place shares must not own that in turn.
RemotePlace without_sharing(RemotePlace place) {
    place.sharing.reset();
    return place;
}

}  // namespace

NfsServer::NfsServer(RemotePlace place, std::string directory, const RemoteOptions& options)
    : place_(without_sharing(std::move(place))), directory_(std::move(directory)), options_(options) {}

std::string NfsServer::identity() const {
    const auto number = [](const auto& value) { return value ? std::int64_t{*value} : -1; };
    return fmt::format("{} {} {} {} {} {} {} {} {}", fmt::join(place_.addresses, ","), place_.port,
                       place_.mount_port, number(place_.version), place_.connections, place_.read_bytes,
                       number(place_.uid), number(place_.gid), directory_);
}

void NfsServer::adopt(const RemoteOptions& options) {
    options_ = options;
    NfsNode& node = *nodes_.front();
    node.seats.clear();
    for (std::uint32_t i = 0; i < std::max(options_.seats, 1u); ++i)
        node.seats.push_back(options_.first_seat + i * options_.seat_step);
    node.notify(options_.notice);
}

void NfsServer::make_nodes(std::uint32_t version) {
    nodes_.clear();
    node_by_address_.assign(place_.addresses.size(), nullptr);
    for (std::uint32_t i = 0; i < std::max(options_.seats, 1u); ++i) {
        const std::uint32_t seat = options_.first_seat + i * options_.seat_step;
        const std::size_t which = seat % place_.addresses.size();
        const std::string& address = place_.addresses[which];
        auto same = std::find_if(nodes_.begin(), nodes_.end(),
                                 [&](const auto& node) { return node->address() == address; });
        if (same == nodes_.end()) {
            nodes_.push_back(std::make_unique<NfsNode>(place_, address, version, directory_, options_.notice));
            same = nodes_.end() - 1;
        }
        node_by_address_[which] = same->get();
        (*same)->seats.push_back(seat);
    }
    // No seat reads from the other addresses: no connection is made to them.
    std::replace(node_by_address_.begin(), node_by_address_.end(), static_cast<NfsNode*>(nullptr),
                 nodes_.front().get());
}

void NfsServer::wake(uv_loop_t* loop) {
    for (auto& node : nodes_)
        node->each_connection([=](NfsConnection& connection) { connection.transport.watch_by(loop); });
}

void NfsServer::wait_and_serve(Duration timeout) {
    sockets_.clear();
    connections_.clear();
    for (auto& node : nodes_) {
        node->each_connection([&](NfsConnection& connection) {
            const auto polled = connection.transport.polled();
            if (!polled) return;
            sockets_.push_back(*polled);
            connections_.push_back(&connection);
        });
    }
    poll_sockets(sockets_, timeout);
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
        NfsConnection& connection = *connections_[i];
        if (sockets_[i].revents != 0) connection.node.serve(connection, sockets_[i].revents, clock_now());
    }
}

std::optional<std::string> NfsServer::connect_with(std::uint32_t version, Instant until) {
    make_nodes(version);
    for (auto& node : nodes_) node->begin(clock_now());
    for (;;) {
        wait_and_serve(kWaitStep);
        const Instant now = clock_now();
        bool all = true;
        for (auto& node : nodes_) {
            node->tick(now);
            if (node->failure()) return node->failure();
            all = all && node->all_up();
        }
        if (all) return check_directory(until);
        if (now < until) continue;
        for (auto& node : nodes_) {
            if (!node->all_up()) return node->problem();
        }
    }
}

/// Returns zero or an errno; none: no reply before `until`.
std::optional<int> NfsServer::try_open(NfsNode& node, const std::string& path, Instant until) {
    NfsPathWalk walk;
    bool done = false;
    walk.begin(
        node, {.path = path}, [](void* flag, NfsPathWalk&) { *static_cast<bool*>(flag) = true; }, &done);
    for (Instant now = clock_now(); now < until; now = clock_now()) {
        walk.advance(now);
        node.flush(now);
        if (!done) wait_and_serve(kWaitStep);
        node.tick(now);
        if (done) break;
    }
    if (!done) {
        for (auto& each : nodes_) each->drop_all();  // the walk ends here: no reply may reach it
        return std::nullopt;
    }
    if (walk.error() == 0 && node.version() == 4) {
        bool closed = false;
        NfsCall call{[](void* flag, NfsCall&, const NfsReply&) { *static_cast<bool*>(flag) = true; }, &closed};
        if (!node.ready() || !node.requests(clock_now()).close(call, walk.file())) closed = true;
        for (Instant now = clock_now(); !closed && now < until; now = clock_now()) {
            node.flush(now);
            wait_and_serve(kWaitStep);
        }
        if (!closed) node.drop_all();
    }
    return walk.error();
}

/// Checks that the directory or one of its parents exists: the root of version 4 exists even without any
/// export.
std::optional<std::string> NfsServer::check_directory(Instant until) {
    NfsNode& node = *nodes_.front();
    for (std::string path = directory_; path.size() > 1; path.resize(path.rfind('/'))) {
        const auto error = try_open(node, path, until);
        if (!error) return "it does not answer";
        if (*error == 0 || *error == EISDIR) return std::nullopt;
        if (*error == EACCES || *error == EPERM) {
            return fmt::format("permission denied at {}: {}", path, nfs_user_refused(place_));
        }
        if (*error != ENOENT && *error != ENOTDIR) {
            const char* const text = errno_description(*error);
            return fmt::format("{}: {}", path, text != nullptr ? text : "unknown error");
        }
    }
    if (directory_ == "/" || node.version() == 3) return std::nullopt;
    return "no such export";
}

Result<void> NfsServer::connect() {
    const Instant until = clock_now() + place_.timeout;
    std::string why;
    for (const std::uint32_t version : {3U, 4U}) {
        if (place_.version && *place_.version != version) continue;
        const auto problem = connect_with(version, until);
        if (!problem) return {};
        why = why.empty() ? *problem : fmt::format("by NFS version 3: {}; by version 4: {}", why, *problem);
        if (clock_now() < until) continue;
        why += fmt::format("; given up after {}", show_duration(place_.timeout));
        break;
    }
    nodes_.clear();
    return environment_error(fmt::format("{}: {}", place_.name_of(directory_), why));
}

}  // namespace streamsim::storage
