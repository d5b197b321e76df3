# kit/build.mk - compressed formats that the line reader unpacks if their library is here.
UNPACK_FLAGS :=
UNPACK_LIBS :=
# unpacks NAME,MACRO,HEADER,LIBRARY,PACKAGE
define unpacks
ifeq ($$(call linkable,$(3),$(4)),yes)
UNPACK_FLAGS += -D$(2)
UNPACK_LIBS += $(4)
else
$$(call part-skip,reading $(1),$(5))
endif
endef
$(eval $(call unpacks,bzip2,KIT_BZIP2,bzlib.h,-lbz2,libbz2-dev))
$(eval $(call unpacks,xz,KIT_XZ,lzma.h,-llzma,liblzma-dev))
$(eval $(call unpacks,lz4,KIT_LZ4,lz4frame.h,-llz4,liblz4-dev))
$(eval $(call unpacks,gzip twice as fast,KIT_ISAL,isa-l/igzip_lib.h,-lisal,libisal-dev))
CLI_LIBS += $(UNPACK_LIBS)
CONFIG_compression := $(UNPACK_FLAGS)
$(BUILD)/obj/kit/compression.o: CPPFLAGS += $(UNPACK_FLAGS)
$(BUILD)/obj/kit/compression.o: $(BUILD)/config/compression
