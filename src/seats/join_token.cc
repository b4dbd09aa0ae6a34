#include "seats/join_token.h"

#include <fmt/format.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "base/document/json.h"
#include "seats/message_values.h"

namespace streamsim::seats {
namespace {

/// Empty: it has none, or is link-local, and would need the name of its link.
std::string as_number(const sockaddr& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    int failed = UV_EINVAL;
    if (address.sa_family == AF_INET)
        failed = uv_ip4_name(reinterpret_cast<const sockaddr_in*>(&address), text.data(), text.size());
    if (address.sa_family == AF_INET6)
        failed = uv_ip6_name(reinterpret_cast<const sockaddr_in6*>(&address), text.data(), text.size());
    const std::string number = failed == 0 ? text.data() : "";
    return number.starts_with("fe80") ? "" : number;
}

}  // namespace

std::string this_machine() {
    std::array<char, UV_MAXHOSTNAMESIZE> name{};
    std::size_t size = name.size();
    if (uv_os_gethostname(name.data(), &size) != 0) size = 0;
    std::string out(name.data(), size);
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    out += "/" + boot;
    uv_fs_t request{};  // the network namespace, where the system has them
    if (uv_fs_readlink(nullptr, &request, "/proc/self/ns/net", nullptr) == 0)
        out += fmt::format("/{}", static_cast<const char*>(request.ptr));
    uv_fs_req_cleanup(&request);
    return out;
}

Result<std::vector<std::string>> addresses_of(const std::string& name) {
    uv_loop_t loop{};
    uv_getaddrinfo_t request{};
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    if (const int error = uv_loop_init(&loop); error != 0) return environment_error(uv_strerror(error));
    const int error = uv_getaddrinfo(&loop, &request, nullptr, name.c_str(), nullptr, &hints);
    std::vector<std::string> out;
    for (const addrinfo* each = request.addrinfo; error == 0 && each != nullptr; each = each->ai_next) {
        if (const std::string address = as_number(*each->ai_addr); !address.empty()) out.push_back(address);
    }
    if (error == 0) uv_freeaddrinfo(request.addrinfo);
    uv_loop_close(&loop);
    if (error != 0)
        return environment_error(fmt::format("no address is known for '{}': {}", name, uv_strerror(error)));
    if (out.empty()) out.push_back(name);  // "fe80::1%eth0"
    return out;
}

std::vector<std::string> own_addresses() {
    uv_interface_address_t* all = nullptr;
    int count = 0;
    std::vector<std::string> out;
    if (uv_interface_addresses(&all, &count) != 0) return out;
    for (int i = 0; i < count; ++i) {
        if (all[i].is_internal) continue;
        const bool v4 = all[i].address.address4.sin_family == AF_INET;
        const std::string address = as_number(reinterpret_cast<const sockaddr&>(all[i].address));
        if (address.empty()) continue;
        out.insert(v4 ? out.begin() + std::count_if(out.begin(), out.end(),
                                                    [](const std::string& each) {
                                                        return each.find(':') == std::string::npos;
                                                    })
                      : out.end(),
                   address);
    }
    uv_free_interface_addresses(all, count);
    return out;
}

std::string JoinToken::to_text() const {
    return json_text(Json{{"channel", kChannelVersion},
                          {"run", run_id},
                          {"host", keys.host_public},
                          {"seat", keys.seat_public},
                          {"secret", keys.seat_secret},
                          {"machine", machine},
                          {"addresses", addresses},
                          {"port", port}});
}

Result<JoinToken> JoinToken::parse(const std::string& text) {
    const auto json = parse_json(text, "the seat channel");
    if (!json) return json.error();
    try {
        JoinToken out;
        if (json->at("channel") != kChannelVersion)
            return environment_error("the seat channel: rank 0 is another version of streamsim");
        out.run_id = json->at("run");
        out.keys = {json->at("host"), "", json->at("seat"), json->at("secret")};
        out.machine = json->at("machine");
        out.addresses = json->at("addresses").get<std::vector<std::string>>();
        out.port = whole_of<std::uint16_t>(json->at("port"));
        return out;
    } catch (const Json::exception& error) {
        return environment_error(
            fmt::format("the seat channel: rank 0 is another version of streamsim: {}", error.what()));
    }
}

}  // namespace streamsim::seats
