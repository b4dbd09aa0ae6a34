// A node of a scripted server, and time that passes when the test says so.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/nfs/nfs_node.h"
#include "unit/storage/scripted_nfs.h"

namespace streamsim::tests {

class ScriptedNode : public testing::Test {
protected:
    ScriptedNode() {
        place_.host = "127.0.0.1";
        place_.port = place_.mount_port = server_.port();
        place_.timeout = seconds(5);
        server_.script(ScriptedNfs::mount, kMount, mounted('r'));
        server_.script(ScriptedNfs::nfs, limits3, limits_reply3(65536, 32768));
        server_.script(ScriptedNfs::nfs, renew4, compound4({{renew4, 0}}));
        server_.script(ScriptedNfs::nfs, confirm_client4, compound4({{confirm_client4, 0}}));
        server_.script(ScriptedNfs::nfs, set_client4, client_reply4(7));
        script_root(90);
    }

    /// The first operation of the compound of limits is not about a file: it stands for the root itself.
    void script_root(std::uint32_t lease_s, std::uint32_t read_bytes = 65536) {
        server_.script(ScriptedNfs::nfs, get_handle4, root_reply4(lease_s, read_bytes));
    }

    void begin(std::uint32_t version, const std::string& directory = "/export/a") {
        node_ = std::make_unique<storage::NfsNode>(place_, "127.0.0.1", version, directory,
                                                   [this](const std::string& text) { said_.push_back(text); });
        node_->begin(now_);
    }

    /// A turn of both sides, `step` later.
    void turn(Duration step = milliseconds(10)) {
        now_ = now_ + step;
        server_.pump();
        std::vector<std::pair<storage::NfsConnection*, pollfd>> polled;
        node_->each_connection([&](storage::NfsConnection& each) {
            if (const auto socket = each.transport.polled()) polled.emplace_back(&each, *socket);
        });
        for (auto& [connection, socket] : polled) {
            // Over loopback what was sent is there, but on a busy computer a moment later.
            const bool waits = connection->transport.outstanding() > 0;
            storage::poll_sockets({&socket, 1}, waits ? milliseconds(1) : Duration{});
            if (socket.revents != 0) node_->serve(*connection, socket.revents, now_);
        }
        node_->tick(now_);
        server_.pump();
    }

    /// Turns until it is so, or `within` has gone by.
    testing::AssertionResult comes(const std::function<bool()>& so, Duration within = seconds(20)) {
        const Instant until = now_ + within;
        while (!so()) {
            if (now_ > until) return testing::AssertionFailure() << node_->problem();
            turn();
        }
        return testing::AssertionSuccess();
    }
    testing::AssertionResult fails(const testing::Matcher<std::string>& text) {
        if (auto ended = comes([&] { return node_->failure().has_value(); }); !ended) return ended;
        testing::StringMatchResultListener why;
        if (testing::ExplainMatchResult(text, *node_->failure(), &why)) return testing::AssertionSuccess();
        return testing::AssertionFailure() << *node_->failure() << why.str();
    }
    testing::AssertionResult boots() {
        return comes([&] { return node_->all_up(); });
    }

    ScriptedNfs server_;
    RemotePlace place_;
    Instant now_{1'000'000'000};
    std::vector<std::string> said_;
    std::unique_ptr<storage::NfsNode> node_;
};

}  // namespace streamsim::tests
