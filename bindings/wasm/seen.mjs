// seen.mjs - libseen in JavaScript: the loader, and the classes over its functions.
//
// Works in Node 18 and later, in browsers and in workers; imports nothing. A module has
// one memory, which grows up to a bound that load() sets: what does not fit is a
// SeenError. Keys are the bytes that C, Python and the command hash for the same key.

const KINDS = ["auto", "classic", "blocked", "split", "set", "cuckoo", "ribbon", "foreign", "quotient"];
const NATIVE = KINDS.filter((kind) => kind !== "auto" && kind !== "foreign");
const CODES = ["", "EINVAL", "ENOMEM", "ETOOBIG", "EFULL", "ERANGE", "EKIND", "EMISMATCH", "EREADONLY",
  "EIO", "EFORMAT", "EVERSION", "EDAMAGED", "ECANCEL", "EBUSY", "EFOREVER"];
const HASHES = ["", "xxh3", "xxh64", "keyed"];
const CAN = { add: 1, remove: 2, merge: 4, grow: 8 };
const FIXED = 1, REMOVES = 8, SMALLEST = 16;
const ADD = 0, HAS = 1, BUILD = 2;
const ASKS = 0, ADDS = 1, HOLDS = 2; // what is done with keys of a type
const TEXT = 2, BYTES = 3, INT64 = 4, UINT64 = 5, TUPLE = 10; // of enum seen_keys
const PAGE = 65536, MOST = 2 ** 31;
const KEY_ROOM = 65536; // bytes of the place where single keys stand
const BATCH_ROOM = 1 << 18, BATCH_KEYS = 1024;
const JOINED = 48 << 10; // characters: a longer string is a large object to the engine, and slow

/** What went wrong, in words; `code` is the name of seen.h's code without SEEN_. */
export class SeenError extends Error {
  constructor(code, message) {
    super(message);
    this.name = "SeenError";
    this.code = code;
  }
}

async function compiled(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  if (typeof Response !== "undefined" && source instanceof Response)
    return WebAssembly.compile(await source.arrayBuffer());
  const url = new URL(source, import.meta.url);
  if (url.protocol === "file:" && typeof process !== "undefined" && process.versions?.node) {
    const { readFile } = await import("node:fs/promises");
    return WebAssembly.compile(await readFile(url));
  }
  const answer = await fetch(url);
  if (!answer.ok) throw new SeenError("EIO", `cannot load ${url}: ${answer.status}`);
  return WebAssembly.compile(await answer.arrayBuffer());
}

/**
 * Loads the library: the module beside this file, or SOURCE: its bytes, address, Response or
 * WebAssembly.Module.
 */
export async function load(source = "./seen.wasm", { memory: most = MOST } = {}) {
  const module = await compiled(source);
  const pages = Math.min(Math.floor(most / PAGE), MOST / PAGE);
  const floor = 32; // what the module itself asks for, see build.mk
  if (!(pages >= floor))
    throw new SeenError("EINVAL", `the library needs at least ${floor * PAGE} bytes of memory`);
  const memory = new WebAssembly.Memory({ initial: floor, maximum: pages });
  const engine = new Engine(memory);
  const instance = await WebAssembly.instantiate(module, { env: { memory }, seen: engine.imports(), math: Math });
  return engine.start(instance.exports);
}

function count(value, name) {
  if (value === undefined || value === null) return 0;
  const n = Number(value);
  if (!(n >= 0 && n < 2 ** 53)) throw new SeenError("EINVAL", `${name} must be a number of 0 to 2^53, not ${value}`);
  return Math.floor(n);
}

function rate(value, name) {
  if (value === undefined || value === null) return 0;
  if (!(Number(value) > 0 && Number(value) < 1))
    throw new SeenError("EINVAL", `${name} must lie between 0 and 1, not ${value}`);
  return Number(value);
}

function kindNumber(name = "auto") {
  const kind = KINDS.indexOf(name ?? "auto");
  if (kind < 0 || name === "foreign")
    throw new SeenError("EKIND", `there is no kind "${name}": ${NATIVE.join(", ")}`);
  return kind;
}

function seedOf(seed) {
  if (seed === undefined || seed === null) return [0n, 0n];
  if (seed === "random") {
    const words = crypto.getRandomValues(new BigUint64Array(2));
    return [words[0], words[1]];
  }
  try {
    const n = BigInt(seed);
    if (n >= 0n && n < 1n << 128n) return [n & 0xffffffffffffffffn, n >> 64n];
  } catch { /* said below */ }
  throw new SeenError("EINVAL", `seed must be an integer of at most 128 bits or "random", not ${seed}`);
}

function hashNumber(name) {
  if (name === undefined || name === null) return 0;
  const n = HASHES.indexOf(name);
  if (n < 1) throw new SeenError("EINVAL", `there is no hash "${name}": ${HASHES.slice(1).join(", ")}`);
  return n;
}

function notAKey(key) {
  const what = key === null ? "null" : typeof key === "object" ? key.constructor?.name ?? "an object" : typeof key;
  return new TypeError(`a key is a string, bytes, an integer or an array of those, not ${what}; pass String(key)`);
}

const encoder = new TextEncoder(), decoder = new TextDecoder();

// The type of a key (docs/keys.md). bytesOf() refuses objects that cannot be keys.
function typeOf(key) {
  const what = typeof key;
  return what === "string" ? TEXT : what === "number" || what === "bigint" ? INT64 : Array.isArray(key) ? TUPLE : BYTES;
}

// KEYS as an array of keys or of 64-bit words.
function listed(keys) {
  if (Array.isArray(keys) || keys instanceof BigUint64Array || keys instanceof BigInt64Array) return keys;
  if (typeof keys === "string" || ArrayBuffer.isView(keys)) throw new TypeError("keys come in an array or another iterable");
  return Array.from(keys);
}

// The bytes of a key that is not a string.
function bytesOf(key, inside) {
  if (key instanceof Uint8Array) return key;
  if (ArrayBuffer.isView(key)) return new Uint8Array(key.buffer, key.byteOffset, key.byteLength);
  if (key instanceof ArrayBuffer) return new Uint8Array(key);
  if (typeof key === "string") return encoder.encode(key);
  if (typeof key === "number") {
    if (!Number.isSafeInteger(key))
      throw new TypeError(`a number as a key is an integer of at most 53 bits, not ${key}; pass a bigint or String(key)`);
    key = BigInt(key);
  }
  if (typeof key === "bigint") {
    if (key >= 1n << 64n || key < -(1n << 63n))
      throw new RangeError("an integer key has 64 bits; pass String(key)");
    const word = new Uint8Array(8);
    new DataView(word.buffer).setBigUint64(0, BigInt.asUintN(64, key), true);
    return word;
  }
  if (!Array.isArray(key) || inside) throw notAKey(key);
  // As Python's tuples: each member behind its length, so that ["ab", "c"] is not ["a", "bc"].
  const parts = key.map((part) => bytesOf(part, true));
  const all = new Uint8Array(parts.reduce((sum, p) => sum + 8 + p.length, 0)), view = new DataView(all.buffer);
  let at = 0;
  for (const p of parts) {
    view.setUint32(at, p.length, true);
    all.set(p, at + 8);
    at += 8 + p.length;
  }
  return all;
}

// One instance of the module: its memory, and how values get in and out of it.
class Engine {
  constructor(memory) {
    this.memory = memory;
    this.pieces = null;
    this.look();
  }

  // Views of the memory, made again when it has grown.
  look() {
    this.bytes = new Uint8Array(this.memory.buffer);
    if (this.keyAt) this.keyPlace = this.bytes.subarray(this.keyAt, this.keyAt + KEY_ROOM);
    if (this.cellsAt) {
      this.numbers = new Float64Array(this.memory.buffer, this.cellsAt, 32);
      this.words = new BigUint64Array(this.memory.buffer, this.cellsAt, 32);
    }
  }

  fresh() {
    if (this.bytes.length === 0) this.look();
    return this.bytes;
  }

  imports() {
    return {
      random: (at, len) => crypto.getRandomValues(this.fresh().subarray(at, at + len)),
      piece: (at, len) => this.pieces.push(this.fresh().slice(at, at + len)),
    };
  }

  start(functions) {
    this.call = functions;
    this.cellsAt = functions.cells_at();
    this.keyAt = this.take(KEY_ROOM);
    this.batchAt = 0;
    this.look();
    // A filter that nobody holds any more is freed with it.
    this.forgotten = new FinalizationRegistry((free) => free());
    return library(this);
  }

  text(at) {
    if (!at) return "";
    const bytes = this.fresh();
    return decoder.decode(bytes.slice(at, bytes.indexOf(0, at)));
  }

  fail(code) {
    return new SeenError(CODES[-code] ?? "EINVAL", this.text(this.call.reason()));
  }

  checked(result) {
    if (result < 0) throw this.fail(result);
    return result;
  }

  take(len) {
    const at = len < MOST ? this.call.take_memory(len) : 0;
    if (!at) throw new SeenError("ENOMEM", `no memory for ${len} bytes`);
    return at;
  }

  // Runs USE with the address of a copy of VALUE (bytes, or text with its NUL).
  lend(value, use) {
    if (value === undefined || value === null) return use(0, 0);
    const bytes = typeof value === "string" ? encoder.encode(value + "\0") : value;
    const at = this.take(bytes.length);
    try {
      this.fresh().set(bytes, at);
      return use(at, bytes.length);
    } finally {
      this.call.give_memory(at);
    }
  }

  // Calls F(object, address, length) with the bytes of one key.
  withKey(f, object, key) {
    if (this.bytes.length === 0) this.look();
    if (typeof key === "string" && key.length * 3 <= KEY_ROOM)
      return f(object, this.keyAt, encoder.encodeInto(key, this.keyPlace).written);
    const bytes = bytesOf(key);
    if (bytes.length > KEY_ROOM) return this.lend(bytes, (at, len) => f(object, at, len));
    this.keyPlace.set(bytes);
    return f(object, this.keyAt, bytes.length);
  }

  // Where batches stand: bytes, then ends, then answers.
  batch() {
    this.batchAt ||= this.take(BATCH_ROOM + 5 * BATCH_KEYS);
    this.fresh();
    this.endsAt = this.batchAt + BATCH_ROOM;
    this.answersAt = this.endsAt + 4 * BATCH_KEYS;
    if (this.ends?.buffer !== this.memory.buffer) {
      this.room = new Uint8Array(this.memory.buffer, this.batchAt, BATCH_ROOM);
      this.ends = new Uint32Array(this.memory.buffer, this.endsAt, BATCH_KEYS);
    }
  }

  // Puts keys from FROM on into the batch; returns how many fitted.
  fill(keys, from, decimal) {
    const { room, ends } = this, most = Math.min(keys.length - from, BATCH_KEYS);
    let n = 0, len = 0, joined = "";
    for (; n < most; n++) { // text that may all be ASCII: one string is copied faster than many
      const key = keys[from + n];
      if (typeof key !== "string" || len + key.length > JOINED) break;
      joined += key;
      len += key.length;
      ends[n] = len;
    }
    if (n && encoder.encodeInto(joined, room).written === len) return n;
    for (n = len = 0; n < most; n++) {
      let key = keys[from + n];
      if (decimal && (typeof key === "number" || typeof key === "bigint")) key = String(key);
      if (typeof key === "string" && key.length * 3 <= BATCH_ROOM - len) {
        len += encoder.encodeInto(key, len ? room.subarray(len) : room).written;
      } else {
        const bytes = bytesOf(key);
        if (bytes.length > BATCH_ROOM - len) break;
        room.set(bytes, len);
        len += bytes.length;
      }
      ends[n] = len;
    }
    return n;
  }

  // Passes KEYS, which are listed(), to WHAT in batches; one that is larger than a batch goes alone, by ONE.
  many(what, object, keys, decimal, one) {
    const words = ArrayBuffer.isView(keys);
    const answers = new Uint8Array(what === BUILD ? 0 : keys.length);
    for (let done = 0; done < keys.length;) {
      this.batch();
      let n;
      if (words) {
        n = Math.min(keys.length - done, BATCH_KEYS);
        this.room.set(new Uint8Array(keys.buffer, keys.byteOffset + 8 * done, 8 * n));
      } else {
        n = this.fill(keys, done, decimal);
      }
      if (n === 0) {
        const answer = one(keys[done]);
        if (what !== BUILD) answers[done] = answer;
        done++;
        continue;
      }
      this.checked(this.call.keys_many(what, object, this.batchAt, words ? 0 : this.endsAt, n, this.answersAt));
      if (what !== BUILD) answers.set(this.fresh().subarray(this.answersAt, this.answersAt + n), done);
      done += n;
    }
    return answers;
  }
}

const PARAMS = { hashUnsigned: 1, msb: 2, lsb: 4, guavaOld: 8, nonscaling: 16 };

function setParams(engine, options, use) {
  const seeds = options.seeds ? new Uint8Array(Uint32Array.from(options.seeds).buffer) : null;
  const flags = Object.entries(PARAMS).reduce((f, [name, bit]) => (options[name] ? f | bit : f), 0);
  return engine.lend(seeds, (seedsAt) => engine.lend(options.type, (type) => engine.lend(options.column, (column) => {
    engine.call.set_params(count(options.keys, "keys"), rate(options.error, "error"), count(options.bits, "bits"),
      count(options.k, "k"), count(options.bitsPerKey, "bitsPerKey"), count(options.expansion, "expansion"), flags,
      count(options.rowGroup, "rowGroup"), seedsAt, options.seeds?.length ?? 0, type, column);
    return use();
  })));
}

// The classes and functions over one ENGINE.
function library(engine) {
  const { call } = engine;
  const made = Symbol("made");

  class Filter {
    #at = 0;
    #decimal = false; // numbers are written out for keys of this format

    constructor(options = {}, address, decimal) {
      if (options === made) {
        this.#at = address;
        this.#decimal = decimal;
      } else if (options.format) {
        this.#at = setParams(engine, options, () => engine.lend(options.format, (name) =>
          engine.checked(call.filter_new_foreign(name))));
        this.#decimal = isDecimal(options.type);
      } else {
        const [seed, high] = seedOf(options.seed);
        const kind = kindNumber(options.kind);
        const flags = (options.grow === false || options.fixed ? FIXED : 0) | (options.removes ? REMOVES : 0) |
          (options.smallest ? SMALLEST : 0);
        this.#at = engine.checked(call.filter_new(kind, flags, count(options.keys, "keys"), rate(options.error, "error"),
          count(options.bytes, "bytes"), count(options.bits, "bits"), count(options.k, "k"), hashNumber(options.hash),
          seed, high));
      }
      const at = this.#at;
      engine.forgotten.register(this, () => call.filter_free(at), this);
      if (options.keyType) this.keyType = options.keyType;
    }

    get #live() {
      if (!this.#at) throw new SeenError("EINVAL", "the filter was freed");
      return this.#at;
    }

    #allowed = -1; // the type of the last keys added: it fits from then on

    // Keys of TYPE are to be asked or added: refused in words if they cannot be in.
    #allow(type, how) {
      if (type === this.#allowed) return;
      engine.checked(call.filter_keys(this.#live, type, how));
      if (how === ADDS) this.#allowed = type;
    }

    #allowAll(keys, how) {
      if (ArrayBuffer.isView(keys)) {
        if (keys.length) this.#allow(keys instanceof BigUint64Array ? UINT64 : INT64, how);
        return keys;
      }
      let last = -1;
      for (const key of keys) {
        const type = typeOf(key);
        if (type !== last) this.#allow(last = type, how);
      }
      return keys;
    }

    #one(f, key, how) {
      this.#allow(typeOf(key), how);
      if (this.#decimal && (typeof key === "number" || typeof key === "bigint")) key = String(key);
      const result = engine.withKey(f, this.#at || this.#live, key);
      if (result < 0) throw engine.fail(result);
      return result === 1;
    }

    /** Adds KEY; true if it was certainly new. */
    add(key) {
      return this.#one(call.key_add, key, ADDS);
    }

    /** Whether KEY was added: false is certain. */
    has(key) {
      return this.#one(call.key_has, key, ASKS);
    }

    /** Removes one earlier add of KEY; false if it was certainly absent. */
    remove(key) {
      return this.#one(call.key_remove, key, ASKS);
    }

    /** Adds all of KEYS in order; 1 for each that was new. */
    addMany(keys) {
      keys = this.#allowAll(listed(keys), ADDS);
      return engine.many(ADD, this.#live, keys, this.#decimal, (key) => this.add(key));
    }

    /** Asks for all of KEYS; 1 for each that was added. */
    hasMany(keys) {
      keys = this.#allowAll(listed(keys), ASKS);
      return engine.many(HAS, this.#live, keys, this.#decimal, (key) => this.has(key));
    }

    /** Adds all keys of OTHER, a filter of the same shape. */
    merge(other) {
      engine.checked(call.filter_merge(this.#live, other.#live));
      return this;
    }

    /** Forgets every key. */
    clear() {
      engine.checked(call.filter_clear(this.#live));
      return this;
    }

    copy() {
      return new Filter(made, engine.checked(call.filter_copy(this.#live)), this.#decimal);
    }

    /** An empty filter of the same shape, to be merged later. */
    like() {
      return new Filter(made, engine.checked(call.filter_like(this.#live)), this.#decimal);
    }

    /** What its keys are: "text", "int64", ... Setting "mixed" lets any be asked and added. */
    get keyType() {
      return engine.text(call.filter_key_type(this.#live));
    }

    set keyType(name) {
      for (let type = 0, known; (known = engine.text(call.keys_name(type))); type++)
        if (known === name) {
          engine.checked(call.filter_keys(this.#live, type, HOLDS));
          this.#allowed = -1;
          return;
        }
      throw new SeenError("EINVAL", `there is no type of keys "${name}"`);
    }

    // The type that a filter of KEYS has.
    static [made](keys) {
      const typed = new Filter();
      try {
        typed.#allowAll(keys, ADDS);
        return typed.keyType;
      } finally {
        typed.free();
      }
    }

    get kind() {
      return this.info().kind;
    }

    /** What it is and how full; the names are those of `seen info --json`. */
    info() {
      call.filter_stats(this.#live);
      engine.fresh();
      const [kind, probes, layers, flags, keys, capacity, bits, bits_set, bytes, fill, error_promised, error,
        keys_estimate, expected_lost, hash, writable] = engine.numbers;
      const error_predicted = call.filter_predicts(this.#at);
      const seed = engine.words[16], seed_high = engine.words[17];
      const format = engine.text(call.filter_format(this.#at));
      return {
        kind: KINDS[kind], ...(format && { format }), key_type: this.keyType, layers, probes, keys, keys_estimate, capacity, bits, bits_set,
        bytes, fill, error, error_promised, error_predicted, expected_lost, fixed: (flags & FIXED) !== 0, writable: writable !== 0,
        ...(!format && { hash: HASHES[hash], seed: seed | seed_high << 64n }),
        words: engine.text(call.filter_words(this.#at)),
      };
    }

    /** The bytes of its file: what C, Python and the command read and write. */
    save() {
      const pieces = (engine.pieces = []);
      try {
        engine.checked(call.filter_write(this.#live));
      } finally {
        engine.pieces = null;
      }
      if (pieces.length === 1) return pieces[0];
      const all = new Uint8Array(pieces.reduce((sum, p) => sum + p.length, 0));
      let at = 0;
      for (const p of pieces) {
        all.set(p, at);
        at += p.length;
      }
      return all;
    }

    /** A copy of the bits of a layer, the newest unless told; empty if foreign. */
    body(layer) {
      return this.#bits(layer ?? this.info().layers - 1).slice();
    }

    // The bits themselves: a view that is good until memory grows.
    #bits(layer) {
      const at = call.filter_body(this.#live, layer);
      return at ? engine.fresh().subarray(at, at + engine.numbers[0]) : new Uint8Array(0);
    }

    /** The 64-bit hash of KEY; 0n if foreign. */
    hash(key) {
      return BigInt.asUintN(64, engine.withKey(call.key_hash, this.#live, key));
    }

    /**
     * The bits of body(layer) that KEY is looked for in: its probes; of a cuckoo filter's or
     * set's newest layer the slots it may lie in; otherwise, and in a ribbon, the bits that
     * answer for a key that is found there. For drawing: one question a bit, 64 KiB at most.
     */
    places(key, layer) {
      const { kind, layers } = this.info(), newest = layers - 1, size = this.body(layer).length;
      if (size > PAGE)
        throw new SeenError("ETOOBIG", `places looks at ${PAGE} bytes at most; this layer has more`);
      if ((layer ?? newest) === newest && (kind === "cuckoo" || kind === "set")) return this.#slots(key, kind);
      // Behind a cuckoo filter's counts and stash, before a ribbon's table of shards (docs/format.md).
      const from = kind === "cuckoo" ? 320 : 0;
      const file = new DataView(this.save().buffer), compact = file.getUint32(8, true) === 3;
      const to = kind === "ribbon" ? size - 64 * file.getUint32(compact ? 24 : 136, true) : size;
      const copy = this.copy(), mine = layer ?? newest, found = [];
      try {
        // Only this layer answers, in Bloom filters for any key.
        const every = ["classic", "blocked", "split"].includes(kind);
        for (let l = 0; l < layers; l++)
          if (l !== mine || every) copy.#bits(l).fill(l === mine ? 255 : 0);
        if (!copy.has(key)) return found;
        const bits = copy.#bits(mine);
        for (let i = 8 * from; i < 8 * to; i++) {
          bits[i >> 3] ^= 1 << (i & 7); // it is read for KEY if this turns its yes into a no
          if (!copy.has(key)) found.push(i);
          bits[i >> 3] ^= 1 << (i & 7);
        }
        return found;
      } finally {
        copy.free();
      }
    }

    // What KEY sets in an empty filter like this one; eight copies fill both of its buckets.
    #slots(key, kind) {
      const empty = this.like();
      try {
        for (let i = 0; i < (kind === "cuckoo" ? 8 : 1); i++) empty.add(key);
        const body = empty.body(), places = [];
        for (let i = 0; i < body.length; i++)
          for (let bit = 0; bit < 8; bit++) if (body[i] >> bit & 1) places.push(8 * i + bit);
        return places;
      } finally {
        empty.free();
      }
    }

    /** Gives the memory back now; the filter is then unusable. Twice is fine. */
    free() {
      if (!this.#at) return;
      engine.forgotten.unregister(this);
      call.filter_free(this.#at);
      this.#at = 0;
    }
  }

  const isDecimal = (type) => Boolean(type) && type !== "bytes" && !type.startsWith("utf") && type !== "chars";

  /** A filter from the bytes of a file, native or of another system. */
  function open(bytes, options = {}) {
    const from = bytes instanceof Uint8Array ? bytes : bytesOf(bytes);
    const native = from[0] === 0x89 && from[1] === 0x73 && from[2] === 0x65 && from[3] === 0x65;
    try {
      return setParams(engine, options, () => engine.lend(options.format, (format) => engine.lend(from, (at, len) =>
        new Filter(made, engine.checked(native && !format ? call.filter_open(at, len)
          : call.filter_open_foreign(at, len, format)), isDecimal(options.type)))));
    } catch (error) {
      if (options.name && error instanceof SeenError) error.message = `${options.name}: ${error.message}`;
      throw error;
    }
  }

  /** The smallest filter of KEYS, which never changes: a ribbon. */
  function build(keys, { error, bytes, seed, hash, keyType } = {}) {
    const [low, high] = seedOf(seed);
    const builder = engine.checked(call.builder_new(rate(error, "error"), count(bytes, "bytes"), hashNumber(hash), low, high));
    try {
      keys = listed(keys);
      const type = keyType ?? Filter[made](keys);
      engine.many(BUILD, builder, keys, false, () => {
        throw new SeenError("ETOOBIG", `a key to build with has at most ${BATCH_ROOM} bytes`);
      });
      const filter = new Filter(made, engine.checked(call.builder_finish(builder)), false);
      if (type !== "unsaid") filter.keyType = type;
      return filter;
    } finally {
      call.builder_free(builder);
    }
  }

  /** The formats of other systems that open() and Filter know. */
  function formats() {
    const all = [];
    for (let i = 0; call.format_at(i); i++) {
      engine.fresh();
      const [name, about, toOpen, toMake, can] = Array.from(engine.words.subarray(0, 5), Number);
      all.push({
        name: engine.text(name), about: engine.text(about), toOpen: engine.text(toOpen), toMake: engine.text(toMake),
        known: (can & 1) !== 0, add: (can & 2) !== 0, make: (can & 4) !== 0, write: (can & 8) !== 0, remove: (can & 16) !== 0,
      });
    }
    return all;
  }

  function solve(kind, keys, error, bytes, k) {
    const code = call.solve(kind, keys, error, bytes, k);
    if (code < 0) return { failed: engine.fail(code) };
    engine.fresh();
    const [number, probes, n, e, bits, size, bitsPerKey] = engine.numbers;
    const kOf = KINDS[number] === "ribbon" ? -Math.log2(e) : probes; // need not be whole there
    return { kind: KINDS[number], k: kOf, keys: n, error: e, bits, bytes: size, bitsPerKey };
  }

  /** Every kind side by side, from two of keys, error and bytes (or bitsPerKey). */
  function plan(wanted = {}) {
    let keys = count(wanted.keys, "keys"), bytes = count(wanted.bytes, "bytes"), error = rate(wanted.error, "error");
    const k = count(wanted.k, "k"), need = wanted.need ?? {}, per = Number(wanted.bitsPerKey ?? 0);
    if (per > 0 && keys && !bytes) bytes = Math.ceil(keys * per / 8);
    else if (per > 0 && bytes && !keys) keys = Math.floor(bytes * 8 / per);
    else if (per) throw new SeenError("EINVAL", "bitsPerKey goes with keys or with bytes");
    if (keys && !error && !bytes) error = 0.01;
    const usual = solve(kindNumber(wanted.kind), keys, error, bytes, k);
    if (usual.failed) throw usual.failed;
    const kinds = [];
    for (const name of NATIVE) {
      const kind = KINDS.indexOf(name), can = call.kind_can(kind), able = Object.keys(CAN).filter((what) => can & CAN[what]);
      const row = solve(kind, keys, error, bytes, k);
      const lacks = ["remove", "merge", "grow"].filter((what) => need[what] && !(can & CAN[what]));
      if (!(can & CAN.add) && !need.fixed) lacks.unshift("add");
      const why = row.failed ? row.failed.message : lacks.length ? `cannot ${lacks.join(", ")}` : "";
      delete row.failed;
      kinds.push({ ...row, kind: name, can: able, fits: !why, why });
    }
    return { kinds, best: best(kinds, usual.kind, { keys, error, bytes, need, named: wanted.kind }) };
  }

  // What seen would take: its usual kind, or the best of those that do what is needed.
  function best(kinds, usual, { keys, error, bytes, need, named }) {
    const fit = kinds.filter((row) => row.fits);
    if (named && named !== "auto") return fit.some((row) => row.kind === named) ? named : null;
    if (!need.remove && !need.fixed && fit.some((row) => row.kind === usual)) return usual;
    const value = (row) => (!bytes ? -row.bytes : keys ? -row.error : row.keys);
    return fit.reduce((top, row) => (top && value(top) >= value(row) ? top : row), null)?.kind ?? null;
  }

  return { version: engine.text(call.version()), Filter, open, build, plan, formats, SeenError };
}
