#include "base/system/utf8_path.h"

namespace streamsim {

std::filesystem::path system_path(std::string_view text) {
    return utf8_path(text);
}

}  // namespace streamsim
