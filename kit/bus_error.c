/* bus_error.c - asks the system which file the address belongs to.
 *
 * SIGBUS comes in the middle of reading a mapped page, never inside the C library, so
 * the handler may do more than one that interrupts anything. */
#include "bus_error.h"
#include "output.h"
#include "messages.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The path in a line of /proc/self/maps if the line is about ADDRESS, else NULL. */
static const char *path_in(const char *line, uintptr_t address)
{
    uintptr_t from, to;
    int at = 0;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %*s %n", &from, &to, &at) <
            2 ||
        address < from || address >= to || !at || line[at] != '/')
        return NULL;
    return line + at;
}

static const char *file_at(uintptr_t address)
{
    static char buf[8192];
    size_t len = 0;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && (n = read(fd, buf + len, sizeof buf - 1 - len)) > 0;) {
        char *line = buf;
        buf[len += (size_t)n] = 0;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            const char *path = path_in(line, address);
            if (path)
                return path;
        }
        len -= (size_t)(line - buf);
        memmove(buf, line, len);
    }
    return "a mapped file";
}

static void on_bus_error(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)context;
    kit_warn("%s: could not be read: it was truncated while it was in use, or the disk "
             "failed",
             file_at((uintptr_t)info->si_addr));
    kit_temp_remove();
    _exit(2);
}

void kit_name_bus_errors(void)
{
    struct sigaction a = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &a, NULL);
}
