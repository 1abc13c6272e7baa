import { PassThrough } from 'node:stream'
import type { Static } from '@sluice/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseAbortCondition } from '../deploy/abort-condition.js'
import type { DeployRequest, StartResult } from '../deploy/coordinator.js'
import type { DeployResult, RunningDeploy } from '../deploy/running-deploy.js'
import { type Deploy, groupOf } from '../state/control-state.js'
import { type ApiBackend, authorOf, endpoint, type Routes } from './api.js'
import { deployOf } from './bundle-routes.js'
import { storeManifest, validated } from './deploy-preparation.js'
import { ControlProblem } from './problem.js'
import { AbortView, DeployBody, GroupParams, ResultView, RollbackBody } from './schemas.js'

/** Content type of a response with progress: one JSON object per line; the last one is the result or a problem. */
const PROGRESS_TYPE = 'application/x-ndjson'

/** Endpoints that change what the members of a group serve. */
export const deployRoutes: Routes = (app, backend) => {
  app.post<{ Params: Static<typeof GroupParams>; Body: DeployBody }>(
    '/v1/groups/:group/deploys',
    endpoint('deployer', {
      summary:
        'Deploys a bundle to all members or to none. If-Match: ETag of the group, If-None-Match: * for the first deploy. ' +
        `With Accept: ${PROGRESS_TYPE}, each step is sent as a line.`,
      ...{ params: GroupParams, body: DeployBody, response: ResultView },
    }),
    async (request, reply) => {
      const { group } = request.params
      const { manifest, note, quorumPercent, deadlineMs, dryRun, canary = null } = request.body
      const { problem } = parseAbortCondition(canary?.abortOn ?? '')
      if (canary !== null && problem !== null)
        throw new ControlProblem('GW_CONTROL_BAD_REQUEST', `abortOn: ${problem}`)
      const ifMatch = conditionOf(request)
      const digest = await storeManifest(backend, manifest)
      const { head } = groupOf(backend.log.state, group)
      if (ifMatch !== null && ifMatch !== (head?.digest ?? '')) throw stale(head?.digest ?? null)
      if (dryRun) {
        const { changes, warnings } = await validated(backend, digest, { before: head?.digest ?? null })
        return { result: 'valid', group, digest, changes, warnings }
      }
      await validated(backend, digest)
      const options = { note, quorumPercent, deadlineMs, ifMatch, rollbackTo: null, canary }
      return deploy(backend, { group, digest, ...options }, { request, reply })
    },
  )
  app.post<{ Params: Static<typeof GroupParams>; Body: RollbackBody }>(
    '/v1/groups/:group/rollback',
    endpoint('deployer', {
      summary: 'Deploys the bundle of an earlier deploy again',
      ...{ params: GroupParams, body: RollbackBody, response: ResultView },
    }),
    async (request, reply) => {
      const { group } = request.params
      const { to, ...options } = request.body
      const { deploy: rollbackTo, digest } = rollbackTarget(backend, group, to)
      const bundle = await backend.bundles.load(digest)
      if (bundle !== null) await storeManifest(backend, bundle.manifest)
      await validated(backend, digest)
      const ifMatch = conditionOf(request)
      return deploy(
        backend,
        { group, digest, ...options, ifMatch, rollbackTo, canary: null },
        { request, reply },
      )
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

interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Starts a deploy and answers with its result, or with its progress if the client accepts that. */
async function deploy(backend: ApiBackend, deployRequest: DeployRequest, { request, reply }: Exchange) {
  const started = await backend.coordinator.start(deployRequest, authorOf(request))
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
  const earlier = deploys
    .filter(({ status, digest }) => status === 'committed' && digest !== head?.digest)
    .at(-1)
  if (earlier === undefined)
    throw new ControlProblem('GW_CONTROL_NOT_FOUND', `the group '${group}' has no earlier deploy`)
  return earlier
}
