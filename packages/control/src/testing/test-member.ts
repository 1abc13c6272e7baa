import { randomUUID } from 'node:crypto'
import {
  type ControllerMessage,
  chunkDigest,
  type Manifest,
  MEMBERS_PATH,
  type MemberMessage,
  manifestDigest,
  PROTOCOL_VERSION,
  parseControllerMessage,
} from '@sluice/control-client'
import { WebSocket } from 'ws'

/** Options of a test member. */
export interface TestMemberOptions {
  readonly url: string
  readonly token: string
  readonly group?: string
  readonly name?: string
  readonly member?: string
  readonly tls?: { readonly cert: string; readonly key: string }
}

/** Behaviour of a test member on `prepare`. */
export type Behaviour = 'prepare' | 'refuse' | 'hang'

/** A protocol client over a real WebSocket that serves nothing. Its digest stands for what it would serve. */
export class TestMember {
  readonly id: string
  readonly received: ControllerMessage[] = []
  readonly chunks = new Map<string, Buffer>()
  behaviour: Behaviour = 'prepare'
  digest: string | null = null
  deploy = 0
  /** Difference of its clock in milliseconds. */
  clockMs = 0
  drift: string | undefined
  closeReason: string | null = null
  readonly #options: TestMemberOptions
  #socket: WebSocket | null = null
  #held: { readonly deploy: number; readonly manifest: Manifest; readonly isServed: boolean } | null = null
  #isHeldComplete = false

  constructor(options: TestMemberOptions) {
    this.#options = options
    this.id = options.member ?? randomUUID()
  }

  /** Resolves when the controller has welcomed the member. @throws Error if it refuses the connection */
  connect(): Promise<void> {
    const { url, token, tls } = this.#options
    const headers = token === '' ? {} : { authorization: `Bearer ${token}` }
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${MEMBERS_PATH}`, {
      ...{ headers, perMessageDeflate: false, rejectUnauthorized: false },
      ...tls,
    })
    this.#socket = socket
    return new Promise((resolve, reject) => {
      socket.on('error', reject)
      socket.on('open', () => this.#send({ type: 'hello', ...this.#hello(), ...this.#state() }))
      socket.on('close', (_code, reason) => {
        this.closeReason = reason.toString()
        reject(new Error(`closed: ${reason.toString()}`))
      })
      socket.on('message', (content: Buffer, isBinary: boolean) => {
        if (isBinary) this.#takeChunk(content)
        else {
          const message = parseControllerMessage(content.toString())!
          this.received.push(message)
          if (message.type === 'welcome') resolve()
          else this.#receive(message)
        }
      })
    })
  }

  /** Cuts the connection. */
  cut(): void {
    this.#socket?.terminate()
  }

  /** Sends a text as it is. */
  sendText(text: string): void {
    this.#socket?.send(text)
  }

  report(): void {
    this.#send({ type: 'status', ...this.#state() })
  }

  #receive(message: ControllerMessage): void {
    if (message.type === 'prepare' || message.type === 'serve') {
      if (this.behaviour === 'hang') return
      const isServed = message.type === 'serve'
      if (this.behaviour === 'refuse') {
        this.#answer(message.deploy, isServed, 'refused')
        return
      }
      this.#held = { deploy: message.deploy, manifest: message.manifest, isServed }
      this.#isHeldComplete = false
      const missing = this.#missing()
      if (missing.length === 0) this.#prepared()
      else this.#send({ type: 'want', deploy: message.deploy, chunks: missing })
    } else if (message.type === 'activate') {
      if (this.#held?.deploy === message.deploy && this.#isHeldComplete) this.#activate(message.deploy)
      else this.#send({ type: 'outcome', deploy: message.deploy, outcome: 'expired', reasons: [] })
    } else if (message.type === 'discard') {
      this.#held = null
      this.#send({ type: 'outcome', deploy: message.deploy, outcome: 'discarded', reasons: [] })
    }
  }

  #takeChunk(content: Buffer): void {
    this.chunks.set(chunkDigest(content), content)
    if (this.#held !== null && !this.#isHeldComplete && this.#missing().length === 0) this.#prepared()
  }

  #prepared(): void {
    this.#isHeldComplete = true
    const { deploy, manifest, isServed } = this.#held!
    if (isServed) this.#activate(deploy)
    else this.#answer(deploy, false, manifestDigest(manifest) === this.digest ? 'unchanged' : 'prepared')
  }

  #activate(deploy: number): void {
    this.deploy = deploy
    this.digest = manifestDigest(this.#held!.manifest)
    this.drift = undefined
    this.#held = null
    this.#send({ type: 'outcome', deploy, outcome: 'active', reasons: [] })
    this.report()
  }

  #answer(deploy: number, isServed: boolean, vote: 'prepared' | 'unchanged' | 'refused'): void {
    const reasons = vote === 'refused' ? ['it does not want to'] : []
    if (isServed) this.#send({ type: 'outcome', deploy, outcome: 'refused', reasons })
    else this.#send({ type: 'vote', deploy, vote, reasons })
  }

  #missing(): string[] {
    const all = this.#held!.manifest.files.flatMap(({ chunks }) => chunks)
    return [...new Set(all)].filter((digest) => !this.chunks.has(digest))
  }

  #hello() {
    const { name = 'gateway', group = 'edge' } = this.#options
    return { protocol: PROTOCOL_VERSION, member: this.id, name, group, version: '0.1.0', adminUrl: null }
  }

  #state() {
    const at = new Date(Date.now() + this.clockMs).toISOString()
    const { digest, deploy, drift } = this
    const state = { digest, deploy, isReady: true, reason: null, workers: 1, at, figures: null }
    return drift === undefined ? state : { ...state, drift }
  }

  #send(message: MemberMessage): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message))
  }
}
