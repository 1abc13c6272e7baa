import type { Session } from '../../identity/session/session.js'
import type { IssuedTokens } from './provider.js'

/** Tokens that a session has to keep. */
export interface TokenUse {
  readonly keepsIdToken: boolean
  readonly keepsAccessToken: boolean
  readonly refreshBeforeMs: number
}

/** Returns the token fields of a session. @param before the session that was refreshed, or null. */
export function tokensOf(
  issued: IssuedTokens,
  { keepsIdToken, keepsAccessToken, refreshBeforeMs }: TokenUse,
  before: Session | null,
): Pick<
  Session,
  'scopes' | 'idToken' | 'accessToken' | 'refreshToken' | 'accessUntil' | 'refreshAt' | 'until'
> {
  const { idToken, accessToken, lifeMs } = issued
  const now = Date.now()
  const refreshToken = issued.refreshToken ?? before?.refreshToken ?? null
  const accessUntil = lifeMs === null ? null : now + lifeMs
  return {
    scopes: issued.scopes ?? before?.scopes ?? null,
    idToken: keepsIdToken ? (idToken ?? before?.idToken ?? null) : null,
    accessToken: keepsAccessToken ? accessToken : null,
    // Without a new refresh token, the old one stays valid (RFC 6749, section 6).
    refreshToken,
    accessUntil,
    // An upstream that expects a token never gets an expired one.
    until: keepsAccessToken && refreshToken === null ? accessUntil : null,
    refreshAt: lifeMs === null ? null : now + lifeMs - Math.min(refreshBeforeMs, lifeMs / 3),
  }
}
