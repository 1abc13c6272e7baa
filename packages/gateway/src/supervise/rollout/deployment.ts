import type { ConfigBundle, Diagnostic, DocumentSource } from '@sluice/config'
import { messageOf } from '@sluice/core'
import type { OperationLog } from '../../telemetry/operation-log.js'
import { type Documents, hasReference, isSameBundle } from '../documents/documents.js'
import type { UpgradeResult } from '../parent/parent-link.js'
import type { VaultSecrets } from '../vault/vault-secrets.js'
import type { Accepted, ApplyRequest, ApplyResult, RolloutReport } from './apply-result.js'
import type { Deploy, DeployHistory, Origin } from './deploy-history.js'
import type { LastGoodFile } from './last-good.js'
import type { MayActivate, Objection } from './rollout.js'
import { SerialQueue } from './serial-queue.js'

/** The active bundle and its origin. */
export interface Deployed {
  readonly bundle: ConfigBundle
  readonly source: DocumentSource
  readonly origin: Origin
  readonly warnings: readonly Diagnostic[]
  /** Time, caller and note of the deployment. */
  readonly by: Pick<Deploy, 'at' | 'actor' | 'note'>
}

interface DeploymentDependencies {
  readonly documents: Documents
  readonly secrets: Pick<VaultSecrets, 'serve' | 'warnings' | 'onRotated'>
  /**
   * Rolls a bundle out to all workers. Returns an empty list on success. Otherwise nothing has changed, and
   * the list contains the objections.
   */
  readonly rollOut: (bundle: ConfigBundle, confirm: MayActivate | null) => Promise<readonly Objection[]>
  readonly lastGood: LastGoodFile
  readonly history: DeployHistory
  /** Writes a document to the gateway's file. @throws Error of the file system. */
  readonly save: (text: string) => void
  /** Returns the group if the configuration comes from a controller, otherwise null. */
  readonly group: () => string | null
  readonly log: OperationLog
}

/** Maximum number of documents that wait while one is applied. More are refused as busy. */
const MAX_WAITING = 16

/** Applies documents, whether they come from the file, a signal or the API. */
export class Deployment {
  /** Number of rollouts by result. */
  readonly counts = { applied: 0, unchanged: 0, 'rolled-back': 0, invalid: 0 }
  lastRollout: RolloutReport | null = null
  readonly #dependencies: DeploymentDependencies
  readonly #queue = new SerialQueue(MAX_WAITING)
  #current: Deployed | null = null
  /** API deploy that the file replaced at this start, or null. A later deploy clears it. */
  #replaced: Deploy | null = null
  #isClosed = false

  constructor(dependencies: DeploymentDependencies) {
    this.#dependencies = dependencies
    dependencies.secrets.onRotated = () => this.#reapply()
  }

  get current(): Deployed | null {
    return this.#current
  }

  /** Number of documents being applied or waiting. */
  get queueLength(): number {
    return this.#queue.size
  }

  /** Refuses further documents. */
  close(): void {
    this.#isClosed = true
  }

  /** Applies a document after those queued before it. */
  async apply(source: DocumentSource, request: ApplyRequest): Promise<ApplyResult> {
    const before = this.#current?.bundle.digest ?? null
    const result = (await this.#queue.run(() => this.#apply(source, request))) ?? { result: 'busy' }
    this.#report(source, request, before, result)
    return result
  }

  /**
   * Has the next version take over the active document, after the deploys queued before. If it succeeds, later ones
   * are refused.
   */
  async handOver(request: () => Promise<UpgradeResult>): Promise<UpgradeResult> {
    const result = await this.#queue.run(async () => {
      const asked = await request()
      this.#isClosed ||= asked.ok
      return asked
    })
    return result ?? { ok: false, reason: 'too many deploys are waiting' }
  }

  /** Applies the active document again, because values behind its references have changed. */
  async #reapply(): Promise<void> {
    const current = this.#current
    if (current === null) return
    const { source, origin, by, bundle } = current
    await this.apply(source, { dryRun: false, ifMatch: bundle.digest, note: by.note, origin, actor: 'vault' })
  }

  async #apply(source: DocumentSource, request: ApplyRequest): Promise<ApplyResult> {
    if (this.#isClosed) return { result: 'draining' }
    const group = this.#dependencies.group()
    if (group !== null && request.origin === 'api' && !request.dryRun) {
      if (request.force !== true || request.save === true) return { result: 'controlled', group }
    }
    const serving = this.#current?.bundle ?? null
    const digestNow = serving?.digest ?? null
    if (request.ifMatch !== null && request.ifMatch !== digestNow)
      return { result: 'stale', digest: digestNow }

    const startedMono = performance.now()
    const outcome = await this.#dependencies.documents.load(source, serving)
    if (!outcome.ok) return this.#refuse(outcome.diagnostics, request, startedMono)
    const { bundle, warnings, changes } = outcome
    const accepted = { digest: bundle.digest, changes, warnings }
    if (this.#current !== null && isSameBundle(this.#current.bundle, bundle)) {
      // The file on disk equals the active document, so that document no longer counts as `last-good` or
      // `api`.
      if (request.origin === 'file') this.#current = { ...this.#current, source, origin: 'file', warnings }
      const saved = this.#save(source, request)
      if (!request.dryRun && this.lastRollout?.result !== 'applied')
        this.#remember(
          request,
          { result: 'unchanged', digest: bundle.digest, reasons: [], mistakes: [] },
          startedMono,
        )
      return { result: 'unchanged', ...accepted, ...saved }
    }
    if (request.dryRun) return { result: 'valid', ...accepted }

    const { confirm } = request
    const reasons = await this.#dependencies.rollOut(
      bundle,
      confirm === undefined ? null : () => confirm(accepted),
    )
    const result = reasons.length === 0 ? 'applied' : 'rolled-back'
    this.#remember(request, { result, digest: bundle.digest, reasons, mistakes: [] }, startedMono)
    if (result === 'rolled-back') return { result, digest: digestNow, reasons }
    const { origin, actor, note } = request
    this.#noteReplaced(bundle, request)
    this.#current = { bundle, source, origin, warnings, by: { at: new Date().toISOString(), actor, note } }
    this.#dependencies.secrets.serve(outcome.vault ?? null, (reference) => hasReference(bundle, reference))
    this.#keep(bundle, source, request)
    return { result, ...accepted, ...this.#save(source, request) }
  }

  /** Records that the active document now comes from another source with the same content. */
  adopt(
    source: DocumentSource,
    { origin, actor, note }: Pick<ApplyRequest, 'origin' | 'actor' | 'note'>,
  ): void {
    const by = { at: new Date().toISOString(), actor, note }
    if (this.#current !== null) this.#current = { ...this.#current, source, origin, by }
  }

  /** Describes the active document if it does not come from the controller; otherwise returns null. */
  get otherOrigin(): string | null {
    if (this.#current === null || this.#current.origin === 'control') return null
    const { origin, by } = this.#current
    return origin === 'api' ? `${deployText(by)} is active` : `the document from ${origin} is active`
  }

  /** Records that the file replaced an API deploy at this start. */
  #noteReplaced({ digest }: ConfigBundle, { origin }: ApplyRequest): void {
    const isStart = this.#current === null
    const last = this.#dependencies.history.list()[0]
    this.#replaced = null
    if (!isStart || origin !== 'file' || last?.origin !== 'api' || last.digest === digest) return
    this.#replaced = last
    const { id, at, actor, note } = last
    const remedy = `restore it with gw rollback --to ${id}; deploy with --save to keep a document across restarts`
    this.#dependencies.log.warn('start.deploy-replaced', { deploy: id, at, actor, note, digest, remedy })
  }

  /** Saves the document to the gateway file if the request says so. Returns the outcome. */
  #save({ text }: DocumentSource, request: ApplyRequest): Pick<Accepted, 'isSaved' | 'notSaved'> {
    if (request.save !== true || request.dryRun) return {}
    try {
      this.#dependencies.save(text)
      this.#current = { ...this.#current!, origin: 'file' }
      this.#replaced = null
      return { isSaved: true }
    } catch (error) {
      return { isSaved: false, notSaved: messageOf(error) }
    }
  }

  /** Returns the warnings about the running document. */
  warnings(): string[] {
    if (this.#current === null) return []
    const { origin, by, warnings, source } = this.#current
    const all = warnings.map((warning) => this.#dependencies.documents.describe(warning))
    if (origin === 'last-good')
      all.unshift(
        'the document could not be loaded at start, so the last valid one is active: correct the document',
      )
    if (origin === 'api')
      all.unshift(
        this.#dependencies.group() !== null
          ? `${deployText(by)} is active in place of the configuration of group '${this.#dependencies.group()}': the next deploy to the group or a restart replaces it`
          : `${deployText(by)} is active but not saved. A restart or a change of the file replaces it. Compare them with gw diff -c FILE, or save it with gw deploy --save.`,
      )
    if (this.#replaced !== null)
      all.unshift(
        `the file ${source.name} replaced ${deployText(this.#replaced)} at start: restore it with gw rollback --to ${this.#replaced.id}`,
      )
    return [...all, ...this.#dependencies.secrets.warnings()]
  }

  /** Records a document that cannot be read, in the same way as one with errors. */
  noteUnreadable(request: Pick<ApplyRequest, 'origin' | 'actor'>, reason: string): void {
    const outcome = { result: 'invalid', digest: null, reasons: [], mistakes: [reason] } as const
    this.#remember({ note: '', ...request }, outcome, performance.now())
  }

  #refuse(diagnostics: readonly Diagnostic[], request: ApplyRequest, startedMono: number): ApplyResult {
    if (!request.dryRun) {
      const mistakes = diagnostics
        .slice(0, MAX_SHOWN)
        .map((one) => this.#dependencies.documents.describe(one))
      this.#remember(request, { result: 'invalid', digest: null, reasons: [], mistakes }, startedMono)
    }
    return { result: 'invalid', diagnostics }
  }

  #remember(
    request: Pick<ApplyRequest, 'origin' | 'actor' | 'note'>,
    outcome: Pick<RolloutReport, 'result' | 'digest' | 'reasons' | 'mistakes'>,
    startedMono: number,
  ): void {
    this.counts[outcome.result]++
    const { origin, actor, note } = request
    const durationMs = Math.round(performance.now() - startedMono)
    this.lastRollout = { at: new Date().toISOString(), ...outcome, origin, actor, note, durationMs }
  }

  /** Stores the document for restarts and rollbacks. A full disk loses this copy, not the deploy. */
  #keep(bundle: ConfigBundle, source: DocumentSource, request: ApplyRequest): void {
    const { lastGood, history, log } = this.#dependencies
    const { origin, actor, note, rollbackTo } = request
    try {
      lastGood.save({ digest: bundle.digest, ...source })
      if (origin === 'last-good' || history.list()[0]?.digest === bundle.digest) return
      const facts = { at: new Date().toISOString(), digest: bundle.digest, origin, actor, note }
      history.record(rollbackTo === undefined ? facts : { ...facts, rollbackTo }, source)
    } catch (error) {
      /** Logged rather than thrown: the deploy is already active. */
      log.error('config.not-kept', {
        message: messageOf(error),
        remedy: 'free disk space or fix the permissions of the data directory',
      })
    }
  }

  #report(source: DocumentSource, request: ApplyRequest, before: string | null, result: ApplyResult): void {
    const { log, documents } = this.#dependencies
    const { origin, actor, note, dryRun } = request
    const facts = { document: source.name, origin, actor, note, dryRun, before }
    if (result.result === 'invalid') {
      const diagnostics = result.diagnostics.slice(0, MAX_REPORTED).map((one) => documents.describe(one))
      const errors = result.diagnostics.filter(({ severity }) => severity === 'error').length
      // `mistakes` is the former name of `errors`.
      log.error('config.invalid', { ...facts, errors, mistakes: errors, diagnostics })
    } else if (result.result === 'rolled-back') {
      const message = before === null ? { message: 'the gateway could not start with this document' } : {}
      log.error('config.rolled-back', { ...facts, ...message, reasons: result.reasons })
    } else if (result.result === 'applied' || result.result === 'unchanged' || result.result === 'valid') {
      const warnings = result.warnings.slice(0, MAX_REPORTED).map((one) => documents.describe(one))
      log.info(`config.${result.result}`, {
        ...facts,
        after: result.digest,
        changes: result.changes.length,
        warnings,
      })
    } else log.warn(`config.${result.result}`, facts)
  }
}

/** `the deploy of 2026-01-01T00:00:00.000Z by ann ("why")` */
function deployText({ at, actor, note }: Deployed['by']): string {
  return `the deploy of ${at} by ${actor}${note === '' ? '' : ` ("${note}")`}`
}

/** Maximum number of errors in the status. */
const MAX_SHOWN = 10
/** Maximum number of diagnostics per log entry. The API returns all of them. */
const MAX_REPORTED = 100
