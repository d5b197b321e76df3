/** A key: text as UTF-8, bytes as they are, integers as eight little-endian bytes, a list as its members behind their lengths. */
export type KeyPart = string | Uint8Array | ArrayBufferView | ArrayBuffer | number | bigint;
export type Key = KeyPart | KeyPart[];
export type Keys = Iterable<Key> | BigUint64Array | BigInt64Array;
export type Kind = "classic" | "blocked" | "split" | "set" | "cuckoo" | "ribbon" | "quotient";
export type Hash = "keyed" | "xxh3" | "xxh64";

/** What went wrong, in words; `code` is the name of seen.h's code without SEEN_. */
export class SeenError extends Error {
  constructor(code: string, message: string);
  code: "EINVAL" | "ENOMEM" | "ETOOBIG" | "EFULL" | "ERANGE" | "EKIND" | "EMISMATCH" | "EREADONLY" | "EIO" | "EFORMAT" |
    "EVERSION" | "EDAMAGED" | "ECANCEL" | "EBUSY" | "EFOREVER";
}

/** What the bytes of a foreign filter do not say, or how a new one shall be; see formats(). */
export interface ForeignOptions {
  keys?: number;
  error?: number;
  bits?: number;
  k?: number;
  bitsPerKey?: number;
  expansion?: number;
  seeds?: Iterable<number>;
  rowGroup?: number;
  type?: "bytes" | "utf8" | "utf16" | "int32" | "int64" | "float" | "double";
  column?: string;
  hashUnsigned?: boolean;
  msb?: boolean;
  lsb?: boolean;
  guavaOld?: boolean;
  nonscaling?: boolean;
}

export interface FilterOptions extends ForeignOptions {
  /** The library chooses one if none is given. */
  kind?: Kind | "auto";
  /** The most bytes it may have, instead of error. */
  bytes?: number;
  /** false: refuse keys beyond `keys` instead of growing. */
  grow?: boolean;
  fixed?: boolean;
  /** Only kinds that can remove. */
  removes?: boolean;
  smallest?: boolean;
  /** What the keys will be: "mixed" for several types. Without it, the first key decides. */
  keyType?: KeyType;
  /** An integer of up to 128 bits; "random" for keys that strangers choose. 0 if none is given. */
  seed?: number | bigint | "random";
  hash?: Hash;
  /** Make a filter of another system instead. */
  format?: string;
}

export type KeyType =
  "unsaid" | "mixed" | "text" | "bytes" | "int64" | "uint64" | "float" | "uuid" | "date" | "timestamp" | "tuple" | "own";

export interface Info {
  kind: Kind | "foreign";
  format?: string;
  key_type: KeyType;
  layers: number;
  probes: number;
  keys: number;
  keys_estimate: number;
  capacity: number;
  bits: number;
  bits_set: number;
  bytes: number;
  fill: number;
  error: number;
  error_promised: number;
  error_predicted: number;
  expected_lost: number;
  fixed: boolean;
  writable: boolean;
  hash?: Hash;
  seed?: bigint;
  words: string;
}

export interface Filter {
  /** What its keys are; the first key decides. "mixed" lets any be asked and added. */
  keyType: KeyType;
  readonly kind: Kind | "foreign";
  add(key: Key): boolean;
  has(key: Key): boolean;
  remove(key: Key): boolean;
  addMany(keys: Keys): Uint8Array;
  hasMany(keys: Keys): Uint8Array;
  merge(other: Filter): this;
  clear(): this;
  copy(): Filter;
  like(): Filter;
  info(): Info;
  save(): Uint8Array;
  body(layer?: number): Uint8Array;
  hash(key: Key): bigint;
  places(key: Key, layer?: number): number[];
  free(): void;
}

export interface Format {
  name: string;
  about: string;
  toOpen: string;
  toMake: string;
  known: boolean;
  add: boolean;
  make: boolean;
  write: boolean;
  remove: boolean;
}

export interface PlanOptions {
  keys?: number;
  error?: number;
  bytes?: number;
  bitsPerKey?: number;
  k?: number;
  kind?: Kind | "auto";
  need?: { remove?: boolean; merge?: boolean; grow?: boolean; fixed?: boolean };
}

export interface PlanRow {
  kind: Kind;
  can: ("add" | "remove" | "merge" | "grow")[];
  fits: boolean;
  why: string;
  k?: number;
  keys?: number;
  error?: number;
  bits?: number;
  bytes?: number;
  bitsPerKey?: number;
}

export interface Seen {
  readonly version: string;
  readonly Filter: new (options?: FilterOptions) => Filter;
  readonly SeenError: typeof SeenError;
  open(bytes: Uint8Array | ArrayBuffer | ArrayBufferView, options?: ForeignOptions & { format?: string; name?: string }): Filter;
  build(keys: Keys, options?: { error?: number; bytes?: number; seed?: number | bigint | "random"; hash?: Hash; keyType?: KeyType }): Filter;
  plan(wanted: PlanOptions): { kinds: PlanRow[]; best: Kind | null };
  formats(): Format[];
}

export interface LoadOptions {
  /** The most bytes that the memory of the module may grow to: 2 GiB if none are given. */
  memory?: number;
}

export function load(
  source?: string | URL | Uint8Array | ArrayBuffer | Response | WebAssembly.Module,
  options?: LoadOptions,
): Promise<Seen>;
