import { hostname } from 'node:os'
import {
  type CaseFile,
  type ConfigBundle,
  closestWord,
  type Expected,
  type Plan,
  resolvePlan,
} from '@sluice/config'
import { type Exchange, parseDuration } from '@sluice/core'
import { explainRequest } from '@sluice/gateway'
import { type TrialRequest, type TrialResult, TrialWorker } from '@sluice/gateway/trial'
import { RecordJson, type TrafficRecord } from '@sluice/logger'
import { catalog } from '../input/policy-catalog.js'
import { messageOf } from '../output/failure.js'
import { version } from '../output/version.js'
import { requestOf } from './case-request.js'
import { CaseServer, unknownUpstream } from './case-server.js'
import type { Coverage } from './coverage.js'
import { type Observed, unmet } from './expectations.js'
import { fieldsOf, jsonOf, type Mismatch } from './matching.js'
import { type CaseFailure, type CaseOutcome, type FiledCase, stepTitle } from './outcome.js'
import type { Snapshots } from './snapshots.js'

/** Shared data for the cases of a file. */
export interface CaseContext {
  readonly defaults: CaseFile['defaults']
  readonly snapshots: Snapshots
}

/** Runs cases against a document in this process. */
export class CaseRunner {
  readonly #bundle: ConfigBundle
  readonly #plan: Plan
  readonly #coverage: Coverage
  readonly #records: RecordJson
  /** Problems that the gateway reported during the current case. */
  #reports: string[] = []
  /** Last exchange that the traffic log would record. */
  #recorded: Exchange | null = null
  #worker!: TrialWorker

  private constructor(bundle: ConfigBundle, coverage: Coverage) {
    this.#bundle = bundle
    this.#plan = resolvePlan(bundle)
    this.#coverage = coverage
    const { log, environment } = this.#plan
    this.#records = new RecordJson({
      ...{
        fields: log.fields,
        slowMs: log.slowMs,
        environment,
        worker: 1,
        node: hostname(),
        version: version(),
      },
      configDigest: () => bundle.digest,
      sensitiveNames: this.#plan.routes.flatMap(({ policies }) =>
        policies.flatMap((use) => catalog.get(use.use)?.secretNames?.(use.with as never) ?? []),
      ),
    })
  }

  /** @throws Error if a policy or plugin cannot be loaded */
  static async open(bundle: ConfigBundle, coverage: Coverage): Promise<CaseRunner> {
    const runner = new CaseRunner(bundle, coverage)
    runner.#worker = await TrialWorker.open(bundle, {
      catalog,
      onRecord: (x) => {
        runner.#recorded = x
      },
      report: (event, fields) => runner.#reports.push(`${event} ${JSON.stringify(fields)}`),
    })
    runner.#worker.guard.onRefused = (address) =>
      runner.#reports.push(`a connection to ${address} was refused`)
    return runner
  }

  close(): Promise<void> {
    return this.#worker.close()
  }

  /** Runs a case. Never rejects. */
  async run(one: FiledCase, context: CaseContext): Promise<CaseOutcome> {
    const { file, line, name } = one
    const sinceMs = process.hrtime.bigint()
    let failures: readonly CaseFailure[]
    try {
      // The routes of the requests can nearly always be predicted. Otherwise all routes are compiled.
      failures = (await this.#attempt(one, context, false)) ?? (await this.#attempt(one, context, true)) ?? []
    } catch (error) {
      failures = [{ step: 'setup', mismatches: [], notes: [messageOf(error)] }]
    }
    const ms = Number(process.hrtime.bigint() - sinceMs) / 1e6
    const status = failures.length === 0 ? 'passed' : 'failed'
    return { file, line, name, status, ms, failures, skipped: '' }
  }

  /** Runs a case with fresh state. Returns null if a request had an unforeseen route. */
  async #attempt(one: FiledCase, context: CaseContext, isWhole: boolean): Promise<CaseFailure[] | null> {
    const { defaults } = context
    const server = new CaseServer()
    for (const responses of [defaults ?? {}, one, ...one.steps]) {
      const problem = unknownUpstream(
        responses,
        this.#plan.upstreams.map(({ name }) => name),
      )
      if (problem !== null) throw new Error(problem)
    }
    server.use(defaults ?? {})
    server.use(one)
    const at = one.at ?? defaults?.at
    const policiesOf = (request: TrialRequest) => {
      const id = this.#worker.routeOf(request)
      return this.#plan.routes.find((route) => route.id === id)?.policies ?? []
    }
    const requests = one.steps.map((step) => requestOf(step, defaults?.headers, policiesOf))
    const foreseen = new Set(requests.map((request) => this.#worker.routeOf(request)))
    this.#reports = []
    await this.#worker.begin(server, at === undefined ? null : Date.parse(at), isWhole ? null : requests)
    const failures: CaseFailure[] = []
    for (const [i, step] of one.steps.entries()) {
      server.use(step)
      if (step.advance !== undefined) await this.#worker.clock.advance(parseDuration(step.advance))
      for (let round = 0; round < (step.repeat ?? 1); round++) {
        const observed = await this.#send(requests[i]!, server)
        if (!isWhole && !foreseen.has(observed.route)) return null
        this.#coverage.add(observed)
        const found = [...unmet(step.expect ?? {}, observed), ...unlistedCalls(server)]
        if (step.expect?.snapshot === true) {
          const name = `${one.name} > ${stepTitle(one, i, round)}`
          found.push(...context.snapshots.check(name, observed.response))
        }
        if (found.length === 0) continue
        const notes = await this.#notes(step.expect, requests[i]!, observed)
        failures.push({ step: stepTitle(one, i, round), mismatches: found, notes })
        // The next requests depend on this one.
        return failures
      }
    }
    return failures
  }

  async #send(request: TrialRequest, server: CaseServer): Promise<Observed> {
    server.clear()
    this.#recorded = null
    const result: TrialResult = await this.#worker.send(request)
    const isMirror = new Set(
      this.#plan.upstreams.flatMap(({ name, targets }) =>
        targets.filter(({ role }) => role === 'mirror').map(({ url }) => `${name} ${url}`),
      ),
    )
    const upstream = server.seen.filter(
      (seen) => seen.upstream !== null && !isMirror.has(`${seen.upstream} ${seen.origin}`),
    )
    const calls = server.seen.filter((seen) => seen.upstream === null)
    const record = (): TrafficRecord | null => this.#recorded && this.#records.of(this.#recorded)
    return { ...result, upstream, calls, record }
  }

  /** Returns facts about a failed request: the answer, the reason for another route, and reported problems. */
  async #notes(
    expected: Expected | undefined,
    request: TrialRequest,
    { response, route }: Observed,
  ): Promise<string[]> {
    const code = fieldsOf(response.headers)['x-gw-error']
    const { detail } = (jsonOf(response.body) ?? {}) as { readonly detail?: unknown }
    const answer = code === undefined ? [] : [`answered with ${response.status} ${code}: ${detail ?? ''}`]
    const wanted = expected?.route
    const reasons: string[] = []
    if (wanted !== undefined && wanted !== 'none' && wanted !== route) {
      const { losers } = await explainRequest(this.#bundle, catalog, request)
      const ids = this.#plan.routes.map(({ id }) => id)
      const near = ids.includes(wanted) ? null : closestWord(wanted, ids)
      const reason = losers.find(({ id }) => id === wanted)?.reason
      if (reason !== undefined) reasons.push(`route ${wanted} does not handle it: ${reason}`)
      else if (!ids.includes(wanted))
        reasons.push(`the document has no route '${wanted}'${near === null ? '' : `; did you mean ${near}?`}`)
    }
    return [...reasons, ...answer, ...new Set(this.#reports)]
  }
}

function unlistedCalls({ unlisted }: CaseServer): readonly Mismatch[] {
  return unlisted.map((call) => ({
    path: 'calls',
    expected: 'only calls that the case lists in `calls`',
    actual: call,
  }))
}
