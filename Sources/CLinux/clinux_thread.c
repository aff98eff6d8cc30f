#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "clinux_thread.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  char name[16];
  void (*body)(void *);
  void *context;
} start;

static void *run(void *given) {
  start begun = *(start *)given;
  free(given);
  pthread_setname_np(pthread_self(), begun.name);
  begun.body(begun.context);
  return NULL;
}

int clinux_thread_start(const char *name, size_t stack, void (*body)(void *), void *context) {
  start *given = calloc(1, sizeof *given);
  if (given == NULL) return ENOMEM;
  strncpy(given->name, name, sizeof given->name - 1);
  given->body = body;
  given->context = context;

  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, stack);

  // A thread begins with the mask of the one that starts it.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, run, given);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (error != 0) free(given);
  return error;
}

struct clinux_semaphore {
  sem_t value;
};

clinux_semaphore *clinux_semaphore_make(void) {
  clinux_semaphore *made = malloc(sizeof *made);
  if (made != NULL) sem_init(&made->value, 0, 0);
  return made;
}

void clinux_semaphore_free(clinux_semaphore *semaphore) {
  sem_destroy(&semaphore->value);
  free(semaphore);
}

void clinux_semaphore_post(clinux_semaphore *semaphore) { sem_post(&semaphore->value); }

void clinux_semaphore_wait(clinux_semaphore *semaphore) {
  while (sem_wait(&semaphore->value) != 0) {
    if (errno != EINTR) abort();
  }
}

void clinux_sleep(unsigned milliseconds) {
  struct timespec left = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}
