/** Error codes of policies that count requests. */
export const LIMITS_ERRORS = {
  GW_RATE_LIMITED: {
    status: 429,
    title: 'Too many requests',
    when: 'A `rate-limit` is exhausted, or `basic-auth` has seen too many failed attempts. `Retry-After` says when to try again.',
    remedy:
      'Retry after the time in `Retry-After`, or raise the limit. `gw limits get POLICY` shows the counts.',
  },
  GW_LIMIT_KEY_MISSING: {
    status: 403,
    title: 'Limit key missing',
    when: 'The request lacks the value that a `rate-limit` or `quota` with `onMissingKey: deny` uses as its counter key.',
    remedy: 'Send the value of `key`, or change `onMissingKey`.',
  },
  GW_LIMITER_UNAVAILABLE: {
    status: 503,
    title: 'Limiter unavailable',
    when: 'The store of a `rate-limit` or `quota` with `onStoreDown: closed` is unavailable. Try again later.',
    remedy: 'Check the `state` server, or use `onStoreDown: local`.',
  },
} as const
