// What of libpng's simplified interface is a macro or an array, which Swift sees badly or not at all.
#ifndef CACHEENGINE_CPNG_SHIM_H
#define CACHEENGINE_CPNG_SHIM_H

#include <png.h>
#include <string.h>

static inline void cpng_prepare(png_image *image) {
  memset(image, 0, sizeof *image);
  image->version = PNG_IMAGE_VERSION;
}

static inline png_uint_32 cpng_rgba(void) { return PNG_FORMAT_RGBA; }

// No more bytes than this are written for the image.
static inline size_t cpng_largest_size(const png_image *image) { return PNG_IMAGE_PNG_SIZE_MAX(*image); }

static inline const char *cpng_message(const png_image *image) { return image->message; }

#endif
