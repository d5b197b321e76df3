/* in_container.c - runs a command in a folder as an ordinary container would run it.
 *
 *   in_container ROOT COMMAND [WORD...]
 *
 * Docker's defaults, as far as programs notice them: namespaces of their own but for
 * the network, a small /dev, 64 MB of /dev/shm, /proc/sys for reading only, fourteen
 * capabilities, and system calls that are refused. Needs root and libseccomp. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static void must(int failed, const char *what)
{
    if (!failed)
        return;
    perror(what);
    exit(125);
}

/* Paths are relative to ROOT, which is the current folder. */
static void mount_devices(void)
{
    static const struct {
        const char *name;
        unsigned major, minor;
    } device[] = {{"dev/null", 1, 3},   {"dev/zero", 1, 5},    {"dev/full", 1, 7},
                  {"dev/random", 1, 8}, {"dev/urandom", 1, 9}, {"dev/tty", 5, 0}};
    static const char *const link[][2] = {{"/proc/self/fd", "dev/fd"},
                                          {"/proc/self/fd/0", "dev/stdin"},
                                          {"/proc/self/fd/1", "dev/stdout"},
                                          {"/proc/self/fd/2", "dev/stderr"},
                                          {"pts/ptmx", "dev/ptmx"}};
    must(mount("tmpfs", "dev", "tmpfs", MS_NOSUID, "mode=755,size=64k"), "/dev");
    umask(0);
    for (size_t i = 0; i < sizeof device / sizeof *device; i++)
        must(mknod(device[i].name, S_IFCHR | 0666,
                   makedev(device[i].major, device[i].minor)),
             device[i].name);
    for (size_t i = 0; i < sizeof link / sizeof *link; i++)
        must(symlink(link[i][0], link[i][1]), link[i][1]);
    umask(022);
    must(mkdir("dev/pts", 0755) || mkdir("dev/shm", 0755), "/dev/pts");
    must(mount("devpts", "dev/pts", "devpts", 0, "newinstance,ptmxmode=0666"),
         "/dev/pts");
    must(mount("shm", "dev/shm", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=64m"),
         "/dev/shm");
}

static void mount_all(void)
{
    must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "/");
    must(mount("proc", "proc", "proc", 0, NULL), "/proc");
    must(mount("proc/sys", "proc/sys", NULL, MS_BIND, NULL), "/proc/sys");
    must(mount(NULL, "proc/sys", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL),
         "/proc/sys");
    mount_devices();
}

static void refuse_calls(void)
{
    static const char *const call[] = {"acct",
                                       "add_key",
                                       "bpf",
                                       "clock_settime",
                                       "delete_module",
                                       "fanotify_init",
                                       "finit_module",
                                       "fsconfig",
                                       "fsmount",
                                       "fsopen",
                                       "fspick",
                                       "get_mempolicy",
                                       "init_module",
                                       "io_uring_enter",
                                       "io_uring_setup",
                                       "io_uring_register",
                                       "ioperm",
                                       "iopl",
                                       "kcmp",
                                       "kexec_file_load",
                                       "kexec_load",
                                       "keyctl",
                                       "mbind",
                                       "migrate_pages",
                                       "mount",
                                       "mount_setattr",
                                       "move_mount",
                                       "move_pages",
                                       "open_tree",
                                       "perf_event_open",
                                       "pidfd_getfd",
                                       "pivot_root",
                                       "quotactl",
                                       "reboot",
                                       "request_key",
                                       "set_mempolicy",
                                       "setdomainname",
                                       "sethostname",
                                       "setns",
                                       "settimeofday",
                                       "swapoff",
                                       "swapon",
                                       "syslog",
                                       "umount2",
                                       "unshare",
                                       "userfaultfd",
                                       "open_by_handle_at"};
    static const unsigned long space[] = {CLONE_NEWNS,    CLONE_NEWUTS, CLONE_NEWIPC,
                                          CLONE_NEWPID,   CLONE_NEWNET, CLONE_NEWUSER,
                                          CLONE_NEWCGROUP};
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
    must(!f, "seccomp");
    seccomp_attr_set(f, SCMP_FLTATR_CTL_NNP, 0); /* sudo works in containers */
    for (size_t i = 0; i < sizeof call / sizeof *call; i++) {
        int number = seccomp_syscall_resolve_name(call[i]);
        if (number >= 0) /* else this kernel's headers do not know it */
            seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), number, 0);
    }
    /* Its arguments are in memory, where no filter can look: programs fall back to
     * clone. */
    seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    for (size_t i = 0; i < sizeof space / sizeof *space; i++)
        seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                         SCMP_A0(SCMP_CMP_MASKED_EQ, space[i], space[i]));
    seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(personality), 1,
                     SCMP_A0(SCMP_CMP_EQ, ADDR_NO_RANDOMIZE));
    must(seccomp_load(f) < 0, "seccomp");
    seccomp_release(f);
}

static void drop_capabilities(void)
{
    static const int kept[] = {
        CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_FOWNER,  CAP_FSETID,           CAP_KILL,
        CAP_SETGID, CAP_SETUID,       CAP_SETPCAP, CAP_NET_BIND_SERVICE, CAP_NET_RAW,
        CAP_MKNOD,  CAP_SYS_CHROOT,   CAP_SETFCAP, CAP_AUDIT_WRITE};
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{0}};
    unsigned long long keep = 0;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        keep |= 1ull << kept[i];
    for (int i = 0; prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
        if (!(keep >> i & 1))
            must(prctl(PR_CAPBSET_DROP, i, 0, 0, 0), "capabilities");
    for (int i = 0; i < 2; i++)
        data[i].effective = data[i].permitted = (unsigned)(keep >> 32 * i);
    must((int)syscall(SYS_capset, &head, data), "capabilities");
}

int main(int argc, char **argv)
{
    int status = 0;
    if (argc < 3) {
        fputs("usage: in_container ROOT COMMAND [WORD...]\n", stderr);
        return 125;
    }
    must(chdir(argv[1]), argv[1]);
    must(unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC),
         "namespaces");
    pid_t pid = fork();
    must(pid < 0, "fork");
    if (pid) {
        must(waitpid(pid, &status, 0) < 0, "wait");
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    must(sethostname("container", 9), "hostname");
    mount_all();
    must(chroot("."), "chroot");
    refuse_calls();
    drop_capabilities();
    execvp(argv[2], argv + 2);
    must(1, argv[2]);
}
