// What Swift cannot see of ncurses: macros, bit constants and the shared globals of Swift 6's concern.
#ifndef CACHEEXPLORER_CNCURSES_SHIM_H
#define CACHEEXPLORER_CNCURSES_SHIM_H

#define NCURSES_WIDECHAR 1
#include <ncurses.h>

#endif
