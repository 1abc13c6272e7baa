/** Error codes of `quota`. */
export const QUOTA_ERRORS = {
  GW_QUOTA_EXCEEDED: {
    status: 429,
    title: 'Quota exceeded',
    when: 'A `quota` is used up. `Retry-After` says when its period ends.',
    remedy: 'Wait for the next period, raise `limit`, or lower the used amount with `gw quota set`.',
  },
} as const
