// A session as a person sees it while it plays: the live view with its keys on a terminal, a line now and then
// on a pipe.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "cli/commands/commands.h"
#include "run/process/control.h"
#include "run/session/session.h"
#include "view/live_view.h"

namespace streamsim::cli {

class LivePlay {
public:
    /// Streams for which a session keeps storage ready where a person may add some.
    static constexpr std::uint32_t kSpareStreams = 16;
    /// Whether somebody can type while a session plays.
    static bool keys_possible();

    /// `about` is what is being played. All of them outlive this.
    LivePlay(CliContext& context,
             run::Control& control,
             run::Session& session,
             std::string about,
             bool streams_may_change);

    /// What else is to be said while it plays, as it stands at the moment; empty: nothing.
    void say_also(std::function<std::string()> words) { also_ = std::move(words); }
    /// Reads keys and draws; ten times a second, on the control's thread.
    void tick();
    /// Says something: at once, or, while the view has the terminal, there and again after end(). Any thread.
    void say(const std::string& text);
    /// Gives the terminal back. From now on standard error is everybody's.
    void end();

private:
    void obey(view::Key key);
    void remove_stream();
    void show(const std::string& text);
    view::ViewState state(const run::Session::Watch& watch, std::int64_t now_ns);
    void measure(std::uint64_t bytes, std::int64_t at_ns, view::ViewState& state);

    CliContext& context_;
    run::Control& control_;
    run::Session& session_;
    const std::string about_;
    const bool streams_may_change_;  // by hand
    const std::int64_t begin_ns_;
    std::optional<view::LiveView> view_;
    std::int64_t next_line_ns_;
    bool said_looking_ = false;
    std::function<std::string()> also_;

    struct Sample {
        std::int64_t at_ns;  // in the streams' own time
        std::uint64_t bytes;
        std::vector<view::MeterCounts> meters;  // as in the view
    };
    std::deque<Sample> samples_;  // of the last seconds, for a rate that follows changes
    std::mutex mutex_;
    std::vector<std::string> held_back_;  // protected by mutex_: said while the view had the terminal
    bool drawing_ = false;                // protected by mutex_
    std::string message_;                 // protected by mutex_
    std::int64_t message_ends_ns_ = 0;    // protected by mutex_
    bool new_message_ = false;            // protected by mutex_
};

}  // namespace streamsim::cli
