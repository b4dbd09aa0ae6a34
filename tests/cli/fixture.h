// A place to play in: a folder, small media, and streamsim with its result.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/harness.h"

namespace streamsim::tests {

/// Raster of the small DPX format, 10 bit filled: 72 KiB a frame.
constexpr int kSmallWidth = 256;
constexpr int kSmallHeight = 64;

class CliTest : public ::testing::Test {
protected:
    CliTest();

    /// A format document like dpx10's, with another raster; returns its path.
    std::string write_format(const std::string& name, int width, int height) const;
    /// The small one.
    const std::string& small() const { return small_; }
    /// Makes a folder of the formats with a small dpx12, the format of recorders where none is given; a value
    /// of STREAMSIM_FORMATS.
    std::string formats_with_small_default() const;
    /// An empty folder to play in.
    const std::string& target() const { return target_; }
    std::string json_path() const { return dir_ / "result.json"; }

    /// Makes small media in target().
    void prepare(int clips, const std::string& clip_duration = "1s");
    /// Makes a small clip in target() that belongs to no media set.
    void copy_clip_of_others();
    /// The directories of the clips that prepare made, in name order.
    std::vector<std::string> clip_directories() const;
    /// The frames of a clip, in name order.
    static std::vector<std::string> frames_in(const std::string& clip);
    static std::uint64_t file_bytes(const std::string& path);

    /// Plays, and holds the result to the rules of every result, and to its exit code.
    Json play(std::vector<std::string> options, const std::string& where);
    /// The same without --quiet: finished().out is the text report.
    Json play_with_text(std::vector<std::string> options, const std::string& where);
    /// Plays small media in target().
    Json play_small(std::vector<std::string> options);
    /// Writes a fault document: the rules are its JSON list.
    std::string write_faults(const Json& rules) const;

    /// The program as the last play() left it: its exit code and its output.
    const Finished& finished() const { return finished_; }

    TempDir dir_;

private:
    std::string target_;
    std::string small_;
    Finished finished_;
};

/// Reads the result of a run that was interrupted, with the rules that hold for it.
Json expect_interrupted(const Finished& finished, const std::string& json_path);

}  // namespace streamsim::tests
