import { ManifestSchema } from '@sluice/control-client'
import { type Static, Type } from '@sluice/core'
import { type Deploy, groupOf } from '../state/control-state.js'
import { type ApiBackend, endpoint, type Routes } from './api.js'
import { validated } from './deploy-preparation.js'
import { ControlProblem } from './problem.js'
import {
  DeployParams,
  DeployView,
  DiffQuery,
  DiffView,
  FileParams,
  GroupParams,
  HistoryQuery,
  ManifestQuery,
} from './schemas.js'

/** Endpoints for the history and the contents of bundles. */
export const bundleRoutes: Routes = (app, backend) => {
  const { log, bundles } = backend
  app.get<{ Params: Static<typeof GroupParams>; Querystring: Static<typeof HistoryQuery> }>(
    '/v1/groups/:group/deploys',
    endpoint('viewer', {
      summary: 'Deploys of a group, the newest first',
      ...{ params: GroupParams, querystring: HistoryQuery },
      response: Type.Object({ deploys: Type.Array(DeployView) }),
    }),
    async ({ params: { group }, query: { limit, before = Number.POSITIVE_INFINITY } }) => {
      const earlier = groupOf(log.state, group).deploys.filter(({ deploy }) => deploy < before)
      return { deploys: earlier.slice(-limit).reverse() }
    },
  )
  app.get<{ Params: Static<typeof DeployParams> }>(
    '/v1/groups/:group/deploys/:deploy',
    endpoint('viewer', { summary: 'A deploy', params: DeployParams, response: DeployView }),
    async ({ params }) => deployOf(backend, params.group, params.deploy),
  )
  app.get<{ Params: Static<typeof DeployParams>; Querystring: Static<typeof ManifestQuery> }>(
    '/v1/groups/:group/deploys/:deploy/manifest',
    endpoint('viewer', {
      summary: 'Manifest of a bundle, or of the source of its document',
      ...{ params: DeployParams, querystring: ManifestQuery, response: ManifestSchema },
    }),
    async ({ params, query }) => {
      const { digest, source } = deployOf(backend, params.group, params.deploy)
      const wanted = query.source ? source : digest
      const bundle = wanted === null ? null : await bundles.load(wanted)
      if (bundle === null) throw bundleGone()
      return bundle.manifest
    },
  )
  app.get<{ Params: Static<typeof FileParams> }>(
    '/v1/groups/:group/deploys/:deploy/files/*',
    endpoint('viewer', { summary: 'A file of a bundle or its source', params: FileParams }),
    async ({ params }, reply) => {
      const { digest, source } = deployOf(backend, params.group, params.deploy)
      const path = params['*']
      const content = (await bundles.file(digest, path)) ?? (await bundles.file(source ?? digest, path))
      if (content === null) throw bundleGone()
      return reply.type('application/octet-stream').header('content-disposition', 'attachment').send(content)
    },
  )
  app.get<{ Params: Static<typeof GroupParams>; Querystring: Static<typeof DiffQuery> }>(
    '/v1/groups/:group/diff',
    endpoint('viewer', {
      summary: 'Changes between two deploys. Default: the last two committed ones. Secrets are masked.',
      ...{ params: GroupParams, querystring: DiffQuery },
      response: DiffView,
    }),
    async ({ params: { group }, query }) => {
      const committed = groupOf(log.state, group).deploys.filter(({ status }) => status === 'committed')
      const to = deployOf(backend, group, query.to ?? committed.at(-1)?.deploy ?? 0)
      const earlier = committed.filter(({ deploy }) => deploy < to.deploy).at(-1)
      const from = query.from === undefined ? (earlier ?? null) : deployOf(backend, group, query.from)
      const { changes } = await validated(backend, to.digest, { before: from?.digest ?? null })
      return { from: from?.deploy ?? null, to: to.deploy, changes }
    },
  )
}

/** Returns a deploy. @throws ControlProblem if it does not exist */
export function deployOf({ log }: ApiBackend, group: string, number: number): Deploy {
  const found = groupOf(log.state, group).deploys.find(({ deploy }) => deploy === number)
  if (found === undefined)
    throw new ControlProblem('GW_CONTROL_NOT_FOUND', `there is no deploy ${number} of the group '${group}'`)
  return found
}

function bundleGone(): ControlProblem {
  return new ControlProblem(
    'GW_CONTROL_NOT_FOUND',
    'there is no such file, or the bundle is not stored any more',
  )
}
