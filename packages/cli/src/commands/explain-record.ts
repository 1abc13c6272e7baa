import { displayPlan, type Plan, type RoutePlan } from '@sluice/config'
import { visibleText } from '@sluice/core'
import { explainRecord, type RecordedPolicy, type RecordedRefusal } from '@sluice/gateway'
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
import { at, attemptLines, fact, requestLine } from './record-page.js'

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
export async function explainById(options: ExplainRecordOptions): Promise<void> {
  const { record } = await findRecord(options, options.id)
  const served = await servedBy(options, at(record, 'gw.config'))
  const { route, policies, refusal } = explainRecord(record, served.shown?.plan ?? null, catalog)
  const value = {
    record,
    configuration: {
      recorded: served.recorded,
      active: served.active,
      shown: served.shown?.digest ?? null,
      deploy: served.deploy?.value ?? null,
    },
    route,
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
  if (deploy === null && active !== null && recorded !== '' && !active.startsWith(recorded))
    texts.push('whose deploy is no longer kept')
  if (active !== null && recorded !== '')
    texts.push(active.startsWith(recorded) ? 'which is active' : `but ${shortDigest(active)} is active now`)
  if (shown === null) texts.push('whose document is not known; name it with -c')
  else if (!isShown) texts.push(`so the settings below, from ${shown.from}, may be others`)
  return texts
}

function routeLines(record: TrafficRecord, route: Pick<RoutePlan, 'id' | 'match'> | null): string[] {
  const id = at(record, 'route')
  if (id === '' || id === '-')
    return ['route     none: no route matched, or the request was refused before routing']
  if (route === null) return [fact('route', [id, 'which the known configurations do not have'])]
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
      policy === '' ? 'by the gateway' : `by policy ${visibleText(policy)}`,
      `phase ${phase}`,
    ]),
    fact('because', [cause]),
    fact('detail', [visibleText(message)]),
    fact('reason', [visibleText(reason)]),
    fact('needed', [remedy]),
    fact('accepted', [visibleText(accepts)]),
  ]
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
      const head = `  ${i + 1}. ${name}: ${outcome}${note === '' ? '' : `, ${visibleText(note)}`}`
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
