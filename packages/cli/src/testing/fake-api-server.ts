import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { ClusterAccess } from '@sluice/gateway/kubernetes'
import { FAKE_CERTIFICATES } from '@sluice/gateway/testing/test-certificate'

/** Responds instead of the server, or returns false for the normal response. */
type FaultHandler = (req: IncomingMessage, res: ServerResponse) => boolean

interface StoredObject {
  readonly metadata: Readonly<Record<string, unknown>>
  readonly [member: string]: unknown
}

/** API server that stores objects by path and can simulate faults. */
export class FakeApiServer {
  /** Objects by path. */
  readonly objects = new Map<string, StoredObject>()
  /** Methods and paths of write requests. */
  readonly changes: string[] = []
  /** Applied objects with their field managers, including dry runs. */
  readonly applied: {
    readonly manager: string | null
    readonly isTrial: boolean
    readonly object: StoredObject
  }[] = []
  readonly server = https.createServer(FAKE_CERTIFICATES.localhost, (req, res) => void this.#answer(req, res))
  misbehave: FaultHandler = () => false

  static async start(t: TestContext): Promise<FakeApiServer> {
    const api = new FakeApiServer()
    await new Promise<void>((resolve) => api.server.listen(0, '127.0.0.1', resolve))
    t.after(() => {
      api.server.closeAllConnections()
      api.server.close()
    })
    return api
  }

  get url(): string {
    return `https://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  get access(): ClusterAccess {
    return {
      server: new URL(this.url),
      ca: FAKE_CERTIFICATES.localhost.cert,
      isInsecure: false,
      namespace: 'edge',
      credentials: async () => ({ token: 'secret-token' }),
    }
  }

  /** Kubeconfig for this server. */
  get kubeconfig(): string {
    const ca = Buffer.from(FAKE_CERTIFICATES.localhost.cert).toString('base64')
    return JSON.stringify({
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u', namespace: 'edge' } }],
      clusters: [{ name: 'c', cluster: { server: this.url, 'certificate-authority-data': ca } }],
      users: [{ name: 'u', user: { token: 'secret-token' } }],
    })
  }

  /** Stores an object of another tool. @param folder for example `/api/v1/namespaces/edge/configmaps` */
  addForeign(folder: string, object: StoredObject): void {
    this.objects.set(`${folder}/${object.metadata['name']}`, {
      ...object,
      metadata: { namespace: 'edge', uid: randomUUID(), resourceVersion: '1', ...object.metadata },
    })
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const text: Buffer[] = []
    for await (const piece of req) text.push(piece as Buffer)
    if (this.misbehave(req, res)) return
    const { pathname, searchParams } = new URL(req.url ?? '', 'https://api')
    const found = this.objects.get(pathname)
    if (req.method === 'PATCH') {
      const object = JSON.parse(Buffer.concat(text).toString()) as StoredObject
      const metadata = { uid: randomUUID(), resourceVersion: '1', ...found?.metadata, ...object.metadata }
      const next = { ...found, ...object, metadata }
      const isTrial = searchParams.has('dryRun')
      this.applied.push({ manager: searchParams.get('fieldManager'), isTrial, object })
      if (!isTrial) {
        this.changes.push(`PATCH ${pathname}`)
        this.objects.set(pathname, next)
      }
      res.end(JSON.stringify(next))
    } else if (req.method === 'DELETE') {
      this.changes.push(`DELETE ${pathname}`)
      this.objects.delete(pathname)
      res.end('{}')
    } else if (found !== undefined) res.end(JSON.stringify(found))
    else if (/\/[a-z]+s$/.test(pathname) && !/\/(sluice)/.test(pathname))
      res.end(this.#list(pathname, searchParams))
    else res.writeHead(404).end('{"kind":"Status","message":"not found"}')
  }

  #list(folder: string, query: URLSearchParams): string {
    const wanted = (query.get('labelSelector') ?? '').split(',').map((text) => text.split('='))
    const items = [...this.objects]
      .filter(([path]) => path.startsWith(`${folder}/`))
      .map(([, object]) => object)
      .filter(({ metadata }) => {
        const labels = (metadata['labels'] ?? {}) as Readonly<Record<string, string>>
        return wanted.every(([name = '', value]) => labels[name] === value)
      })
    return JSON.stringify({ items })
  }
}
