// Keeps the page of --web up to date with a session, on a thread of its own: one snapshot and one rendering for
// all clients, only while somebody looks, and rarely enough that play does not feel it.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/system/mutex.h"
#include "run/session/session.h"
#include "streamsim/run_result.h"
#include "view/web_server.h"

namespace streamsim::cli {

class FollowingPage {
public:
    /// The page that the server shows at first.
    static std::string before_play();

    explicit FollowingPage(std::unique_ptr<view::WebServer> server) : server_(std::move(server)) {}
    /// Open pages are told that nothing follows, if finish() has not told them more.
    ~FollowingPage();
    FollowingPage(const FollowingPage&) = delete;
    FollowingPage& operator=(const FollowingPage&) = delete;

    const std::string& url() const { return server_->url(); }

    /// Follows `session` until stop(). `also` is a further sentence of the page, called on the page's thread;
    /// an empty text is none. Both outlive stop().
    void follow(run::Session& session, std::function<std::string()> also);
    void stop();
    /// stop(), and shows the finished report. Waits until open pages have it, for 2 s at most.
    void finish(const RunResult& result);

private:
    void keep_up(run::Session& session, const std::function<std::string()>& also);
    /// Returns the bytes of the event; 0: there was no snapshot.
    std::size_t update(run::Session& session, const std::string& also);

    std::unique_ptr<view::WebServer> server_;
    bool is_finished_ = false;
    Mutex mutex_;
    std::condition_variable wake_;
    bool ending_ GUARDED_BY(mutex_) = false;
    std::thread thread_;
};

}  // namespace streamsim::cli
