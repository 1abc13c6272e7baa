/** Error codes of `concurrency-limit`. */
export const CONCURRENCY_LIMIT_ERRORS = {
  GW_CONCURRENCY_LIMITED: {
    status: 503,
    title: 'Too many concurrent requests',
    when: 'The limit of a `concurrency-limit` policy is reached. `Retry-After` says when to try again.',
    remedy: 'Retry after the time in `Retry-After`, or raise the limit.',
  },
} as const
