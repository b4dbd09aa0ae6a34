#include "storage/nfs/nfs_server.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/units.h"
#include "storage/nfs/nfs_opening.h"

namespace streamsim::storage {
namespace {

constexpr Duration kStep = milliseconds(10);

/// The clock of every loop in real time.
Instant clock_now() {
    return {static_cast<std::int64_t>(uv_hrtime())};
}

}  // namespace

NfsServer::NfsServer(RemotePlace place, std::string directory, const RemoteOptions& options)
    : place_(std::move(place)),
      directory_(std::move(directory)),
      options_(options),
      epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

NfsServer::~NfsServer() {
    nodes_.clear();
    if (epoll_ >= 0) ::close(epoll_);
}

void NfsServer::make_nodes(std::uint32_t version) {
    nodes_.clear();
    node_by_address_.assign(place_.addresses.size(), nullptr);
    for (std::uint32_t i = 0; i < std::max(options_.seats, 1u); ++i) {
        const std::uint32_t seat = options_.first_seat + i;
        const std::size_t which = seat % place_.addresses.size();
        const std::string& address = place_.addresses[which];
        auto same = std::find_if(nodes_.begin(), nodes_.end(),
                                 [&](const auto& node) { return node->address() == address; });
        if (same == nodes_.end()) {
            nodes_.push_back(
                std::make_unique<NfsNode>(place_, address, version, directory_, epoll_, options_.notice));
            same = nodes_.end() - 1;
        }
        node_by_address_[which] = same->get();
        (*same)->seats.push_back(seat);
    }
    // Nobody reads from the others: nothing is asked of them.
    std::replace(node_by_address_.begin(), node_by_address_.end(), static_cast<NfsNode*>(nullptr),
                 nodes_.front().get());
}

void NfsServer::wait_and_serve(Duration at_most) {
    std::array<epoll_event, 64> events{};
    const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()),
                                 static_cast<int>(at_most.ns / 1'000'000));
    for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        auto& lane = *static_cast<NfsLane*>(event.data.ptr);
        lane.node.serve(lane, event.events, clock_now());
    }
}

std::optional<std::string> NfsServer::connect_with(std::uint32_t version, Instant until) {
    make_nodes(version);
    for (auto& node : nodes_) node->begin(clock_now());
    for (;;) {
        wait_and_serve(kStep);
        const Instant now = clock_now();
        bool all = true;
        for (auto& node : nodes_) {
            node->tick(now);
            if (node->failure()) return node->failure();
            all = all && node->all_up();
        }
        if (all) return look_for_directory(until);
        if (now < until) continue;
        for (auto& node : nodes_) {
            if (!node->all_up()) return node->trouble();
        }
    }
}

/// Zero or an errno; nothing: there was no answer in time.
std::optional<int> NfsServer::try_open(NfsNode& node, const std::string& path, Instant until) {
    NfsOpening opening;
    bool done = false;
    opening.begin(
        node, {.path = path}, [](void* flag, NfsOpening&) { *static_cast<bool*>(flag) = true; }, &done);
    for (Instant now = clock_now(); now < until; now = clock_now()) {
        opening.advance(now);
        node.flush(now);
        if (!done) wait_and_serve(kStep);
        node.tick(now);
        if (done) break;
    }
    if (!done) {
        for (auto& each : nodes_) each->drop_all();  // no answer may come any more
        return std::nullopt;
    }
    if (opening.error() == 0 && node.version() == 4) {
        NfsCall call{[](void*, NfsCall&, const NfsReply&) {}};
        bool closed = false;
        call.owner = &closed;
        call.answer = [](void* flag, NfsCall&, const NfsReply&) { *static_cast<bool*>(flag) = true; };
        if (!NfsRequests::close(node.pick(), call, opening.file(), clock_now())) closed = true;
        for (Instant now = clock_now(); !closed && now < until; now = clock_now()) {
            node.flush(now);
            wait_and_serve(kStep);
        }
        if (!closed) node.drop_all();
    }
    return opening.error();
}

/// Something of what is wanted must be there: the root of version 4 always is, also when it leads nowhere.
std::optional<std::string> NfsServer::look_for_directory(Instant until) {
    NfsNode& node = *nodes_.front();
    for (std::string path = directory_; path.size() > 1; path.resize(path.rfind('/'))) {
        const auto error = try_open(node, path, until);
        if (!error) return "it does not answer";
        if (*error == 0 || *error == EISDIR) return std::nullopt;
        if (*error == EACCES || *error == EPERM) {
            return fmt::format(
                "permission denied at {}: the server does not let user {} in (it may take root for nobody; "
                "?uid=N&gid=N names another user)",
                path, place_.uid.value_or(geteuid()));
        }
        if (*error != ENOENT && *error != ENOTDIR) return fmt::format("{}: {}", path, strerrordesc_np(*error));
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
    return environment_error(fmt::format("nfs://{}{}: {}", place_.host, directory_, why));
}

}  // namespace streamsim::storage
