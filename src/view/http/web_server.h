// The page of a running play over HTTP (--web): GET / is the page, GET /events its changes as server-sent
// events. Requests never reach the players: they get what was published last.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/system/mutex.h"
#include "view/http/http_server.h"

namespace streamsim::view {

class WebServer {
public:
    /// Connections at once. A client beyond them is refused, and no client that listens is ended for it.
    static constexpr std::size_t kConnectionsMax = 256;

    /// Listens from now on, with `page` as the page. An address that other computers can connect to gets a
    /// random key, without which every request is refused; one of this computer alone refuses requests that
    /// name another host. Errors: environment: the address is in use or is not this computer's.
    static Result<std::unique_ptr<WebServer>> listen(const HttpAddress& address, std::string page);
    ~WebServer();
    WebServer(const WebServer&) = delete;
    WebServer& operator=(const WebServer&) = delete;

    /// "http://127.0.0.1:8080/", "http://host:8080/?key=0123..."
    const std::string& url() const { return url_; }
    /// Clients that listen to events. One that has left is counted until an event is sent to it.
    std::size_t clients() const;
    /// A client listens, or has asked for the page since the last publish_page().
    bool wanted() const;

    /// The page from now on, and the same as an event "page" (one line) for each client. A client that has not
    /// read an event when the next one comes does not get it: nothing queues.
    void publish_page(std::string page, std::string event);
    /// An event "state" (one line), which leaves the page as it is.
    void publish_state(std::string event);
    /// As publish_page(), with an event "end" for each client, also for later ones: their streams end with it.
    void publish_end(std::string page, std::string event);
    /// Waits until every stream has ended, for 2 s at most. REQUIRES: publish_end().
    void wait_for_clients();

private:
    class Events;
    using Text = std::shared_ptr<const std::string>;

    WebServer() = default;
    HttpAnswer answer(const HttpRequest& request);
    bool allows(const HttpRequest& request) const;
    void publish(const char* kind, std::string page, const std::string& event, bool is_end);

    std::string url_;
    std::string key_;   // empty: none is needed
    std::string host_;  // with its port, as a URL has it
    mutable Mutex mutex_;
    std::condition_variable client_left_;
    Text page_ GUARDED_BY(mutex_);
    Text page_event_ GUARDED_BY(mutex_);  // the last that has the page; null: none yet
    Text event_ GUARDED_BY(mutex_);       // the last
    std::uint64_t events_ GUARDED_BY(mutex_) = 0;
    bool is_end_ GUARDED_BY(mutex_) = false;
    bool page_asked_ GUARDED_BY(mutex_) = false;
    std::size_t clients_ GUARDED_BY(mutex_) = 0;
    std::unique_ptr<HttpServer> server_;  // last: its thread uses the others
};

}  // namespace streamsim::view
