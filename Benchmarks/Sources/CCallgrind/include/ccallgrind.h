/* Marks in a program that runs under Valgrind's callgrind; nothing elsewhere. */
#pragma once

/* Forgets what was counted so far. */
void callgrind_begin(void);
/* Writes what was counted since to callgrind's file, under a name. */
void callgrind_end(const char *name);
/* Whether somebody counts. */
int callgrind_is_running(void);
