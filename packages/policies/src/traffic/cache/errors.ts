/** Error codes of `cache`. */
export const CACHE_ERRORS = {
  GW_CACHE_UNAVAILABLE: {
    status: 503,
    title: 'Cache unavailable',
    when: 'The store of a `cache` policy with `onStoreDown: closed` is unavailable. Try again later.',
    remedy: 'Check the cache server, or use `onStoreDown: open`.',
  },
} as const
