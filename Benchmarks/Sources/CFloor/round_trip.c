#include "cfloor.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

int cfloor_connect(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  int connection = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connection < 0) return -1;
  if (connect(connection, (struct sockaddr *)&address, sizeof address) == 0) return connection;
  close(connection);
  return -1;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

double cfloor_round_trip(int connection, const void *request, size_t length, size_t answer, int count) {
  char buffer[1 << 16];
  double began = now();
  for (int i = 0; i < count; i++) {
    if (write(connection, request, length) != (ssize_t)length) return -1;
    for (size_t had = 0; had < answer;) {
      ssize_t got = read(connection, buffer, sizeof buffer);
      if (got <= 0) return -1;
      had += (size_t)got;
    }
  }
  return (now() - began) / count;
}
