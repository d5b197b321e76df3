# cli/dedup/build.mk - packing beyond gzip and zstd, where its libraries are.
ifneq ($(call have,libdeflate),)
DEDUP_FLAGS += -DSEEN_LIBDEFLATE
CLI_LIBS += -ldeflate
endif
ifneq ($(call have-header,bzlib.h),)
DEDUP_FLAGS += -DSEEN_BZ2
CLI_LIBS += -lbz2
endif
ifneq ($(call have-header,lzma.h),)
DEDUP_FLAGS += -DSEEN_XZ
CLI_LIBS += -llzma
endif
CONFIG_dedup := $(DEDUP_FLAGS)
$(BUILD)/obj/cli/dedup/packing.o: CPPFLAGS += $(DEDUP_FLAGS)
$(BUILD)/obj/cli/dedup/packing.o: $(BUILD)/config/dedup
