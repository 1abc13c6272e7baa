/** Error codes of `geo-filter`. */
export const GEO_FILTER_ERRORS = {
  GW_GEO_DENIED: {
    status: 403,
    title: 'Location not allowed',
    when: "`geo-filter` does not allow the location of the client's address.",
    remedy: 'Check `geo-filter` and its database. Behind a proxy, check `trustedProxies`.',
  },
} as const
