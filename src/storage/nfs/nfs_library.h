// libnfs's headers, which depend on this order.
#pragma once

// clang-format off
#include <uv.h>  // includes the socket headers of the system
#include <fcntl.h>
#include <sys/time.h>
#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>
#include <nfsc/libnfs-raw-nfs4.h>
#include <nfsc/libnfs-raw-portmap.h>
// clang-format on

#ifndef O_NOFOLLOW
#define O_NOFOLLOW 00400000  // libnfs's, where the system has none
#endif

namespace streamsim::storage {

/// nfs_init_context() of a libnfs that checks the lengths of lists in replies.
nfs_context* new_nfs_context();

}  // namespace streamsim::storage
