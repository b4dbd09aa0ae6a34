#include "cli/play/meeting_key.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/document/json.h"
#include "base/system/utf8_path.h"
#include "cli/process/system.h"
#include "host/host.h"
#include "target/credentials.h"

namespace streamsim::cli {
namespace {

constexpr const char* kSchema = "streamsim.key";
constexpr std::size_t kKeyBytes = 40;
constexpr std::chrono::days kValid{7};

/// "2026-11-25T18:00:00Z" some days later.
std::string days_after(const std::string& instant, std::chrono::days days) {
    int year = 0;
    unsigned month = 0, day = 0;
    if (std::sscanf(instant.c_str(), "%d-%u-%u", &year, &month, &day) != 3) return instant;
    const std::chrono::year_month_day date(
        std::chrono::sys_days(std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(month),
                                                          std::chrono::day(day))) +
        days);
    return fmt::format("{:04}-{:02}-{:02}{}", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       instant.substr(10));
}

Result<seats::SeatKeys> read_key(const std::string& file, const std::string& text) {
    const auto json = parse_json(text, file);
    if (!json) return json.error();
    seats::SeatKeys keys;
    std::string expires;
    try {
        if (json->at("schema") != kSchema || json->at("version") != 1)
            throw Json::other_error::create(501, "", nullptr);
        keys = {json->at("host").at("public"), json->at("host").at("secret"), json->at("seat").at("public"),
                json->at("seat").at("secret")};
        expires = json->at("expires");
    } catch (const Json::exception&) {
        return bad_input(fmt::format("{}: expected a key that `streamsim host --key` made", file));
    }
    for (const std::string* key :
         {&keys.host_public, &keys.host_secret, &keys.seat_public, &keys.seat_secret}) {
        if (key->size() != kKeyBytes) return bad_input(fmt::format("{}: a key in it is not whole", file));
    }
    if (host::now_rfc3339() > expires)
        return bad_input(
            fmt::format("{}: its time was over at {}: remove it, and copy the one that the host makes anew",
                        file, expires));
    return keys;
}

Result<seats::SeatKeys> make_key(const std::string& file) {
    const seats::SeatKeys keys = seats::SeatKeys::make();
    const Json json = {{"schema", kSchema},
                       {"version", 1},
                       {"expires", days_after(host::now_rfc3339(), kValid)},
                       {"host", {{"public", keys.host_public}, {"secret", keys.host_secret}}},
                       {"seat", {{"public", keys.seat_public}, {"secret", keys.seat_secret}}}};
    const std::string text = json_text(json) + "\n";
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
    return read_key(file, *text);
}

}  // namespace streamsim::cli
