// errno values of file servers, also for systems whose C library has not got them: there with the numbers of
// Windows' sockets.
#pragma once

#include <cerrno>

#ifndef ESTALE
#define ESTALE 10070
#endif
#ifndef EDQUOT
#define EDQUOT 10069
#endif
