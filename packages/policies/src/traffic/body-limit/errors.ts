/** Error codes of `body-limit`. */
export const BODY_LIMIT_ERRORS = {
  GW_BODY_TOO_SMALL: {
    status: 400,
    title: 'Body too small',
    when: 'The request body is smaller than the minimum of a `body-limit` policy.',
    remedy: 'Send a complete body, or lower `minBytes` of `body-limit`.',
  },
} as const
