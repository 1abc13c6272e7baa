import { join, resolve } from 'node:path'
import type { DocumentSource } from '@sluice/config'
import { isLoopback, readDocumentFile } from '@sluice/config/serving'
import type { BundleFolder, Member, MemberEvent } from '@sluice/control-client'
import { errorFields, type OperationLog } from '../../telemetry/operation-log.js'
import type { Sample } from '../../telemetry/sample.js'
import type { Documents } from '../documents/documents.js'
import type { Deployment } from '../rollout/deployment.js'
import type { ControlStatus, SupervisorStatus } from '../status/status.js'
import { type ControlSettings, credentialsOf, mayHaveControl, memberName } from './control-settings.js'
import { ControlledGateway } from './controlled-gateway.js'

/** Options of `ControllerLink`. */
export interface LinkOptions {
  readonly dataDir: string
  readonly version: string
  /** Settings of the command line, which take precedence over those of the start document, or null. */
  readonly control: ControlSettings | null
  readonly documents: Pick<Documents, 'load' | 'resolve' | 'describe'>
  readonly supervisor: { status(): SupervisorStatus }
  readonly deployment: Pick<Deployment, 'apply' | 'adopt' | 'otherOrigin'>
  /** Returns the merged samples of the workers. */
  readonly samples: () => Promise<readonly Sample[]>
  /** Called after each order that applied a bundle. */
  readonly onApplied: () => void
  readonly log: OperationLog
}

/** A gateway's connection to its controller, and the bundles on its disk. It does nothing without settings. */
export class ControllerLink {
  readonly #options: LinkOptions
  #settings: ControlSettings | null = null
  #folder: BundleFolder | null = null
  #member: Member | null = null
  #isConnecting = false
  #isReported = false
  /** Reason why the active bundle on the disk is not the one that is served, or null. */
  #fallback: string | null = null

  constructor(options: LinkOptions) {
    this.#options = options
  }

  /** Group of this gateway, or null without a controller. */
  get group(): string | null {
    return this.#settings?.group ?? null
  }

  /**
   * Reads the settings again. Returns the bundles on the disk that take the place of the start document, the active
   * one first.
   * @throws Error of the file system
   */
  async configure(startDocument: DocumentSource | null): Promise<readonly DocumentSource[]> {
    const before = this.#settings
    const settings = (await this.#settingsIn(startDocument)) ?? before
    if (settings === null) return []
    const { BundleFolder, Member } = await import('@sluice/control-client')
    this.#folder ??= new BundleFolder(join(resolve(this.#options.dataDir), 'control'))
    if (this.#member === null || JSON.stringify(settings) !== JSON.stringify(before)) {
      this.#member?.close({ isLeaving: true })
      this.#settings = settings
      this.#isReported = false
      this.#member = new Member({
        urls: settings.urls,
        credentials: () => credentialsOf(settings),
        group: settings.group,
        name: memberName(settings),
        version: this.#options.version,
        adminUrl: () => reachableUrl(this.#options.supervisor.status().admin?.url ?? null),
        gateway: new ControlledGateway({ ...this.#options, drift: () => this.#drift() }),
        folder: this.#folder,
        onEvent: (event) => this.#onEvent(event),
      })
      if (this.#isConnecting) this.#member.open()
    }
    return this.#bundles()
  }

  /** Connects to the controller, and again whenever the connection breaks. */
  connect(): void {
    if (this.#isConnecting) return
    this.#isConnecting = true
    this.#member?.open()
  }

  /** Notes that the active bundle on the disk cannot be used. */
  noteFallback(reason: string): void {
    this.#fallback = reason
  }

  get status(): ControlStatus | null {
    if (this.#member === null || this.#settings === null) return null
    const { isConnected, since, url, problem, silenceMs } = this.#member.status
    const { group } = this.#settings
    const active = this.#folder?.active?.group === group ? this.#folder.active : null
    return {
      group,
      name: memberName(this.#settings),
      member: this.#folder!.member,
      url,
      connected: isConnected,
      since,
      problem,
      lastContactMs: silenceMs === null ? null : Math.round(silenceMs),
      deploy: active?.deploy ?? 0,
      digest: active?.digest ?? null,
      drift: this.#drift(),
    }
  }

  /** Closes the connection. `isLeaving`: the gateway has shut down gracefully, and the controller forgets it. */
  close(options?: { readonly isLeaving: boolean }): void {
    this.#member?.close(options)
  }

  async #settingsIn(startDocument: DocumentSource | null): Promise<ControlSettings | null> {
    const { control, documents } = this.#options
    if (control !== null) return control
    if (startDocument === null || !mayHaveControl(startDocument.text)) return null
    const result = await documents.load(startDocument, null)
    return result.ok ? (documents.resolve({ ...result.bundle, routeTexts: [] }).control ?? null) : null
  }

  #bundles(): DocumentSource[] {
    const { group } = this
    const active = this.#folder?.active ?? null
    // A gateway that was moved to another group must not serve the routes of the former one.
    if (active === null || active.group !== group) return []
    return [active.digest, active.previous].flatMap((digest) => {
      if (digest === null) return []
      if (this.#folder!.isWhole(digest)) return [readDocumentFile(this.#folder!.documentPath(digest))]
      this.#options.log.error('control.bundle-damaged', { digest, remedy: 'the controller sends it again' })
      return []
    })
  }

  #drift(): string | null {
    if (this.#folder?.active?.group !== this.group) return null
    return this.#options.deployment.otherOrigin ?? this.#fallback
  }

  #onEvent(event: MemberEvent): void {
    const { log } = this.#options
    if (event.kind === 'failure') log.error('control.failed', errorFields(event.error))
    else if (event.kind === 'order') {
      const { kind, ...fields } = event
      if (event.answer === 'active') this.#fallback = null
      log[event.answer === 'refused' ? 'warn' : 'info'](`control.${event.type}`, fields)
    } else this.#onConnection(event)
  }

  /** Logs when the connection is up or down, but not each attempt. */
  #onConnection({ isConnected, url, problem }: Extract<MemberEvent, { readonly kind: 'connection' }>): void {
    const { log } = this.#options
    if (isConnected) log.info('control.connected', { url, group: this.group })
    else if (!this.#isReported)
      log.warn('control.disconnected', { url, problem, effect: 'the active configuration stays in use' })
    this.#isReported = !isConnected
  }
}

/** Returns the URL of the admin API if other machines can reach it, otherwise null. */
function reachableUrl(url: string | null): string | null {
  return url === null || isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, '')) ? null : url
}
