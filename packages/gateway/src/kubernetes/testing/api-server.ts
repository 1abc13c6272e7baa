import type { IncomingMessage, ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { FAKE_CERTIFICATES } from '../../admin/testing/test-certificate.js'
import type { ClusterAccess } from '../cluster-access.js'

/** A pod of a slice. */
export interface FakePod {
  readonly address: string
  readonly ready?: boolean
  readonly serving?: boolean
  readonly terminating?: boolean
}

/** Handles a request in place of the server. Returns false to let the server handle it as usual. */
export type Misbehave = (req: IncomingMessage, res: ServerResponse, isWatch: boolean) => boolean

/** A fake API server that lists and watches EndpointSlices, and misbehaves on demand. */
export class ApiServer {
  /** All requests: `list` or `watch`, the requested version and the token. */
  readonly asked: { readonly kind: 'list' | 'watch'; readonly version: string; readonly token: string }[] = []
  readonly port: number
  misbehave: Misbehave = () => false
  #version = 100
  readonly #slices = new Map<string, object>()
  readonly #watches = new Set<ServerResponse>()

  private constructor(port: number) {
    this.port = port
  }

  static async start(t: TestContext): Promise<ApiServer> {
    const { cert, key } = FAKE_CERTIFICATES.localhost
    const server = https.createServer({ cert, key }, (req, res) => api.#answer(req, res))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const api = new ApiServer((server.address() as AddressInfo).port)
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
    return api
  }

  get access(): ClusterAccess {
    return {
      server: new URL(`https://127.0.0.1:${this.port}`),
      ca: FAKE_CERTIFICATES.localhost.cert,
      isInsecure: false,
      namespace: 'default',
      credentials: async () => ({ token: 'secret' }),
    }
  }

  get openWatches(): number {
    return this.#watches.size
  }

  count(kind: 'list' | 'watch'): number {
    return this.asked.filter((one) => one.kind === kind).length
  }

  /**
   * Sets the pods of a slice.
   * @param isTold true to send an event to watchers.
   */
  set(name: string, pods: readonly FakePod[], { isTold = true } = {}): void {
    const type = this.#slices.has(name) ? 'MODIFIED' : 'ADDED'
    const slice = sliceOf(name, pods, String(++this.#version))
    this.#slices.set(name, slice)
    if (isTold) this.tell({ type, object: slice })
  }

  remove(name: string): void {
    const object = { ...this.#slices.get(name), metadata: { name, resourceVersion: String(++this.#version) } }
    this.#slices.delete(name)
    this.tell({ type: 'DELETED', object: { ...object, addressType: 'IPv4' } })
  }

  bookmark(): string {
    this.#version += 50
    const resourceVersion = String(this.#version)
    this.tell({ type: 'BOOKMARK', object: { metadata: { resourceVersion } } })
    return resourceVersion
  }

  /** Sends an event or a raw text to all watchers. */
  tell(event: object | string): void {
    const line = typeof event === 'string' ? event : `${JSON.stringify(event)}\n`
    for (const res of this.#watches) res.write(line)
  }

  /** Ends all watches, properly or by a reset. */
  cut(how: 'end' | 'reset'): void {
    for (const res of this.#watches) how === 'end' ? res.end() : res.destroy()
  }

  #answer(req: IncomingMessage, res: ServerResponse): void {
    const { searchParams } = new URL(req.url ?? '', 'https://api')
    const isWatch = searchParams.get('watch') === '1'
    const version = searchParams.get('resourceVersion') ?? ''
    this.asked.push({ kind: isWatch ? 'watch' : 'list', version, token: req.headers.authorization ?? '' })
    if (this.misbehave(req, res, isWatch)) return
    if (!isWatch) {
      const items = [...this.#slices.values()]
      res.end(JSON.stringify({ kind: 'List', metadata: { resourceVersion: String(this.#version) }, items }))
      return
    }
    res.flushHeaders()
    this.#watches.add(res)
    res.on('close', () => this.#watches.delete(res))
  }
}

function sliceOf(name: string, pods: readonly FakePod[], resourceVersion: string): object {
  return {
    metadata: { name, resourceVersion },
    addressType: 'IPv4',
    ports: [
      { name: 'http', port: 8080, protocol: 'TCP' },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ],
    endpoints: pods.map(({ address, ready = true, serving = ready, terminating = false }) => ({
      addresses: [address],
      conditions: { ready, serving, terminating },
      zone: 'a',
      hints: { forZones: [{ name: 'b' }] },
    })),
  }
}
