import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { bundleOf, packChunks } from '@sluice/control-client'
import { TestMember, type TestMemberOptions } from '@sluice/control-client/testing'
import type { Static } from '@sluice/core'
import type { DiffView, EntryView, GroupView, MemberView, ResultView, TokenView } from '../server/schemas.js'
import { type Controller, type ControllerOptions, startController } from '../start-controller.js'

type Group = Static<typeof GroupView>

/** Fields of the API's responses. Each test reads those of its response; the others are absent. */
export interface Body
  extends Omit<Group, 'members'>,
    Omit<Extract<Static<typeof ResultView>, { readonly result: 'committed' }>, 'result' | 'members'>,
    Static<typeof DiffView> {
  readonly result: Static<typeof ResultView>['result']
  readonly code: string
  readonly detail: string
  readonly diagnostics: readonly { readonly file: string; readonly line: number; readonly message: string }[]
  readonly deploys: readonly NonNullable<Group['head']>[]
  readonly members: readonly (Static<typeof MemberView> & { readonly outcome: string })[]
  readonly groups: readonly Group[]
  readonly tokens: readonly Static<typeof TokenView>[]
  readonly entries: readonly Static<typeof EntryView>[]
  readonly files: readonly { readonly path: string }[]
  readonly missing: readonly string[]
  /** The new token. */
  readonly text: string
}

/** A response with its parsed body. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
  readonly text: string
}

/** Creates a folder that is deleted after the test. */
export function testFolder(t: Pick<TestContext, 'after'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-control-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Resolves when the condition is true. */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 120_000): Promise<void> {
  const endMs = performance.now() + withinMs
  while (!(await condition())) {
    if (performance.now() > endMs) throw new Error(`not within ${withinMs} ms: ${condition.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Document with one route to a path. */
export function documentWith(path: string): string {
  return `version: 1
listeners: [{ address: '127.0.0.1:0' }]
routes:
  - id: one
    match: { path: ${path} }
    respond: { status: 200 }
`
}

/** A controller of this process with an admin token. */
export class TestController {
  readonly url: string
  readonly adminToken: string
  readonly #controller: Controller
  readonly #t: Pick<TestContext, 'after'>
  #closing: Promise<void> | null = null

  private constructor(controller: Controller, adminToken: string, t: Pick<TestContext, 'after'>) {
    this.#controller = controller
    this.url = controller.url
    this.adminToken = adminToken
    this.#t = t
  }

  static async start(
    t: Pick<TestContext, 'after'>,
    options: Partial<ControllerOptions> = {},
  ): Promise<TestController> {
    // Runs before the folder is deleted.
    let test: TestController | null = null
    t.after(() => test?.close())
    const folder = options.store === undefined || options.adminTokenFile === undefined ? testFolder(t) : ''
    const adminTokenFile = options.adminTokenFile ?? join(folder, 'admin-token')
    const quiet = {
      info() {},
      warn() {},
      error: (event: string, fields: object = {}) =>
        void process.stderr.write(`${event} ${JSON.stringify(fields)}\n`),
    }
    const controller = await startController({
      ...{ store: join(folder, 'store'), host: '127.0.0.1', port: 0, adminTokenFile, log: quiet },
      ...options,
    })
    test = new TestController(controller, readFileSync(adminTokenFile, 'utf8').trim(), t)
    return test
  }

  close(): Promise<void> {
    this.#closing ??= this.#controller.close()
    return this.#closing
  }

  async call(
    method: string,
    path: string,
    { body, token = this.adminToken, headers = {} }: CallOptions = {},
  ): Promise<Answer> {
    const isRaw = Buffer.isBuffer(body)
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined
          ? {}
          : { 'content-type': isRaw ? 'application/octet-stream' : 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isRaw ? new Uint8Array(body) : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = /\/(problem\+)?json/.test(response.headers.get('content-type') ?? '')
    const parsed = (isJson ? JSON.parse(text) : {}) as Body
    return { status: response.status, headers: response.headers, body: parsed, text }
  }

  /** Creates a token. */
  async token(
    role: string,
    groups: readonly string[] = ['*'],
    name = `${role}-${Math.random()}`,
  ): Promise<string> {
    const { body } = await this.call('POST', '/v1/tokens', { body: { name, role, groups } })
    return body.text
  }

  /** Uploads the missing chunks of a document and deploys it. */
  async deploy(
    group: string,
    document: string,
    { options = {}, ...call }: DeployOptions = {},
  ): Promise<Answer> {
    const { manifest, chunks } = bundleOf(
      new Map([['gateway.yaml', Buffer.from(document)], ...(call.files ?? [])]),
    )
    const { body } = await this.call('POST', '/v1/chunks/missing', {
      ...call,
      body: { chunks: [...chunks.keys()] },
    })
    const missing = (body.missing ?? []).map((digest) => chunks.get(digest)!)
    if (missing.length > 0) await this.call('POST', '/v1/chunks', { ...call, body: packChunks(missing) })
    return this.call('POST', `/v1/groups/${group}/deploys`, { ...call, body: { manifest, ...options } })
  }

  /** Connects a member. */
  async member(options: TestMemberOptions = {}): Promise<TestMember> {
    const token = options.token ?? (await this.token('member'))
    const member = new TestMember(this.#t, [this.url], { ...options, token })
    await until(() => member.isConnected)
    return member
  }

  /** Returns the reason why a member is not admitted. */
  async refusal(options: TestMemberOptions): Promise<string> {
    const { member, problems } = new TestMember(this.#t, [this.url], options)
    await until(() => problems.length > 0)
    member.close()
    return problems[0]!
  }
}

/** Options of a request. */
interface CallOptions {
  readonly body?: unknown
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

interface DeployOptions extends Omit<CallOptions, 'body'> {
  readonly options?: Readonly<Record<string, unknown>>
  readonly files?: readonly (readonly [string, Buffer])[]
}
