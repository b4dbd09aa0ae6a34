#include <fmt/format.h>
#include <uv.h>  // includes the socket headers of the system

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "base/units.h"
#include "storage/remote/remote_names.h"

namespace streamsim::storage {
namespace {

/// Windows' sockets have to be started, which libuv does with the first function that needs them.
void start_sockets() {
    std::array<char, UV_MAXHOSTNAMESIZE> name{};
    std::size_t size = name.size();
    (void)uv_os_gethostname(name.data(), &size);
}

struct Answer {
    int error = 0;
    std::vector<std::string> addresses;
};

Answer look_up(const std::string& name, int flags) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    addrinfo* found = nullptr;
    Answer answer;
    answer.error = getaddrinfo(name.c_str(), nullptr, &hints, &found);
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
        std::array<char, NI_MAXHOST> text{};
        if (getnameinfo(each->ai_addr, static_cast<socklen_t>(each->ai_addrlen), text.data(),
                        static_cast<socklen_t>(text.size()), nullptr, 0, NI_NUMERICHOST) != 0)
            continue;
        if (std::find(answer.addresses.begin(), answer.addresses.end(), text.data()) == answer.addresses.end())
            answer.addresses.emplace_back(text.data());
    }
    if (found != nullptr) freeaddrinfo(found);
    return answer;
}

/// Addresses of families that this computer has no address of are left out, unless there are no others.
Answer look_up_name(const std::string& name) {
    Answer answer = look_up(name, AI_ADDRCONFIG);
    const bool absent = answer.error != 0 && answer.error != EAI_AGAIN;
    return absent ? look_up(name, 0) : answer;
}

/// A name service may take very long: a thread of its own asks, and is abandoned after the timeout.
Result<std::vector<std::string>> addresses_of(const std::string& name, Duration timeout) {
    if (Answer number = look_up(name, AI_NUMERICHOST); number.error == 0 && !number.addresses.empty())
        return std::move(number.addresses);
    auto promise = std::make_shared<std::promise<Answer>>();
    std::future<Answer> future = promise->get_future();
    std::thread([promise, name] { promise->set_value(look_up_name(name)); }).detach();
    if (future.wait_for(std::chrono::nanoseconds(timeout.ns)) != std::future_status::ready) {
        return environment_error(
            fmt::format("{}: no answer from the name service for {}", name, show_duration(timeout)));
    }
    Answer answer = future.get();
    if (answer.error != 0) return environment_error(fmt::format("{}: {}", name, gai_strerror(answer.error)));
    if (answer.addresses.empty()) return environment_error(fmt::format("{}: the name has no address", name));
    return std::move(answer.addresses);
}

}  // namespace

std::vector<std::string> of_one_family(std::vector<std::string> addresses) {
    const auto is_ipv6 = [](const std::string& address) { return address.find(':') != std::string::npos; };
    if (addresses.empty()) return addresses;
    std::erase_if(addresses, [&is_ipv6, family = is_ipv6(addresses.front())](const std::string& address) {
        return is_ipv6(address) != family;
    });
    return addresses;
}

Result<void> resolve(RemotePlace& place) {
    const auto names = place.addresses.empty() ? std::vector{place.host} : place.addresses;
    const bool all = place.addresses.empty();
    std::vector<std::string> numbers;
    start_sockets();
    for (const std::string& name : names) {
        auto found = addresses_of(name, place.timeout);
        if (!found)
            return environment_error(fmt::format("{}: {}", place.name_of(""), found.error().problems.front()));
        if (!all) found->resize(1);
        if (all) *found = of_one_family(std::move(*found));
        numbers.insert(numbers.end(), found->begin(), found->end());
    }
    place.addresses = std::move(numbers);
    return {};
}

}  // namespace streamsim::storage
