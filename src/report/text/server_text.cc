#include "report/text/server_text.h"

#include <fmt/format.h>

#include "base/units.h"
#include "base/utf8.h"
#include "report/text/text_tables.h"

namespace streamsim::report {

const char* verdict_text(const SeatResult& seat) {
    using State = SeatResult::State;
    if (!seat.verdict.pass) return "fails";
    return seat.state == State::partial || seat.state == State::missing ? "unknown" : "plays";
}

std::string seats_text(const std::vector<std::uint32_t>& seats) {
    std::string out;
    for (std::size_t first = 0, last = 0; first < seats.size(); first = last + 1) {
        last = first;
        while (last + 1 < seats.size() && seats[last + 1] == seats[last] + 1) ++last;
        out += fmt::format("{}{}", out.empty() ? "" : ", ", seats[first]);
        if (last > first) out += fmt::format("{}{}", last > first + 1 ? " to " : ", ", seats[last]);
    }
    return out;
}

std::string share_text(const MountFacts& mount) {
    std::string out = fmt::format("{} from {}", printable(mount.protocol), printable(mount.server));
    if (mount.connections) out += ", " + counted(*mount.connections, "connection");
    if (mount.read_bytes) out += ", reads of up to " + show_io_size(*mount.read_bytes);
    if (mount.read_ahead_bytes)
        out += fmt::format(", the kernel reads {} ahead", show_io_size(*mount.read_ahead_bytes));
    return out;
}

std::string server_text(const ServerResult& server, bool with_seats) {
    std::string out = fmt::format("{}, {}, {}", printable(server.address), printable(server.protocol),
                                  counted(server.connections, "connection"));
    if (server.read_bytes > 0) out += ", reads of up to " + show_io_size(server.read_bytes);
    if (with_seats)
        out += fmt::format("; seat{} {}", server.seats.size() == 1 ? "" : "s", seats_text(server.seats));
    return out;
}

std::string requests_text(const ServerResult& server) {
    std::string out = fmt::format("{}, {:.1f} a frame, for {}", counted(server.requests, "request"),
                                  server.requests_per_frame, show_bytes(server.received_bytes));
    if (server.reconnects > 0) out += "; " + counted(server.reconnects, "reconnect");
    if (server.retransmitted_segments > 0)
        out += fmt::format("; {} sent again", counted(server.retransmitted_segments, "segment"));
    if (server.rtt_ns) out += fmt::format("; round trip {}", show_duration({*server.rtt_ns}));
    return out;
}

}  // namespace streamsim::report
