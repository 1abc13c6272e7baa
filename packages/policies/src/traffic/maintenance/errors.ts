/** Error codes of `maintenance`. */
export const MAINTENANCE_ERRORS = {
  GW_MAINTENANCE: {
    status: 503,
    title: 'Under maintenance',
    when: '`maintenance` is refusing requests. `Retry-After` says when to try again.',
    remedy: 'Retry after the time in `Retry-After`, or set `enabled: false`.',
  },
} as const
