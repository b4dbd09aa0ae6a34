#include "view/http/web_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace streamsim::report {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::unique_ptr<view::WebServer> server(const view::HttpAddress& address = {}) {
    auto out = view::WebServer::listen(address, "the page\n");
    EXPECT_TRUE(out) << testing::PrintToString(out.error().problems);
    return std::move(*out);
}

/// The port in "http://HOST:PORT/...".
std::uint16_t port_of(const view::WebServer& of) {
    const std::string& url = of.url();
    return static_cast<std::uint16_t>(std::stoul(url.substr(url.find(':', 7) + 1)));
}

/// A connection that ends with its object.
class Client {
public:
    explicit Client(const view::WebServer& server, int receive_bytes = 0)
        : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        if (receive_bytes > 0) setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port_of(server));
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    }
    ~Client() { close(fd_); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    void send(const std::string& text) const {
        EXPECT_EQ(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    }
    /// Reads until `text` was read, or the end. Returns everything since the beginning.
    const std::string& until(const std::string& text) {
        char buffer[4096];
        std::size_t from = 0;
        while (read_.find(text, from) == std::string::npos) {
            from = read_.size() - std::min(read_.size(), text.size());
            const ssize_t got = recv(fd_, buffer, sizeof buffer, 0);
            if (got <= 0) break;
            read_.append(buffer, static_cast<std::size_t>(got));
        }
        return read_;
    }
    const std::string& to_the_end() { return until("no answer has this text"); }

private:
    const int fd_;
    std::string read_;
};

std::string request(const std::string& line, const std::string& host = "127.0.0.1:80") {
    return line + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
}

std::string ask(const view::WebServer& server, const std::string& text) {
    Client client(server);
    client.send(text);
    return client.to_the_end();
}

/// Listens to events, and the server knows.
std::unique_ptr<Client> listening(const view::WebServer& server, int receive_bytes = 0) {
    auto client = std::make_unique<Client>(server, receive_bytes);
    client->send(request("GET /events"));
    EXPECT_THAT(client->until("retry: 2000"), StartsWith("HTTP/1.1 200 OK\r\n"));
    return client;
}

void wait_for_clients(const view::WebServer& server, std::size_t count) {
    while (server.clients() != count) std::this_thread::yield();
}

TEST(WebServer, ShowsThePageThatWasPublishedLast) {
    const auto web = server();
    EXPECT_FALSE(web->wanted());
    const std::string before = ask(*web, request("GET /"));
    EXPECT_THAT(before, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(before, EndsWith("\r\n\r\nthe page\n"));
    EXPECT_THAT(before, HasSubstr("Content-Type: text/html; charset=utf-8\r\n"));
    EXPECT_THAT(before, HasSubstr("connect-src 'self'; "));
    EXPECT_THAT(before, HasSubstr("frame-ancestors 'none'\r\n"));
    EXPECT_THAT(before, HasSubstr("Cache-Control: no-store\r\n"));
    EXPECT_TRUE(web->wanted());
    web->publish_page("a later page\n", "{}");
    EXPECT_FALSE(web->wanted());
    web->publish_state("{}");
    EXPECT_THAT(ask(*web, request("GET /")), EndsWith("\r\n\r\na later page\n"));
    EXPECT_THAT(ask(*web, request("HEAD /")), Not(HasSubstr("page")));
}

TEST(WebServer, ThereIsNothingElse) {
    const auto web = server();
    for (const char* path : {"/x", "/../etc/passwd", "//", "/events/", "/metrics"})
        EXPECT_THAT(ask(*web, request(std::string("GET ") + path)), StartsWith("HTTP/1.1 404 ")) << path;
    for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS"})
        EXPECT_THAT(ask(*web, request(std::string(method) + " /")), StartsWith("HTTP/1.1 405 ")) << method;
    EXPECT_THAT(ask(*web, "GET / HTTP/1.1\r\nHost: localhost\r\nA: " + std::string(100'000, 'a') + "\r\n\r\n"),
                StartsWith("HTTP/1.1 4"));
}

TEST(WebServer, OnThisComputerTheHostIsThisComputer) {
    const auto web = server();
    for (const char* host : {"localhost", "localhost:8080", "127.0.0.1", "127.0.0.1:1", "[::1]:8080"})
        EXPECT_THAT(ask(*web, request("GET /", host)), StartsWith("HTTP/1.1 200 ")) << host;
    for (const char* host :
         {"evil.example", "evil.example:80", "localhost.evil.example", "127.evil.example:80", ""})
        EXPECT_THAT(ask(*web, request("GET /", host)), StartsWith("HTTP/1.1 403 ")) << host;
    EXPECT_THAT(ask(*web, request("GET /events", "evil.example")), StartsWith("HTTP/1.1 403 "));
}

TEST(WebServer, OtherComputersNeedTheKey) {
    view::HttpAddress any;
    any.host = "0.0.0.0";
    const auto web = server(any);
    const std::size_t at = web->url().find("/?key=");
    ASSERT_NE(at, std::string::npos) << web->url();
    const std::string key = web->url().substr(at + 6);
    EXPECT_EQ(key.size(), 32U);  // 128 bits
    EXPECT_NE(server(any)->url().substr(server(any)->url().find("key=")), "key=" + key);
    std::string other = key;
    other.back() = other.back() == '0' ? '1' : '0';
    for (const std::string& wrong :
         std::vector<std::string>{"", "?key=", "?key=" + other, "?key=" + key + "0", "?kex=" + key}) {
        EXPECT_THAT(ask(*web, request("GET /" + wrong)), StartsWith("HTTP/1.1 403 ")) << wrong;
        EXPECT_THAT(ask(*web, request("GET /events" + wrong)), StartsWith("HTTP/1.1 403 ")) << wrong;
    }
    EXPECT_THAT(ask(*web, request("GET /?key=" + key, "any.example")), EndsWith("the page\n"));
}

/// The body of an answer without the framing of its chunks.
std::string body_of(const std::string& answer) {
    std::string out;
    std::size_t at = answer.find("\r\n\r\n") + 4;
    while (at < answer.size()) {
        const std::size_t bytes = std::stoul(answer.substr(at), nullptr, 16);
        at = answer.find("\r\n", at) + 2;
        out += answer.substr(at, bytes);
        at += bytes + 2;
    }
    return out;
}

TEST(WebServer, EventsAreFramed) {
    const auto web = server();
    const auto client = listening(*web);
    web->publish_page("1\n", R"({"n":1})");
    client->until("1}\n");
    web->publish_state(R"({"n":2})");
    client->until("2}\n");
    web->publish_end("3\n", R"({"n":3})");
    const std::string& answer = client->to_the_end();
    EXPECT_THAT(answer, HasSubstr("Content-Type: text/event-stream\r\n"));
    EXPECT_EQ(body_of(answer),
              "retry: 2000\n\nevent: page\ndata: {\"n\":1}\n\nevent: state\ndata: {\"n\":2}\n\n"
              "event: end\ndata: {\"n\":3}\n\n");
}

/// One that comes after a page and a change of state gets the page.
TEST(WebServer, TheFirstEventHasThePage) {
    const auto web = server();
    web->publish_page("1\n", "one");
    web->publish_state("two");
    const auto client = listening(*web);
    EXPECT_THAT(client->until("one\n\n"), HasSubstr("event: page\ndata: one\n\n"));
    web->publish_state("three");
    EXPECT_THAT(client->until("three\n\n"), Not(HasSubstr("two")));
}

TEST(WebServer, EachClientGetsTheEnd) {
    const auto web = server();
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 50; ++i) clients.push_back(listening(*web));
    EXPECT_EQ(web->clients(), 50U);
    web->publish_end("end\n", "the end");
    web->wait_for_clients();
    for (const auto& client : clients)
        EXPECT_THAT(client->to_the_end(), HasSubstr("event: end\ndata: the end\n\n"));
    wait_for_clients(*web, 0);
    // A client that comes later, too.
    EXPECT_THAT(ask(*web, request("GET /events")), HasSubstr("event: end\ndata: the end\n\n"));
    EXPECT_THAT(ask(*web, request("GET /")), EndsWith("end\n"));
}

/// Clients come and leave for as long as the server waits for one that does not read.
TEST(WebServer, ClientsThatLeaveDoNotProlongTheWaitForOthers) {
    const auto web = server();
    const auto slow = listening(*web, 4096);
    web->publish_end("p", std::string(std::size_t{32} << 20, 'x'));
    std::atomic<bool> ended = false;
    std::thread others([&] {
        while (!ended) (void)ask(*web, request("GET /events"));
    });
    web->wait_for_clients();
    ended = true;
    others.join();
    wait_for_clients(*web, 1);  // it had not to wait until the slow one was sent away
}

/// A page that a client has not read is replaced for it, not queued.
TEST(WebServer, ASlowClientSkipsEvents) {
    const auto web = server();
    const auto slow = listening(*web, 4096);
    const auto quick = listening(*web);
    constexpr int kEvents = 40;
    const std::string large(1 << 20, 'x');
    for (int i = 0; i < kEvents; ++i) {
        const std::string end = "number " + std::to_string(i) + ".";
        web->publish_page("p", large + end);
        quick->until(end);
    }
    web->publish_end("p", "the end");
    const std::string& read = slow->to_the_end();
    EXPECT_LT(read.size(), 10 * large.size());
    EXPECT_NE(read.find("data: the end"), std::string::npos);
}

/// Clients that listen stay; one too many is refused.
TEST(WebServer, KeepsTheClientsThatItHas) {
    const auto web = server();
    std::vector<std::unique_ptr<Client>> clients;
    for (std::size_t i = 0; i < view::WebServer::kConnectionsMax; ++i) clients.push_back(listening(*web));
    Client more(*web);
    EXPECT_EQ(more.to_the_end(), "");
    web->publish_page("p", "the news");
    for (const auto& client : clients) EXPECT_THAT(client->until("the news"), HasSubstr("the news"));
    clients.pop_back();
    // One that has left is noticed when it is sent something.
    while (web->clients() > clients.size()) web->publish_state("more");
    EXPECT_THAT(ask(*web, request("GET /")), StartsWith("HTTP/1.1 200 "));
}

TEST(WebServer, EndsWhileClientsListen) {
    auto web = server();
    const auto client = listening(*web);
    web.reset();
    EXPECT_THAT(client->to_the_end(), Not(HasSubstr("event:")));  // and there is an end
}

}  // namespace
}  // namespace streamsim::report
