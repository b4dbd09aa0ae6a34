#include "seats/zmq_socket.h"

#include <array>
#include <cerrno>
#include <system_error>

namespace streamsim::seats {
namespace {

void require(bool done, const char* what) {
    if (!done) throw std::system_error(zmq_errno(), std::generic_category(), what);
}

}  // namespace

ZmqContext::ZmqContext() : context_(zmq_ctx_new()) {
    require(context_ != nullptr, "ZeroMQ cannot begin");
}

ZmqContext::~ZmqContext() {
    while (zmq_ctx_term(context_) != 0 && zmq_errno() == EINTR) {
    }
}

ZmqSocket::ZmqSocket(const ZmqContext& context, int type) : socket_(zmq_socket(context.get(), type)) {
    require(socket_ != nullptr, "ZeroMQ has no socket");
}

ZmqSocket::~ZmqSocket() {
    zmq_close(socket_);
}

void ZmqSocket::set(int option, int value) {
    require(zmq_setsockopt(socket_, option, &value, sizeof value) == 0, "ZeroMQ refuses an option");
}

void ZmqSocket::set(int option, std::string_view value) {
    require(zmq_setsockopt(socket_, option, value.data(), value.size()) == 0, "ZeroMQ refuses an option");
}

int ZmqSocket::bind(const std::string& endpoint) {
    return zmq_bind(socket_, endpoint.c_str()) == 0 ? 0 : zmq_errno();
}

int ZmqSocket::connect(const std::string& endpoint) {
    return zmq_connect(socket_, endpoint.c_str()) == 0 ? 0 : zmq_errno();
}

std::string ZmqSocket::last_endpoint() const {
    std::array<char, 256> text{};
    std::size_t size = text.size();
    require(zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, text.data(), &size) == 0, "ZeroMQ tells no address");
    return text.data();
}

bool ZmqSocket::send(std::string_view frame, bool more) {
    const int flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0);
    while (zmq_send(socket_, frame.data(), frame.size(), flags) < 0) {
        if (zmq_errno() != EINTR) return false;
    }
    return true;
}

std::optional<ZmqSocket::Frame> ZmqSocket::receive() {
    zmq_msg_t message;
    zmq_msg_init(&message);
    std::optional<Frame> out;
    int got = 0;
    do {
        got = zmq_msg_recv(&message, socket_, ZMQ_DONTWAIT);
    } while (got < 0 && zmq_errno() == EINTR);
    if (got >= 0) {
        out.emplace();
        out->bytes.assign(static_cast<const char*>(zmq_msg_data(&message)), zmq_msg_size(&message));
        out->more = zmq_msg_more(&message) != 0;
        out->connection = zmq_msg_get(&message, ZMQ_SRCFD);
    }
    zmq_msg_close(&message);
    return out;
}

}  // namespace streamsim::seats
