// The model document of a calibration: one server with what was measured, and named assumptions for the rest.
//
// The time of a read has parts: what any operation takes, the distribution of what a read takes beyond that
// (without a queue, and without bytes), then seconds a byte that reads in flight do not share, then the
// server's rate and the seat's link, each shared by all who use it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "streamsim/calibration.h"

namespace streamsim::run {

/// The name of a model that is in this file, as its document may have it.
std::string model_name_of(const std::string& file);
/// The name of a file beside that of the model: "/tmp/nas.json", ".measured.json" -> "/tmp/nas.measured.json"
std::string with_ending(const std::string& model, const std::string& ending);
/// Numbers of the document, by their pointers. A pointer without a number in the template is added.
std::string calibrated_document(const Calibration& calibration);
/// The calibration whose document this is, as far as it says. Errors: bad input, also where it has no
/// calibration.
Result<Calibration> calibration_of_document(const std::string& text,
                                            const std::string& source,
                                            const Measurement& measured);
/// The same document with another held-back run, whose format was measured; everything else stays as it is.
/// REQUIRES: a calibrated document.
std::string with_held_back(const std::string& text, const HeldBackCheck& check);

// Pointers of the numbers that calibrations fill in.
inline constexpr const char* kServerRate = "/node/front_end/bits_per_s";
inline constexpr const char* kSeatRate = "/client/link/bits_per_s";
inline constexpr const char* kSecondsPerByte = "/node/cpu_s_per_byte";
inline constexpr const char* kRequestTime = "/client/cpu_s_per_request";
inline constexpr const char* kOpenTime = "/node/cpu_s_per_open";
inline constexpr const char* kOpenLines = "/node/metadata/lines";
inline constexpr const char* kOpenLineShare = "/node/metadata/line_share";
inline constexpr const char* kFileRate = "/file_bytes_per_s";
inline constexpr const char* kReadLines = "/node/read_lines/lines";
inline constexpr const char* kLineRate = "/node/read_lines/bytes_per_s";
inline constexpr const char* kLineAccess = "/node/read_lines/access/";  // as kAccess
inline constexpr const char* kTripTime = "/node/response/median";
inline constexpr const char* kAccess = "/drive/access/";  // p10, p50, p90, p99, p99_9, max
inline constexpr const char* kJournalRate = "/node/journal/bytes_per_s";
inline constexpr const char* kJournalLatency = "/node/journal/latency";
inline constexpr const char* kJournalBytes = "/node/journal/bytes";
inline constexpr const char* kOtherLoadShare = "/node/other_load/share";
inline constexpr const char* kOtherLoadLength = "/node/other_load/mean_length";
inline constexpr const char* kOtherLoadGap = "/node/other_load/mean_gap";

/// The numbers as the forward model of a fit takes them: without bounds and facts.
std::string trial_document(const std::string& name,
                           std::uint32_t mtu,
                           const std::vector<CalibratedNumber>& values);

}  // namespace streamsim::run
