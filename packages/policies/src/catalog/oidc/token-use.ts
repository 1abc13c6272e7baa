import type { Session } from '../../shared/session/session.js'
import type { IssuedTokens } from './provider.js'

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
    // RFC 6749, section 6: where there is no new one the old one goes on.
    refreshToken,
    accessUntil,
    // An upstream that wants the token gets none that has ended.
    until: keepsAccessToken && refreshToken === null ? accessUntil : null,
    refreshAt: lifeMs === null ? null : now + lifeMs - Math.min(refreshBeforeMs, lifeMs / 3),
  }
}
