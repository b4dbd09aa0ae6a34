#include "base/time.h"

#include <charconv>
#include <numeric>

#include "base/wide.h"

namespace streamsim {
namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

struct NamedRate {
    std::string_view name;
    FrameRate rate;
};
constexpr NamedRate kNtscRates[] = {
    {"23.976", {24000, 1001}}, {"23.98", {24000, 1001}}, {"29.97", {30000, 1001}},
    {"47.952", {48000, 1001}}, {"59.94", {60000, 1001}},
};

bool parse_digits(std::string_view text, std::int64_t& out) {
    if (text.empty() || text.size() > 9) return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size() && out >= 0;
}

/// "12.5" -> 125/10
bool parse_decimal(std::string_view text, FrameRate& out) {
    const auto point = text.find('.');
    std::int64_t whole = 0;
    if (!parse_digits(text.substr(0, point), whole)) return false;
    out = {whole, 1};
    if (point == std::string_view::npos) return true;
    const std::string_view digits = text.substr(point + 1);
    std::int64_t fraction = 0;
    if (digits.size() > 6 || !parse_digits(digits, fraction)) return false;
    for (std::size_t i = 0; i < digits.size(); ++i) out = {out.num * 10, out.den * 10};
    out.num += fraction;
    return true;
}

}  // namespace

Duration FrameRate::due(std::uint64_t index) const {
    const auto divisor = static_cast<std::uint64_t>(num);
    // The product has 64 bits unless the index or the denominator is huge, and a division of 128 takes long.
    std::uint64_t short_product = 0;
    if (!__builtin_mul_overflow(static_cast<std::uint64_t>(den), kNsPerSecond, &short_product) &&
        !__builtin_mul_overflow(short_product, index, &short_product))
        return {static_cast<std::int64_t>(short_product / divisor)};
    const Wide product = Wide{index} * static_cast<std::uint64_t>(den) * kNsPerSecond;
    return {static_cast<std::int64_t>(product / divisor)};
}

std::uint64_t FrameRate::slots_in(Duration length) const {
    if (length.ns <= 0) return 0;
    const Wide numerator = Wide{static_cast<std::uint64_t>(length.ns)} * static_cast<std::uint64_t>(num);
    const Wide denominator = Wide{static_cast<std::uint64_t>(den)} * kNsPerSecond;
    return static_cast<std::uint64_t>((numerator + denominator - 1) / denominator);
}

std::int64_t thread_cpu_ns() {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * 1'000'000'000 + used.tv_nsec;
}

std::string FrameRate::to_string() const {
    return den == 1 ? std::to_string(num) : std::to_string(num) + "/" + std::to_string(den);
}

Result<FrameRate> FrameRate::parse(std::string_view text) {
    for (const auto& named : kNtscRates) {
        if (text == named.name) return named.rate;
    }
    const Error wrong =
        bad_input("'" + std::string(text) + "' is not a frame rate: expected 24, 23.976 or 24000/1001");
    FrameRate rate;
    if (const auto slash = text.find('/'); slash != std::string_view::npos) {
        if (!parse_digits(text.substr(0, slash), rate.num) || !parse_digits(text.substr(slash + 1), rate.den)) {
            return wrong;
        }
    } else if (!parse_decimal(text, rate)) {
        return wrong;
    }
    if (rate.num <= 0 || rate.den <= 0 || rate.num / rate.den > 1'000'000) return wrong;
    const std::int64_t divisor = std::gcd(rate.num, rate.den);
    return FrameRate{rate.num / divisor, rate.den / divisor};
}

}  // namespace streamsim
