import {
  type Bundle,
  bundleOf,
  type ControllerMessage,
  type MemberMessage,
  type MemberTotals,
  manifestDigest,
} from '@sluice/control-client'
import { CONTROLLER } from '../../state/control-log.js'
import { type Deploy, groupOf } from '../../state/control-state.js'
import type { CanarySettings } from '../../store/canary.js'
import type { MemberConnection } from '../connected-members.js'
import { ControllerCore } from '../controller-core.js'
import type { StartResult } from '../coordinator.js'
import { MemoryStore, SharedContents } from './memory-store.js'

/** Behaviour of a fake member when it is told to prepare or serve. */
export type Behaviour = 'prepare' | 'refuse' | 'hang'

/** A member without a network. Activating a bundle only changes its digest. */
export class FakeMember {
  readonly id: string
  behaviour: Behaviour = 'prepare'
  digest: string | null = null
  deploy = 0
  /** Difference of its clock in milliseconds. */
  clockMs = 0
  isReady = true
  drift: string | undefined
  /** Null: the gateway has an older version. */
  totals: MemberTotals | null = { responses: 0, errors: 0, bounds: [0.01, 0.1], buckets: [0, 0, 0] }
  readonly received: string[] = []
  /** Digests in the order of their activation, with the deploy. */
  readonly activated: (readonly [number, string])[] = []
  connectedTo: FakeController | null = null
  #connection: MemberConnection | null = null
  #held: { readonly deploy: number; readonly digest: string } | null = null

  constructor(id: string) {
    this.id = id
  }

  connect(controller: FakeController): void {
    this.cut()
    const hello = { type: 'hello', protocol: 1, member: this.id, name: this.id, group: 'edge' } as const
    const link = {
      send: (message: ControllerMessage) => {
        // Messages arrive later, as over a network.
        queueMicrotask(() => {
          if (this.connectedTo === controller) this.#receive(message)
        })
      },
      sendChunk: async () => {},
      close: () => this.cut(),
    }
    this.connectedTo = controller
    this.#connection = controller.core.members.connect(
      { ...hello, version: '1', adminUrl: null, ...this.#state(controller.nowMs()) },
      link,
      'token',
    )
  }

  /** Reports responses that took less than 10 ms, errors, and slow responses of less than 100 ms. */
  respond({ fast = 0, slow = 0, errors = 0 } = {}): void {
    if (this.totals !== null) {
      const { responses, errors: before, bounds, buckets } = this.totals
      const [low = 0, high = 0, ...more] = buckets
      const grown = [low + fast + errors, high + slow, ...more]
      const all = { responses: responses + fast + slow + errors, errors: before + errors }
      this.totals = { ...all, bounds, buckets: grown }
    }
    this.#answer({ type: 'status', ...this.#state(this.connectedTo?.nowMs() ?? 0) })
  }

  cut(): void {
    const connection = this.#connection
    this.connectedTo = null
    this.#connection = null
    connection?.closed(false)
  }

  /** The controller of the member has died: it notices nothing. */
  lose(): void {
    this.connectedTo = null
    this.#connection = null
  }

  #receive(message: ControllerMessage): void {
    if (message.type === 'welcome' || message.type === 'missing') return
    this.received.push(`${message.type} ${message.deploy}`)
    const { deploy } = message
    if (message.type === 'prepare') {
      if (this.behaviour === 'hang') return
      const digest = manifestDigest(message.manifest)
      if (this.behaviour === 'prepare') this.#held = { deploy, digest }
      const prepared = digest === this.digest ? 'unchanged' : 'prepared'
      this.#answer({
        type: 'vote',
        deploy,
        vote: this.behaviour === 'prepare' ? prepared : 'refused',
        reasons: ['no'],
      })
    } else if (message.type === 'serve') {
      if (this.behaviour === 'hang') return
      if (this.behaviour === 'refuse' || deploy < this.deploy)
        this.#answer({ type: 'outcome', deploy, outcome: 'refused', reasons: ['no'] })
      else this.#activate(deploy, manifestDigest(message.manifest))
    } else if (message.type === 'activate' && this.#held?.deploy === deploy)
      this.#activate(deploy, this.#held.digest)
    else if (message.type === 'activate')
      this.#answer({ type: 'outcome', deploy, outcome: 'expired', reasons: [] })
    else this.#held = null
  }

  #activate(deploy: number, digest: string): void {
    this.#held = null
    this.digest = digest
    this.deploy = deploy
    this.activated.push([deploy, digest])
    this.#answer({ type: 'outcome', deploy, outcome: 'active', reasons: [] })
    this.respond()
  }

  #answer(message: MemberMessage): void {
    const connection = this.#connection
    queueMicrotask(() => connection?.receive(message))
  }

  #state(nowMs: number) {
    const at = new Date(nowMs + this.clockMs).toISOString()
    return {
      ...{ digest: this.digest, deploy: this.deploy, isReady: this.isReady, reason: null, workers: 1 },
      ...(this.drift === undefined ? {} : { drift: this.drift }),
      ...(this.totals === null ? {} : { totals: this.totals }),
      ...{ at, figures: null },
    }
  }
}

/** A controller of a fake cluster. */
export interface FakeController {
  readonly core: ControllerCore
  readonly store: MemoryStore
  nowMs(): number
}

/** Controllers and members with one store and a fake clock. */
export class FakeCluster {
  readonly contents = new SharedContents()
  readonly members: readonly FakeMember[]
  readonly controllers: FakeController[] = []
  readonly events: string[] = []
  #bundles = 0

  constructor(members: number) {
    this.members = Array.from({ length: members }, (_, i) => new FakeMember(`m${i}`))
  }

  /** Starts a controller. @param skewMs difference of its clock */
  async controller(skewMs = 0): Promise<FakeController> {
    const store = new MemoryStore(this.contents)
    const clock = { steadyMs: () => this.contents.nowMs, wallMs: () => this.contents.nowMs + skewMs }
    const onEvent = (_level: string, event: string): void => void this.events.push(event)
    const core = new ControllerCore({ store, clock, keepDeploys: 100, onEvent })
    const controller = { core, store, nowMs: clock.wallMs }
    await core.start()
    this.controllers.push(controller)
    return controller
  }

  /** Kills a controller. Its members lose their connections. */
  kill(controller: FakeController): void {
    controller.store.kill()
    this.controllers.splice(this.controllers.indexOf(controller), 1)
    for (const member of this.members) if (member.connectedTo === controller) member.lose()
  }

  /** Starts the deploy of a new document. */
  async deploy(
    { core, store }: FakeController,
    {
      quorumPercent = 50,
      deadlineMs = 30_000,
      text = `document ${++this.#bundles}`,
      canary = null as CanarySettings | null,
    } = {},
  ): Promise<StartResult & { readonly bundle: Bundle }> {
    const bundle = bundleOf(new Map([['gateway.yaml', Buffer.from(text)]]))
    await store.putManifest(bundle.digest, bundle.manifest)
    const request = {
      group: 'edge',
      digest: bundle.digest,
      note: '',
      rollbackTo: null,
      ifMatch: null,
      canary,
    }
    return {
      ...(await core.coordinator.start({ ...request, quorumPercent, deadlineMs }, CONTROLLER)),
      bundle,
    }
  }

  /** Lets messages and store calls happen. */
  async settle(): Promise<void> {
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
  }

  /** Lets time pass in steps. */
  async pass(ms: number, stepMs = 500): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      this.contents.nowMs += stepMs
      for (const { core } of this.controllers) core.tick()
      await this.settle()
    }
  }

  /** The deploys of the group according to a new reader of the log. */
  async deploys(): Promise<readonly Deploy[]> {
    const { core } = await this.controller()
    const { deploys } = groupOf(core.log.state, 'edge')
    return deploys
  }
}
