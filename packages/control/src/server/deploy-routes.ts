import { PassThrough } from 'node:stream'
import { BASE_FILE, type TeamScope } from '@sluice/config'
import { DOCUMENT_PATH } from '@sluice/control-client'
import { rolledBackContents, type Static } from '@sluice/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseAbortCondition } from '../deploy/abort-condition.js'
import type { DeployRequest, StartResult } from '../deploy/coordinator.js'
import type { DeployResult, RunningDeploy } from '../deploy/running-deploy.js'
import { type Deploy, groupOf } from '../state/control-state.js'
import { requirePart } from './access.js'
import { type ApiBackend, authorOf, endpoint, type Routes } from './api.js'
import { deployOf } from './bundle-routes.js'
import { storeManifest, validated } from './deploy-preparation.js'
import { ControlProblem } from './problem.js'
import { AbortView, DeployBody, GroupParams, ResultView, RollbackBody } from './schemas.js'
import { committedDeploy, composeBundle, isSameSource } from './source-deploy.js'

/** Content type of a response with progress: one JSON object per line; the last one is the result or a problem. */
const PROGRESS_TYPE = 'application/x-ndjson'

/** Maximum duration of a canary that a team deploys, in milliseconds. Other deploys wait for it. */
const MAX_TEAM_CANARY_MS = 1_800_000

/** Endpoints that change what the members of a group serve. */
export const deployRoutes: Routes = (app, backend) => {
  app.post<{ Params: Static<typeof GroupParams>; Body: DeployBody }>(
    '/v1/groups/:group/deploys',
    endpoint('deployer', {
      isForTeams: true,
      summary:
        'Deploys a bundle to all members or to none. If-Match: ETag of the group, If-None-Match: * for the first deploy. ' +
        `With Accept: ${PROGRESS_TYPE}, each step is sent as a line.`,
      ...{ params: GroupParams, body: DeployBody, response: ResultView },
    }),
    async (request, reply) => {
      const { manifest, part = null, canary } = request.body
      requirePart(request.caller, part)
      const { problem } = parseAbortCondition(canary?.abortOn ?? '')
      if (canary !== undefined && problem !== null)
        throw new ControlProblem('GW_CONTROL_BAD_REQUEST', `abortOn: ${problem}`)
      if (request.caller.scope && canary !== undefined && canary.forMs > MAX_TEAM_CANARY_MS)
        throw new ControlProblem('GW_CONTROL_BAD_REQUEST', 'the canary of a team may last at most 30 minutes')
      const isSource = part !== null || !manifest.files.some(({ path }) => path === DOCUMENT_PATH)
      const target = { group: request.params.group, part, ifMatch: conditionOf(request) }
      const exchange = { request, reply }
      return isSource ? deploySource(backend, target, exchange) : deployDocument(backend, target, exchange)
    },
  )
  app.post<{ Params: Static<typeof GroupParams>; Body: RollbackBody }>(
    '/v1/groups/:group/rollback',
    endpoint('deployer', {
      isForTeams: true,
      summary: 'Deploys the bundle of an earlier deploy again',
      ...{ params: GroupParams, body: RollbackBody, response: ResultView },
    }),
    async (request, reply) => {
      return rollback(backend, request.params.group, { request, reply })
    },
  )
  app.post<{ Params: Static<typeof GroupParams> }>(
    '/v1/groups/:group/abort',
    endpoint('deployer', {
      summary: 'Aborts the pending deploy. Canaries return to the committed bundle.',
      ...{ params: GroupParams, response: AbortView },
    }),
    async (request) => {
      const { group } = request.params
      const aborted = await backend.coordinator.abort(group, authorOf(request))
      if (aborted !== null) return { group, deploy: aborted }
      throw new ControlProblem('GW_CONTROL_NOT_FOUND', `no deploy of the group '${group}' is pending`)
    },
  )
}

interface Exchange<Body = unknown> {
  readonly request: FastifyRequest<{ Body: Body }>
  readonly reply: FastifyReply
}

/** Target and conditions of a deploy request. */
interface DeployTarget {
  readonly group: string
  /** Part of the source; null: all of it. */
  readonly part: string | null
  readonly ifMatch: string | null
}

/** Deploys a document as it is. */
async function deployDocument(
  backend: ApiBackend,
  { group, ifMatch }: DeployTarget,
  exchange: Exchange<DeployBody>,
) {
  const { manifest, part: _, dryRun, canary = null, ...options } = exchange.request.body
  const digest = await storeManifest(backend, manifest)
  const { head } = groupOf(backend.log.state, group)
  if (ifMatch !== null && ifMatch !== (head?.digest ?? '')) throw stale(head?.digest ?? null)
  if (head !== null && head.source !== null)
    throw new ControlProblem(
      'GW_CONTROL_BAD_REQUEST',
      `the document of '${group}' is composed; deploy its base.yaml, a team, or the whole folder`,
    )
  if (dryRun) {
    const { changes, warnings } = await validated(backend, digest, { before: head?.digest ?? null })
    return { result: 'valid', group, digest, changes, warnings }
  }
  await validated(backend, digest)
  return deploy(backend, { group, digest, ...options, ifMatch, rollbackTo: null, canary }, exchange)
}

/** Number of times that a part is composed with the newest other parts, if they change meanwhile. */
const MAX_ATTEMPTS = 5

/** Deploys a source, or a part of it together with the newest other parts. */
async function deploySource(
  backend: ApiBackend,
  {
    group,
    part,
    ifMatch,
  }: { readonly group: string; readonly part: string | null; readonly ifMatch: string | null },
  exchange: Exchange<DeployBody>,
) {
  const { manifest, part: _, dryRun, canary = null, ...options } = exchange.request.body
  for (let attempt = 1; ; attempt++) {
    const { head } = groupOf(backend.log.state, group)
    if (ifMatch !== null && ifMatch !== (head?.digest ?? '')) {
      const read = part === null ? null : committedDeploy(backend, group, ifMatch)
      // Another team has deployed meanwhile. This does not matter if the part is still the same.
      if (read === null || !(await isSameSource(backend, [read, head], (one) => one === part)))
        throw stale(head?.digest ?? null)
    }
    const scope = exchange.request.caller.scope ?? null
    const { changes, warnings, ...bundle } = await composeBundle(backend, { manifest, part, scope, head })
    if (dryRun) return { result: 'valid', group, digest: bundle.digest, changes, warnings }
    const after = head?.deploy ?? 0
    const request = { group, ...bundle, ...options, after, canary, ifMatch: null, rollbackTo: null }
    const started = await backend.coordinator.start(request, authorOf(exchange.request))
    if (started.kind !== 'stale' || attempt === MAX_ATTEMPTS) return answer(started, exchange)
  }
}

/** Deploys an earlier bundle. */
async function rollback(backend: ApiBackend, group: string, exchange: Exchange<RollbackBody>) {
  const { request } = exchange
  const { to, ...options } = request.body
  const target = rollbackTarget(backend, group, to)
  const { deploy: rollbackTo, digest, source } = target
  const { head } = groupOf(backend.log.state, group)
  for (const stored of source === null ? [digest] : [digest, source]) {
    const bundle = await backend.bundles.load(stored)
    if (bundle !== null)
      await storeManifest(backend, bundle.manifest, stored === source ? BASE_FILE : DOCUMENT_PATH)
  }
  await validated(backend, digest)
  const { scope } = request.caller
  if (scope) await checkTeamRollback(backend, { target, head, scope })
  const ifMatch = conditionOf(request)
  const after = scope ? { after: head?.deploy ?? 0 } : {}
  const bundle = { group, digest, ...(source === null ? {} : { source }) }
  const start = { ...bundle, ...options, ...after, ifMatch, rollbackTo, canary: null }
  return deploy(backend, start, exchange)
}

/** Checks that a rollback changes only the part of a team. @throws ControlProblem otherwise */
async function checkTeamRollback(
  backend: ApiBackend,
  {
    target,
    head,
    scope,
  }: { readonly target: Deploy; readonly head: Deploy | null; readonly scope: TeamScope },
): Promise<void> {
  const { team: part } = scope
  if (target.source === null || !(await isSameSource(backend, [target, head], (one) => one !== part)))
    throw new ControlProblem(
      'GW_CONTROL_TEAM_REFUSED',
      `the rollback to deploy ${target.deploy} also changes parts other than '${part}'; deploy the earlier fragments of the team instead`,
    )
  await validated(backend, target.source, { compose: { part, scope } })
}

/** Starts a deploy and answers with its result, or with its progress if the client accepts that. */
async function deploy(backend: ApiBackend, deployRequest: DeployRequest, exchange: Exchange) {
  return answer(await backend.coordinator.start(deployRequest, authorOf(exchange.request)), exchange)
}

async function answer(started: StartResult, { request, reply }: Exchange) {
  if (started.kind === 'unchanged') {
    const { group, deploy: number, digest } = started.head
    return { result: 'unchanged', group, deploy: number, digest }
  }
  if (started.kind !== 'started') throw refusalOf(started)
  if (request.headers.accept?.includes(PROGRESS_TYPE))
    return reply.type(PROGRESS_TYPE).send(progressOf(started.run))
  const result = await started.run.done
  if (result.result === 'aborted') throw aborted(result)
  return result
}

/** A client that stops reading does not fill the memory: there are a few short lines per member. */
function progressOf(run: RunningDeploy): PassThrough {
  const lines = new PassThrough()
  const write = (line: unknown): boolean => lines.write(`${JSON.stringify(line)}\n`)
  lines.on('error', () => {})
  run.onEvent((event) => {
    if (event.event !== 'canary' || !lines.writableNeedDrain) write(event)
  })
  void run.done.then((result) => {
    write(result.result === 'aborted' ? aborted(result).body : result)
    lines.end()
  })
  return lines
}

function refusalOf(
  refused: Exclude<StartResult, { readonly kind: 'started' | 'unchanged' }>,
): ControlProblem {
  if (refused.kind === 'stale') return stale(refused.digest)
  if (refused.kind === 'noCanary') return new ControlProblem('GW_CONTROL_CANARY_REFUSED', refused.reason)
  const { deploy: number, actor, at } = refused.pending
  return new ControlProblem(
    'GW_CONTROL_DEPLOYING',
    `deploy ${number} of ${actor}, started at ${at}, is not finished; try again later, or abort it`,
    { members: { deploy: number } },
  )
}

function aborted(result: DeployResult): ControlProblem {
  const change =
    result.members.length === 0 ? 'nothing was changed' : 'the canaries return to the committed bundle'
  const detail = `${change}: ${result.reasons.join(', ')}`
  return new ControlProblem('GW_CONTROL_ABORTED', detail, { members: { ...result } })
}

function stale(digest: string | null): ControlProblem {
  const detail = 'another bundle was committed meanwhile; read the group and try again'
  return new ControlProblem('GW_CONTROL_STALE', detail, { members: { digest } })
}

/** Returns the digest that must be the committed one, an empty text if there must be none, or null. */
function conditionOf({ headers }: FastifyRequest): string | null {
  if (headers['if-none-match'] === '*') return ''
  const field = headers['if-match']
  if (field === undefined || field === '*') return null
  const digest = /^"([0-9a-f]{64})"$/.exec(field)?.[1]
  if (digest === undefined)
    throw new ControlProblem(
      'GW_CONTROL_BAD_REQUEST',
      'If-Match must be * or the ETag of the group, in double quotes',
    )
  return digest
}

function rollbackTarget(backend: ApiBackend, group: string, to: number | undefined): Deploy {
  if (to !== undefined) return deployOf(backend, group, to)
  const { head, deploys } = groupOf(backend.log.state, group)
  const committed = deploys.filter(({ status }) => status === 'committed')
  const rolledBack = rolledBackContents(
    committed.map(({ digest, rollbackTo }) => ({ content: digest, isRollback: rollbackTo !== null })),
  )
  const earlier = committed.filter(({ digest }) => digest !== head?.digest && !rolledBack.has(digest)).at(-1)
  if (earlier === undefined)
    throw new ControlProblem(
      'GW_CONTROL_NOT_FOUND',
      `the group '${group}' has no earlier deploy, or it was rolled back and needs its number`,
    )
  return earlier
}
