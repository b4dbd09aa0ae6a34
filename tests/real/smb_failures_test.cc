// SMB when a reply of its server fails: each, in each way.
#include <gtest/gtest.h>

#include "failures/storage_trials.h"
#include "loop/uv_loop.h"
#include "real/failing_relay.h"
#include "real/smb_lab.h"
#include "storage/backends.h"

namespace streamsim {
namespace {

using tests::FailingRelay;
using tests::ReplyFailure;
using How = ReplyFailure::How;

std::vector<ReplyFailure> failures() {
    std::vector<ReplyFailure> out{{How::cut}, {How::lose}, {How::half}, {How::noise}};
    // From MS-ERREF: refused, not found, in use, closed, gone, full, busy, and such as no client expects.
    for (const std::uint32_t each :
         {0xC0000022U, 0xC0000034U, 0xC000003AU, 0xC0000043U, 0xC0000128U, 0xC00000C9U, 0xC0000203U,
          0xC000007FU, 0xC000009AU, 0xC0000185U, 0xC0000056U, 0xC000006DU, 0xC000000DU, 0xC00000BBU,
          0x80000006U, 0xC00000BAU, 0xC0000103U, 0xC0000101U, 0xC0000102U, 0xC0000001U, 0x80000005U})
        out.push_back({How::status, each});
    return out;
}

class SmbFailures : public ::testing::Test {
protected:
    tests::TrialTarget target() {
        tests::TrialTarget out;
        out.source = &relay_;
        out.on_server = tests::shared;
        out.error_says = "smb://127.0.0.1/";
        out.links = false;
        out.replaces = true;
        out.make_store = [this](const std::string&) {
            return storage::make_smb_byte_store(place(), "/media", tests::smb_user());
        };
        out.make_storage = [this](EventLoop& loop, uv_loop_s* uv, const std::string&) {
            storage::RemoteOptions options;
            options.credentials = tests::smb_user();
            return storage::make_smb_storage(loop, uv, place(), "/media", options);
        };
        return out;
    }

private:
    /// One that shares nothing with others.
    RemotePlace place() const {
        RemotePlace place = tests::smb_place(1);
        place.port = relay_.ports()[0];
        place.timeout = relay_.timeout();
        return place;
    }

    FailingRelay relay_{RemotePlace::Protocol::smb, {tests::smb_port()}, failures()};
};

TEST_F(SmbFailures, OfAReplyToAStore) {
    tests::try_store(target());
}

TEST_F(SmbFailures, OfAReplyToAStorage) {
    tests::try_storage(target());
}

}  // namespace
}  // namespace streamsim
