/** Error codes of `oauth2-introspection`. */
export const OAUTH2_INTROSPECTION_ERRORS = {
  GW_TOKEN_INACTIVE: {
    status: 401,
    title: 'Token not active',
    when: 'The authorization server reports the token as inactive: unknown, expired or revoked.',
    remedy: 'Get a new token.',
  },
} as const
