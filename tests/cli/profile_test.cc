// streamsim profile from outside: logs that real programs leave under strace, captures through tshark, what is
// written and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::HasSubstr;

bool there_is(const std::string& program) {
    return run("/bin/sh", {.args = {"-c", "command -v " + program}}).exit_code == 0;
}

const char* const kLog =
    "1.000000 openat(AT_FDCWD, \"/m/a\", O_RDONLY) = 3 <0.000010>\n"
    "0.001000 read(3, \"x\"..., 65536) = 65536 <0.000100>\n"
    "0.001000 read(3, \"x\"..., 65536) = 65536 <0.000100>\n"
    "0.001000 close(3) = 0 <0.000010>\n";

class ProfileTest : public CliTest {
protected:
    std::string log_with(const std::string& text) const {
        write_text(dir_ / "test.log", text);
        return dir_ / "test.log";
    }
    Json profile(std::vector<std::string> args) {
        args.insert(args.begin(), "profile");
        args.insert(args.end(), {"--json", dir_ / "profile.json", "-o", dir_ / "workload.json"});
        std::filesystem::remove(dir_ / "profile.json");
        std::filesystem::remove(dir_ / "workload.json");
        done_ = streamsim(args);
        EXPECT_EQ(done_.exit_code, 0) << done_.text();
        return read_json(dir_ / "profile.json");
    }
    /// Runs a program under strace, which writes to the log.
    std::string traced(const std::string& options, const std::string& command) {
        const std::string log = dir_ / "traced.log";
        std::filesystem::remove(log);
        const Finished finished =
            run("/bin/sh",
                {.args = {"-c", "cd " + target() + " && strace " + options + " -o " + log + " " + command}});
        EXPECT_EQ(finished.exit_code, 0) << finished.text();
        return log;
    }
    static const Json& line_of(const Json& meter, const std::string& name) {
        for (const Json& line : meter["fit"]["lines"])
            if (line["name"] == name) return line;
        static const Json kNone;
        return kNone;
    }

    Finished done_;
};

TEST_F(ProfileTest, TheDocumentGoesToStandardOutputAndTheTableBesideIt) {
    const Finished done = streamsim({"profile", log_with(kLog)});
    EXPECT_EQ(done.exit_code, 0) << done.text();
    const Json document = Json::parse(done.out);
    EXPECT_EQ(document["schema"], "streamsim.workload");
    EXPECT_EQ(document["name"], "test");
    EXPECT_EQ(document["meters"][0]["blocks"], "64KiB");
    EXPECT_EQ(document["meters"][0]["whole_files"], true);
    EXPECT_THAT(done.err, HasSubstr("operation mix"));
}

TEST_F(ProfileTest, NoDocumentFitsWhereIoUringWasUsed) {
    EXPECT_EQ(profile({log_with(kLog)})["fits"], true);
    const Json found =
        profile({log_with(std::string(kLog) + "0.1 io_uring_enter(5, 1, 1, 0, NULL, 8) = 1 <0.1>\n")});
    EXPECT_EQ(found["fits"], false);
    EXPECT_EQ(found["verdict"], "lacks what went through io_uring");
    EXPECT_THAT(done_.out, HasSubstr("The document lacks what went through io_uring"));
}

TEST_F(ProfileTest, NothingThatIsThereIsOverwritten) {
    write_text(dir_ / "mine.json", "mine");
    const Finished done = streamsim({"profile", log_with(kLog), "-o", dir_ / "mine.json"});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.err, HasSubstr("is not overwritten"));
    EXPECT_EQ(read_text(dir_ / "mine.json"), "mine");
}

TEST_F(ProfileTest, AFileThatAppearsWhileTheLogIsReadStays) {
    const std::string log = dir_ / "slow.log.100";  // as of strace -ff
    ASSERT_EQ(mkfifo(log.c_str(), 0600), 0);
    Process process(streamsim_binary(), {.args = {"profile", dir_ / "slow.log", "-o", dir_ / "mine.json"}});
    // Opens once the program reads, so after it has looked at what is there.
    std::ofstream writer(log);
    write_text(dir_ / "mine.json", "mine");
    writer << "1700000000.000000 openat(AT_FDCWD, \"/m/a\", O_RDONLY) = 3 <0.000010>\n"
              "1700000000.001000 read(3, \"x\"..., 65536) = 65536 <0.000100>\n"
              "1700000000.002000 read(3, \"x\"..., 65536) = 65536 <0.000100>\n"
              "1700000000.003000 close(3) = 0 <0.000010>\n";
    writer.close();
    const Finished done = process.wait();
    EXPECT_EQ(done.exit_code, 0) << done.text();
    EXPECT_EQ(read_text(dir_ / "mine.json"), "mine");
    EXPECT_EQ(read_json(dir_ / "mine.2.json")["schema"], "streamsim.workload");
    EXPECT_THAT(done.err, HasSubstr("mine.2.json"));
}

TEST_F(ProfileTest, WhatIsNoCaptureIsBadInput) {
    for (const std::string& text : {std::string(), std::string("\0\1\2\n\n\xff", 6), std::string("hello\n")}) {
        const Finished done = streamsim({"profile", log_with(text)});
        EXPECT_EQ(done.exit_code, 2) << done.text();
        EXPECT_THAT(done.err, HasSubstr("test.log"));
    }
    EXPECT_EQ(streamsim({"profile", dir_ / "none.log"}).exit_code, 2);
    EXPECT_EQ(streamsim({"profile", target()}).exit_code, 2);
    EXPECT_EQ(streamsim({"profile"}).exit_code, 2);
    EXPECT_THAT(streamsim({"profile", log_with("2026 elephants\nread on\n")}).err, HasSubstr("line 1"));
}

TEST_F(ProfileTest, WithoutTsharkACaptureCannotBeRead) {
    write_text(dir_ / "test.pcap", std::string("\xd4\xc3\xb2\xa1", 4));
    Spawn spawn;
    spawn.args = {"profile", dir_ / "test.pcap"};
    spawn.env = {{"PATH", "/nowhere"}};
    const Finished done = streamsim(spawn);
    EXPECT_EQ(done.exit_code, 3) << done.text();
    EXPECT_THAT(done.err, HasSubstr("install the package tshark"));
}

TEST_F(ProfileTest, FfmpegReadingASequenceIsThatSequence) {
    if (!there_is("strace") || !there_is("ffmpeg")) GTEST_SKIP() << "strace and ffmpeg are not both installed";
    const Finished made =
        run("/bin/sh", {.args = {"-c", "cd " + target() +
                                           " && ffmpeg -v error -f lavfi -i "
                                           "testsrc2=size=320x180:rate=24:duration=1 -pix_fmt gbrp10be "
                                           "f.%04d.dpx"}});
    ASSERT_EQ(made.exit_code, 0) << made.text();
    for (const char* options : {"-f -ttt -T -y", "-f -tt -T", "-f -r -T"}) {
        const Json found = profile({traced(options, "ffmpeg -v error -i f.%04d.dpx -f null -")});
        ASSERT_EQ(found["meters"].size(), 1u) << done_.text();
        const Json& meter = found["meters"][0];
        EXPECT_THAT(meter["sequence"], HasSubstr("a sequence of 24 files")) << done_.text();
        EXPECT_EQ(meter["whole_files"], true);
        EXPECT_EQ(meter["reads"]["bytes"], 24 * file_bytes(target() + "/f.0001.dpx")) << done_.text();
        EXPECT_EQ(meter["operations"]["open"], 24);
        for (const char* name : {"operation mix", "read blocks", "reads"})
            EXPECT_EQ(line_of(meter, name)["fits"], true) << name << "\n" << done_.text();
    }
}

TEST_F(ProfileTest, CopyToolsReadAndWrite) {
    if (!there_is("strace")) GTEST_SKIP() << "strace is not installed";
    write_text(target() + "/a", std::string(1'000'000, 'x'));
    for (const char* command : {"cp a b", "dd if=a of=c bs=64k status=none", "cat a > d",
                                "dd if=a of=e ibs=128k obs=32k status=none"}) {
        const std::string options = std::string(command).starts_with("cat") ? "-f -ttt -T -y" : "-f -tt -T";
        const std::string shell = std::string("sh -c '") + command + "'";
        const Json found = profile({traced(options, shell)});
        std::uint64_t read = 0, written = 0;
        for (const Json& meter : found["meters"]) {
            read += meter["reads"]["bytes"].get<std::uint64_t>();
            written += meter["writes"]["bytes"].get<std::uint64_t>();
            for (const char* name : {"operation mix", "read blocks", "write blocks"}) {
                const Json& line = line_of(meter, name);
                if (line.is_null()) continue;
                EXPECT_EQ(line["fits"], true) << command << ": " << name << "\n" << done_.text();
            }
        }
        EXPECT_EQ(read, 1'000'000u) << command << "\n" << done_.text();
        EXPECT_EQ(written, 1'000'000u) << command << "\n" << done_.text();
    }
}

TEST_F(ProfileTest, ALogForEachProcessIsOneLog) {
    if (!there_is("strace")) GTEST_SKIP() << "strace is not installed";
    write_text(target() + "/a", std::string(1'000'000, 'x'));
    const std::string log = dir_ / "traced.log";
    traced("-ff -ttt -T -y", "sh -c 'cp a b; dd if=a of=c bs=64k status=none'");
    const Json found = profile({log, "--only", target()});
    std::uint64_t read = 0;
    for (const Json& meter : found["meters"]) read += meter["reads"]["bytes"].get<std::uint64_t>();
    EXPECT_EQ(read, 2'000'000u) << done_.text();
}

/// Big-endian words, as XDR has them.
class Xdr {
public:
    Xdr& word(std::uint32_t value) {
        for (int shift = 24; shift >= 0; shift -= 8) text_ += static_cast<char>(value >> shift & 0xff);
        return *this;
    }
    Xdr& wide(std::uint64_t value) {
        return word(static_cast<std::uint32_t>(value >> 32)).word(static_cast<std::uint32_t>(value));
    }
    Xdr& opaque(const std::string& bytes) {
        word(static_cast<std::uint32_t>(bytes.size()));
        text_ += bytes;
        while (text_.size() % 4 != 0) text_ += '\0';
        return *this;
    }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

/// A capture of NFSv3 over UDP, byte by byte.
class Pcap {
public:
    Pcap() { little(0xa1b2c3d4, 4), little(2, 2), little(4, 2), little(0, 8), little(65535, 4), little(1, 4); }
    void packet(double time, bool call, const std::string& rpc) {
        Xdr ip, addresses;
        const auto bytes = static_cast<std::uint32_t>(rpc.size());
        ip.word(0x45000000 | (28 + bytes)).word(0x00010000).word(0x40110000);
        for (const bool client : {call, !call}) addresses.word(client ? 0x0a000002 : 0x0a000001);
        const std::uint32_t from = call ? 800 : 2049, to = call ? 2049 : 800;
        Xdr udp;
        udp.word(from << 16 | to).word((8 + bytes) << 16);
        const std::string whole = std::string(12, '\2') + "\x08" + std::string(1, '\0') + ip.text() +
                                  addresses.text() + udp.text() + rpc;
        little(static_cast<std::uint64_t>(time), 4);
        little(static_cast<std::uint64_t>(std::lround((time - std::floor(time)) * 1e6)), 4);
        little(whole.size(), 4), little(whole.size(), 4);
        text_ += whole;
    }
    /// READ of 4 KiB.
    void read(double time, double took, std::uint32_t xid, std::uint64_t offset) {
        Xdr call, reply;
        call.word(xid).word(0).word(2).word(100003).word(3).word(6).wide(0).wide(0);
        call.opaque("file-handle-one!").wide(offset).word(4096);
        reply.word(xid).word(1).word(0).wide(0).word(0);
        reply.word(0).word(0).word(4096).word(0).opaque(std::string(4096, 'd'));
        packet(time, true, call.text());
        packet(time + took, false, reply.text());
    }
    const std::string& text() const { return text_; }

private:
    void little(std::uint64_t value, int bytes) {
        for (int i = 0; i < bytes; ++i) text_ += static_cast<char>(value >> (8 * i) & 0xff);
    }
    std::string text_;
};

TEST_F(ProfileTest, ACaptureOfNfsIsReadByTshark) {
    if (!there_is("tshark")) GTEST_SKIP() << "tshark is not installed";
    Pcap pcap;
    for (std::uint32_t i = 0; i < 100; ++i)
        pcap.read(1000 + i * 0.04, 0.002, 7000 + i, std::uint64_t{i} * 4096);
    write_text(dir_ / "nfs.pcap", pcap.text());
    const Json found = profile({dir_ / "nfs.pcap"});
    EXPECT_EQ(found["recorder"], "NFSv3");
    const Json& meter = found["meters"][0];
    EXPECT_EQ(meter["name"], "10.0.0.2");
    EXPECT_EQ(meter["reads"]["blocks"], 100) << done_.text();
    EXPECT_EQ(meter["reads"]["bytes"], 409'600);
    EXPECT_EQ(meter["reads"]["sequential_share"], 1.0);
    const Json document = read_json(dir_ / "workload.json");
    EXPECT_EQ(document["meters"][0]["loop"], "open");
    EXPECT_NEAR(document["meters"][0]["operations_per_s"].get<double>(), 25, 0.1);
    EXPECT_EQ(found["fits"], true) << done_.text();
    // Cut in the middle of a packet it is good up to there.
    write_text(dir_ / "cut.pcap", pcap.text().substr(0, pcap.text().size() / 2 + 11));
    EXPECT_NEAR(profile({dir_ / "cut.pcap"})["meters"][0]["reads"]["blocks"].get<double>(), 50, 1)
        << done_.text();
}

}  // namespace
}  // namespace streamsim::tests
