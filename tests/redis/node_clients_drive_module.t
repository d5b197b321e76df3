#!/usr/bin/python3
"""The two clients of Node, node-redis with its own commands for RedisBloom and ioredis
with plain ones, drive the module. Both come from npm; skipped where that has none."""
from redis_servers import *

if not shutil.which("node"):
    skip_all("node is not installed")
folder = os.path.abspath(os.path.join("build", "npm"))
if subprocess.run(["tests/fetch_npm", "tests/npm", folder]).returncode:
    with open(os.path.join(folder, "missing")) as f:
        skip_all(f.read().strip())

SCRIPT = r"""
const { createClient } = require('redis');
const Redis = require('ioredis');
const port = Number(process.argv[2]);
const show = (name, value) => console.log(name + ' ' + JSON.stringify(value));
async function nodeRedis(RESP) {
  const c = createClient({ RESP, socket: { port, host: '127.0.0.1' } });
  await c.connect();
  const k = 'node' + RESP + ':', n = 'RESP' + RESP + ' ';
  show(n + 'bf.reserve', await c.bf.reserve(k + 'b', 0.01, 1000, { EXPANSION: 2 }));
  show(n + 'bf.add', await c.bf.add(k + 'b', 'x'));
  show(n + 'bf.mAdd', await c.bf.mAdd(k + 'b', ['x', 'y']));
  show(n + 'bf.exists', await c.bf.exists(k + 'b', 'y'));
  show(n + 'bf.mExists', await c.bf.mExists(k + 'b', ['y', 'absent']));
  show(n + 'bf.card', await c.bf.card(k + 'b'));
  show(n + 'bf.info', (await c.bf.info(k + 'b'))['Number of items inserted']);
  const head = await c.bf.scanDump(k + 'b', 0);
  show(n + 'bf.scanDump', head.iterator);
  show(n + 'cf.add', await c.cf.add(k + 'c', 'x'));
  show(n + 'cf.insert', await c.cf.insert(k + 'c', ['x', 'y']));
  show(n + 'cf.count', await c.cf.count(k + 'c', 'x'));
  show(n + 'cf.del', await c.cf.del(k + 'c', 'x'));
  show(n + 'cf.exists', await c.cf.exists(k + 'c', 'x'));
  await c.close();
}
async function io() {
  const c = new Redis(port, '127.0.0.1');
  show('io BF.RESERVE', await c.call('BF.RESERVE', 'io:b', '0.01', '1000'));
  show('io BF.MADD', await c.call('BF.MADD', 'io:b', 'x', 'y', 'x'));
  const p = await c.pipeline().call('BF.EXISTS', 'io:b', 'x').call('CF.ADD', 'io:c', 'x').exec();
  show('io pipeline', p);
  c.disconnect();
}
nodeRedis(2).then(() => nodeRedis(3)).then(io).catch(e => { console.log('FAILED ' + e); process.exit(1); });
"""
WANT = {"bf.reserve": '"OK"', "bf.add": "true", "bf.mAdd": "[false,true]", "bf.exists": "true",
        "bf.mExists": "[true,false]", "bf.card": "2", "bf.info": "2", "bf.scanDump": "1",
        "cf.add": "true", "cf.insert": "[true,true]", "cf.count": "2", "cf.del": "true",
        "cf.exists": "true"}
s = Server()
script = os.path.join(folder, "drive_%s.js" % KIND)
with open(script, "w") as f:
    f.write(SCRIPT)
got = subprocess.run(["node", script, str(s.port)], capture_output=True, text=True, timeout=120)
said = dict(line.rsplit(" ", 1) for line in got.stdout.splitlines() if " " in line)
ok(got.returncode == 0, "both run to their end", got.stdout[-300:] + got.stderr[-300:])
for resp in ("RESP2", "RESP3"):
    for name, want in WANT.items():
        same(said.get(resp + " " + name), want, "node-redis, %s: %s" % (resp, name))
same(said.get("io BF.RESERVE"), '"OK"', "ioredis: BF.RESERVE")
same(said.get("io BF.MADD"), "[1,1,0]", "ioredis: BF.MADD")
same(said.get("io pipeline"), "[[null,1],[null,1]]", "ioredis: a pipeline")
done()
