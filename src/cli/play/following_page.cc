#include "cli/play/following_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/units.h"
#include "report/facts/headline.h"
#include "report/html/live_page.h"

namespace streamsim::cli {
namespace {

/// How soon a client that has just come gets the page as it is.
constexpr std::chrono::nanoseconds kTick{250'000'000};
constexpr std::int64_t kPeriodNs = 1'000'000'000;
/// An update that took long is followed by a pause so many times as long: below 2 % of the time are updates.
constexpr std::int64_t kPauseFactor = 50;
/// All clients together get no more: a network that carries the media stays free for them.
constexpr std::int64_t kBytesPerSecond = 4'000'000;

std::int64_t pause_after(std::int64_t took_ns, std::int64_t bytes) {
    return std::max({kPeriodNs, took_ns * kPauseFactor, bytes * 1000 / kBytesPerSecond * 1'000'000});
}

std::string with(const std::string& state, const std::string& also) {
    return also.empty() ? state : state + " " + also + ".";
}

}  // namespace

std::string FollowingPage::before_play() {
    return report::waiting_page("Live: streamsim has not begun to play. The page follows the run.");
}

Result<std::shared_ptr<view::WebServer>> listen_for_page(CliContext& context, const std::string& web) {
    const auto address = view::parse_http_address(web);
    if (!address) return address.error();
    auto server = view::WebServer::listen(*address, FollowingPage::before_play());
    if (!server) return server.error();
    context.log.info("page: " + (*server)->url());  // also with --quiet: the key stands nowhere else
    return std::shared_ptr<view::WebServer>(std::move(*server));
}

FollowingPage::~FollowingPage() {
    stop();
    if (is_finished_) return;
    const std::string state = "streamsim has ended without a result: its messages say why.";
    server_->publish_end("", report::live_state(state));
    server_->wait_for_clients();
}

void FollowingPage::follow(run::Session& session, std::function<std::string()> also) {
    thread_.start(kTick, [this, &session, also = std::move(also), next_ns = std::int64_t{0}]() mutable {
        const std::int64_t begin_ns = control_.now_ns();
        if (begin_ns < next_ns || !server_->wanted()) return kTick;
        const std::size_t bytes = update(session, also()) * server_->clients();
        next_ns = begin_ns + pause_after(control_.now_ns() - begin_ns, static_cast<std::int64_t>(bytes));
        return kTick;
    });
}

void FollowingPage::follow(std::function<report::LivePage()> page) {
    thread_.start(kTick, [this, page = std::move(page), next_ns = std::int64_t{0}]() mutable {
        const std::int64_t begin_ns = control_.now_ns();
        if (begin_ns < next_ns) return kTick;
        auto [text, event] = page();
        const std::size_t bytes = event.size() * server_->clients();
        server_->publish_page(std::move(text), std::move(event));
        next_ns = begin_ns + pause_after(control_.now_ns() - begin_ns, static_cast<std::int64_t>(bytes));
        return kTick;
    });
}

void FollowingPage::stop() {
    thread_.stop();
}

void FollowingPage::finish(const RunResult& result) {
    stop();
    is_finished_ = true;
    auto [page, event] = report::finished_page(result, "The run has ended: this is the finished report.");
    server_->publish_end(std::move(page), std::move(event));
    server_->wait_for_clients();
}

std::size_t FollowingPage::update(run::Session& session, const std::string& also) {
    const bool diagnosing = session.watch().diagnosing;
    std::optional<RunResult> known = diagnosing ? std::nullopt : session.snapshot();
    if (!known) {
        server_->publish_state(report::live_state(
            with(diagnosing ? "Live: play has ended; streamsim reads on for some seconds to diagnose the cause."
                            : "Live: play has not begun, or the storage takes long to answer.",
                 also)));
        return 0;
    }
    known->playing = true;
    auto [page, event] =
        report::live_page(*known, with(fmt::format("Live: {} played so far. The page follows the run.",
                                                   show_duration({report::elapsed_ns(*known)})),
                                       also));
    const std::size_t bytes = event.size();
    server_->publish_page(std::move(page), std::move(event));
    return bytes;
}

}  // namespace streamsim::cli
