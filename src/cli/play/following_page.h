// Keeps the page of --web up to date with a session, on a thread of its own: one snapshot and one rendering for
// all clients, only while somebody looks, and rarely enough that play does not feel it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/system/repeating_thread.h"
#include "cli/output/cli_context.h"
#include "report/html/live_page.h"
#include "run/process/control.h"
#include "run/session/session.h"
#include "streamsim/run_result.h"
#include "view/http/web_server.h"

namespace streamsim::cli {

class FollowingPage {
public:
    /// The page that the server shows at first.
    static std::string before_play();

    /// The clock of `control` is used.
    FollowingPage(std::shared_ptr<view::WebServer> server, run::Control& control)
        : server_(std::move(server)), control_(control) {}
    /// Open pages are told that nothing follows, if finish() has not told them more.
    ~FollowingPage();
    FollowingPage(const FollowingPage&) = delete;
    FollowingPage& operator=(const FollowingPage&) = delete;

    const std::string& url() const { return server_->url(); }

    /// Follows `session` until stop(). `also` is a further sentence of the page, called on the page's thread;
    /// an empty text is none. Both outlive stop().
    void follow(run::Session& session, std::function<std::string()> also);
    /// The same of a session that plays nothing, for the seats of other computers: `page` is what is shown.
    void follow(std::function<report::LivePage()> page);
    void stop();
    /// stop(), and shows the finished report. Waits until open pages have it, for 2 s at most.
    void finish(const RunResult& result);

private:
    /// Returns the bytes of the event; 0: there was no snapshot.
    std::size_t update(run::Session& session, const std::string& also);

    std::shared_ptr<view::WebServer> server_;
    run::Control& control_;
    bool is_finished_ = false;
    RepeatingThread thread_;  // last: it uses the others
};

/// Listens at the address of --web, and says where. Errors: of the address; as WebServer::listen().
Result<std::shared_ptr<view::WebServer>> listen_for_page(CliContext& context, const std::string& web);

}  // namespace streamsim::cli
