import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** A request that reached the server. */
export interface VaultHit {
  readonly method: string
  readonly path: string
  readonly token: string
  readonly namespace: string
  readonly body: Readonly<Record<string, string>>
}

/** Answers a request in place of the server. Returns false to let the server answer. */
type Takeover = (req: IncomingMessage, res: ServerResponse) => boolean

/** A server with the HTTP API of Vault: KV secrets, tokens with lifetimes, AppRole and Kubernetes logins. */
export class VaultServer {
  readonly hits: VaultHit[] = []
  /** Secrets by path after `/v1/`, such as `secret/data/app`. */
  readonly secrets = new Map<string, Record<string, unknown>>()
  /** Valid tokens and their lifetimes in seconds; 0: no end. */
  readonly tokens = new Map<string, number>([['root', 0]])
  isSealed = false
  takeOver: Takeover = () => false
  url = ''
  #logins = 0
  readonly #server

  private constructor(tls?: { readonly cert: string; readonly key: string }) {
    const answer = (req: IncomingMessage, res: ServerResponse): void => void this.#answer(req, res)
    this.#server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer)
  }

  static async start(
    t: TestContext,
    tls?: { readonly cert: string; readonly key: string },
  ): Promise<VaultServer> {
    const vault = new VaultServer(tls)
    await vault.listen()
    t.after(() => vault.stop())
    return vault
  }

  /** Listens, on the same port as before if there was one. */
  async listen(): Promise<void> {
    const port = this.url === '' ? 0 : Number(new URL(this.url).port)
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve))
    const scheme = 'setSecureContext' in this.#server ? 'https' : 'http'
    this.url = `${scheme}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => void this.#server.close(() => resolve()))
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const field = (name: string): string => String(req.headers[name] ?? '')
    const text = Buffer.concat(chunks).toString()
    const hit = {
      method: req.method ?? '',
      path: (req.url ?? '').replace('/v1/', ''),
      token: field('x-vault-token'),
      namespace: field('x-vault-namespace'),
      body: text === '' ? {} : (JSON.parse(text) as Record<string, string>),
    }
    this.hits.push(hit)
    if (this.takeOver(req, res)) return
    const [status, body] = this.#result(hit)
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

  #result({ path, token, body }: VaultHit): readonly [number, object] {
    if (this.isSealed) return [503, { errors: ['Vault is sealed'] }]
    if (/^auth\/.+\/login$/.test(path)) return this.#login(body)
    const lifetime = this.tokens.get(token)
    if (lifetime === undefined) return [403, { errors: ['permission denied'] }]
    if (path === 'auth/token/lookup-self') return [200, { data: { ttl: lifetime, renewable: lifetime > 0 } }]
    if (path === 'auth/token/renew-self') return [200, this.#token(token, lifetime)]
    const secret = this.secrets.get(path)
    if (secret === undefined) return [404, { errors: [] }]
    const isSecond = path.split('/').includes('data')
    return [
      200,
      isSecond ? { data: { data: secret }, lease_duration: 0 } : { data: secret, lease_duration: 2764800 },
    ]
  }

  #login(body: Readonly<Record<string, string>>): readonly [number, object] {
    const isValid = body['secret_id'] === 'the-secret-id' || body['jwt'] === 'the-account-token'
    if (!isValid) return [400, { errors: [`invalid role or secret ID ${body['secret_id'] ?? ''}`] }]
    const token = `login-${++this.#logins}`
    this.tokens.set(token, 3600)
    return [200, this.#token(token, 3600)]
  }

  #token(token: string, lifetime: number): object {
    return { auth: { client_token: token, lease_duration: lifetime, renewable: lifetime > 0 } }
  }
}
