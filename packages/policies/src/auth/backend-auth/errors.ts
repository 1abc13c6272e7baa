/** Error codes of `backend-auth`. */
export const BACKEND_AUTH_ERRORS = {
  GW_UPSTREAM_CREDENTIALS: {
    status: 503,
    title: 'No credentials for the upstream',
    when: '`backend-auth` has no credentials because the token endpoint refuses them or does not respond. `Retry-After` says when the gateway tries again.',
    remedy:
      'Check `backend-auth` and its token endpoint. `error.reason` in the traffic log names the problem.',
  },
} as const
