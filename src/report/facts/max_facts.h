// The sentences of a search for the most streams that play, which text and pages share. Inside report/ only.
#pragma once

#include <string>
#include <vector>

#include "streamsim/max_result.h"

namespace streamsim::report {

/// "7", "7, 3 or 4 a seat", "at least 12"; "plays 3 a seat, 12 in all".
std::string max_plays_text(const MaxFormat& format, const MaxResult& result);
/// "12.5 ms (0.3 frames)"; empty: no run decided.
std::string max_margin_text(const MaxFormat& format);
/// How sure the number is: "confirmed by a run of 5 m 00 s".
std::string max_claim_text(const MaxFormat& format);
/// The most streams of what, from where.
std::string max_title(const MaxResult& result);
/// The limits of the result that a reader must know before the numbers.
std::vector<std::string> max_disclaimers(const RunResult& common);
/// Why one more does not play, and how sure each number is, a sentence each.
std::vector<std::string> max_remarks(const MaxResult& result);
/// "dpx12 plays 7, 3 or 4 a seat; prores-hd plays none"
std::string max_closing(const MaxResult& result);

}  // namespace streamsim::report
