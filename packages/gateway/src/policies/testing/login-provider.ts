import type http from 'node:http'
import type { TestContext } from 'node:test'
import { Provider } from 'oidc-provider'
import { closedPort, httpOrigin } from '../../testing/origin.js'

export const CLIENT = { clientId: 'gw', clientSecret: 'a-secret-of-the-gateway-that-is-long' }

/** Handles a request to the provider. Returns true if it has responded itself. */
export type Intervention = (req: http.IncomingMessage, res: http.ServerResponse) => boolean

export interface LoginProvider {
  readonly issuer: string
  /** Port on which the gateway must listen. */
  readonly port: number
  readonly site: string
  readonly redirectUri: string
  /** Requested paths. */
  readonly asked: string[]
  /** Forms that were sent to the back channel. */
  readonly logouts: string[]
  intervene: Intervention
}

/**
 * Starts oidc-provider with its development pages and one client, whose callback is `/callback` of a gateway that
 * starts later.
 */
export async function startLoginProvider(
  t: TestContext,
  options: { readonly accessSeconds?: number; readonly backchannel?: string } = {},
): Promise<LoginProvider> {
  let serve: http.RequestListener = () => {}
  const port = await closedPort()
  const site = `http://127.0.0.1:${port}`
  const asked: string[] = []
  const origin = await httpOrigin(t, (req, res) => {
    asked.push(`${req.method} ${new URL(req.url!, 'http://x').pathname}`)
    if (!provider.intervene(req, res)) serve(req, res)
  })
  const redirectUri = `${site}/callback`
  const provider: LoginProvider = {
    ...{ issuer: origin.url, port, site, redirectUri, asked, logouts: [] },
    intervene: () => false,
  }
  const client = {
    ...{ client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret, redirect_uris: [redirectUri] },
    ...{ grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
    post_logout_redirect_uris: [`${site}/bye`],
    ...(options.backchannel !== undefined && {
      backchannel_logout_uri: `${site}${options.backchannel}`,
      backchannel_logout_session_required: true,
    }),
  }
  const enabled = { enabled: true }
  const server = new Provider(origin.url, {
    clients: [client],
    features: { devInteractions: enabled, rpInitiatedLogout: enabled, backchannelLogout: enabled },
    claims: { openid: ['sub'], email: ['email'], groups: ['groups'] },
    scopes: ['openid', 'offline_access', 'email', 'groups'],
    conformIdTokenClaims: false,
    rotateRefreshToken: true,
    ttl: { AccessToken: options.accessSeconds ?? 3600 },
    cookies: { keys: ['a'] },
    // Its own dispatcher refuses local addresses.
    fetch: (url: string | URL, { method, headers, body }: Required<RequestInit>) => {
      provider.logouts.push(String(body))
      return fetch(url, { method, headers, body })
    },
    findAccount: (_: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, email: `${sub}@example.com`, groups: ['staff', 'readers'] }),
    }),
  })
  serve = server.callback()
  return provider
}
