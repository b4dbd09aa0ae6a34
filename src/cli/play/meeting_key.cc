#include "cli/play/meeting_key.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/system/utf8_path.h"
#include "cli/process/system.h"
#include "target/credentials.h"

namespace streamsim::cli {
namespace {

Result<seats::SeatKeys> make_key(const std::string& file) {
    const seats::SeatKeys keys = seats::SeatKeys::make();
    const std::string text = keys.to_document();
    std::FILE* const out = open_secret(file);
    bool written = out != nullptr && std::fwrite(text.data(), 1, text.size(), out) == text.size();
    if (out != nullptr) written = std::fclose(out) == 0 && written;
    if (!written)
        return environment_error(fmt::format("{}: the key cannot be written: {}", file, std::strerror(errno)));
    return keys;
}

}  // namespace

Result<seats::SeatKeys> open_meeting_key(const std::string& file, bool may_make, bool& made) {
    std::error_code error;
    made = may_make && !std::filesystem::exists(system_path(file), error);
    if (made) return make_key(file);
    const auto text = target::read_secret(file);
    if (!text) return text.error();
    return seats::SeatKeys::read_document(*text, file);
}

}  // namespace streamsim::cli
