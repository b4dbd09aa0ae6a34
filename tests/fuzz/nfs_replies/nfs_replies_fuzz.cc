// Replies of NFS servers of both versions, of mount services and of port mappers: libnfs decodes them,
// streamsim takes what it needs. The first byte says which request is answered, the second how well the reply
// is formed; the rest is the reply.
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "fuzz/fuzz.h"
#include "storage/nfs/nfs_requests.h"
#include "storage/nfs/nfs_transport.h"

namespace streamsim::fuzz {
namespace {

using namespace storage;

constexpr std::uint32_t kAskedBytes = 1000;

/// A connection of the transport to a socket of this thread, made anew when a reply has broken it.
class Server {
public:
    Server() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        const bool listens = bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                             listen(listener_, 5) == 0 &&
                             getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0;
        require(listens, "a socket on loopback listens");
        port_ = ntohs(address.sin_port);
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() {
        hang_up();
        close(listener_);
    }

    NfsTransport& connected() {
        if (transport_ != nullptr && transport_->state() == NfsTransport::State::connected) return *transport_;
        hang_up();
        transport_ = std::make_unique<NfsTransport>(place_);
        require(transport_->connect("127.0.0.1", port_, now_), "loopback connects");
        connection_ = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        // Closing resets, so that no port stays taken for a minute.
        const linger at_once{1, 0};
        setsockopt(connection_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        serve([this] { return transport_->state() != NfsTransport::State::connecting; });
        require(transport_->state() == NfsTransport::State::connected, "loopback connects");
        return *transport_;
    }

    /// Takes a request from the wire; its number.
    std::uint32_t take_request() {
        require(transport_->flush(), "a request is sent");
        std::array<std::uint32_t, 2> head{};
        receive(std::as_writable_bytes(std::span(head)));
        std::vector<std::byte> rest((ntohl(head[0]) & 0x7fffffff) - sizeof head[1]);
        receive(rest);
        return head[1];
    }

    void answer(std::span<const std::byte> reply) {
        require(
            send(connection_, reply.data(), reply.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(reply.size()),
            "a reply is sent");
    }
    /// No more replies come.
    void hang_up() {
        if (connection_ >= 0) close(connection_);
        connection_ = -1;
    }

    void serve(const std::function<bool()>& enough) {
        constexpr int kTurnsMax = 20, kTurnMs = 50;
        for (int turn = 0; turn < kTurnsMax && !enough(); ++turn) {
            auto polled = transport_->polled();
            if (!polled) return;
            poll(&*polled, 1, kTurnMs);
            now_ = now_ + milliseconds(1);
            if (!transport_->service(polled->revents, now_)) return;
        }
    }

private:
    void receive(std::span<std::byte> into) {
        require(into.empty() || recv(connection_, into.data(), into.size(), MSG_WAITALL) ==
                                    static_cast<ssize_t>(into.size()),
                "a request arrives");
    }

    RemotePlace place_;
    Instant now_{1'000'000'000};
    int listener_;
    std::uint16_t port_ = 0;
    int connection_ = -1;
    std::unique_ptr<NfsTransport> transport_;
};

struct Heard {
    int answers = 0;
};

void check_reply(void* owner, NfsCall& call, const NfsReply& reply) {
    ++static_cast<Heard*>(owner)->answers;
    require(reply.outcome != NfsOutcome::failed || reply.error != 0, "what failed has an error");
    if (reply.outcome != NfsOutcome::done) return;
    require(reply.handle.size <= reply.handle.bytes.size(), "a handle has the size of handles");
    require(reply.data.size() <= call.asked_bytes, "no more is read than was asked for");
    std::size_t sum = reply.handle.size;
    for (const std::byte each : reply.data) sum += std::to_integer<std::size_t>(each);
    for (const char each : reply.text) sum += static_cast<unsigned char>(each);
    for (std::uint32_t i = 0; i < reply.handle.size; ++i)
        sum += static_cast<unsigned char>(reply.handle.bytes[i]);
    for (const std::string& name : reply.names) sum += name.size();
    volatile std::size_t used = sum;  // each byte was read
    (void)used;
}

bool ask(NfsTransport& transport, NfsCall& call, unsigned which) {
    const Instant now{1'000'000'000};
    const NfsRequests three(transport, 3, now), four(transport, 4, now);
    NfsHandle handle;
    handle.size = 4;
    handle.bytes.fill('h');
    NfsOpenFile file;
    file.handle = handle;
    switch (which % 24) {
        case 0: return nfs_ask_port(transport, call, NfsService::mount, now);
        case 1: return nfs_mount(transport, call, "/export", now);
        case 2: return nfs_ask_exports(transport, call, now);
        case 3: return three.server_limits(call, handle);
        case 4: return three.lookup(call, handle, "name");
        case 5: return three.read_link(call, handle);
        case 6: return three.read(call, file, 0, kAskedBytes);
        case 7: return three.access(call, handle);
        case 8: return three.write(call, handle, 0, std::as_bytes(std::span("data")));
        case 9: return three.commit(call, handle);
        case 10: return three.create(call, handle, "name");
        case 11: return three.make_directory(call, handle, "name");
        case 12: return three.remove(call, handle, "name");
        case 13: return three.attributes(call, handle);
        case 14: return three.list(call, handle, 0, {});
        case 15: return four.server_limits(call, handle);
        case 16: return four.lookup(call, handle, "name");
        case 17: return four.read_link(call, handle);
        case 18: return four.read(call, file, 0, kAskedBytes);
        case 19: return four.set_client(call, "client", 1);
        case 20: return four.open(call, 1, handle, "name", file);
        case 21: return four.confirm_open(call, file);
        case 22: return four.close(call, file);
        default: return three.rename(call, handle, "a", handle, "b");
    }
}

void put(std::vector<std::byte>& into, std::uint32_t big) {
    const auto bytes = std::as_bytes(std::span(&big, 1));
    into.insert(into.end(), bytes.begin(), bytes.end());
}

}  // namespace
}  // namespace streamsim::fuzz

STREAMSIM_FUZZ(nfs_replies) {
    using namespace streamsim;
    using namespace streamsim::fuzz;
    static Server server;
    Taker taker(input);
    const unsigned which = taker.byte(), form = taker.byte();
    NfsTransport& transport = server.connected();
    Heard heard;
    storage::NfsCall call{check_reply, &heard};
    require(ask(transport, call, which), "a request is sent");
    const std::uint32_t number = server.take_request();
    std::vector<std::byte> reply;
    const std::size_t head = (form & 1) != 0 ? 8 : 24;
    put(reply, htonl(0x80000000U | static_cast<std::uint32_t>(head + taker.rest().size())));
    put(reply, number);
    put(reply, htonl(1));  // a reply
    if ((form & 1) == 0) {
        for (int i = 0; i < 4; ++i) put(reply, 0);  // accepted, no verifier of no bytes, executed
    }
    reply.insert(reply.end(), taker.rest().begin(), taker.rest().end());
    server.answer(reply);
    if ((form & 2) != 0) server.hang_up();
    server.serve([&heard] { return heard.answers > 0; });
    if (heard.answers == 0) transport.drop();
    require(heard.answers == 1, "a request is answered once");
}
