# bindings/wasm/ - libseen as WebAssembly, and the npm package around it. `make wasm`
# builds $(BUILD)/wasm, which is the package: scalar and SIMD modules, loader, types.
#
# clang's wasm32 target with Debian's wasi-libc; nothing of WASI is imported, so that the
# module runs wherever JavaScript does. Functions that every key passes are compiled for
# speed, the rest for size.
WASM_CC ?= clang
WASM_DIR = $(BUILD)/wasm
WASM_TARGET = --target=wasm32-wasi
WASM_PROBE := $(shell mkdir -p $(BUILD)/config && printf '\043include <stdlib.h>\n__int128 f(__int128 x) { return x * x + abs((int)x); }\n' | \
    $(WASM_CC) $(WASM_TARGET) -xc - -o $(BUILD)/config/probe.wasm -nostartfiles -Wl,--no-entry -Wl,--export=f >/dev/null 2>&1 && echo yes; rm -f $(BUILD)/config/probe.wasm)
WASM_XXHASH := $(firstword $(wildcard /usr/include/xxhash.h /usr/local/include/xxhash.h))
.PHONY: wasm
ifneq ($(and $(WASM_PROBE),$(WASM_XXHASH)),)
WASM_FOUND := $(sort $(filter-out lib/sketch/% lib/foreign/redisbloom/heavykeeper.c lib/kind/bitmap.c $(wildcard lib/kind/quotient*) lib/base/map.c lib/base/replace.c lib/filter/exceptions.c,$(LIB_SRC)) \
    $(wildcard bindings/wasm/src/*.c))
# gzip looks back 32 kB: files whose code is alike stand together, which takes 1.5% off what is
# sent. Found by moving files about and compressing; one that is not named comes last.
WASM_ORDER = kind thrift bloom_json foreign_hashes wasm_memory wasm_text set classic blocked ribbon \
    ribbon_trits murmur2 losses wasm_xxhash cuckoo keytype build_solve murmur3 bloom_go raw \
    libbloom bfchain dcso guava cfchain bfchain_dump open keyed fail ribbon_solve grow stats \
    hasher memory single_key leveldb_table textbook redis_bitmap size build foreign parquet \
    redis_dump probe dump_chunk parquet_file save seen_wasm foreign_handle cpu version \
    filter batch
WASM_SRC := $(foreach name,$(WASM_ORDER),$(filter %/$(name).c,$(WASM_FOUND)))
WASM_SRC += $(filter-out $(WASM_SRC),$(WASM_FOUND))
WASM_FAST = lib/hash/keyed.c
# Elsewhere nothing is inlined that the library would inline for speed.
WASM_SMALL = -Oz -Dalways_inline=
# Optimised as a whole when linked, but for functions that the compiler calls by itself.
wasm-flags = $(if $(filter bindings/wasm/src/wasm_memory.c bindings/wasm/src/wasm_text.c,$(1)),-Oz,-flto $(if $(filter $(1),$(WASM_FAST)),-O2,$(WASM_SMALL)))
WASM_FLAGS = $(WASM_TARGET) $(STD) $(WARN) -Iinclude -Ilib -Ibindings/wasm/libc -I$(WASM_DIR)/include \
    -Wno-missing-prototypes -mnontrapping-fptoint -msign-ext -DSN_SMALL -DO_TMPFILE=0 -mbulk-memory -D_Thread_local= -fvisibility=hidden -ffp-contract=off -ffunction-sections -fdata-sections
WASM_LINK = $(WASM_TARGET) -nostartfiles -Wl,--no-entry -Wl,--gc-sections -Wl,--strip-all -Wl,--import-memory \
    -Wl,--max-memory=2147483648 -Wl,-z,stack-size=131072 -Wl,--stack-first -flto -Wl,--lto-O2 -Wl,-mllvm,-disable-lsr -Wl,-mllvm,-inline-threshold=-20
# binaryen's wasm-opt takes a fifth off; without it the module is larger, and the same.
WASM_OPT := $(shell command -v wasm-opt)
# (The lowest kilobyte is the very end of the stack: nothing is kept there.)
WASM_OPT_FLAGS = --low-memory-unused --dealign --optimize-added-constants-propagate --remove-unused-brs --merge-blocks --vacuum --flatten --rereloop -Oz -Oz --converge --enable-bulk-memory --enable-simd --enable-mutable-globals --enable-sign-ext \
    --enable-nontrapping-float-to-int --zero-filled-memory
ifneq ($(WASM_OPT),)
wasm-link = $(WASM_CC) $(WASM_LINK) -o $@.linked $^ && $(WASM_OPT) $(WASM_OPT_FLAGS) $@.linked -o $@ && rm $@.linked
else
wasm-link = $(WASM_CC) $(WASM_LINK) -o $@ $^
$(info make: wasm is larger than it could be: not installed: binaryen)
endif
CONFIG_wasm := $(WASM_SMALL) $(WASM_OPT_FLAGS) $(WASM_CC) $(shell $(WASM_CC) -dumpversion) $(WASM_FLAGS) $(WASM_LINK) $(WASM_OPT) $(WASM_SRC) $(WASM_FAST) $(wildcard bindings/wasm/libc/*.h bindings/wasm/libc/*/*.h)
WASM_OBJ = $(WASM_SRC:%.c=$(WASM_DIR)/obj/%.o)
WASM_SIMD_OBJ = $(WASM_SRC:%.c=$(WASM_DIR)/simd/%.o)
WASM_FILES = $(patsubst bindings/wasm/%,$(WASM_DIR)/%,$(wildcard $(addprefix bindings/wasm/,seen.mjs seen.d.ts package.json README.md)))
WASM_ALL = $(WASM_DIR)/seen.wasm $(WASM_DIR)/seen.simd.wasm $(WASM_FILES)
wasm: $(WASM_ALL)
TESTS_NEED += $(WASM_ALL)

$(WASM_DIR)/include/xxhash.h: $(WASM_XXHASH)
	@mkdir -p $(@D)
	@cp $< $@
$(WASM_DIR)/obj/%.o: %.c $(WASM_DIR)/include/xxhash.h $(BUILD)/config/wasm
	@mkdir -p $(@D)
	$(WASM_CC) $(WASM_FLAGS) $(call wasm-flags,$<) -MMD -MP -c $< -o $@
$(WASM_DIR)/simd/%.o: %.c $(WASM_DIR)/include/xxhash.h $(BUILD)/config/wasm
	@mkdir -p $(@D)
	$(WASM_CC) $(WASM_FLAGS) -msimd128 $(call wasm-flags,$<) -MMD -MP -c $< -o $@
$(WASM_DIR)/seen.wasm: $(WASM_OBJ)
	$(wasm-link)
$(WASM_DIR)/seen.simd.wasm: $(WASM_SIMD_OBJ)
	$(wasm-link)
$(WASM_FILES): $(WASM_DIR)/%: bindings/wasm/% include/seen.h
	@mkdir -p $(@D)
	@sed 's|@VERSION@|$(VERSION)|' $< >$@
else
wasm:
	@echo "make: packages clang, lld, wasi-libc, libclang-rt-dev-wasm32 or libxxhash-dev are not installed" >&2; exit 1
$(call part-skip,wasm,clang lld wasi-libc libclang-rt-dev-wasm32)
endif
