// The first message of an SMB server, which streamsim reads itself.
#include <cstdint>

#include "fuzz/fuzz.h"
#include "storage/smb/helper/negotiate.h"

STREAMSIM_FUZZ(smb_negotiate) {
    using namespace streamsim;
    storage::Negotiated found;
    const int error = storage::read_negotiated(input, found);
    if (error != 0) return;
    fuzz::require(found.dialect >= 0x0202 && found.dialect <= 0x0311 && found.dialect != 0x0203,
                  "a dialect is one that was offered");
}
