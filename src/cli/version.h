#pragma once

namespace streamsim::cli {

const char* version();
/// The commit this was built from, with "-dirty" where files had been changed; "unknown" outside a checkout.
const char* revision();

}  // namespace streamsim::cli
