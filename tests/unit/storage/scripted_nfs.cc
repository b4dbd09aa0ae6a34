#include "unit/storage/scripted_nfs.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "loopback.h"

namespace streamsim::tests {
namespace {

constexpr std::uint32_t kWholeMessage = 0x80000000U;

XdrWords to_words(const std::uint8_t* bytes, std::size_t count) {
    XdrWords out(count / 4);
    std::memcpy(out.data(), bytes, out.size() * 4);
    for (std::uint32_t& each : out) each = ntohl(each);
    return out;
}

std::size_t padded_words(std::uint32_t bytes) {
    return (std::size_t{bytes} + 3) / 4;
}

/// The procedure, or the first operation of version 4 that is not about which file.
std::uint32_t procedure_of(const XdrWords& call) {
    const auto at = [&](std::size_t i) { return i < call.size() ? call[i] : 0; };
    if (at(3) != ScriptedNfs::nfs || at(4) != 4) return at(5);
    std::size_t next = 6;
    for (int i = 0; i < 2; ++i) next += 2 + padded_words(at(next + 1));  // credentials, verifier
    next += 1 + padded_words(at(next));                                  // the tag
    next += 2;                                                           // minor version, count
    if (at(next) == put_root4) return at(next + 1);
    if (at(next) == put_handle4) return at(next + 2 + padded_words(at(next + 1)));
    return at(next);
}

}  // namespace

ScriptedNfs::ScriptedNfs(std::uint16_t port) {
    listen(port);
}

ScriptedNfs::~ScriptedNfs() {
    stop();
}

void ScriptedNfs::listen(std::uint16_t port, int backlog) {
    port_ = port;
    listener_ = listen_on_loopback(port_, backlog, SOCK_NONBLOCK);
}

void ScriptedNfs::stop() {
    hang_up();
    if (listener_ >= 0) close(std::exchange(listener_, -1));
}

void ScriptedNfs::hang_up(bool politely) {
    for (const Connection& each : connections_) {
        const linger at_once{1, 0};  // a reset leaves no port taken
        if (!politely) setsockopt(each.socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(each.socket);
    }
    connections_.clear();
}

void ScriptedNfs::script(Program program, std::uint32_t procedure, std::vector<ScriptedReply> replies) {
    scripts_[{program, procedure}] = {replies.begin(), replies.end()};
}

int ScriptedNfs::calls(Program program, std::uint32_t procedure) const {
    const auto found = calls_.find({program, procedure});
    return found == calls_.end() ? 0 : found->second;
}

void ScriptedNfs::pump() {
    for (;;) {
        const int each =
            listener_ < 0 ? -1 : accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (each < 0) break;
        connections_.push_back({each, {}});
        ++accepted_;
    }
    std::erase_if(connections_, [this](Connection& each) {
        if (serve(each)) return false;
        close(each.socket);
        return true;
    });
}

bool ScriptedNfs::serve(Connection& connection) {
    std::array<std::uint8_t, 1 << 16> bytes{};
    for (;;) {
        const ssize_t got = recv(connection.socket, bytes.data(), bytes.size(), 0);
        if (got == 0) return false;
        if (got < 0) break;
        connection.asked.insert(connection.asked.end(), bytes.begin(), bytes.begin() + got);
    }
    std::vector<std::uint8_t>& asked = connection.asked;
    while (asked.size() >= 4) {
        const std::size_t whole = 4 + (to_words(asked.data(), 4)[0] & ~kWholeMessage);
        if (asked.size() < whole) break;
        const XdrWords call = to_words(asked.data() + 4, whole - 4);
        asked.erase(asked.begin(), asked.begin() + static_cast<std::ptrdiff_t>(whole));
        if (!answer(connection.socket, call)) return false;
    }
    return true;
}

bool ScriptedNfs::answer(int socket, const XdrWords& call) {
    const Key key{call.at(3), procedure_of(call)};
    ++calls_[key];
    std::deque<ScriptedReply>& script = scripts_[key];
    if (script.empty()) return true;
    const ScriptedReply reply = script.front();
    if (script.size() > 1) script.pop_front();
    if (reply.how == ScriptedReply::How::never) return true;
    if (reply.late.count() > 0) std::this_thread::sleep_for(reply.late);
    constexpr std::uint32_t kUnavailable = 3;
    const bool known = reply.how == ScriptedReply::How::comes;
    XdrWords message{0, call.at(0), 1, 0, 0, 0, known ? 0 : kUnavailable};  // a reply, accepted, no verifier
    if (known) message.insert(message.end(), reply.words.begin(), reply.words.end());
    message[0] = kWholeMessage | static_cast<std::uint32_t>(4 * (message.size() - 1));
    for (std::uint32_t& each : message) each = htonl(each);
    return send(socket, message.data(), 4 * message.size(), MSG_NOSIGNAL) > 0;
}

// ---- results

XdrWords text_words(const std::string& text) {
    XdrWords out{static_cast<std::uint32_t>(text.size())};
    for (std::size_t i = 0; i < text.size(); i += 4) {
        std::array<std::uint8_t, 4> bytes{};
        for (std::size_t k = 0; k < 4 && i + k < text.size(); ++k)
            bytes[k] = static_cast<std::uint8_t>(text[i + k]);
        out.push_back(to_words(bytes.data(), 4)[0]);
    }
    return out;
}

XdrWords joined(std::vector<XdrWords> parts) {
    XdrWords out;
    for (const XdrWords& each : parts) out.insert(out.end(), each.begin(), each.end());
    return out;
}

XdrWords refused3(std::uint32_t status) {
    XdrWords out(9);
    out[0] = status;
    return out;
}

XdrWords mounted(std::uint32_t handle) {
    return {0, 4, handle, 0};
}

XdrWords exports(const std::vector<std::string>& names) {
    XdrWords out;
    for (const std::string& each : names) out = joined({std::move(out), {1}, text_words(each), {0}});
    out.push_back(0);
    return out;
}

namespace {

XdrWords attributes3(std::uint32_t kind, std::uint32_t links, std::uint32_t bytes) {
    XdrWords out(21);
    out[0] = kind;
    out[1] = 0644;
    out[2] = links;
    out[6] = bytes;
    return out;
}

}  // namespace

XdrWords limits_reply3(std::uint32_t read_bytes, std::uint32_t write_bytes, std::uint32_t kind) {
    return joined({kind == 0 ? XdrWords{0, 0} : joined({{0, 1}, attributes3(kind, 1, 0)}),
                   {read_bytes, read_bytes, 512, write_bytes, write_bytes, 512, 4096, 0, 1U << 30, 0, 1, 0}});
}

XdrWords lookup_reply3(std::uint32_t handle, std::uint32_t kind, std::uint32_t links, std::uint32_t bytes) {
    return joined({{0, 4, handle, 1}, attributes3(kind, links, bytes), {0}});
}

XdrWords attributes_reply3(std::uint32_t kind, std::uint32_t bytes) {
    return joined({{0}, attributes3(kind, 1, bytes)});
}

XdrWords access_reply3(std::uint32_t bits) {
    return {0, 0, bits};
}

XdrWords link_reply3(const std::string& target) {
    return joined({{0, 0}, text_words(target)});
}

XdrWords create_reply3(std::uint32_t handle) {
    return handle == 0 ? XdrWords{0, 0, 0, 0, 0} : XdrWords{0, 1, 4, handle, 0, 0, 0};
}

XdrWords done3() {
    return {0, 0, 0, 0, 0};
}

XdrWords list_reply3(const std::vector<std::string>& names, std::uint32_t first_cookie, bool end) {
    XdrWords out{0, 0, 5, 6};
    for (const std::string& each : names)
        out = joined({std::move(out), {1, 0, 9}, text_words(each), {0, first_cookie++}});
    return joined({std::move(out), {0, end ? 1U : 0U}});
}

XdrWords list_plus_reply3(const std::vector<std::string>& names,
                          std::uint32_t kind,
                          std::uint32_t first_cookie,
                          bool end) {
    XdrWords out{0, 0, 5, 6};
    for (const std::string& each : names) {
        out = joined({std::move(out),
                      {1, 0, 9},
                      text_words(each),
                      {0, first_cookie++, 1},
                      attributes3(kind, 1, 0),
                      {0}});
    }
    return joined({std::move(out), {0, end ? 1U : 0U}});
}

XdrWords compound4(std::vector<XdrWords> results) {
    const auto count = static_cast<std::uint32_t>(results.size());
    return joined({{results.back().at(1), 0, count}, joined(std::move(results))});
}

XdrWords refused4(std::uint32_t operation, std::uint32_t status) {
    return compound4({{put_handle4, 0}, {operation, status}});
}

XdrWords root_reply4(std::uint32_t lease_s, std::uint32_t read_bytes) {
    constexpr std::uint32_t kLeaseAndLargestRead = 1U << 10 | 1U << 30;
    return compound4({{put_root4, 0},
                      {get_handle4, 0, 4, 'r'},
                      {get_attributes4, 0, 1, kLeaseAndLargestRead, 12, lease_s, 0, read_bytes}});
}

XdrWords client_reply4(std::uint32_t client) {
    return compound4({{set_client4, 0, 0, client, 1, 2}});
}

XdrWords lookup_reply4(std::uint32_t handle, std::uint32_t kind) {
    constexpr std::uint32_t kType = 1U << 1;
    return compound4(
        {{put_handle4, 0}, {lookup4, 0}, {get_handle4, 0, 4, handle}, {get_attributes4, 0, 1, kType, 4, kind}});
}

XdrWords open_reply4(std::uint32_t handle, bool confirm) {
    const XdrWords state{1, 2, 3, 4};
    const XdrWords change{1, 0, 0, 0, 0};
    return compound4({{put_handle4, 0},
                      joined({{open4, 0}, state, change, {confirm ? 2U : 0U, 0, 0}}),
                      {get_handle4, 0, 4, handle}});
}

XdrWords confirm_reply4() {
    return compound4({{put_handle4, 0}, {confirm_open4, 0, 2, 2, 3, 4}});
}

XdrWords link_reply4(const std::string& target) {
    return compound4({{put_handle4, 0}, joined({{read_link4, 0}, text_words(target)})});
}

XdrWords looked_at4(std::uint32_t kind, XdrWords last) {
    const XdrWords mask{2, 1U << 1 | 1U << 4 | 1U << 20,
                        1U << 1 | 7U << 3 | 1U << 13 | 1U << 15 | 1U << 20 | 1U << 21};
    XdrWords attributes(20);  // size, number, mode, links, owner, group, bytes used, three times
    attributes[0] = kind;
    return compound4({{put_handle4, 0},
                      joined({{get_attributes4, 0}, mask, {4 * 20}, std::move(attributes)}),
                      std::move(last)});
}

}  // namespace streamsim::tests
