import { isPlainPath, type Reply } from '@sluice/core'
import { redirect } from '../../identity/session/redirect.js'
import type { OpenSession } from '../../identity/session/session.js'
import type { Site } from '../../identity/session/site.js'
import type { Provider } from './provider.js'
import { DEFAULT_RETURN, type OidcConfig } from './schema.js'

/** Collaborators of `Logout`. */
export interface LogoutParts {
  readonly site: Site
  readonly provider: Provider
}

/** Ends sessions at the gateway and at the provider (OpenID Connect RP-Initiated Logout 1.0). */
export class Logout {
  readonly path: string
  readonly #config: OidcConfig
  readonly #returnTo: string
  readonly #atProvider: boolean
  readonly #parts: LogoutParts

  /** @throws Error for the path of the callback. */
  constructor(config: OidcConfig, logout: NonNullable<OidcConfig['logout']>, parts: LogoutParts) {
    const { path, returnTo = DEFAULT_RETURN, provider = true } = logout
    if (!isPlainPath(path)) throw new Error(`'logout.path' must be a path without escapes: ${path}`)
    if (path === parts.site.callbackPath)
      throw new Error("'logout.path' must differ from the path of 'redirectUri'")
    this.path = path
    this.#config = config
    this.#returnTo = `${parts.site.origin}${returnTo}`
    this.#atProvider = provider
    this.#parts = parts
  }

  /** Logs out. @param ended Set-Cookie lines that remove the session. */
  readonly leave = async (open: OpenSession | null, ended: readonly string[]): Promise<Reply> => {
    const idToken = open?.session.idToken ?? null
    const endpoint = this.#atProvider && idToken !== null ? await this.#endpoint() : null
    if (endpoint === null) return redirect(this.#returnTo, ended)
    const url = new URL(endpoint)
    url.searchParams.set('id_token_hint', idToken!)
    url.searchParams.set('client_id', this.#config.clientId)
    url.searchParams.set('post_logout_redirect_uri', this.#returnTo)
    return redirect(url.href, ended)
  }

  /**
   * Returns the end-session endpoint, or null. Logging out at the gateway works even if the provider is down.
   */
  async #endpoint(): Promise<string | null> {
    const metadata = await this.#parts.provider.metadata().catch(() => null)
    return metadata?.endSessionEndpoint ?? null
  }
}
