// Words for file servers and for mounted shares, of the reports for people. Inside report/ only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "streamsim/run_result.h"

namespace streamsim::report {

/// "0 to 3, 7"; REQUIRES: ascending.
std::string seats_text(const std::vector<std::uint32_t>& seats);
/// "plays", "fails"; "unknown" of a seat that played what is known of it and vanished before its end.
const char* verdict_text(const SeatResult& seat);
/// "NFSv4.2 from isilon, 8 connections, reads of up to 1 MiB, the kernel reads 15 MiB ahead"
std::string share_text(const MountFacts& mount);
/// "10.77.0.10, NFSv3, 4 connections, reads of up to 1 MiB", with the seats where there are several.
std::string server_text(const ServerResult& server, bool with_seats);
/// "12,345 requests, 27.3 a frame, for 4.2 GB; 1 reconnect; 3 segments sent again; round trip 250.0 us"
std::string requests_text(const ServerResult& server);

}  // namespace streamsim::report
