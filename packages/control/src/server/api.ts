import type { TSchema } from '@sluice/core'
import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify'
import type { Bundles } from '../deploy/bundles.js'
import type { Coordinator } from '../deploy/coordinator.js'
import { type FleetMember, fleetOf } from '../deploy/fleet.js'
import type { FleetReports } from '../deploy/fleet-reports.js'
import type { ControlLog } from '../state/control-log.js'
import type { ControlStore } from '../store/control-store.js'
import type { Role } from '../store/log-entry.js'
import type { DocumentValidator } from '../validation/document-validator.js'
import type { Caller } from './access.js'
import { ProblemView } from './schemas.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated caller. Not set for open endpoints. */
    caller: Caller
  }
  interface FastifyContextConfig {
    /** Minimum role of callers, or `open`. An endpoint without it requires `admin`. */
    readonly access?: Role | 'open'
    /** True if deployers of a team may use the endpoint. It checks the part that they change. */
    readonly isForTeams?: boolean
  }
}

/** Parts of the controller that the API uses. */
export interface ApiBackend {
  readonly log: ControlLog
  readonly store: ControlStore
  readonly bundles: Bundles
  readonly fleet: FleetReports
  readonly coordinator: Coordinator
  readonly validator: DocumentValidator
}

/** Registers endpoints. */
export type Routes = (app: FastifyInstance, backend: ApiBackend) => void

/** Parts of an endpoint's description. */
interface Description extends Pick<FastifySchema, 'body' | 'params' | 'querystring'> {
  readonly summary: string
  /** True if deployers of a team may use an endpoint that changes something. */
  readonly isForTeams?: boolean
  readonly response?: TSchema
}

/** Returns the options of an endpoint. */
export function endpoint(
  access: Role | 'open',
  { response, isForTeams = access === 'viewer', ...schema }: Description,
) {
  const responses = {
    ...(response === undefined ? {} : { 200: response }),
    '4xx': { content: { 'application/problem+json': { schema: ProblemView } } },
  }
  const security = access === 'open' ? { security: [] } : {}
  return { config: { access, isForTeams }, schema: { ...schema, ...security, response: responses } }
}

/** Returns the author of the entries that a request causes. */
export function authorOf({ caller: { actor, address } }: FastifyRequest) {
  return { actor, address }
}

/** Returns all known members. */
export function membersOf({ log, fleet }: ApiBackend): FleetMember[] {
  return fleetOf(log.state, fleet.members())
}
