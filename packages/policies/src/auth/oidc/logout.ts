import { isPlainPath, type Reply } from '@sluice/core'
import { redirect } from '../../identity/session/redirect.js'
import type { OpenSession } from '../../identity/session/session.js'
import type { Site } from '../../identity/session/site.js'
import type { Provider } from './provider.js'
import type { OidcConfig } from './schema.js'

/** Logout at the gateway and at the provider (OpenID Connect RP-Initiated Logout 1.0). */
export interface Logout {
  readonly path: string
  /** Returns the response. @param ended Set-Cookie lines that remove the session. */
  leave(open: OpenSession | null, ended: readonly string[]): Promise<Reply>
}

/** Compiles the logout, or returns null if it is not configured. @throws Error for an unusable path. */
export function compileLogout(
  { logout, clientId }: OidcConfig,
  { origin, callbackPath }: Site,
  provider: Provider,
): Logout | null {
  if (logout === undefined) return null
  const { path } = logout
  if (!isPlainPath(path)) throw new Error(`'logout.path' must be a path without escapes: ${path}`)
  if (path === callbackPath) throw new Error("'logout.path' must differ from the path of 'redirectUri'")
  const returnTo = `${origin}${logout.returnTo}`
  return {
    path,
    async leave(open, ended) {
      const idToken = open?.session.idToken ?? null
      if (!logout.provider || idToken === null) return redirect(returnTo, ended)
      // Logging out at the gateway works even if the provider is down.
      const metadata = await provider.metadata().catch(() => null)
      const endpoint = metadata?.endSessionEndpoint ?? null
      if (endpoint === null) return redirect(returnTo, ended)
      const url = new URL(endpoint)
      url.searchParams.set('id_token_hint', idToken)
      url.searchParams.set('client_id', clientId)
      url.searchParams.set('post_logout_redirect_uri', returnTo)
      return redirect(url.href, ended)
    },
  }
}
