"""A cluster of six on loopback: three masters, a replica each."""
from redis_servers import *


def crc16(data):
    x = 0
    for b in data:
        x ^= b << 8
        for _ in range(8):
            x = ((x << 1) ^ 0x1021 if x & 0x8000 else x << 1) & 0xffff
    return x


def slot(key):
    key = key if isinstance(key, bytes) else key.encode()
    a = key.find(b"{")
    if a >= 0:
        b = key.find(b"}", a + 1)
        if b > a + 1:
            key = key[a + 1:b]
    return crc16(key) % 16384


class Cluster:
    def __init__(self, *options, **more):
        self.nodes = [Server(*options, cluster=True, **more) for _ in range(6)]
        made = subprocess.run(
            [program("cli"), "--cluster", "create"]
            + ["127.0.0.1:%d" % n.port for n in self.nodes]
            + ["--cluster-replicas", "1", "--cluster-yes"], capture_output=True, text=True)
        self.clients = {}
        # It may complain of nodes that are only slow to agree.
        if not until(self.ready):
            raise RuntimeError("the cluster did not form: " + made.stdout + made.stderr)

    def ready(self):
        """All slots served and every replica in step, else a killed master is not
        replaced."""
        if all(n.alive() for n in self.nodes) and len(self.masters()) != 3:
            return False
        for n in self.nodes:
            if not n.alive():
                continue
            c = self.at(n.port)
            if b"cluster_state:ok" not in c("CLUSTER", "INFO"):
                return False
            if c.info("role") == "slave" and c.info("master_link_status") != "up":
                return False
        return self.agreed()

    def owners(self, port):
        """Slots by the port of their owner, as the node at PORT knows it."""
        known = {}
        for first, last, master, *_ in self.at(port)("CLUSTER", "SLOTS"):
            known.setdefault(master[1], set()).update(range(first, last + 1))
        return known

    def agreed(self):
        """Every node knows the same owners. A replica that has not heard of a slot its master
        took would not take it over, and then nobody serves it."""
        views = [self.owners(n.port) for n in self.nodes if n.alive()]
        return all(v == views[0] for v in views)

    def at(self, port):
        if port not in self.clients:
            self.clients[port] = Client(port)
        return self.clients[port]

    def __call__(self, *words):
        """Sends to the owner of words[1], following redirections, as clients do."""
        port = next(n.port for n in self.nodes if n.alive())
        asking = False
        end = time.time() + 120
        while time.time() < end:
            try:
                c = self.at(port)
                if asking:
                    c("ASKING")
                got = c(*words)
            except OSError:
                self.clients.pop(port, None)
                time.sleep(0.05)
                port = next(n.port for n in self.nodes if n.alive())
                continue
            asking = False
            if isinstance(got, Err) and got.split()[0] in ("MOVED", "ASK"):
                asking = got.startswith("ASK ")
                port = int(got.rsplit(":", 1)[1])
            elif isinstance(got, Err) and got.split()[0] in ("CLUSTERDOWN", "TRYAGAIN"):
                time.sleep(0.05)
            else:
                return got
        raise RuntimeError(got)

    def lose(self, node):
        """Kills NODE, and lets the others notice soon."""
        for n in self.nodes:
            if n.alive():
                self.at(n.port)("CONFIG", "SET", "cluster-node-timeout", 2000)
        node.kill()

    def owner(self, key):
        """The node that serves KEY."""
        n = slot(key)
        alive = next(s.port for s in self.nodes if s.alive())
        for first, last, master, *_ in self.at(alive)("CLUSTER", "SLOTS"):
            if first <= n <= last:
                return next(s for s in self.nodes if s.port == master[1])

    def masters(self):
        return [n for n in self.nodes if n.alive() and self.at(n.port).info("role") == "master"]

    def move(self, key, to):
        """Moves the slot of KEY, with all its keys, to node TO."""
        n, source = slot(key), self.owner(key)
        a, b = self.at(source.port), self.at(to.port)
        ida, idb = a("CLUSTER", "MYID"), b("CLUSTER", "MYID")
        b("CLUSTER", "SETSLOT", n, "IMPORTING", ida)
        a("CLUSTER", "SETSLOT", n, "MIGRATING", idb)
        while True:
            keys = a("CLUSTER", "GETKEYSINSLOT", n, 10)
            if not keys:
                break
            for k in keys:
                got = a("MIGRATE", "127.0.0.1", to.port, k, 0, 60000)
                if got != "OK":
                    return got
        for node in [to] + [m for m in self.masters() if m is not to]:
            self.at(node.port)("CLUSTER", "SETSLOT", n, "NODE", idb)
        return "OK"
