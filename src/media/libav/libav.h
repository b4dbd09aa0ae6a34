// libavformat, libavcodec and libavutil, loaded when the first container or encoded picture needs them and not
// before: with all that they link to they are some 130 libraries, and mapping them takes long enough (30 ms, on
// a busy machine 100) for a Ctrl-C to arrive before anything of ours could hear it. Inside media/ only.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
}

// Everything that is called from there, by library. A function that a header defines inline is called as it is.
#define STREAMSIM_LIBAV(FORMAT, CODEC, UTIL) \
    FORMAT(av_read_frame)                    \
    FORMAT(av_write_frame)                   \
    FORMAT(av_write_trailer)                 \
    FORMAT(avformat_alloc_context)           \
    FORMAT(avformat_alloc_output_context2)   \
    FORMAT(avformat_close_input)             \
    FORMAT(avformat_find_stream_info)        \
    FORMAT(avformat_free_context)            \
    FORMAT(avformat_index_get_entries_count) \
    FORMAT(avformat_index_get_entry)         \
    FORMAT(avformat_new_stream)              \
    FORMAT(avformat_open_input)              \
    FORMAT(avformat_write_header)            \
    FORMAT(avio_alloc_context)               \
    FORMAT(avio_context_free)                \
    FORMAT(avio_flush)                       \
    CODEC(av_packet_alloc)                   \
    CODEC(av_packet_free)                    \
    CODEC(av_packet_unref)                   \
    CODEC(avcodec_alloc_context3)            \
    CODEC(avcodec_descriptor_get)            \
    CODEC(avcodec_find_encoder_by_name)      \
    CODEC(avcodec_free_context)              \
    CODEC(avcodec_get_name)                  \
    CODEC(avcodec_open2)                     \
    CODEC(avcodec_receive_packet)            \
    CODEC(avcodec_send_frame)                \
    UTIL(av_dict_free)                       \
    UTIL(av_dict_get)                        \
    UTIL(av_dict_set)                        \
    UTIL(av_frame_alloc)                     \
    UTIL(av_frame_free)                      \
    UTIL(av_frame_get_buffer)                \
    UTIL(av_freep)                           \
    UTIL(av_log_set_callback)                \
    UTIL(av_malloc)                          \
    UTIL(av_mallocz)                         \
    UTIL(av_max_alloc)                       \
    UTIL(av_opt_set_int)                     \
    UTIL(av_pix_fmt_desc_get)                \
    UTIL(av_rescale_q_rnd)                   \
    UTIL(av_strerror)

namespace streamsim::media {

struct Libav {
#define STREAMSIM_MEMBER(name) decltype(&::name) name;  // NOLINT(bugprone-macro-parentheses): a declarator
    STREAMSIM_LIBAV(STREAMSIM_MEMBER, STREAMSIM_MEMBER, STREAMSIM_MEMBER)
#undef STREAMSIM_MEMBER
};

/// The functions, loaded by the first call. When the libraries of the build are missing, prints so on standard
/// error and ends the process with exit code 3; a program linked to them would not start either.
const Libav& libav();

/// Frees what libav allocated.
struct FreeAv {
    void operator()(AVCodecContext* context) const { libav().avcodec_free_context(&context); }
    void operator()(AVFrame* frame) const { libav().av_frame_free(&frame); }
    void operator()(AVPacket* packet) const { libav().av_packet_free(&packet); }
};

}  // namespace streamsim::media
