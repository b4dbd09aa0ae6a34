// Captures of NFSv3, NFSv4 and SMB2/3 traffic: calls and their replies become operations.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/traffic.h"

namespace streamsim::profile {

/// What tshark is to print of a capture: its arguments, without the program's name.
std::vector<std::string> tshark_arguments(const std::string& capture);

/// Reads what tshark printed with them, line by line. A call that was sent again counts once, from the first
/// time; one without a reply does not count.
class CaptureReader {
public:
    CaptureReader();
    ~CaptureReader();
    CaptureReader(const CaptureReader&) = delete;
    CaptureReader& operator=(const CaptureReader&) = delete;

    void line(std::string_view line);
    /// Errors: bad input where there is nothing in it that could be read.
    Result<Traffic> finish(const std::string& source);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace streamsim::profile
