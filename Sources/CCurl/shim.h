// libcurl's option setters are variadic, which Swift cannot call: one typed wrapper for each shape of argument.
#ifndef CACHEENGINE_CCURL_SHIM_H
#define CACHEENGINE_CCURL_SHIM_H

#include <curl/curl.h>

#endif
