#include "profile/capture/capture.h"

#include <fmt/format.h>

#include "base/units.h"
#include "profile/capture/captured_clients.h"
#include "profile/capture/nfs_capture.h"
#include "profile/capture/pdml.h"
#include "profile/capture/smb_capture.h"

namespace streamsim::profile {

std::vector<std::string> tshark_arguments(const std::string& capture) {
    return {"-r", capture, "-n", "-Y", "rpc || smb2", "-T", "pdml", "-J", "ip ipv6 tcp udp rpc nfs smb2"};
}

struct CaptureReader::State {
    TrafficBuilder traffic;
    CapturedClients clients{traffic};
    NfsCapture nfs{traffic, clients};
    SmbCapture smb{traffic, clients};
    PdmlReader pdml;
};

CaptureReader::CaptureReader() : state_(std::make_unique<State>()) {}
CaptureReader::~CaptureReader() = default;

void CaptureReader::line(std::string_view line) {
    for (const CapturedMessage& message : state_->pdml.line(line)) {
        if (message.kind == CapturedMessage::Kind::rpc) {
            state_->nfs.take(message);
        } else {
            state_->smb.take(message);
        }
    }
}

Result<Traffic> CaptureReader::finish(const std::string& source) {
    State& all = *state_;
    all.smb.finish();
    const std::uint64_t nfs3 = all.nfs.counted(3), nfs4 = all.nfs.counted(4), smb = all.smb.counted();
    if (all.smb.encrypted() > 0) {
        all.traffic.note(fmt::format("{} SMB messages are encrypted: nothing of them can be seen",
                                     show_count(all.smb.encrypted())));
    }
    if (const auto open = all.nfs.unanswered() + all.smb.unanswered(); open > 0)
        all.traffic.note(fmt::format("{} calls without a reply in the capture are left out", show_count(open)));
    if (nfs3 + nfs4 + smb == 0) {
        return bad_input(all.smb.encrypted() > 0
                             ? fmt::format("{}: all its SMB messages are encrypted, expected a capture of "
                                           "NFSv3, NFSv4 or unencrypted SMB2",
                                           source)
                             : fmt::format("{}: holds no call with its reply of NFSv3, NFSv4 or SMB2", source));
    }
    std::string recorder;
    for (const auto& [count, name] : {std::pair(nfs3, "NFSv3"), {nfs4, "NFSv4"}, {smb, "SMB2"}})
        if (count > 0) recorder += fmt::format("{}{}", recorder.empty() ? "" : " and ", name);
    return all.traffic.finish(source, recorder, true);
}

}  // namespace streamsim::profile
