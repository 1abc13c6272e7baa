import { displayPlan, type Plan, type RoutePlan } from '@sluice/config'
import { errorKind, isErrorCode, visibleText } from '@sluice/core'
import { inChainOrder } from '@sluice/gateway'
import type { TrafficRecord } from '@sluice/logger'
import { catalog } from '@sluice/policies'
import '@sluice/policies/errors'
import { AdminClient } from '../admin/admin-client.js'
import type { AnswerPart } from '../admin/answer-part.js'
import { loadFile } from '../input/document.js'
import type { ServerOptions } from '../input/options.js'
import { Failure } from '../output/failure.js'
import { print, printResult, say } from '../output/output.js'
import { ageText, shortDigest } from '../output/text.js'
import { servingPlan } from './diff.js'
import { findRecord, type ShowOptions } from './logs-show.js'
import { at, attemptLines, fact, listAt, requestLine } from './record-page.js'

/** Options of `gw explain --id`. */
export interface ExplainRecordOptions extends ShowOptions, ServerOptions {
  readonly id: string
}

/** A plan that may have served the request, with its digest. */
interface KnownPlan {
  readonly from: string
  readonly digest: string
  readonly plan: Plan
}

/** Configuration that served the request, as far as it is known. */
interface ServedBy {
  /** First digits of the digest in the record; empty if the record has none. */
  readonly recorded: string
  /** Digest of the running gateway, or null if it was not reached. */
  readonly active: string | null
  /** The plan that explains the request, or null if there is none. */
  readonly shown: KnownPlan | null
  /** True if `shown` is the plan that served the request. */
  readonly isShown: boolean
  /** Deploy of the recorded configuration, or null if the gateway does not know it. */
  readonly deploy: AnswerPart | null
}

/** Prints why a request got its response, from its record and the configuration that served it. */
export async function explainRecord(options: ExplainRecordOptions): Promise<void> {
  const { record } = await findRecord(options, options.id)
  const served = await servedBy(options, at(record, 'gw.config'))
  const route = served.shown?.plan.routes.find(({ id }) => id === at(record, 'route')) ?? null
  const policies = route === null ? [] : policiesOf(route, record)
  const refusal = refusalOf(record)
  const value = {
    record,
    configuration: {
      recorded: served.recorded,
      active: served.active,
      shown: served.shown?.digest ?? null,
      deploy: served.deploy?.value ?? null,
    },
    route: route === null ? null : { id: route.id, match: route.match },
    policies,
    refusal,
  }
  await printResult(value, options.output, () =>
    print(
      requestLine(record),
      '',
      ...[
        fact('served by', configurationTexts(served)),
        ...routeLines(record, route),
        ...reasonLines(record, refusal),
        ...policyLines(policies, refusal?.policy ?? ''),
        ...attemptLines(record),
      ].filter((line, i, lines) => line !== '' || lines[i - 1] !== ''),
    ),
  )
}

/** Finds the configuration of a record: that of the document, or of the running gateway. */
async function servedBy(options: ExplainRecordOptions, recorded: string): Promise<ServedBy> {
  const client = new AdminClient(options)
  const running = await runningPlan(client)
  const known = [...(options.config === undefined ? [] : [await documentPlan(options.config)]), ...running]
  const isRecorded = ({ digest }: { readonly digest: string }) =>
    recorded !== '' && digest.startsWith(recorded)
  const match = known.find(isRecorded)
  const deploys = running.length === 0 ? [] : (await client.get('/v1/deploys')).part.parts('deploys')
  return {
    recorded,
    active: running[0]?.digest ?? null,
    shown: match ?? running[0] ?? known[0] ?? null,
    isShown: match !== undefined,
    deploy: deploys.find((deploy) => isRecorded({ digest: deploy.text('digest') })) ?? null,
  }
}

async function documentPlan(config: string): Promise<KnownPlan> {
  const { plan, digest } = await loadFile(config)
  return { from: config, digest, plan: displayPlan(plan, catalog) }
}

/** Returns the plan of the running gateway, or nothing if it cannot be reached. */
async function runningPlan(client: AdminClient): Promise<KnownPlan[]> {
  try {
    const { plan, tag } = await servingPlan(client)
    return [{ from: client.origin, digest: (tag ?? '').replaceAll('"', ''), plan }]
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    say(`the running configuration is unknown: ${error.message}`)
    return []
  }
}

function configurationTexts({ recorded, active, shown, isShown, deploy }: ServedBy): string[] {
  const texts = [recorded === '' ? 'unknown: the record has no gw.config' : `configuration ${recorded}`]
  if (deploy !== null) {
    const age = ageText(Date.now() - Date.parse(deploy.text('at')))
    texts.push(`deploy ${deploy.text('id')} of ${age} ago by ${visibleText(deploy.text('actor'))}`)
  }
  if (active !== null && recorded !== '')
    texts.push(active.startsWith(recorded) ? 'which is active' : `but ${shortDigest(active)} is active now`)
  if (shown === null) texts.push('whose document is not known; name it with -c')
  else if (!isShown) texts.push(`so the settings below, from ${shown.from}, may be others`)
  return texts
}

function routeLines(record: TrafficRecord, route: RoutePlan | null): string[] {
  const id = at(record, 'route')
  if (id === '' || id === '-')
    return ['route     none: no route matched, or the request was refused before routing']
  if (route === null) return [fact('route', [id])]
  const { hosts, methods, path, headers, query, when } = route.match
  const criteria = [
    `path ${path.text || '/*'}`,
    methods.length === 0 ? 'any method' : `methods ${methods.join(' ')}`,
    hosts.length === 0 ? 'any host' : `hosts ${hosts.join(' ')}`,
    ...headers.map(({ name }) => `header ${name}`),
    ...query.map(({ name }) => `query ${name}`),
    ...(when === null ? [] : [`when ${when}`]),
  ]
  return [fact('route', [`${id}, because the request matches ${visibleText(criteria.join(', '))}`])]
}

/** Reason for a response that is not a success. */
interface RecordedRefusal {
  readonly code: string
  /** Policy that refused the request; empty if none did. */
  readonly policy: string
  readonly phase: string
  readonly reason: string
  readonly message: string
  readonly cause: string
  readonly remedy: string
  /** Accepted schemes, if the record has response headers. */
  readonly accepts: string
}

function refusalOf(record: TrafficRecord): RecordedRefusal | null {
  const code = at(record, 'error.code')
  if (code === '') return null
  const kind = isErrorCode(code) ? errorKind(code) : null
  return {
    code,
    policy: at(record, 'error.policy'),
    phase: at(record, 'error.phase'),
    reason: at(record, 'error.reason'),
    message: at(record, 'error.msg'),
    cause: kind?.when ?? '',
    remedy: kind?.remedy ?? '',
    accepts: at(record, 'hdr.res_out.www-authenticate'),
  }
}

function reasonLines(record: TrafficRecord, refusal: RecordedRefusal | null): string[] {
  const consumer = fact('consumer', [at(record, 'consumer.name') || at(record, 'consumer.id') || 'not known'])
  if (refusal === null) {
    const status = at(record, 'up.status')
    const who =
      status === '' ? 'the gateway' : `the upstream ${at(record, 'up.name')}, which returned ${status}`
    return [consumer, fact('answered', [`by ${who}; the gateway refused nothing`])]
  }
  const { code, policy, phase, reason, message, cause, remedy, accepts } = refusal
  return [
    consumer,
    fact('refused', [
      `with ${code}`,
      policy === '' ? 'by the gateway' : `by policy ${policy}`,
      `phase ${phase}`,
    ]),
    fact('because', [cause]),
    fact('detail', [message]),
    fact('reason', [reason]),
    fact('needed', [remedy]),
    fact('accepted', [accepts]),
  ]
}

/** A policy of the route and its outcome for the request. */
interface RecordedPolicy {
  readonly id: string
  readonly use: string
  /** `pass`, `skip`, `stop` or `error`; empty if the record does not have it. */
  readonly out: string
  readonly note: string
  readonly when: string | null
  readonly with: unknown
  readonly meaning: readonly string[]
}

function policiesOf({ policies }: RoutePlan, record: TrafficRecord): RecordedPolicy[] {
  const runs = new Map(listAt(record, 'policies').map((run) => [at(run, 'id'), run]))
  return inChainOrder(policies, catalog).map(({ id, use, when, with: settings }) => {
    const run = runs.get(id) ?? {}
    const meaning = catalog.meanings?.get(use)?.(settings as never) ?? []
    return { id, use, out: at(run, 'out'), note: at(run, 'note'), when, with: settings, meaning }
  })
}

const OUTCOMES: Readonly<Record<string, string>> = {
  pass: 'passed',
  skip: 'skipped: its condition was false',
  stop: 'refused or answered the request',
  error: 'failed',
}

/** Returns the policies in order, with the settings of the one that refused the request. */
function policyLines(policies: readonly RecordedPolicy[], refusing: string): string[] {
  if (policies.length === 0) return []
  return [
    'policies',
    ...policies.flatMap(({ id, use, out, note, when, with: settings, meaning }, i) => {
      const name = id === use ? use : `${use} (${id})`
      const outcome = OUTCOMES[out] ?? (id === refusing ? OUTCOMES['stop']! : 'no outcome recorded')
      const head = `  ${i + 1}. ${name}: ${outcome}${note === '' ? '' : `, ${note}`}`
      if (id !== refusing) return [head]
      return [
        head,
        ...(when === null ? [] : [`     when ${visibleText(when)}`]),
        ...meaning.map((sentence) => `     ${visibleText(sentence)}`),
        `     with ${visibleText(JSON.stringify(settings))}`,
      ]
    }),
  ]
}
