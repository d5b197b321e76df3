# bindings/python/ - the Python module `seen`: one C extension against the limited API, so
# that one binary serves CPython 3.9 and later. `make python` builds it into
# $(BUILD)/python, for PYTHONPATH; `pip install ./bindings/python` installs it.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)
PY_INCLUDE := $(shell $(PYTHON) -c 'import os, sysconfig as s; d = s.get_path("include"); print(d if os.path.exists(d + "/Python.h") else "")' 2>/dev/null)
PY_DIR = $(BUILD)/python/seen
PY_EXT = $(PY_DIR)/_seen.abi3.so
PY_C := $(sort $(wildcard bindings/python/src/*.c))
PY_FILES := $(patsubst bindings/python/seen/%,$(PY_DIR)/%,$(wildcard bindings/python/seen/*.py bindings/python/seen/*.pyi bindings/python/seen/py.typed))
.PHONY: python
ifneq ($(PY_INCLUDE),)
PY_OBJ := $(PY_C:%.c=$(BUILD)/obj/%.o)
$(PY_OBJ): CPPFLAGS += -isystem $(PY_INCLUDE) $(REMOTE_FLAGS)
$(PY_OBJ) $(PY_EXT): $(BUILD)/config/python
CONFIG_python := $(PY_INCLUDE) $(HIREDIS_LIBS) $(PY_C)
python: $(PY_EXT) $(PY_FILES)
ALL += $(PY_EXT) $(PY_FILES)
$(PY_EXT): $(PY_OBJ) $(LIBSEEN) $(if $(HIREDIS),$(BUILD)/libremote.a)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -shared -Wl,--exclude-libs,ALL -o $@ $(PY_OBJ) $(REMOTE_LIBS) $(LIBSEEN) $(LIB_LIBS)
$(PY_DIR)/%: bindings/python/seen/%
	@mkdir -p $(@D)
	@cp $< $@
else
python:
	@echo "make: package python3-dev is not installed" >&2; exit 1
$(call part-skip,python,python3-dev)
endif
