// The rules file of slowfs (its files and its delays): one statement a line, '#' to the end of the line is a
// comment.
//
//   clip jobA/clip1 frames=500 width=256 height=64 bits=10 offset=8192 fps=24
//       a directory of 500 DPX frames frame.0000001.dpx ..., one folder deep at most
//   read jobA/clip1 frame=12 byte=70000 delay=120ms
//       the read that covers byte 70000 of frame 12 takes 120 ms longer (default byte: the last one)
//   read jobA/clip1 frame=every:2 error=EIO      ... and then fails; frames: 7, 7..12, every:2 or *
//   read jobA/clip1 frame=9 pass=2 delay=50ms    only the second time that byte is read
//   open jobA/clip1 frame=8 delay=30ms           the open takes 30 ms longer (error= as above)
//   short jobA/clip1 frame=20 bytes=4096         the file ends there
//   missing jobA/clip1 frame=21                  there is no such file
//   rate 100000000                               bytes a second, over everything
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace slowfs {

/// Delay or failure of the read that covers `byte`, or of the open.
struct Rule {
    std::uint64_t byte = 0;
    std::uint64_t pass = 0;  // 1: the first time only; 0: every time
    std::int64_t delay_ns = 0;
    int error = 0;
    std::atomic<std::uint64_t> seen{0};
};

struct Frame {
    std::uint64_t bytes = 0;
    bool missing = false;
    std::vector<std::unique_ptr<Rule>> reads;
    std::vector<std::unique_ptr<Rule>> opens;
};

struct Clip {
    std::string path;  // "clip" or "folder/clip"
    std::uint32_t width = 256;
    std::uint32_t height = 64;
    std::uint32_t bits = 10;
    std::uint32_t offset = 8192;  // of the image data
    double fps = 24;
    std::vector<Frame> frames;  // frame n of the file names is frames[n - 1]
    std::vector<char> image;    // what every frame of the clip contains
};

struct Rules {
    std::vector<std::unique_ptr<Clip>> clips;
    std::uint64_t bytes_per_s = 0;  // 0: no limit
};

/// Reads the rules; throws std::runtime_error that names the line.
Rules read_rules(const std::string& path);

}  // namespace slowfs
