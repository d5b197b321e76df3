"""A PostgreSQL of its own for a test, with the extension beside its libraries.

The server's program finds its folders relative to itself, so a copy of it under a folder
of the test loads extensions from there: nothing of the system's installation is touched."""
import atexit
import glob
import os
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(TOP, os.environ.get("BUILD", "build"))
sys.path.insert(0, os.path.join(TOP, "tests"))
from tap import done, ok, raises, same, skip_all  # noqa: E402, F401


def _link_all(source, target):
    os.makedirs(target, exist_ok=True)
    for name in os.listdir(source):
        if not os.path.lexists(os.path.join(target, name)):
            os.symlink(os.path.join(source, name), os.path.join(target, name))


class Postgres:
    def __init__(self, settings=()):
        bins = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not bins or not os.path.exists(bins[-1] + "/postgres"):
            skip_all("package postgresql is not installed")
        if not os.path.exists(BUILD + "/postgres/seen.so"):
            skip_all("the extension was not built: package postgresql-server-dev-all is not installed")
        self.bin = bins[-1]
        version = self.bin.split("/")[-2]
        self.dir = tempfile.mkdtemp(prefix="seen-pg-")
        atexit.register(self.stop)
        # The server runs as postgres if we are root, and must reach its folder.
        self.user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        os.chmod(self.dir, 0o755)
        usr = self.dir + "/usr"
        self.lib = usr + "/lib/postgresql/" + version + "/lib"
        share = usr + "/share/postgresql/" + version
        os.makedirs(usr + "/lib/postgresql/" + version + "/bin")
        self.server = shutil.copy(self.bin + "/postgres", usr + "/lib/postgresql/" + version + "/bin/postgres")
        shutil.copy(BUILD + "/postgres/seen.so", self._folder(self.lib))
        for name in ("seen.control", "seen--0.1.sql"):
            shutil.copy(TOP + "/plugins/postgres/" + name, self._folder(share + "/extension"))
        _link_all("/usr/lib/postgresql/" + version + "/lib", self.lib)
        _link_all("/usr/share/postgresql/" + version + "/extension", share + "/extension")
        _link_all("/usr/share/postgresql/" + version, share)
        self.data, self.socket = self._folder(self.dir + "/data"), self._folder(self.dir + "/socket")
        if self.user:
            for d in (self.data, self.socket):
                shutil.chown(d, "postgres")
        os.chmod(self.data, 0o700)
        subprocess.run(self.user + [self.bin + "/initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-N",
                                    "--no-instructions", "-E", "UTF8", "--locale=C"],
                       check=True, stdout=subprocess.DEVNULL, cwd="/")
        words = ["-c", "listen_addresses=", "-c", "unix_socket_directories=" + self.socket, "-c", "fsync=off"]
        for s in settings:
            words += ["-c", s]
        self.log = open(self.dir + "/log", "w")
        self.process = subprocess.Popen(self.user + [self.server, "-D", self.data] + words, cwd="/",
                                        stdout=self.log, stderr=self.log)
        for _ in range(600):
            if subprocess.run(self._psql("-c", "SELECT 1"), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0:
                return
            if self.process.poll() is not None:
                break
            import time
            time.sleep(0.1)
        raise RuntimeError("PostgreSQL did not start:\n" + open(self.dir + "/log").read())

    @staticmethod
    def _folder(path):
        os.makedirs(path, exist_ok=True)
        return path

    def _psql(self, *words, user="postgres"):
        return [self.bin + "/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.socket, "-U", user,
                "-d", "postgres", *words]

    def sql(self, text, user="postgres"):
        """The result as text, or the error, which begins with ERROR."""
        out = subprocess.run(self._psql(user=user), input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return out.stdout.strip() if out.returncode == 0 else "ERROR " + out.stderr.strip()

    def alive(self):
        return self.process.poll() is None and self.sql("SELECT 1") == "1"

    def stop(self):
        if getattr(self, "process", None) and self.process.poll() is None:
            subprocess.run(self.user + [self.bin + "/pg_ctl", "-D", self.data, "-m", "immediate", "stop"],
                           stdout=subprocess.DEVNULL, cwd="/")
            self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)
