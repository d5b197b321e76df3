/* files_are_replaced_whole.c - a replaced file is the old one or the new one, with the
 * permissions it should have and nothing left beside it; with nameless temporary files,
 * and where the system has none. */
#include "base/replace.h"
#include "durable.h"
#include "seen.h"
#include "tap.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool no_proc; /* then a nameless file could not get its name */

int access(const char *path, int how)
{
    if (no_proc && strncmp(path, "/proc/", 6) == 0) {
        errno = ENOENT;
        return -1;
    }
    return faccessat(AT_FDCWD, path, how, 0);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

static bool holds(const char *path, const char *text)
{
    char got[64] = "";
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(got, 1, sizeof got - 1, f) : 0;
    if (f)
        fclose(f);
    return f && n == strlen(text) && memcmp(got, text, n) == 0;
}

static int files_here(void)
{
    int n = 0;
    DIR *d = opendir(".");
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static int replace(const char *path, const char *text, mode_t mode)
{
    return kit_replace_file(path, text, strlen(text), mode);
}

static void replaced(const char *how)
{
    umask(027);
    ok(replace("new", "one", 0666) == 0 && holds("new", "one") &&
           mode_of("new") == 0640,
       "%s: a new file has the mode asked for less the umask", how);
    ok(replace("secret", "one", 0600) == 0 && mode_of("secret") == 0600,
       "%s: and so has a secret", how);
    chmod("new", 0604);
    ok(replace("new", "two", 0600) == 0 && holds("new", "two") &&
           mode_of("new") == 0604,
       "%s: a replaced file keeps its permissions", how);
    seen_filter *f = NULL;
    seen_new(&(seen_spec){.keys = 10}, &f);
    ok(seen_save(f, "filter") == 0 && mode_of("filter") == 0640,
       "%s: a saved filter has the mode that the umask leaves", how);
    seen_free(f);
    ok(symlink("new", "link") == 0 && replace("link", "three", 0666) == 0 &&
           holds("new", "three") && readlink("link", (char[8]){0}, 8) == 3,
       "%s: a symbolic link stays, the file it names is replaced", how);
    sn_replace r;
    ok(sn_replace_begin(&r, "new", 0666) == 0 && r.nameless == !no_proc &&
           sn_replace_write(&r, "never", 5) == 0 && holds("new", "three"),
       "%s: until it is committed, the old file stands", how);
    sn_replace_abort(&r);
    mkdir("folder", 0777);
    errno = 0;
    ok(replace("folder", "x", 0666) < 0 && errno == EISDIR,
       "%s: a folder is refused, with the reason in errno", how);
    errno = 0;
    ok(replace("missing/file", "x", 0666) < 0 && errno == ENOENT,
       "%s: and so is a file in no folder", how);
    ok(files_here() == 5, "%s: nothing is left beside the files", how);
    ok(system("rm -rf ./*") == 0 && umask(022) == 027, "%s: the umask is as it was",
       how);
}

int main(void)
{
    char dir[] = "/tmp/replaced.XXXXXX";
    if (!mkdtemp(dir) || chdir(dir) < 0)
        return 1;
    replaced("nameless");
    no_proc = true;
    replaced("named");
    rmdir(dir);
    return done();
}
