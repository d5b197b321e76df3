# bindings/wasm/ - libseen as WebAssembly, and the npm package around it. `make wasm`
# builds $(BUILD)/wasm, which is the package: module, loader, types.
#
# The module is the library in one source (pack/build.mk) and src/, compiled with clang's
# wasm32 target and Debian's wasi-libc. libc/ and src/no_system.c stand in for what
# wasi-libc does not have; nothing of WASI is imported, so that the module runs wherever
# JavaScript does.
WASM_CC ?= clang
WASM_DIR = $(BUILD)/wasm
WASM_TARGET = --target=wasm32-wasi
WASM_PROBE := $(shell mkdir -p $(BUILD)/config && printf '\043include <stdlib.h>\n__int128 f(__int128 x) { return x * x + abs((int)x); }\n' | \
    $(WASM_CC) $(WASM_TARGET) -xc - -o $(BUILD)/config/probe.$$$$.wasm -nostartfiles -Wl,--no-entry -Wl,--export=f >/dev/null 2>&1 && echo yes; rm -f $(BUILD)/config/probe.$$$$.wasm)
WASM_XXHASH := $(firstword $(wildcard /usr/include/xxhash.h /usr/local/include/xxhash.h))
.PHONY: wasm
ifneq ($(and $(WASM_PROBE),$(WASM_XXHASH)),)
WASM_SRC := $(sort $(wildcard bindings/wasm/src/*.c))
WASM_HEADERS := $(wildcard bindings/wasm/libc/*.h bindings/wasm/libc/*/*.h)
WASM_FEATURES = bulk-memory sign-ext nontrapping-fptoint
# What the library wants inlined for speed is left to the compiler, which is told to save bytes.
# (Debian 12's clang knows no other TLS model for a module of one thread.)
WASM_FLAGS = $(WASM_TARGET) $(STD) -Oz $(WASM_FEATURES:%=-m%) -ftls-model=local-exec -ffp-contract=off \
    -fvisibility=hidden -ffunction-sections -fdata-sections -D_WASI_EMULATED_GETPID -Dalways_inline=unused -include ./bindings/wasm/libc/no_system.h \
    -Ibindings/wasm/libc -I$(AMALGAMATION) -I$(WASM_DIR)/include
WASM_LINK = $(WASM_TARGET) -nostartfiles -Wl,--no-entry -Wl,--gc-sections -Wl,--strip-all -Wl,--import-memory \
    -Wl,--max-memory=2147483648 -Wl,-z,stack-size=131072 -Wl,--stack-first
# binaryen's wasm-opt takes a tenth off; without it the module is larger, and the same.
WASM_OPT := $(shell command -v wasm-opt)
# (The memory is new, and its lowest kilobyte is the very end of the stack.)
WASM_OPT_FLAGS = --zero-filled-memory --low-memory-unused --dealign -Oz --converge --enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int
ifneq ($(WASM_OPT),)
wasm-link = $(WASM_CC) $(WASM_LINK) -o $@.linked $^ && $(WASM_OPT) $(WASM_OPT_FLAGS) $@.linked -o $@ && rm $@.linked
else
wasm-link = $(WASM_CC) $(WASM_LINK) -o $@ $^
$(info make: wasm is larger than it could be: not installed: binaryen)
endif
CONFIG_wasm := $(WASM_CC) $(shell $(WASM_CC) -dumpversion) $(WASM_FLAGS) $(WASM_LINK) $(WASM_OPT) $(WASM_OPT_FLAGS) $(WASM_SRC) $(WASM_HEADERS)
WASM_OBJ = $(WASM_DIR)/obj/seen.o $(WASM_SRC:bindings/wasm/src/%.c=$(WASM_DIR)/obj/%.o)
WASM_FILES = $(patsubst bindings/wasm/%,$(WASM_DIR)/%,$(wildcard $(addprefix bindings/wasm/,seen.mjs seen.d.ts package.json README.md)))
WASM_ALL = $(WASM_DIR)/seen.wasm $(WASM_FILES)
wasm: $(WASM_ALL)
TESTS_NEED += $(WASM_ALL)

$(WASM_DIR)/include/xxhash.h: $(WASM_XXHASH)
	@mkdir -p $(@D)
	@cp $< $@
$(WASM_DIR)/obj/seen.o: $(AMALGAMATION)/seen.c
$(filter-out %/seen.o,$(WASM_OBJ)): $(WASM_DIR)/obj/%.o: bindings/wasm/src/%.c
$(WASM_OBJ): $(AMALGAMATION)/seen.h $(WASM_HEADERS) $(WASM_DIR)/include/xxhash.h $(BUILD)/config/wasm
	@mkdir -p $(@D)
	$(WASM_CC) $(WASM_FLAGS) -c $(filter %.c,$^) -o $@
$(WASM_DIR)/seen.wasm: $(WASM_OBJ)
	$(wasm-link)
$(WASM_FILES): $(WASM_DIR)/%: bindings/wasm/% include/seen.h
	@mkdir -p $(@D)
	@sed 's|@VERSION@|$(VERSION)|' $< >$@
else
wasm:
	@echo "make: packages clang, lld, wasi-libc, libclang-rt-dev-wasm32 or libxxhash-dev are not installed" >&2; exit 1
$(call part-skip,wasm,clang lld wasi-libc libclang-rt-dev-wasm32)
endif
