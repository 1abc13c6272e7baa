/** Error codes about tokens. */
export const TOKEN_ERRORS = {
  GW_TOKEN_MALFORMED: {
    status: 401,
    title: 'Malformed token',
    when: 'The token cannot be parsed.',
    remedy: 'Send a complete JWT or token.',
  },
  GW_TOKEN_SIGNATURE: {
    status: 401,
    title: 'Invalid token signature',
    when: "The token's signature is wrong, or its key or algorithm is not allowed by the policy.",
    remedy: 'Check the keys and `algorithms` of the policy, and that the issuer signed the token.',
  },
  GW_TOKEN_EXPIRED: {
    status: 401,
    title: 'Token expired',
    when: 'The token has expired.',
    remedy: 'Get a new token.',
  },
  GW_TOKEN_NOT_YET_VALID: {
    status: 401,
    title: 'Token not yet valid',
    when: 'The validity of the token starts in the future.',
    remedy: 'Check the clocks of gateway and issuer.',
  },
  GW_TOKEN_ISSUER: {
    status: 401,
    title: 'Wrong token issuer',
    when: 'The policy does not allow the issuer of the token.',
    remedy: 'Use a token of an issuer in `issuers`, or add the issuer.',
  },
  GW_TOKEN_AUDIENCE: {
    status: 401,
    title: 'Wrong token audience',
    when: 'The token was issued for another API.',
    remedy: 'Request the token for this API, or add its audience to `audiences`.',
  },
  GW_TOKEN_BINDING: {
    status: 401,
    title: 'Token bound to another client',
    when: 'The token is bound to a client certificate that this connection does not use, or to a key, and the policy does not check proofs of possession.',
    remedy: 'Send the token over a connection with the client certificate to which it is bound.',
  },
  GW_TOKEN_CLAIMS: {
    status: 403,
    title: 'Missing token claim',
    when: 'The token lacks a claim that the policy requires, or the claim has another value.',
    remedy: 'Get a token with the required claims, or change `requiredClaims`.',
  },
  GW_SCOPE_MISSING: {
    status: 403,
    title: 'Missing scope',
    when: 'The credential lacks a scope that `jwt` or `authorize` requires.',
    remedy: 'Request a token with the scope that `WWW-Authenticate` names.',
  },
} as const
