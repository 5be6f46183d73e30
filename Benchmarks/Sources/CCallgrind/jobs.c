#include "ccallgrind.h"

#include <pthread.h>

typedef struct { void *identity; void *implementation; } Executor;
typedef __attribute__((swiftcall)) void (*Enqueue)(void *job);

// Swift's runtime asks the hook, if there is one, whenever it would hand a job to its own threads.
extern __attribute__((swiftcall)) void (*swift_task_enqueueGlobal_hook)(void *job, Enqueue original);
extern __attribute__((swiftcall)) void swift_job_run(void *job, Executor executor);

#define MOST 65536
static void *waiting[MOST];
static unsigned first, end;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;

static __attribute__((swiftcall)) void enqueue(void *job, Enqueue original) {
  (void)original;
  pthread_mutex_lock(&lock);
  waiting[end++ % MOST] = job;
  pthread_cond_signal(&arrived);
  pthread_mutex_unlock(&lock);
}

void jobs_keep(void) { swift_task_enqueueGlobal_hook = enqueue; }

void jobs_run_one(void) {
  pthread_mutex_lock(&lock);
  // Waiting costs no instructions, as going round would.
  while (first == end) pthread_cond_wait(&arrived, &lock);
  void *job = waiting[first++ % MOST];
  pthread_mutex_unlock(&lock);
  swift_job_run(job, (Executor){0, 0});
}
