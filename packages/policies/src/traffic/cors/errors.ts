/** Error codes of `cors`. */
export const CORS_ERRORS = {
  GW_CORS_DENIED: {
    status: 403,
    title: 'Origin not allowed',
    when: 'A preflight request comes from an origin that `cors` does not allow.',
    remedy: 'Add the origin of the page to `origins` of `cors`.',
  },
} as const
