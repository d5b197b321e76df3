# cli/dedup/build.mk - packs with what the kit unpacks with; gzip twice as fast with
# libdeflate.
ifeq ($(call linkable,libdeflate.h,-ldeflate),yes)
DEDUP_FLAGS := -DSEEN_LIBDEFLATE
CLI_LIBS += -ldeflate
else
$(call part-skip,packing gzip fast,libdeflate-dev)
endif
CONFIG_dedup := $(DEDUP_FLAGS)
$(BUILD)/obj/cli/dedup/packing.o: CPPFLAGS += $(DEDUP_FLAGS) $(UNPACK_FLAGS)
$(BUILD)/obj/cli/dedup/packing.o: $(BUILD)/config/dedup $(BUILD)/config/unpack
