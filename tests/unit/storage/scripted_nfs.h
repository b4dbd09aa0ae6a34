// A server of NFS that replies as a test says, in the thread that pumps it. In the test's own thread client and
// server take turns, and the client's clock can be the test's.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace streamsim::tests {

/// The results of a call as XDR has them, in words of this computer's byte order.
using XdrWords = std::vector<std::uint32_t>;

struct ScriptedReply {
    enum class How : std::uint8_t {
        comes,
        never,
        unknown
    };  // unknown: the service does not know the procedure
    How how = How::comes;
    XdrWords words;
    std::chrono::milliseconds late{};  // until then the server does nothing
};

class ScriptedNfs {
public:
    enum Program : std::uint32_t { mapper = 100000, nfs = 100003, mount = 100005 };

    /// Listens on 127.0.0.1; 0: at any port.
    explicit ScriptedNfs(std::uint16_t port = 0);
    ~ScriptedNfs();
    ScriptedNfs(const ScriptedNfs&) = delete;
    ScriptedNfs& operator=(const ScriptedNfs&) = delete;

    std::uint16_t port() const { return port_; }

    /// The replies to a procedure, or to an operation of version 4, in their order; the last one repeats. Those
    /// of before are forgotten. Without a script there is no reply.
    void script(Program program, std::uint32_t procedure, std::vector<ScriptedReply> replies);
    void script(Program program, std::uint32_t procedure, XdrWords words) {
        script(program, procedure, {{ScriptedReply::How::comes, std::move(words)}});
    }
    /// The calls of it so far.
    int calls(Program program, std::uint32_t procedure) const;

    /// Takes new connections, and replies to what was asked.
    void pump();
    /// Ends all connections: at once, or as a server that says goodbye.
    void hang_up(bool politely = false);
    /// Connections that were accepted so far.
    int accepted() const { return accepted_; }
    /// Ends all connections and refuses new ones, until listen() at this port or another one.
    void stop();
    /// `backlog`: connections that may wait, see listen(2).
    void listen(std::uint16_t port, int backlog = 20);

private:
    struct Connection {
        int socket = -1;
        std::vector<std::uint8_t> asked;
    };
    bool serve(Connection& connection);
    bool answer(int socket, const XdrWords& call);

    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::vector<Connection> connections_;
    int accepted_ = 0;
    using Key = std::pair<std::uint32_t, std::uint32_t>;
    std::map<Key, std::deque<ScriptedReply>> scripts_;
    std::map<Key, int> calls_;
};

// ---- results

/// Procedures of version 3, and operations of version 4 (RFC 1813, 7530).
enum Procedure3 : std::uint32_t {
    get_attributes3 = 1,
    lookup3 = 3,
    access3 = 4,
    read_link3 = 5,
    read3 = 6,
    write3 = 7,
    create3 = 8,
    make_directory3 = 9,
    remove3 = 12,
    remove_directory3 = 13,
    rename3 = 14,
    list3 = 16,
    list_plus3 = 17,
    limits3 = 19,
    commit3 = 21,
};
enum Operation4 : std::uint32_t {
    close4 = 4,
    get_attributes4 = 9,
    get_handle4 = 10,
    lookup4 = 15,
    open4 = 18,
    confirm_open4 = 20,
    put_handle4 = 22,
    put_root4 = 24,
    read4 = 25,
    read_link4 = 27,
    renew4 = 30,
    set_client4 = 35,
    confirm_client4 = 36,
};
constexpr std::uint32_t kNothing = 0, kAskPort = 3, kMount = 1, kExports = 5;

XdrWords text_words(const std::string& text);
XdrWords joined(std::vector<XdrWords> parts);

/// A status with nothing behind it.
XdrWords refused3(std::uint32_t status);
XdrWords mounted(std::uint32_t handle);
XdrWords exports(const std::vector<std::string>& names);
/// `kind`: 1 a file, 2 a directory, 5 a symbolic link; 0: without attributes.
XdrWords limits_reply3(std::uint32_t read_bytes, std::uint32_t write_bytes, std::uint32_t kind = 2);
XdrWords lookup_reply3(std::uint32_t handle,
                       std::uint32_t kind,
                       std::uint32_t links = 1,
                       std::uint32_t bytes = 0);

XdrWords attributes_reply3(std::uint32_t kind, std::uint32_t bytes);
/// `bits`: 1 reading, 4 changing, 8 extending.
XdrWords access_reply3(std::uint32_t bits);
XdrWords link_reply3(const std::string& target);
/// Without a handle the server does not give it.
XdrWords create_reply3(std::uint32_t handle = 0);
/// For removals and renames.
XdrWords done3();
XdrWords list_reply3(const std::vector<std::string>& names, std::uint32_t first_cookie, bool end);
/// With attributes; every name is of this kind.
XdrWords list_plus_reply3(const std::vector<std::string>& names,
                          std::uint32_t kind,
                          std::uint32_t first_cookie,
                          bool end);

/// The results of the operations of a compound, each with its number and status; the last status is that of
/// all.
XdrWords compound4(std::vector<XdrWords> results);
XdrWords refused4(std::uint32_t operation, std::uint32_t status);
XdrWords root_reply4(std::uint32_t lease_s, std::uint32_t read_bytes);
XdrWords client_reply4(std::uint32_t client);
XdrWords lookup_reply4(std::uint32_t handle, std::uint32_t kind);
XdrWords open_reply4(std::uint32_t handle, bool confirm);
XdrWords confirm_reply4();
XdrWords link_reply4(const std::string& target);
/// For libnfs: the attributes that it asks of every object, then what `last` has.
XdrWords looked_at4(std::uint32_t kind, XdrWords last);

}  // namespace streamsim::tests
