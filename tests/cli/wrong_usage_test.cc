// Wrong usages: one message for each mistake, with what is wrong, where, and what to do.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/fixture.h"

namespace streamsim::tests {
namespace {

using ::testing::HasSubstr;

struct Usage {
    std::vector<std::string> words;
    std::vector<std::string> problems;  // the messages, all of them
};

void PrintTo(const Usage& usage, std::ostream* os) {  // NOLINT: the name is GoogleTest's
    for (const std::string& word : usage.words) *os << word << " ";
}

class WrongUsage : public CliTest, public ::testing::WithParamInterface<Usage> {};

TEST_P(WrongUsage, HasAMessageForEachMistake) {
    const Usage& usage = GetParam();
    const Finished done = streamsim(usage.words);
    EXPECT_EQ(done.exit_code, 2) << done.text();
    std::string expected;
    for (const std::string& problem : usage.problems) expected += "streamsim: " + problem + "\n";
    EXPECT_EQ(done.err, expected);
    EXPECT_EQ(done.out, "");
}

const std::string kSee = " (see --help)";
std::string meant(const std::string& option, const std::string& names) {
    return option + ": there is no such option; did you mean " + names + "?" + kSee;
}
const std::string kTargetMissing =
    "TARGET is missing: expected a directory, a clip, a sequence or a URL (see --help)";

INSTANTIATE_TEST_SUITE_P(
    All,
    WrongUsage,
    ::testing::Values(
        Usage{{}, {kTargetMissing}},
        Usage{{"--strems", "4", "sim:null"}, {meant("--strems", "\"--streams\"")}},
        Usage{{"--streams", "4", "--durration=9s", "sim:null"}, {meant("--durration", "\"--duration\"")}},
        Usage{{"--dpx13", "sim:null"}, {meant("--dpx13", "\"--dpx10\" or \"--dpx12\"")}},
        Usage{{"-streams", "4", "sim:null"}, {meant("-streams", "\"--streams\"")}},
        Usage{{"--nonsense", "sim:null"}, {"--nonsense: there is no such option" + kSee}},
        Usage{{"--strems", "4", "--jsn", "r.json"},
              {meant("--strems", "\"--streams\""), meant("--jsn", "\"--json\"")}},
        Usage{{"--strems", "4", "--duration", "9", "sim:null"},
              {meant("--strems", "\"--streams\""),
               "--duration: '9' is not a time: expected a number with a unit, such as 10s, 500ms or 1h"}},
        Usage{{"--headroom", "5", "sim:null"},
              {"--headroom: play has no such option; these commands have it: max"}},
        Usage{{"max", "--csv", "x.csv", "sim:null"},
              {"--csv: max has no such option; these commands have it: play, run, report"}},
        Usage{{"prepre", "/mnt"},
              {"'prepre': there is no such command, and no such file; did you mean \"prepare\"?"}},
        Usage{{"rport", "a.json"},
              {"'rport': there is no such command, and no such file; did you mean \"report\"?"}},
        Usage{{"max", "--duration", "1s", "--confirm", "1s", "sim:null"},
              {"--duration: '1s': expected more than 1s: the first second of a step does not count",
               "--confirm: '1s': expected 0, or more than 1s: the first second of a run does not count"}},
        Usage{{"max", "--confirm", "1ms", "sim:null"},
              {"--confirm: '1ms': expected 0, or more than 1s: the first second of a run does not count"}},
        Usage{{"max", "--require-cold", "/mnt"},
              {"--require-cold: max plays the same clips in each step, and the storage's caches may hold them "
               "from the second on: give --before-step with a command that empties them"}},
        Usage{{"--audio", "--prores-hd", "/mnt"},
              {"--audio: is for clips that are there: media that are made for a format have no audio, nor have "
               "null: and sim:"}},
        Usage{{"--audio", "sim:null"},
              {"--audio: is for clips that are there: media that are made for a format have no audio, nor have "
               "null: and sim:"}},
        Usage{{"maxx", "--dpx10", "sim:null"},
              {"'maxx': there is no such command, and no such file; did you mean \"max\"?"}},
        Usage{{"sim:null", "sim:null"}, {"'sim:null': one TARGET is expected"}},
        Usage{{"-v", "max", "--dpx12", "/mnt"}, {"'max' is a command, which comes first: streamsim max ..."}},
        Usage{{"-q", "max", "--headroom", "5%", "/mnt"},
              {"--headroom: play has no such option; these commands have it: max",
               "'max' is a command, which comes first: streamsim max ..."}},
        Usage{{"--title"}, {"--title: TEXT is missing after it"}},
        Usage{{"--streams", "3", "--streams", "4", "sim:null"},
              {"--streams: is given more than once: give it once"}},
        Usage{{"--streams", "0", "sim:null"}, {"--streams: '0': expected a whole number from 1 to 100000"}},
        Usage{{"--streams", "four", "sim:null"},
              {"--streams: 'four': expected a whole number from 1 to 100000"}},
        Usage{{"--on-miss", "dorp", "sim:null"},
              {"--on-miss: 'dorp': expected one of drop, skip, hold, stall; did you mean \"drop\"?"}},
        Usage{{"--pattern", "streming", "sim:null"},
              {"--pattern: 'streming': expected one of filename-prefetch, streaming, on-demand; did you mean "
               "\"streaming\"?"}},
        Usage{{"--order", "forwrd", "sim:null"},
              {"--order: 'forwrd': expected one of forward, reverse, ping-pong, shuttle:N, scrub, random, "
               "cuts; did "
               "you mean \"forward\"?"}},
        Usage{{"--format", "dpx11", "sim:null"},
              {"--format: 'dpx11' is neither a known format (see `streamsim formats`) nor a file that can be "
               "read; "
               "did you mean \"dpx10\" or \"dpx12\"?"}},
        Usage{{"sim:h50"},
              {"'sim:h50': there is no model 'h50': expected one of cvs, ebu-tech-3362, "
               "ebu-tech-3362-ordinary-windows, f800, f800-hpc, h500, h600, nfs-generic, "
               "sc7020f, null, "
               "or a document as sim:FILE.json; did you mean \"h500\"?"}},
        Usage{{"sim:h500?node=2"},
              {"'sim:h500?node=2': the option 'node=2' is not known: expected nodes=N, cluster=N, "
               "cache=cold|warm or "
               "strategy=streaming|concurrency|random|filename-prefetch|as-media; did you mean \"nodes\"?"}},
        Usage{{"completions", "zhs"}, {"'zhs': expected bash, zsh or fish; did you mean \"zsh\"?"}},
        Usage{{"run", "vdi-stedy", "sim:h500"},
              {"there is no workload and no scenario 'vdi-stedy'; did you mean \"vdi-steady\"?"}},
        Usage{{"run", "multicam8", "sim:h500"},
              {"there is no workload and no scenario 'multicam8'; did you mean \"multicam-8\"?"}},
        Usage{{"formats", "prores-hdd"},
              {"'prores-hdd' is neither a known format (see `streamsim formats`) nor a file that can be read; "
               "did you "
               "mean \"prores-hd\"?"}},
        Usage{{"--direct", "--buffered", "sim:null"},
              {"--buffered: is the opposite of --direct: give one of them"}},
        Usage{{"--durable", "sim:null"}, {"--durable: is for what --record writes: give both"}},
        Usage{{"--depth", "deep", "sim:null"}, {"--depth: 'deep': expected a whole number from 0 to 64"}},
        Usage{{"sim:null", "--html"}, {"--html: FILE is missing after it"}},
        Usage{{"--json", "", "--faults", "", "--title", "", "sim:null"},
              {"--faults: '': expected FILE", "--json: '': expected FILE", "--title: '': expected TEXT"}},
        Usage{{"--metrics", "", "sim:null"},
              {"--metrics: '': expected ADDR:PORT such as 127.0.0.1:9464, [::1]:9464 or 9464"}},
        Usage{{"max", "--before-step", "", "sim:null"}, {"--before-step: '': expected COMMAND"}},
        Usage{{"join", "10.0.0.5:9470", "--key", "", "--allow", ""},
              {"--key: '': expected FILE", "--allow: '': expected PATH"}},
        Usage{{"--fps", "fast", "sim:null"},
              {"--fps: 'fast' is not a frame rate: expected 24, 23.976 or 24000/1001"}},
        Usage{{"max", "--headroom", "200%", "sim:null"}, {"--headroom: '200%': expected 0 % to 100 %"}},
        Usage{{"report"}, {"RESULT is missing: expected a document that --json wrote (see --help)"}},
        Usage{{"report", "no.json"}, {"no.json: there is no such file"}},
        Usage{{"--web", "99999", "sim:null"},
              {"--web: '99999': expected ADDR:PORT such as 127.0.0.1:9464, [::1]:9464 or 9464"}},
        Usage{
            {"nsf://server/media"},
            {"'nsf://server/media': streamsim has no storage for it: expected a path, file:PATH, "
             "nfs://host/export/dir, smb://host/share/dir, null:, sim:MODEL or sim:null (a mounted share is a "
             "path); did you mean \"nfs\"?"}},
        Usage{{"--faults", "no.json", "sim:null"}, {"--faults: no.json: there is no such file"}},
        Usage{{"--multicam", "actve", "sim:null"},
              {"--multicam: 'actve': expected one of all, active; did you mean \"active\"?"}},
        Usage{{"predict", "--multicam", "active", "sim:h500"},
              {"--multicam: active reads one angle only: more of them are not more streams: give --streams"}},
        Usage{{"--io", "iocp", "sim:null"},
              {"--io: iocp: completion ports are there on Windows only: give auto or threads"}},
        Usage{{"--total-streams", "3", "--streams", "2", "sim:null"},
              {"--total-streams: stands instead of --streams: give one of them"}},
        Usage{{"run", "published", "--junit", "x.xml", "--seed", "2", "--duration", "5s"},
              {"--seed: is not for run published: leave it out",
               "--duration: is not for run published: leave it out",
               "--junit: is not for run published: leave it out"}},
        Usage{{"run", "multicam-8", "--fit", "sim:h500"},
              {"--fit: is for `run published` alone: leave it out"}},
        Usage{{"max", "--find", "seats", "--seats", "4", "--draws", "40", "sim:h500"},
              {"--draws: is not for --find seats: only the most streams in total are predicted"}},
        Usage{{"--json", "-", "--csv", "-", "sim:null"},
              {"--csv: '-' is where --json goes already: name another file"}},
        Usage{{"--fps", "max", "--on-miss", "stall", "sim:null"},
              {"--fps: max on sim:null takes no time at all and would never end: give --frames"}}));

class WrongDocument : public CliTest {};

TEST_F(WrongDocument, AKeyThatIsNearlyAnotherIsMended) {
    const std::string file = dir_ / "s.json";
    write_text(file, R"({"schema": "streamsim.scenario", "version": 1, "duratoin": "5s",
                         "seats": [{"target": "sim:null",
                                    "streams": [{"format": "dpx10", "layer": 2, "on_miss": "stal"}]}]})");
    const Finished done = streamsim({"run", file});
    EXPECT_EQ(done.exit_code, 2);
    for (const char* problem : {": /duration: missing, but required; is it \"duratoin\"?\n",
                                ": /seats/0/streams/0/on_miss: expected one of drop, skip, hold, stall, found "
                                "\"stal\"; did you mean \"stall\"?\n",
                                ": /seats/0/streams/0/layer: unknown key; did you mean \"layers\"?\n"})
        EXPECT_THAT(done.err, HasSubstr("streamsim: " + file + problem));
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 3);
}

TEST_F(WrongDocument, APresetWithoutATargetAsksForItOnce) {
    const Finished done = streamsim({"run", "burst"});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.err,
                ::testing::EndsWith(
                    "burst.json: /seats/0/target: missing: give the storage as TARGET on the command line, "
                    "or here\n"));
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1);
}

TEST_F(WrongDocument, PresetsPlayOnTheTargetOfTheCommandLine) {
    for (const char* preset : {"nas-acceptance", "multicam-8", "conform-4k", "burst"}) {
        const Finished done = streamsim({"run", preset, "sim:null", "--quiet", "--json", json_path()});
        EXPECT_EQ(done.exit_code, 0) << preset << done.text();
        const Json result = read_json(json_path());
        EXPECT_EQ(result["target"]["url"], "sim:null");
        EXPECT_GT(result["totals"]["frames_scheduled"], 1'000);
    }
    const Finished other = streamsim({"run", "morning", "sim:h500"});
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_EQ(other.err,
              "streamsim: 'sim:h500': the seats of this scenario name targets of their own: give no TARGET\n");
}

}  // namespace
}  // namespace streamsim::tests
