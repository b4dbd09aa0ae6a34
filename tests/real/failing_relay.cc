#include "real/failing_relay.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/byte_order.h"
#include "base/prng.h"
#include "loopback.h"

namespace streamsim::tests {
namespace {

using Protocol = RemotePlace::Protocol;

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kSmbHeaderBytes = 64;
constexpr std::uint32_t kNfsProgram = 100003;

std::uint32_t word(const RelayMessage& message, std::size_t at, bool big_endian) {
    if (at + 4 > message.size()) return 0;
    return load<std::uint32_t>(std::as_bytes(std::span(message)), at, big_endian);
}

void put_word(RelayMessage& message, std::size_t at, std::uint32_t value, bool big_endian) {
    for (std::size_t i = 0; i < 4; ++i)
        message.at(at + i) = static_cast<std::uint8_t>(value >> 8 * (big_endian ? 3 - i : i));
}

void set_length(RelayMessage& message, Protocol protocol) {
    const auto bytes = static_cast<std::uint32_t>(message.size() - kLengthBytes);
    put_word(message, 0, protocol == Protocol::nfs ? bytes | 0x80000000U : bytes, true);
}

/// A reply of ONC RPC; `words` follow its transaction number.
RelayMessage rpc_reply(std::uint32_t transaction, const std::vector<std::uint32_t>& words) {
    RelayMessage out(kLengthBytes + 4 + 4 * words.size());
    put_word(out, kLengthBytes, transaction, true);
    for (std::size_t i = 0; i < words.size(); ++i) put_word(out, kLengthBytes + 4 + 4 * i, words[i], true);
    set_length(out, Protocol::nfs);
    return out;
}

/// A call of ONC RPC, as far as the answers need it.
struct Call {
    std::uint32_t program = 0, version = 0, procedure = 0;
    std::uint32_t operation = 0;  // NFS version 4: the first of the compound
};

Call call_of(const RelayMessage& message) {
    const auto at = [&](std::size_t offset) { return word(message, offset, true); };
    const auto padded = [](std::uint32_t bytes) { return std::size_t{bytes} + (4 - bytes % 4) % 4; };
    Call call{at(16), at(20), at(24)};
    if (call.program != kNfsProgram || call.version != 4 || call.procedure == 0) return call;
    std::size_t from = 28;
    for (int i = 0; i < 2; ++i) from += 8 + padded(at(from + 4));  // credentials, verifier
    from += 4 + padded(at(from));                                  // the tag
    call.operation = at(from + 8);                                 // behind the minor version and the count
    return call;
}

bool send_all(int to, std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
    return true;
}

int connect_to(std::uint16_t port) {
    const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    if (connect(made, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return made;
    close(made);
    return -1;
}

/// Takes the first whole message off `bytes`; none: the rest has still to come.
std::optional<RelayMessage> take_message(RelayMessage& bytes) {
    if (bytes.size() < kLengthBytes) return std::nullopt;
    const std::size_t whole = kLengthBytes + (word(bytes, 0, true) & 0x00ffffffU);
    if (bytes.size() < whole) return std::nullopt;
    const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(whole);
    RelayMessage message(bytes.begin(), end);
    bytes.erase(bytes.begin(), end);
    return message;
}

}  // namespace

struct FailingRelay::Pair {
    int client = -1;
    int server = -1;
    RelayMessage asked, answered;         // not yet passed on
    std::map<std::uint32_t, Call> calls;  // NFS: by transaction
    bool open = true;
};

FailingRelay::FailingRelay(Protocol protocol,
                           const std::vector<std::uint16_t>& server_ports,
                           std::vector<ReplyFailure> failures)
    : protocol_(protocol),
      server_ports_(server_ports),
      failures_(std::move(failures)),
      wake_(eventfd(0, EFD_CLOEXEC)) {
    for (std::size_t i = 0; i < server_ports.size(); ++i) {
        std::uint16_t port = 0;
        listeners_.push_back(listen_on_loopback(port));
        ports_.push_back(port);
    }
    thread_ = std::thread([this] { run(); });
}

FailingRelay::~FailingRelay() {
    ended_ = true;
    eventfd_write(wake_, 1);
    thread_.join();
    for (const int each : listeners_) close(each);
    close(wake_);
}

void FailingRelay::begin(std::uint64_t at, std::size_t way) {
    const std::lock_guard lock(mutex_);
    replies_ = 0;
    at_ = at;
    failure_ = failures_.at(way);
    failed_.clear();
    cut_all_ = true;
    eventfd_write(wake_, 1);
}

Duration FailingRelay::timeout() const {
    const std::lock_guard lock(mutex_);
    return at_ == UINT64_MAX ? seconds(20) : milliseconds(400);
}

std::uint64_t FailingRelay::calls() const {
    const std::lock_guard lock(mutex_);
    return replies_;
}

std::string FailingRelay::told(std::size_t way) const {
    constexpr const char* kNames[] = {"status", "rpc", "denied", "cut", "lose", "half", "noise", "twice"};
    const ReplyFailure& failure = failures_.at(way);
    const std::lock_guard lock(mutex_);
    return fmt::format("{} {:#x}: {}", kNames[static_cast<std::size_t>(failure.how)], failure.number, failed_);
}

void FailingRelay::run() {
    while (!ended_) {
        std::vector<pollfd> watched{{wake_, POLLIN, 0}};
        for (const int each : listeners_) watched.push_back({each, POLLIN, 0});
        for (const auto& pair : pairs_) {
            watched.push_back({pair->client, POLLIN, 0});
            watched.push_back({pair->server, POLLIN, 0});
        }
        poll(watched.data(), watched.size(), -1);
        if (watched[0].revents != 0) {
            eventfd_t count = 0;
            eventfd_read(wake_, &count);
            const std::lock_guard lock(mutex_);
            if (std::exchange(cut_all_, false)) {
                for (const auto& pair : pairs_) pair->open = false;
            }
        }
        const std::size_t first_pair = 1 + listeners_.size();
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
            Pair& pair = *pairs_[i];
            if (pair.open && watched[first_pair + 2 * i].revents != 0) pair.open = pass(pair, false);
            if (pair.open && watched[first_pair + 2 * i + 1].revents != 0) pair.open = pass(pair, true);
        }
        for (std::size_t i = 0; i < listeners_.size(); ++i) {
            if (watched[1 + i].revents != 0) accept_from(i);
        }
        std::erase_if(pairs_, [this](const auto& pair) {
            if (pair->open && !ended_) return false;
            close(pair->client);
            close(pair->server);
            return true;
        });
    }
    for (const auto& pair : pairs_) {
        close(pair->client);
        close(pair->server);
    }
}

void FailingRelay::accept_from(std::size_t port) {
    auto pair = std::make_unique<Pair>();
    pair->client = accept4(listeners_[port], nullptr, nullptr, SOCK_CLOEXEC);
    if (pair->client < 0) return;
    pair->server = connect_to(server_ports_[port]);
    const int at_once = 1;
    for (const int each : {pair->client, pair->server})
        setsockopt(each, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    pair->open = pair->server >= 0;
    pairs_.push_back(std::move(pair));
}

/// Takes what has come from one side, and passes whole messages on. False: the connection has ended.
bool FailingRelay::pass(Pair& pair, bool reply) {
    std::array<std::uint8_t, 1 << 16> bytes{};
    const ssize_t got = recv(reply ? pair.server : pair.client, bytes.data(), bytes.size(), 0);
    if (got <= 0) return false;
    RelayMessage& waiting = reply ? pair.answered : pair.asked;
    waiting.insert(waiting.end(), bytes.begin(), bytes.begin() + got);
    while (auto message = take_message(waiting)) {
        if (reply) {
            if (!pass_reply(pair, std::move(*message))) return false;
        } else {
            note_request(pair, *message);
            if (!send_all(pair.server, *message)) return false;
        }
    }
    return true;
}

void FailingRelay::note_request(Pair& pair, const RelayMessage& message) const {
    if (protocol_ == Protocol::nfs) pair.calls[word(message, kLengthBytes, true)] = call_of(message);
}

namespace {

RelayMessage with_status(Protocol protocol, const RelayMessage& reply, const Call& call, std::uint32_t status) {
    if (protocol == Protocol::nfs) {
        const std::uint32_t transaction = word(reply, kLengthBytes, true);
        std::vector<std::uint32_t> words{1, 0, 0, 0, 0, status};  // a reply, accepted, no verifier, executed
        if (call.operation != 0) {
            words.insert(words.end(), {0, 1, call.operation, status});  // no tag, one result
        } else {
            words.resize(words.size() + 8);  // no attributes
        }
        return rpc_reply(transaction, words);
    }
    RelayMessage out(reply.begin(), reply.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                        reply.size(), kLengthBytes + kSmbHeaderBytes)));
    out.resize(kLengthBytes + kSmbHeaderBytes + 9);
    put_word(out, kLengthBytes + 8, status, false);
    put_word(out, kLengthBytes + 16, word(out, kLengthBytes + 16, false) & ~8U, false);  // not signed
    put_word(out, kLengthBytes + 20, 0, false);                                          // nothing behind it
    std::fill(out.begin() + kLengthBytes + 48, out.end(), std::uint8_t{0});
    out[kLengthBytes + kSmbHeaderBytes] = 9;
    set_length(out, protocol);
    return out;
}

RelayMessage damaged(Protocol protocol, RelayMessage reply, ReplyFailure::How how) {
    // The numbers of the request stay: without them a reply belongs to nothing.
    const std::size_t kept = kLengthBytes + (protocol == Protocol::nfs ? 24 : kSmbHeaderBytes);
    if (reply.size() <= kept) return reply;
    if (how == ReplyFailure::How::half) {
        reply.resize(kept + (reply.size() - kept) / 2 / 4 * 4);
        set_length(reply, protocol);
        return reply;
    }
    for (std::size_t i = kept; i < reply.size(); ++i)
        reply[i] = static_cast<std::uint8_t>(mix64(i + word(reply, kLengthBytes, true)));
    return reply;
}

}  // namespace

bool FailingRelay::pass_reply(Pair& pair, RelayMessage message) {
    constexpr std::uint32_t kPending = 0x103;  // SMB: the reply comes later
    if (protocol_ == Protocol::smb && word(message, kLengthBytes + 8, false) == kPending)
        return send_all(pair.client, message);
    Call call;
    std::string name = fmt::format("command {}", word(message, kLengthBytes + 12, false) & 0xffffU);
    if (protocol_ == Protocol::nfs) {
        call = pair.calls[word(message, kLengthBytes, true)];
        name = fmt::format("program {} version {} procedure {} operation {}", call.program, call.version,
                           call.procedure, call.operation);
    }
    ReplyFailure failure;
    {
        const std::lock_guard lock(mutex_);
        if (replies_++ != at_) return send_all(pair.client, message);
        failure = failure_;
        failed_ = name;
    }
    using How = ReplyFailure::How;
    const std::uint32_t transaction = word(message, kLengthBytes, true);
    switch (failure.how) {
        case How::status: message = with_status(protocol_, message, call, failure.number); break;
        case How::rpc: message = rpc_reply(transaction, {1, 0, 0, 0, failure.number}); break;
        case How::denied: message = rpc_reply(transaction, {1, 1, 1, 5}); break;  // too weak credentials
        case How::cut: return false;
        case How::lose: return true;
        case How::half:
        case How::noise: message = damaged(protocol_, std::move(message), failure.how); break;
        case How::twice:
            if (!send_all(pair.client, message)) return false;
            break;
    }
    return send_all(pair.client, message);
}

}  // namespace streamsim::tests
