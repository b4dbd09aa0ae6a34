// Captures as tshark prints them, with known operations.
#include "profile/capture/capture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace streamsim::profile {
namespace {

using ::testing::HasSubstr;
using Fields = std::vector<std::pair<std::string, std::string>>;
using Calls = std::vector<std::string>;

/// Packets as tshark -T pdml prints them.
class Packets {
public:
    struct Protocol {
        std::string name;
        Fields fields;
    };
    void add(double time, bool from_client, const std::vector<Protocol>& protocols) {
        const auto field = [this](const std::string& name, const std::string& show) {
            text_ += fmt::format(
                "    <field name=\"{}\" showname=\"{}: {}\" size=\"4\" pos=\"70\" show=\"{}\" value=\"00\"/>\n",
                name, name, show, show);
        };
        text_ += fmt::format(
            "<packet>\n  <proto name=\"geninfo\" pos=\"0\">\n    <field name=\"timestamp\" pos=\"0\" "
            "show=\"some day\" showname=\"Captured Time\" value=\"{:.9f}\" size=\"1\"/>\n  </proto>\n",
            1795321277 + time);
        text_ += "  <proto name=\"ip\">\n";
        field("ip.src", from_client ? "10.0.0.2" : "10.0.0.1");
        field("ip.dst", from_client ? "10.0.0.1" : "10.0.0.2");
        text_ += "  </proto>\n  <proto name=\"tcp\">\n";
        field("tcp.stream", "3");
        text_ += "  </proto>\n";
        for (const Protocol& protocol : protocols) {
            text_ += fmt::format("  <proto name=\"{}\" showname=\"x\">\n", protocol.name);
            for (const auto& [name, show] : protocol.fields) field(name, show);
            text_ += "  </proto>\n";
        }
        text_ += "</packet>\n";
    }
    void rpc(double time,
             int version,
             int procedure,
             int xid,
             const Fields& call,
             const Fields& reply,
             double took = 0.001) {
        const auto header = [&](int type) {
            return Protocol{"rpc",
                            {{"rpc.xid", fmt::format("0x{:08x}", xid)},
                             {"rpc.msgtyp", std::to_string(type)},
                             {"rpc.program", "100003"},
                             {"rpc.programversion", std::to_string(version)},
                             {"rpc.procedure", std::to_string(procedure)}}};
        };
        add(time, true, {header(0), {"nfs", call}});
        if (!reply.empty()) add(time + took, false, {header(1), {"nfs", reply}});
    }
    void smb(double time,
             int command,
             int id,
             const Fields& call,
             const std::string& status,
             const Fields& reply,
             double took = 0.001) {
        const auto message = [&](const char* response, const Fields& fields) {
            Protocol out{"smb2",
                         {{"smb2.header_len", "64"},
                          {"smb2.nt_status", status},
                          {"smb2.cmd", std::to_string(command)},
                          {"smb2.flags.response", response},
                          {"smb2.msg_id", std::to_string(id)}}};
            out.fields.insert(out.fields.end(), fields.begin(), fields.end());
            return out;
        };
        add(time, true, {message("0", call)});
        add(time + took, false, {message("1", reply)});
    }
    Result<Traffic> read() const {
        CaptureReader reader;
        for (std::size_t at = 0; at < text_.size();) {
            const auto end = text_.find('\n', at);
            reader.line(std::string_view(text_).substr(at, end - at));
            at = end + 1;
        }
        return reader.finish("test.pcap");
    }
    Calls told() const {
        const auto traffic = read();
        if (!traffic) return traffic.error().problems;
        Calls out;
        for (const TrafficOperation& at : traffic->operations) {
            std::string line = fmt::format("{} {}", to_string(at.kind), traffic->files[at.file].name);
            if (at.bytes > 0) line += fmt::format(" {}+{}", at.offset, at.bytes);
            out.push_back(line + (at.failed ? " failed" : ""));
        }
        return out;
    }

private:
    std::string text_;
};

TEST(Capture, Nfs3IsReadWithItsNames) {
    Packets packets;
    packets.rpc(1, 3, 17, 1, {{"nfs.fhandle", "d0"}, {"nfs.cookie3", "0"}}, {{"nfs.status3", "0"}});
    packets.rpc(2, 3, 17, 2, {{"nfs.fhandle", "d0"}, {"nfs.cookie3", "99"}}, {{"nfs.status3", "0"}});
    packets.rpc(3, 3, 3, 3, {{"nfs.fhandle", "d0"}, {"nfs.name", "f.1"}},
                {{"nfs.status3", "0"}, {"nfs.fhandle", "a1"}, {"nfs.fattr3.size", "40000"}});
    packets.rpc(4, 3, 6, 4, {{"nfs.fhandle", "a1"}, {"nfs.offset3", "0"}, {"nfs.count3", "32768"}},
                {{"nfs.status3", "0"}, {"nfs.count3", "32768"}, {"nfs.data", "aa"}});
    packets.rpc(5, 3, 6, 5, {{"nfs.fhandle", "a1"}, {"nfs.offset3", "32768"}, {"nfs.count3", "32768"}},
                {{"nfs.status3", "0"}, {"nfs.count3", "7232"}, {"nfs.data", "aa"}});
    packets.rpc(
        6, 3, 7, 6,
        {{"nfs.fhandle", "b2"}, {"nfs.offset3", "8192"}, {"nfs.count3", "4096"}, {"nfs.write.stable", "0"}},
        {{"nfs.status3", "0"}, {"nfs.count3", "4096"}});
    packets.rpc(7, 3, 21, 7, {{"nfs.fhandle", "b2"}}, {{"nfs.status3", "0"}});
    packets.rpc(8, 3, 3, 8, {{"nfs.fhandle", "d0"}, {"nfs.name", "gone"}}, {{"nfs.status3", "2"}});
    EXPECT_EQ(packets.told(), (Calls{"list handle-1", "open handle-1/f.1", "read handle-1/f.1 0+32768",
                                     "read handle-1/f.1 32768+7232", "write handle-3 8192+4096",
                                     "sync handle-3", "stat handle-1/gone failed"}));
}

TEST(Capture, OnlyNfs4HasAnOpenOfEachFile) {
    Packets packets;
    packets.rpc(1, 3, 6, 1, {{"nfs.fhandle", "a3"}, {"nfs.offset3", "0"}, {"nfs.count3", "4096"}},
                {{"nfs.status3", "0"}, {"nfs.count3", "4096"}});
    packets.rpc(2, 4, 1, 2,
                {{"nfs.opcode", "22"}, {"nfs.fhandle", "a4"}, {"nfs.opcode", "25"}, {"nfs.count4", "4096"}},
                {{"nfs.opcode", "22"}, {"nfs.opcode", "25"}, {"nfs.read.data_length", "4096"}});
    const auto traffic = packets.read();
    ASSERT_TRUE(traffic);
    ASSERT_EQ(traffic->sessions.size(), 2u);
    EXPECT_TRUE(traffic->sessions[0].unopened);
    EXPECT_FALSE(traffic->sessions[1].unopened);
}

TEST(Capture, OneNameInTwoDirectoriesIsOfTwoFiles) {
    Packets packets;
    for (const int i : {1, 2}) {
        const std::string of = std::to_string(i);
        packets.rpc(i, 3, 3, i, {{"nfs.fhandle", "d" + of}, {"nfs.name", "f"}},
                    {{"nfs.status3", "0"}, {"nfs.fhandle", "a" + of}});
    }
    EXPECT_EQ(packets.told(), (Calls{"stat handle-1/f", "stat handle-3/f"}));
}

TEST(Capture, OneNameInTwoTreesOfSmb2IsOfTwoFiles) {
    const auto names = [](const std::vector<Fields>& trees) {
        Packets packets;
        int id = 0;
        for (Fields fields : trees) {
            fields.emplace_back("smb2.filename", "seq\\a");
            ++id;
            packets.smb(id, 5, id, fields, "0x00000000", {{"smb2.fid", "f" + std::to_string(id)}});
        }
        return packets.told();
    };
    const Fields first{{"smb2.tid", "0x1"}}, second{{"smb2.tid", "0x5"}};
    const Fields named{{"smb2.tid", "0x1"}, {"smb2.tree", "\\\\nas\\media"}};
    EXPECT_EQ(names({first, second, first}),
              (Calls{"open tree-1/seq/a", "open tree-2/seq/a", "open tree-1/seq/a"}));
    EXPECT_EQ(names({named, second}), (Calls{"open nas/media/seq/a", "open tree-1/seq/a"}));
    EXPECT_EQ(names({named, named}), (Calls{"open seq/a", "open seq/a"}));
}

TEST(Capture, ACallThatIsSentAgainCountsOnceFromItsFirstTime) {
    Packets packets;
    const Fields call = {{"nfs.fhandle", "a1"}, {"nfs.offset3", "0"}, {"nfs.count3", "4096"}};
    packets.rpc(1, 3, 6, 1, call, {});
    packets.rpc(2, 3, 6, 1, call, {{"nfs.status3", "0"}, {"nfs.count3", "4096"}}, 0.5);
    packets.rpc(3, 3, 6, 2, call, {});
    const auto traffic = packets.read();
    ASSERT_TRUE(traffic);
    ASSERT_EQ(traffic->operations.size(), 1u);
    EXPECT_EQ(traffic->operations[0].duration_ns, 1'500'000'000);
    std::string notes;
    for (const std::string& note : traffic->notes) notes += note + "\n";
    EXPECT_THAT(notes, HasSubstr("sent again"));
    EXPECT_THAT(notes, HasSubstr("1 calls without a reply"));
}

TEST(Capture, AReplyThatIsStampedBeforeItsCallTakesNoTime) {
    Packets nfs;
    nfs.rpc(1, 3, 6, 1, {{"nfs.fhandle", "a1"}, {"nfs.offset3", "0"}, {"nfs.count3", "4096"}},
            {{"nfs.status3", "0"}, {"nfs.count3", "4096"}}, -0.5);
    Packets smb;
    smb.smb(1, 8, 2, {{"smb2.read_length", "4096"}, {"smb2.file_offset", "0"}, {"smb2.fid", "f1"}},
            "0x00000000", {}, -0.5);
    for (const Packets* packets : {&nfs, &smb}) {
        const auto traffic = packets->read();
        ASSERT_TRUE(traffic);
        ASSERT_EQ(traffic->operations.size(), 1u);
        EXPECT_EQ(traffic->operations[0].duration_ns, 0);
    }
}

/// No read moves so much; a learnt load would have a block for each GiB of it.
TEST(Capture, BytesThatNothingMovesAreLeftOut) {
    for (const std::string& bytes : {std::to_string(UINT64_MAX), std::to_string(INT64_MAX), std::string("0")}) {
        Packets packets;
        packets.smb(1, 9, 1, {{"smb2.write_length", bytes}, {"smb2.file_offset", "0"}, {"smb2.fid", "f1"}},
                    "0x00000000", {});
        packets.rpc(2, 3, 7, 2, {{"nfs.fhandle", "a1"}, {"nfs.offset3", "0"}, {"nfs.count3", bytes}},
                    {{"nfs.status3", "0"}});
        packets.rpc(3, 3, 7, 3, {{"nfs.fhandle", "a1"}, {"nfs.offset3", "0"}, {"nfs.count3", "4096"}},
                    {{"nfs.status3", "0"}});
        const Calls told = packets.told();
        EXPECT_EQ(told, Calls{"write handle-1 0+4096"}) << bytes;
    }
}

TEST(Capture, CompoundsOfNfs4AreTakenApart) {
    Packets packets;
    packets.rpc(1, 4, 1, 1,
                {{"nfs.opcode", "22"},
                 {"nfs.fhandle", "d0"},
                 {"nfs.opcode", "18"},
                 {"nfs.open.opentype", "0"},
                 {"nfs.pathname.component", "clip.mov"},
                 {"nfs.opcode", "10"},
                 {"nfs.opcode", "9"}},
                {{"nfs.nfsstat4", "0"},
                 {"nfs.opcode", "22"},
                 {"nfs.nfsstat4", "0"},
                 {"nfs.opcode", "18"},
                 {"nfs.nfsstat4", "0"},
                 {"nfs.opcode", "10"},
                 {"nfs.nfsstat4", "0"},
                 {"nfs.fhandle", "a1"},
                 {"nfs.opcode", "9"},
                 {"nfs.nfsstat4", "0"}});
    packets.rpc(2, 4, 1, 2,
                {{"nfs.opcode", "22"},
                 {"nfs.fhandle", "a1"},
                 {"nfs.opcode", "25"},
                 {"nfs.offset4", "1000"},
                 {"nfs.count4", "500"}},
                {{"nfs.nfsstat4", "0"},
                 {"nfs.opcode", "22"},
                 {"nfs.nfsstat4", "0"},
                 {"nfs.opcode", "25"},
                 {"nfs.nfsstat4", "0"},
                 {"nfs.read.data_length", "300"}});
    packets.rpc(3, 4, 1, 3, {{"nfs.opcode", "22"}, {"nfs.fhandle", "a1"}, {"nfs.opcode", "9"}},
                {{"nfs.nfsstat4", "0"},
                 {"nfs.opcode", "22"},
                 {"nfs.nfsstat4", "0"},
                 {"nfs.opcode", "9"},
                 {"nfs.nfsstat4", "0"}});
    packets.rpc(4, 4, 1, 4, {{"nfs.opcode", "22"}, {"nfs.fhandle", "a1"}, {"nfs.opcode", "4"}},
                {{"nfs.nfsstat4", "0"},
                 {"nfs.opcode", "22"},
                 {"nfs.nfsstat4", "0"},
                 {"nfs.opcode", "4"},
                 {"nfs.nfsstat4", "0"}});
    EXPECT_EQ(packets.told(),
              (Calls{"open handle-1/clip.mov", "read handle-1/clip.mov 1000+300", "stat handle-1/clip.mov"}));
}

TEST(Capture, Smb2OpensReadsListsAndQuestions) {
    Packets packets;
    const Fields opened = {{"smb2.create.action", "1"}, {"smb2.eof", "5000"}, {"smb2.fid", "f1"}};
    packets.smb(1, 5, 1, {{"smb2.filename", "seq\\a.dpx"}}, "0x00000000", opened);
    packets.smb(2, 8, 2, {{"smb2.read_length", "4096"}, {"smb2.file_offset", "0"}, {"smb2.fid", "f1"}},
                "0x00000000", {});
    packets.smb(3, 8, 3, {{"smb2.read_length", "4096"}, {"smb2.file_offset", "4096"}, {"smb2.fid", "f1"}},
                "0x00000000", {});
    packets.smb(4, 8, 4, {{"smb2.read_length", "4096"}, {"smb2.file_offset", "5000"}, {"smb2.fid", "f1"}},
                "0xc0000011", {});
    packets.smb(5, 6, 5, {{"smb2.fid", "f1"}}, "0x00000000", {});
    packets.smb(6, 5, 6, {{"smb2.filename", "seq"}}, "0x00000000",
                {{"smb2.create.action", "1"}, {"smb2.fid", "f2"}});
    packets.smb(7, 14, 7, {{"smb2.fid", "f2"}}, "0x00000000", {});
    packets.smb(8, 6, 8, {{"smb2.fid", "f2"}}, "0x00000000", {});
    packets.smb(9, 5, 9, {{"smb2.filename", "b"}}, "0x00000000",
                {{"smb2.create.action", "1"}, {"smb2.fid", "f3"}});
    packets.smb(10, 16, 10, {{"smb2.fid", "f3"}}, "0x00000000", {});
    packets.smb(11, 6, 11, {{"smb2.fid", "f3"}}, "0x00000000", {});
    packets.smb(12, 5, 12, {{"smb2.filename", "none"}}, "0xc0000034", {});
    EXPECT_EQ(packets.told(), (Calls{"open seq/a.dpx", "read seq/a.dpx 0+4096", "read seq/a.dpx 4096+904",
                                     "list seq", "stat b", "stat none failed"}));
}

/// Only the server knows where a file ends: others may write it, and it may have been opened before.
TEST(Capture, ReadsOfSmb2HaveTheBytesOfTheirReplies) {
    Packets packets;
    const auto read = [&packets](int id, const char* fid, const char* offset, const char* moved) {
        packets.smb(id, 8, id, {{"smb2.read_length", "4096"}, {"smb2.file_offset", offset}, {"smb2.fid", fid}},
                    "0x00000000", {{"smb2.olb.length", moved}});
    };
    read(1, "f0", "0", "4096");
    read(2, "f0", "4096", "4096");
    packets.smb(3, 5, 3, {{"smb2.filename", "a"}}, "0x00000000",
                {{"smb2.create.action", "1"}, {"smb2.eof", "5000"}, {"smb2.fid", "f1"}});
    read(4, "f1", "4096", "4096");
    read(5, "f1", "8192", "100");
    EXPECT_EQ(packets.told(), (Calls{"read file-f0 0+4096", "read file-f0 4096+4096", "open a",
                                     "read a 4096+4096", "read a 8192+100"}));
    EXPECT_EQ(packets.read()->read_at_end, 0u);
}

TEST(Capture, NothingThatCanBeReadIsBadInput) {
    Packets packets;
    EXPECT_THAT(packets.told().front(), HasSubstr("holds no call with its reply"));
    packets.add(1, true, {{"smb2", {{"smb2.header.transform.signature", "00"}}}});
    EXPECT_THAT(packets.told().front(), HasSubstr("encrypted"));
}

}  // namespace
}  // namespace streamsim::profile
