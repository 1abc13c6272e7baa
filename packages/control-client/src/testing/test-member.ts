import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { BundleFolder } from '../client/bundle-folder.js'
import type { ConnectionStatus } from '../client/control-connection.js'
import type { GatewayState, ManagedGateway, Outcome, PlacedBundle, Vote } from '../client/managed-gateway.js'
import { Member, type MemberOptions } from '../client/member.js'

/** Options of a test member. Absent ones have values for tests. */
export interface TestMemberOptions extends Partial<Omit<MemberOptions, 'gateway' | 'onEvent'>> {
  readonly token?: string
  /** Called with each state of the connection. */
  readonly onConnection?: (status: ConnectionStatus) => void
}

/** The real client of the protocol, with a gateway that has no workers. */
export class TestMember implements ManagedGateway {
  readonly folder: BundleFolder
  readonly member: Member
  /** Orders so far, such as `prepare 1`. */
  readonly journal: string[] = []
  /** Reasons for which connections ended so far. */
  readonly problems: string[] = []
  /** Reason for refusing bundles, or null. */
  refusal: string | null = null
  /** True if preparations do not end before they are discarded. */
  isHanging = false
  drift: string | undefined
  #held: PlacedBundle | null = null
  #endHanging: () => void = () => {}

  constructor(t: Pick<TestContext, 'after'>, urls: readonly string[], options: TestMemberOptions = {}) {
    const dir = mkdtempSync(join(tmpdir(), 'member-'))
    const { token = 'secret', onConnection = () => {}, ...more } = options
    this.folder = options.folder ?? new BundleFolder(join(dir, 'control'))
    this.member = new Member({
      urls,
      credentials: () => ({ token, ca: null, client: null, fingerprints: [] }),
      times: { retryMs: 20, maxRetryMs: 100 },
      ...{ group: 'edge', name: 'gateway', version: '1.0', adminUrl: () => null },
      ...more,
      ...{ folder: this.folder, gateway: this },
      onEvent: (event) => {
        if (event.kind !== 'connection') return
        if (event.problem !== null) this.problems.push(event.problem)
        onConnection(event)
      },
    })
    this.member.open()
    t.after(() => {
      this.member.close()
      rmSync(dir, { recursive: true, force: true })
    })
  }

  get id(): string {
    return this.folder.member
  }

  /** Digest of the active bundle, or null. */
  get digest(): string | null {
    return this.folder.active?.digest ?? null
  }

  get isConnected(): boolean {
    return this.member.status.isConnected
  }

  async prepare(bundle: PlacedBundle): Promise<Vote> {
    this.journal.push(`prepare ${bundle.deploy}`)
    if (this.isHanging) {
      await new Promise<void>((resolve) => (this.#endHanging = resolve))
      return { vote: 'refused', reasons: ['discarded'] }
    }
    if (this.refusal !== null) return { vote: 'refused', reasons: [this.refusal] }
    this.#held = bundle
    return { vote: 'prepared', reasons: [] }
  }

  async activate(deploy: number): Promise<Outcome> {
    this.journal.push(`activate ${deploy}`)
    if (this.#held?.deploy !== deploy) return { outcome: 'expired', reasons: [] }
    return this.serve(this.#held)
  }

  async discard(deploy: number): Promise<void> {
    this.journal.push(`discard ${deploy}`)
    this.#endHanging()
    if (this.#held?.deploy === deploy) this.#held = null
  }

  async serve(bundle: PlacedBundle): Promise<Outcome> {
    this.journal.push(`serve ${bundle.deploy}`)
    if (this.refusal !== null) return { outcome: 'refused', reasons: [this.refusal] }
    bundle.commit()
    this.drift = undefined
    return { outcome: 'active', reasons: [] }
  }

  async state(): Promise<GatewayState> {
    const { drift } = this
    const state = { isReady: true, reason: null, workers: 1, figures: null }
    return drift === undefined ? state : { ...state, drift }
  }
}
