// Redis and memcached, each started for the occasion on a Unix socket: the time that passes for a get and a set of one of
// 100,000 keys, one request at a time and 32 at a time on one connection.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ENTRIES = 100000, REQUESTS = 20000, DEPTH = 32, ANSWERS = 1 << 16 };

typedef struct {
  const char *name, *program;
  const char *arguments[12];
  const char *get, *set;  // formats of a request, for the number of a key
  const char *hit, *stored;  // how the answer to each begins
  size_t hit_length, stored_length;
} server;

static char folder[] = "/tmp/bench-servers-XXXXXX", path[64];
static pid_t child;

static void clean_up(void) {
  if (child > 0) {
    kill(child, SIGTERM);
    waitpid(child, NULL, 0);
    child = 0;
  }
  unlink(path);
}

static void fail(const char *what) {
  perror(what);
  clean_up();
  rmdir(folder);
  exit(1);
}

static int connect_to_server(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  // Up to five seconds: a server takes a moment to listen.
  for (int attempt = 0; attempt < 500; attempt++) {
    int connection = socket(AF_UNIX, SOCK_STREAM, 0);
    if (!connect(connection, (struct sockaddr *)&address, sizeof address)) {
      // A server that stalls is reported, and not waited for.
      struct timeval patience = {.tv_sec = 10};
      setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      return connection;
    }
    close(connection);
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
  }
  fail("connect");
  return -1;
}

// Sends so many requests at once and reads all of their answers, which are of one length.
static void ask(int connection, const char *format, const char *answer, size_t length, const int *numbers, int count) {
  static char buffer[ANSWERS];
  size_t end = 0;
  for (int i = 0; i < count; i++) end += (size_t)snprintf(buffer + end, ANSWERS - end, format, numbers[i]);
  if (write(connection, buffer, end) != (ssize_t)end) fail("write");
  for (end = 0; end < length * (size_t)count;) {
    ssize_t got = read(connection, buffer + end, ANSWERS - end);
    if (got <= 0) fail("read");
    end += (size_t)got;
  }
  for (int i = 0; i < count; i++) {
    if (memcmp(buffer + length * (size_t)i, answer, strlen(answer))) fail("an answer that was not expected");
  }
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void measure(const server *it, int connection, const int *requests, int rounds, int depth, int is_get) {
  printf("server-%s\t1\t%s%s", is_get ? "get" : "set", it->name, depth > 1 ? ", 32 at a time" : "");
  for (int round = 0; round <= rounds; round++) {
    double began = now();
    for (int at = 0; at + depth <= REQUESTS; at += depth) {
      if (is_get) ask(connection, it->get, it->hit, it->hit_length, requests + at, depth);
      else ask(connection, it->set, it->stored, it->stored_length, requests + at, depth);
    }
    if (round > 0) printf("\t%.1f", (now() - began) / REQUESTS);
  }
  printf("\n");
  fflush(stdout);
}

static void run(const server *it, const int *requests, int rounds) {
  child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    // Who starts this program may have blocked the signal that is to end the server, which would be waited for in vain.
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (!freopen("/dev/null", "w", stdout)) _exit(127);
    execvp(it->program, (char *const *)it->arguments);
    _exit(127);
  }
  int connection = connect_to_server();
  for (int number = 0; number < ENTRIES; number++) ask(connection, it->set, it->stored, it->stored_length, &number, 1);
  for (int depth = 1; depth <= DEPTH; depth *= DEPTH) {
    measure(it, connection, requests, rounds, depth, 1);
    measure(it, connection, requests, rounds, depth, 0);
  }
  close(connection);
  clean_up();
}

int main(int count, char **arguments) {
  static int requests[REQUESTS];
  int rounds = count > 1 ? atoi(arguments[1]) : 5;
  // Which keys are asked for makes no difference to a server: even ones are as good as popular ones.
  srandom(7);
  for (int i = 0; i < REQUESTS; i++) requests[i] = (int)(random() % ENTRIES);
  if (!mkdtemp(folder)) fail("mkdtemp");
  snprintf(path, sizeof path, "%s/socket", folder);
  server redis = {
    .name = "Redis, Unix socket", .program = "redis-server",
    .arguments = {"redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no", NULL},
    .get = "*2\r\n$3\r\nGET\r\n$25\r\nuser:profile:%012d\r\n",
    .set = "*3\r\n$3\r\nSET\r\n$25\r\nuser:profile:%012d\r\n$8\r\n12345678\r\n",
    .hit = "$8\r\n12345678\r\n", .stored = "+OK\r\n", .hit_length = 14, .stored_length = 5};
  // The key is in a get's answer: `VALUE key 0 8`, the value, `END`.
  server memcached = {
    .name = "memcached, Unix socket", .program = "memcached",
    .arguments = {"memcached", "-u", "root", "-s", path, "-a", "0777", "-m", "256", NULL},
    .get = "get user:profile:%012d\r\n", .set = "set user:profile:%012d 0 0 8\r\n12345678\r\n",
    .hit = "VALUE user:profile:", .stored = "STORED\r\n", .hit_length = 37 + 10 + 5, .stored_length = 8};
  run(&redis, requests, rounds);
  run(&memcached, requests, rounds);
  rmdir(folder);
  return 0;
}
