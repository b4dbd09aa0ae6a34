// Users of a modelled cluster in a closed loop, each with some operations under way: what a benchmark of
// storage is. Rates are of the time between two instants, so that the beginning is left out.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "loop/virtual_loop.h"
#include "sim/cluster.h"
#include "sim/model_document.h"

namespace streamsim::test {

/// One that ships; of the papers' clusters as many nodes as were measured.
inline ClusterModel shipped_model(const std::string& name, std::uint32_t nodes = 0) {
    const std::string path = STREAMSIM_SOURCE_DIR "/formats/storage/" + name + ".json";
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    auto model = read_model_document(text.str(), path);
    EXPECT_TRUE(model) << path;
    if (nodes > 0) model->nodes = nodes;
    return *model;
}

struct LoopSpec {
    std::uint32_t clients = 1;
    std::uint32_t nodes = 1;     // that they are spread over
    std::uint32_t inflight = 8;  // of each client
    double read_share = 1;
    bool random = false;
    bool shared = false;  // one file
    std::uint64_t block_bytes = 1 << 20;
    std::uint64_t file_bytes = 32'000'000'000;
    bool warm = false;
    Duration warm_up = milliseconds(500);
    Duration length = seconds(1);
};

struct LoopRates {
    double read_bytes_per_s = 0;
    double write_bytes_per_s = 0;
    double operations_per_s = 0;
    double mean_ms = 0;
};

class ClosedLoop {
public:
    ClosedLoop(const ClusterModel& model, const LoopSpec& spec) : spec_(spec), prng_(7) {
        ClusterOptions options;
        options.model = model;
        options.warm = spec.warm;
        for (std::uint32_t i = 0; i < spec.clients; ++i) options.seats.push_back({i % spec.nodes, {}});
        cluster_ = std::make_unique<Cluster>(loop_, std::move(options));
        storage_ = cluster_->make_storage();
        for (std::uint32_t i = 0; i < (spec.shared ? 1 : spec.clients); ++i)
            cluster_->add_file(path(i).c_str(), spec.file_bytes);
        for (std::uint32_t i = 0; i < spec.clients; ++i) {
            Client& client = clients_.emplace_back();
            client.run = this;
            client.seat = i;
            client.name = path(spec.shared ? 0 : i);
            client.open.path = client.name.c_str();
            client.open.access = Access::write;
            client.open.tag.seat = i;
            client.open.done = {[](void*) {}, nullptr};
            storage_->open(client.open);
        }
        loop_.run();
    }

    LoopRates run() {
        from_ = loop_.now() + spec_.warm_up;
        to_ = from_ + spec_.length;
        for (Client& client : clients_) {
            // Each reads its own part of a shared file.
            if (spec_.shared) client.at = client.seat * (spec_.file_bytes / spec_.clients);
            for (std::uint32_t i = 0; i < spec_.inflight; ++i) {
                Slot& slot = client.slots.emplace_back();
                slot.client = &client;
                begin(slot);
            }
        }
        loop_.run();
        const double s = static_cast<double>(spec_.length.ns) * 1e-9;
        rates_.mean_ms = done_ > 0 ? latency_ms_ / static_cast<double>(done_) : 0;
        rates_.operations_per_s = static_cast<double>(done_) / s;
        rates_.read_bytes_per_s /= s;
        rates_.write_bytes_per_s /= s;
        return rates_;
    }

    std::vector<PartBooks> books() { return cluster_->books(from_, to_); }

private:
    struct Client;
    struct Slot {
        Client* client = nullptr;
        ReadOp read;
        WriteOp write;
        bool reads = true;
        void done() { client->run->completed(*this); }
    };
    struct Client {
        ClosedLoop* run = nullptr;
        std::uint32_t seat = 0;
        std::string name;
        OpenOp open;
        std::uint64_t at = 0;
        std::deque<Slot> slots;
    };

    static std::string path(std::uint32_t file) { return "set/" + std::to_string(file) + "/data"; }

    void begin(Slot& slot) {
        if (loop_.now() >= to_) return;
        Client& client = *slot.client;
        const std::uint64_t blocks = spec_.file_bytes / spec_.block_bytes;
        std::uint64_t at = prng_.below(blocks) * spec_.block_bytes;
        if (!spec_.random) {
            at = client.at % (blocks * spec_.block_bytes);
            client.at += spec_.block_bytes;
        }
        slot.reads = prng_.unit() < spec_.read_share;
        if (slot.reads) {
            slot.read.file = client.open.file;
            slot.read.offset = at;
            slot.read.buffer = {static_cast<std::byte*>(nullptr), spec_.block_bytes};
            slot.read.tag.seat = client.seat;
            slot.read.tag.slot = begun_++;
            slot.read.done = Callback::of<&Slot::done>(&slot);
            storage_->read(slot.read);
        } else {
            slot.write.file = client.open.file;
            slot.write.offset = at;
            slot.write.buffer = {static_cast<const std::byte*>(nullptr), spec_.block_bytes};
            slot.write.tag.seat = client.seat;
            slot.write.tag.slot = begun_++;
            slot.write.done = Callback::of<&Slot::done>(&slot);
            storage_->write(slot.write);
        }
    }

    void completed(Slot& slot) {
        const Op& op = slot.reads ? static_cast<const Op&>(slot.read) : slot.write;
        EXPECT_EQ(op.error, 0);
        if (op.completed_at >= from_ && op.completed_at < to_) {
            ++done_;
            latency_ms_ += static_cast<double>((op.completed_at - op.submitted_at).ns) * 1e-6;
            (slot.reads ? rates_.read_bytes_per_s : rates_.write_bytes_per_s) +=
                static_cast<double>(spec_.block_bytes);
        }
        begin(slot);
    }

    const LoopSpec spec_;
    Prng prng_;
    VirtualLoop loop_;
    std::unique_ptr<Cluster> cluster_;
    std::unique_ptr<Storage> storage_;
    std::deque<Client> clients_;
    Instant from_, to_;
    std::uint64_t begun_ = 0;
    std::uint64_t done_ = 0;
    double latency_ms_ = 0;
    LoopRates rates_;
};

}  // namespace streamsim::test
