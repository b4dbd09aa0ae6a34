// Captures of NFSv3, NFSv4 and SMB2/3 traffic: calls and their replies become operations.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/capture/nfs_capture.h"
#include "profile/capture/pdml.h"
#include "profile/capture/smb_capture.h"
#include "profile/traffic/traffic.h"

namespace streamsim::profile {

/// The arguments with which tshark prints a capture, without the program's name.
std::vector<std::string> tshark_arguments(const std::string& capture);

/// Reads the output of tshark with these arguments, line by line. A call that was sent again counts once, from
/// the first time; a call without a reply does not count.
class CaptureReader {
public:
    CaptureReader() = default;
    CaptureReader(const CaptureReader&) = delete;
    CaptureReader& operator=(const CaptureReader&) = delete;

    void line(std::string_view line);
    /// Errors: bad input when the capture has no readable call.
    Result<Traffic> finish(const std::string& source);

private:
    TrafficBuilder traffic_;
    NfsCapture nfs_{traffic_};
    SmbCapture smb_{traffic_};
    PdmlReader pdml_;
};

}  // namespace streamsim::profile
