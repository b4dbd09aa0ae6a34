// The seats of a meeting as they come: a table on a terminal and on the page of --web, a line for each event
// elsewhere.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/output/cli_context.h"
#include "seats/lobby.h"
#include "view/http/web_server.h"
#include "view/live_view.h"

namespace streamsim::cli {

class LobbyView {
public:
    /// For people, `rule`: when the run begins; `join`: the command lines of the seats. `page`: of --web, or
    /// null. `context` outlives this.
    LobbyView(CommandContext& context,
              std::string rule,
              std::vector<std::string> join,
              std::shared_ptr<view::WebServer> page);

    enum class Wish : std::uint8_t { none, begin, quit };
    /// Shows the seats. Returns what a person has typed since the last call. One thread.
    Wish show(const seats::Lobby& lobby);
    /// Gives the terminal back, and says there what happened.
    void end();

private:
    struct Row;
    std::string title(const seats::Lobby& lobby) const;
    Row row_of(const seats::LobbySeat& seat, std::size_t number) const;
    void draw(const seats::Lobby& lobby);
    void publish(const seats::Lobby& lobby);

    CommandContext& context_;
    const std::string rule_;
    const std::vector<std::string> join_;
    const std::shared_ptr<view::WebServer> page_;
    std::optional<view::LiveView> view_;
    std::vector<std::string> news_;
    std::string published_;  // the last event
};

}  // namespace streamsim::cli
