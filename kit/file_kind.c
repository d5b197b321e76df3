/* file_kind.c - looks at a path before it is opened. */
#include "file_kind.h"
#include "messages.h"

#include <sys/stat.h>

void kit_must_be_file(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0 || S_ISREG(st.st_mode))
        return;
    kit_die("%s: is a %s, not a file", path,
            S_ISFIFO(st.st_mode)   ? "FIFO"
            : S_ISDIR(st.st_mode)  ? "folder"
            : S_ISSOCK(st.st_mode) ? "socket"
                                   : "device");
}

bool kit_is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}
