#include "seats/seat_keys.h"

#include <fmt/format.h>
#include <zmq.h>

#include <array>
#include <chrono>
#include <cstdio>

#include "base/check.h"
#include "base/document/json.h"
#include "host/host.h"

namespace streamsim::seats {
namespace {

constexpr const char* kSchema = "streamsim.key";
constexpr std::size_t kKeyBytes = 40;
constexpr std::size_t kKeyTextBytes = kKeyBytes + 1;  // with the zero behind it
constexpr std::chrono::days kValid{7};

void make_pair(std::string& shown, std::string& secret) {
    std::array<char, kKeyTextBytes> of_all{};
    std::array<char, kKeyTextBytes> own{};
    STREAMSIM_CHECK(zmq_curve_keypair(of_all.data(), own.data()) == 0, "ZeroMQ was built with CURVE");
    shown = of_all.data();
    secret = own.data();
}

bool is_pair(const std::string& shown, const std::string& secret) {
    std::array<char, kKeyTextBytes> of_secret{};
    if (shown.size() != kKeyBytes || secret.size() != kKeyBytes) return false;
    return zmq_curve_public(of_secret.data(), secret.c_str()) == 0 && shown == of_secret.data();
}

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

}  // namespace

SeatKeys SeatKeys::make() {
    SeatKeys keys;
    make_pair(keys.host_public, keys.host_secret);
    make_pair(keys.seat_public, keys.seat_secret);
    return keys;
}

std::string SeatKeys::to_document() const {
    return json_text(Json{{"schema", kSchema},
                          {"version", 1},
                          {"expires", days_after(host::now_rfc3339(), kValid)},
                          {"host", {{"public", host_public}, {"secret", host_secret}}},
                          {"seat", {{"public", seat_public}, {"secret", seat_secret}}}}) +
           "\n";
}

Result<SeatKeys> SeatKeys::read_document(const std::string& text, const std::string& file) {
    const auto json = parse_json(text, file);
    if (!json) return json.error();
    SeatKeys keys;
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
    const auto damaged = [&file](const char* place) {
        return bad_input(fmt::format("{}: the key at {} is damaged: copy the file anew", file, place));
    };
    if (!is_pair(keys.host_public, keys.host_secret)) return damaged("/host");
    if (!is_pair(keys.seat_public, keys.seat_secret)) return damaged("/seat");
    if (host::now_rfc3339() > expires)
        return bad_input(
            fmt::format("{}: its time was over at {}: remove it, and copy the one that the host makes anew",
                        file, expires));
    return keys;
}

}  // namespace streamsim::seats
