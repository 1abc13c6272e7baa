/** Error codes of `ip-filter`. */
export const IP_FILTER_ERRORS = {
  GW_IP_DENIED: {
    status: 403,
    title: 'Address not allowed',
    when: "`ip-filter` does not allow the client's address.",
    remedy: 'Add the address to `allow` of `ip-filter`. Behind a proxy, check `trustedProxies`.',
  },
} as const
