/** Error codes of policies that identify the consumer. */
export const IDENTITY_ERRORS = {
  GW_ACCESS_DENIED: {
    status: 403,
    title: 'Access denied',
    when: '`authorize` does not allow this consumer, or `forward-auth` does not allow this request (with the status of the authorization server). `error.reason` in the traffic log gives the reason.',
    remedy:
      'Run `gw explain METHOD URL --consumer ID`, and correct the rules or the groups, roles and scopes.',
  },
  GW_AUTH_MISSING: {
    status: 401,
    title: 'Credentials missing',
    when: 'The request has no credentials. `WWW-Authenticate` names the accepted schemes.',
    remedy: 'Send credentials for a scheme that `WWW-Authenticate` lists.',
  },
  GW_AUTH_INVALID: {
    status: 401,
    title: 'Invalid credentials',
    when: 'The credentials are unknown or wrong.',
    remedy: 'Check the credentials, and the keys or users of the policy.',
  },
  GW_AUTH_EXPIRED: {
    status: 401,
    title: 'Credentials expired',
    when: 'The credentials have expired.',
    remedy: 'Get new credentials, for API keys with `gw key rotate`.',
  },
  GW_AUTH_OVERLOADED: {
    status: 503,
    title: 'Too many credential checks',
    when: 'The limit of concurrent password checks is reached. Try again later.',
    remedy: 'Retry. Limit login attempts with `rate-limit` or `client-ban`.',
  },
  GW_AUTH_UNAVAILABLE: {
    status: 503,
    title: 'Authorization service unavailable',
    when: 'A server needed for authentication is unavailable: that of `forward-auth` or `oauth2-introspection`, the `ldap` directory, the issuer of the `jwt` keys, the `oidc` provider, or the store of used nonces. Try again later.',
    remedy: 'Check the authentication server. Consider `staleIfError`.',
  },
  GW_LOGIN_FAILED: {
    status: 400,
    title: 'Login failed',
    when: 'The `oidc` or `saml-login` provider refused the login, or its response does not match a login that this browser started. `error.reason` in the traffic log gives the reason.',
    remedy: 'Start the login again. `error.reason` in the traffic log names the problem.',
  },
} as const
