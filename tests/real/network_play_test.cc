// By URL from real servers: the same counts and digests as by path; and each way in which it cannot be, with
// its exit code and its sentence, in bounded time, never the password.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "real/lab.h"

namespace streamsim::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Network : public ::testing::Test {
protected:
    void SetUp() override {
        if (lab_.skipped_because()) GTEST_SKIP() << *lab_.skipped_because();
        ASSERT_EQ(lab_.problem(), "");
    }

    /// On the seat; the last word is the target.
    Finished on_seat(std::vector<std::string> words, const std::string& password = "") const {
        Spawn spawn;
        spawn.args = std::move(words);
        if (!password.empty()) spawn.env.emplace_back("STREAMSIM_SMB_PASSWORD", password);
        spawn.timeout_s = 60;
        const Finished done = lab_.streamsim(spawn)->wait();
        const std::string secret =
            password.empty() ? std::string(lab_.facts()["server"]["password"]) : password;
        EXPECT_THAT(done.out + done.err, Not(HasSubstr(secret)));
        return done;
    }

    Json result_of(std::vector<std::string> words) const {
        const TempDir results;
        words.insert(words.end() - 1, {"--quiet", "--json", results / "json"});
        const Finished done = on_seat(words);
        EXPECT_EQ(done.exit_code, 0) << done.text();
        Json result = read_json(results / "json");
        EXPECT_THAT(result_problems(result), IsEmpty());
        EXPECT_THAT(result.dump(), Not(HasSubstr(lab_.facts()["server"]["password"].get<std::string>())));
        return result;
    }

    Lab lab_;
};

/// Prepares by one URL, plays by it, plays the same by path, and cleans by the URL.
struct ProtocolCase {
    const char* name;
    const char* io;
    const char* protocol;
    std::string (*url)(const Lab&);
};
class EachProtocol : public Network, public ::testing::WithParamInterface<ProtocolCase> {};

TEST_P(EachProtocol, PlaysWhatAPathPlays) {
    const std::string url = GetParam().url(lab_);
    const std::vector<std::string> play = {"--prores-hd", "--streams",       "2", "--duration",
                                           "1s",          "--clip-duration", "1s"};
    auto with = [&play](const std::string& verb, const std::string& target) {
        std::vector<std::string> words;
        if (!verb.empty()) words.push_back(verb);
        words.insert(words.end(), play.begin(), verb == "clean" ? play.begin() : play.end());
        words.push_back(target);
        return words;
    };
    const Finished prepared = on_seat(with("prepare", url));
    ASSERT_EQ(prepared.exit_code, 0) << prepared.text();
    const Json remote = result_of(with("", url));
    const Json local = result_of(with("", lab_.local()));
    EXPECT_EQ(remote["digest"], local["digest"]);
    for (const char* key : {"frames_scheduled", "frames_on_time", "bytes_read", "passes"})
        EXPECT_EQ(remote["totals"][key], local["totals"][key]) << key;
    EXPECT_EQ(remote["target"],
              (Json{{"url", url}, {"backend", GetParam().io}, {"io", GetParam().io}, {"direct", true}}));
    EXPECT_EQ(remote["client"]["page_cache_bytes"], 0);
    EXPECT_EQ(remote["client"]["helpers_cpu_ns"] > 0, remote["target"]["io"] == "smb") << remote["client"];
    EXPECT_EQ(remote["mount"], nullptr);
    EXPECT_LT(remote["media"]["age_s"], 600);
    ASSERT_EQ(remote["servers"].size(), 1U);
    const Json& server = remote["servers"][0];
    EXPECT_EQ(server["address"], "10.77.0.10");
    EXPECT_EQ(server["protocol"], GetParam().protocol);
    EXPECT_EQ(server["seats"], Json::array({0}));
    EXPECT_GT(server["requests_per_frame"], 1.0);
    EXPECT_LT(server["requests_per_frame"], 5.0);
    EXPECT_GE(server["received_bytes"], remote["totals"]["bytes_read"]);
    EXPECT_EQ(server["reconnects"], 0);
    const Finished cleaned = on_seat(with("clean", url));
    EXPECT_EQ(cleaned.exit_code, 0) << cleaned.text();
    EXPECT_FALSE(std::filesystem::exists(lab_.local("streamsim-media")));
}

INSTANTIATE_TEST_SUITE_P(
    Network,
    EachProtocol,
    ::testing::Values(
        ProtocolCase{"nfs3", "nfs", "NFSv3", [](const Lab& lab) { return lab.nfs("", "version=3"); }},
        ProtocolCase{"nfs4", "nfs", "NFSv4.0", [](const Lab& lab) { return lab.nfs("", "version=4"); }},
        ProtocolCase{"smb", "smb", "SMB 3.1.1", [](const Lab& lab) { return lab.smb(); }}),
    [](const auto& each) { return std::string(each.param.name); });

TEST_F(Network, ClipsOfOthersAreIndexedAsByPath) {
    const std::string folder = lab_.local("clips");
    std::filesystem::create_directory(folder);
    Spawn make;
    make.directory = folder;
    make.args = {"-c",
                 "set -e; f='ffmpeg -v error -f lavfi -i testsrc=size=320x180:rate=25:duration=1'\n"
                 "$f -c:v prores_ks a.mov; $f -c:v mpeg2video -q:v 2 b.mxf; $f -c:v mpeg4 c.mp4\n"
                 "mkdir seq; $f -pix_fmt gbrp10be seq/shot.%07d.dpx"};
    const Finished made = run("/bin/sh", make);
    if (made.exit_code == 127) GTEST_SKIP() << "there is no ffmpeg";
    ASSERT_EQ(made.exit_code, 0) << made.text();
    for (const char* path : {"a.mov", "b.mxf", "c.mp4", "seq", "seq/shot.%07d.dpx", "seq/shot.0000003.dpx"}) {
        for (const bool smb : {false, true}) {
            const std::string below = std::string("clips/") + path;
            const std::string url = smb ? lab_.smb(below) : lab_.nfs(below);
            const Finished by_url = on_seat({"inspect", "--frames", "--json", "-", "--quiet", url});
            const Finished by_path =
                on_seat({"inspect", "--frames", "--json", "-", "--quiet", lab_.local(below)});
            ASSERT_EQ(by_url.exit_code, 0) << by_url.text();
            ASSERT_EQ(by_path.exit_code, 0) << by_path.text();
            // The same but for the names of files.
            const auto facts = [](const Finished& done) {
                Json document = Json::parse(done.out);
                std::string text = document.dump();
                for (const char* root : {"nfs://10.77.0.10/export/", "smb://10.77.0.10/media/"})
                    for (std::size_t at; (at = text.find(root)) != std::string::npos;)
                        text.replace(at, std::strlen(root), "");
                return text;
            };
            std::string expected = facts(by_path);
            for (std::size_t at; (at = expected.find(lab_.local())) != std::string::npos;)
                expected.replace(at, lab_.local().size(), "");
            EXPECT_EQ(facts(by_url), expected) << url;
        }
    }
    const Json played =
        result_of({"--streams", "3", "--frames", "20", "--buffered", "--cold", lab_.nfs("clips")});
    EXPECT_EQ(played["totals"]["frames_on_time"], 60);
    EXPECT_THAT(played["notices"].dump(), HasSubstr("--buffered, --cold have no effect on nfs://"));
}

TEST_F(Network, WhatCannotBeWrittenToIsRefusedWithASentence) {
    ASSERT_EQ(on_seat({"prepare", "--prores-hd", "--clip-duration", "1s", lab_.nfs("", "version=3")}).exit_code,
              0);
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"--prores-hd", "--record", "1", "--duration", "1s"},
          {"run", "ebu-sequential-write", "--scale", "0.001", "--duration", "1s"}}) {
        for (const std::string& url : {lab_.nfs("", "version=4"), lab_.smb()}) {
            std::vector<std::string> all = words;
            all.push_back(url);
            const Finished done = on_seat(all);
            EXPECT_EQ(done.exit_code, 3) << done.text();
            EXPECT_THAT(done.err, ::testing::AnyOf(HasSubstr("written to"), HasSubstr("denied")));
        }
    }
}

struct Refusal {
    const char* about;
    std::vector<std::string> words;  // before the URL
    std::string url;
    std::vector<std::string> says;
    std::string password;
};

TEST_F(Network, EachRefusalIsNamedInBoundedTime) {
    std::filesystem::create_directory(lab_.local("secret"));
    std::filesystem::permissions(lab_.local("secret"), std::filesystem::perms::owner_all);
    const std::string host = "10.77.0.10";
    const std::vector<Refusal> all = {
        {"wrong password", {}, lab_.smb(), {"smb://10.77.0.10/media", "editor", "refuse"}, "not the password"},
        {"no such share", {}, "smb://editor@" + host + "/nothing", {"smb://10.77.0.10/nothing", "share"}, ""},
        {"no such folder on SMB", {}, lab_.smb("nothing"), {"smb://10.77.0.10/media/nothing", "no such"}, ""},
        {"no permission on SMB", {}, lab_.smb("secret"), {"smb://10.77.0.10/media/secret", "denied"}, ""},
        {"no such export", {}, "nfs://" + host + "/nothing", {"nfs://10.77.0.10/nothing", "export"}, ""},
        {"no such folder on NFS", {}, lab_.nfs("nothing"), {"nfs://10.77.0.10/export/nothing", "no such"}, ""},
        {"no permission on NFS", {}, lab_.nfs("secret", "uid=4711&gid=4711"), {"/export/secret", "denied"}, ""},
        {"nobody there", {}, "nfs://10.77.0.99/export?timeout=1s", {"nfs://10.77.0.99", "answer"}, ""},
        {"no such host", {}, "smb://nowhere.invalid/media", {"nowhere.invalid"}, ""}};
    for (const Refusal& each : all) {
        SCOPED_TRACE(each.about);
        const Finished done = on_seat({"--prores-hd", each.url}, each.password);
        EXPECT_EQ(done.exit_code, 3) << done.text();
        EXPECT_LT(done.wall_s, 15);
        for (const std::string& word : each.says) EXPECT_THAT(done.err, HasSubstr(word));
    }
    const Finished in_url = on_seat({"--prores-hd", "smb://editor:hunter2@" + host + "/media"}, "hunter2");
    EXPECT_EQ(in_url.exit_code, 2) << in_url.text();
}

/// Listens, and neither accepts nor answers.
class SilentServer {
public:
    SilentServer() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        bind(fd_, reinterpret_cast<sockaddr*>(&address), length);
        listen(fd_, 16);
        getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length);
        port_ = std::to_string(ntohs(address.sin_port));
    }
    ~SilentServer() { close(fd_); }
    SilentServer(const SilentServer&) = delete;
    SilentServer& operator=(const SilentServer&) = delete;
    const std::string& port() const { return port_; }

private:
    int fd_;
    std::string port_;
};

TEST(SilentServers, AreGivenUpAfterTheTimeOut) {
    const SilentServer server;
    for (const std::string& url :
         {"nfs://127.0.0.1:" + server.port() + "/export?version=3&timeout=1s&mountport=" + server.port(),
          "nfs://127.0.0.1:" + server.port() + "/export?version=4&timeout=1s",
          "smb://127.0.0.1:" + server.port() + "/media?timeout=1s"}) {
        const Finished done = streamsim({"--prores-hd", url});
        EXPECT_EQ(done.exit_code, 3) << done.text();
        EXPECT_THAT(done.err, AllOf(HasSubstr("127.0.0.1"), HasSubstr("answer")));
        EXPECT_LT(done.wall_s, 10);
    }
}

}  // namespace
}  // namespace streamsim::tests
