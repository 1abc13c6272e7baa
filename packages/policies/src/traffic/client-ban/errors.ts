/** Error codes of `client-ban`. */
export const CLIENT_BAN_ERRORS = {
  GW_CLIENT_BANNED: {
    status: 429,
    title: 'Temporarily banned',
    when: '`client-ban` has seen too many failed requests from the caller. `Retry-After` says when the ban ends. The policy may choose status 403 instead.',
    remedy: 'Wait for the time in `Retry-After`, or run `gw bans lift POLICY CALLER`.',
  },
} as const
