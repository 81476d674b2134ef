/* For sandboxes that may not raise RLIMIT_MEMLOCK: a start of a machine with a passed-through
 * device would fail for that alone. The call then claims success; nothing is locked anyway. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/types.h>

#define FORGIVE(NAME, LIMIT)                                                          \
  int NAME(pid_t pid, __rlimit_resource_t resource, const struct LIMIT *new_limit,    \
           struct LIMIT *old_limit) {                                                 \
    int (*real)(pid_t, __rlimit_resource_t, const struct LIMIT *, struct LIMIT *) =   \
        dlsym(RTLD_NEXT, #NAME);                                                      \
    int rc = real(pid, resource, new_limit, old_limit);                               \
    return rc && new_limit && resource == RLIMIT_MEMLOCK ? 0 : rc;                    \
  }

FORGIVE(prlimit, rlimit)
FORGIVE(prlimit64, rlimit64)
