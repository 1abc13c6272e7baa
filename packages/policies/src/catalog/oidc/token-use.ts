import type { IssuedTokens } from './provider.js'
import type { Session } from './session.js'

/** Which tokens somebody needs, so that a session has to keep them. */
export interface TokenUse {
  readonly keepsIdToken: boolean
  readonly keepsAccessToken: boolean
  readonly refreshBeforeMs: number
}

/** What a session keeps of tokens. @param before the session that they were refreshed for. */
export function tokensOf(
  issued: IssuedTokens,
  { keepsIdToken, keepsAccessToken, refreshBeforeMs }: TokenUse,
  before: Session | null,
): Pick<Session, 'scopes' | 'idToken' | 'accessToken' | 'refreshToken' | 'accessUntil' | 'refreshAt'> {
  const { idToken, accessToken, lifeMs } = issued
  const now = Date.now()
  return {
    scopes: issued.scopes ?? before?.scopes ?? null,
    idToken: keepsIdToken ? (idToken ?? before?.idToken ?? null) : null,
    accessToken: keepsAccessToken ? accessToken : null,
    // RFC 6749, section 6: where there is no new one the old one goes on.
    refreshToken: issued.refreshToken ?? before?.refreshToken ?? null,
    accessUntil: lifeMs === null ? null : now + lifeMs,
    refreshAt: lifeMs === null ? null : now + lifeMs - Math.min(refreshBeforeMs, lifeMs / 3),
  }
}
