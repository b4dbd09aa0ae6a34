#include "profile/capture/capture.h"

#include <fmt/format.h>

#include <utility>

#include "base/units.h"

namespace streamsim::profile {

std::vector<std::string> tshark_arguments(const std::string& capture) {
    return {"-r", capture, "-n", "-Y", "rpc || smb2", "-T", "pdml", "-J", "ip ipv6 tcp udp rpc nfs smb2"};
}

void CaptureReader::line(std::string_view line) {
    for (const CapturedMessage& message : pdml_.line(line)) {
        if (message.kind == CapturedMessage::Kind::rpc) {
            nfs_.take(message);
        } else {
            smb_.take(message);
        }
    }
}

Result<Traffic> CaptureReader::finish(const std::string& source) {
    smb_.finish();
    const std::uint64_t nfs3 = nfs_.counted(3), nfs4 = nfs_.counted(4), smb = smb_.counted();
    if (smb_.encrypted() > 0) {
        traffic_.note(fmt::format("{} SMB messages are encrypted: nothing of them can be seen",
                                  show_count(smb_.encrypted())));
    }
    if (const auto open = nfs_.unanswered() + smb_.unanswered(); open > 0)
        traffic_.note(fmt::format("{} calls without a reply in the capture are left out", show_count(open)));
    if (nfs3 + nfs4 + smb == 0) {
        return bad_input(smb_.encrypted() > 0
                             ? fmt::format("{}: all its SMB messages are encrypted, expected a capture of "
                                           "NFSv3, NFSv4 or unencrypted SMB2",
                                           source)
                             : fmt::format("{}: holds no call with its reply of NFSv3, NFSv4 or SMB2", source));
    }
    std::string recorder;
    for (const auto& [count, name] : {std::pair(nfs3, "NFSv3"), {nfs4, "NFSv4"}, {smb, "SMB2"}})
        if (count > 0) recorder += fmt::format("{}{}", recorder.empty() ? "" : " and ", name);
    return traffic_.finish(source, recorder, true);
}

}  // namespace streamsim::profile
