/** Error codes of `response-cache`. */
export const RESPONSE_CACHE_ERRORS = {
  GW_NOT_CACHED: {
    status: 504,
    title: 'Not in the cache',
    when: 'The request has `only-if-cached`, and `response-cache` has no usable response for it.',
    remedy: 'Send the request without `only-if-cached`.',
  },
} as const
