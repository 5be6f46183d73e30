/* Marks in a program that runs under Valgrind's callgrind; nothing elsewhere. */
#pragma once

/* Forgets what was counted so far. */
void callgrind_begin(void);
/* Writes what was counted since to callgrind's file, under a name. */
void callgrind_end(const char *name);
/* Whether somebody counts. */
int callgrind_is_running(void);

/* Keeps what Swift's tasks have to do for jobs_run_one(), in place of handing it to the runtime's threads. */
void jobs_keep(void);
/* Runs one of these jobs on this thread, when there is one. */
void jobs_run_one(void);
