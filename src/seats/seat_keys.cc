#include "seats/seat_keys.h"

#include <zmq.h>

#include <array>

#include "base/check.h"

namespace streamsim::seats {
namespace {

constexpr std::size_t kKeyTextBytes = 41;  // with the zero behind it

void make_pair(std::string& shown, std::string& secret) {
    std::array<char, kKeyTextBytes> of_all{};
    std::array<char, kKeyTextBytes> own{};
    STREAMSIM_CHECK(zmq_curve_keypair(of_all.data(), own.data()) == 0, "ZeroMQ was built with CURVE");
    shown = of_all.data();
    secret = own.data();
}

}  // namespace

SeatKeys SeatKeys::make() {
    SeatKeys keys;
    make_pair(keys.host_public, keys.host_secret);
    make_pair(keys.seat_public, keys.seat_secret);
    return keys;
}

}  // namespace streamsim::seats
