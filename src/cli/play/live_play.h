// Shows a session to a person while it plays: the live view with its keys on a terminal, a line every few
// seconds on a pipe.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/system/mutex.h"
#include "cli/output/cli_context.h"
#include "run/process/control.h"
#include "run/session/session.h"
#include "view/live_history.h"
#include "view/live_view.h"

namespace streamsim::cli {

class LivePlay {
public:
    /// Streams for which a session keeps storage ready where a person may add some.
    static constexpr std::uint32_t kSpareStreams = 16;
    /// True where a person can type while a session plays.
    static bool keys_possible();

    /// `about` is what is being played. All of them outlive this.
    LivePlay(CommandContext& context, run::Session& session, std::string about, bool streams_may_change);

    /// Sets a function that returns a further line of the view; an empty text is no line.
    void say_also(std::function<std::string()> words) { also_ = std::move(words); }
    /// Sets a function that returns lines which are shown instead of the session's streams.
    void show_instead(std::function<std::vector<view::ViewLine>()> lines) { instead_ = std::move(lines); }
    /// Reads keys and draws; ten times a second, on the control's thread.
    void tick();
    /// Says something: at once, or, while the view has the terminal, there and again after end(). Any thread.
    void say(const std::string& text);
    /// Gives the terminal back. From now on others may write to standard error.
    void end();

private:
    void obey(view::Key key);
    void remove_stream();
    void show(const std::string& text);
    void draw_instead(const std::string& message, const std::string& also);
    view::ViewState state(const run::Session::Watch& watch, std::int64_t now_ns);
    void measure(std::uint64_t bytes, std::int64_t at_ns, view::ViewState& state);

    CommandContext& context_;
    run::Session& session_;
    const std::string about_;
    const bool streams_may_change_;  // by hand
    std::optional<view::LiveView> view_;
    std::int64_t next_line_ns_;
    bool said_diagnosis_ = false;
    std::function<std::string()> also_;
    std::function<std::vector<view::ViewLine>()> instead_;

    struct Sample {
        std::int64_t at_ns;  // in the streams' own time
        std::uint64_t bytes;
        std::vector<view::MeterCounts> meters;  // as in the view
    };
    std::deque<Sample> samples_;  // the last seconds, for a rate that follows changes
    view::LiveHistory history_;
    Mutex mutex_;
    std::vector<std::string> held_back_ GUARDED_BY(mutex_);  // said while the view had the terminal
    bool drawing_ GUARDED_BY(mutex_) = false;
    std::string message_ GUARDED_BY(mutex_);
    std::int64_t message_ends_ns_ GUARDED_BY(mutex_) = 0;
    bool new_message_ GUARDED_BY(mutex_) = false;
};

}  // namespace streamsim::cli
