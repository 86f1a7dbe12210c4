/* Forced into every file of the core in the measuring build: counts its units of work. */
#ifndef ADAMB_DEVICE_WORK_H
#define ADAMB_DEVICE_WORK_H
#include <stdint.h>

extern uint32_t adamb_work;
#define ADAMB_WORK() (adamb_work++)

#endif
