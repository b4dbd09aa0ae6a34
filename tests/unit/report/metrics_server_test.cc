#include "view/http/metrics_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "loopback.h"

namespace streamsim::report {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::unique_ptr<view::MetricsServer> server() {
    auto out = view::MetricsServer::listen({});
    EXPECT_TRUE(out) << testing::PrintToString(out.error().problems);
    return std::move(*out);
}

/// The port in "http://127.0.0.1:PORT/metrics".
std::uint16_t port_of(const view::MetricsServer& of) {
    const std::string& url = of.url();
    return static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
}

/// The whole answer to a request; the connection is closed after it.
std::string ask(std::uint16_t port, const std::string& request) {
    const int fd = tests::connect_to_loopback(port);
    const std::string text = request + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    EXPECT_EQ(write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    std::string out;
    char buffer[4096];
    for (ssize_t got = 0; (got = read(fd, buffer, sizeof buffer)) > 0;)
        out.append(buffer, static_cast<std::size_t>(got));
    close(fd);
    return out;
}

TEST(MetricsServer, AnswersWithWhatIsPublishedThen) {
    const auto metrics = server();
    EXPECT_FALSE(metrics->wanted());
    metrics->publish("old\n");
    std::string answer;
    std::thread client([&] { answer = ask(port_of(*metrics), "GET /metrics"); });
    while (!metrics->wanted()) std::this_thread::yield();
    metrics->publish("new\n");
    client.join();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(answer,
                HasSubstr("Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"));
    EXPECT_THAT(answer, EndsWith("\r\n\r\nnew\n"));
    EXPECT_FALSE(metrics->wanted());
}

TEST(MetricsServer, AnswersWithTheLastWhenNobodyPublishes) {
    const auto metrics = server();
    metrics->publish("last\n");
    EXPECT_THAT(ask(port_of(*metrics), "GET /metrics"), EndsWith("\r\n\r\nlast\n"));
}

TEST(MetricsServer, AnswersManyAtOnceWhenNobodyPublishes) {
    const auto metrics = server();
    metrics->publish("last\n");
    std::vector<std::string> answers(12);
    std::vector<std::thread> clients;
    for (std::string& answer : answers)
        clients.emplace_back([&] { answer = ask(port_of(*metrics), "GET /metrics"); });
    for (std::thread& client : clients) client.join();
    for (const std::string& answer : answers) {
        EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
        EXPECT_THAT(answer, EndsWith("\r\n\r\nlast\n"));
    }
}

/// More connections than are kept, each with half a request and a byte now and then.
TEST(MetricsServer, ClientsThatDripStarveNobody) {
    const auto metrics = server();
    metrics->publish("figures\n");
    std::vector<int> dripping;
    for (int i = 0; i < 200; ++i) {
        dripping.push_back(tests::connect_to_loopback(port_of(*metrics)));
        (void)send(dripping.back(), "GET /metr", 9, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    std::atomic<bool> answered = false;
    std::thread drops([&] {
        while (!answered) {
            for (const int fd : dripping) (void)send(fd, "i", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
            std::this_thread::sleep_for(std::chrono::milliseconds(50));  // a byte now and then is the test
        }
    });
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THAT(ask(port_of(*metrics), "GET /metrics"), EndsWith("\r\n\r\nfigures\n"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    // All of them are closed in the end, though they go on sending.
    for (const int fd : dripping) {
        char byte = 0;
        EXPECT_LE(recv(fd, &byte, 1, 0), 0);
    }
    answered = true;
    drops.join();
    for (const int fd : dripping) close(fd);
}

TEST(MetricsServer, ThereIsNothingElse) {
    const auto metrics = server();
    EXPECT_THAT(ask(port_of(*metrics), "GET /"), StartsWith("HTTP/1.1 404 "));
    const std::string refused = ask(port_of(*metrics), "DELETE /metrics");
    EXPECT_THAT(refused, StartsWith("HTTP/1.1 405 "));
    EXPECT_THAT(refused, HasSubstr("Allow: GET, HEAD\r\n"));
    EXPECT_THAT(ask(port_of(*metrics), "nonsense"), StartsWith("HTTP/1.1 40"));
    EXPECT_FALSE(metrics->wanted());
}

TEST(MetricsServer, EndsWhileSomebodyAsks) {
    auto metrics = server();
    const std::uint16_t port = port_of(*metrics);
    const int silent = tests::connect_to_loopback(port);
    std::thread client([port] { ask(port, "GET /metrics"); });
    while (!metrics->wanted()) std::this_thread::yield();
    metrics.reset();
    client.join();
    close(silent);
}

TEST(MetricsServer, SaysWhenThePortIsTaken) {
    const auto first = server();
    const auto second = view::MetricsServer::listen({"127.0.0.1", false, port_of(*first)});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::environment);
    EXPECT_THAT(second.error().problems[0], HasSubstr("address already in use"));
    const auto elsewhere = view::MetricsServer::listen({"203.0.113.1", false, 0});  // is nobody's
    ASSERT_FALSE(elsewhere);
    EXPECT_THAT(elsewhere.error().problems[0], HasSubstr("--metrics 203.0.113.1:0: cannot be listened on"));
}

}  // namespace
}  // namespace streamsim::report
