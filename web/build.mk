# web/ - the page: plan, look inside, ask. `make page` assembles $(BUILD)/page/seen.html, one
# file with the library of bindings/wasm inside, and the picture of the README.
PAGE_NODE := $(shell command -v node 2>/dev/null)
PAGE = $(BUILD)/page/seen.html
.PHONY: page
ifneq ($(and $(WASM_SRC),$(PAGE_NODE)),)
page: $(PAGE)
TESTS_NEED += $(PAGE)
$(PAGE): $(wildcard web/*.js web/*.mjs web/*.html web/*.css) $(WASM_DIR)/seen.wasm $(WASM_DIR)/seen.mjs $(BUILD)/seen
	@mkdir -p $(@D)
	$(PAGE_NODE) web/assemble.mjs $(WASM_DIR)/seen.mjs $(WASM_DIR)/seen.wasm $(BUILD)/seen $@ $(@D)/plan.svg
else
page:
	@echo "make: the page needs nodejs and what bindings/wasm needs: clang, lld, wasi-libc" >&2; exit 1
TESTS := $(filter-out tests/web/%,$(TESTS))
$(if $(PAGE_NODE),,$(call part-skip,page,nodejs))
endif
