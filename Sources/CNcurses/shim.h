// What Swift cannot see of ncurses: macros, bit constants and the shared globals of Swift 6's concern.
//
// All of it works on `stdscr`, so that Swift holds no window. No state may live here: a static in a header would be one
// copy per object file.
#ifndef CACHEEXPLORER_CNCURSES_SHIM_H
#define CACHEEXPLORER_CNCURSES_SHIM_H

#define NCURSES_WIDECHAR 1
#include <ncurses.h>
#include <term.h>

#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

// term.h brings macros of this name, which would shadow members in Swift.
#undef lines
#undef columns
#undef tab

// Hidden by some feature settings of the C library, though it is always there.
extern int wcwidth(wchar_t character);

/// The cells that the C library, and so curses, reserves for a character; -1 where it cannot be printed.
static inline int cn_width(uint32_t scalar) { return wcwidth((wchar_t)scalar); }

enum {
  cn_bold = 1 << 0,
  cn_dim = 1 << 1,
  cn_underline = 1 << 2,
  cn_reverse = 1 << 3,
};

/// Chooses the character set of the environment, or C.UTF-8 where that is not UTF-8. Says whether it is UTF-8 now.
///
/// Only LC_CTYPE: a comma as the decimal point would reach every strtod of the process.
static inline bool cn_choose_unicode_locale(void) {
  if (setlocale(LC_CTYPE, "") != NULL && strcmp(nl_langinfo(CODESET), "UTF-8") == 0) return true;
  if (setlocale(LC_CTYPE, "C.UTF-8") != NULL) return true;
  if (setlocale(LC_CTYPE, "UTF-8") != NULL) return true;  // macOS
  setlocale(LC_CTYPE, "C");
  return false;
}

/// Prepares stdscr of a new terminal. Input never goes through curses.
static inline void cn_prepare(void) {
  typeahead(-1);
  noecho();
  nonl();
  scrollok(stdscr, false);
  idlok(stdscr, false);
}

static inline int cn_colors(void) { return COLORS; }

/// Writes one cell: a base character and up to four marks that take no room, 0 for none.
static inline void cn_put(int y, int x, uint32_t base, uint32_t m1, uint32_t m2, uint32_t m3, uint32_t m4, int look,
                          int pair) {
  wchar_t text[CCHARW_MAX + 1] = {(wchar_t)base, (wchar_t)m1, (wchar_t)m2, (wchar_t)m3, (wchar_t)m4, 0};
  attr_t attributes = 0;
  if (look & cn_bold) attributes |= WA_BOLD;
  if (look & cn_dim) attributes |= WA_DIM;
  if (look & cn_underline) attributes |= WA_UNDERLINE;
  if (look & cn_reverse) attributes |= WA_REVERSE;
  cchar_t cell;
  if (setcchar(&cell, text, attributes, (short)pair, NULL) == OK) mvwadd_wch(stdscr, y, x, &cell);
}

/// Places the cursor, and shows or hides it.
static inline void cn_cursor(int y, int x, bool is_shown) {
  curs_set(is_shown ? 1 : 0);
  wmove(stdscr, y, x);
}

/// Has curses emit what changed.
static inline void cn_update(void) {
  wnoutrefresh(stdscr);
  doupdate();
}

/// Forgets what the terminal shows; the next update draws everything.
static inline void cn_redraw_all(void) { clearok(stdscr, true); }

/// A string of terminfo, or NULL where the terminal has none.
static inline const char *cn_capability(const char *name) {
  const char *value = tigetstr(name);
  return value == (const char *)-1 ? NULL : value;
}

/// What curses writes for a colour by its number, or NULL where the terminal has no colours.
static inline const char *cn_foreground(int number) {
  const char *format = cn_capability("setaf");
  return format == NULL ? NULL : tparm((char *)format, (long)number, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L);
}

/// Whether the description says that the terminal takes any colour: RGB is ncurses' word for it, Tc tmux's.
static inline bool cn_is_direct(void) { return tigetflag("RGB") > 0 || tigetflag("Tc") > 0; }

#endif
